//! A document between its text and the types that it is read into: a tree of tables, lists and values, each with its place.
//!
//! Serde reads the types from the tree. The format's own reader would do, but it is compiled anew for every type that stands
//! in a document, with all that TOML may hold. Here a type asks for what it is, and gets that or a refusal that is compiled
//! once. What is refused, and in which words, is as with the format's own reader.
//!
//! | | |
//! |-|-|
//! | Source | this project; the data model of serde, the tree of the crate `toml` |
//! | Work | O(length of the document) |
//! | Units | places in bytes of the text |

mod access;

use core::fmt::Display;
use core::ops::Range;
use std::borrow::Cow;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, Expected, Unexpected, Visitor};
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use access::{Entries, List, Named, Place};

/// The name under which a type asks for its place: its start and its end in bytes, and itself.
pub(crate) const LOCATED: &str = "Located";

/// A document, parsed.
#[derive(Clone, Debug)]
pub struct Tree<'t> {
    root: DeValue<'t>,
    span: Range<usize>,
}

impl<'t> Tree<'t> {
    /// Parses a text.
    ///
    /// # Errors
    /// The text is no TOML.
    pub fn parse(text: &'t str) -> Result<Self, Unread> {
        let unread =
            |error: toml::de::Error| Unread { message: error.message().to_owned(), span: error.span() };
        let root = DeTable::parse(text).map_err(unread)?;
        Ok(Self { span: root.span(), root: DeValue::Table(root.into_inner()) })
    }

    /// The same document without one of its first keys, if it has that key.
    #[must_use]
    pub fn without(&self, key: &str) -> Cow<'_, Self> {
        match &self.root {
            DeValue::Table(table) if table.keys().any(|own| own.get_ref() == key) => {
                let others = table.iter().filter(|(own, _)| own.get_ref() != key);
                let table = others.map(|(own, value)| (own.clone(), value.clone())).collect();
                Cow::Owned(Self { root: DeValue::Table(table), span: self.span.clone() })
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// Reads a type.
    ///
    /// # Errors
    /// The first key or value that does not belong to it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Unread> {
        let root = Node { value: &self.root, span: self.span.clone() };
        T::deserialize(root).map_err(|error| error.within(&self.span))
    }
}

/// Why a document cannot be read, in the words of the parser or of serde.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// What is wrong.
    pub(crate) message: String,
    /// Where, in bytes of the text.
    pub(crate) span: Option<Range<usize>>,
}

impl Unread {
    fn at(message: impl Into<String>, span: Range<usize>) -> Self {
        Self { message: message.into(), span: Some(span) }
    }

    /// At this place, if nothing within it has said so.
    fn within(mut self, span: &Range<usize>) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }
}

impl Display for Unread {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Unread {}

impl de::Error for Unread {
    fn custom<T: Display>(message: T) -> Self {
        Self { message: message.to_string(), span: None }
    }
}

/// A value of the tree.
#[derive(Clone, Debug)]
struct Node<'t> {
    value: &'t DeValue<'t>,
    span: Range<usize>,
}

impl<'t> Node<'t> {
    fn new(value: &'t Spanned<DeValue<'t>>) -> Self {
        Self { value: value.get_ref(), span: value.span() }
    }

    /// The refusal of a value of another type than `expected`.
    fn mismatch(&self, expected: &dyn Expected) -> Unread {
        let refused = |found: Unexpected<'_>| <Unread as de::Error>::invalid_type(found, expected);
        let refused = match self.value {
            DeValue::String(text) => refused(Unexpected::Str(text)),
            DeValue::Integer(number) => match Whole::of(number) {
                Ok(Whole::Signed(number)) => refused(Unexpected::Signed(number)),
                Ok(Whole::Unsigned(number)) => refused(Unexpected::Unsigned(number)),
                Err(error) => error,
            },
            DeValue::Float(number) => match float(number) {
                Ok(number) => refused(Unexpected::Float(number)),
                Err(error) => error,
            },
            DeValue::Boolean(flag) => refused(Unexpected::Bool(*flag)),
            DeValue::Array(_) => refused(Unexpected::Seq),
            DeValue::Datetime(_) | DeValue::Table(_) => refused(Unexpected::Map),
        };
        refused.within(&self.span)
    }

    /// What a visitor makes of it, or of its refusal.
    fn told<T>(&self, result: Result<T, Unread>) -> Result<T, Unread> {
        result.map_err(|error| error.within(&self.span))
    }

    fn text<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self.value {
            DeValue::String(text) => self.told(visitor.visit_str(text)),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn whole<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Unread> {
        let DeValue::Integer(number) = self.value else { return Err(self.mismatch(&visitor)) };
        self.told(Whole::of(number).and_then(|number| match number {
            Whole::Signed(number) => visitor.visit_i64(number),
            Whole::Unsigned(number) => visitor.visit_u64(number),
        }))
    }

    fn number<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self.value {
            DeValue::Float(number) => self.told(float(number).and_then(|number| visitor.visit_f64(number))),
            _ => self.whole(visitor),
        }
    }

    fn list<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self.value {
            DeValue::Array(array) => self.told(visitor.visit_seq(List(array.iter()))),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn table<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self.value {
            DeValue::Table(table) => {
                self.told(visitor.visit_map(Entries { rest: table.iter(), value: None }))
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }
}

/// A whole number, as far as numbers are distinguished.
enum Whole {
    Signed(i64),
    Unsigned(u64),
}

impl Whole {
    fn of(written: &DeInteger<'_>) -> Result<Self, Unread> {
        let (text, radix) = (written.as_str(), written.radix());
        let signed = i64::from_str_radix(text, radix).map(Self::Signed);
        let number = signed.or_else(|_| u64::from_str_radix(text, radix).map(Self::Unsigned));
        number.map_err(|_| de::Error::custom("integer number overflowed"))
    }
}

fn float(written: &DeFloat<'_>) -> Result<f64, Unread> {
    let text = written.as_str();
    let number = text.parse().ok().filter(|number: &f64| !number.is_infinite() || text.contains("inf"));
    number.ok_or_else(|| de::Error::custom("floating-point number overflowed"))
}

/// A type is read from what it is written as; what else stands there is refused in one place.
macro_rules! read {
    ($($reading:ident: $($type:ident)*;)*) => {
        $($(
            fn $type<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Unread> {
                self.$reading(visitor)
            }
        )*)*
    };
}

impl<'t> de::Deserializer<'t> for Node<'t> {
    type Error = Unread;

    read! {
        text: deserialize_char deserialize_str deserialize_string deserialize_identifier;
        whole: deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_i8 deserialize_i16 deserialize_i32
            deserialize_i64;
        number: deserialize_f32 deserialize_f64;
        list: deserialize_seq;
        table: deserialize_map;
        deserialize_any: deserialize_bytes deserialize_byte_buf deserialize_unit deserialize_bool;
    }

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self.value {
            DeValue::String(_) => self.text(visitor),
            DeValue::Integer(_) | DeValue::Float(_) => self.number(visitor),
            DeValue::Boolean(flag) => self.told(visitor.visit_bool(*flag)),
            DeValue::Array(_) => self.list(visitor),
            DeValue::Table(_) | DeValue::Datetime(_) => self.table(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unread> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_unit_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unread> {
        Err(self.mismatch(&visitor))
    }

    fn deserialize_tuple<V: Visitor<'t>>(self, _: usize, visitor: V) -> Result<V::Value, Unread> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Unread> {
        if name == LOCATED { visitor.visit_seq(Place { node: self, told: 0 }) } else { self.list(visitor) }
    }

    /// By its keys, or as a list in the order of its fields.
    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        if self.value.is_array() { self.list(visitor) } else { self.table(visitor) }
    }

    /// A name alone, or a table of one name with its parameters.
    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        match self.value {
            DeValue::String(name) => self.told(visitor.visit_enum(StrDeserializer::new(name))),
            DeValue::Table(table) => match (table.iter().next(), table.len()) {
                (Some((name, value)), 1) => {
                    self.told(visitor.visit_enum(Named { name, parameters: Node::new(value) }))
                }
                (_, count) => Err(Unread::at(format!("wanted exactly 1 element, found {count}"), self.span)),
            },
            _ => Err(Unread::at("wanted string or table", self.span)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_unit()
    }
}

#[cfg(test)]
mod tests;
