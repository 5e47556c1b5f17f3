//! Quantities as they are written in a request: text that carries its unit, read exactly.
//!
//! | kind | written | units |
//! |---|---|---|
//! | size | `"2048B"`, `"2KiB"` | `B`, `kB`, `KiB`, `MB`, `MiB` |
//! | rate | `"2.5Gbit"` | `bit`, `kbit`, `Mbit`, `Gbit`, each per second |
//! | time | `"20us"`, `"0.5ms"` | `ns`, `us`, `ms`, `s` |
//! | share | `"12.5%"` | `%` |
//!
//! A fraction finer than the unit of the type (a byte, a bit per second, a nanosecond, 10^-9 of the whole) is
//! refused, not rounded.

use core::fmt;

use serde::{Serialize, Serializer};
use weir_core::units::{Bytes, Nanos, Rate};

/// A part of the whole, in thousand-millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share(u64);

impl Share {
    /// Parts of the whole that are counted.
    pub const PARTS: u64 = 1_000_000_000;
    /// All of it.
    pub const WHOLE: Self = Self(Self::PARTS);

    /// `parts` thousand-millionths.
    #[must_use]
    pub const fn new(parts: u64) -> Self {
        Self(parts)
    }

    /// `part / whole`, rounded down; the whole where `whole` is zero or less than the part.
    #[must_use]
    pub fn of(part: u128, whole: u128) -> Self {
        let parts = (part * u128::from(Self::PARTS)).checked_div(whole).unwrap_or(u128::from(Self::PARTS));
        Self(u64::try_from(parts.min(u128::from(Self::PARTS))).unwrap_or(Self::PARTS))
    }

    /// The thousand-millionths.
    #[must_use]
    pub const fn parts(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Share {
    /// In percent, with as many decimals as it takes: `12.5%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000_000, self.0 % 10_000_000);
        let decimals = format!("{rest:07}");
        let decimals = decimals.trim_end_matches('0');
        let dot = if decimals.is_empty() { "" } else { "." };
        write!(f, "{whole}{dot}{decimals}%")
    }
}

impl Serialize for Share {
    /// As a number: the part of 1.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[expect(clippy::cast_precision_loss, reason = "shares are below 2^53 parts")]
        serializer.serialize_f64(self.0 as f64 / Self::PARTS as f64)
    }
}

/// A time in microseconds, exactly, as a request has it: `18.72us`.
pub(crate) fn micros(time: Nanos) -> String {
    decimal(time, 3, "us")
}

/// A time in milliseconds, exactly: `30ms`.
pub(crate) fn millis(time: Nanos) -> String {
    decimal(time, 6, "ms")
}

/// A time in a unit of 10^`places` nanoseconds.
fn decimal(time: Nanos, places: usize, unit: &str) -> String {
    let base = 10_u64.pow(places as u32);
    let (whole, rest) = (time.get() / base, time.get() % base);
    let decimals = format!("{rest:0places$}");
    let decimals = decimals.trim_end_matches('0');
    let dot = if decimals.is_empty() { "" } else { "." };
    format!("{whole}{dot}{decimals}{unit}")
}

/// Reads a size.
pub(crate) fn size(text: &str) -> Option<Bytes> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("kB", 1_000), ("MB", 1_000_000), ("B", 1)];
    scaled(text, &units).map(Bytes::new)
}

/// Reads a rate.
pub(crate) fn rate(text: &str) -> Option<Rate> {
    let units = [("kbit", 1_000), ("Mbit", 1_000_000), ("Gbit", 1_000_000_000), ("bit", 1)];
    scaled(text, &units).map(Rate::new)
}

/// Reads a span of time.
pub(crate) fn time(text: &str) -> Option<Nanos> {
    scaled(text, &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)]).map(Nanos::new)
}

/// Reads a share.
pub(crate) fn share(text: &str) -> Option<Share> {
    scaled(text, &[("%", Share::PARTS / 100)]).map(Share)
}

/// A decimal number before the first unit of `units` that the text ends in, times its factor.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(fraction) || fraction.len() > 18 {
        return None;
    }
    let factor = u128::from(factor);
    let base = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let below = fraction.parse::<u128>().ok()? * factor;
    if below % base != 0 {
        return None;
    }
    let count = whole.parse::<u128>().ok()?.checked_mul(factor)?.checked_add(below / base)?;
    u64::try_from(count).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_exactly() {
        assert_eq!(rate("2.5Gbit"), Some(Rate::new(2_500_000_000)));
        assert_eq!(size("2KiB"), Some(Bytes::new(2048)));
        assert_eq!(time("0.5ms"), Some(Nanos::new(500_000)));
        assert_eq!(time("3s"), Some(Nanos::new(3_000_000_000)));
        assert_eq!(share("12.5%").map(Share::parts), Some(125_000_000));
        for bad in ["", "%", "-1%", "1e3%", ".5%", "5.%", "0.00000001%", "nan%", "99999999999999999999%", "5"]
        {
            assert_eq!(share(bad), None, "{bad}");
        }
        assert_eq!(size("0.5B"), None);
        assert_eq!(rate("18446744073709551616bit"), None);
    }

    #[test]
    fn times_print_as_they_are_read() {
        for text in ["20us", "18.72us", "0.005us"] {
            assert_eq!(micros(time(text).expect(text)), text);
        }
        for text in ["30ms", "0.5ms", "0.000001ms"] {
            assert_eq!(millis(time(text).expect(text)), text);
        }
    }

    #[test]
    fn shares_print_as_they_are_read() {
        for text in ["25%", "12.5%", "3.125%", "0.0000001%", "100%"] {
            assert_eq!(share(text).expect(text).to_string(), text);
        }
        assert_eq!(Share::of(1, 3).to_string(), "33.3333333%");
        assert_eq!(Share::of(1, 0), Share::WHOLE);
    }
}
