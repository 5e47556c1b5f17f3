//! Classes that take turns in the order of their numbers. One that is away for a while keeps its place, and its turn unless
//! another's has come.
//!
//! | | |
//! |-|-|
//! | Source | van Emde Boas, *Preserving order in a forest in less than logarithmic time*, 1975, for words of 64 bits |
//! | Work | O(log classes to the base 64): three steps for 65,536 |
//! | Units | none |
//! | Memory | a bit for each class that may join; no allocation after the start |

const WORD: usize = 64;

/// The members, and whose turn it is.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// Bits of the members; above them, a bit for each word that has one.
    levels: Vec<Vec<u64>>,
    /// Who had no turn yet is here or behind.
    turn: usize,
}

impl Turns {
    /// Nobody, of `places` places.
    pub(super) fn new(places: usize) -> Self {
        if places == 0 {
            return Self { levels: Vec::new(), turn: 0 };
        }
        let mut levels = vec![vec![0; places.div_ceil(WORD)]];
        while let Some(words) = levels.last().map(Vec::len).filter(|&words| words > 1) {
            levels.push(vec![0; words.div_ceil(WORD)]);
        }
        Self { levels, turn: 0 }
    }

    /// A class takes turns from now on.
    #[inline]
    pub(super) fn join(&mut self, place: usize) {
        let mut bit = place;
        for level in &mut self.levels {
            level[bit / WORD] |= 1 << (bit % WORD);
            bit /= WORD;
        }
    }

    /// A class takes none for now; whether nobody is left.
    #[inline]
    pub(super) fn leave(&mut self, place: usize) -> bool {
        let mut bit = place;
        for level in &mut self.levels {
            let word = &mut level[bit / WORD];
            *word &= !(1 << (bit % WORD));
            if *word != 0 {
                return false;
            }
            bit /= WORD;
        }
        true
    }

    /// Whose turn it is; `None` once all have had theirs, and then a new round begins.
    #[inline]
    pub(super) fn whose(&mut self) -> Option<usize> {
        let next = self.first_from(self.turn);
        self.turn = next.unwrap_or(0);
        next
    }

    /// The turn is over.
    #[inline]
    pub(super) fn over(&mut self) {
        self.turn += 1;
    }

    #[inline]
    fn first_from(&self, place: usize) -> Option<usize> {
        let mut bit = place;
        for (height, level) in self.levels.iter().enumerate() {
            let rest = level.get(bit / WORD)? >> (bit % WORD) << (bit % WORD);
            if rest != 0 {
                let found = bit / WORD * WORD + rest.trailing_zeros() as usize;
                return Some(
                    self.levels[..height]
                        .iter()
                        .rev()
                        .fold(found, |found, level| found * WORD + level[found].trailing_zeros() as usize),
                );
            }
            bit = bit / WORD + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Random;

    #[test]
    fn turns_are_those_of_a_search() {
        for (case, places) in [1, 2, 63, 64, 65, 4_095, 4_096, 4_097, 65_536].into_iter().enumerate() {
            let mut random = Random::new(case as u64);
            let (mut turns, mut members, mut turn) = (Turns::new(places), vec![false; places], 0);
            for _ in 0..3_000 {
                let place = random.below(places as u64) as usize;
                match random.below(4) {
                    0 | 1 if random.one_in(2) => {
                        members[place] = true;
                        turns.join(place);
                    }
                    0 | 1 => {
                        members[place] = false;
                        assert_eq!(turns.leave(place), !members.contains(&true));
                    }
                    2 => {
                        turn += 1;
                        turns.over();
                    }
                    _ => {
                        let next = (turn..places).find(|&place| members[place]);
                        turn = next.unwrap_or(0);
                        assert_eq!(turns.whose(), next, "of {places}");
                    }
                }
            }
        }
    }
}
