//! The clock of the fabric: sixths of a nanosecond, and how long everything takes.
//!
//! Half of 145 ns, a byte at 2 Gb/s (4 ns) and at 1.5 times that (8/3 ns) are whole numbers of it. A span that is
//! no whole number is rounded up, and none is shorter than one tick, so that nothing that starts has an effect at
//! the instant of its start.
//!
//! | | |
//! |-|-|
//! | Units | ticks of 1/6 ns; 64 bits of them last 97 years |
//! | Work | a division where a byte does not take a whole number of ticks, else a multiplication |

use crate::model::{FabricScenario, Link, Switch};
use weir_core::units::{Bytes, Instant, Nanos};

/// A moment or a span, in sixths of a nanosecond.
pub type Ticks = u64;

/// Ticks of a nanosecond.
pub const TICKS_PER_NANO: u64 = 6;
/// Ticks of a second.
pub const TICKS_PER_SECOND: u64 = 6_000_000_000;
/// Never; later than all else.
pub const NEVER: Ticks = u64::MAX;

/// A span in ticks.
#[must_use]
pub fn ticks(span: Nanos) -> Ticks {
    span.get().saturating_mul(TICKS_PER_NANO)
}

/// The whole nanoseconds that have passed, as disciplines see them.
#[must_use]
#[inline]
pub fn instant(at: Ticks) -> Instant {
    Instant::new(at / TICKS_PER_NANO)
}

/// A moment in nanoseconds, for messages.
#[must_use]
pub fn nanos(at: Ticks) -> f64 {
    at as f64 / TICKS_PER_NANO as f64
}

/// Ticks for bytes, at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The ticks that `bytes` take.
    ticks: u64,
    /// The bytes in `ticks`.
    bytes: u64,
}

impl Pace {
    /// A pace of `ticks` ticks for `bytes` bytes; none of either counts as one.
    fn new(ticks: u128, bytes: u128) -> Self {
        let divisor = greatest_common_divisor(ticks.max(1), bytes.max(1));
        let part = |count: u128| u64::try_from(count.max(1) / divisor).unwrap_or(u64::MAX);
        Self { ticks: part(ticks), bytes: part(bytes) }
    }

    /// The time of `bytes` bytes, rounded up, at least one tick.
    #[must_use]
    #[inline]
    pub fn of(self, bytes: u32) -> Ticks {
        if self.bytes == 1 {
            return self.ticks.saturating_mul(u64::from(bytes)).max(1);
        }
        let ticks = (u128::from(self.ticks) * u128::from(bytes)).div_ceil(u128::from(self.bytes));
        u64::try_from(ticks).unwrap_or(u64::MAX).max(1)
    }

    /// Ticks of a byte, where that is a whole number.
    #[must_use]
    pub fn of_a_byte(self) -> Option<u64> {
        (self.bytes == 1).then_some(self.ticks)
    }

    /// Bytes in a second.
    #[must_use]
    pub fn bytes_per_second(self) -> f64 {
        TICKS_PER_SECOND as f64 * self.bytes as f64 / self.ticks as f64
    }
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// How long everything in a fabric takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Bytes of data on a link.
    pub line: Pace,
    /// Bytes through a crossbar.
    pub crossbar: Pace,
    /// From the start of a packet on a link until its head is known at the other end.
    pub head: Ticks,
    /// From a byte on a link to the same at the other end.
    pub propagation: Ticks,
    /// From the release of space in an input to the credit at the sender.
    pub credit_return: Ticks,
    /// From the known head until it may bid for the crossbar.
    pub before: Ticks,
    /// From the start of a transfer until the packet is before the scheduler of the output.
    pub behind: Ticks,
}

impl Timing {
    /// Of these links and switches.
    #[must_use]
    pub fn new(link: &Link, switch: &Switch) -> Self {
        let (data, coded) = (u128::from(link.coding.0), u128::from(link.coding.1));
        let ticks = u128::from(8 * TICKS_PER_SECOND) * coded;
        let bytes = u128::from(link.rate.get()) * data;
        let (fast, slow) = (u128::from(switch.speed_up.0), u128::from(switch.speed_up.1));
        let line = Pace::new(ticks, bytes);
        let header = match u32::try_from(link.header.get()) {
            Ok(0) => 0,
            header => line.of(header.unwrap_or(u32::MAX)),
        };
        let half = switch.latency.get().saturating_mul(TICKS_PER_NANO / 2);
        Self {
            line,
            crossbar: Pace::new(ticks.saturating_mul(slow), bytes.saturating_mul(fast)),
            head: ticks_at_least_one(self::ticks(link.propagation).saturating_add(header)),
            propagation: self::ticks(link.propagation),
            credit_return: ticks_at_least_one(self::ticks(link.credit_return)),
            before: half,
            behind: ticks_at_least_one(half),
        }
    }
}

fn ticks_at_least_one(ticks: Ticks) -> Ticks {
    ticks.max(1)
}

/// Buffers and packets in credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditUnit {
    /// Bytes of a credit.
    bytes: u32,
}

impl CreditUnit {
    /// A unit of `bytes` bytes; none counts as one.
    #[must_use]
    pub fn new(bytes: Bytes) -> Self {
        Self { bytes: u32::try_from(bytes.get().max(1)).unwrap_or(u32::MAX) }
    }

    /// What `credits` credits are in bytes.
    #[must_use]
    #[inline]
    pub fn bytes(self, credits: u16) -> u32 {
        u32::from(credits).saturating_mul(self.bytes)
    }

    /// What a packet takes: every credit that is begun.
    #[must_use]
    #[inline]
    pub fn of_packet(self, size: u32) -> u32 {
        size.div_ceil(self.bytes)
    }

    /// What a buffer holds: whole credits.
    #[must_use]
    pub fn of_buffer(self, size: Bytes) -> u32 {
        u32::try_from(size.get() / u64::from(self.bytes)).unwrap_or(u32::MAX)
    }
}

/// The timing of a scenario.
#[must_use]
pub fn timing(fabric: &FabricScenario) -> Timing {
    Timing::new(&fabric.link, &fabric.switch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_spans_of_the_document_are_whole() {
        let timing = timing(&testing::scenario());
        assert_eq!((timing.line.of_a_byte(), timing.crossbar.of_a_byte()), (Some(24), Some(16)));
        assert_eq!((timing.head, timing.propagation), (6 * (20 + 32), 6 * 20));
        assert_eq!((timing.before, timing.behind), (435, 435));
        assert_eq!(timing.credit_return, 300);
        assert_eq!(timing.line.bytes_per_second(), 250e6);
    }

    #[test]
    fn what_is_not_whole_is_rounded_up() {
        let pace = Pace::new(14, 4);
        assert_eq!((pace.of(1), pace.of(2), pace.of(3), pace.of_a_byte()), (4, 7, 11, None));
        assert_eq!(Pace::new(1, 1000).of(1), 1);
    }

    #[test]
    fn packets_take_every_credit_they_begin_and_buffers_have_whole_ones() {
        let unit = CreditUnit::new(Bytes::new(64));
        assert_eq!([1, 64, 65, 2048].map(|size| unit.of_packet(size)), [1, 1, 2, 32]);
        assert_eq!([0, 1, 32].map(|credits| unit.bytes(credits)), [0, 64, 2048]);
        assert_eq!([63, 64, 16384].map(|size| unit.of_buffer(Bytes::new(size))), [0, 1, 256]);
    }
}
