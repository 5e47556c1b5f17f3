//! Constant bandwidth servers, the earliest deadline first.
//!
//! A process with a need has a server, whose *budget* is that need in every period. Of those who are ready and have
//! budget the one with the earliest deadline runs, and its budget is used up by it. When it is, the process is
//! *throttled* until its deadline; then it has a whole budget again, and a deadline one period later. A process that
//! wakes keeps what is left of its budget with its deadline, unless it could not be used up until then without more
//! than its bandwidth (need over period): then it begins a period. So nobody can take from others more than it is
//! promised, whatever it does.
//!
//! The promise: with bandwidths of 1 together each server that stays ready runs its need in every period from its
//! wake-up on, provided there are no overheads and the engine interrupts.
//!
//! Processes without a need run in the background, in turn by slice, when no server can run. With `surplus=background`
//! throttled processes run there too. By default they do not, since Linux throttles: time is then lost that nobody else
//! wants. With `reclaim=grub` bandwidth that is promised to nobody, or whose process waits, goes to those that run:
//! their budgets are used up at the rate of the *active* bandwidth, so that they last longer. The bandwidth of a
//! process that waits is active until its *zero-lag time*, at which it has run all that it was entitled to.
//!
//! What a process gives back, because it asks for less or exits, is promised to others no sooner than that: at its next
//! budget, or at the zero-lag time of the last one if it waits. One that is declared anew before that goes on with its
//! server.
//!
//! | | |
//! |-|-|
//! | Source | Abeni and Buttazzo, *Integrating multimedia applications in hard real-time systems*, RTSS 1998 (servers); Rajkumar, Juvva, Molano and Oikawa, *Resource kernels*, 1998 (hard reservations); Lipari and Baruah, *Greedy reclamation of unused bandwidth in constant-bandwidth servers*, ECRTS 2000 (GRUB); as `SCHED_DEADLINE` of Linux |
//! | Work per decision | O(log n) for n processes with a need, amortised |
//! | Units | time: nanoseconds; budgets: 2^-62 ns |
//! | Memory | one entry per process up to the highest number seen, at most one of 16 bytes in each of three heaps |
//! | Departs from the source | budgets are hard, as in Linux: the paper postpones the deadline and goes on at once. Of Linux: one processor; deadlines equal periods, no share is kept back from deadlines (there 5 %), and with reclaiming the rate is that of the paper, all active bandwidth, where Linux never lets it fall below the process's own. A need that changes does so with the next budget. With reclaiming less than 1 ns of a budget may go unused |

mod places;
mod server;

use super::processes::{Processes, Queue};
use super::terms::{self, Admit, LONGEST};
use super::virtual_time::Rank;
use super::{DeclarationError, Declared, Overcommitted, TaskDiscipline, Used};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use crate::heap::Heap;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::{FlowId, Item};
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};
use places::{Place, Process};
use server::{ONE, Promise};

/// What the listings say.
pub const INFO: Info = Info {
    name: "cbs",
    kind: Kind::Task,
    title: "constant bandwidth servers (EDF)",
    rule: "serves the earliest deadline among processes with budget left; a process that has used up its \
        need of a period waits for the next",
    source: "Abeni and Buttazzo, Integrating multimedia applications in hard real-time systems, RTSS 1998; Lipari and Baruah, ECRTS 2000",
    work: "O(log n)",
    parameters: &[
        Parameter::new("period", Takes::Epoch(terms::EPOCH), "100ms").meaning(
            "the span in which needs are promised; also the period of a process that declares none, while \
             one that does is promised the same part of its own",
        ),
        terms::SLICE,
        Parameter::new("reclaim", Takes::Words(&["none", "grub"]), "none")
            .meaning("whether bandwidth that is not in use goes to the servers that run"),
        Parameter::new("surplus", Takes::Words(&["none", "background"]), "none")
            .meaning("whether a throttled process runs in the background, like those without a need"),
        Admit::PARAMETER,
    ],
    example: "cbs:100ms",
};

/// The process of the open grant.
#[derive(Clone, Copy, Debug)]
struct Running {
    process: u32,
    /// Out of its budget, or in the background.
    has_budget: bool,
    /// When its budget is used up, if that is before its grant ends: others woke, and it lasts less long.
    shortened: Option<u64>,
}

impl Running {
    fn of(process: u32, has_budget: bool) -> Self {
        Self { process, has_budget, shortened: None }
    }
}

/// Serves the earliest deadline of those that have budget.
pub struct Cbs<I: Item> {
    period: Nanos,
    slice: Nanos,
    reclaims: bool,
    throttled_run: bool,
    admit: Admit,
    processes: Processes<I, Process>,
    /// By deadline, those who are ready and have budget.
    ready: Heap<Rank, ()>,
    /// Those who are ready without: a process may stand here that has budget again, and is passed over.
    background: Queue,
    /// Who may be throttled, by when that ends; one entry for each at most.
    timers: Heap<Rank, ()>,
    /// Who may wait with its bandwidth active, or promised still, by when that ends; one entry for each at most.
    fading: Heap<Rank, ()>,
    /// All bandwidth that is promised, and that is active.
    promised: u128,
    active: u128,
    running: Option<Running>,
}

impl<I: Item<Cost = Nanos>> Cbs<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Ok(Self {
            period: arguments.span("period")?,
            slice: arguments.span(terms::SLICE.name)?,
            reclaims: arguments.choice("reclaim", [false, true])?,
            throttled_run: arguments.choice("surplus", [false, true])?,
            admit: Admit::from_spec(arguments)?,
            processes: Processes::new(),
            ready: Heap::new(),
            background: Queue::EMPTY,
            timers: Heap::new(),
            fading: Heap::new(),
            promised: 0,
            active: 0,
            running: None,
        })
    }

    /// A process of which nothing is known.
    fn stranger(period: Nanos, slice: Nanos) -> Process {
        Process::of(Promise { need: Nanos::ZERO, period }, slice)
    }

    #[inline]
    fn runs(&self, process: u32) -> bool {
        self.running.is_some_and(|running| running.process == process)
    }

    /// The rate at which budgets are used up.
    #[inline]
    fn rate(&self) -> u128 {
        if self.reclaims { self.active.min(ONE) } else { ONE }
    }

    /// Charges the process of the open grant, if it is this one.
    #[inline]
    fn account(&mut self, process: u32, used: Nanos) {
        let rate = self.rate();
        match self.running {
            Some(running) if running.process == process => {
                self.processes.state_mut(process).charge(used, running.has_budget.then_some(rate));
            }
            _ => {}
        }
    }

    /// Others woke: what is left of the running budget may last less long than was granted.
    #[inline]
    fn shorten(&mut self, now: u64) {
        let rate = self.rate();
        if let Some(running) = self.running.as_mut().filter(|running| running.has_budget) {
            let lasts = self.processes.state(running.process).server.lasts(rate);
            running.shortened = Some(now.saturating_add(lasts.get()));
        }
    }

    /// The next process that runs, and for how long at most.
    fn choose(&mut self) -> Option<(Running, Nanos)> {
        if let Some((rank, ())) = self.ready.pop() {
            let process = rank.process();
            let quantum = self.processes.state(process).server.lasts(self.rate());
            debug_assert!(
                quantum > Nanos::ZERO,
                "who is ready has a nanosecond of its budget, and rates are at most 1"
            );
            return Some((Running::of(process, true), quantum));
        }
        while let Some(process) = self.background.pop_front(&self.processes) {
            let state = self.processes.state_mut(process);
            state.is_linked = false;
            if matches!(state.place, Place::Background | Place::Throttled) {
                return Some((Running::of(process, false), state.left));
            }
        }
        None
    }
}

impl<I: Item<Cost = Nanos>> Discipline<I> for Cbs<I> {
    /// Who has budget preempts whoever has a later deadline, or none.
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let process = item.flow().0;
        let (period, slice) = (self.period, self.slice);
        let running = self.running.map(|running| running.process);
        if !self.processes.accept(item, running, || Self::stranger(period, slice), drops) {
            return Enqueued::Queued;
        }
        self.processes.state_mut(process).server.wake(now.get());
        self.place(process, now.get(), false);
        if self.reclaims {
            self.shorten(now.get());
        }
        let state = self.processes.state(process);
        let outranks = |running: Running| {
            let other = self.processes.state(running.process);
            !running.has_budget || state.server.deadline() < other.server.deadline()
        };
        let preempts = state.place == Place::Ready && self.running.is_some_and(outranks);
        if preempts { Enqueued::Preempts } else { Enqueued::Queued }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, _gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        if let Some(abandoned) = self.running.take() {
            self.depart(abandoned.process, now.get());
        }
        self.advance(now.get());
        let (running, quantum) = self.choose()?;
        self.running = Some(running);
        self.processes.state_mut(running.process).place = Place::Runs;
        self.processes.take(running.process).map(|item| Grant { item, quantum })
    }

    #[inline]
    fn charge(&mut self, _now: Instant, item: &I, used: Nanos) {
        self.account(item.flow().0, used);
    }

    /// In the background whose slice is over joins the tail, and who was preempted the head.
    #[inline]
    fn requeue(&mut self, now: Instant, item: I, used: Nanos, drops: &mut dyn Drops<I>) {
        let process = item.flow().0;
        if !self.runs(process) {
            // Nothing that is open: it is ready, that is all.
            let _ = self.enqueue(now, item, drops);
            return;
        }
        self.account(process, used);
        let first = self.running.take().is_some_and(|running| !running.has_budget);
        if self.processes.keep(item, drops) {
            self.place(process, now.get(), first);
        }
    }

    #[inline]
    fn finish(&mut self, now: Instant, item: &I, used: Nanos) {
        let process = item.flow().0;
        if self.runs(process) {
            self.account(process, used);
            self.running = None;
            self.depart(process, now.get());
        }
    }

    /// When the next who is throttled has budget again; with reclaiming also when bandwidth is no longer active, or
    /// more has become active and the running budget is used up sooner.
    #[inline]
    fn next_event(&self) -> Option<Instant> {
        let timer = self.timers.peek();
        let reclaims = self.reclaims && self.running.is_some_and(|running| running.has_budget);
        let fades = self.fading.peek().filter(|_| reclaims);
        let moment = |(rank, ()): (Rank, ())| Instant::new(rank.moment().unsigned_abs() as u64);
        let shortened = self.running.and_then(|running| running.shortened).map(Instant::new);
        timer.into_iter().chain(fades).map(moment).chain(shortened).min()
    }

    #[inline]
    fn backlog(&self) -> Backlog<Nanos> {
        self.processes.backlog()
    }
}

impl<I: Item<Cost = Nanos>> TaskDiscipline<I> for Cbs<I> {
    /// A need is that of the discipline's own period; of another the process is promised the same part.
    fn declare(
        &mut self,
        now: Instant,
        process: FlowId,
        declared: Declared,
    ) -> Result<Option<Overcommitted>, DeclarationError> {
        terms::check(process, &declared, Some(self.period))?;
        let period = declared.period.unwrap_or(self.period).min(LONGEST);
        let promise = Promise::of(declared.need, self.period, period);
        self.forget(now.get());
        let state = self.processes.get(process.0);
        let before = state.map_or(0, Process::promised);
        let part = promise.bandwidth().max(state.map_or(0, |state| state.holds(now.get())));
        let promised = self.promised - before + part;
        let committed = server::committed(promised, self.period);
        let overcommitted = self.admit.judge(Overcommitted { committed, epoch: self.period })?;
        let (default_period, default_slice) = (self.period, self.slice);
        self.processes.admit(process, || Self::stranger(default_period, default_slice));
        self.processes.state_mut(process.0).slice = declared.slice.unwrap_or(default_slice).min(LONGEST);
        self.promise(process.0, promise, now.get());
        Ok(overcommitted)
    }

    /// Until its zero-lag time its bandwidth stays active, and promised.
    fn exit(&mut self, now: Instant, process: FlowId) {
        if self.processes.get(process.0).is_some_and(|state| state.place == Place::Waits) {
            self.processes.state_mut(process.0).slice = self.slice;
            self.promise(process.0, Promise { need: Nanos::ZERO, period: self.period }, now.get());
        }
    }

    /// Time out of the budget is its need, as far as the budget is used up by it, and uncommitted, as far as it is
    /// reclaimed; time in the background is windfall.
    fn used(&self, process: FlowId) -> Option<Used> {
        self.processes.get(process.0).map(Process::used)
    }

    /// 0 with budget, -1 without.
    fn level(&self, process: FlowId) -> Option<i8> {
        let state = self.processes.get(process.0)?;
        Some(if state.server.is_exhausted() { -1 } else { 0 })
    }
}

#[cfg(test)]
mod tests;
