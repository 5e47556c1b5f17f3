//! Responses one by one: a process becomes ready, runs, and waits or ends, as rows of a table.
//!
//! | column | |
//! |---|---|
//! | `process`, `node` | who, and where it ran last |
//! | `ready_ns` | when it became ready; of a run of a replay, and of a process that sleeps until a time, when it was due |
//! | `start_ns` | when its program went on first |
//! | `end_ns` | when it waited or ended, or its next run was due |
//! | `schedulings` | how often it was started, or went on at a decision |
//! | `outcome` | `done`; `late`, later than the deadline of its process; `unfinished`, not over at the end of the run |
//!
//! Rows come in the order in which responses end, warm-up included. What has not begun has no start, what is not over no end; of
//! that `outcome` is `unfinished` whether it is late by then or not.
//!
//! Work: O(1) for each report. Memory: a block of rows, and some numbers a process.

use crate::model::NodeScenario;
use crate::record::Sink;
use weir_core::units::{Instant, Nanos};
use weir_lab::recorded::{Heading, Table, Value};

const OUTCOMES: [&str; 3] = ["done", "late", "unfinished"];

/// The columns.
#[must_use]
pub fn headings(node: &NodeScenario) -> Vec<Heading<'_>> {
    vec![
        Heading::names("process", node.processes.iter().map(|process| process.name.as_str())),
        Heading::names("node", node.nodes.iter().map(String::as_str)),
        Heading::counts("ready_ns"),
        Heading::counts("start_ns"),
        Heading::counts("end_ns"),
        Heading::counts("schedulings"),
        Heading::names("outcome", OUTCOMES),
    ]
}

/// What is known of a process in its present response.
#[derive(Clone, Copy, Debug)]
struct Present {
    node: usize,
    deadline: Option<Nanos>,
    start: Option<Instant>,
    schedulings: u64,
}

/// Fills a table with responses.
pub struct Responses<'r, 't, 's> {
    table: &'r mut Table<'t, 's>,
    processes: Vec<Present>,
}

impl<'r, 't, 's> Responses<'r, 't, 's> {
    /// No response yet.
    #[must_use]
    pub fn new(node: &NodeScenario, table: &'r mut Table<'t, 's>) -> Self {
        let present = |process: &crate::model::Process| Present {
            node: process.node,
            deadline: process.deadline,
            start: None,
            schedulings: 0,
        };
        Self { table, processes: node.processes.iter().map(present).collect() }
    }

    /// A row of the present response of a process.
    fn row(&mut self, process: usize, since: Instant, end: Option<Instant>) {
        let present = self.processes[process];
        let is_late = end.is_some_and(|end| present.deadline.is_some_and(|deadline| end - since > deadline));
        let outcome = if end.is_none() { 2 } else { u32::from(is_late) };
        self.table.push([
            Value::Name(process as u32),
            Value::Name(present.node as u32),
            Value::Count(since.get()),
            present.start.map(Instant::get).into(),
            end.map(Instant::get).into(),
            Value::Count(present.schedulings),
            Value::Name(outcome),
        ]);
    }
}

impl Sink for Responses<'_, '_, '_> {
    fn dispatched(&mut self, node: usize, process: usize, at: Instant, _woke: Option<Instant>) {
        let present = &mut self.processes[process];
        (present.node, present.start) = (node, present.start.or(Some(at)));
        present.schedulings += 1;
    }

    fn waits(&mut self, process: usize, at: Instant, since: Instant) {
        self.row(process, since, Some(at));
        let present = &mut self.processes[process];
        (present.start, present.schedulings) = (None, 0);
    }

    fn responded(&mut self, process: usize, at: Instant, since: Instant) {
        self.row(process, since, Some(at));
        // The next begins where it is, which is no scheduling.
        let present = &mut self.processes[process];
        (present.start, present.schedulings) = (Some(at), 0);
    }

    fn unfinished(&mut self, process: usize, _at: Instant, since: Instant) {
        self.row(process, since, None);
        // What is due after it has not begun.
        let present = &mut self.processes[process];
        (present.start, present.schedulings) = (None, 0);
    }
}

#[cfg(test)]
mod tests;
