//! The first items of a run, one by one: messages, packets, requests or responses, in the order in which they go.
//!
//! The run is broken off where there are enough; what is left of its first round is passed over.
//!
//! Units: those that end the names of columns; a message of a port has its times in the unit of the results, and its length in
//! that of the scenario.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use serde_json::Value;
use weir_lab::record::{Block, Column, Departure, MISSING, MISSING_NAME, Rows as Table, Values};
use weir_sim::{Control, RecordSink, Scenario};

use crate::engine::Fault;

/// Rows, column by column.
#[derive(Serialize)]
pub(crate) struct Rows {
    columns: Vec<Named>,
}

#[derive(Serialize)]
struct Named {
    name: String,
    values: Vec<Value>,
}

/// Runs a scenario until there are so many rows, or to its end.
pub(crate) fn first_rows(scenario: &Scenario, rows: usize) -> Result<Rows, Fault> {
    let mut first = First { most: rows, rows: Rows { columns: Vec::new() } };
    let cancel = AtomicBool::new(false);
    let mut control = Control {
        threads: NonZeroUsize::MIN,
        cancel: &cancel,
        progress: &mut |_| (),
        records: Some(&mut first),
    };
    let ended = weir_sim::run(scenario, &mut control);
    if !first.is_full() {
        ended?;
    }
    Ok(first.rows)
}

/// Keeps what comes first.
struct First {
    most: usize,
    rows: Rows,
}

impl First {
    fn is_full(&self) -> bool {
        self.rows.columns.first().is_some_and(|column| column.values.len() >= self.most)
    }

    /// Adds the values of a column, as many as are wanted.
    fn add(&mut self, name: &str, values: impl Iterator<Item = Value>) {
        let place = self.rows.columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
            self.rows.columns.push(Named { name: name.to_owned(), values: Vec::new() });
            self.rows.columns.len() - 1
        });
        let column = &mut self.rows.columns[place].values;
        column.extend(values.take(self.most - column.len()));
    }

    /// Ends the run where there are enough.
    fn ended(&self) -> Result<(), String> {
        if self.is_full() { Err("there are enough".to_owned()) } else { Ok(()) }
    }
}

impl RecordSink for First {
    fn take(&mut self, block: &Block<'_>) -> Result<(), String> {
        if block.replication > 0 {
            return Ok(());
        }
        let departures = || block.departures.iter();
        let name = |names: &[String], place: usize| {
            names.get(place).map_or(Value::from(place), |name| name.as_str().into())
        };
        let time = |of: fn(&Departure) -> u64| {
            departures().map(move |row| Value::from(of(row) as f64 / block.clock))
        };
        self.add("id", departures().map(|row| row.index.into()));
        self.add("flow", departures().map(|row| name(&block.names.flows, row.flow as usize)));
        self.add("class", departures().map(|row| name(&block.names.classes, usize::from(row.class))));
        self.add("length", departures().map(|row| row.length.into()));
        self.add("arrival", time(|row| row.arrival.get()));
        self.add("start", time(|row| row.first.get()));
        self.add("end", time(|row| row.completion.get()));
        self.ended()
    }

    fn rows(&mut self, rows: &Table<'_>) -> Result<(), String> {
        for column in rows.columns {
            match column.values {
                Values::Counts(values) => self.add(column.name, values.iter().map(|&value| count(value))),
                Values::Numbers(values) => self.add(column.name, values.iter().map(|&value| value.into())),
                Values::Names(places, names) => {
                    self.add(column.name, places.iter().map(|&place| named(place, names)));
                }
            }
        }
        if rows.columns.iter().all(|column| length(column) == 0) { Ok(()) } else { self.ended() }
    }
}

fn count(value: u64) -> Value {
    if value == MISSING { Value::Null } else { value.into() }
}

fn named(place: u32, names: &[&str]) -> Value {
    if place == MISSING_NAME { Value::Null } else { names[place as usize].into() }
}

fn length(column: &Column<'_>) -> usize {
    match column.values {
        Values::Counts(values) => values.len(),
        Values::Numbers(values) => values.len(),
        Values::Names(values, _) => values.len(),
    }
}
