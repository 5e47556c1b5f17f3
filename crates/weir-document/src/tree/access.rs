//! What serde walks through: what is left of a list or a table, a value with its place, a name with its parameters.

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::{Node, Unread};

/// What is left of a list.
pub(super) struct List<'t>(pub(super) core::slice::Iter<'t, Spanned<DeValue<'t>>>);

impl<'t> de::SeqAccess<'t> for List<'t> {
    type Error = Unread;

    fn next_element_seed<T: DeserializeSeed<'t>>(&mut self, seed: T) -> Result<Option<T::Value>, Unread> {
        self.0.next().map(|value| seed.deserialize(Node::new(value))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// What is left of a table.
pub(super) struct Entries<'t> {
    pub(super) rest: toml::map::Iter<'t, Spanned<DeString<'t>>, Spanned<DeValue<'t>>>,
    /// Of the key that was read last.
    pub(super) value: Option<&'t Spanned<DeValue<'t>>>,
}

impl<'t> de::MapAccess<'t> for Entries<'t> {
    type Error = Unread;

    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>, Unread> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        name(key, seed).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, Unread> {
        let value = self.value.take().expect("serde asks for the value of a key");
        seed.deserialize(Node::new(value)).map_err(|error| error.within(&value.span()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// Reads a key.
fn name<'t, K: DeserializeSeed<'t>>(key: &'t Spanned<DeString<'t>>, seed: K) -> Result<K::Value, Unread> {
    seed.deserialize(StrDeserializer::new(key.get_ref())).map_err(|error: Unread| error.within(&key.span()))
}

/// The place of a value, and the value.
pub(super) struct Place<'t> {
    pub(super) node: Node<'t>,
    pub(super) told: u8,
}

impl<'t> de::SeqAccess<'t> for Place<'t> {
    type Error = Unread;

    fn next_element_seed<T: DeserializeSeed<'t>>(&mut self, seed: T) -> Result<Option<T::Value>, Unread> {
        self.told += 1;
        match self.told {
            1 => seed.deserialize(self.node.span.start.into_deserializer()),
            2 => seed.deserialize(self.node.span.end.into_deserializer()),
            _ => seed.deserialize(self.node.clone()),
        }
        .map(Some)
    }
}

/// A name with its parameters.
pub(super) struct Named<'t> {
    pub(super) name: &'t Spanned<DeString<'t>>,
    pub(super) parameters: Node<'t>,
}

impl<'t> de::EnumAccess<'t> for Named<'t> {
    type Error = Unread;
    type Variant = Node<'t>;

    fn variant_seed<V: DeserializeSeed<'t>>(self, seed: V) -> Result<(V::Value, Node<'t>), Unread> {
        Ok((name(self.name, seed)?, self.parameters))
    }
}

impl<'t> de::VariantAccess<'t> for Node<'t> {
    type Error = Unread;

    fn unit_variant(self) -> Result<(), Unread> {
        match self.value {
            DeValue::Array(list) if list.is_empty() => Ok(()),
            DeValue::Table(table) if table.is_empty() => Ok(()),
            DeValue::Array(_) | DeValue::Table(_) => {
                Err(Unread::at(format!("expected empty {}", self.value.type_str()), self.span))
            }
            _ => Err(Unread::at(format!("expected table, found {}", self.value.type_str()), self.span)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'t>>(self, seed: T) -> Result<T::Value, Unread> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'t>>(self, length: usize, visitor: V) -> Result<V::Value, Unread> {
        match self.value {
            DeValue::Array(list) if list.len() == length => visitor.visit_seq(List(list.iter())),
            DeValue::Array(_) | DeValue::Table(_) => {
                Err(Unread::at(format!("expected tuple with length {length}"), self.span))
            }
            _ => Err(Unread::at(format!("expected table, found {}", self.value.type_str()), self.span)),
        }
    }

    fn struct_variant<V: Visitor<'t>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        let keys = self.value.as_table().into_iter().flat_map(DeTable::keys);
        if let Some(key) = keys.into_iter().find(|key| !fields.contains(&key.get_ref().as_ref())) {
            return Err(<Unread as de::Error>::unknown_field(key.get_ref(), fields).within(&key.span()));
        }
        de::Deserializer::deserialize_struct(self, "", fields, visitor)
    }
}
