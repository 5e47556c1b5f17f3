//! Traces: messages with their own arrival times, from a CSV file.
//!
//! One row a message, in order of arrival. A header names the columns: a time and a length, and where there
//! are any an application, a class and the message's own alpha. Lines that begin with `#` are comments; a
//! file compressed by gzip is known by its first bytes. The file is read as a stream; what is kept of a row
//! takes 18 bytes.
//!
//! Nothing is skipped and nothing is guessed: a row that cannot be read, has no length, or comes before the
//! row above it is refused with its line, column, value and remedy. Times count from the first arrival.
//!
//! A message has one class. Where a trace has both a class and an alpha, each pair that occurs is a class. Classes are
//! numbered by their values, the smallest number or the first word first, whichever comes first in the file.

mod classes;
mod columns;
mod entry;
mod lines;
mod packets;
mod requests;
mod rows;
mod runs;
mod thinning;
mod time;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use super::classes::MessageClasses;
use crate::source::{ArrivalBlock, ArrivalSource};
use flate2::bufread::MultiGzDecoder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::units::Nanos;
use weir_document::{Refused, plain_io};

use classes::{Classes, MAX_CLASSES};
pub(crate) use columns::{Column, Header};
use columns::{Columns, Fields};
pub(crate) use entry::Entry;
pub(crate) use lines::Lines;
pub use packets::{PacketBounds, PacketFormat, PacketSchedule};
pub use requests::{ClassBy, RequestBounds, RequestFormat, read_requests};
pub(crate) use rows::{Row, Rows};
pub use runs::{RunBounds, read_runs};
use thinning::Decisions;
pub use thinning::Thinning;
pub use time::TimeUnit;

/// The most messages of a trace.
const MAX_ROWS: usize = 200_000_000;
/// The longest span between the first and the last arrival, in nanoseconds of the clock.
const MAX_SPAN: u128 = 1 << 63;

/// What stands between two fields of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Separator {
    /// A comma.
    #[default]
    Comma,
    /// A semicolon.
    Semicolon,
    /// A tab.
    Tab,
}

impl Separator {
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

/// How a trace is written. A column that is not named has its usual name; `flow`, `class` and `alpha` may
/// then be absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFormat {
    /// The column of the arrival time; `time` where not named.
    pub time: Option<String>,
    /// The column of the length; `length` where not named.
    pub length: Option<String>,
    /// The column of the application; `flow` where not named.
    pub flow: Option<String>,
    /// The column of the class; `class` where not named.
    pub class: Option<String>,
    /// The column of the message's own alpha; `alpha` where not named.
    pub alpha: Option<String>,
    /// How the time is written.
    pub time_unit: TimeUnit,
    /// Whether the first row names the columns; otherwise they are called `1`, `2`, and so on.
    pub header: bool,
    /// What stands between two fields.
    pub separator: Separator,
    /// Which rows are kept.
    pub thinning: Thinning,
}

impl TraceFormat {
    /// The usual names, a header, and commas.
    #[must_use]
    pub fn new(time_unit: TimeUnit) -> Self {
        Self {
            time: None,
            length: None,
            flow: None,
            class: None,
            alpha: None,
            time_unit,
            header: true,
            separator: Separator::Comma,
            thinning: Thinning::NONE,
        }
    }
}

/// The text of a file that may be compressed.
pub(crate) fn unpacked<'s>(source: impl Read + 's, name: &str) -> Result<Box<dyn Read + 's>, Refused> {
    let mut source = BufReader::new(source);
    let is_gzip = source.fill_buf().map(|start| start.starts_with(&[0x1f, 0x8b]));
    match is_gzip {
        Ok(true) => Ok(Box::new(MultiGzDecoder::new(source))),
        Ok(false) => Ok(Box::new(source)),
        Err(error) => {
            let reason = format!("cannot be read ({})", plain_io(&error));
            Err(Refused::of_file(name, reason, "check the file and its permissions"))
        }
    }
}

/// Messages in order of arrival; entry `i` of each array belongs to the same message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    at: Vec<u64>,
    length: Vec<u32>,
    class: Vec<u16>,
    flow: Vec<u32>,
    classes: Vec<String>,
    values: Vec<String>,
    alphas: Vec<f64>,
    flows: Vec<String>,
}

impl Trace {
    /// Reads a trace; `name` names it in errors.
    ///
    /// # Errors
    /// The first row that is refused, with its place.
    pub fn read(source: impl Read, name: &str, format: &TraceFormat) -> Result<Self, Refused> {
        let mut rows = Rows::new(unpacked(source, name)?, format.separator.byte(), name);
        let mut building = Building::new(name, format.thinning);
        let mut columns = None;
        while let Some((row, line)) = rows.next()? {
            match &columns {
                None if format.header => columns = Some(Columns::named(row, format, name, line)?),
                None => {
                    let numbered = Columns::numbered(row.len(), format, name, line)?;
                    building.add(&numbered.row(row, name, line)?, format.time_unit)?;
                    columns = Some(numbered);
                }
                Some(columns) => building.add(&columns.row(row, name, line)?, format.time_unit)?,
            }
        }
        building.finish()
    }

    /// The number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether there is no message; a trace that was read has at least one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// The arrival times, in nanoseconds of the clock since the first.
    #[must_use]
    pub fn times(&self) -> &[u64] {
        &self.at
    }

    /// The lengths.
    #[must_use]
    pub fn lengths(&self) -> &[u32] {
        &self.length
    }

    /// The position of each message's class in the names.
    #[must_use]
    pub fn class_of_message(&self) -> &[u16] {
        &self.class
    }

    /// The position of each message's application in the names.
    #[must_use]
    pub fn flow_of_message(&self) -> &[u32] {
        &self.flow
    }

    /// The names of the classes; `None` where the trace has neither class nor alpha.
    #[must_use]
    pub fn class_names(&self) -> Option<&[String]> {
        (!self.classes.is_empty()).then_some(&self.classes)
    }

    /// What the file calls each class: without the alpha, where it names both.
    #[must_use]
    pub fn class_values(&self) -> &[String] {
        &self.values
    }

    /// The alpha of each class; `None` where the trace has none.
    #[must_use]
    pub fn alphas(&self) -> Option<&[f64]> {
        (!self.alphas.is_empty()).then_some(&self.alphas)
    }

    /// The names of the applications, in order of appearance; empty where the trace names none.
    #[must_use]
    pub fn flow_names(&self) -> &[String] {
        &self.flows
    }

    /// From the first arrival to the last.
    #[must_use]
    pub fn span(&self) -> Nanos {
        Nanos::new(self.at.last().copied().unwrap_or(0))
    }

    /// The mean time between arrivals, in nanoseconds; `None` where all arrive at one instant.
    #[must_use]
    pub fn mean_gap(&self) -> Option<f64> {
        let span = self.span().get();
        (span > 0).then(|| span as f64 / (self.len() - 1) as f64)
    }

    /// The mean length.
    #[must_use]
    pub fn mean_length(&self) -> f64 {
        let sum: u64 = self.length.iter().map(|length| u64::from(*length)).sum();
        sum as f64 / self.len().max(1) as f64
    }

    /// Replaces each length by the number of packets of size `packet` that it fills.
    pub fn divide_into_packets(&mut self, packet: u64) {
        let packet = packet.max(1);
        for length in &mut self.length {
            *length = u64::from(*length).div_ceil(packet) as u32;
        }
    }
}

/// A trace in the making.
struct Building<'n> {
    trace: Trace,
    name: &'n str,
    /// The first time and the last, as the file counts.
    first: u128,
    last: u128,
    flows: HashMap<String, u32>,
    classes: Classes,
    rows: usize,
    decisions: Decisions,
}

impl<'n> Building<'n> {
    fn new(name: &'n str, thinning: Thinning) -> Self {
        Self {
            trace: Trace::default(),
            name,
            first: 0,
            last: 0,
            flows: HashMap::new(),
            classes: Classes::default(),
            rows: 0,
            decisions: thinning.decisions(),
        }
    }

    fn add(&mut self, row: &Fields<'_>, unit: TimeUnit) -> Result<(), Refused> {
        if self.trace.len() == MAX_ROWS {
            return Err(
                row.refuse_whole(format!("the trace has more than {MAX_ROWS} rows"), "cut it into several")
            );
        }
        let at = self.time(row.time(unit)?).map_err(|(reason, remedy)| row.refuse_time(reason, remedy))?;
        let length = row.length()?;
        let alpha = row.alpha()?;
        self.rows += 1;
        if !self.decisions.next() {
            return Ok(());
        }
        let class = self.classes.number(row.class(), alpha).ok_or_else(|| {
            row.refuse_class(format!("makes more than {MAX_CLASSES} classes"), "use fewer values")
        })?;
        let flow = row.flow().map_or(0, |name| self.flow(name));
        self.trace.at.push(at);
        self.trace.length.push(length);
        self.trace.class.push(class);
        self.trace.flow.push(flow);
        Ok(())
    }

    /// Nanoseconds since the first arrival; or why this cannot be, and what to do.
    fn time(&mut self, time: u128) -> Result<u64, (String, &'static str)> {
        if self.trace.is_empty() {
            self.first = time;
        }
        if time < self.last {
            return Err(("is before the time of the row above".to_owned(), "sort the rows by time"));
        }
        self.last = time;
        let since = time - self.first;
        if since > MAX_SPAN {
            let reason = format!("is more than {MAX_SPAN} ns of the clock after the first");
            return Err((reason, "check the unit of the times"));
        }
        Ok(since as u64)
    }

    fn flow(&mut self, name: &str) -> u32 {
        if let Some(flow) = self.flows.get(name) {
            return *flow;
        }
        let flow = self.flows.len() as u32;
        self.flows.insert(name.to_owned(), flow);
        self.trace.flows.push(name.to_owned());
        flow
    }

    fn finish(self) -> Result<Trace, Refused> {
        if self.trace.is_empty() {
            if let Some(refused) = self.decisions.refuse_empty(self.name, self.rows) {
                return Err(refused);
            }
            let remedy = "give at least one message, below the header if there is one";
            return Err(Refused::of_file(self.name, "has no messages", remedy));
        }
        let Self { mut trace, classes, .. } = self;
        let numbers = classes.name(&mut trace);
        if !numbers.is_empty() {
            trace.class.iter_mut().for_each(|class| *class = numbers[usize::from(*class)]);
        }
        Ok(trace)
    }
}

/// The arrivals of a trace, once, with time stretched by a factor.
#[derive(Clone, Debug)]
pub struct TraceSource {
    trace: Arc<Trace>,
    classes: MessageClasses,
    /// The factor in units of 2^-32: exact arithmetic keeps the order of arrivals.
    scale: u128,
    next: usize,
}

impl TraceSource {
    /// The messages of `trace`, every time multiplied by `time_scale`.
    #[must_use]
    pub fn new(trace: Arc<Trace>, time_scale: f64, classes: MessageClasses) -> Self {
        let scale = (time_scale * 4_294_967_296.0).round() as u128;
        Self { trace, classes, scale, next: 0 }
    }

    fn at(&self, place: usize) -> u64 {
        let scaled = u128::from(self.trace.at[place]).saturating_mul(self.scale) >> 32;
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

impl ArrivalSource for TraceSource {
    fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize {
        block.clear();
        let end = self.trace.len().min(self.next.saturating_add(n));
        for place in self.next..end {
            let length = self.trace.length[place];
            let class = self.classes.class_of(length).unwrap_or(self.trace.class[place]);
            block.push(self.at(place), length, class, self.trace.flow[place]);
        }
        self.next = end;
        block.len()
    }
}

#[cfg(test)]
mod tests;
