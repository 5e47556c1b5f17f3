//! Units: one newtype over one integer for each quantity a discipline handles.
//!
//! The field is private, and only meaningful sums exist: `Instant - Instant = Nanos`,
//! `Instant + Nanos = Instant`, `Nanos * 3 = Nanos`. Everything is a whole number, so sums are exact and independent of
//! their order. The text form carries the unit (`5ms`, `1514B`, `10Gbit`).
//!
//! The clock of every engine counts nanoseconds. A model whose document has an abstract unit of time
//! (the message port: one mean packet service) counts thousand-millionths of that unit instead; its
//! disciplines cannot tell the difference.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// What is served of an item: packets of a message, bytes of a packet, nanoseconds of a task.
///
/// A cost is a count of some unit; disciplines are written once for all of them.
pub trait Cost: Copy + Ord + Default + fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// No work at all.
    const ZERO: Self;
    /// The smallest amount that can be served: one packet, one byte, one nanosecond.
    const ONE: Self;
    /// What is counted, as it stands in text: `B`, `pkt`, `ns`.
    const UNIT: &'static str;
    /// The count behind the unit.
    fn count(self) -> u64;
    /// The quantity of `count` units.
    fn of(count: u64) -> Self;
    /// `self + other`, or the largest quantity where that cannot be represented.
    #[must_use]
    #[inline]
    fn plus(self, other: Self) -> Self {
        Self::of(self.count().saturating_add(other.count()))
    }
    /// `self - other`, or zero where `other` is larger.
    #[must_use]
    #[inline]
    fn minus(self, other: Self) -> Self {
        Self::of(self.count().saturating_sub(other.count()))
    }
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            #[doc = concat!("The quantity of `count` ", $unit, ".")]
            #[must_use]
            pub const fn new(count: u64) -> Self {
                Self(count)
            }

            #[doc = concat!("The count of ", $unit, ".")]
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0
            }
        }
    };
}

macro_rules! additive {
    ($($name:ident: $unit:literal),*) => {$(
        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);
            /// The least that is something.
            pub const ONE: Self = Self(1);
            /// The most that can be represented.
            pub const MAX: Self = Self(u64::MAX);
        }
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self(0), Add::add)
            }
        }
        impl Cost for $name {
            const ZERO: Self = Self(0);
            const ONE: Self = Self(1);
            const UNIT: &'static str = $unit;
            #[inline]
            fn count(self) -> u64 {
                self.0
            }
            #[inline]
            fn of(count: u64) -> Self {
                Self(count)
            }
        }
    )*};
}

quantity!(
    /// A moment on the clock of an engine, in nanoseconds since the engine began.
    Instant,
    "nanoseconds"
);
quantity!(
    /// A span of time.
    Nanos,
    "nanoseconds"
);
quantity!(
    /// An amount of data.
    Bytes,
    "bytes"
);
quantity!(
    /// A number of packets.
    Packets,
    "packets"
);
quantity!(
    /// Tokens whose unit is neither bytes nor time: link credits, entries of a table.
    Credits,
    "credits"
);
quantity!(
    /// A share relative to other shares; it has no unit.
    Weight,
    "shares"
);
quantity!(
    /// A speed of transmission.
    Rate,
    "bits per second"
);
additive!(Nanos: "ns", Bytes: "B", Packets: "pkt", Credits: "cr");

impl Instant {
    /// The moment the engine began.
    pub const ZERO: Self = Self(0);
    /// A moment that no clock reaches.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `span` later, or [`Instant::NEVER`] where that cannot be represented.
    #[must_use]
    #[inline]
    pub const fn after(self, span: Nanos) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The span since `earlier`, or zero where `earlier` is later.
    #[must_use]
    #[inline]
    pub const fn since(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Sub for Instant {
    type Output = Nanos;
    #[inline]
    fn sub(self, earlier: Self) -> Nanos {
        Nanos(self.0 - earlier.0)
    }
}

impl Add<Nanos> for Instant {
    type Output = Self;
    #[inline]
    fn add(self, span: Nanos) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Nanos> for Instant {
    #[inline]
    fn add_assign(&mut self, span: Nanos) {
        self.0 += span.0;
    }
}

impl Nanos {
    /// The span in seconds, for who prints or draws it.
    #[must_use]
    #[inline]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    #[inline]
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

impl Rate {
    /// The time to transmit `size`, rounded up to a whole nanosecond.
    ///
    /// Returns `None` for a rate of zero, and where the time cannot be represented.
    #[must_use]
    pub fn time_of(self, size: Bytes) -> Option<Nanos> {
        let bits = u128::from(size.0) * 8 * NANOS_PER_SECOND;
        let rate = u128::from(self.0);
        if rate == 0 {
            return None;
        }
        u64::try_from(bits.div_ceil(rate)).ok().map(Nanos)
    }

    /// The data transmitted in `span`, rounded down to a whole byte.
    #[must_use]
    pub fn data_in(self, span: Nanos) -> Bytes {
        let bits = u128::from(self.0) * u128::from(span.0) / NANOS_PER_SECOND;
        Bytes(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }
}

/// How fast a server is: how much service it does in how much time, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Speed(u32);

impl Speed {
    /// A nanosecond of service in a nanosecond.
    pub const ONE: Self = Self(1_000_000);
    /// None at all.
    pub const ZERO: Self = Self(0);

    /// A rate of `millionths` nanoseconds of service in a millisecond.
    #[must_use]
    pub const fn new(millionths: u32) -> Self {
        Self(millionths)
    }

    /// How many nanoseconds of service in a millisecond.
    #[must_use]
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// How long this much service takes, rounded up; the longest span where it takes for ever.
    #[must_use]
    #[inline]
    pub fn time_of(self, service: Nanos) -> Nanos {
        if self == Self::ONE || service.0 == 0 {
            return service;
        }
        let work = u128::from(service.0) * u128::from(Self::ONE.0);
        let time = if self.0 == 0 { u128::MAX } else { work.div_ceil(u128::from(self.0)) };
        Nanos(u64::try_from(time).unwrap_or(u64::MAX))
    }

    /// How much service is done in this time, rounded down.
    #[must_use]
    #[inline]
    pub fn service_in(self, time: Nanos) -> Nanos {
        if self == Self::ONE {
            return time;
        }
        let work = u128::from(time.0) * u128::from(self.0) / u128::from(Self::ONE.0);
        Nanos(u64::try_from(work).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / f64::from(Self::ONE.0))
    }
}

/// Writes `count` in the largest unit of `scale` that divides it exactly.
fn write_scaled(f: &mut fmt::Formatter<'_>, count: u64, scale: &[(u64, &str)]) -> fmt::Result {
    let fits = |&&(factor, _): &&(u64, &str)| count != 0 && count.is_multiple_of(factor);
    let (factor, unit) = scale.iter().find(fits).copied().unwrap_or(scale[scale.len() - 1]);
    f.pad(&format!("{}{unit}", count / factor))
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SCALE: [(u64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
        write_scaled(f, self.0, &SCALE)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Nanos(self.0).fmt(f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SCALE: [(u64, &str); 4] =
            [(1_000_000_000, "Gbit"), (1_000_000, "Mbit"), (1_000, "kbit"), (1, "bit")];
        write_scaled(f, self.0, &SCALE)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}B", self.0))
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}pkt", self.0))
    }
}

impl fmt::Display for Credits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}cr", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_service_at_a_speed() {
        let (slow, fast) = (Speed::new(300_000), Speed::new(2_000_000));
        assert_eq!((slow.time_of(Nanos(10)), fast.time_of(Nanos(11))), (Nanos(34), Nanos(6)));
        assert_eq!((slow.service_in(Nanos(34)), fast.service_in(Nanos(6))), (Nanos(10), Nanos(12)));
        assert_eq!(Speed::ZERO.time_of(Nanos(1)), Nanos(u64::MAX));
        assert_eq!((Speed::ZERO.time_of(Nanos(0)), Speed::ZERO.service_in(Nanos(9))), (Nanos(0), Nanos(0)));
        assert_eq!(Speed::new(1).time_of(Nanos(u64::MAX)), Nanos(u64::MAX));
        assert_eq!(Speed::new(u32::MAX).service_in(Nanos(u64::MAX)), Nanos(u64::MAX));
        assert_eq!((slow.to_string(), Speed::ONE.to_string()), ("0.3".to_owned(), "1".to_owned()));
    }

    #[test]
    fn text_forms_carry_the_largest_exact_unit() {
        assert_eq!(Nanos::new(5_000_000).to_string(), "5ms");
        assert_eq!(Nanos::new(1_500).to_string(), "1500ns");
        assert_eq!(Nanos::new(0).to_string(), "0ns");
        assert_eq!(Rate::new(10_000_000_000).to_string(), "10Gbit");
        assert_eq!(Bytes::new(1514).to_string(), "1514B");
        assert_eq!(Packets::new(20).to_string(), "20pkt");
    }

    #[test]
    fn rate_rounds_time_up_and_data_down() {
        let rate = Rate::new(3_000_000_000);
        assert_eq!(rate.time_of(Bytes::new(64)), Some(Nanos::new(171)));
        assert_eq!(rate.data_in(Nanos::new(171)), Bytes::new(64));
        assert_eq!(Rate::new(0).time_of(Bytes::new(1)), None);
        assert_eq!(Rate::new(1).time_of(Bytes::new(u64::MAX)), None);
    }

    #[test]
    fn spans_are_multiplied_and_told_in_seconds() {
        assert_eq!((Nanos::new(250_000_000) * 6).seconds(), 1.5);
        assert_eq!(Instant::NEVER.since(Instant::ZERO), Nanos::MAX);
    }

    #[test]
    fn costs_saturate_instead_of_wrapping() {
        assert_eq!(Packets::new(3).minus(Packets::new(5)), Packets::ZERO);
        assert_eq!(Bytes::new(u64::MAX).plus(Bytes::ONE), Bytes::new(u64::MAX));
    }
}
