//! Earliest eligible virtual deadline first: shares as exact as requests allow, and short requests served soon.
//!
//! Each process asks for a slice at a time. Its *virtual time* advances by its service divided by its share; its
//! request begins where that stands and is due (its *virtual deadline*) a slice divided by its share later. The virtual
//! time of all, `V`, is the mean of those who are ready, weighted by their shares: where each would stand had it been
//! served exactly its share. What a process is behind it, in service, is its *lag*. Who lags, or has exactly its share,
//! is *eligible*; of those the one with the earliest deadline runs, until its request is over or somebody wakes who is
//! eligible and due earlier. Who waits keeps its lag (`lag=keep`), so that it can neither shed what it had too much of
//! nor loses what it is owed, or comes back with none (`lag=zero`).
//!
//! While the same processes are ready, or they come and go without a lag, each one's lag stays between plus and minus
//! the largest slice.
//!
//! Those who are not eligible yet are ordered by virtual time, the others by deadline. `V` goes back when somebody
//! leaves who was ahead, or comes who is behind; then some of the others are no longer eligible, which is noticed when
//! they come first.
//!
//! | | |
//! |-|-|
//! | Source | Stoica and Abdel-Wahab, *Earliest eligible virtual deadline first: a flexible and accurate mechanism for proportional share resource allocation*, Technical Report 95-22, Old Dominion University, 1995; the fair class of Linux since 6.6 |
//! | Work per decision | O(log n) for n ready processes, amortised |
//! | Units | time: nanoseconds; virtual time: nanoseconds per share, in 2^-28ths, whose remainders are kept, so that `V` is exact |
//! | Memory | one entry per process up to the highest number seen, at most one of 16 bytes in each of two heaps |
//! | Departs from the source | the lag that is kept is at most two slices, as in Linux; another share or slice has effect with the next request; shares above 2^32 count as that. Of Linux: one processor; it also lets who waits with a negative lag compete until that has gone, and may protect a slice from preemption |

use super::processes::Processes;
use super::terms::{self, LONGEST};
use super::virtual_time::{Pace, Rank, Virtual, plus};
use super::{DeclarationError, Declared, Overcommitted, TaskDiscipline, Violation};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use crate::heap::Heap;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::{FlowId, Item};
use crate::spec::SpecError;
use crate::units::{Cost, Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "eevdf",
    kind: Kind::Task,
    title: "earliest eligible virtual deadline first",
    rule: "serves the process whose request is due first in virtual time, among those that have had no more \
        than their share",
    source: "Stoica and Abdel-Wahab, Earliest eligible virtual deadline first, TR 95-22, Old Dominion University, 1995",
    work: "O(log n)",
    parameters: &[
        terms::SLICE,
        Parameter::new("lag", Takes::Words(&["keep", "zero"]), "keep")
            .meaning("whether a waiting process keeps what it is owed, or has had too much"),
    ],
    example: "eevdf:20ms",
};

/// The most slices of lag that are kept.
const KEPT: Virtual = 2;

/// What is kept of a process.
#[derive(Clone, Copy, Debug)]
struct Process {
    pace: Pace,
    slice: Nanos,
    /// The share and the slice of its next request.
    next: (u64, Nanos),
    /// Its virtual time while it competes; while it waits, what it was behind that of all.
    time: Virtual,
    deadline: Virtual,
    /// What is left of its request.
    left: Nanos,
    competes: bool,
}

impl Process {
    fn of(share: u64, slice: Nanos) -> Self {
        let next = (share, slice);
        Self { pace: Pace::of(share), slice, next, time: 0, deadline: 0, left: slice, competes: false }
    }

    /// Takes the share and the slice that were declared; what it is owed stays, which is less virtual time for a larger
    /// share.
    fn modify(&mut self) {
        let before = Virtual::from(self.pace.share());
        (self.pace, self.slice) = (Pace::of(self.next.0), self.next.1);
        self.time = plus(self.time.saturating_mul(before) / Virtual::from(self.pace.share()), 0);
    }

    fn is_modified(&self) -> bool {
        self.next != (self.pace.share(), self.slice)
    }

    /// Its next request begins here.
    #[inline]
    fn request(&mut self) {
        self.left = self.slice;
        self.deadline = plus(self.time, self.pace.span(self.slice));
    }
}

/// The virtual time of all who compete: the mean of theirs, weighted by their shares. It is `time` and a fraction, of
/// which `excess` is the numerator and `shares` the denominator.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    time: Virtual,
    excess: i128,
    shares: u64,
}

impl Mean {
    /// Somebody of this share moves, comes or goes, with which the numerator changes by `share` times `span`.
    #[inline]
    fn shift(&mut self, share: u64, span: Virtual) {
        self.excess = self.excess.saturating_add(span.saturating_mul(i128::from(share)));
        let shares = i128::from(self.shares);
        if shares == 0 {
            self.excess = 0;
        } else if !(0..shares).contains(&self.excess) {
            self.time = plus(self.time, self.excess.div_euclid(shares));
            self.excess = self.excess.rem_euclid(shares);
        }
    }

    #[inline]
    fn join(&mut self, share: u64, time: Virtual) {
        self.shares += share;
        self.shift(share, time - self.time);
    }

    #[inline]
    fn leave(&mut self, share: u64, time: Virtual) {
        self.shares -= share;
        self.shift(share, self.time - time);
    }

    /// How far behind one of this share must join to be so far behind once it has.
    #[inline]
    fn behind(&self, share: u64, lag: Virtual) -> Virtual {
        let shares = Virtual::from(self.shares);
        if shares == 0 { 0 } else { lag.saturating_mul(shares + Virtual::from(share)) / shares }
    }
}

/// Serves, of those who have had no more than their share, the one that is due first.
pub struct Eevdf<I: Item> {
    slice: Nanos,
    keeps_lag: bool,
    processes: Processes<I, Process>,
    mean: Mean,
    /// By virtual time, those of whom it is not known that they are eligible.
    later: Heap<Rank, ()>,
    /// By deadline, those who have been eligible.
    eligible: Heap<Rank, ()>,
    /// The process of the open grant.
    running: Option<u32>,
}

impl<I: Item<Cost = Nanos>> Eevdf<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Ok(Self {
            slice: arguments.span(terms::SLICE.name)?,
            keeps_lag: arguments.choice("lag", [true, false])?,
            processes: Processes::new(),
            mean: Mean::default(),
            later: Heap::new(),
            eligible: Heap::new(),
            running: None,
        })
    }

    /// A process of which nothing is known.
    fn stranger(slice: Nanos) -> Process {
        Process::of(Declared::default().share(), slice)
    }

    /// The process competes from now on, with the lag that it has kept and a request of its own.
    #[inline]
    fn join(&mut self, process: u32) {
        let state = self.processes.state_mut(process);
        if state.is_modified() {
            state.modify();
        }
        let lag = if self.keeps_lag { state.time } else { 0 };
        let share = state.pace.share();
        state.time = plus(self.mean.time, -self.mean.behind(share, lag));
        state.competes = true;
        state.request();
        self.mean.join(share, state.time);
    }

    /// The process no longer competes; it keeps its lag.
    #[inline]
    fn leave(&mut self, process: u32) {
        let state = self.processes.state_mut(process);
        let time = state.time;
        let most = KEPT * state.pace.span(state.slice);
        state.time = (self.mean.time - time).clamp(-most, most);
        state.competes = false;
        self.mean.leave(state.pace.share(), time);
    }

    /// Charges the process of the open grant, if it is this one.
    #[inline]
    fn account(&mut self, process: u32, used: Nanos) {
        if self.running == Some(process) {
            let state = self.processes.state_mut(process);
            let span = state.pace.pass(used);
            state.time = plus(state.time, span);
            state.left = state.left.minus(used);
            self.mean.shift(state.pace.share(), span);
        }
    }

    #[inline]
    fn is_eligible(&self, process: u32) -> bool {
        // A time is whole: it is no later than the mean if it is no later than its whole part.
        self.processes.state(process).time <= self.mean.time
    }

    #[inline]
    fn push(&mut self, process: u32) {
        let state = self.processes.state(process);
        if state.time <= self.mean.time {
            self.eligible.push(Rank::new(state.deadline, process), ());
        } else {
            self.later.push(Rank::new(state.time, process), ());
        }
    }

    /// Takes the one that is due first of those who are eligible.
    #[inline]
    fn pop(&mut self) -> Option<u32> {
        while let Some((rank, ())) = self.later.peek()
            && rank.moment() <= self.mean.time
        {
            self.later.pop();
            self.push(rank.process());
        }
        while let Some((rank, ())) = self.eligible.pop() {
            if self.is_eligible(rank.process()) {
                return Some(rank.process());
            }
            self.push(rank.process());
        }
        // Somebody always has had no more than the mean, as long as sums are within their bounds.
        self.later.pop().map(|(rank, ())| rank.process())
    }
}

impl<I: Item<Cost = Nanos>> Discipline<I> for Eevdf<I> {
    /// Who is eligible and due before the one who runs preempts it.
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let (process, slice) = (item.flow().0, self.slice);
        if !self.processes.accept(item, self.running, || Self::stranger(slice), drops) {
            return Enqueued::Queued;
        }
        self.join(process);
        self.push(process);
        let due = |process| self.processes.state(process).deadline;
        let is_due_before = |running| self.is_eligible(process) && due(process) < due(running);
        let outranks = self.running.is_some_and(is_due_before);
        if outranks { Enqueued::Preempts } else { Enqueued::Queued }
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, _gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        if let Some(abandoned) = self.running.take() {
            self.leave(abandoned);
        }
        let process = self.pop()?;
        self.running = Some(process);
        let quantum = self.processes.state(process).left;
        self.processes.take(process).map(|item| Grant { item, quantum })
    }

    #[inline]
    fn charge(&mut self, _now: Instant, item: &I, used: Nanos) {
        self.account(item.flow().0, used);
    }

    /// Whose request is over asks for the next; who was preempted keeps the rest.
    #[inline]
    fn requeue(&mut self, now: Instant, item: I, used: Nanos, drops: &mut dyn Drops<I>) {
        let process = item.flow().0;
        if self.running != Some(process) {
            // Nothing that is open: it is ready, that is all.
            let _ = self.enqueue(now, item, drops);
            return;
        }
        self.account(process, used);
        self.running = None;
        if !self.processes.keep(item, drops) {
            return;
        }
        let state = self.processes.state_mut(process);
        match (state.left == Nanos::ZERO, state.is_modified()) {
            (true, true) => {
                self.leave(process);
                self.join(process);
            }
            (true, false) => state.request(),
            (false, _) => {}
        }
        self.push(process);
    }

    #[inline]
    fn finish(&mut self, _now: Instant, item: &I, used: Nanos) {
        let process = item.flow().0;
        if self.running == Some(process) {
            self.account(process, used);
            self.running = None;
            self.leave(process);
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog<Nanos> {
        self.processes.backlog()
    }
}

impl<I: Item<Cost = Nanos>> TaskDiscipline<I> for Eevdf<I> {
    fn declare(
        &mut self,
        _now: Instant,
        process: FlowId,
        declared: Declared,
    ) -> Result<Option<Overcommitted>, DeclarationError> {
        terms::check(process, &declared, None)?;
        let default = self.slice;
        self.processes.admit(process, || Self::stranger(default));
        let share = Pace::of(declared.share()).share();
        self.processes.state_mut(process.0).next = (share, declared.slice.unwrap_or(default).min(LONGEST));
        Ok(None)
    }

    fn exit(&mut self, _now: Instant, process: FlowId) {
        if self.processes.get(process.0).is_some_and(|state| !state.competes) {
            *self.processes.state_mut(process.0) = Self::stranger(self.slice);
        }
    }

    /// The lags of all who compete cancel out.
    fn verify(&self) -> Result<(), Violation> {
        let competing = || self.processes.states().filter(|state| state.competes);
        let share = |state: &Process| i128::from(state.pace.share());
        let ahead: i128 = competing().map(|state| share(state) * (state.time - self.mean.time)).sum();
        let shares: i128 = competing().map(share).sum();
        let Mean { time, excess, shares: counted } = self.mean;
        match (ahead, shares) == (excess, counted.into()) {
            true => Ok(()),
            false => Err(Violation(format!(
                "the mean is {time} and {excess}/{counted}; the processes make it {time} and {ahead}/{shares}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests;
