//! The keys of requests that go to several cores, at once or one after the other.

use core::fmt;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::{Cancel, Draws};
use weir_document::Located;
use weir_document::quantity::Time;

/// Requests that go to several cores: a sub-request to each, and an answer once enough of them are done.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FanOutTable {
    /// How many sub-requests a request has, at most as many as there are cores.
    pub to: Located<u64>,
    /// How many of them must be answered. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<Located<u64>>,
    /// What becomes of the others when the request is answered or lost: `none` of them is cancelled; those that are `waiting`
    /// are dropped when their turn comes; of a request that is answered `all` are stopped, also those in service. Default: `waiting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Cancel>,
    /// Whether each sub-request draws its `own` service, or all have the same, which is `shared`. Default: `own`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Located<Draws>>,
}

/// A second copy of each request, or sub-request, that is not answered in time; the first answer of the two counts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HedgeTable {
    /// How long the first copy has without an answer, before a second one goes to another core.
    pub after: Located<HedgeAfter>,
    /// What becomes of the copy that is not answered first, as in `fan_out`. Default: `waiting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Cancel>,
    /// Whether the second copy draws its `own` service or has that of the first, `shared`. Default: `own`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Located<Draws>>,
}

/// When a second copy goes: after a span of time, or after a quantile of the responses of its class so far.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum HedgeAfter {
    /// After this.
    Span(Time),
    /// After a quantile of the responses.
    Seen(HedgeQuantile),
}

/// A quantile of the responses of the class so far, from its first hundred on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HedgeQuantile {
    /// The part of the responses that are shorter, such as 0.95.
    pub quantile: Located<f64>,
}

impl<'de> Deserialize<'de> for HedgeAfter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = HedgeAfter;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a span of time with its unit, such as \"10ms\", or a quantile such as { quantile = 0.95 }")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<HedgeAfter, E> {
                Time::deserialize(StrDeserializer::new(text)).map(HedgeAfter::Span)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HedgeAfter, A::Error> {
                HedgeQuantile::deserialize(MapAccessDeserializer::new(map)).map(HedgeAfter::Seen)
            }
        }
        deserializer.deserialize_any(Either)
    }
}
