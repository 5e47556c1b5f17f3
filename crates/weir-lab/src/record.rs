//! Records: one row for each item served, where a run is asked for them.
//!
//! A message of the port is a [`Departure`]. What other models record is a table, [`Rows`], whose columns say their units.

use weir_core::units::{Instant, Nanos};

/// A message whose last unit of service has been accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// Its number in order of arrival, from 0.
    pub index: u64,
    /// The application it belongs to.
    pub flow: u32,
    /// Its class.
    pub class: u16,
    /// Its length at arrival, in the scenario's unit of length.
    pub length: u32,
    /// Instant of arrival.
    pub arrival: Instant,
    /// Instant at which its first unit was accepted.
    pub first: Instant,
    /// Instant at which its last unit was accepted; served whole, at which its service ended.
    pub last: Instant,
    /// Instant at which its service ended; where service times are drawn, `last` and one mean service.
    pub completion: Instant,
    /// The time its service takes, or is expected to take, on a server of its own.
    pub alone: Nanos,
    /// Ticks before its last one: packets (or messages, served whole) accepted before.
    pub tick: u64,
}

/// What the input calls its applications and classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Of the applications; empty where they have numbers and no names.
    pub flows: Vec<String>,
    /// Of the classes.
    pub classes: Vec<String>,
}

/// Messages that one discipline has served in one replication, in the order of departure.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The discipline.
    pub discipline: &'a str,
    /// The replication, from 0.
    pub replication: u32,
    /// What its messages' applications and classes are called.
    pub names: &'a Names,
    /// Ticks of the engine's clock in one unit of reported time.
    pub clock: f64,
    /// The messages.
    pub departures: &'a [Departure],
}

/// A count that there is none of, such as the core of a request that was never served.
pub const MISSING: u64 = u64::MAX;
/// The place of a name that there is none of.
pub const MISSING_NAME: u32 = u32::MAX;

/// What a column of a table holds.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Whole numbers; [`MISSING`] where there is none.
    Counts(&'a [u64]),
    /// Finite numbers; no number where there is none.
    Numbers(&'a [f64]),
    /// Names, each by its place in the second list; [`MISSING_NAME`] where there is none.
    Names(&'a [u32], &'a [&'a str]),
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Its name, which ends in the unit where there is one: `arrival_ns`.
    pub name: &'static str,
    /// Its values.
    pub values: Values<'a>,
}

/// Rows of one discipline in one replication; all columns are of one length.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// The discipline.
    pub discipline: &'a str,
    /// The replication, from 0.
    pub replication: u32,
    /// The columns, the same in all of a run.
    pub columns: &'a [Column<'a>],
}
