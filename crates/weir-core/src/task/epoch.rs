//! Epoch scheduling: each process is promised a need in every epoch; what is left is given away.
//!
//! A process is assigned to the normal queue of its priority (levels 3 to 0) or to the low one (levels -1 to -4), all of
//! which are below all normal ones. It runs on the normal queue out of its need, then out of time that is promised to
//! nobody (*uncommitted*), as long as there is some; then it goes to the low queue, where it runs in time that others
//! were promised and do not claim (*windfall*). At the end of an epoch everybody is normal again, and nothing is kept.
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
//! runs at least its need in it, provided all needs together, and overheads, are no longer than the epoch.
//!
//! Where the report is silent or loose. A slice that is left over at the end of an epoch is void, and a process that
//! runs then is treated as preempted. Members of low queues return behind those that are normal already. Of a slice
//! that is given back only the uncommitted part goes back to `csp`; the rest was owed anyway. More may be promised than
//! there is (`admit`): then `csp` lies before `now` from the start, nobody is demoted before its need is met, and time
//! goes by priority, then in turn by slice. A need that changes does so at the next epoch; on exit what is still owed
//! goes back. `allocate=at_dispatch` departs from the report: a process that waits gives its uncommitted time back, so
//! that it cannot use it late in the epoch and block others whose needs are not met.
//!
//! | | |
//! |-|-|
//! | Source | R. D. Rettberg, *Development of a Voice Funnel System, Quarterly Technical Report No. 18*, BBN Report 5285, 1983, sections 2 and 3 |
//! | Work per decision | O(1); the turn of an epoch O(1) too, since what is per process is renewed when it is next looked at |
//! | Units | time: nanoseconds |
//! | Memory | one entry per process up to the highest number seen |
//! | Departs from the source | as above |

use super::processes::{NOBODY, Processes, Queue};
use super::{DeclarationError, Declared, Overcommitted, TOP_PRIORITY, TaskDiscipline, Used, Violation};
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind, Parameter, parse_nanos};
use crate::item::{FlowId, Item};
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// The longest epoch: a day.
const LONGEST: u64 = 86_400_000_000_000;

/// What the listings say.
pub const INFO: Info = Info {
    name: "epoch",
    kind: Kind::Task,
    title: "epoch scheduling",
    rule: "promises each process a need in every epoch, gives what nobody is promised to whoever asks first, and what is promised and not claimed to whoever is left",
    source: "Rettberg, Development of a Voice Funnel System, Quarterly Technical Report No. 18, BBN Report 5285, 1983",
    work: "O(1)",
    parameters: &[
        Parameter {
            name: "length",
            values: "a span from 1us to 86400s",
            default: Some("100ms"),
            meaning: "the epoch, in which every process is promised its need",
        },
        Parameter {
            name: "slice",
            values: "a span, at least min_slice",
            default: Some("20ms"),
            meaning: "the slice of a process that declares none",
        },
        Parameter {
            name: "allocate",
            values: "at_wait or at_dispatch",
            default: Some("at_wait"),
            meaning: "whether a process that waits keeps uncommitted time allocated, as in the report",
        },
        Parameter {
            name: "admit",
            values: "warn, refuse or allow",
            default: Some("warn"),
            meaning: "what becomes of a need with which more is promised than there is",
        },
        Parameter {
            name: "min_slice",
            values: "a span from 1ns",
            default: Some("300us"),
            meaning: "less than this is too small to be useful: who could run no longer goes to its low queue",
        },
        Parameter {
            name: "preempt_left",
            values: "a span",
            default: Some("300us"),
            meaning: "who is preempted with more than this of its slice left keeps it, at the head of its queue",
        },
    ],
    example: "epoch:100ms",
};

/// Levels are kept from 0 (low queue of priority 0) to 7 (normal queue of priority 3).
const LEVELS: usize = 8;
/// The lowest of the normal levels.
const NORMAL: u8 = 4;

/// When uncommitted time is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allocate {
    AtWait,
    AtDispatch,
}

/// What becomes of a need with which more is promised than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admit {
    Warn,
    Refuse,
    Allow,
}

/// What is kept of a process. Spans are signed, since a slice can be overrun.
#[derive(Clone, Copy, Debug)]
struct Process {
    /// What it is promised from epoch `need_from` on, and before.
    need: i64,
    need_before: i64,
    need_from: u64,
    slice: i64,
    priority: u8,
    /// Whether it is assigned to its low queue.
    low: bool,
    /// The epoch that `rem`, `u` and `low` are of.
    renewed: u64,
    /// The epoch of its last allocation; a next dispatch in another one allocates.
    allocated: u64,
    /// What it is still owed in this epoch.
    rem: i64,
    /// What is left of its slice.
    teocs: i64,
    /// What of its slice was allocated out of uncommitted time and is not yet used.
    u: i64,
    used: Used,
}

/// No epoch at all.
const NEVER: u64 = u64::MAX;

/// Serves processes by need, slice and level.
pub struct Epoch<I: Item> {
    length: i64,
    slice: i64,
    min_slice: i64,
    preempt_left: i64,
    allocate: Allocate,
    admit: Admit,
    processes: Processes<I, Process>,
    /// By level, the members that are ready.
    queues: [Queue; LEVELS],
    /// A bit for each level, set where its queue is not empty.
    occupied: u8,
    /// Which epoch it is; none before the first call that serves.
    epoch: u64,
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
        let span = |name, low: u64, high: u64| {
            let expected = format!("a span from {} to {}", Nanos::new(low), Nanos::new(high));
            let within = |span: &Nanos| (low..=high).contains(&span.get());
            arguments.parsed(name, &expected, |text| parse_nanos(text).filter(within)).map(signed)
        };
        let length = span("length", 1_000, LONGEST)?;
        let min_slice = span("min_slice", 1, LONGEST)?;
        let slice = span("slice", unsigned(min_slice).get(), LONGEST)?;
        let preempt_left = span("preempt_left", 0, LONGEST)?;
        let allocate = [Allocate::AtWait, Allocate::AtDispatch]
            [arguments.choice("allocate", &["at_wait", "at_dispatch"])?];
        let admit = [Admit::Warn, Admit::Refuse, Admit::Allow]
            [arguments.choice("admit", &["warn", "refuse", "allow"])?];
        Ok(Self {
            length,
            slice,
            min_slice,
            preempt_left,
            allocate,
            admit,
            processes: Processes::new(),
            queues: [Queue::EMPTY; LEVELS],
            occupied: 0,
            epoch: 0,
            started: false,
            epoch_end: length,
            csp: length,
            committed: 0,
            running: NOBODY,
            running_level: 0,
        })
    }

    /// A process of which nothing is known.
    fn stranger(slice: i64) -> Process {
        Process {
            need: 0,
            need_before: 0,
            need_from: 0,
            slice,
            priority: Declared::default().priority,
            low: false,
            renewed: NEVER,
            allocated: NEVER,
            rem: 0,
            teocs: 0,
            u: 0,
            used: Used::default(),
        }
    }

    /// The process with what it is owed in this epoch.
    #[inline]
    fn renewed(&mut self, process: u32) -> &mut Process {
        let epoch = self.epoch;
        let state = self.processes.state_mut(process);
        if state.renewed != epoch {
            state.rem = if state.need_from <= epoch { state.need } else { state.need_before };
            (state.u, state.low, state.renewed) = (0, false, epoch);
        }
        state
    }

    /// Begins the epoch that `now` lies in, if it has not begun. The process of the open grant is charged before.
    #[inline]
    fn turn(&mut self, now: i64) {
        if now >= self.epoch_end || !self.started {
            self.begin(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, now: i64) {
        self.epoch += u64::from(self.started);
        self.started = true;
        // Of a time at the end of the clock no epoch ends later than the clock.
        self.epoch_end = (now / self.length).saturating_add(1).saturating_mul(self.length);
        self.csp = self.epoch_end.saturating_sub(self.committed);
        for priority in 0..LEVELS / 2 {
            let low = core::mem::replace(&mut self.queues[priority], Queue::EMPTY);
            self.queues[priority + usize::from(NORMAL)].append(&mut self.processes, low);
        }
        self.occupied = (self.occupied | self.occupied << NORMAL) & 0xF0;
        self.holds();
    }

    /// Charges what a process has used: its need first, then what was allocated to it. What is in excess of both is
    /// paid out of uncommitted time, that is, `csp` stays.
    #[inline]
    fn account(&mut self, process: u32, used: Nanos) {
        let used = signed(used);
        let state = self.renewed(process);
        state.teocs = state.teocs.saturating_sub(used);
        if state.low {
            state.used.windfall = plus(state.used.windfall, used);
            return;
        }
        let owed = used.min(state.rem);
        let allocated = (used - owed).min(state.u);
        state.rem -= owed;
        state.u -= allocated;
        state.used.need = plus(state.used.need, owed);
        state.used.uncommitted = plus(state.used.uncommitted, used - owed);
        self.csp = self.csp.saturating_add(owed + allocated);
        self.holds();
    }

    /// Gives a process its next slice. Whoever could run for less than is useful goes to its low queue.
    #[inline]
    fn allocate(&mut self, process: u32, now: i64) {
        let (epoch, csp, min_slice) = (self.epoch, self.csp, self.min_slice);
        let state = self.renewed(process);
        let csp = csp + state.u;
        (state.u, state.allocated, state.teocs) = (0, epoch, state.slice);
        let mut taken = 0;
        if !state.low {
            let available = state.rem.saturating_add((csp.saturating_sub(now)).max(0));
            if available < min_slice {
                state.low = true;
            } else {
                state.teocs = state.slice.min(available);
                taken = (state.teocs - state.rem).max(0);
                state.u = taken;
            }
        }
        self.csp = csp - taken;
        self.holds();
    }

    /// Gives back what a process has allocated out of uncommitted time; its next dispatch allocates.
    #[inline]
    fn release(&mut self, process: u32) {
        let state = self.processes.state_mut(process);
        let back = core::mem::take(&mut state.u);
        state.allocated = NEVER;
        self.csp += back;
        self.holds();
    }

    /// The level of the queue that a process is assigned to.
    #[inline]
    fn level_of(&mut self, process: u32) -> u8 {
        let state = self.renewed(process);
        state.priority + if state.low { 0 } else { NORMAL }
    }

    #[inline]
    fn join_tail(&mut self, process: u32) -> u8 {
        let level = self.level_of(process);
        self.queues[usize::from(level)].push_back(&mut self.processes, process);
        self.occupied |= 1 << level;
        level
    }

    #[inline]
    fn join_head(&mut self, process: u32) {
        let level = self.level_of(process);
        self.queues[usize::from(level)].push_front(&mut self.processes, process);
        self.occupied |= 1 << level;
    }

    /// Takes the first process of the highest level.
    #[inline]
    fn pop(&mut self) -> Option<(u32, u8)> {
        let level = 7u8.checked_sub(self.occupied.leading_zeros() as u8)?;
        let queue = &mut self.queues[usize::from(level)];
        let process = queue.pop_front(&self.processes)?;
        if queue.is_empty() {
            self.occupied &= !(1 << level);
        }
        Some((process, level))
    }

    /// The invariant, in builds that check.
    #[inline]
    fn holds(&self) {
        debug_assert_eq!(self.imbalance(), 0, "csp + sum(rem + u) differs from the end of the epoch");
    }

    /// What `csp + sum(rem + u)` is beyond the end of the epoch: nothing, once an epoch has begun.
    fn imbalance(&self) -> i128 {
        if !self.started {
            return 0;
        }
        let owed = |state: &Process| match state.renewed == self.epoch {
            true => i128::from(state.rem) + i128::from(state.u),
            false => i128::from(if state.need_from <= self.epoch { state.need } else { state.need_before }),
        };
        i128::from(self.csp) + self.processes.states().map(owed).sum::<i128>() - i128::from(self.epoch_end)
    }
}

#[inline]
fn plus(sum: Nanos, more: i64) -> Nanos {
    Nanos::new(sum.get().saturating_add(more.unsigned_abs()))
}

impl<I: Item<Cost = Nanos>> Discipline<I> for Epoch<I> {
    /// A process that wakes joins the tail of the queue that it is assigned to.
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let process = item.flow();
        let slice = self.slice;
        if !self.processes.admit(process, || Self::stranger(slice)) {
            drops.dropped(item, DropReason::Unclassified);
            return Enqueued::Queued;
        }
        // An open grant is given back at the end of its epoch, with which the next one begins.
        if self.running == NOBODY {
            self.turn(moment(now));
        }
        if process.0 == self.running {
            drops.dropped(item, DropReason::AlreadyReady);
            return Enqueued::Queued;
        }
        if !self.processes.keep(item, drops) {
            return Enqueued::Queued;
        }
        let level = self.join_tail(process.0);
        let outranks = self.running != NOBODY && level > self.running_level;
        if outranks { Enqueued::Preempts } else { Enqueued::Queued }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, _gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.turn(moment(now));
        loop {
            let (process, level) = self.pop()?;
            if self.processes.state(process).allocated != self.epoch {
                self.allocate(process, moment(now));
                if self.processes.state(process).low && level >= NORMAL {
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
        if item.flow().0 == self.running {
            self.account(self.running, used);
        }
    }

    /// Who was preempted keeps its slice, at the head; whose slice is over joins the tail, with the next one.
    #[inline]
    fn requeue(&mut self, now: Instant, item: I, used: Nanos, drops: &mut dyn Drops<I>) {
        let process = item.flow().0;
        if process != self.running {
            // Nothing that is open: it is ready, that is all.
            let _ = self.enqueue(now, item, drops);
            return;
        }
        self.running = NOBODY;
        self.account(process, used);
        let now = moment(now);
        let keeps = self.processes.state(process).teocs > self.preempt_left;
        if now >= self.epoch_end {
            self.turn(now);
        } else if !keeps {
            self.allocate(process, now);
        }
        if self.processes.keep(item, drops) {
            if keeps {
                self.join_head(process);
            } else {
                self.join_tail(process);
            }
        }
    }

    /// The process waits: what it gets when it wakes, and in which queue, is settled now.
    #[inline]
    fn finish(&mut self, now: Instant, item: &I, used: Nanos) {
        let process = item.flow().0;
        if process != self.running {
            return;
        }
        self.running = NOBODY;
        self.account(process, used);
        let now = moment(now);
        if now >= self.epoch_end {
            self.turn(now);
        } else if self.allocate == Allocate::AtWait {
            self.allocate(process, now);
        } else {
            self.release(process);
        }
    }

    /// The end of the epoch, while anybody is ready.
    #[inline]
    fn next_event(&self) -> Option<Instant> {
        let busy = self.occupied != 0 || self.running != NOBODY;
        (busy && self.started).then(|| Instant::new(self.epoch_end.unsigned_abs()))
    }

    #[inline]
    fn backlog(&self) -> Backlog<Nanos> {
        self.processes.backlog()
    }
}

impl<I: Item<Cost = Nanos>> TaskDiscipline<I> for Epoch<I> {
    fn declare(
        &mut self,
        _now: Instant,
        process: FlowId,
        declared: Declared,
    ) -> Result<Option<Overcommitted>, DeclarationError> {
        let slice = declared.slice.map_or(self.slice, signed);
        let need = signed(declared.need);
        let overcommitted = self.acceptable(process, &declared, slice)?;
        let default = self.slice;
        if !self.processes.admit(process, || Self::stranger(default)) {
            return Err(DeclarationError::Process(process));
        }
        let next = if self.started { self.epoch + 1 } else { self.epoch };
        let state = self.processes.state_mut(process.0);
        self.committed += need - state.need;
        if state.need_from < next {
            (state.need_before, state.need_from) = (state.need, next);
        }
        (state.need, state.slice, state.priority) = (need, slice, declared.priority);
        self.holds();
        Ok(overcommitted)
    }

    /// What it is still owed goes back: nobody else's time is used up by it.
    fn exit(&mut self, _now: Instant, process: FlowId) {
        if self.processes.get(process.0).is_none() || process.0 == self.running {
            return;
        }
        let slice = self.slice;
        let state = self.renewed(process.0);
        let (back, need) = (state.rem + state.u, state.need);
        let (epoch, used) = (state.renewed, state.used);
        *state = Process { renewed: epoch, used, ..Self::stranger(slice) };
        if self.started {
            self.csp += back;
        }
        self.committed -= need;
        self.holds();
    }

    fn used(&self, process: FlowId) -> Option<Used> {
        self.processes.get(process.0).map(|state| state.used)
    }

    fn level(&self, process: FlowId) -> Option<i8> {
        let state = self.processes.get(process.0)?;
        let is_low = state.low && state.renewed == self.epoch;
        let level = if is_low { state.priority } else { state.priority + NORMAL };
        Some(level as i8 - NORMAL as i8)
    }

    /// Before now where it has begun; of an overcommitted epoch the moment before its start is not told.
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

impl<I: Item<Cost = Nanos>> Epoch<I> {
    /// Checks a declaration; tells if more is promised with it than there is.
    fn acceptable(
        &self,
        process: FlowId,
        declared: &Declared,
        slice: i64,
    ) -> Result<Option<Overcommitted>, DeclarationError> {
        let (need, epoch) = (declared.need, unsigned(self.length));
        if declared.priority > TOP_PRIORITY {
            return Err(DeclarationError::Priority(declared.priority));
        }
        if need > epoch {
            return Err(DeclarationError::Need { need, epoch });
        }
        if slice < self.min_slice {
            return Err(DeclarationError::Slice { slice: unsigned(slice), least: unsigned(self.min_slice) });
        }
        let before = self.processes.get(process.0).map_or(0, |state| state.need);
        let committed = self.committed - before + signed(need);
        let over = Overcommitted { committed: unsigned(committed), epoch };
        match (self.admit, committed > self.length) {
            (Admit::Refuse, true) => Err(DeclarationError::Overcommitted(over)),
            (Admit::Warn, true) => Ok(Some(over)),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests;
