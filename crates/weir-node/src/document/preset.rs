//! A value that is `"none"`, that of the source, or a table of its own.

use core::fmt;
use core::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A name, or a table.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Preset<T> {
    /// A name.
    Named(PresetName),
    /// A table.
    Table(T),
}

/// What needs no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PresetName {
    /// Nothing.
    None,
    /// As measured on the Chrysalis system.
    Chrysalis,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Preset<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either(PhantomData))
    }
}

/// Takes what is there, so that a refusal is of that form alone.
struct Either<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
    type Value = Preset<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"none\", \"chrysalis\" or a table")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        PresetName::deserialize(StrDeserializer::new(text)).map(Preset::Named)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Preset::Table)
    }
}
