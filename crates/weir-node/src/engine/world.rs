//! What all nodes share, part by part. A part owns its state; what else it touches stands in its signatures.
//!
//! | Part | Owns | Touches |
//! |-|-|-|
//! | [`Programs`] | the steps of all programs, which never change | |
//! | [`Memory`] | counters of loops, random streams | |
//! | [`Process`] | where a process stands, and who pays for what it did | |
//! | [`Events`], [`Dual`] | what is posted, or lies there, and who waits | the posted events of the owner |
//! | [`Clock`], [`Life`] | the epoch, the order of what is asked for; what can still move | |
//! | [`Books`] | the sink, and what is reported to it only after the boundary | what processes ran of late |
//! | [`Moves`] | who is to move | where the chosen process is to go |
//! | [`Audit`] | books of its own | faults |
//! | [`Faults`] | the first failure, drops, promises | |
//!
//! [`World`] only puts them together: `events` wakes, `programs` runs programs on, `processor` decides and hands over,
//! `balance` moves. No part knows of it.

use crate::engine::audit::Audit;
use crate::engine::balance::Moves;
use crate::engine::books::{Books, Had, Who};
use crate::engine::clock::{Clock, Life};
use crate::engine::code::Programs;
use crate::engine::faults::Faults;
use crate::engine::memory::Memory;
use crate::engine::objects::{Dual, Events};
use crate::engine::process::Process;
use crate::engine::processor::Node;
use crate::engine::stuck::Words;
use crate::engine::switch::Parcel;
use crate::job::{Job, Tally};
use crate::model::{Costs, NodeScenario};
use crate::record::{Path, Sink};
use weir_core::item::FlowId;
use weir_core::task::{Task, TaskDiscipline};
use weir_core::units::{Instant, Nanos};
use weir_lab::error::RunError;

/// No process, or no event.
pub(super) const NOBODY: u32 = u32::MAX;
/// The end of the clock: never.
pub(super) const NEVER: u64 = u64::MAX;

/// Costs in nanoseconds, by path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices {
    pub(super) path: [u64; Path::COUNT],
    pub(super) timer: u64,
    pub(super) post: u64,
    pub(super) remote: u64,
}

impl Prices {
    fn new(costs: Costs) -> Self {
        let (restart, swap) = (costs.restart.get(), costs.swap.get());
        let half = restart.midpoint(swap);
        let mut path = [restart; Path::COUNT];
        path[Path::Swap as usize] = swap;
        path[Path::ToIdle as usize] = half;
        path[Path::FromIdle as usize] = half;
        Self { path, timer: costs.timer.get(), post: costs.post.get(), remote: costs.remote.get() }
    }
}

/// What all nodes share. `V`: whether everything is verified.
pub(super) struct World<'a, S> {
    pub(super) scenario: &'a NodeScenario,
    pub(super) programs: Programs,
    pub(super) memory: Memory,
    pub(super) processes: Vec<Process>,
    pub(super) events: Events,
    pub(super) queues: Vec<Dual>,
    pub(super) prices: Prices,
    pub(super) clock: Clock,
    pub(super) life: Life,
    pub(super) books: Books<'a, S>,
    /// What is to be sent.
    pub(super) outgoing: Vec<Parcel>,
    pub(super) moves: Moves,
    pub(super) tally: Tally,
    pub(super) audit: Audit,
    pub(super) faults: Faults<'a>,
}

impl<'a, S: Sink> World<'a, S> {
    pub(super) fn new(scenario: &'a NodeScenario, job: Job, sink: &'a mut S) -> Result<Self, RunError> {
        let programs = Programs::new(scenario)?;
        let (count, nodes) = (scenario.processes.len(), scenario.nodes.len());
        let processes: Vec<Process> =
            (0..count).map(|number| Process::new(scenario, &programs, number)).collect();
        Ok(Self {
            scenario,
            memory: Memory::new(scenario, &programs, job),
            programs,
            events: Events::new(scenario),
            queues: scenario.queues.iter().map(Dual::new).collect(),
            prices: Prices::new(scenario.costs),
            clock: Clock::new(),
            life: Life::new(&processes),
            processes,
            books: Books::new(sink),
            outgoing: Vec::new(),
            moves: Moves::new(nodes),
            tally: Tally::default(),
            audit: Audit::new(scenario.measure.verify, count, nodes),
            faults: Faults::new(scenario),
        })
    }

    /// What a message about programs may read.
    pub(super) fn words(&self) -> Words<'_> {
        Words { scenario: self.scenario, programs: &self.programs, processes: &self.processes }
    }

    /// More has happened at one instant than any program that comes to an end does.
    #[cold]
    #[inline(never)]
    pub(super) fn endless(&mut self, node: u32, process: u32, now: u64) {
        let error = self.words().endless(node, process, now);
        self.faults.fail(error);
    }

    /// Tells who had the processor of a node up to `until`.
    #[inline]
    pub(super) fn tell<D>(&mut self, node: &mut Node<D>, who: Who, until: u64) {
        let from = std::mem::replace(&mut node.untold, until);
        let had = Had { node: node.number, who, from, until };
        self.audit.time(&mut self.faults, had);
        self.books.had(&mut self.processes, had);
    }

    /// The same, unless it was reported already.
    #[inline]
    pub(super) fn tell_rest<D>(&mut self, node: &mut Node<D>, who: Who, until: u64) {
        if until > node.untold {
            self.tell(node, who, until);
        }
    }

    /// Charges the running process of a node for what it has used so far.
    pub(super) fn charge_running<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, now: u64) {
        if node.running != NOBODY {
            let used = node.unpaid_so_far(now);
            self.charge(node, used, now);
        }
    }

    /// Charges the running process of a node.
    #[inline]
    pub(super) fn charge<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, used: u64, now: u64) {
        node.discipline.charge(at(now), &task(node.running), span(used));
        self.audit.charge(&mut self.faults, node, node.running, used, now);
    }
}

#[inline]
pub(super) fn task(process: u32) -> Task {
    Task { process: FlowId(process) }
}

#[inline]
pub(super) fn at(time: u64) -> Instant {
    Instant::new(time)
}

#[inline]
pub(super) fn span(time: u64) -> Nanos {
    Nanos::new(time)
}
