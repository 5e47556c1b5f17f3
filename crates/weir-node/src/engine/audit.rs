//! Verification: books of its own, compared with the engine's at every transition.
//!
//! | | checked |
//! |-|-|
//! | discipline | what it says must always hold, after every call; it never drops a readiness |
//! | time | who had a processor is reported without gap or overlap, so run time + idle + overhead = elapsed on every node |
//! | charges | what a process had of the processor = what was reported to the discipline + the overheads carried to its next slice; the discipline's own count of it, where it has one, is the same |
//! | levels | nobody is started while somebody of a higher level is ready |
//! | states | who is started was ready; a dual queue never holds both data and those who wait |
//!
//! The first violation ends the run and names time, place and values.

use crate::engine::books::{Had, Who};
use crate::engine::faults::Faults;
use crate::engine::objects::Dual;
use crate::engine::process::{Process, State};
use crate::engine::processor::Node;
use crate::engine::world::NOBODY;
use weir_core::item::FlowId;
use weir_core::task::{Task, TaskDiscipline};
use weir_core::units::Nanos;
use weir_lab::error::RunError;

/// The books of a replication; they stay empty, and nothing is compared, unless it `verifies`.
#[derive(Debug)]
pub(super) struct Audit {
    verifies: bool,
    /// By process: what it had of processors, and what was reported to disciplines.
    had: Vec<u64>,
    charged: Vec<u64>,
    /// What the discipline of its node has counted beyond `charged`: less than nothing where it came from elsewhere.
    beyond: Vec<i128>,
    /// By node: up to when it is reported who had the processor.
    told: Vec<u64>,
    drops: u64,
    /// How many transitions were checked.
    pub(super) checked: u64,
}

impl Faults<'_> {
    #[cold]
    #[inline(never)]
    fn violated(&mut self, place: &str, now: u64, reason: String) {
        self.fail(RunError::Violated { place: format!("{place} at {}", Nanos::new(now)), reason });
    }
}

impl Audit {
    pub(super) fn new(verifies: bool, processes: usize, nodes: usize) -> Self {
        Self {
            verifies,
            had: vec![0; processes],
            charged: vec![0; processes],
            beyond: vec![0; processes],
            told: vec![0; nodes],
            drops: 0,
            checked: 0,
        }
    }

    /// Checks that time is reported without gap or overlap.
    #[inline]
    pub(super) fn time(&mut self, faults: &mut Faults<'_>, Had { node, who, from, until }: Had) {
        if self.verifies {
            apart(move || {
                self.checked += 1;
                let told = std::mem::replace(&mut self.told[node as usize], until);
                if told != from || until < from {
                    let reason = format!(
                        "the processor is reported from {from}ns to {until}ns, and was reported up to \
                         {told}ns"
                    );
                    faults.violated(&faults.node(node), from, reason);
                }
                if let Who::Process(process, _) = who {
                    self.had[process as usize] += until - from;
                }
            });
        }
    }

    /// What the discipline says must always hold.
    #[inline]
    pub(super) fn discipline<D: TaskDiscipline<Task>>(
        &mut self,
        faults: &mut Faults<'_>,
        node: &Node<D>,
        now: u64,
    ) {
        if self.verifies {
            apart(move || self.holds(faults, node, now));
        }
    }

    #[inline]
    fn holds<D: TaskDiscipline<Task>>(&mut self, faults: &mut Faults<'_>, node: &Node<D>, now: u64) {
        self.checked += 1;
        if let Err(violation) = node.discipline.verify() {
            faults.violated(&faults.node(node.number), now, violation.0);
        }
        if faults.drops.0 != self.drops {
            self.drops = faults.drops.0;
            faults.violated(
                &faults.node(node.number),
                now,
                "the discipline has dropped a process".to_owned(),
            );
        }
    }

    /// A process was charged: checks that the discipline counts what was reported to it.
    #[inline]
    pub(super) fn charge<D: TaskDiscipline<Task>>(
        &mut self,
        faults: &mut Faults<'_>,
        node: &Node<D>,
        process: u32,
        used: u64,
        now: u64,
    ) {
        if self.verifies {
            apart(move || {
                self.holds(faults, node, now);
                let charged = &mut self.charged[process as usize];
                *charged += used;
                if let Some(counted) = counted(node, process) {
                    let expected = i128::from(*charged) + self.beyond[process as usize];
                    if counted != expected {
                        let reason =
                            format!("the discipline counts {counted}ns of it and was given {expected}ns");
                        faults.violated(&faults.process(process), now, reason);
                    }
                }
            });
        }
    }

    /// A process is left, and its time up to the end of the interrupt was reported.
    #[inline]
    pub(super) fn left(&mut self, faults: &mut Faults<'_>, process: u32, carried: u64, now: u64) {
        if self.verifies {
            apart(move || {
                let (had, charged) = (self.had[process as usize], self.charged[process as usize]);
                if had != charged + carried {
                    let reason =
                        format!("it had {had}ns, was charged for {charged}ns and carries {carried}ns");
                    faults.violated(&faults.process(process), now, reason);
                }
            });
        }
    }

    /// A discipline has decided: who is started was ready, and nobody of a higher level is.
    #[inline]
    pub(super) fn decision<D: TaskDiscipline<Task>>(
        &mut self,
        faults: &mut Faults<'_>,
        processes: &[Process],
        node: &Node<D>,
        after: u32,
        now: u64,
    ) {
        if self.verifies {
            apart(move || {
                self.holds(faults, node, now);
                if after == NOBODY {
                    return;
                }
                let one = &processes[after as usize];
                if one.state != State::Ready || one.node != node.number {
                    let reason = format!("it is started, and is {:?} on node {}", one.state, one.node);
                    faults.violated(&faults.process(after), now, reason);
                }
                let level_of = |process| node.discipline.level(FlowId(process));
                let level = level_of(after);
                let outranks = |(other, one): &(u32, &Process)| {
                    let waits = one.state == State::Ready && one.node == node.number;
                    waits && level_of(*other) > level
                };
                if let Some((other, _)) = (0..).zip(processes).find(outranks) {
                    let (name, higher) = (faults.name(other), level_of(other));
                    let reason =
                        format!("it is started on level {level:?} while `{name}` is ready on {higher:?}");
                    faults.violated(&faults.process(after), now, reason);
                }
            });
        }
    }

    /// A queue never holds both data and those who wait.
    #[inline]
    pub(super) fn queue(&mut self, faults: &mut Faults<'_>, queue: u32, dual: &Dual, now: u64) {
        if self.verifies {
            apart(move || {
                self.checked += 1;
                if !dual.data.is_empty() && !dual.waiting.is_empty() {
                    let reason =
                        format!("it holds {} data while {} wait", dual.data.len(), dual.waiting.len());
                    faults.violated(&faults.queue(queue), now, reason);
                }
            });
        }
    }

    /// A process has come to a node, whose discipline may have counted something of it before.
    pub(super) fn moved<D: TaskDiscipline<Task>>(&mut self, node: &Node<D>, process: u32) {
        if self.verifies {
            apart(move || {
                let charged = i128::from(self.charged[process as usize]);
                self.beyond[process as usize] = counted(node, process).unwrap_or(0) - charged;
            });
        }
    }

    /// The time of all nodes is over, and was reported to the end.
    pub(super) fn end(&self, faults: &mut Faults<'_>, end: u64) {
        for (node, told) in (0..).zip(&self.told).filter(|(_, told)| self.verifies && **told < end) {
            faults.violated(
                &faults.node(node),
                end,
                format!("the processor is reported up to {told}ns only"),
            );
        }
    }
}

/// Runs a check apart from the engine's code, which is small without it and seldom goes there. Checks take what they read by
/// value: a reference to a local would keep it in memory, also where nothing is verified.
#[cold]
#[inline(never)]
fn apart(check: impl FnOnce()) {
    check();
}

/// What the discipline of a node has counted of a process.
fn counted<D: TaskDiscipline<Task>>(node: &Node<D>, process: u32) -> Option<i128> {
    let used = node.discipline.used(FlowId(process))?;
    Some([used.need, used.uncommitted, used.windfall].map(|kind| i128::from(kind.get())).iter().sum())
}
