//! Wake-ups and run times: what a process was seen to do, from a CSV file.
//!
//! A header names the columns `wake` and `run`; both are in seconds, or in the unit that a name ends in: `wake_ms`,
//! `run_us`. Wake-ups count from the beginning of the simulation and are in order. Other columns are passed over.

use std::io::Read;

use super::columns::{Column, Header};
use super::rows::{Row, Rows};
use super::{Separator, TimeUnit, unpacked};
use crate::duration::Run;
use weir_core::units::Nanos;
use weir_document::Refused;

/// What a file of runs may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunBounds {
    /// The most rows.
    pub runs: usize,
    /// The latest wake-up.
    pub wake: Nanos,
    /// The longest run.
    pub run: Nanos,
}

/// Reads a file of wake-ups and run times; `name` names it in errors.
///
/// # Errors
/// The first row that is refused, with its place.
pub fn read_runs(source: impl Read, name: &str, bounds: RunBounds) -> Result<Vec<Run>, Refused> {
    let mut rows = Rows::new(unpacked(source, name)?, Separator::Comma.byte(), name);
    let (mut runs, mut columns): (Vec<Run>, Option<Columns>) = (Vec::new(), None);
    while let Some((row, line)) = rows.next()? {
        let Some(columns) = &columns else {
            columns = Some(Columns::of(row, name, line)?);
            continue;
        };
        let entry = Entry { columns, row, name, line };
        if runs.len() == bounds.runs {
            let reason = format!("comes after {} rows, the most that all files may have", bounds.runs);
            return Err(entry.refuse_whole(reason, "cut the file, or use fewer"));
        }
        let run = entry.run(bounds)?;
        if runs.last().is_some_and(|last| last.wake > run.wake) {
            let reason = "is before the wake-up of the row above".to_owned();
            return Err(entry.refuse(&columns.wake.0, reason, "sort the rows by their wake-ups"));
        }
        runs.push(run);
    }
    if runs.is_empty() {
        return Err(Refused::of_file(name, "has no runs", "give at least one, below a header `wake,run`"));
    }
    Ok(runs)
}

/// Which column holds what, in which unit.
struct Columns {
    count: usize,
    wake: (Column, TimeUnit),
    run: (Column, TimeUnit),
}

impl Columns {
    fn of(first: &Row, file: &str, line: usize) -> Result<Self, Refused> {
        let names = (0..first.len()).map(|at| first.field(at)).collect();
        let header = Header { names, file, line };
        Ok(Self { count: first.len(), wake: with_unit(&header, "wake")?, run: with_unit(&header, "run")? })
    }
}

/// The column called `name`, alone or with a unit behind it.
fn with_unit(header: &Header<'_>, name: &str) -> Result<(Column, TimeUnit), Refused> {
    let units = [("s", TimeUnit::S), ("ms", TimeUnit::Ms), ("us", TimeUnit::Us), ("ns", TimeUnit::Ns)];
    for (suffix, unit) in units {
        let full = format!("{name}_{suffix}");
        if header.names.contains(&full.as_str()) {
            return Ok((header.required(&full)?, unit));
        }
    }
    Ok((header.required(name)?, TimeUnit::S))
}

/// A row, read by its columns.
struct Entry<'r> {
    columns: &'r Columns,
    row: &'r Row,
    name: &'r str,
    line: usize,
}

impl Entry<'_> {
    fn refuse_whole(&self, reason: String, remedy: &str) -> Refused {
        Refused::of_file(self.name, reason, remedy).at(self.line, 1)
    }

    fn refuse(&self, column: &Column, reason: String, remedy: &str) -> Refused {
        let value = match self.row.field(column.place) {
            "" => "empty",
            field => field,
        };
        let refusal = Refused::of_file(self.name, reason, remedy).at(self.line, column.place + 1);
        refusal.key(&column.name).value(value)
    }

    fn run(&self, bounds: RunBounds) -> Result<Run, Refused> {
        let (count, must) = (self.row.len(), self.columns.count);
        if count != must {
            let reason = format!("the row has {count} fields, must have {must} like the first");
            return Err(self.refuse_whole(reason, "complete the row; the file may have been cut off here"));
        }
        let wake = self.time(&self.columns.wake, bounds.wake)?;
        Ok(Run { wake, run: self.time(&self.columns.run, bounds.run)? })
    }

    fn time(&self, (column, unit): &(Column, TimeUnit), longest: Nanos) -> Result<Nanos, Refused> {
        let Some(time) = unit.parse(self.row.field(column.place)) else {
            let reason = format!("must be {}", unit.expected());
            return Err(self.refuse(
                column,
                reason,
                "correct the row, or the unit in the name of the column",
            ));
        };
        let within = u64::try_from(time).ok().filter(|time| *time <= longest.get());
        within.map(Nanos::new).ok_or_else(|| {
            let reason = format!("must be at most {longest}");
            self.refuse(column, reason, "correct the row, or the unit in the name of the column")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: RunBounds =
        RunBounds { runs: 3, wake: Nanos::new(9_000_000_000), run: Nanos::new(1_000_000) };

    fn read(text: &str) -> Result<Vec<(u64, u64)>, String> {
        let runs = read_runs(text.as_bytes(), "runs.csv", BOUNDS).map_err(|error| error.to_string())?;
        Ok(runs.iter().map(|run| (run.wake.get(), run.run.get())).collect())
    }

    #[test]
    fn the_unit_stands_in_the_header() {
        assert_eq!(read("wake,run\n0,0.0005\n1.5,0\n"), Ok(vec![(0, 500_000), (1_500_000_000, 0)]));
        let text = "# seen\nrun_us,cpu,wake_ms\n552.2,0,1\n1000,1,1\n";
        assert_eq!(read(text), Ok(vec![(1_000_000, 552_200), (1_000_000, 1_000_000)]));
    }

    #[test]
    fn refusals_name_the_row() {
        for (text, expected) in [
            ("", "runs.csv: has no runs: "),
            ("wake,run\n", "runs.csv: has no runs: "),
            ("wake,rnu\n0,1\n", "runs.csv:1:1: run is not a column of the file: did you mean `rnu`?"),
            (
                "wake_ms,run_us\n2,1\n1,1\n",
                "runs.csv:3:1: wake_ms 1 is before the wake-up of the row above: ",
            ),
            ("wake,run_us\n0,1\n0\n", "runs.csv:3:1: the row has 1 fields, must have 2 like the first: "),
            (
                "wake,run_us\n0,-1\n",
                "runs.csv:2:2: run_us is -1, must be a number of microseconds from 0 up: ",
            ),
            ("wake,run_us\n0,\n", "runs.csv:2:2: run_us is empty, must be"),
            ("wake,run_us\n10,1\n", "runs.csv:2:1: wake is 10, must be at most 9s: "),
            ("wake,run\n0,1\n", "runs.csv:2:2: run is 1, must be at most 1ms: "),
            ("wake,run_us\n0,1\n1,1\n2,1\n3,1\n", "runs.csv:5:1: comes after 3 rows"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
