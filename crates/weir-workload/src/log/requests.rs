//! Requests from the rows of a log: arrivals in order, services, classes.

use std::collections::HashMap;

use super::kept::{Log, LoggedRequest, Noted};
use super::stamp::DurationUnit;
use super::table::Table;
use super::{LogFormat, MAX_CLASSES, MAX_REQUESTS, Reading, TimeOf};
use crate::trace::Row;
use weir_document::Refused;
use weir_document::words::{hint, listed};
use weir_lab::stream::{Purpose, Stream, StreamKey};

/// The longest span of a log, in nanoseconds: more than 140 years.
const MAX_SPAN: i128 = 1 << 62;
/// The longest service, and the longest time from the first arrival to the last, in nanoseconds: those of scenarios.
const MAX_SERVICE: u64 = 60_000_000_000_000;
const LONGEST: u64 = 100_000_000_000_000_000;
/// The longest class name, in characters.
const MAX_NAME: usize = 100;
/// What no class may be called.
const RESERVED: &str = "all";
/// Statuses that say that somebody gave up: request timeout, client closed request (nginx), gateway timeout.
const GIVEN_UP: [&str; 3] = ["408", "499", "504"];
/// What times are cut to, the coarsest first, in nanoseconds.
const RESOLUTIONS: [u64; 4] = [1_000_000_000, 1_000_000, 1_000, 1];
/// Times are spread where the mean gap is shorter than as many units of their resolution.
const SPREAD_BELOW: f64 = 10.0;
/// And where more than this part of the lines has the time of the line above.
const SHARED_BELOW: f64 = 0.01;

pub(super) fn read(mut table: Table<'_, '_>, file: &str, reading: &Reading) -> Result<Log, Refused> {
    let columns = Columns::of(&mut table, file, reading)?;
    let is_csv = matches!(table.format(), LogFormat::Csv(..));
    let count = table.names().len();
    let mut building = Building::default();
    while let Some((row, line)) = table.next()? {
        let entry = Entry { row, file, line, is_csv };
        if is_csv && row.len() != count {
            let reason = format!("the row has {} fields, must have {count} like the first", row.len());
            return Err(entry.refuse(reason, "complete the row; the file may have been cut off here"));
        }
        building.add(&entry, &columns, reading)?;
    }
    building.finish(file, reading)
}

/// A column: its place and its name.
struct Column {
    place: usize,
    name: String,
}

/// Which column holds what.
struct Columns {
    time: Column,
    service: Column,
    duration: Option<Column>,
    class: Option<Column>,
    status: Option<Column>,
}

impl Columns {
    fn of(table: &mut Table<'_, '_>, file: &str, reading: &Reading) -> Result<Self, Refused> {
        let mut column = |name: &String| match table.with_column(name) {
            Some(place) => Ok(Column { place, name: name.clone() }),
            None => {
                let names = || table.names().iter().map(String::as_str);
                let remedy = format!("{}the columns are {}", hint(name, names()), listed(names()));
                Err(Refused::of_file(file, "is not a column of the log", remedy).key(name))
            }
        };
        Ok(Self {
            time: column(&reading.time)?,
            service: column(&reading.service.0)?,
            duration: reading.duration.as_ref().map(|(name, _)| column(name)).transpose()?,
            class: reading.class.as_ref().map(&mut column).transpose()?,
            status: reading.status.as_ref().map(&mut column).transpose()?,
        })
    }
}

/// A row, and where it stands.
struct Entry<'r> {
    row: &'r Row,
    file: &'r str,
    line: usize,
    is_csv: bool,
}

impl Entry<'_> {
    fn refuse(&self, reason: impl Into<String>, remedy: impl Into<String>) -> Refused {
        Refused::of_file(self.file, reason, remedy).at(self.line, 1)
    }

    /// A refusal of the value of a column.
    fn refuse_value(&self, column: &Column, reason: impl Into<String>, remedy: &str) -> Refused {
        let value = match self.row.field(column.place) {
            "" => "empty",
            field => field,
        };
        let place = if self.is_csv { column.place + 1 } else { 1 };
        let refusal = Refused::of_file(self.file, reason, remedy).at(self.line, place);
        refusal.key(&column.name).value(value)
    }

    /// A duration, in nanoseconds; of several, with commas and colons between, the sum. `None` where a hyphen stands for it.
    fn duration(&self, column: &Column, unit: DurationUnit) -> Result<Option<u64>, Refused> {
        let text = self.row.field(column.place);
        let refuse = || {
            let remedy = "correct or remove the line, or say another unit of the column";
            self.refuse_value(column, format!("must be {}", unit.expected()), remedy)
        };
        let mut sum = None;
        // A single number, as nearly all are, needs no taking apart.
        let parts = text.split([',', ':']).map(str::trim);
        for part in parts.filter(|part| self.is_csv || *part != "-") {
            let value = unit.parse(part).ok_or_else(refuse)?;
            sum = Some(sum.unwrap_or(0_u64).checked_add(value).ok_or_else(refuse)?);
        }
        Ok(sum)
    }
}

/// Requests in the making; times are in nanoseconds since the first line.
#[derive(Default)]
struct Building {
    /// Whose times are [`MAX_SPAN`] more, so that none is negative.
    requests: Vec<LoggedRequest>,
    classes: Vec<String>,
    numbers: HashMap<String, u16>,
    noted: Noted,
    first: Option<u128>,
    /// The time of the line above, and how many lines have the time of the line above.
    above: Option<u128>,
    shared: f64,
    /// The latest time and the latest end.
    latest: (i128, i128),
    /// Whether all times, and all services, are whole multiples of each resolution.
    times: Multiples,
    services: Multiples,
}

/// Of which of the resolutions all numbers are whole multiples: the first of them.
#[derive(Default)]
struct Multiples(usize);

impl Multiples {
    fn take(&mut self, number: u128) {
        while self.0 + 1 < RESOLUTIONS.len() && !number.is_multiple_of(u128::from(RESOLUTIONS[self.0])) {
            self.0 += 1;
        }
    }

    const fn resolution(&self) -> u64 {
        RESOLUTIONS[self.0]
    }
}

impl Building {
    fn add(&mut self, entry: &Entry<'_>, columns: &Columns, reading: &Reading) -> Result<(), Refused> {
        if self.requests.len() == MAX_REQUESTS {
            let reason = format!("comes after {MAX_REQUESTS} requests, the most that are kept");
            return Err(entry.refuse(reason, "cut the log"));
        }
        let stamp = self.stamp(entry, columns, reading)?;
        self.status(entry, columns);
        let service = entry.duration(&columns.service, reading.service.1)?;
        let duration = match (&columns.duration, &reading.duration) {
            (Some(column), Some((_, unit))) => entry.duration(column, *unit)?,
            _ => service,
        };
        let length = i128::from(duration.unwrap_or(0));
        let (arrival, end) = match reading.time_of {
            TimeOf::Arrival => (stamp, stamp + length),
            TimeOf::End => (stamp - length, stamp),
        };
        self.order(entry, columns, (stamp, end), reading.disorder)?;
        let Some(service) = service else {
            self.noted.without_service += 1;
            return Ok(());
        };
        if service > MAX_SERVICE {
            let reason =
                format!("is {:.9} s, must be at most {:.0} s", seconds(service), seconds(MAX_SERVICE));
            return Err(entry.refuse_value(&columns.service, reason, "check the unit of the column"));
        }
        self.services.take(u128::from(service));
        let class = self.class(entry, columns.class.as_ref())?;
        let line = u32::try_from(entry.line).unwrap_or(u32::MAX);
        if arrival.abs() > MAX_SPAN {
            let reason = "is more than 140 years from the first line";
            return Err(entry.refuse_value(&columns.time, reason, "check the unit of the times"));
        }
        let at = (arrival + MAX_SPAN) as u64;
        if self.requests.len() == self.requests.capacity() {
            // An eighth more, so that little is reserved that is not needed.
            self.requests.reserve_exact(self.requests.len() / 8 + 1024);
        }
        self.requests.push(LoggedRequest { at, service, line, class });
        Ok(())
    }

    /// The time of a line since that of the first.
    fn stamp(&mut self, entry: &Entry<'_>, columns: &Columns, reading: &Reading) -> Result<i128, Refused> {
        let column = &columns.time;
        let time = reading.stamp.parse(entry.row.field(column.place)).ok_or_else(|| {
            let reason = format!("must be {}", reading.stamp.expected());
            entry.refuse_value(column, reason, "correct or remove the line, or say how times are written")
        })?;
        self.times.take(time);
        if self.above.replace(time) == Some(time) {
            self.shared += 1.0;
        }
        let first = *self.first.get_or_insert(time);
        // Neither is near 2^127: a date has four digits of years, a number 25 at most.
        Ok(i128::try_from(time).unwrap_or(i128::MAX / 2) - i128::try_from(first).unwrap_or(i128::MAX / 2))
    }

    /// Counts a line that comes after a later one, by its time and by its end; refuses one that is too late.
    fn order(
        &mut self,
        entry: &Entry<'_>,
        columns: &Columns,
        (stamp, end): (i128, i128),
        most: u64,
    ) -> Result<(), Refused> {
        let (latest, latest_end) = self.latest;
        let late = (latest - stamp).min(latest_end - end).max(0);
        self.latest = (latest.max(stamp), latest_end.max(end));
        if late == 0 {
            return Ok(());
        }
        let late = u64::try_from(late).unwrap_or(u64::MAX);
        if late > most {
            let reason = format!(
                "is {:.9} s before a line above, must be at most {:.9} s",
                seconds(late),
                seconds(most)
            );
            let remedy = "sort the log by its time, or allow more with --disorder";
            return Err(entry.refuse_value(&columns.time, reason, remedy));
        }
        self.noted.disordered += 1;
        self.noted.longest_disorder_ns = self.noted.longest_disorder_ns.max(late);
        Ok(())
    }

    fn status(&mut self, entry: &Entry<'_>, columns: &Columns) {
        let Some(column) = &columns.status else { return };
        let status = entry.row.field(column.place);
        let hundreds = status
            .as_bytes()
            .first()
            .filter(|_| status.len() == 3)
            .map_or(0, |digit| digit.wrapping_sub(b'0'));
        let place = if (1..=5).contains(&hundreds) { usize::from(hundreds) - 1 } else { 5 };
        self.noted.statuses[place] += 1;
        self.noted.given_up += u64::from(GIVEN_UP.contains(&status));
    }

    fn class(&mut self, entry: &Entry<'_>, column: Option<&Column>) -> Result<u16, Refused> {
        let Some(column) = column else { return Ok(0) };
        let name = entry.row.field(column.place);
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
            let reason = format!("must be a name of 1 to {MAX_NAME} characters, without control characters");
            return Err(entry.refuse_value(column, reason, "correct or remove the line"));
        }
        if name == RESERVED {
            let reason = "is reserved: results use it for all of a kind together";
            return Err(entry.refuse_value(column, reason, "give the class another name in the log"));
        }
        if self.classes.len() == MAX_CLASSES {
            let reason = format!("makes more than {MAX_CLASSES} classes");
            let remedy = "name another column as the class, such as `method`, or none";
            return Err(entry.refuse_value(column, reason, remedy));
        }
        let number = self.classes.len() as u16;
        self.numbers.insert(name.to_owned(), number);
        self.classes.push(name.to_owned());
        Ok(number)
    }

    fn finish(mut self, file: &str, reading: &Reading) -> Result<Log, Refused> {
        if self.requests.is_empty() {
            let (reason, remedy) = match self.noted.without_service {
                0 => {
                    ("has no requests".to_owned(), "give a line a request, below the header if there is one")
                }
                count => (
                    format!("has no request with a `{}`: {count} lines have `-`", reading.service.0),
                    "name another column with --service",
                ),
            };
            return Err(Refused::of_file(file, reason, remedy));
        }
        if reading.class.is_none() {
            self.classes.push(String::new());
        }
        self.noted.service_resolution_ns = self.services.resolution();
        self.noted.time_resolution_ns = self.times.resolution();
        self.spread();
        let half = (self.noted.service_resolution_ns / 2).max(1);
        self.requests.sort_unstable_by_key(|request| (request.at, request.line));
        let first = self.requests[0].at;
        let span = self.requests.last().map_or(0, |last| last.at - first);
        if span >= LONGEST {
            let reason =
                format!("spans {:.0} s, must span less than {:.0} s", seconds(span), seconds(LONGEST));
            return Err(Refused::of_file(file, reason, "check the unit of the times, or cut the log"));
        }
        for request in &mut self.requests {
            request.at -= first;
            if request.service == 0 {
                self.noted.zero_services += 1;
                request.service = half;
            }
        }
        Ok(Log { requests: self.requests, classes: self.classes, noted: self.noted })
    }

    /// Spreads times that are cut too coarsely over what they are cut to.
    fn spread(&mut self) {
        let at = || self.requests.iter().map(|request| request.at);
        let span = at().max().unwrap_or(0) - at().min().unwrap_or(0);
        let gap = span as f64 / self.requests.len() as f64;
        let resolution = self.noted.time_resolution_ns;
        let is_shared = self.shared > SHARED_BELOW * self.requests.len() as f64;
        if resolution <= 1 || gap >= SPREAD_BELOW * resolution as f64 || !is_shared {
            return;
        }
        self.noted.spread = true;
        let key = StreamKey { seed: 1, replication: 0, purpose: Purpose::Resampling, index: u32::MAX };
        let mut stream = Stream::new(key);
        for request in &mut self.requests {
            request.at += stream.next_below(resolution);
        }
    }
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}
