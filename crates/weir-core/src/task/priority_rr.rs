//! Fixed priorities, and in turn within one, slice by slice.
//!
//! Of those with the highest priority the first in their queue runs, for its slice at most. Whose slice is over goes to
//! the tail, and so does who wakes, with a slice of its own. Who is preempted by a higher priority goes to the head,
//! and keeps the rest of its slice. The highest priority may starve all others: nobody is promised anything.
//!
//! | | |
//! |-|-|
//! | Source | POSIX.1-2017 (IEEE Std 1003.1), System Interfaces, section 2.8.4, `SCHED_RR` |
//! | Work per decision | O(1) |
//! | Units | time: nanoseconds |
//! | Memory | one entry per process up to the highest number seen |
//! | Departs from the source | four priorities, of the 32 that it asks for; a process may declare a slice of its own; a new priority has effect when the process next joins a queue |

use super::processes::{Processes, Queue};
use super::terms::{self, LONGEST};
use super::{DeclarationError, Declared, Overcommitted, TOP_PRIORITY, TaskDiscipline};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind};
use crate::item::{FlowId, Item};
use crate::spec::SpecError;
use crate::units::{Cost, Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "priority_rr",
    kind: Kind::Task,
    title: "fixed priorities, round robin within each",
    rule: "serves the highest priority, within which processes take turns by slice",
    source: "POSIX.1-2017, System Interfaces, section 2.8.4 (SCHED_RR)",
    work: "O(1)",
    parameters: &[terms::SLICE],
    example: "priority_rr:20ms",
};

const PRIORITIES: usize = TOP_PRIORITY as usize + 1;

/// What is kept of a process.
#[derive(Clone, Copy, Debug)]
struct Process {
    priority: u8,
    slice: Nanos,
    /// What is left of its slice.
    left: Nanos,
}

/// Serves the highest priority, in turn by slice.
pub struct PriorityRr<I: Item> {
    slice: Nanos,
    processes: Processes<I, Process>,
    /// By priority, those who are ready.
    queues: [Queue; PRIORITIES],
    /// The process of the open grant, and the priority with which it was taken.
    running: Option<u32>,
    running_priority: u8,
}

impl<I: Item<Cost = Nanos>> PriorityRr<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Ok(Self {
            slice: arguments.span(terms::SLICE.name)?,
            processes: Processes::new(),
            queues: [Queue::EMPTY; PRIORITIES],
            running: None,
            running_priority: 0,
        })
    }

    /// A process of which nothing is known.
    fn stranger(slice: Nanos) -> Process {
        Process { priority: Declared::default().priority, slice, left: slice }
    }

    /// Charges the process of the open grant, if it is this one.
    #[inline]
    fn account(&mut self, process: u32, used: Nanos) {
        if self.running == Some(process) {
            let state = self.processes.state_mut(process);
            state.left = state.left.minus(used);
        }
    }

    /// The process joins the tail of its queue, with a whole slice.
    #[inline]
    fn join_tail(&mut self, process: u32) -> u8 {
        let state = self.processes.state_mut(process);
        state.left = state.slice;
        let priority = state.priority;
        self.queues[usize::from(priority)].push_back(&mut self.processes, process);
        priority
    }
}

impl<I: Item<Cost = Nanos>> Discipline<I> for PriorityRr<I> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let (process, slice) = (item.flow().0, self.slice);
        if !self.processes.accept(item, self.running, || Self::stranger(slice), drops) {
            return Enqueued::Queued;
        }
        let priority = self.join_tail(process);
        let outranks = self.running.is_some() && priority > self.running_priority;
        if outranks { Enqueued::Preempts } else { Enqueued::Queued }
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, _gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.running = None;
        let priority = self.queues.iter().rposition(|queue| !queue.is_empty())?;
        let process = self.queues[priority].pop_front(&self.processes)?;
        (self.running, self.running_priority) = (Some(process), priority as u8);
        let quantum = self.processes.state(process).left;
        self.processes.take(process).map(|item| Grant { item, quantum })
    }

    #[inline]
    fn charge(&mut self, _now: Instant, item: &I, used: Nanos) {
        self.account(item.flow().0, used);
    }

    /// Who was preempted keeps the rest of its slice, at the head; whose slice is over joins the tail.
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
        let Process { priority, left, .. } = *self.processes.state(process);
        if left == Nanos::ZERO {
            self.join_tail(process);
        } else {
            self.queues[usize::from(priority)].push_front(&mut self.processes, process);
        }
    }

    #[inline]
    fn finish(&mut self, _now: Instant, item: &I, _used: Nanos) {
        if self.running == Some(item.flow().0) {
            self.running = None;
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog<Nanos> {
        self.processes.backlog()
    }
}

impl<I: Item<Cost = Nanos>> TaskDiscipline<I> for PriorityRr<I> {
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
        state.priority = declared.priority;
        state.slice = declared.slice.unwrap_or(default).min(LONGEST);
        Ok(None)
    }

    fn exit(&mut self, _now: Instant, process: FlowId) {
        if self.processes.waits(process.0, self.running) {
            *self.processes.state_mut(process.0) = Self::stranger(self.slice);
        }
    }

    fn level(&self, process: FlowId) -> Option<i8> {
        self.processes.get(process.0).map(|state| state.priority as i8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::testing::{ms, priority, schedule};

    fn slice(length: u64, of: Declared) -> Declared {
        Declared { slice: Some(ms(length)), ..of }
    }

    #[test]
    fn equals_take_turns_by_slice() {
        let bursts = [('a', 0, 5), ('b', 0, 3), ('c', 1, 4)];
        assert_eq!(schedule("priority_rr:2ms", &[], &bursts, 13), "aabbccaabcca.");
    }

    #[test]
    fn a_process_has_the_slice_that_it_declares() {
        let declared = [slice(3, priority(1)), priority(1)];
        assert_eq!(schedule("priority_rr:1ms", &declared, &[('a', 0, 6), ('b', 0, 4)], 10), "aaabaaabbb");
    }

    #[test]
    fn the_preempted_resumes_before_its_equals_with_the_rest_of_its_slice() {
        let declared = [priority(1), priority(1), priority(2)];
        let bursts = [('a', 0, 8), ('b', 0, 4), ('c', 1, 2)];
        assert_eq!(schedule("priority_rr:4ms", &declared, &bursts, 14), "accaaabbbbaaaa");
    }

    #[test]
    fn who_wakes_joins_the_tail_with_a_whole_slice() {
        // a waits after 1 ms of its slice, and wakes at 2: behind c, and for 4 ms at once.
        let bursts = [('a', 0, 1), ('b', 0, 6), ('c', 1, 1), ('a', 2, 6)];
        assert_eq!(schedule("priority_rr:4ms", &[], &bursts, 14), "abbbbcaaaabbaa");
    }

    #[test]
    fn a_higher_priority_starves_a_lower_one() {
        let declared = [priority(3), priority(0)];
        assert_eq!(schedule("priority_rr:1ms", &declared, &[('b', 0, 9), ('a', 2, 5)], 10), "bbaaaaabbb");
    }

    #[test]
    fn an_equal_does_not_preempt() {
        assert_eq!(schedule("priority_rr:9ms", &[], &[('a', 0, 5), ('b', 1, 1)], 7), "aaaaab.");
    }
}
