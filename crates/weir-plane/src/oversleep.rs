//! What the loop has overslept, and which arrivals that has delayed.
//!
//! A router that is late knows when it should have looked, but not when the packets came that it finds then; and the
//! routers before it, on the same processors, were late at the same time. So that a line loses no time to that, packets
//! that are found within as long after a lateness as it lasted may begin on an idle line as much earlier: at the moment
//! from which it was free, at the earliest. A line of a chain that is never idle would otherwise keep each lateness as
//! delay for good.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(1) a turn of the loop |
//! | Units | nanoseconds since the daemon began |

use super::egress::CATCH_UP;

/// The last lateness that counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Oversleep {
    span: u64,
    until: u64,
}

impl Oversleep {
    /// The loop looks at `now` and should have at `due`.
    pub(super) fn note(&mut self, now: u64, due: u64) {
        let span = now.saturating_sub(due).min(CATCH_UP);
        if now >= self.until || span > self.span {
            *self = Self { span, until: now.saturating_add(span) };
        }
    }

    /// When a packet that is found at `now` may have come at the earliest.
    #[inline]
    pub(super) fn since(&self, now: u64) -> u64 {
        if now < self.until { now - self.span.min(now) } else { now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_for_as_long_as_it_lasted() {
        let mut late = Oversleep::default();
        assert_eq!(late.since(1_000), 1_000);
        late.note(10_000, 7_000);
        assert_eq!([10_000, 12_999, 13_000].map(|now| late.since(now)), [7_000, 9_999, 13_000]);
        // A shorter one within that time does not end it, a longer one takes its place.
        late.note(11_000, 10_900);
        assert_eq!(late.since(11_000), 8_000);
        late.note(12_000, 8_000);
        assert_eq!([12_000, 15_999, 16_000].map(|now| late.since(now)), [8_000, 11_999, 16_000]);
        // Who is not late has nothing to make up for.
        late.note(20_000, 20_000);
        assert_eq!(late.since(20_000), 20_000);
    }

    #[test]
    fn no_more_is_made_up_for_than_by_the_line() {
        let mut late = Oversleep::default();
        late.note(2 * CATCH_UP, 0);
        assert_eq!(late.since(2 * CATCH_UP), CATCH_UP);
    }
}
