//! Long-run shares: who has been served least for its share runs first, and nothing is forgotten.
//!
//! Each process is entitled to a part of the processor in proportion to its share. The one whose time so far, divided
//! by its share, is least runs next, for its slice at most; of equals the one with the smaller number. A process that
//! waited has a claim to what it missed: when it wakes it runs, and preempts others, until it has caught up, while they
//! get nothing; one that comes later counts as one that has waited since the beginning.
//!
//! That is what distinguishes it from [`super::stride`], in which a process that waited comes back where it stood
//! relative to the others, without a claim to the time between, and from [`super::epoch`], which forgets everything at
//! the end of an epoch. So shares hold over all the time there is, and over no shorter one: a process of share `w` that
//! has waited for a time `T`, while others want all they can get, runs for up to `T w / (sum of the others'
//! shares)` without a pause.
//!
//! While the same processes are ready and have started equal, the times of two of them, each divided by its share,
//! differ by no more than the larger of their two slices, divided by its share.
//!
//! | | |
//! |-|-|
//! | Source | the pie-slice scheduler of TENEX (Bobrow, Burchfiel, Murphy and Tomlinson, *TENEX, a paged time sharing system for the PDP-10*, Communications of the ACM 15(3), 1972, is the system it was added to) and the class scheduler of TOPS-20 |
//! | Work per decision | O(log n) for n ready processes |
//! | Units | time: nanoseconds; service for each share is compared as a fraction, exactly |
//! | Memory | one entry per process up to the highest number seen, one of 24 bytes per process that is ready |
//! | Departs from the source | it is their idea, shares held in the long run, and not their procedure: they give shares to groups and classes of users, here each process has its own; they average the use over some time in which older use counts less, here all of it counts for ever; they know working sets, interactive queues and time withheld from a class, here there is nothing else |

use core::cmp::Ordering;

use super::processes::Processes;
use super::terms::{self, LONGEST};
use super::{DeclarationError, Declared, Overcommitted, TaskDiscipline};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use crate::heap::{Heap, Order};
use crate::info::{Arguments, Info, Kind};
use crate::item::{FlowId, Item};
use crate::spec::SpecError;
use crate::units::{Cost, Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "share",
    kind: Kind::Task,
    title: "long-run shares (pie-slice)",
    rule: "serves the process with the least service relative to its share since the beginning; nothing is \
        forgotten",
    source: "the pie-slice scheduler of TENEX and the class scheduler of TOPS-20, in idea",
    work: "O(log n)",
    parameters: &[terms::SLICE],
    example: "share:20ms",
};

/// What a process has been served for its share; among equals the smaller number is first.
#[derive(Clone, Copy, Debug)]
struct Rank {
    served: u64,
    share: u64,
    process: u32,
}

impl Rank {
    /// How two compare by service for each share: neither product is above 2^128.
    #[inline]
    fn by_service(&self, other: &Self) -> Ordering {
        let scaled = |served: u64, share: u64| u128::from(served) * u128::from(share);
        scaled(self.served, other.share).cmp(&scaled(other.served, self.share))
    }
}

impl Ord for Rank {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.by_service(other).then(self.process.cmp(&other.process))
    }
}

impl PartialOrd for Rank {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rank {}

impl Order for Rank {
    /// More for nothing than anybody's for its share.
    const LAST: Self = Self { served: u64::MAX, share: 0, process: u32::MAX };
}

/// What is kept of a process.
#[derive(Clone, Copy, Debug)]
struct Process {
    share: u64,
    slice: Nanos,
    /// All that it has been served.
    served: Nanos,
}

/// Serves whoever has been served least for its share.
pub struct Share<I: Item> {
    slice: Nanos,
    processes: Processes<I, Process>,
    ready: Heap<Rank, ()>,
    /// The process of the open grant.
    running: Option<u32>,
}

impl<I: Item<Cost = Nanos>> Share<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let slice = arguments.span(terms::SLICE.name)?;
        Ok(Self { slice, processes: Processes::new(), ready: Heap::new(), running: None })
    }

    /// A process of which nothing is known.
    fn stranger(slice: Nanos) -> Process {
        Process { share: Declared::default().share(), slice, served: Nanos::ZERO }
    }

    #[inline]
    fn rank(&self, process: u32) -> Rank {
        let Process { share, served, .. } = *self.processes.state(process);
        Rank { served: served.get(), share, process }
    }

    /// Charges the process of the open grant, if it is this one.
    #[inline]
    fn account(&mut self, process: u32, used: Nanos) {
        if self.running == Some(process) {
            let state = self.processes.state_mut(process);
            state.served = state.served.plus(used);
        }
    }
}

impl<I: Item<Cost = Nanos>> Discipline<I> for Share<I> {
    /// Who has been served less for its share than the one who runs preempts it.
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let (process, slice) = (item.flow().0, self.slice);
        if !self.processes.accept(item, self.running, || Self::stranger(slice), drops) {
            return Enqueued::Queued;
        }
        let rank = self.rank(process);
        self.ready.push(rank, ());
        let outranks = self.running.is_some_and(|running| rank.by_service(&self.rank(running)).is_lt());
        if outranks { Enqueued::Preempts } else { Enqueued::Queued }
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, _gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.running = None;
        let (Rank { process, .. }, ()) = self.ready.pop()?;
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
        self.account(process, used);
        if self.running == Some(process) {
            self.running = None;
        }
        // Over an open grant of another it is ready, that is all.
        let _ = self.enqueue(now, item, drops);
    }

    #[inline]
    fn finish(&mut self, _now: Instant, item: &I, used: Nanos) {
        self.account(item.flow().0, used);
        if self.running == Some(item.flow().0) {
            self.running = None;
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog<Nanos> {
        self.processes.backlog()
    }
}

impl<I: Item<Cost = Nanos>> TaskDiscipline<I> for Share<I> {
    /// With another share the time so far counts for that.
    fn declare(
        &mut self,
        _now: Instant,
        process: FlowId,
        declared: Declared,
    ) -> Result<Option<Overcommitted>, DeclarationError> {
        terms::check(process, &declared, None)?;
        let default = self.slice;
        self.processes.admit(process, || Self::stranger(default));
        let state = self.processes.state_mut(process.0);
        state.share = declared.share();
        state.slice = declared.slice.unwrap_or(default).min(LONGEST);
        Ok(None)
    }

    /// The next process of its number begins with nothing.
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
    use crate::task::testing::{ALWAYS, Machine, at, machine, ms, schedule, weight};

    #[test]
    fn processes_are_served_in_proportion_to_their_shares() {
        let declared = [weight(2), weight(1)];
        assert_eq!(schedule("share:1ms", &declared, &[('a', 0, 99), ('b', 0, 99)], 12), "abaabaabaaba");
    }

    #[test]
    fn who_waited_catches_up_before_others_get_anything() {
        // At 4 a has had 4 ms and b nothing: b runs until it has had as much.
        let bursts = [('a', 0, 99), ('b', 4, 99)];
        assert_eq!(schedule("share:2ms", &[], &bursts, 12), "aaaabbbbaabb");
    }

    #[test]
    fn who_has_had_more_does_not_preempt() {
        let bursts = [('a', 0, 4), ('b', 0, 9), ('a', 6, 2)];
        assert_eq!(schedule("share:4ms", &[], &bursts, 12), "aaaabbbbaabb");
    }

    #[test]
    fn the_share_is_the_need_where_no_weight_is_declared() {
        let need = |count| Declared { need: ms(count), ..Declared::default() };
        let declared = [need(30), need(10)];
        assert_eq!(schedule("share:1ms", &declared, &[('a', 0, 99), ('b', 0, 99)], 8), "abaaabaa");
    }

    #[test]
    fn a_new_share_counts_for_the_time_so_far() {
        let mut machine = machine("share:1ms", &[weight(1), weight(1)]);
        machine.wake(at(0), 0, ALWAYS);
        machine.wake(at(0), 1, ALWAYS);
        machine.run_until(at(4));
        machine.discipline.declare(at(4), FlowId(0), weight(3)).unwrap();
        machine.run_until(at(12));
        // 2 ms count as 2/3 now: a runs until it is beyond 2.
        assert_eq!(machine.letters(), "ababaaaaabaa");
    }

    /// Checks the bound of the module while all are ready.
    fn bound(seed: u64) {
        let mut random = Random::new(seed);
        let count = 2 + random.below(7);
        let declared: Vec<_> = (0..count)
            .map(|_| Declared {
                slice: Some(Nanos::new(1_000_000 + random.below(20_000_000))),
                ..weight(1 + random.below(50))
            })
            .collect();
        let mut machine: Machine<_> = machine("share", &declared);
        (0..count).for_each(|process| machine.wake(at(0), process as u32, ALWAYS));
        for step in 1..200 {
            machine.run_until(at(step * 7));
            let served: Vec<_> =
                (0..count).map(|p| u128::from(machine.served(p as u32, at(0), machine.now).get())).collect();
            let share = |i: usize| u128::from(declared[i].share());
            let slice = |i: usize| u128::from(declared[i].slice.unwrap().get());
            for (i, j) in (0..served.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let (left, right) = (served[i] * share(j), served[j] * share(i));
                let most = (slice(i) * share(j)).max(slice(j) * share(i));
                assert!(left.abs_diff(right) <= most, "{seed}: {i} and {j} at {}", machine.now);
            }
        }
    }

    #[test]
    fn shares_of_those_who_are_ready_differ_by_a_slice_at_most() {
        (0..40).for_each(bound);
    }
}
