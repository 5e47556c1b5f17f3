//! From the rule of a dispatcher to what the programs read.
//!
//! A decision is `struct steer_decision` of `bpf/steer/intf.h`: servers are replaced by the numbers of their processors,
//! and the seed of a hash by its key.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(places), for each change of the rule; never for a frame |
//! | Units | places of the list; processors by their number |
//! | Memory | 4 kB each |

use weir_core::packet::hash::Keyed;
use weir_core::pool::{MAX_SERVERS, Part, Rule, ServerId};

/// `STEER_PLACES`: the most places of a list.
const PLACES: usize = MAX_SERVERS as usize;
/// `STEER_NONE`: a place that leads to no processor.
const NONE: u32 = u32::MAX;
/// `enum steer_rule`.
const CYCLE: u32 = 1;
const HASH: u32 = 2;
const SHORTEST: u32 = 3;

/// `struct steer_part`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Places {
    first: u32,
    count: u32,
    turn: u32,
    unused: u32,
}

impl Places {
    /// A part of a list of at most [`PLACES`].
    fn of(part: Part) -> Self {
        let Part { first, count, turn } = part;
        Self { first, count, turn, unused: 0 }
    }
}

/// What the programs decide by: `struct steer_decision`.
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    rule: u32,
    places: u32,
    strict: u32,
    entries: u32,
    key: [u64; 2],
    parts: [Places; 2],
    list: [u32; PLACES],
}

impl Default for Decision {
    /// None: all frames go to the kernel.
    fn default() -> Self {
        let parts = [Places::default(); 2];
        Self { rule: 0, places: 0, strict: 0, entries: 0, key: [0; 2], parts, list: [NONE; PLACES] }
    }
}

impl Decision {
    /// Where its key, its parts and its list begin, in bytes.
    #[cfg(test)]
    pub(super) const PLACES_OF: [usize; 3] = [
        core::mem::offset_of!(Self, key),
        core::mem::offset_of!(Self, parts),
        core::mem::offset_of!(Self, list),
    ];

    /// The decision of a rule over the servers that these processors are, by [`ServerId`]; `None`: it is not there, and
    /// its place leads to none.
    #[must_use]
    pub fn of(rule: &Rule<'_>, processors: &[Option<u32>]) -> Self {
        let mut decision = Self::default();
        match *rule {
            Rule::Cycle { places, strict, parts } => {
                let processor = |server: ServerId| processors.get(server.0 as usize).copied().flatten();
                decision.rule = CYCLE;
                decision.list(places.iter().map(|place| place.and_then(processor)));
                decision.strict = strict.into();
                decision.parts = parts.map(Places::of);
            }
            Rule::Hash { seed, entries } => {
                decision.rule = HASH;
                decision.entries = entries;
                decision.key = Keyed::new(seed).key();
                decision.list(processors.iter().copied());
            }
            Rule::Shortest => {
                decision.rule = SHORTEST;
                decision.list(processors.iter().copied());
            }
        }
        decision
    }

    /// Writes the list; what is beyond [`PLACES`], which no dispatcher has, leads nowhere.
    fn list(&mut self, processors: impl Iterator<Item = Option<u32>>) {
        for (to, processor) in self.list.iter_mut().zip(processors) {
            *to = processor.unwrap_or(NONE);
            self.places += 1;
        }
    }

    /// The processors that it may send to, each once for each place that it has.
    pub fn processors(&self) -> impl Iterator<Item = u32> + '_ {
        self.list[..self.places as usize].iter().copied().filter(|processor| *processor != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: [Option<u32>; 3] = [Some(5), None, Some(7)];

    #[test]
    fn servers_are_replaced_by_their_processors() {
        let places = [Some(ServerId(2)), None, Some(ServerId(1)), Some(ServerId(0)), Some(ServerId(9))];
        let parts = [Part { first: 0, count: 2, turn: 0 }, Part { first: 2, count: 3, turn: 1 }];
        let decision = Decision::of(&Rule::Cycle { places: &places, strict: true, parts }, &TWO);
        assert_eq!((decision.rule, decision.strict, decision.places), (CYCLE, 1, 5));
        assert_eq!(decision.list[..6], [7, NONE, NONE, 5, NONE, NONE]);
        assert_eq!(decision.parts[1], Places { first: 2, count: 3, turn: 1, unused: 0 });
        assert_eq!(decision.processors().collect::<Vec<_>>(), [7, 5]);
    }

    #[test]
    fn a_hash_and_the_shortest_have_all_of_them() {
        let decision = Decision::of(&Rule::Hash { seed: 3, entries: 128 }, &TWO);
        assert_eq!((decision.rule, decision.entries, decision.places), (HASH, 128, 3));
        assert_eq!((decision.key, &decision.list[..3]), (Keyed::new(3).key(), &[5, NONE, 7][..]));
        let decision = Decision::of(&Rule::Shortest, &TWO);
        assert_eq!((decision.rule, decision.places, &decision.list[..3]), (SHORTEST, 3, &[5, NONE, 7][..]));
    }
}
