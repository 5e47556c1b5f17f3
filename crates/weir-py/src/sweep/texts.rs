//! The texts of the cells: the scenario once, with holes, and what the axes write into them.
//!
//! Axes come in groups that advance together, and all combinations of their rows are cells, the first group slowest. Which
//! pieces there are between the holes depends on the form of each row, that is on which of its keys are set. So a cell is
//! made of its place alone, in microseconds, and memory grows with the values of the axes and not with their combinations.
//!
//! Work: O(length of the text) a cell.

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Axes that advance together.
pub(super) struct Group {
    /// Of each row, which keys it sets: a number that distinguishes shapes.
    forms: Vec<u32>,
    /// Of each key, what is written for it in each row.
    written: Vec<Vec<String>>,
}

/// A text with holes: each piece with the group and the key that follow it; and the end.
struct Shape {
    pieces: Vec<(String, usize, usize)>,
    end: String,
}

/// A group as Python has it: forms, and values by key and row.
pub(super) type PlainGroup = (Vec<u32>, Vec<Vec<String>>);
/// A shape as Python has it: the form of each group, the pieces, the end.
pub(super) type PlainShape = (Vec<u32>, Vec<(String, usize, usize)>, String);

/// The texts of all cells.
pub(super) struct Texts {
    groups: Vec<Group>,
    shapes: HashMap<Vec<u32>, Shape>,
    /// Which combinations are cells; all of them where nothing is left out.
    kept: Option<Vec<u32>>,
    count: usize,
}

impl Texts {
    /// Of groups and shapes, all combinations or those that are kept.
    ///
    /// # Errors
    /// A hole that no key fills, a form without a shape, or a combination that does not exist.
    pub(super) fn new(
        groups: Vec<PlainGroup>,
        shapes: Vec<PlainShape>,
        kept: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let groups: Vec<Group> =
            groups.into_iter().map(|(forms, written)| Group { forms, written }).collect();
        let is_filled = |&(_, group, key): &(String, usize, usize)| {
            let of: Option<&Group> = groups.get(group);
            of.is_some_and(|of| of.written.get(key).is_some_and(|rows| rows.len() == of.forms.len()))
        };
        if !shapes.iter().all(|(_, pieces, _)| pieces.iter().all(is_filled)) {
            return Err(PyValueError::new_err("a hole without a key"));
        }
        let all: usize = groups.iter().map(|group| group.forms.len()).product();
        if kept.as_ref().is_some_and(|kept| kept.iter().any(|&place| place as usize >= all)) {
            return Err(PyValueError::new_err("a cell that is no combination"));
        }
        let count = kept.as_ref().map_or(all, Vec::len);
        let shapes = shapes.into_iter().map(|(forms, pieces, end)| (forms, Shape { pieces, end })).collect();
        Ok(Self { groups, shapes, kept, count })
    }

    /// How many cells there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The text of the cell at a place; nothing where its rows have no shape together, which its maker rules out.
    pub(super) fn text(&self, place: usize) -> Option<String> {
        let mut left = self.kept.as_ref().map_or(place, |kept| kept[place] as usize);
        let mut rows = vec![0; self.groups.len()];
        for (row, group) in rows.iter_mut().zip(&self.groups).rev() {
            (*row, left) = (left % group.forms.len(), left / group.forms.len());
        }
        let forms: Vec<u32> = self.groups.iter().zip(&rows).map(|(group, &row)| group.forms[row]).collect();
        let Shape { pieces, end } = self.shapes.get(&forms)?;
        let mut text = String::new();
        for (piece, group, key) in pieces {
            text.push_str(piece);
            text.push_str(&self.groups[*group].written[*key][rows[*group]]);
        }
        text.push_str(end);
        Some(text)
    }
}
