//! A value that is text in the usual case, and a table where more is to be said.

use core::fmt;
use core::marker::PhantomData;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::quantity::{Length, Overhead, Time};

/// What stands alone in the usual case.
pub trait Alone {
    /// What is expected, where something else is written.
    const EXPECTED: &'static str;
}

/// What is expected of a quantity.
const QUANTITY: &str = "a quantity with its unit, such as \"5ms\" or \"1500B\", or a table";

impl Alone for Length {
    const EXPECTED: &'static str = QUANTITY;
}

impl Alone for Overhead {
    const EXPECTED: &'static str = QUANTITY;
}

impl Alone for Time {
    const EXPECTED: &'static str = QUANTITY;
}

impl Alone for PathBuf {
    const EXPECTED: &'static str = "the name of a file, or a table";
}

/// A value alone, or a table.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Brief<Q, T> {
    /// A value alone.
    Alone(Q),
    /// A table.
    Table(T),
}

impl<'de, Q: Alone + Deserialize<'de>, T: Deserialize<'de>> Deserialize<'de> for Brief<Q, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either(PhantomData))
    }
}

/// Takes what is there, so that a refusal is of that form alone.
struct Either<Q, T>(PhantomData<(Q, T)>);

impl<'de, Q: Alone + Deserialize<'de>, T: Deserialize<'de>> Visitor<'de> for Either<Q, T> {
    type Value = Brief<Q, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Q::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Q::deserialize(StrDeserializer::new(text)).map(Brief::Alone)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Brief::Table)
    }
}
