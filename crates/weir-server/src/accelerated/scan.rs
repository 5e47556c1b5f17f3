//! Looks through the times at which cores are free.

/// Times that are looked at together.
const TOGETHER: usize = 8;

/// The place of the first time that is no later than `now`.
#[inline(always)]
pub(super) fn first_by(times: &[u64], now: u64) -> Option<usize> {
    let (several, rest) = times.as_chunks::<TOGETHER>();
    for (chunk, times) in several.iter().enumerate() {
        // Without a branch for each, so that a wide instruction does it.
        let passed = times.iter().fold(false, |any, &at| any | (at <= now));
        if passed {
            return times.iter().position(|&at| at <= now).map(|place| chunk * TOGETHER + place);
        }
    }
    let before = several.len() * TOGETHER;
    rest.iter().position(|&at| at <= now).map(|place| before + place)
}

/// The place of the earliest time, of several the first; there is one at least.
#[inline(always)]
pub(super) fn earliest(times: &[u64]) -> usize {
    let least = times.iter().fold(u64::MAX, |least, &at| least.min(at));
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
                let now = next();
                assert_eq!(first_by(&times, now), times.iter().position(|&at| at <= now));
                let least = times.iter().min().expect("one");
                assert_eq!(Some(earliest(&times)), times.iter().position(|at| at == least));
            }
        }
    }
}
