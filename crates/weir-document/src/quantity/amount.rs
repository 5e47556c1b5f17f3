//! An amount of whatever is measured: of which kind it must be, only the key says for which it is the bound.

use core::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Length, LengthUnit, RequestRate, Share, Speed, Time};

/// A number alone, or an amount in the unit in which it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A number without a unit: 0 or more, and finite.
    Number(f64),
    /// A share of a whole.
    Share(Share),
    /// A span of time.
    Time(Time),
    /// A speed of transmission.
    Speed(Speed),
    /// How many in a second.
    Rate(RequestRate),
    /// A count of packets.
    Packets(u64),
}

impl Amount {
    const EXPECTED: &'static str =
        "a number, or an amount with its unit, such as \"200ms\", \"5Mbit\", \"1000/s\" or \"1%\"";

    /// The amount that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let packets = || match Length::parse(text)? {
            Length { count, unit: LengthUnit::Packets } => Some(Self::Packets(count)),
            _ => None,
        };
        let rate = RequestRate::parse(text).filter(|rate| rate.0.is_finite()).map(Self::Rate);
        rate.or_else(|| Speed::parse(text).map(Self::Speed))
            .or_else(|| Share::parse(text).map(Self::Share))
            .or_else(|| Time::parse(text).map(Self::Time))
            .or_else(packets)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Amount;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(Amount::EXPECTED)
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Amount, E> {
                let unread = || E::invalid_value(Unexpected::Float(number), &self);
                (number.is_finite() && number >= 0.0).then_some(Amount::Number(number)).ok_or_else(unread)
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Amount, E> {
                let unread = || E::invalid_value(Unexpected::Signed(number), &self);
                u32::try_from(number).map(|number| Amount::Number(number.into())).map_err(|_| unread())
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Amount, E> {
                let unread = || E::invalid_value(Unexpected::Unsigned(number), &self);
                u32::try_from(number).map(|number| Amount::Number(number.into())).map_err(|_| unread())
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Amount, E> {
                Amount::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Share(share) => share.fmt(f),
            Self::Time(time) => time.fmt(f),
            Self::Speed(speed) => speed.fmt(f),
            Self::Rate(rate) => rate.fmt(f),
            Self::Packets(count) => write!(f, "{count}{}", LengthUnit::Packets.symbol()),
        }
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_f64(*number),
            written => serializer.collect_str(written),
        }
    }
}

impl JsonSchema for Amount {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Amount".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = r"^[0-9]+(\.[0-9]+)?(ns|us|ms|s|u|%|bit|kbit|Mbit|Gbit|/s|k/s|M/s|pkt)$";
        json_schema!({
            "anyOf": [{ "type": "number", "minimum": 0 }, { "type": "string", "pattern": text }],
            "description": Self::EXPECTED,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_in_their_units_and_written_as_they_were() {
        for text in ["200ms", "1.5u", "5Mbit", "1000/s", "1%", "12pkt"] {
            let amount = Amount::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(amount.to_string(), text);
        }
        for text in ["", "5", "5 ms", "-1%", "12B", "3tok", "1e3ms", "ms"] {
            assert_eq!(Amount::parse(text), None, "{text}");
        }
    }
}
