//! Quantities as they are written in a document: a string that carries its unit.
//!
//! | kind | written | unit required |
//! |---|---|---|
//! | span of time | `"5ms"`, `"0.3us"`, `"200u"` | `ns`, `us`, `ms`, `s`; or `u`, one mean packet service |
//! | length | `"3pkt"`, `"1460B"`, `"512tok"` | `pkt`, `tok`; `B`, `kB`, `KiB`, `MB`, `MiB` |
//! | rate | `"10Gbit"`, `"2.5Gbit"` | `bit`, `kbit`, `Mbit`, `Gbit`, each per second |
//! | rate of requests | `"250000/s"`, `"2.5M/s"` | `/s`, `k/s`, `M/s` |
//! | cost of one of many | `"0.8ns"`, `"20us"` | `ns`, `us`, `ms`, `s`; down to a thousandth of a nanosecond |
//! | share | `"1%"` | `%` |
//! | overhead | `"0.143ms"`, `"24B"` | of a span of time, or of a length in bytes |
//! | address | `"10.0.2.1"` | |
//! | warm-up | `"mser"`, `"none"`, or a span of time | |
//!
//! A decimal fraction is read exactly: one finer than a nanosecond of the clock is refused, not rounded.

mod amount;
mod written;

use core::fmt;
use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::info::parse_bytes;
use weir_core::units::{Bytes, Nanos, Rate};

pub use amount::Amount;

/// Nanoseconds of the clock in one abstract unit of time.
pub const NANOS_PER_UNIT: u64 = 1_000_000_000;

/// What the clock of a scenario counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The mean service time of one packet, written `u`: 10^9 nanoseconds of the engine's clock.
    PacketServices,
    /// Seconds and their fractions.
    Seconds,
}

/// A span of time, in the unit in which it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// The span on the engine's clock.
    pub span: Nanos,
    /// Which clock was written.
    pub clock: Clock,
}

/// What the length of a message counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LengthUnit {
    /// Packets of the port.
    #[serde(rename = "pkt")]
    Packets,
    /// Bytes of data.
    #[serde(rename = "B")]
    Bytes,
    /// Tokens of an inference request, or any other count of work.
    #[serde(rename = "tok")]
    Tokens,
}

impl LengthUnit {
    /// How the unit is written.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Packets => "pkt",
            Self::Bytes => "B",
            Self::Tokens => "tok",
        }
    }
}

/// The length of a message, in the unit in which it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// How many units.
    pub count: u64,
    /// Which unit.
    pub unit: LengthUnit,
}

/// A size in bytes, where nothing else is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteSize(pub Bytes);

/// A speed of transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed(pub Rate);

/// How many requests arrive in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestRate(pub f64);

/// What one of many takes, such as a byte of a packet, in thousandths of a nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitCost(pub u64);

/// A share of a whole, written in percent and held as a fraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

/// What every transmission takes besides the bits of the packet: time, or bytes of framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overhead {
    /// Time on the line.
    Time(Time),
    /// Bytes at the rate of the line.
    Framing(Bytes),
}

/// An address of a host in the Internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub Ipv4Addr);

/// What is left out at the start of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// As much as the MSER-5 rule finds.
    Detected,
    /// Messages that arrive before this time; `None` where nothing is left out.
    Given(Option<Time>),
}

/// Reads `12`, `0.5` or `12.25` times `factor`, exactly.
fn decimal(text: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |t: &str| !t.is_empty() && t.len() <= 20 && t.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let parts = fraction.parse::<u128>().ok()?.checked_mul(u128::from(factor))?;
    let whole = whole.parse::<u128>().ok()?.checked_mul(u128::from(factor))?;
    (parts % scale == 0).then(|| u64::try_from(whole + parts / scale).ok())?
}

/// The number in front of `unit`, if `text` ends in it.
fn before<'t>(text: &'t str, unit: &str) -> Option<&'t str> {
    text.strip_suffix(unit).filter(|number| number.ends_with(|c: char| c.is_ascii_digit()))
}

impl Time {
    const UNITS: [(&'static str, u64, Clock); 5] = [
        ("ns", 1, Clock::Seconds),
        ("us", 1_000, Clock::Seconds),
        ("ms", 1_000_000, Clock::Seconds),
        ("s", 1_000_000_000, Clock::Seconds),
        ("u", NANOS_PER_UNIT, Clock::PacketServices),
    ];

    /// Whether this is one of its units.
    #[must_use]
    pub fn is_unit(text: &str) -> bool {
        Self::UNITS.iter().any(|(unit, ..)| *unit == text)
    }

    /// The quantity that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let read = |&(unit, factor, clock): &(&str, u64, Clock)| {
            let span = Nanos::new(decimal(before(text, unit)?, factor)?);
            Some(Self { span, clock })
        };
        Self::UNITS.iter().find_map(read)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.clock == Clock::Seconds {
            return self.span.fmt(f);
        }
        let (whole, rest) = (self.span.get() / NANOS_PER_UNIT, self.span.get() % NANOS_PER_UNIT);
        let fraction = format!(".{rest:09}");
        write!(f, "{whole}{}u", fraction.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Length {
    /// The quantity that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let count = |unit| before(text, unit).and_then(|n| n.parse().ok());
        if let Some(count) = count("pkt") {
            return Some(Self { count, unit: LengthUnit::Packets });
        }
        if let Some(count) = count("tok") {
            return Some(Self { count, unit: LengthUnit::Tokens });
        }
        parse_bytes(text).map(|bytes| Self { count: bytes.get(), unit: LengthUnit::Bytes })
    }
}

impl ByteSize {
    /// The quantity that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        parse_bytes(text).map(Self)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, self.unit.symbol())
    }
}

impl Speed {
    const UNITS: [(&'static str, u64); 4] =
        [("kbit", 1_000), ("Mbit", 1_000_000), ("Gbit", 1_000_000_000), ("bit", 1)];

    /// The quantity that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let read = |&(unit, factor): &(&str, u64)| decimal(before(text, unit)?, factor);
        Self::UNITS.iter().find_map(read).map(|bits| Self(Rate::new(bits)))
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl RequestRate {
    const UNITS: [(&'static str, f64); 3] = [("M/s", 1e6), ("k/s", 1e3), ("/s", 1.0)];

    /// The quantity that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |number: &&str| {
            number.len() <= 40
                && number.starts_with(|c: char| c.is_ascii_digit())
                && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        };
        let read = |&(unit, factor): &(&str, f64)| {
            let number: f64 = before(text, unit).filter(plain)?.parse().ok()?;
            Some(Self(number * factor))
        };
        Self::UNITS.iter().find_map(read)
    }
}

impl fmt::Display for RequestRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

impl UnitCost {
    /// The units with their thousandths of a nanosecond.
    const UNITS: [(&'static str, u64); 4] =
        [("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];

    /// The quantity that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let read = |&(unit, factor): &(&str, u64)| decimal(before(text, unit)?, factor).map(Self);
        Self::UNITS.iter().find_map(read)
    }
}

impl fmt::Display for UnitCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000, self.0 % 1_000);
        let fraction = format!(".{rest:03}");
        write!(f, "{whole}{}ns", fraction.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Share {
    /// The quantity that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let percent: f64 = before(text, "%")?.parse().ok()?;
        (percent.is_finite() && percent >= 0.0).then_some(Self(percent / 100.0))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0 * 100.0)
    }
}

impl Overhead {
    /// The quantity that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let time = || Time::parse(text).map(Self::Time);
        parse_bytes(text).map(Self::Framing).or_else(time)
    }
}

impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => time.fmt(f),
            Self::Framing(bytes) => bytes.fmt(f),
        }
    }
}

impl Address {
    /// The quantity that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl WarmUp {
    /// The quantity that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "mser" => Some(Self::Detected),
            "none" => Some(Self::Given(None)),
            _ => Time::parse(text).map(|time| Self::Given(Some(time))),
        }
    }
}

impl fmt::Display for WarmUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Detected => f.write_str("mser"),
            Self::Given(None) => f.write_str("none"),
            Self::Given(Some(time)) => time.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str) -> Option<u64> {
        Time::parse(text).map(|time| time.span.get())
    }

    #[test]
    fn times_are_read_exactly() {
        assert_eq!(nanos("0.5u"), Some(500_000_000));
        assert_eq!(nanos("5ms"), Some(5_000_000));
        assert_eq!(nanos("0.3us"), Some(300));
        assert_eq!(nanos("0.1ns"), None);
        for bad in ["5", "ms", "-5ms", "5 ms", "5m", "1e3s", ".5s", "5.s", "nan", "99999999999s", "5µs"] {
            assert_eq!(nanos(bad), None, "{bad}");
        }
    }

    #[test]
    fn quantities_print_as_they_are_read() {
        for text in ["0u", "0.5u", "200u", "5ms", "1500ns"] {
            assert_eq!(Time::parse(text).expect(text).to_string(), text);
        }
        for text in ["3pkt", "1460B", "512tok"] {
            assert_eq!(Length::parse(text).expect(text).to_string(), text);
        }
        for text in ["mser", "none", "1000u"] {
            assert_eq!(WarmUp::parse(text).expect(text).to_string(), text);
        }
        assert_eq!(Share::parse("1%").expect("a share").to_string(), "1%");
        assert_eq!(Speed::parse("10Gbit").expect("a rate").to_string(), "10Gbit");
        assert_eq!(Speed::parse("2.5Gbit").expect("a rate").to_string(), "2500Mbit");
        assert_eq!(Speed::parse("0.5bit"), None);
    }

    #[test]
    fn rates_of_requests_and_costs_of_units_print_as_they_are_read() {
        for (text, printed) in [("250000/s", "250000/s"), ("2.5M/s", "2500000/s"), ("0.5k/s", "500/s")] {
            assert_eq!(RequestRate::parse(text).expect(text).to_string(), printed);
        }
        for (text, printed) in
            [("0.8ns", "0.8ns"), ("20us", "20000ns"), ("0.001ns", "0.001ns"), ("0s", "0ns")]
        {
            assert_eq!(UnitCost::parse(text).expect(text).to_string(), printed);
        }
        for bad in ["5", "M/s", "-5/s", "1e3/s", ".5/s", "5./s", "nan/s", "5 /s"] {
            assert_eq!(RequestRate::parse(bad), None, "{bad}");
        }
        assert_eq!(UnitCost::parse("0.0001ns"), None);
    }

    #[test]
    fn a_length_without_unit_is_refused() {
        for bad in ["3", "pkt", "-3pkt", "3.5pkt", "3packets", "99999999999999999999pkt"] {
            assert_eq!(Length::parse(bad), None, "{bad}");
        }
    }
}
