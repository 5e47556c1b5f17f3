//! The points of a curve from a CSV file: a row a time, with the rate from there on.
//!
//! Times count from the first row. Nothing is skipped and nothing is guessed: a row that cannot be read is refused with its
//! place, and so is a step much longer than the first, where rows seem to be missing, unless it is said that steps differ.

use std::io::Read;

use super::{CurveError, Part, Points};
use crate::trace::{Column, Entry, Header, Rows, Separator, TimeUnit, unpacked};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_document::Refused;

/// A step is a hole where it is longer than this many of the first.
const HOLE: f64 = 1.5;
/// The latest time, in nanoseconds: some 292 years.
const LATEST: u128 = 1 << 63;

/// How the rates of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RateUnit {
    /// In a second.
    #[serde(rename = "/s")]
    Second,
    /// In a minute.
    #[serde(rename = "/min")]
    Minute,
    /// In an hour.
    #[serde(rename = "/h")]
    Hour,
    /// Over a mean that the load or the rate gives: numbers in any proportion.
    #[serde(rename = "factor")]
    Factor,
}

impl RateUnit {
    /// By what a number is divided to be one in a second; `None` where it is none.
    #[must_use]
    pub fn seconds(self) -> Option<f64> {
        match self {
            Self::Second => Some(1.0),
            Self::Minute => Some(60.0),
            Self::Hour => Some(3600.0),
            Self::Factor => None,
        }
    }
}

/// How a curve is written.
#[derive(Clone, Debug)]
pub(super) struct Format<'f> {
    /// The columns.
    pub(super) time: &'f str,
    pub(super) rate: &'f str,
    pub(super) time_unit: TimeUnit,
    /// Whether steps may differ.
    pub(super) uneven: bool,
    pub(super) header: bool,
    pub(super) separator: Separator,
}

/// Reads points; `name` names the file in errors.
///
/// # Errors
/// The first row that is refused, with its place.
pub(super) fn read(source: impl Read, name: &str, format: &Format<'_>) -> Result<Points, Refused> {
    let mut rows = Rows::new(unpacked(source, name)?, format.separator.byte(), name);
    let mut building = Building { points: Points::default(), first: None, step: None, last: 0 };
    let mut columns = None;
    while let Some((row, line)) = rows.next()? {
        let entry = Entry { row, file: name, line };
        if columns.is_none() {
            columns = Some(Columns::of(&entry, format)?);
            if format.header {
                continue;
            }
        }
        if let Some(columns) = &columns {
            building.add(&entry, columns, format)?;
        }
    }
    if building.first.is_none() {
        let remedy = "give at least two, below the header if there is one";
        return Err(Refused::of_file(name, "has no points", remedy));
    }
    Ok(building.points)
}

/// Which column holds what.
struct Columns {
    count: usize,
    time: Column,
    rate: Column,
}

impl Columns {
    fn of(first: &Entry<'_>, format: &Format<'_>) -> Result<Self, Refused> {
        let numbers: Vec<String> = (1..=first.row.len()).map(|number| number.to_string()).collect();
        let names = match format.header {
            true => (0..first.row.len()).map(|place| first.row.field(place)).collect(),
            false => numbers.iter().map(String::as_str).collect(),
        };
        let header = Header { names, file: first.file, line: first.line };
        let (time, rate) = (header.required(format.time)?, header.required(format.rate)?);
        Ok(Self { count: first.row.len(), time, rate })
    }
}

/// Points in the making.
struct Building {
    points: Points,
    /// The time of the first, as the file counts.
    first: Option<u128>,
    /// From the first to the second, and the time of the last, in nanoseconds.
    step: Option<u64>,
    last: u64,
}

impl Building {
    fn add(&mut self, entry: &Entry<'_>, columns: &Columns, format: &Format<'_>) -> Result<(), Refused> {
        entry.has(columns.count)?;
        let time = entry.time(&columns.time, format.time_unit)?;
        let rate = entry.field(&columns.rate).parse::<f64>().map_err(|_| {
            entry.refuse(
                &columns.rate,
                "must be a rate from 0 up",
                "fill the hole; write 0 where nobody arrives",
            )
        })?;
        let first = *self.first.get_or_insert(time);
        let Some(since) = time.checked_sub(first).filter(|since| *since < LATEST) else {
            return Err(match time < first {
                true => entry.refuse(&columns.time, "is before the first row", "sort the rows by time"),
                false => entry.refuse(
                    &columns.time,
                    format!("is more than {LATEST} ns after the first"),
                    "check the unit of the times",
                ),
            });
        };
        let time = since as u64;
        self.points.add(time, rate).map_err(|CurveError { part, reason, remedy }| {
            let column = if part == Part::Time { &columns.time } else { &columns.rate };
            entry.refuse(column, reason, remedy)
        })?;
        if time > 0 {
            let (own, step) = (time - self.last, *self.step.get_or_insert(time));
            if !format.uneven && own as f64 > HOLE * step as f64 {
                let [own, step] = [own, step].map(|span| format.time_unit.time(span));
                let reason = format!("is {own} after the row above, where the first step is {step}");
                let remedy = "add the rows that are missing, or write `uneven = true`";
                return Err(entry.refuse(&columns.time, reason, remedy));
            }
        }
        self.last = time;
        Ok(())
    }
}
