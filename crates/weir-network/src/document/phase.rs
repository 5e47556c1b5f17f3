//! The ticks of a host's timers, and when the first is: at a time, or drawn.

use core::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::StrDeserializer;
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use weir_document::Located;
use weir_document::quantity::Time;

/// The ticks of a host's timers.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tick {
    /// The time from one tick to the next.
    pub every: Located<Time>,
    /// The first tick, less than `every` after the beginning of the run; `"random"` draws it anew for each host and
    /// replication, the same for all flows of the host. Default: `"0s"`, so that hosts with the same `every` tick together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Located<Phase>>,
}

/// The first tick of a host's timers.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// At this time.
    At(Time),
    /// Drawn anew for each host and replication.
    Random,
}

impl Phase {
    const EXPECTED: &'static str = "a span of time with its unit, such as \"3ms\", or \"random\"";
    const RANDOM: &'static str = "random";
}

impl<'de> Deserialize<'de> for Phase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Phase;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(Phase::EXPECTED)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Phase, E> {
                if text == Phase::RANDOM {
                    return Ok(Phase::Random);
                }
                let time = Time::deserialize(StrDeserializer::<E>::new(text));
                time.map(Phase::At).map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Either)
    }
}

impl Serialize for Phase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::At(time) => time.serialize(serializer),
            Self::Random => serializer.serialize_str(Self::RANDOM),
        }
    }
}

impl JsonSchema for Phase {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Phase".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Time>();
        json_schema!({
            "anyOf": [time, { "type": "string", "const": Self::RANDOM }],
            "description": Self::EXPECTED,
        })
    }
}
