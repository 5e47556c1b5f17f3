//! Which column of a trace holds what, and the fields of a row read by it.

use csv::StringRecord;

use crate::scenario::{ScenarioError, nearest};
use crate::workload::MAX_LENGTH;

use super::{TimeUnit, TraceFormat};

/// A column: its position and its name.
struct Column {
    place: usize,
    name: String,
}

/// Which column holds what.
pub(super) struct Columns {
    time: Column,
    length: Column,
    flow: Option<Column>,
    class: Option<Column>,
    alpha: Option<Column>,
}

/// The names of the columns of one file.
struct Header<'h> {
    names: Vec<&'h str>,
    file: &'h str,
    line: usize,
}

impl Header<'_> {
    /// The column called `name`.
    fn required(&self, name: &str) -> Result<Column, ScenarioError> {
        let places: Vec<usize> = (0..self.names.len()).filter(|&place| self.names[place] == name).collect();
        match places[..] {
            [place] => Ok(Column { place, name: name.to_owned() }),
            [] => Err(self.missing(name)),
            [_, second, ..] => {
                let refusal =
                    ScenarioError::of_file(self.file, "stands in the header twice", "rename one of the two");
                Err(refusal.at(self.line, second + 1).key(name))
            }
        }
    }

    fn missing(&self, name: &str) -> ScenarioError {
        let hint = nearest(name, self.names.iter().copied());
        let hint = hint.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let remedy = format!("{hint}the columns are `{}`", self.names.join("`, `"));
        ScenarioError::of_file(self.file, "is not a column of the file", remedy).at(self.line, 1).key(name)
    }

    /// The column that was asked for, or else the one with the usual name if there is one.
    fn optional(&self, asked: Option<&String>, usual: &str) -> Result<Option<Column>, ScenarioError> {
        match asked {
            Some(name) => self.required(name).map(Some),
            None if self.names.contains(&usual) => self.required(usual).map(Some),
            None => Ok(None),
        }
    }

    fn columns(&self, format: &TraceFormat) -> Result<Columns, ScenarioError> {
        Ok(Columns {
            time: self.required(format.time.as_deref().unwrap_or("time"))?,
            length: self.required(format.length.as_deref().unwrap_or("length"))?,
            flow: self.optional(format.flow.as_ref(), "flow")?,
            class: self.optional(format.class.as_ref(), "class")?,
            alpha: self.optional(format.alpha.as_ref(), "alpha")?,
        })
    }
}

impl Columns {
    /// The columns by the names in a header.
    pub(super) fn named(
        header: &StringRecord,
        format: &TraceFormat,
        file: &str,
        line: usize,
    ) -> Result<Self, ScenarioError> {
        if header.iter().all(str::is_empty) {
            let remedy = "begin with a header, or write `header = false`";
            return Err(ScenarioError::of_file(file, "is empty", remedy));
        }
        Header { names: header.iter().collect(), file, line }.columns(format)
    }

    /// The columns by their numbers.
    pub(super) fn numbered(
        count: usize,
        format: &TraceFormat,
        file: &str,
        line: usize,
    ) -> Result<Self, ScenarioError> {
        let numbers: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
        Header { names: numbers.iter().map(String::as_str).collect(), file, line }.columns(format)
    }

    /// One row, to be read by its columns.
    pub(super) fn row<'r>(&'r self, record: &'r StringRecord, file: &'r str, line: usize) -> Row<'r> {
        Row { columns: self, record, file, line }
    }
}

/// One row of a trace.
pub(super) struct Row<'r> {
    columns: &'r Columns,
    record: &'r StringRecord,
    file: &'r str,
    line: usize,
}

impl<'r> Row<'r> {
    fn field(&self, column: &Column) -> &'r str {
        self.record.get(column.place).unwrap_or_default()
    }

    fn refuse(&self, column: &Column, reason: String, remedy: &str) -> ScenarioError {
        let value = match self.field(column) {
            "" => "empty",
            field => field,
        };
        let refusal = ScenarioError::of_file(self.file, reason, remedy).at(self.line, column.place + 1);
        refusal.key(&column.name).value(value)
    }

    pub(super) fn refuse_time(&self, reason: String, remedy: &str) -> ScenarioError {
        self.refuse(&self.columns.time, reason, remedy)
    }

    pub(super) fn refuse_class(&self, reason: String, remedy: &str) -> ScenarioError {
        let column = self.columns.class.as_ref().or(self.columns.alpha.as_ref());
        self.refuse(column.unwrap_or(&self.columns.time), reason, remedy)
    }

    pub(super) fn time(&self, unit: TimeUnit) -> Result<u128, ScenarioError> {
        unit.parse(self.field(&self.columns.time)).ok_or_else(|| {
            let reason = format!("must be {}", unit.expected());
            self.refuse_time(reason, "correct the row, or the `time_unit` of the scenario")
        })
    }

    pub(super) fn length(&self) -> Result<u32, ScenarioError> {
        let column = &self.columns.length;
        let length = self.field(column).parse::<u32>().ok().filter(|length| *length > 0);
        length.ok_or_else(|| {
            let reason = format!("must be a whole number from 1 to {MAX_LENGTH}");
            self.refuse(column, reason, "correct or remove the row; a larger unit makes smaller numbers")
        })
    }

    pub(super) fn alpha(&self) -> Result<Option<f64>, ScenarioError> {
        let Some(column) = &self.columns.alpha else { return Ok(None) };
        match self.field(column).parse::<f64>() {
            Ok(alpha) if alpha >= 0.0 => Ok(Some(alpha)),
            _ => Err(self.refuse(column, "must be a number from 0 up, or inf".to_owned(), "correct the row")),
        }
    }

    pub(super) fn class(&self) -> Option<&'r str> {
        self.columns.class.as_ref().map(|column| self.field(column))
    }

    pub(super) fn flow(&self) -> Option<&'r str> {
        self.columns.flow.as_ref().map(|column| self.field(column))
    }
}
