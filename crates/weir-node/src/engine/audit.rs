//! Verification: books of its own beside the engine's, compared with them at every transition.
//!
//! | | checked |
//! |-|-|
//! | discipline | what it says must always hold, after every call; it never drops a readiness |
//! | time | who had a processor is told without gap or overlap, so run time + idle + overhead = elapsed on every node |
//! | charges | what a process had of the processor = what the discipline was told + the overheads carried to its next slice; the discipline's own count of it, where it has one, is the same |
//! | levels | nobody is started while somebody of a higher level is ready |
//! | states | who is started was ready; a dual queue never holds both data and those who wait |
//!
//! The first violation ends the run and names time, place and values.

use weir_core::item::FlowId;
use weir_core::task::{Task, TaskDiscipline};
use weir_core::units::Nanos;

use crate::engine::books::Who;
use crate::engine::processor::Node;
use crate::engine::world::{NOBODY, Process, State, World};
use crate::record::Sink;
use weir_lab::error::RunError;

/// The books of a replication.
#[derive(Debug)]
pub(super) struct Audit {
    /// By process: what it had of processors, and what disciplines were told.
    had: Vec<u64>,
    charged: Vec<u64>,
    /// What the discipline of its node has counted beyond `charged`: less than nothing where it came from elsewhere.
    beyond: Vec<i128>,
    /// By node: up to when it is told who had the processor.
    told: Vec<u64>,
    drops: u64,
}

impl Audit {
    pub(super) fn new(processes: usize, nodes: usize) -> Self {
        Self {
            had: vec![0; processes],
            charged: vec![0; processes],
            beyond: vec![0; processes],
            told: vec![0; nodes],
            drops: 0,
        }
    }
}

impl<S: Sink, const V: bool> World<'_, S, V> {
    #[cold]
    #[inline(never)]
    fn violated(&mut self, place: String, now: u64, reason: String) {
        self.fail(RunError::Violated { place: format!("{place} at {}", Nanos::new(now)), reason });
    }

    fn at_node(&self, node: u32) -> String {
        format!("node `{}`", self.scenario.nodes[node as usize])
    }

    fn of_process(&self, process: u32) -> String {
        format!("process `{}`", self.name(process))
    }

    /// Time is told without gap or overlap.
    #[inline]
    pub(super) fn audit_time(&mut self, node: u32, who: Who, from: u64, until: u64) {
        self.tally.checked += 1;
        let told = std::mem::replace(&mut self.audit.told[node as usize], until);
        if told != from || until < from {
            let reason =
                format!("the processor is told from {from}ns to {until}ns, and was told up to {told}ns");
            self.violated(self.at_node(node), from, reason);
        }
        if let Who::Process(process, _) = who {
            self.audit.had[process as usize] += until - from;
        }
    }

    /// What the discipline says must always hold.
    #[inline]
    pub(super) fn audit_discipline<D: TaskDiscipline<Task>>(&mut self, node: &Node<D>, now: u64) {
        self.tally.checked += 1;
        if let Err(violation) = node.discipline.verify() {
            self.violated(self.at_node(node.number), now, violation.0);
        }
        if self.drops.0 != self.audit.drops {
            self.audit.drops = self.drops.0;
            self.violated(self.at_node(node.number), now, "the discipline has dropped a process".to_owned());
        }
    }

    /// A process was charged: the discipline counts what it was told.
    #[inline]
    pub(super) fn audit_charge<D: TaskDiscipline<Task>>(
        &mut self,
        node: &Node<D>,
        process: u32,
        used: u64,
        now: u64,
    ) {
        self.audit_discipline(node, now);
        let charged = &mut self.audit.charged[process as usize];
        *charged += used;
        let charged = *charged;
        if let Some(counted) = self.counted(node, process) {
            let expected = i128::from(charged) + self.audit.beyond[process as usize];
            if counted != expected {
                let reason = format!("the discipline counts {counted}ns of it and was told {expected}ns");
                self.violated(self.of_process(process), now, reason);
            }
        }
    }

    fn counted<D: TaskDiscipline<Task>>(&self, node: &Node<D>, process: u32) -> Option<i128> {
        let used = node.discipline.used(FlowId(process))?;
        Some([used.need, used.uncommitted, used.windfall].map(|kind| i128::from(kind.get())).iter().sum())
    }

    /// A process is left, and its time up to the end of the interrupt was told.
    #[inline]
    pub(super) fn audit_left(&mut self, process: u32, now: u64) {
        let (had, charged) = (self.audit.had[process as usize], self.audit.charged[process as usize]);
        let carried = self.processes[process as usize].carried;
        if had != charged + carried {
            let reason = format!("it had {had}ns, was charged for {charged}ns and carries {carried}ns");
            self.violated(self.of_process(process), now, reason);
        }
    }

    /// A discipline has decided: who is started was ready, and nobody of a higher level is.
    #[inline]
    pub(super) fn audit_decision<D: TaskDiscipline<Task>>(
        &mut self,
        node: &Node<D>,
        after: u32,
        level: Option<i8>,
        now: u64,
    ) {
        self.audit_discipline(node, now);
        if after == NOBODY {
            return;
        }
        let one = &self.processes[after as usize];
        if one.state != State::Ready || one.node != node.number {
            let reason = format!("it is started, and is {:?} on node {}", one.state, one.node);
            self.violated(self.of_process(after), now, reason);
        }
        let outranks = |(other, one): (u32, &Process)| {
            let waits = one.state == State::Ready && one.node == node.number;
            waits && node.discipline.level(FlowId(other)) > level
        };
        if let Some(other) = (0..).zip(&self.processes).position(outranks) {
            self.outranked(node, after, other as u32, level, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn outranked<D: TaskDiscipline<Task>>(
        &mut self,
        node: &Node<D>,
        after: u32,
        other: u32,
        level: Option<i8>,
        now: u64,
    ) {
        let higher = node.discipline.level(FlowId(other));
        let reason =
            format!("it is started on level {level:?} while `{}` is ready on {higher:?}", self.name(other));
        self.violated(self.of_process(after), now, reason);
    }

    /// A queue never holds both data and those who wait.
    #[inline]
    pub(super) fn audit_queue(&mut self, queue: u32, now: u64) {
        self.tally.checked += 1;
        let dual = &self.queues[queue as usize];
        if !dual.data.is_empty() && !dual.waiting.is_empty() {
            let reason = format!("it holds {} data while {} wait", dual.data.len(), dual.waiting.len());
            self.violated(format!("queue `{}`", self.scenario.queues[queue as usize].name), now, reason);
        }
    }

    /// A process has come to a node, whose discipline may have counted something of it before.
    pub(super) fn audit_moved<D: TaskDiscipline<Task>>(&mut self, node: &Node<D>, process: u32) {
        let charged = i128::from(self.audit.charged[process as usize]);
        self.audit.beyond[process as usize] = self.counted(node, process).unwrap_or(0) - charged;
    }

    /// The time of a node is over, and was told to the end.
    pub(super) fn audit_end(&mut self, node: u32, end: u64) {
        let told = self.audit.told[node as usize];
        if told < end {
            self.violated(self.at_node(node), end, format!("the processor is told up to {told}ns only"));
        }
    }
}
