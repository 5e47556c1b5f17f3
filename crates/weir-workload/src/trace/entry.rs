//! One row of a file, read by its columns and refused with its place.

use super::TimeUnit;
use super::columns::Column;
use super::rows::Row;
use weir_document::Refused;

/// A row with its place.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'r> {
    pub(crate) row: &'r Row,
    pub(crate) file: &'r str,
    pub(crate) line: usize,
}

impl<'r> Entry<'r> {
    pub(crate) fn field(&self, column: &Column) -> &'r str {
        self.row.field(column.place)
    }

    /// An error of the whole row.
    pub(crate) fn refuse_whole(&self, reason: impl Into<String>, remedy: impl Into<String>) -> Refused {
        Refused::of_file(self.file, reason, remedy).at(self.line, 1)
    }

    /// An error of one field.
    pub(crate) fn refuse(
        &self,
        column: &Column,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Refused {
        let value = match self.field(column) {
            "" => "empty",
            field => field,
        };
        let refusal = Refused::of_file(self.file, reason, remedy).at(self.line, column.place + 1);
        refusal.key(&column.name).value(value)
    }

    /// Refuses a row of another number of fields than the first.
    pub(crate) fn has(&self, fields: usize) -> Result<(), Refused> {
        if self.row.len() == fields {
            return Ok(());
        }
        let reason = format!("the row has {} fields, must have {fields} like the first", self.row.len());
        Err(self.refuse_whole(reason, "complete the row; the file may have been cut off here"))
    }

    /// A time, in nanoseconds.
    pub(crate) fn time(&self, column: &Column, unit: TimeUnit) -> Result<u128, Refused> {
        unit.parse(self.field(column)).ok_or_else(|| {
            let reason = format!("must be {}", unit.expected());
            self.refuse(column, reason, "correct the row, or the `time_unit` of the scenario")
        })
    }
}
