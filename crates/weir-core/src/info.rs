//! What a discipline says of itself, and how it reads its arguments.
//!
//! Every list of disciplines (command line, Python, documents, schema) is derived from [`Info`]; every
//! value of a spec string is read through [`Arguments`], so that unknown, missing and repeated parameters
//! are refused in one place and in one wording.

use core::str::FromStr;

use crate::discipline::Limit;
use crate::spec::{Spec, SpecError};
use crate::units::{Bytes, Cost, Nanos, Packets, Rate};

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

/// One parameter of a discipline.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its key; arguments without a key are assigned in the order of the table.
    pub name: &'static str,
    /// The values it takes, with unit and bounds.
    pub values: &'static str,
    /// The value that stands where none is given; `None` where one must be given.
    pub default: Option<&'static str>,
    /// What it does.
    pub meaning: &'static str,
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

/// The arguments of one spec, read by parameter name.
#[derive(Debug)]
pub struct Arguments<'a> {
    info: &'static Info,
    values: Vec<Option<&'a Spec>>,
}

impl<'a> Arguments<'a> {
    /// Assigns the arguments of `spec` to the parameters of `info`.
    ///
    /// # Errors
    /// An argument names no parameter, names one twice, or there are too many.
    pub fn new(spec: &'a Spec, info: &'static Info) -> Result<Self, SpecError> {
        let mut values = vec![None; info.parameters.len()];
        for (position, argument) in spec.arguments.iter().enumerate() {
            let index = match &argument.key {
                Some(key) => info.parameters.iter().position(|p| p.name == key),
                None => Some(position).filter(|&i| i < values.len()),
            };
            let Some(index) = index else {
                return Err(unknown(info, argument.key.clone().unwrap_or(argument.value.to_string())));
            };
            if values[index].replace(&argument.value).is_some() {
                let reason = "is given twice, give it once".to_owned();
                return Err(value_error(info, info.parameters[index].name, reason));
            }
        }
        Ok(Self { info, values })
    }

    /// The parameters that are given, in the order of the table.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static Parameter, &'a Spec)> {
        self.info
            .parameters
            .iter()
            .zip(&self.values)
            .filter_map(|(parameter, value)| Some((parameter, (*value)?)))
    }

    fn get(&self, name: &'static str) -> Option<&'a Spec> {
        let index = self.info.parameters.iter().position(|p| p.name == name);
        self.values[index.expect("a discipline reads only parameters of its own table")]
    }

    /// The error for a value of `name`; `reason` continues the sentence "`alpha` is -1, ...".
    #[must_use]
    pub fn error(&self, name: &'static str, reason: String) -> SpecError {
        value_error(self.info, name, reason)
    }

    /// The spec of a nested discipline, if one is given.
    #[must_use]
    pub fn optional(&self, name: &'static str) -> Option<&'a Spec> {
        self.get(name)
    }

    /// The spec of a nested discipline.
    ///
    /// # Errors
    /// It is missing.
    pub fn nested(&self, name: &'static str) -> Result<&'a Spec, SpecError> {
        let missing = || self.error(name, format!("is missing, write it as in `{}`", self.info.example));
        self.get(name).ok_or_else(missing)
    }

    /// The text of a plain value, or the default of the table.
    ///
    /// # Errors
    /// It is missing and has no default, or is a nested spec.
    pub fn text(&self, name: &'static str) -> Result<&'a str, SpecError> {
        let default = || self.info.parameters.iter().find(|p| p.name == name).and_then(|p| p.default);
        match self.get(name) {
            Some(spec) if spec.arguments.is_empty() => Ok(&spec.name),
            Some(spec) => Err(self.error(name, format!("is `{spec}`, must be a plain value"))),
            None => default().ok_or_else(|| {
                self.error(name, format!("is missing, write it as in `{}`", self.info.example))
            }),
        }
    }

    /// A value read by `parse`; `expected` says what it must be.
    ///
    /// # Errors
    /// It is missing, or `parse` refuses it.
    pub fn parsed<T>(
        &self,
        name: &'static str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, SpecError> {
        let text = self.text(name)?;
        parse(text).ok_or_else(|| self.error(name, format!("is `{text}`, must be {expected}")))
    }

    /// A whole number within `low..=high`.
    ///
    /// # Errors
    /// It is missing, no whole number, or outside the bounds.
    pub fn whole(&self, name: &'static str, low: u64, high: u64) -> Result<u64, SpecError> {
        let expected = format!("a whole number from {low} to {high}");
        self.parsed(name, &expected, |t| u64::from_str(t).ok().filter(|v| (low..=high).contains(v)))
    }

    /// A finite real number within `low..=high`.
    ///
    /// # Errors
    /// It is missing, no number, or outside the bounds.
    pub fn real(&self, name: &'static str, low: f64, high: f64) -> Result<f64, SpecError> {
        let expected = format!("a number from {low} to {high}");
        self.parsed(name, &expected, |t| f64::from_str(t).ok().filter(|v| (low..=high).contains(v)))
    }

    /// One of `choices`, as its position in them.
    ///
    /// # Errors
    /// It is missing, or none of them.
    pub fn choice(&self, name: &'static str, choices: &[&str]) -> Result<usize, SpecError> {
        let expected = format!("one of `{}`", choices.join("`, `"));
        self.parsed(name, &expected, |t| choices.iter().position(|c| *c == t))
    }

    /// A number of packets within `low..=high`.
    ///
    /// # Errors
    /// It is missing, no such number, or outside the bounds.
    pub fn packets(&self, name: &'static str, low: u64, high: u64) -> Result<u64, SpecError> {
        let expected = format!("packets from {low}pkt to {high}pkt");
        let within = |packets: &Packets| (low..=high).contains(&packets.get());
        Ok(self.parsed(name, &expected, |t| parse_packets(t).filter(within))?.get())
    }

    /// A bound on what waits: `none`, packets such as `100pkt`, or bytes such as `64KiB` where items are
    /// counted in bytes.
    ///
    /// # Errors
    /// It is missing, none of these, nothing, or in bytes where the cost of an item is none.
    pub fn limit<C: Cost>(&self, name: &'static str) -> Result<Limit<C>, SpecError> {
        let text = self.text(name)?;
        if let Some(packets) = parse_packets(text).filter(|packets| packets.get() > 0) {
            return Ok(Limit { items: packets.get(), ..Limit::none() });
        }
        match parse_bytes(text).filter(|bytes| bytes.get() > 0) {
            _ if text == "none" => Ok(Limit::none()),
            Some(bytes) if C::UNIT == Bytes::UNIT => Ok(Limit { cost: C::of(bytes.get()), ..Limit::none() }),
            Some(_) => {
                let reason = format!(
                    "is `{text}`, which needs items counted in bytes; these are counted in {}, \
                     write packets such as 100pkt",
                    C::UNIT
                );
                Err(self.error(name, reason))
            }
            None => {
                let reason = "packets such as 100pkt, bytes such as 64KiB, each at least 1, or `none`";
                Err(self.error(name, format!("is `{text}`, must be {reason}")))
            }
        }
    }
}

fn value_error(info: &'static Info, parameter: &'static str, reason: String) -> SpecError {
    SpecError::Value { discipline: info.name, parameter, reason }
}

fn unknown(info: &'static Info, parameter: String) -> SpecError {
    let names: Vec<_> = info.parameters.iter().map(|p| p.name).collect();
    let remedy = if names.is_empty() {
        format!("it takes none, write `{}`", info.name)
    } else {
        format!("it takes `{}`", names.join("`, `"))
    };
    SpecError::UnknownParameter { discipline: info.name, parameter, remedy }
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
    scaled(text, &[("B", 1), ("kB", 1_000), ("KiB", 1 << 10), ("MB", 1_000_000), ("MiB", 1 << 20)])
        .map(Bytes::new)
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
        assert_eq!(parse_packets("100pkt"), Some(Packets::new(100)));
        assert_eq!(parse_packets("100"), None);
        assert_eq!(parse_nanos("5ms"), Some(Nanos::new(5_000_000)));
        assert_eq!(parse_rate("10Gbit"), Some(Rate::new(10_000_000_000)));
        assert_eq!(parse_rate("99999999999999999999Gbit"), None);
        assert_eq!(parse_nanos("-5ms"), None);
    }
}
