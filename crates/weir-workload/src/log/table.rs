//! A log as a table: its format, its columns, and its lines as rows.

use std::io::{BufReader, Cursor, Read};

use super::access::Layout;
use super::{LogFormat, Stamp, json};
use crate::trace::{Lines, Row, Rows, Separator, unpacked};
use weir_document::{Refused, plain_io};

/// How much of a file is read to know its format; a longer first line is no log.
const LOOKED_AT: u64 = 1 << 16;

type Source<'s> = Box<dyn Read + 's>;

/// A log that is read row by row.
pub(super) struct Table<'n, 's> {
    format: LogFormat,
    names: Vec<String>,
    rows: Reader<'n, 's>,
}

enum Reader<'n, 's> {
    /// Rows of CSV.
    Csv(Box<Rows<'n, Source<'s>>>),
    Json(Lines<'n, Source<'s>>, Row),
    Access(Lines<'n, Source<'s>>, Layout, Row),
}

impl<'n, 's> Table<'n, 's> {
    /// Opens a log, whose format is that of its first line where none is given.
    pub(super) fn open(
        source: impl Read + 's,
        name: &'n str,
        format: Option<LogFormat>,
    ) -> Result<Self, Refused> {
        let mut source = unpacked(source, name)?;
        let mut head = Vec::new();
        source.by_ref().take(LOOKED_AT).read_to_end(&mut head).map_err(|error| {
            let reason = format!("cannot be read ({})", plain_io(&error));
            Refused::of_file(name, reason, "check the file; it may have been cut off")
        })?;
        let mut lines = Lines::new(Cursor::new(&head), name);
        if !lines.advance_to_content()? {
            return Err(Refused::of_file(name, "is empty", "give a log with a line a request"));
        }
        let first = text(&lines)?.trim().to_owned();
        let refuse = |(reason, remedy): (String, &'static str)| lines.refuse(reason, remedy);
        let format = format.unwrap_or_else(|| format_of(&first));
        let source: Source<'s> = Box::new(BufReader::new(Cursor::new(head.clone()).chain(source)));
        let (names, rows) = match format {
            LogFormat::Csv(separator, header) => {
                let mut rows = Rows::new(source, separator.byte(), name);
                let mut names = Vec::new();
                if header {
                    if let Some((row, _)) = rows.next()? {
                        names = (0..row.len()).map(|place| row.field(place).to_owned()).collect();
                    }
                } else {
                    let mut peeked = Rows::new(first.as_bytes(), separator.byte(), name);
                    let count = peeked.next()?.map_or(0, |(row, _)| row.len());
                    names = (1..=count).map(|number| number.to_string()).collect();
                }
                (names, Reader::Csv(Box::new(rows)))
            }
            LogFormat::JsonLines => {
                let object = json::object(&first).map_err(refuse)?;
                (json::names(&object), Reader::Json(Lines::new(source, name), Row::default()))
            }
            LogFormat::Access | LogFormat::Envoy => {
                let of = if format == LogFormat::Access { Layout::access } else { Layout::envoy };
                let layout = of(&first).map_err(refuse)?;
                let names = layout.names.clone();
                (names, Reader::Access(Lines::new(source, name), layout, Row::default()))
            }
        };
        Ok(Self { format, names, rows })
    }

    pub(super) const fn format(&self) -> LogFormat {
        self.format
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns, and those that only some objects of JSON lines have.
    pub(super) fn with_column(&mut self, name: &str) -> Option<usize> {
        if let Some(place) = self.names.iter().position(|other| other == name) {
            return Some(place);
        }
        if self.format != LogFormat::JsonLines {
            return None;
        }
        self.names.push(name.to_owned());
        Some(self.names.len() - 1)
    }

    /// The next row and the number of its line; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(&Row, usize)>, Refused> {
        match &mut self.rows {
            Reader::Csv(rows) => rows.next(),
            Reader::Json(lines, row) => {
                if !lines.advance_to_content()? {
                    return Ok(None);
                }
                let object =
                    json::object(text(lines)?).map_err(|(reason, remedy)| lines.refuse(reason, remedy))?;
                json::fill(&object, &self.names, row);
                Ok(Some((row, lines.number())))
            }
            Reader::Access(lines, layout, row) => {
                if !lines.advance_to_content()? {
                    return Ok(None);
                }
                let filled = layout.fill(text(lines)?.trim(), row);
                filled.map_err(|(reason, remedy)| lines.refuse(reason, remedy))?;
                Ok(Some((row, lines.number())))
            }
        }
    }
}

/// The line that was read last.
fn text<'l, R: Read>(lines: &'l Lines<'_, R>) -> Result<&'l str, Refused> {
    core::str::from_utf8(lines.line())
        .map_err(|_| lines.refuse("the line is not UTF-8 text", "save the file as UTF-8"))
}

/// The format of a log by its first line.
fn format_of(first: &str) -> LogFormat {
    if first.starts_with('{') {
        return LogFormat::JsonLines;
    }
    if Layout::envoy(first).is_ok() {
        return LogFormat::Envoy;
    }
    if Layout::access(first).is_ok() {
        return LogFormat::Access;
    }
    let count = |separator: char| first.matches(separator).count();
    let (separator, mark) = [(Separator::Comma, ','), (Separator::Semicolon, ';'), (Separator::Tab, '\t')]
        .into_iter()
        .rev()
        .max_by_key(|(_, mark)| count(*mark))
        .unwrap_or((Separator::Comma, ','));
    // A header has no numbers and no times.
    let is_value = |field: &str| field.parse::<f64>().is_ok() || Stamp::of(field).is_some();
    let header = !first.split(mark).any(|field| is_value(field.trim().trim_matches('"')));
    LogFormat::Csv(separator, header)
}
