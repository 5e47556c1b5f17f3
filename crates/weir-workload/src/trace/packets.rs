//! Schedules of packets: times and sizes from a CSV file, of all its rows or of those with certain values.
//!
//! Times count from the first row of the file, whether it is kept or not: two directions of one conversation,
//! read from one file, stay in step.

use std::io::Read;

use super::columns::{Column, Header};
use super::rows::{Row, Rows};
use super::{MAX_SPAN, Separator, Thinning, TimeUnit, unpacked};
use weir_core::units::{Bytes, Nanos};
use weir_document::Refused;

/// How a schedule is written. A column that is not named has its usual name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PacketFormat {
    /// The column of the departure time; `time` where not named.
    pub time: Option<String>,
    /// The column of the size in bytes; `size` where not named.
    pub size: Option<String>,
    /// Columns, and what must stand in them in the rows that are kept.
    pub keep: Vec<(String, String)>,
    /// How the time is written.
    pub time_unit: TimeUnit,
    /// Whether the first row names the columns; otherwise they are called `1`, `2`, and so on.
    pub header: bool,
    /// What stands between two fields.
    pub separator: Separator,
    /// Which of the rows are kept that `keep` leaves.
    pub thinning: Thinning,
}

/// A schedule of packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketSchedule {
    /// Times since the first row of the file, in order, and sizes.
    pub packets: Vec<(Nanos, Bytes)>,
    /// The rows of the file, those that are not kept included.
    pub rows: u64,
    /// The time of its last row.
    pub span: Nanos,
}

/// What a schedule may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketBounds {
    /// The most packets.
    pub packets: usize,
    /// The largest size.
    pub size: Bytes,
}

impl PacketSchedule {
    /// Reads a schedule; `name` names it in errors.
    ///
    /// # Errors
    /// The first row that is refused, with its place.
    pub fn read(
        source: impl Read,
        name: &str,
        format: &PacketFormat,
        bounds: PacketBounds,
    ) -> Result<Self, Refused> {
        let mut rows = Rows::new(unpacked(source, name)?, format.separator.byte(), name);
        let (mut schedule, mut first) = (Self::default(), None);
        let mut decisions = format.thinning.decisions();
        let mut columns = None;
        while let Some((row, line)) = rows.next()? {
            let place = Place { file: name, line };
            if columns.is_none() {
                columns = Some(Columns::of(row, format, place)?);
                if format.header {
                    continue;
                }
            }
            if let Some(columns) = &columns {
                let entry = Entry { columns, row, place };
                let first = *first.get_or_insert(entry.time(format.time_unit)?);
                schedule.add(&entry, format, first, bounds, decisions.next())?;
            }
        }
        if schedule.packets.is_empty() {
            if let Some(refused) = decisions.refuse_empty(name, schedule.rows as usize) {
                return Err(refused);
            }
            let remedy =
                "name rows that exist, or give at least one packet, below the header if there is one";
            return Err(Refused::of_file(name, "has no packets that are kept", remedy));
        }
        Ok(schedule)
    }

    fn add(
        &mut self,
        entry: &Entry<'_>,
        format: &PacketFormat,
        first: u128,
        bounds: PacketBounds,
        is_chosen: bool,
    ) -> Result<(), Refused> {
        let since = entry.time(format.time_unit)?.checked_sub(first);
        let Some(since) = since.filter(|since| *since >= u128::from(self.span.get())) else {
            let reason = "is before the time of the row above".to_owned();
            return Err(entry.refuse(&entry.columns.time, reason, "sort the rows by time"));
        };
        if since > MAX_SPAN {
            let reason = format!("is more than {MAX_SPAN} ns after the first");
            return Err(entry.refuse(&entry.columns.time, reason, "check the unit of the times"));
        }
        (self.span, self.rows) = (Nanos::new(since as u64), self.rows + 1);
        if !entry.is_kept(&format.keep) {
            return Ok(());
        }
        if self.packets.len() == bounds.packets {
            let reason = format!("has more than {} packets", bounds.packets);
            return Err(entry.refuse_whole(reason, "cut it into several"));
        }
        let size = entry.size(bounds.size)?;
        if is_chosen {
            self.packets.push((self.span, size));
        }
        Ok(())
    }
}

/// Which column holds what.
struct Columns {
    count: usize,
    time: Column,
    size: Column,
    keep: Vec<Column>,
}

impl Columns {
    fn of(first: &Row, format: &PacketFormat, place: Place<'_>) -> Result<Self, Refused> {
        let numbers: Vec<String> = (1..=first.len()).map(|number| number.to_string()).collect();
        let names = match format.header {
            true => (0..first.len()).map(|at| first.field(at)).collect(),
            false => numbers.iter().map(String::as_str).collect(),
        };
        let header = Header { names, file: place.file, line: place.line };
        Ok(Self {
            count: first.len(),
            time: header.required(format.time.as_deref().unwrap_or("time"))?,
            size: header.required(format.size.as_deref().unwrap_or("size"))?,
            keep: format.keep.iter().map(|(name, _)| header.required(name)).collect::<Result<_, _>>()?,
        })
    }
}

/// A line of a file.
#[derive(Clone, Copy)]
struct Place<'p> {
    file: &'p str,
    line: usize,
}

/// A row, read by its columns.
struct Entry<'r> {
    columns: &'r Columns,
    row: &'r Row,
    place: Place<'r>,
}

impl Entry<'_> {
    fn refuse_whole(&self, reason: String, remedy: &str) -> Refused {
        Refused::of_file(self.place.file, reason, remedy).at(self.place.line, 1)
    }

    fn refuse(&self, column: &Column, reason: String, remedy: &str) -> Refused {
        let value = match self.row.field(column.place) {
            "" => "empty",
            field => field,
        };
        let refusal = Refused::of_file(self.place.file, reason, remedy);
        refusal.at(self.place.line, column.place + 1).key(&column.name).value(value)
    }

    fn time(&self, unit: TimeUnit) -> Result<u128, Refused> {
        let (count, must) = (self.row.len(), self.columns.count);
        if count != must {
            let reason = format!("the row has {count} fields, must have {must} like the first");
            return Err(self.refuse_whole(reason, "complete the row; the file may have been cut off here"));
        }
        let column = &self.columns.time;
        unit.parse(self.row.field(column.place)).ok_or_else(|| {
            let reason = format!("must be {}", unit.expected());
            self.refuse(column, reason, "correct the row, or the `time_unit` of the scenario")
        })
    }

    fn is_kept(&self, keep: &[(String, String)]) -> bool {
        let mut fields = self.columns.keep.iter().map(|column| self.row.field(column.place));
        keep.iter().all(|(_, value)| fields.next() == Some(value))
    }

    fn size(&self, largest: Bytes) -> Result<Bytes, Refused> {
        let column = &self.columns.size;
        let size = self.row.field(column.place).parse::<u64>().ok();
        size.filter(|size| (1..=largest.get()).contains(size)).map(Bytes::new).ok_or_else(|| {
            let reason = format!("must be a whole number of bytes from 1 to {}", largest.get());
            self.refuse(column, reason, "correct or remove the row")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# a conversation\nt,len,dir\n5,60,f\n7,1500,r\n7,40,f\n19,1500,r\n";
    const BOUNDS: PacketBounds = PacketBounds { packets: 10, size: Bytes::new(1500) };

    fn format(keep: &[(&str, &str)]) -> PacketFormat {
        PacketFormat {
            time: Some("t".to_owned()),
            size: Some("len".to_owned()),
            keep: keep.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            time_unit: TimeUnit::Ns,
            header: true,
            separator: Separator::Comma,
            thinning: Thinning::NONE,
        }
    }

    fn read(text: &str, keep: &[(&str, &str)]) -> Result<PacketSchedule, String> {
        let read = PacketSchedule::read(text.as_bytes(), "f.csv", &format(keep), BOUNDS);
        read.map_err(|error| error.to_string())
    }

    fn packets(schedule: &PacketSchedule) -> Vec<(u64, u64)> {
        schedule.packets.iter().map(|(at, size)| (at.get(), size.get())).collect()
    }

    #[test]
    fn directions_of_one_file_stay_in_step() {
        let all = read(FILE, &[]).expect("valid");
        assert_eq!(packets(&all), [(0, 60), (2, 1500), (2, 40), (14, 1500)]);
        assert_eq!((all.rows, all.span.get()), (4, 14));
        let back = read(FILE, &[("dir", "r")]).expect("valid");
        assert_eq!(packets(&back), [(2, 1500), (14, 1500)]);
        assert_eq!((back.rows, back.span), (all.rows, all.span));
        assert_eq!(packets(&read(FILE, &[("dir", "r"), ("t", "7")]).expect("valid")), [(2, 1500)]);
    }

    #[test]
    fn columns_without_a_header_are_numbered() {
        let format = PacketFormat {
            time: Some("1".to_owned()),
            size: Some("2".to_owned()),
            header: false,
            ..format(&[("3", "f")])
        };
        let schedule = PacketSchedule::read(&b"5,60,f\n6,60,r\n9,61,f\n"[..], "f.csv", &format, BOUNDS);
        assert_eq!(packets(&schedule.expect("valid")), [(0, 60), (4, 61)]);
    }

    #[test]
    fn refusals_name_the_place() {
        for (text, keep, expected) in [
            ("", None, "f.csv: has no packets that are kept: "),
            (FILE, Some(("dir", "x")), "f.csv: has no packets that are kept: "),
            (FILE, Some(("dri", "f")), "f.csv:2:1: dri is not a column of the file: did you mean `dir`?"),
            ("t,len\n5,60\n4,60\n", None, "f.csv:3:1: t 4 is before the time of the row above: "),
            ("t,len\n5,60\n6\n", None, "f.csv:3:1: the row has 1 fields, must have 2 like the first: "),
            ("t,len\n5,0\n", None, "f.csv:2:2: len is 0, must be a whole number of bytes from 1 to 1500: "),
            ("t,len\n5,1501\n", None, "f.csv:2:2: len is 1501, must be"),
            ("t,len\nx,60\n", None, "f.csv:2:1: t is x, must be a number of nanoseconds from 0 up: "),
            ("t,len\n0,1\n9223372036854775809,1\n", None, "f.csv:3:1: t 9223372036854775809 is more than"),
        ] {
            let keep: Vec<(&str, &str)> = keep.into_iter().collect();
            let error = read(text, &keep).expect_err(text);
            assert!(error.starts_with(expected), "{error}");
        }
        let many = format!("t,len\n{}", "1,1\n".repeat(11));
        assert!(read(&many, &[]).expect_err("too many").contains("f.csv:12:1: has more than 10 packets"));
    }
}
