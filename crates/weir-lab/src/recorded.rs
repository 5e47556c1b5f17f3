//! Runs that are recorded: each job fills a table, whose rows are handed over block by block.
//!
//! Jobs run on one thread, in order, so that rows come job by job and are the same for any number of threads. A sink learns the
//! columns first, before there is a row. Rows that cannot be handed over end the run.
//!
//! Work: O(columns) a row. Memory: a block of rows, whatever the length of the run.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::control::{Control, RecordSink, Watch};
use crate::error::RunError;
use crate::gathered::Cell;
use crate::provenance::Frame;
use crate::record::{Column, MISSING, MISSING_NAME, Rows, Values};
use crate::replicated::{self, Simulated};
use crate::runner::{self, Job, Model};
use weir_core::units::Nanos;

/// The number of rows that are handed over at a time.
const BLOCK: usize = 1 << 14;

/// Where the rows of all jobs go.
type Shared<'s> = Mutex<&'s mut dyn RecordSink>;

/// What the values of a column are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind<'h> {
    /// Whole numbers.
    Counts,
    /// Numbers.
    Numbers,
    /// Some of these names.
    Names(Vec<&'h str>),
}

/// A column, before there is a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading<'h> {
    /// Its name, which ends in the unit where there is one.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind<'h>,
}

impl<'h> Heading<'h> {
    /// A column of whole numbers.
    #[must_use]
    pub fn counts(name: &'static str) -> Self {
        Self { name, kind: Kind::Counts }
    }

    /// A column of numbers.
    #[must_use]
    pub fn numbers(name: &'static str) -> Self {
        Self { name, kind: Kind::Numbers }
    }

    /// A column of names, which rows give by their places.
    #[must_use]
    pub fn names(name: &'static str, names: impl IntoIterator<Item = &'h str>) -> Self {
        Self { name, kind: Kind::Names(names.into_iter().collect()) }
    }
}

/// A value of a row; of the kind of its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Count(u64),
    /// A finite number.
    Number(f64),
    /// The place of a name.
    Name(u32),
    /// None.
    Missing,
}

impl From<Option<u64>> for Value {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Self::Missing, Self::Count)
    }
}

/// The values of a column that are not handed over yet.
#[derive(Clone, Debug)]
enum Held {
    Counts(Vec<u64>),
    Numbers(Vec<f64>),
    Names(Vec<u32>),
}

impl Held {
    fn new(heading: &Heading<'_>) -> Self {
        match heading.kind {
            Kind::Counts => Self::Counts(Vec::new()),
            Kind::Numbers => Self::Numbers(Vec::new()),
            Kind::Names(_) => Self::Names(Vec::new()),
        }
    }

    /// Adds a value; one of another kind counts as none.
    fn push(&mut self, value: Value) {
        match (self, value) {
            (Self::Counts(held), Value::Count(value)) => held.push(value),
            (Self::Numbers(held), Value::Number(value)) => held.push(value),
            (Self::Names(held), Value::Name(value)) => held.push(value),
            (Self::Counts(held), _) => held.push(MISSING),
            (Self::Numbers(held), _) => held.push(f64::NAN),
            (Self::Names(held), _) => held.push(MISSING_NAME),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Counts(held) => held.clear(),
            Self::Numbers(held) => held.clear(),
            Self::Names(held) => held.clear(),
        }
    }
}

/// The rows of one job.
pub struct Table<'t, 's> {
    sink: &'t Shared<'s>,
    discipline: &'t str,
    replication: u32,
    headings: &'t [Heading<'t>],
    held: Vec<Held>,
    rows: usize,
    /// Why rows could not be handed over, if so; the job is broken off then.
    failure: Option<String>,
    failed: &'t AtomicBool,
}

impl<'t, 's> Table<'t, 's> {
    fn new(
        sink: &'t Shared<'s>,
        (discipline, replication): (&'t str, u32),
        headings: &'t [Heading<'t>],
        failed: &'t AtomicBool,
    ) -> Self {
        let held = headings.iter().map(Held::new).collect();
        Self { sink, discipline, replication, headings, held, rows: 0, failure: None, failed }
    }

    /// Adds a row: a value a column, in their order.
    pub fn push<const N: usize>(&mut self, row: [Value; N]) {
        debug_assert_eq!(N, self.held.len(), "a value a column");
        for (held, value) in self.held.iter_mut().zip(row) {
            held.push(value);
        }
        self.rows += 1;
        if self.rows == BLOCK {
            self.hand_over();
        }
    }

    /// Hands over what is left.
    ///
    /// # Errors
    /// Rows could not be written.
    pub fn finish(mut self) -> Result<(), RunError> {
        if self.rows > 0 {
            self.hand_over();
        }
        self.failure.map_or(Ok(()), |reason| Err(RunError::Records(reason)))
    }

    fn hand_over(&mut self) {
        if self.failure.is_none() {
            let columns: Vec<Column<'_>> = self.headings.iter().zip(&self.held).map(column).collect();
            let rows = Rows { discipline: self.discipline, replication: self.replication, columns: &columns };
            self.failure = self.sink.lock().unwrap_or_else(PoisonError::into_inner).rows(&rows).err();
            self.failed.fetch_or(self.failure.is_some(), Ordering::Relaxed);
        }
        self.held.iter_mut().for_each(Held::clear);
        self.rows = 0;
    }
}

fn column<'c>((heading, held): (&'c Heading<'c>, &'c Held)) -> Column<'c> {
    let values = match (held, &heading.kind) {
        (Held::Names(places), Kind::Names(names)) => Values::Names(places, names),
        (Held::Names(places), _) => Values::Names(places, &[]),
        (Held::Counts(values), _) => Values::Counts(values),
        (Held::Numbers(values), _) => Values::Numbers(values),
    };
    Column { name: heading.name, values }
}

/// A model whose jobs can be recorded.
pub trait Recorded: Model {
    /// The columns of its table.
    fn headings(&self) -> Vec<Heading<'_>>;

    /// The discipline of a cell.
    fn discipline(&self, cell: usize) -> &str;

    /// Plays a job as [`Model::play`], and fills a table. What it leaves is the same.
    ///
    /// # Errors
    /// As [`Model::play`].
    fn play_recorded(
        &self,
        job: Job,
        table: &mut Table<'_, '_>,
        watch: &Watch<'_>,
    ) -> Result<Option<<Self::Cell as Cell>::Left>, RunError>;
}

impl<M: Recorded> Recorded for &M {
    fn headings(&self) -> Vec<Heading<'_>> {
        (**self).headings()
    }

    fn discipline(&self, cell: usize) -> &str {
        (**self).discipline(cell)
    }

    fn play_recorded(
        &self,
        job: Job,
        table: &mut Table<'_, '_>,
        watch: &Watch<'_>,
    ) -> Result<Option<<M::Cell as Cell>::Left>, RunError> {
        (**self).play_recorded(job, table, watch)
    }
}

/// Runs a scenario, as [`replicated::run`], and records it where records are asked for.
///
/// # Errors
/// As [`replicated::run`], or records cannot be written.
pub fn simulate<'m, S>(
    scenario: &'m S,
    frame: &Frame,
    control: &mut Control<'_>,
) -> Result<S::Outcome, RunError>
where
    S: Simulated,
    S::Model<'m>: Recorded,
{
    if control.records.is_none() {
        return replicated::run(scenario, frame, control);
    }
    let model = scenario.model()?;
    if let Some(statement) = scenario.statement(frame) {
        return Ok(statement);
    }
    let cells = run(&model, control)?;
    Ok(scenario.outcome(frame, &model, cells))
}

/// Runs all jobs, as [`runner::run`], and records them where records are asked for.
///
/// # Errors
/// As [`runner::run`], or records cannot be written.
pub fn run<M: Recorded>(model: &M, control: &mut Control<'_>) -> Result<Vec<M::Cell>, RunError> {
    let Some(records) = control.records.as_deref_mut() else { return runner::run(model, control) };
    let sink: Shared<'_> = Mutex::new(records);
    let headings = model.headings();
    Table::new(&sink, ("", 0), &headings, &AtomicBool::new(false)).announce()?;
    let mut alone = Control {
        threads: NonZeroUsize::MIN,
        cancel: control.cancel,
        progress: &mut *control.progress,
        records: None,
    };
    runner::run(&Recording { model, sink: &sink, headings: &headings }, &mut alone)
}

impl Table<'_, '_> {
    /// Tells the columns.
    fn announce(mut self) -> Result<(), RunError> {
        self.hand_over();
        self.finish()
    }
}

/// A model that is recorded.
struct Recording<'r, 's, M> {
    model: &'r M,
    sink: &'r Shared<'s>,
    headings: &'r [Heading<'r>],
}

impl<M: Recorded> Model for Recording<'_, '_, M> {
    type Cell = M::Cell;

    fn replications(&self) -> u32 {
        self.model.replications()
    }

    fn duration(&self) -> Nanos {
        self.model.duration()
    }

    fn cells(&self) -> Vec<M::Cell> {
        self.model.cells()
    }

    fn order(&self) -> Vec<usize> {
        self.model.order()
    }

    fn play(&self, job: Job, watch: &Watch<'_>) -> Result<Option<<M::Cell as Cell>::Left>, RunError> {
        let whose = (self.model.discipline(job.cell), job.replication);
        let mut table = Table::new(self.sink, whose, self.headings, watch.failed);
        let left = self.model.play_recorded(job, &mut table, watch)?;
        table.finish()?;
        Ok(left)
    }
}

/// For tests of models: keeps rows.
pub mod testing {
    use super::{RecordSink, Rows, Value, Values};
    use crate::record::{Block, MISSING, MISSING_NAME};

    /// A row: its discipline and replication, and the values of its columns.
    pub type Row = (String, u32, Vec<Value>);

    /// Keeps all rows.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Kept {
        /// The names of the columns.
        pub columns: Vec<&'static str>,
        /// The names that values of each column are places of.
        pub names: Vec<Vec<String>>,
        /// The rows.
        pub rows: Vec<Row>,
        /// The number of rows after which nothing can be written.
        pub most: Option<usize>,
    }

    impl Kept {
        /// The place of a column.
        ///
        /// # Panics
        /// There is none.
        #[must_use]
        pub fn place(&self, column: &str) -> usize {
            self.columns.iter().position(|name| *name == column).expect("a column")
        }

        /// A whole number of a row, if it has one.
        #[must_use]
        pub fn count(&self, row: &Row, column: &str) -> Option<u64> {
            match row.2[self.place(column)] {
                Value::Count(count) => Some(count),
                _ => None,
            }
        }

        /// A name of a row, if it has one.
        #[must_use]
        pub fn name(&self, row: &Row, column: &str) -> Option<&str> {
            let place = self.place(column);
            match row.2[place] {
                Value::Name(name) => Some(&self.names[place][name as usize]),
                _ => None,
            }
        }

        /// A number of a row, if it has one.
        #[must_use]
        pub fn number(&self, row: &Row, column: &str) -> Option<f64> {
            match row.2[self.place(column)] {
                Value::Number(number) => Some(number),
                _ => None,
            }
        }
    }

    fn values(values: &Values<'_>) -> Vec<Value> {
        match values {
            Values::Counts(values) => {
                values.iter().map(|&value| Some(value).filter(|&value| value != MISSING).into()).collect()
            }
            Values::Numbers(values) => values
                .iter()
                .map(|&value| if value.is_nan() { Value::Missing } else { Value::Number(value) })
                .collect(),
            Values::Names(places, _) => places
                .iter()
                .map(|&place| if place == MISSING_NAME { Value::Missing } else { Value::Name(place) })
                .collect(),
        }
    }

    impl RecordSink for Kept {
        fn take(&mut self, _: &Block<'_>) -> Result<(), String> {
            Err("these are no messages".to_owned())
        }

        fn rows(&mut self, rows: &Rows<'_>) -> Result<(), String> {
            self.columns = rows.columns.iter().map(|column| column.name).collect();
            let names = |values: &Values<'_>| match values {
                Values::Names(_, names) => names.iter().map(|&name| name.to_owned()).collect(),
                _ => Vec::new(),
            };
            self.names = rows.columns.iter().map(|column| names(&column.values)).collect();
            let columns: Vec<Vec<Value>> = rows.columns.iter().map(|column| values(&column.values)).collect();
            for row in 0..columns.first().map_or(0, Vec::len) {
                let values = columns.iter().map(|column| column[row]).collect();
                self.rows.push((rows.discipline.to_owned(), rows.replication, values));
            }
            match self.most {
                Some(most) if self.rows.len() > most => Err("the disk is full".to_owned()),
                _ => Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Kept;
    use super::*;

    #[test]
    fn rows_are_handed_over_in_blocks_and_in_order() {
        let (mut kept, failed) = (Kept::default(), AtomicBool::new(false));
        let sink: Shared<'_> = Mutex::new(&mut kept);
        let headings =
            [Heading::counts("id"), Heading::numbers("at_ns"), Heading::names("class", ["a", "b"])];
        Table::new(&sink, ("", 0), &headings, &failed).announce().expect("columns");
        let mut table = Table::new(&sink, ("fifo", 3), &headings, &failed);
        let all = BLOCK as u64 + 2;
        for id in 0..all {
            table.push([Value::Count(id), Value::Number(id as f64 / 6.0), Value::Name((id % 2) as u32)]);
        }
        table.push([Value::Missing, Value::Missing, Value::Missing]);
        assert_eq!(table.rows, 3);
        table.finish().expect("rows");
        assert_eq!(
            (kept.columns.as_slice(), kept.rows.len() as u64),
            (&["id", "at_ns", "class"][..], all + 1)
        );
        let (last, none) = (&kept.rows[all as usize - 1], &kept.rows[all as usize]);
        assert_eq!((kept.count(last, "id"), kept.name(last, "class")), (Some(all - 1), Some("b")));
        assert_eq!((last.0.as_str(), last.1), ("fifo", 3));
        assert_eq!(kept.number(last, "at_ns"), Some((all - 1) as f64 / 6.0));
        assert_eq!(none.2, [Value::Missing; 3]);
    }

    #[test]
    fn rows_that_cannot_be_written_break_the_job_off() {
        let (mut kept, failed) = (Kept { most: Some(1), ..Kept::default() }, AtomicBool::new(false));
        let sink: Shared<'_> = Mutex::new(&mut kept);
        let headings = [Heading::counts("id")];
        let mut table = Table::new(&sink, ("fifo", 0), &headings, &failed);
        for id in 0..=BLOCK as u64 {
            table.push([Value::Count(id)]);
        }
        assert!(failed.load(Ordering::Relaxed), "the job is broken off");
        assert_eq!(
            table.finish().expect_err("a full disk").to_string(),
            "records cannot be written: the disk is full"
        );
    }
}
