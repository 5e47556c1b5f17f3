//! How quantities stand in JSON: as counts, under keys that name the unit.

use serde::Serializer;
use weir_core::units::{Bytes, Cost, Credits, Rate};

/// The count of a quantity.
pub(crate) fn count<C: Cost, S: Serializer>(quantity: &C, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(quantity.count())
}

/// The count of each of a list.
pub(crate) fn counts<S: Serializer>(list: &[Credits], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(list.iter().map(|each| each.get()))
}

/// A size in bytes.
pub(crate) fn bytes<S: Serializer>(size: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(size.get())
}

/// A rate in bits per second.
pub(crate) fn rate<S: Serializer>(rate: &Rate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(rate.get())
}
