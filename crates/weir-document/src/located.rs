//! A value of a document with the place where it stands, so that what is refused later can be shown there.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::tree::LOCATED;

/// A value and the bytes of the document at which it stands.
///
/// It reads, writes and describes itself as the value alone.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// The bytes of the document.
    pub span: Range<usize>,
}

impl<T> Located<T> {
    /// A value that stands nowhere in a document, as one that is written into it.
    pub const fn nowhere(value: T) -> Self {
        Self { value, span: 0..0 }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple_struct(LOCATED, 3, WithItsPlace(PhantomData))
    }
}

/// Takes start, end and value.
struct WithItsPlace<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for WithItsPlace<T> {
    type Value = Located<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a document, with its place")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut place: A) -> Result<Self::Value, A::Error> {
        let missing = || A::Error::custom("a value of a document has a place");
        let start = place.next_element()?.ok_or_else(missing)?;
        let end = place.next_element()?.ok_or_else(missing)?;
        let value = place.next_element()?.ok_or_else(missing)?;
        Ok(Located { value, span: start..end })
    }
}

impl<T: Serialize> Serialize for Located<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
