//! A parameter: its name, what it takes, what stands where nothing is given, and how all that is said.
//!
//! Kind and bounds stand here once. How a value is read, what a refusal and the listings say, what the canonical form
//! leaves out and whether a simulation draws it follow from [`Takes`], and nothing from the name.

use core::fmt::Display;
use core::ops::RangeInclusive;

use crate::role::Role;
use crate::units::{Bytes, Nanos, Packets, Rate};

/// What a parameter takes: the kind of value, and its bounds. Quantities are written with their unit.
#[derive(Clone, Debug)]
pub enum Takes {
    /// A whole number.
    Whole(RangeInclusive<u64>),
    /// How much is served in a turn, in units of the item's cost.
    Turn,
    /// The whole number from which every random choice follows. A simulation draws one where none is given.
    Seed,
    /// A finite real number.
    Real(RangeInclusive<f64>),
    /// A span of time.
    Span(RangeInclusive<Nanos>),
    /// The span in which needs are promised. A simulation has one for all disciplines.
    Epoch(RangeInclusive<Nanos>),
    /// A size.
    Size(RangeInclusive<Bytes>),
    /// A number of packets.
    Packets(RangeInclusive<Packets>),
    /// A speed of transmission, at least this.
    Rate(Rate),
    /// A bound on what waits: packets, or bytes where items are counted in bytes.
    Limit,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A discipline.
    Discipline(Role),
    /// A list, or what else the discipline reads by itself; [`Parameter::worded`] says what.
    Text,
}

/// One parameter of a discipline.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its key; arguments without a key are assigned in the order of the table.
    pub name: &'static str,
    /// The values it takes.
    pub takes: Takes,
    /// Words that stand for a value besides those.
    pub(super) words: &'static [&'static str],
    /// The value that is found where none is given; `None` where one is expected be given.
    pub default: Option<&'static str>,
    /// What it does.
    pub meaning: &'static str,
    listed: Option<&'static str>,
    refused: Option<&'static str>,
}

impl Parameter {
    /// A parameter that must be given.
    #[must_use]
    pub const fn required(name: &'static str, takes: Takes) -> Self {
        Self { name, takes, words: &[], default: None, meaning: "", listed: None, refused: None }
    }

    /// A parameter that is `default` where it is not given.
    #[must_use]
    pub const fn new(name: &'static str, takes: Takes, default: &'static str) -> Self {
        Self::required(name, takes).or_else(default)
    }

    /// The same with this default.
    #[must_use]
    pub const fn or_else(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// What it does.
    #[must_use]
    pub const fn meaning(mut self, meaning: &'static str) -> Self {
        self.meaning = meaning;
        self
    }

    /// Adds words that stand for a value, besides what it takes.
    #[must_use]
    pub const fn or(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    /// What listings and refusals say that it takes, where the usual words do not fit; `{}` stands for the bounds.
    #[must_use]
    pub const fn worded(self, values: &'static str) -> Self {
        self.listed(values).refused(values)
    }

    /// The same, of listings alone.
    #[must_use]
    pub const fn listed(mut self, values: &'static str) -> Self {
        self.listed = Some(values);
        self
    }

    /// The same, of refusals alone.
    #[must_use]
    pub const fn refused(mut self, values: &'static str) -> Self {
        self.refused = Some(values);
        self
    }

    /// The values it takes, with unit and bounds, as the listings say it.
    #[must_use]
    pub fn values(&self) -> String {
        let bounds = self.takes.bounds();
        if let Some(listed) = self.listed {
            return listed.replace("{}", &bounds);
        }
        let or =
            |words: &[&str]| if words.is_empty() { String::new() } else { format!(", or {}", either(words)) };
        let values = match &self.takes {
            Takes::Turn => "a whole number of units of the item's cost, at least 1".to_owned(),
            Takes::Seed => "a whole number".to_owned(),
            Takes::Words(words) => either(words),
            Takes::Size(_) => format!("bytes {bounds}").trim_end().to_owned(),
            Takes::Rate(_) => format!("bits per second such as 10Mbit, {bounds}"),
            takes => self.usual(takes),
        };
        values + &or(self.words)
    }

    /// What a value must be that is read as `takes`: what is taken, or less.
    pub(super) fn expected(&self, takes: &Takes) -> String {
        let bounds = takes.bounds();
        if let Some(refused) = self.refused {
            return refused.replace("{}", &bounds);
        }
        match takes {
            Takes::Words(words) => format!("one of `{}`", words.join("`, `")),
            Takes::Size(_) => {
                let such = format!("a size such as {}, {bounds}", self.default.unwrap_or_default());
                such.trim_end_matches(", ").to_owned()
            }
            Takes::Rate(_) => format!("a rate such as 10Mbit, {bounds}"),
            takes => self.usual(takes),
        }
    }

    /// What listings and refusals both say of `takes`.
    fn usual(&self, takes: &Takes) -> String {
        let bounds = takes.bounds();
        let kind = match takes {
            Takes::Whole(_) | Takes::Turn | Takes::Seed => "a whole number",
            Takes::Real(_) => "a number",
            Takes::Packets(_) => "packets",
            _ => "a span",
        };
        match self.default {
            Some(default) if bounds.starts_with(AT_LEAST) => format!("{kind} such as {default}, {bounds}"),
            _ => format!("{kind} {bounds}"),
        }
    }
}

const AT_LEAST: &str = "at least ";

impl Takes {
    /// The bounds in words; nothing where there are none.
    fn bounds(&self) -> String {
        match self {
            Self::Real(bounds) => from_to(bounds),
            Self::Span(bounds) | Self::Epoch(bounds) => {
                above(bounds, Nanos::new(0), Nanos::new(u64::MAX), Nanos::to_string)
            }
            Self::Size(bounds) => above(bounds, Bytes::new(0), Bytes::new(u64::MAX), size),
            Self::Packets(bounds) => {
                above(bounds, Packets::new(0), Packets::new(u64::MAX), Packets::to_string)
            }
            Self::Rate(least) => format!("{AT_LEAST}{least}"),
            _ => self.whole().as_ref().map_or(String::new(), from_to),
        }
    }

    /// The bounds of a whole number, if it is one.
    pub(super) fn whole(&self) -> Option<RangeInclusive<u64>> {
        match self {
            Self::Whole(bounds) => Some(bounds.clone()),
            Self::Turn => Some(1..=u64::MAX),
            Self::Seed => Some(0..=u64::MAX),
            _ => None,
        }
    }
}

fn from_to<T: Display>(bounds: &RangeInclusive<T>) -> String {
    format!("from {} to {}", bounds.start(), bounds.end())
}

/// Bounds of a quantity, which may be open.
fn above<T: PartialEq>(bounds: &RangeInclusive<T>, least: T, most: T, text: impl Fn(&T) -> String) -> String {
    match (*bounds.start() == least, *bounds.end() == most) {
        (true, true) => String::new(),
        (false, true) => format!("{AT_LEAST}{}", text(bounds.start())),
        _ => format!("from {} to {}", text(bounds.start()), text(bounds.end())),
    }
}

/// A size, in MiB where it is a whole number of these.
fn size(bytes: &Bytes) -> String {
    match (bytes.get() / MIB, bytes.get() % MIB) {
        (whole @ 1.., 0) => format!("{whole}MiB"),
        _ => bytes.to_string(),
    }
}

const MIB: u64 = 1 << 20;

/// `a`, `b` or `c`.
fn either(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("`{}` or `{last}`", first.join("`, `")),
        words => format!("`{}`", words.join("")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::all;

    #[test]
    fn kind_and_bounds_are_told_in_words() {
        let of = |takes: Takes| {
            let parameter = Parameter::new("one", takes, "5ms").or(&["none"]);
            (parameter.values(), parameter.expected(&parameter.takes))
        };
        for (takes, values, expected) in [
            (Takes::Whole(1..=9), "a whole number from 1 to 9, or `none`", "a whole number from 1 to 9"),
            (
                Takes::Real(0.0..=1e9),
                "a number from 0 to 1000000000, or `none`",
                "a number from 0 to 1000000000",
            ),
            (
                Takes::Span(Nanos::ONE..=Nanos::MAX),
                "a span such as 5ms, at least 1ns, or `none`",
                "a span such as 5ms, at least 1ns",
            ),
            (Takes::Size(Bytes::ZERO..=Bytes::MAX), "bytes, or `none`", "a size such as 5ms"),
            (
                Takes::Size(Bytes::ONE..=Bytes::new(3 << 20)),
                "bytes from 1B to 3MiB, or `none`",
                "a size such as 5ms, from 1B to 3MiB",
            ),
            (Takes::Words(&["a", "b", "c"]), "`a`, `b` or `c`, or `none`", "one of `a`, `b`, `c`"),
        ] {
            assert_eq!(of(takes), (values.to_owned(), expected.to_owned()));
        }
        let worded = Parameter::required("one", Takes::Whole(1..=9)).listed("racks, {}").refused("racks {}");
        assert_eq!(worded.values(), "racks, from 1 to 9");
        assert_eq!(worded.expected(&Takes::Whole(1..=4)), "racks from 1 to 4");
    }

    #[test]
    fn every_parameter_says_what_it_takes_and_does() {
        for (info, parameter) in all().flat_map(|info| info.parameters.iter().map(move |one| (info, one))) {
            let told = [parameter.values(), parameter.meaning.to_owned()];
            assert!(told.iter().all(|text| !text.is_empty()), "{}: {}", info.name, parameter.name);
            assert!(
                !matches!(parameter.takes, Takes::Text) || parameter.listed.is_some(),
                "{}",
                parameter.name
            );
        }
    }
}
