//! A process, where it stands, and who pays for what it did.

use crate::engine::clock::Clock;
use crate::engine::code::Programs;
use crate::engine::objects::Posted;
use crate::engine::world::{NEVER, NOBODY, at};
use crate::model::NodeScenario;
use weir_core::units::Instant;

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Waits for the processor.
    Ready,
    Runs,
    /// Waits for events; which, its step says.
    WaitsForEvent,
    /// Waits at a queue.
    WaitsForData(u32),
    /// The timer demon will wake it.
    Sleeps,
    Ended,
}

/// A process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) step: u32,
    pub(super) node: u32,
    pub(super) state: State,
    /// The cost of the step was used already: it takes effect now.
    pub(super) paid: bool,
    /// It has not run since it became ready.
    fresh: bool,
    /// It has computed, posted or taken data since it became ready: an instant of a grid that is due is no longer what it
    /// became ready for.
    pub(super) acted: bool,
    pub(super) system: bool,
    /// The rest of what it computes.
    pub(super) left: u64,
    /// Overheads that count in its next slice.
    pub(super) carried: u64,
    /// When its response began: when it became ready, or the run of its replay was due.
    pub(super) woke: u64,
    /// When the response that it next starts began, if it is late for it: it only waits to move, or an interrupt held up
    /// its start; else never.
    pub(super) owed: u64,
    /// The last epoch in which it was not ready throughout.
    unready: u64,
    pub(super) posted: Posted,
    /// The node that it moves to when it waits.
    pub(super) moves_to: u32,
    /// What it was charged for since nodes were last compared.
    pub(super) recent: u64,
}

impl Process {
    pub(super) fn new(scenario: &NodeScenario, programs: &Programs, number: usize) -> Self {
        let process = &scenario.processes[number];
        Self {
            step: programs.entries[number],
            node: process.node as u32,
            state: State::Sleeps,
            paid: false,
            fresh: false,
            acted: false,
            system: process.system,
            left: 0,
            carried: 0,
            woke: 0,
            owed: process.starts.get(),
            unready: NEVER,
            posted: Posted::NONE,
            moves_to: NOBODY,
            recent: 0,
        }
    }

    /// Whether it is ready, or runs.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready | State::Runs)
    }

    /// Whether it has been ready, or run, since the epoch began.
    pub(super) fn is_always_ready(&self, epoch: u64) -> bool {
        self.is_ready() && self.unready != epoch
    }

    #[inline]
    pub(super) fn is_to_move(&self) -> bool {
        self.moves_to != NOBODY
    }

    /// Becomes ready.
    #[inline]
    pub(super) fn wakes(&mut self, clock: &Clock, now: u64) {
        (self.state, self.woke, self.fresh, self.acted) = (State::Ready, now, true, false);
        if now > clock.epoch_start {
            self.unready = clock.epoch;
        }
    }

    /// Runs no more, for the reason that `state` is.
    #[inline]
    pub(super) fn waits(&mut self, clock: &Clock, state: State) {
        self.state = state;
        self.unready = clock.epoch;
    }

    /// Has the processor from now on; when it became ready, if it has not run since.
    #[inline]
    pub(super) fn starts(&mut self) -> Option<Instant> {
        let woke = std::mem::take(&mut self.fresh).then(|| at(self.woke));
        self.woke = self.woke.min(std::mem::replace(&mut self.owed, NEVER));
        self.state = State::Runs;
        woke
    }
}
