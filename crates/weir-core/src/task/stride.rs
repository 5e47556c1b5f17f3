//! Stride scheduling: the processor is dealt out in proportion to tickets, deterministically.
//!
//! Each process has a *pass*, which advances by its service divided by its tickets. The one whose pass is least runs
//! for a quantum; of equals the one with the smaller number. A first pass is one stride (a quantum divided by the
//! tickets) ahead, so that the pass tells when the next quantum would be over. The *global pass* advances by the
//! service of all divided by the tickets of all who are ready. Who waits keeps what its pass is ahead of the global
//! one, and is put so far ahead of it when it wakes: it has no claim to the time between, and cannot shed what it had
//! too much of by waiting. With other tickets what is kept is scaled to the new stride.
//!
//! While the same processes are ready, with equal quanta, two of them have, of the quanta that both have together, what
//! their tickets say to within one quantum.
//!
//! | | |
//! |-|-|
//! | Source | Waldspurger and Weihl, *Stride scheduling: deterministic proportional-share resource management*, Technical Memorandum MIT/LCS/TM-528, 1995, sections 2 and 3 (figures 1 to 3) |
//! | Work per decision | O(log n) for n ready processes |
//! | Units | time: nanoseconds; passes: nanoseconds per ticket, in 2^-28ths, whose remainders are kept, but that of the global pass is dropped, and with it less than one 2^-28th, whenever a process becomes ready or waits |
//! | Memory | one entry per process up to the highest number seen, one of 16 bytes per process that is ready |
//! | Departs from the source | the global pass advances with the service that is charged, and not with the clock; a quantum of its own for each process; other tickets have effect when the process next runs; tickets above 2^32 count as that |

use super::processes::Processes;
use super::terms::{self, LONGEST};
use super::virtual_time::{Pace, Rank, Virtual, plus};
use super::{DeclarationError, Declared, Overcommitted, TaskDiscipline};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use crate::heap::Heap;
use crate::info::{Arguments, Info, Kind};
use crate::item::{FlowId, Item};
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "stride",
    kind: Kind::Task,
    title: "stride scheduling",
    rule: "serves the process with the least service per ticket; one that has waited returns where it was",
    source: "Waldspurger and Weihl, Stride scheduling: deterministic proportional-share resource management, MIT/LCS/TM-528, 1995",
    work: "O(log n)",
    parameters: &[terms::SLICE],
    example: "stride:20ms",
};

/// What is kept of a process.
#[derive(Clone, Copy, Debug)]
struct Process {
    pace: Pace,
    slice: Nanos,
    /// The tickets and the slice with which it next runs.
    next: (u64, Nanos),
    /// Its pass while it is ready; what it is ahead of the global pass while it waits.
    pass: Virtual,
    /// Whether it has been given a first pass.
    begun: bool,
}

impl Process {
    fn of(share: u64, slice: Nanos) -> Self {
        Self { pace: Pace::of(share), slice, next: (share, slice), pass: 0, begun: false }
    }

    fn stride(&self) -> Virtual {
        self.pace.span(self.slice).max(1)
    }

    /// Takes the tickets and the slice that were declared, and returns what it is ahead of the global pass with them,
    /// which is as many strides as before.
    fn modify(&mut self, ahead: Virtual) -> Virtual {
        let before = self.stride();
        (self.pace, self.slice) = (Pace::of(self.next.0), self.next.1);
        // A stride is below 2^75; strides are counted in 2^-32ths.
        let strides = ahead.saturating_mul(1 << 32) / before;
        plus(strides.saturating_mul(self.stride()) >> 32, 0)
    }

    fn is_modified(&self) -> bool {
        self.next != (self.pace.share(), self.slice)
    }
}

/// The global pass, and the pace of all who are ready or run, together.
#[derive(Clone, Copy, Debug)]
struct Global {
    pass: Virtual,
    tickets: u64,
    pace: Pace,
}

impl Global {
    fn set_tickets(&mut self, tickets: u64) {
        (self.tickets, self.pace) = (tickets, Pace::together(tickets));
    }
}

/// Serves whoever's pass is least.
pub struct Stride<I: Item> {
    slice: Nanos,
    processes: Processes<I, Process>,
    ready: Heap<Rank, ()>,
    global: Global,
    /// The process of the open grant.
    running: Option<u32>,
}

impl<I: Item<Cost = Nanos>> Stride<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let slice = arguments.span(terms::SLICE.name)?;
        let global = Global { pass: 0, tickets: 0, pace: Pace::together(0) };
        Ok(Self { slice, processes: Processes::new(), ready: Heap::new(), global, running: None })
    }

    /// A process of which nothing is known.
    fn stranger(slice: Nanos) -> Process {
        Process::of(Declared::default().share(), slice)
    }

    /// The process is ready from now on, as far ahead of the global pass as it was when it last was.
    #[inline]
    fn join(&mut self, process: u32) {
        let state = self.processes.state_mut(process);
        if state.is_modified() {
            state.pass = state.modify(state.pass);
        }
        if !state.begun {
            (state.pass, state.begun) = (state.stride(), true);
        }
        state.pass = plus(state.pass, self.global.pass);
        let tickets = state.pace.share();
        self.global.set_tickets(self.global.tickets + tickets);
    }

    /// The process is no longer ready.
    #[inline]
    fn leave(&mut self, process: u32) {
        let state = self.processes.state_mut(process);
        state.pass = plus(state.pass, -self.global.pass);
        let tickets = state.pace.share();
        self.global.set_tickets(self.global.tickets - tickets);
    }

    /// Charges the process of the open grant, if it is this one.
    #[inline]
    fn account(&mut self, process: u32, used: Nanos) {
        if self.running == Some(process) {
            let state = self.processes.state_mut(process);
            state.pass = plus(state.pass, state.pace.pass(used));
            self.global.pass = plus(self.global.pass, self.global.pace.pass(used));
        }
    }

    #[inline]
    fn push(&mut self, process: u32) {
        self.ready.push(Rank::new(self.processes.state(process).pass, process), ());
    }
}

impl<I: Item<Cost = Nanos>> Discipline<I> for Stride<I> {
    /// Nobody is preempted: who wakes waits for the end of a quantum.
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let (process, slice) = (item.flow().0, self.slice);
        if self.processes.accept(item, self.running, || Self::stranger(slice), drops) {
            self.join(process);
            self.push(process);
        }
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, _gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        if let Some(abandoned) = self.running.take() {
            self.leave(abandoned);
        }
        let process = self.ready.pop()?.0.process();
        if self.processes.state(process).is_modified() {
            self.leave(process);
            self.join(process);
        }
        self.running = Some(process);
        let quantum = self.processes.state(process).slice;
        self.processes.take(process).map(|item| Grant { item, quantum })
    }

    #[inline]
    fn charge(&mut self, _now: Instant, item: &I, used: Nanos) {
        self.account(item.flow().0, used);
    }

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
        if self.processes.keep(item, drops) {
            self.push(process);
        }
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

impl<I: Item<Cost = Nanos>> TaskDiscipline<I> for Stride<I> {
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

    /// The next process of its number begins with a first pass.
    fn exit(&mut self, _now: Instant, process: FlowId) {
        if self.processes.waits(process.0, self.running) {
            *self.processes.state_mut(process.0) = Self::stranger(self.slice);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Random;
    use crate::task::testing::{ALWAYS, at, machine, ms, schedule, weight};

    #[test]
    fn quanta_are_dealt_as_in_the_paper() {
        // Figure 2 of the source: tickets 3, 2 and 1, strides 2, 3 and 6.
        let declared = [weight(3), weight(2), weight(1)];
        let bursts = [('a', 0, 99), ('b', 0, 99), ('c', 0, 99)];
        assert_eq!(schedule("stride:1ms", &declared, &bursts, 12), "abaabcabaabc");
    }

    #[test]
    fn who_waited_has_no_claim_to_the_time_between() {
        let bursts = [('a', 0, 99), ('b', 0, 1), ('b', 8, 99)];
        assert_eq!(schedule("stride:1ms", &[], &bursts, 14), "abaaaaaaababab");
    }

    #[test]
    fn who_had_too_much_cannot_shed_it_by_waiting() {
        // a has had its quantum when it waits, and b not yet: after the wait b is still first.
        let bursts = [('a', 0, 1), ('b', 0, 99), ('a', 1, 99)];
        assert_eq!(schedule("stride:4ms", &[], &bursts, 10), "abbbbaaaab");
    }

    #[test]
    fn nobody_is_preempted() {
        assert_eq!(schedule("stride:4ms", &[], &[('a', 0, 8), ('b', 1, 2)], 10), "aaaabbaaaa");
    }

    #[test]
    fn other_tickets_have_effect_when_the_process_next_runs() {
        let mut machine = machine("stride:1ms", &[weight(1), weight(1)]);
        machine.wake(at(0), 0, ALWAYS);
        machine.wake(at(0), 1, ALWAYS);
        machine.run_until(at(4));
        machine.discipline.declare(at(4), FlowId(0), weight(3)).unwrap();
        machine.run_until(at(4_004));
        let served = machine.served(0, at(4), at(4_004));
        assert!(served >= ms(2_999) && served <= ms(3_001), "{served}");
    }

    /// Checks the bound of the module while all are ready.
    fn bound(seed: u64) {
        let mut random = Random::new(seed);
        let tickets: Vec<u64> = (0..2 + random.below(9)).map(|_| 1 + random.below(100)).collect();
        let declared: Vec<_> = tickets.iter().map(|&share| weight(share)).collect();
        let mut machine = machine("stride:10ms", &declared);
        (0..tickets.len()).for_each(|process| machine.wake(at(0), process as u32, ALWAYS));
        let mut quanta = vec![0_u64; tickets.len()];
        for step in 0..400 {
            machine.run_until(at(10 * (step + 1)));
            let (served, last) = (machine.now, machine.runs.last().unwrap());
            assert_eq!(last.to, served);
            quanta[last.process as usize] += 1;
            for (i, j) in (0..quanta.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let both = tickets[i] + tickets[j];
                let (got, due) = (quanta[i] * both, (quanta[i] + quanta[j]) * tickets[i]);
                assert!(got.abs_diff(due) <= both, "{seed}: {i} and {j} at {served}");
            }
        }
    }

    #[test]
    fn two_processes_have_what_their_tickets_say_to_within_a_quantum() {
        (0..40).for_each(bound);
    }

    #[test]
    fn in_the_long_run_shares_are_exact() {
        let mut machine = machine("stride:10ms", &[weight(1), weight(99_991)]);
        machine.wake(at(0), 0, ALWAYS);
        machine.wake(at(0), 1, ALWAYS);
        machine.run_until(at(99_992 * 10 * 3));
        assert_eq!(machine.served(0, at(0), machine.now), ms(30));
    }
}
