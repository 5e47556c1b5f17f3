//! Columns as Arrow takes them: bytes of values, and bits of which rows have one.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use weir_sim::table::{NO_WORD, Values};

/// A column as Arrow takes it: its name, its kind, the bytes of its values, the bits of which rows have one, its words.
pub(super) type PlainColumn = (String, &'static str, Py<PyBytes>, Py<PyBytes>, Vec<String>);

pub(super) fn plain(py: Python<'_>, name: String, values: &Values) -> PlainColumn {
    let bytes = |bytes: Vec<u8>| PyBytes::new(py, &bytes).unbind();
    match values {
        Values::Words { all, rows } => {
            let valid = bits(rows.iter().map(|place| *place != NO_WORD));
            let places = rows.iter().map(|place| if *place == NO_WORD { 0 } else { *place });
            (name, "words", bytes(places.flat_map(u32::to_le_bytes).collect()), bytes(valid), all.clone())
        }
        Values::Numbers(numbers) => {
            let valid = bits(numbers.iter().map(|number| !number.is_nan()));
            let numbers = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            (name, "numbers", bytes(numbers), bytes(valid), Vec::new())
        }
        Values::Truths(truths) => {
            let valid = bits(truths.iter().map(|truth| *truth < 2));
            (name, "truths", bytes(bits(truths.iter().map(|truth| *truth == 1))), bytes(valid), Vec::new())
        }
    }
}

/// Eight to a byte, the least significant first.
fn bits(truths: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bits = Vec::new();
    for (place, truth) in truths.enumerate() {
        if place % 8 == 0 {
            bits.push(0);
        }
        if let Some(last) = bits.last_mut() {
            *last |= u8::from(truth) << (place % 8);
        }
    }
    bits
}
