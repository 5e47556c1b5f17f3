//! What the engines of the port have in common: they run to a tick, and count.

use crate::observer::Observer;
use weir_core::units::Nanos;

/// More messages than this in the queue are refused: the load is beyond what can be simulated.
pub const BACKLOG_LIMIT: usize = if cfg!(test) { 10_000 } else { 20_000_000 };

/// Why an engine returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The tick asked for was reached.
    Reached,
    /// No arrival remains and the queue is empty.
    Exhausted,
    /// The backlog reached [`BACKLOG_LIMIT`].
    Overloaded,
}

/// What flowed through an engine, in the unit in which it serves: packets, nanoseconds of work, messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// The unit.
    pub unit: &'static str,
    /// What arrived.
    pub arrived: u64,
    /// What was served.
    pub served: u64,
    /// What waits according to the discipline, the rest of an open grant included; `None` where the engine
    /// keeps no count of its own.
    pub held: Option<u64>,
}

/// Packets that wait, over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// The integral over time of their number: the sum of all waits.
    pub integral: u128,
    /// That time.
    pub time: Nanos,
}

/// The counters of an engine, for progress and for the self-checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Packets accepted, or messages served whole.
    pub ticks: u64,
    /// The time that has passed: up to the end of the last service counted in `ticks`.
    pub now: Nanos,
    /// The time the server has been busy by then.
    pub busy: Nanos,
    /// Messages that have arrived.
    pub arrived: u64,
    /// Messages that have arrived and not departed.
    pub unfinished: u64,
    /// Items that the discipline dropped.
    pub dropped: u64,
    /// What flowed in and out.
    pub flow: Flow,
    /// The integral over time of the number of messages present.
    pub message_time: u128,
    /// Packets waiting after the warm-up; nothing where the engine does not keep it.
    pub packet_time: Waiting,
    /// Instants at which the server found nothing to serve although messages were present.
    pub idle_over_backlog: u64,
}

/// A simulated port.
pub trait Engine: Send {
    /// Runs until `until` ticks in all.
    fn advance<O: Observer>(&mut self, until: u64, observer: &mut O) -> Stopped;
    /// The counters.
    fn state(&self) -> State;
}

weir_lab::encode! {
    Flow { unit, arrived, served, held }
    Waiting { integral, time }
    State {
        ticks, now, busy, arrived, unfinished, dropped, flow, message_time, packet_time, idle_over_backlog,
    }
}
