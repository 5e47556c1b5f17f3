//! Values that are a word, a number or a table: the bound of a queue, and how long something takes.

use core::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use weir_document::Located;
use weir_document::quantity::Time;

/// How many requests may wait in one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// So many.
    Requests(u64),
    /// Any number.
    Unbounded,
}

impl Bound {
    const EXPECTED: &'static str = "a whole number of requests, such as 4096, or \"unbounded\"";
    const UNBOUNDED: &'static str = "unbounded";
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Bound;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(Bound::EXPECTED)
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Bound, E> {
                let bound = u64::try_from(number).map(Bound::Requests);
                bound.map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Bound, E> {
                Ok(Bound::Requests(number))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Bound, E> {
                match text {
                    Bound::UNBOUNDED => Ok(Bound::Unbounded),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Requests(number) => serializer.serialize_u64(*number),
            Self::Unbounded => serializer.serialize_str(Self::UNBOUNDED),
        }
    }
}

impl JsonSchema for Bound {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bound".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "const": "unbounded" }],
            "description": Self::EXPECTED,
        })
    }
}

/// How long a service, or a client's thinking, takes: always the same, or by a law.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum ServiceTime {
    /// Always this.
    Constant(Time),
    /// By a law.
    Law(ServiceLaw),
}

weir_workload::textbook_laws! {
    /// The law of a service time, or of a client's thinking.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum ServiceLaw of Time {
        before {
            /// Exponential, of this mean.
            Exponential(Located<Time>),
            /// Evenly distributed, from the first to the second.
            Uniform(Located<Time>, Located<Time>),
        }
        after {
            /// Times or laws with their probabilities, such as `[["1us", 0.9], ["100us", 0.1]]`.
            Mixture(Vec<(Located<ServiceTime>, Located<f64>)>),
        }
    }
}

impl<'de> Deserialize<'de> for ServiceTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = ServiceTime;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a span of time with its unit, such as \"5us\", or a law such as { exponential = \"5us\" }",
                )
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<ServiceTime, E> {
                Time::deserialize(StrDeserializer::new(text)).map(ServiceTime::Constant)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ServiceTime, A::Error> {
                ServiceLaw::deserialize(MapAccessDeserializer::new(map)).map(ServiceTime::Law)
            }
        }
        deserializer.deserialize_any(Either)
    }
}
