//! What is recorded of a task when it is admitted.

use weir_core::task::{Declared, TOP_PRIORITY};
use weir_core::units::{Nanos, Weight};

use crate::number::{Malformed, Rest, put};

/// The most bytes that are kept of a name.
pub const LONGEST_NAME: usize = 255;
const SLICE: u8 = 4;
const PERIOD: u8 = 8;
const WEIGHT: u8 = 16;

/// A task, with what it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Its worker.
    pub worker: u32,
    /// Its number among those of the worker.
    pub task: u32,
    /// When it was admitted, in nanoseconds since the executor began.
    pub admitted: u64,
    /// Its name; no two need differ.
    pub name: String,
    /// What it asked for.
    pub declared: Declared,
}

/// Adds a task to what a block of tasks holds; the block begins with the number of the worker.
pub fn task(bytes: &mut Vec<u8>, worker: u32, task: u32, at: u64, name: &str, declared: &Declared) {
    if bytes.is_empty() {
        put(bytes, u64::from(worker));
    }
    put(bytes, u64::from(task));
    put(bytes, at);
    let name = kept(name);
    put(bytes, name.len() as u64);
    bytes.extend(name.as_bytes());
    let flag = |is: bool, bit| if is { bit } else { 0 };
    let is = flag(declared.slice.is_some(), SLICE)
        | flag(declared.period.is_some(), PERIOD)
        | flag(declared.weight.is_some(), WEIGHT);
    bytes.push(declared.priority.min(TOP_PRIORITY) | is);
    put(bytes, declared.need.get());
    let spans = [declared.slice, declared.period].map(|span| span.map(Nanos::get));
    for number in [spans[0], spans[1], declared.weight.map(Weight::get)].into_iter().flatten() {
        put(bytes, number);
    }
}

/// As much of a name as is kept, cut between letters.
fn kept(name: &str) -> &str {
    let end = (0..=name.len().min(LONGEST_NAME)).rev().find(|&end| name.is_char_boundary(end));
    &name[..end.unwrap_or(0)]
}

pub(crate) fn read(rest: &mut Rest<'_>, worker: u32) -> Result<Terms, Malformed> {
    let (task, admitted) = (rest.small()?, rest.number()?);
    let name = rest.text(LONGEST_NAME)?.to_owned();
    let is = rest.byte()?;
    if is & !(TOP_PRIORITY | SLICE | PERIOD | WEIGHT) != 0 {
        return Err(Malformed);
    }
    let need = Nanos::new(rest.number()?);
    let mut given = |bit| if is & bit == 0 { Ok(None) } else { rest.number().map(Some) };
    let [slice, period, weight] = [given(SLICE)?, given(PERIOD)?, given(WEIGHT)?];
    let declared = Declared {
        priority: is & TOP_PRIORITY,
        need,
        slice: slice.map(Nanos::new),
        period: period.map(Nanos::new),
        weight: weight.map(Weight::new),
    };
    Ok(Terms { worker, task, admitted, name, declared })
}
