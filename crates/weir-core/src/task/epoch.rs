//! Epoch scheduling: each process is promised a need in every epoch; what is left is given away.
//!
//! A process is assigned to the normal queue of its priority (levels 3 to 0) or to the low one (levels -1 to -4), all
//! of which are below all normal ones. It runs on the normal queue out of its need, then out of time that is promised
//! to nobody (*uncommitted*), as long as there is some; then it goes to the low queue, where it runs in time that
//! others were promised and do not claim (*windfall*). At the end of an epoch everybody is normal again, and nothing is
//! kept.
//!
//! The *critical scheduling period* begins at `csp`: from then on all the time that is left in the epoch is owed. With
//! `rem`, what is still owed to a process, and `u`, the part of its slice that was allocated out of uncommitted time
//! and is not yet used, one invariant holds after every transition:
//!
//! ```text
//! csp + sum(rem + u) = end of the epoch
//! ```
//!
//! so that `csp - now` is the uncommitted time that is free. The promise: a process that is ready throughout an epoch
//! runs at least its need in it, provided all needs together, and overheads, are no longer than the epoch. A rest of
//! need below `min_slice` is too small to be useful, and may go unserved; with `min_slice=1ns` nothing does.
//!
//! Where the report is silent or loose. A slice that is left over at the end of an epoch is void, and a process that
//! runs then is treated as preempted. Who wakes at the instant at which an epoch ends is posted before it ends, and joins
//! the queue that it is assigned to until then. Members of low queues return behind those that are normal already. Of a slice
//! that is given back only the uncommitted part goes back to `csp`; the rest was owed anyway. More may be promised than
//! there is (`admit`): then `csp` lies before `now` from the start, nobody is demoted before its need is met, and time
//! goes by priority, then in turn by slice. A need that changes does so at the next epoch; on exit what is still owed
//! goes back.
//!
//! Departures, for comparison. With `allocate=at_dispatch` a process that waits gives its uncommitted time back, so
//! that it cannot use it late in the epoch and block others whose needs are not met. With `leftover=keep` slices
//! outlast the epoch, and the promise does not hold; with `returning=ahead` members of low queues return in front.
//!
//! | | |
//! |-|-|
//! | Source | R. D. Rettberg, *Development of a Voice Funnel System, Quarterly Technical Report No. 18*, BBN Report 5285, 1983, sections 2 and 3 |
//! | Work per decision | O(1), except that each process may go to its low queue once in an epoch; the turn of an epoch O(1), since what is per process is renewed when it is next used |
//! | Units | time: nanoseconds |
//! | Memory | one entry per process up to the highest number seen |
//! | Departs from the source | as above |

mod admission;
mod config;
mod process;
mod transitions;

use super::processes::{NOBODY, Processes, Queue};
use super::{DeclarationError, Declared, Overcommitted, TaskDiscipline, Used, Violation};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use crate::info::Arguments;
use crate::item::{FlowId, Item};
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

pub use config::INFO;
use config::{Allocate, Config};
use process::Process;

/// Levels are kept from 0 (low queue of priority 0) to 7 (normal queue of priority 3).
const LEVELS: usize = 8;
/// The lowest of the normal levels.
const NORMAL: u8 = 4;

/// Serves processes by need, slice and level.
pub struct Epoch<I: Item> {
    config: Config,
    processes: Processes<I, Process>,
    /// By level, the members that are ready.
    queues: [Queue; LEVELS],
    /// A bit for each level, set where its queue is not empty.
    occupied: u8,
    /// Which epoch it is, of those that began: of several in which nobody was ready, only the last does.
    epoch: u64,
    /// Whether the first epoch has begun, as it does when anybody is ready.
    started: bool,
    epoch_end: i64,
    /// When the critical scheduling period begins.
    csp: i64,
    /// All needs of the next epoch.
    committed: i64,
    /// The process of the open grant, and its level.
    running: u32,
    running_level: u8,
}

fn signed(span: Nanos) -> i64 {
    i64::try_from(span.get()).unwrap_or(i64::MAX)
}

fn moment(now: Instant) -> i64 {
    i64::try_from(now.get()).unwrap_or(i64::MAX)
}

fn unsigned(span: i64) -> Nanos {
    Nanos::new(u64::try_from(span).unwrap_or(0))
}

impl<I: Item<Cost = Nanos>> Epoch<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let config = Config::from_spec(arguments)?;
        Ok(Self {
            config,
            processes: Processes::new(),
            queues: [Queue::EMPTY; LEVELS],
            occupied: 0,
            epoch: 0,
            started: false,
            epoch_end: config.length,
            csp: config.length,
            committed: 0,
            running: NOBODY,
            running_level: 0,
        })
    }

    /// Whether this is the process of the open grant.
    #[inline]
    fn runs(&self, process: FlowId) -> bool {
        process.0 == self.running && self.running != NOBODY
    }
}

impl<I: Item<Cost = Nanos>> Discipline<I> for Epoch<I> {
    /// A process that wakes joins the tail of the queue that it is assigned to.
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let process = item.flow().0;
        let (slice, running) = (self.config.slice, Some(self.running).filter(|&running| running != NOBODY));
        if !self.processes.accept(item, running, || Process::stranger(slice), drops) {
            return Enqueued::Queued;
        }
        self.turn_if_idle(moment(now));
        let level = self.join_tail(process);
        let outranks = running.is_some() && level > self.running_level;
        if outranks { Enqueued::Preempts } else { Enqueued::Queued }
    }

    /// The first process of the highest level. Its slice is allocated now if the last one was of another epoch; with it
    /// may go a change of its queue, at whose tail it then stands.
    #[inline]
    fn dequeue(&mut self, now: Instant, _gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        if self.occupied == 0 && !self.started {
            return None;
        }
        self.turn(moment(now));
        loop {
            let (process, level) = self.pop()?;
            let epoch = self.epoch;
            if self.renewed(process).allocated != epoch {
                self.allocate(process, moment(now));
                if self.level_of(process) != level {
                    self.join_tail(process);
                    continue;
                }
            }
            (self.running, self.running_level) = (process, level);
            let quantum = unsigned(self.processes.state(process).teocs);
            return self.processes.take(process).map(|item| Grant { item, quantum });
        }
    }

    #[inline]
    fn charge(&mut self, _now: Instant, item: &I, used: Nanos) {
        if self.runs(item.flow()) {
            self.account(self.running, used);
        }
    }

    /// Who was preempted keeps its slice, at the head; whose slice is over joins the tail, with the next one.
    #[inline]
    fn requeue(&mut self, now: Instant, item: I, used: Nanos, drops: &mut dyn Drops<I>) {
        if !self.runs(item.flow()) {
            // Nothing that is open: it is ready, that is all.
            let _ = self.enqueue(now, item, drops);
            return;
        }
        let process = core::mem::replace(&mut self.running, NOBODY);
        let keeps = self.account(process, used);
        let now = moment(now);
        if now < self.epoch_end {
            if !keeps {
                self.allocate(process, now);
            }
        } else {
            if !keeps {
                self.release(process);
            }
            self.turn(now);
        }
        if !self.processes.keep(item, drops) {
            return;
        }
        if keeps {
            self.join_head(process);
        } else {
            self.join_tail(process);
        }
    }

    /// The process waits: what it gets when it wakes, and in which queue, is settled now.
    #[inline]
    fn finish(&mut self, now: Instant, item: &I, used: Nanos) {
        if !self.runs(item.flow()) {
            return;
        }
        let process = core::mem::replace(&mut self.running, NOBODY);
        self.account(process, used);
        let now = moment(now);
        if now < self.epoch_end && self.config.allocate == Allocate::AtWait {
            self.allocate(process, now);
        } else {
            self.release(process);
            self.turn_if_idle(now);
        }
    }

    /// The end of the epoch, while anybody is ready or runs; of a time at the end of the clock there is none.
    #[inline]
    fn next_event(&self) -> Option<Instant> {
        let busy = self.occupied != 0 || self.running != NOBODY;
        (busy && self.epoch_end != i64::MAX).then(|| Instant::new(self.epoch_end.unsigned_abs()))
    }

    #[inline]
    fn backlog(&self) -> Backlog<Nanos> {
        self.processes.backlog()
    }
}

impl<I: Item<Cost = Nanos>> TaskDiscipline<I> for Epoch<I> {
    fn declare(
        &mut self,
        now: Instant,
        process: FlowId,
        declared: Declared,
    ) -> Result<Option<Overcommitted>, DeclarationError> {
        self.admit(now, process, &declared)
    }

    /// What it is still owed goes back: nobody else's time is used up by it.
    fn exit(&mut self, now: Instant, process: FlowId) {
        self.leave(now, process);
    }

    fn used(&self, process: FlowId) -> Option<Used> {
        self.processes.get(process.0).map(|state| state.used)
    }

    /// As of the epoch that began last.
    fn level(&self, process: FlowId) -> Option<i8> {
        let state = self.processes.get(process.0)?;
        let is_low = state.low && state.renewed == self.epoch;
        let level = if is_low { state.priority } else { state.priority + NORMAL };
        Some(level as i8 - NORMAL as i8)
    }

    /// Of the epoch that began last; before its start if more is promised than there is, though not before the engine
    /// began.
    fn critical(&self) -> Option<Instant> {
        self.started.then(|| Instant::new(u64::try_from(self.csp).unwrap_or(0)))
    }

    fn verify(&self) -> Result<(), Violation> {
        match self.imbalance() {
            0 => Ok(()),
            more => Err(Violation(format!(
                "csp + sum(rem + u) is {more}ns beyond the end of the epoch, which is {}",
                unsigned(self.epoch_end)
            ))),
        }
    }
}

#[cfg(test)]
mod tests;
