//! The line of an interface: how long each packet takes on it.
//!
//! A transmission takes `(size + framing) x 8 / rate`. Instants are whole nanoseconds, rounded up; what one end was
//! rounded by is taken off the next transmission where the two adjoin, so that the rate is exact over any number of
//! packets.
//!
//! | | |
//! |-|-|
//! | Source | the project's network model |
//! | Work per packet | one division |
//! | Units | nanoseconds since the daemon began; bits per second |
//! | Departs from the source | the simulation rounds each transmission up by itself: it differs by less than a nanosecond a packet, and not at all where a byte takes whole nanoseconds |

use weir_core::units::{Bytes, Rate};

/// Later than any instant.
pub(super) const NEVER: u64 = u64::MAX;
/// Bits and nanoseconds: what a byte costs at one bit a second.
const BYTE_AT_ONE_BIT: u64 = 8 * 1_000_000_000;
/// No packet with its framing is larger than this, in bytes.
const LARGEST: u64 = 1 << 30;

/// A line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    rate: u64,
    framing: u64,
    /// When the transmission under way ends, or [`NEVER`].
    end: u64,
    /// When the last transmission has ended, or ends.
    free: u64,
    /// By how much that was rounded up, in bits and nanoseconds at one bit a second.
    rounded: u64,
}

impl Line {
    /// An idle line.
    pub(super) fn new(rate: Rate, framing: Bytes) -> Self {
        Self { rate: rate.get().max(1), framing: framing.get(), end: NEVER, free: 0, rounded: 0 }
    }

    /// The same line at another rate, which holds from the next transmission on.
    pub(super) fn set(&mut self, rate: Rate, framing: Bytes) {
        (self.rate, self.framing) = (rate.get().max(1), framing.get());
        self.rounded = 0;
    }

    /// When the transmission under way ends, or [`NEVER`].
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// When the last transmission has ended, or ends.
    #[inline]
    pub(super) fn free(&self) -> u64 {
        self.free
    }

    /// Whether nothing is under way.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.end == NEVER
    }

    /// The transmission under way has ended.
    #[inline]
    pub(super) fn finish(&mut self) {
        self.end = NEVER;
    }

    /// A packet of `size` bytes begins at `now`, on an idle line; returns when its transmission ends.
    #[inline]
    pub(super) fn start(&mut self, now: u64, size: u16) -> u64 {
        let adjoins = now == self.free;
        let framed = u64::from(size).saturating_add(self.framing).min(LARGEST);
        let rounded = if adjoins { self.rounded } else { 0 };
        let work = framed * BYTE_AT_ONE_BIT;
        self.free = now;
        if let Some(work) = work.checked_sub(rounded) {
            let over = work % self.rate;
            self.rounded = if over == 0 { 0 } else { self.rate - over };
            self.free = now.saturating_add(work / self.rate + u64::from(over != 0));
        } else {
            // So fast a line that several packets end within one nanosecond.
            self.rounded = rounded - work;
        }
        self.end = self.free;
        self.free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_adjoin_take_exactly_their_time_together() {
        // 1514 bytes at 7 bit/s, 3 Gbit/s, 999 kbit/s: n of them end at n * bits / rate, rounded up once.
        for rate in [7, 3_000_000_000, 999_000, 1, u64::MAX] {
            let mut line = Line::new(Rate::new(rate), Bytes::new(14));
            let mut now = 0;
            for packets in 1..=1_000_u128 {
                now = line.start(now, 1500);
                line.finish();
                let exact = (packets * 1514 * 8 * 1_000_000_000).div_ceil(u128::from(rate));
                assert_eq!(u128::from(now), exact, "{packets} at {rate}");
            }
        }
    }

    #[test]
    fn a_pause_forgets_what_was_rounded() {
        let mut line = Line::new(Rate::new(3_000_000_000), Bytes::new(0));
        assert_eq!(line.start(0, 64), 171);
        assert!(!line.is_idle() && line.end() == 171);
        line.finish();
        // 170.67 ns each: adjoining, two take 341.33; apart, each takes 171.
        assert_eq!(line.start(171, 64), 342);
        line.finish();
        assert_eq!(line.start(1_000, 64), 1_171);
    }
}
