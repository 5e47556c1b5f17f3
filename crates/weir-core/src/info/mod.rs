//! What a discipline says of itself, and how it reads its arguments.
//!
//! Every list of disciplines (command line, Python, documents, schema) is derived from [`Info`]. A [`Parameter`] states
//! what it takes once; every value of a spec string is read through [`Arguments`], which knows kind, bounds, default and
//! wording from there.

mod arguments;
mod parameter;

use crate::units::{Bytes, Nanos, Packets, Rate};

pub use arguments::Arguments;
pub use parameter::{Parameter, Takes};

/// What a discipline orders, which is also where it can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Messages of several packets, or requests: served in parts, or whole.
    Message,
    /// Packets at a link: served whole.
    Packet,
    /// Processes that are ready to run: served in time.
    Task,
    /// Servers, of which a request joins one when it arrives.
    Dispatcher,
    /// Servers that share requests, or the queues of servers.
    Pool,
    /// A rule around another discipline.
    Wrapper,
}

impl Kind {
    /// The name in listings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Packet => "packet",
            Self::Task => "task",
            Self::Dispatcher => "dispatcher",
            Self::Pool => "pool",
            Self::Wrapper => "wrapper",
        }
    }
}

/// What a discipline says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The registered name.
    pub name: &'static str,
    /// What it orders.
    pub kind: Kind,
    /// The usual name, in a few words.
    pub title: &'static str,
    /// The rule, in a sentence or two.
    pub rule: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Work per item.
    pub work: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// A spec that builds one.
    pub example: &'static str,
}

impl Info {
    /// The parameter that this is said of, if there is one.
    pub fn parameter(&self, is_it: impl Fn(&Takes) -> bool) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| is_it(&parameter.takes))
    }
}

/// Reads a whole number followed by one of `units`, each with its factor.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (_, factor) = units.iter().find(|(unit, _)| *unit == &text[digits..])?;
    text[..digits].parse::<u64>().ok()?.checked_mul(*factor)
}

/// Reads a size such as `1514B` or `64KiB`; the unit is required.
#[must_use]
pub fn parse_bytes(text: &str) -> Option<Bytes> {
    let decimal = [("B", 1), ("kB", 1_000), ("MB", 1_000_000)];
    let binary = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];
    scaled(text, &decimal).or_else(|| scaled(text, &binary)).map(Bytes::new)
}

/// Reads a number of packets such as `100pkt`; the unit is required.
#[must_use]
pub fn parse_packets(text: &str) -> Option<Packets> {
    scaled(text, &[("pkt", 1)]).map(Packets::new)
}

/// Reads a span such as `5ms`; the unit is required.
#[must_use]
pub fn parse_nanos(text: &str) -> Option<Nanos> {
    scaled(text, &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)]).map(Nanos::new)
}

/// Reads a rate such as `10Gbit` (bits per second, decimal prefixes); the unit is required.
#[must_use]
pub fn parse_rate(text: &str) -> Option<Rate> {
    scaled(text, &[("bit", 1), ("kbit", 1_000), ("Mbit", 1_000_000), ("Gbit", 1_000_000_000)]).map(Rate::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_need_their_unit() {
        assert_eq!(parse_bytes("2048B"), Some(Bytes::new(2048)));
        assert_eq!(parse_bytes("2048"), None);
        assert_eq!(parse_bytes("B"), None);
        assert_eq!(parse_bytes("3GiB"), Some(Bytes::new(3 << 30)));
        assert_eq!(parse_bytes("2TiB"), Some(Bytes::new(2 << 40)));
        assert_eq!(parse_bytes("16777216TiB"), None);
        assert_eq!(parse_packets("100pkt"), Some(Packets::new(100)));
        assert_eq!(parse_packets("100"), None);
        assert_eq!(parse_nanos("5ms"), Some(Nanos::new(5_000_000)));
        assert_eq!(parse_rate("10Gbit"), Some(Rate::new(10_000_000_000)));
        assert_eq!(parse_rate("99999999999999999999Gbit"), None);
        assert_eq!(parse_nanos("-5ms"), None);
    }
}
