//! Numbers of cores, such as when each is free, and how they are looked through.

use std::cell::Cell;

/// The number of cores that are compared together.
pub(super) const TOGETHER: usize = 8;

/// A number of each core. Of at most [`TOGETHER`] cores they are an array, so that loops over them have a length that is
/// known when they are compiled; it is filled up with cores that are never free.
pub(super) trait Numbers: AsRef<[Cell<u64>]> {
    /// The same number for each of `cores` cores; `never` for those that do not exist.
    fn new(cores: u32, number: u64, never: u64) -> Self;
}

impl Numbers for [Cell<u64>; TOGETHER] {
    fn new(cores: u32, number: u64, never: u64) -> Self {
        core::array::from_fn(|core| Cell::new(if core < cores as usize { number } else { never }))
    }
}

impl Numbers for Vec<Cell<u64>> {
    fn new(cores: u32, number: u64, _never: u64) -> Self {
        vec![Cell::new(number); cores as usize]
    }
}

/// The place of the first time that is no later than `now`.
#[inline(always)]
pub(super) fn first_by(times: &[Cell<u64>], now: u64) -> Option<usize> {
    let (several, rest) = times.as_chunks::<TOGETHER>();
    for (chunk, times) in several.iter().enumerate() {
        // Without a branch for each, so that a wide instruction does it.
        let passed = times.iter().fold(false, |any, at| any | (at.get() <= now));
        if passed {
            return times.iter().position(|at| at.get() <= now).map(|place| chunk * TOGETHER + place);
        }
    }
    let before = several.len() * TOGETHER;
    rest.iter().position(|at| at.get() <= now).map(|place| before + place)
}

/// The place of the earliest time, of several the first; there is one at least.
#[inline(always)]
pub(super) fn earliest(times: &[Cell<u64>]) -> usize {
    let least = times.iter().fold(u64::MAX, |least, at| least.min(at.get()));
    first_by(times, least).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_find_what_a_plain_search_finds() {
        let mut state = 7_u64;
        for length in 1..40 {
            for _ in 0..200 {
                let mut next = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 33) % 60
                };
                let times: Vec<u64> = (0..length).map(|_| next()).collect();
                let cells: Vec<Cell<u64>> = times.iter().copied().map(Cell::new).collect();
                let now = next();
                assert_eq!(first_by(&cells, now), times.iter().position(|&at| at <= now));
                let least = times.iter().min().expect("one");
                assert_eq!(Some(earliest(&cells)), times.iter().position(|at| at == least));
            }
        }
    }

    #[test]
    fn an_array_is_filled_up_with_cores_that_are_never_free() {
        let few = <[Cell<u64>; TOGETHER]>::new(3, 7, u64::MAX);
        assert_eq!(few.each_ref().map(Cell::get)[2..4], [7, u64::MAX]);
        assert_eq!((first_by(&few, 6), first_by(&few, u64::MAX - 1), earliest(&few)), (None, Some(0), 0));
        assert_eq!(<Vec<Cell<u64>> as Numbers>::new(20, 7, u64::MAX), vec![Cell::new(7); 20]);
    }
}
