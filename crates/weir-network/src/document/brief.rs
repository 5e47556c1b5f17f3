//! A value that is text in the usual case, and a table where more is to be said.

use core::fmt;
use core::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A quantity alone, or a table.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Brief<Q, T> {
    /// A quantity alone.
    Alone(Q),
    /// A table.
    Table(T),
}

impl<'de, Q: Deserialize<'de>, T: Deserialize<'de>> Deserialize<'de> for Brief<Q, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either(PhantomData))
    }
}

/// Takes what is there, so that a refusal is of that form alone.
struct Either<Q, T>(PhantomData<(Q, T)>);

impl<'de, Q: Deserialize<'de>, T: Deserialize<'de>> Visitor<'de> for Either<Q, T> {
    type Value = Brief<Q, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quantity with its unit, such as \"5ms\" or \"1500B\", or a table")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Q::deserialize(StrDeserializer::new(text)).map(Brief::Alone)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Brief::Table)
    }
}
