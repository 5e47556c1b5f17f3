//! How quantities are read from a document, written to it, and described in its schema: one line each.

use core::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Address, ByteSize, Length, Overhead, RequestRate, Share, Speed, Time, UnitCost, WarmUp};

/// Reads and writes a quantity as a string, and describes it in the schema.
macro_rules! written {
    ($type:ident, $expected:literal, $pattern:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: Error>(self, text: &str) -> Result<$type, E> {
                        let unread = || E::invalid_value(serde::de::Unexpected::Str(text), &self);
                        $type::parse(text).ok_or_else(unread)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern, "description": $expected })
            }
        }
    };
}

written!(
    Time,
    "a span of time with its unit, such as \"5ms\", or \"200u\" where 1u is one mean packet service",
    r"^[0-9]+(\.[0-9]+)?(ns|us|ms|s|u)$"
);
written!(
    Length,
    "a length with its unit, such as \"3pkt\", \"1460B\" or \"512tok\"",
    r"^[0-9]+(pkt|tok|B|kB|KiB|MB|MiB|GiB|TiB)$"
);
written!(
    ByteSize,
    "a size in bytes with its unit, such as \"2048B\" or \"2KiB\"",
    r"^[0-9]+(B|kB|KiB|MB|MiB|GiB|TiB)$"
);
written!(
    Speed,
    "a rate with its unit in bits per second, such as \"10Gbit\"",
    r"^[0-9]+(\.[0-9]+)?(bit|kbit|Mbit|Gbit)$"
);
written!(
    RequestRate,
    "a number of requests per second with its unit, such as \"250000/s\" or \"2.5M/s\"",
    r"^[0-9]+(\.[0-9]+)?(M|k)?/s$"
);
written!(
    UnitCost,
    "a span of time with its unit, such as \"0.8ns\" or \"20us\"",
    r"^[0-9]+(\.[0-9]+)?(ns|us|ms|s)$"
);
written!(Share, "a share in percent, such as \"1%\"", r"^[0-9]+(\.[0-9]+)?%$");
written!(
    Overhead,
    "a span of time or a size with its unit, such as \"0.143ms\" or \"24B\"",
    r"^([0-9]+(\.[0-9]+)?(ns|us|ms|s|u)|[0-9]+(B|kB|KiB|MB|MiB|GiB|TiB))$"
);
written!(Address, "an address in quotes, such as \"10.0.2.1\"", r"^([0-9]{1,3}\.){3}[0-9]{1,3}$");
written!(
    WarmUp,
    "\"mser\", \"none\", or a span of time with its unit, such as \"1000u\"",
    r"^(mser|none|[0-9]+(\.[0-9]+)?(ns|us|ms|s|u))$"
);
