//! Which column of a trace holds what, and the fields of a row read by it.

use super::rows::Row;
use super::{TimeUnit, TraceFormat};
use crate::MAX_LENGTH;
use weir_core::message::alpha::Coefficient;
use weir_document::Refused;
use weir_document::words::{hint, listed};

/// A column: its position and its name.
pub(crate) struct Column {
    pub(crate) place: usize,
    pub(crate) name: String,
}

/// Which column holds what.
pub(super) struct Columns {
    count: usize,
    time: Column,
    length: Column,
    flow: Option<Column>,
    class: Option<Column>,
    alpha: Option<Column>,
}

/// The names of the columns of one file.
pub(crate) struct Header<'h> {
    pub(crate) names: Vec<&'h str>,
    pub(crate) file: &'h str,
    pub(crate) line: usize,
}

impl Header<'_> {
    /// The column called `name`.
    pub(crate) fn required(&self, name: &str) -> Result<Column, Refused> {
        let places: Vec<usize> = (0..self.names.len()).filter(|&place| self.names[place] == name).collect();
        match places[..] {
            [place] => Ok(Column { place, name: name.to_owned() }),
            [] => Err(self.missing(name)),
            [_, second, ..] => {
                let refusal =
                    Refused::of_file(self.file, "appears twice in the header", "rename one of the two");
                Err(refusal.at(self.line, second + 1).key(name))
            }
        }
    }

    fn missing(&self, name: &str) -> Refused {
        if let Some(separator) = self.separator() {
            let remedy =
                format!("its fields seem to be separated otherwise: write separator = \"{separator}\"");
            return Refused::of_file(self.file, "is not a column of the file", remedy)
                .at(self.line, 1)
                .key(name);
        }
        let names = || self.names.iter().copied();
        let remedy = format!("{}the columns are {}", hint(name, names()), listed(names()));
        Refused::of_file(self.file, "is not a column of the file", remedy).at(self.line, 1).key(name)
    }

    /// What separates the fields of a header that was read as one name, if that can be determined.
    fn separator(&self) -> Option<&'static str> {
        let [whole] = self.names[..] else { return None };
        [(';', "semicolon"), ('\t', "tab"), (',', "comma")]
            .into_iter()
            .find_map(|(mark, name)| whole.contains(mark).then_some(name))
    }

    /// The column that was asked for, or else the one with the usual name if there is one.
    fn optional(&self, asked: Option<&String>, usual: &str) -> Result<Option<Column>, Refused> {
        match asked {
            Some(name) => self.required(name).map(Some),
            None if self.names.contains(&usual) => self.required(usual).map(Some),
            None => Ok(None),
        }
    }

    fn columns(&self, format: &TraceFormat) -> Result<Columns, Refused> {
        Ok(Columns {
            count: self.names.len(),
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
        header: &Row,
        format: &TraceFormat,
        file: &str,
        line: usize,
    ) -> Result<Self, Refused> {
        let names = (0..header.len()).map(|place| header.field(place)).collect();
        Header { names, file, line }.columns(format)
    }

    /// The columns by their numbers.
    pub(super) fn numbered(
        count: usize,
        format: &TraceFormat,
        file: &str,
        line: usize,
    ) -> Result<Self, Refused> {
        let numbers: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
        Header { names: numbers.iter().map(String::as_str).collect(), file, line }.columns(format)
    }

    /// One row, to be read by its columns; it must have as many fields like the first.
    pub(super) fn row<'r>(&'r self, row: &'r Row, file: &'r str, line: usize) -> Result<Fields<'r>, Refused> {
        let fields = Fields { columns: self, row, file, line };
        if row.len() == self.count {
            return Ok(fields);
        }
        let reason = format!("the row has {} fields, must have {} like the first", row.len(), self.count);
        Err(fields.refuse_whole(reason, "complete the row; the file may have been cut off here"))
    }
}

/// The fields of one row, by their columns.
pub(super) struct Fields<'r> {
    columns: &'r Columns,
    row: &'r Row,
    file: &'r str,
    line: usize,
}

impl<'r> Fields<'r> {
    fn field(&self, column: &Column) -> &'r str {
        self.row.field(column.place)
    }

    pub(super) fn refuse_whole(&self, reason: String, remedy: &str) -> Refused {
        Refused::of_file(self.file, reason, remedy).at(self.line, 1)
    }

    fn refuse(&self, column: &Column, reason: String, remedy: &str) -> Refused {
        let value = match self.field(column) {
            "" => "empty",
            field => field,
        };
        let refusal = Refused::of_file(self.file, reason, remedy).at(self.line, column.place + 1);
        refusal.key(&column.name).value(value)
    }

    pub(super) fn refuse_time(&self, reason: String, remedy: &str) -> Refused {
        self.refuse(&self.columns.time, reason, remedy)
    }

    pub(super) fn refuse_class(&self, reason: String, remedy: &str) -> Refused {
        let column = self.columns.class.as_ref().or(self.columns.alpha.as_ref());
        self.refuse(column.unwrap_or(&self.columns.time), reason, remedy)
    }

    pub(super) fn time(&self, unit: TimeUnit) -> Result<u128, Refused> {
        unit.parse(self.field(&self.columns.time)).ok_or_else(|| {
            let reason = format!("must be {}", unit.expected());
            self.refuse_time(reason, "correct the row, or the `time_unit` of the scenario")
        })
    }

    pub(super) fn length(&self) -> Result<u32, Refused> {
        let column = &self.columns.length;
        let length = self.field(column).parse::<u32>().ok().filter(|length| *length > 0);
        length.ok_or_else(|| {
            let reason = format!("must be a whole number from 1 to {MAX_LENGTH}");
            self.refuse(column, reason, "correct or remove the row; a larger unit makes smaller numbers")
        })
    }

    pub(super) fn alpha(&self) -> Result<Option<f64>, Refused> {
        let Some(column) = &self.columns.alpha else { return Ok(None) };
        match Coefficient::read(self.field(column)) {
            Some(alpha) if (0.0..=Coefficient::LARGEST).contains(&alpha) || alpha == f64::INFINITY => {
                // A negative zero would be a class of its own.
                Ok(Some(alpha + 0.0))
            }
            _ => {
                let reason = format!("must be a number from 0 to {}, or inf", Coefficient::LARGEST);
                Err(self.refuse(column, reason, "correct the row"))
            }
        }
    }

    pub(super) fn class(&self) -> Option<&'r str> {
        self.columns.class.as_ref().map(|column| self.field(column))
    }

    pub(super) fn flow(&self) -> Option<&'r str> {
        self.columns.flow.as_ref().map(|column| self.field(column))
    }
}
