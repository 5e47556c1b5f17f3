//! What all nodes share: processes, events and queues, and where each of them stands.

use std::collections::VecDeque;

use weir_core::discipline::CountDrops;
use weir_core::item::FlowId;
use weir_core::task::{Overcommitted, Task};
use weir_core::units::{Instant, Nanos};

use crate::engine::audit::Audit;
use crate::engine::books::Books;
use crate::engine::code::Programs;
use crate::engine::switch::Message;
use crate::job::{Job, Tally};
use crate::model::{self, Costs, NodeScenario};
use crate::record::{PATHS, Path, Sink};
use weir_lab::error::RunError;
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::duration::Law;

/// No process, or no event.
pub(super) const NOBODY: u32 = u32::MAX;
/// The end of the clock: never.
pub(super) const NEVER: u64 = u64::MAX;
/// The most operations and decisions at one instant; a program that does more comes to no end.
pub(super) const MOST_AT_ONCE: u64 = 1_000_000;
/// The most data in a queue, and the most that a timer demon is asked for.
pub(super) const MOST_WAITING: usize = 1 << 24;

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Waits for the processor.
    Ready,
    Runs,
    /// Waits for events; which, its step says.
    WaitsForEvent,
    /// Waits at a queue.
    WaitsForData(u32),
    /// The timer demon will wake it.
    Sleeps,
    Ended,
}

/// A process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) step: u32,
    pub(super) node: u32,
    pub(super) state: State,
    /// The cost of the step was used already: it takes effect now.
    pub(super) paid: bool,
    /// It has not run since it became ready.
    pub(super) fresh: bool,
    pub(super) system: bool,
    /// The rest of what it computes.
    pub(super) left: u64,
    /// Overheads that count in its next slice.
    pub(super) carried: u64,
    /// When its response began: when it became ready, or the run of its replay was due.
    pub(super) woke: u64,
    /// When the response that it next starts began, if it is late for it and only waits to move; else never.
    pub(super) owed: u64,
    /// The last epoch in which it was not ready throughout.
    pub(super) unready: u64,
    /// Its posted events, in the order of the posts.
    pub(super) first_posted: u32,
    pub(super) last_posted: u32,
    /// The node that it moves to when it waits.
    pub(super) moves_to: u32,
    /// What it was charged for since nodes were last compared.
    pub(super) recent: u64,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) owner: u32,
    pub(super) posted: bool,
    /// Its neighbours among the posted events of its owner.
    pub(super) before: u32,
    pub(super) after: u32,
}

/// A dual queue.
#[derive(Clone, Debug)]
pub(super) struct Dual {
    pub(super) node: u32,
    /// When each datum was put in.
    pub(super) data: VecDeque<u64>,
    /// Who waits.
    pub(super) waiting: VecDeque<u32>,
}

/// Costs in nanoseconds, by path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices {
    pub(super) path: [u64; PATHS],
    pub(super) timer: u64,
    pub(super) post: u64,
    pub(super) remote: u64,
}

impl Prices {
    fn new(costs: Costs) -> Self {
        let (restart, swap) = (costs.restart.get(), costs.swap.get());
        let half = restart.midpoint(swap);
        let mut path = [restart; PATHS];
        path[Path::Swap as usize] = swap;
        path[Path::ToIdle as usize] = half;
        path[Path::FromIdle as usize] = half;
        Self { path, timer: costs.timer.get(), post: costs.post.get(), remote: costs.remote.get() }
    }
}

/// What all nodes share. `V`: whether everything is verified.
pub(super) struct World<'a, S, const V: bool> {
    pub(super) scenario: &'a NodeScenario,
    pub(super) sink: &'a mut S,
    pub(super) programs: Programs,
    pub(super) processes: Vec<Process>,
    pub(super) events: Vec<Event>,
    pub(super) queues: Vec<Dual>,
    /// How often each counted loop is still done; of a replay, twice the run it is at, and one if it has woken.
    pub(super) counters: Vec<u64>,
    pub(super) streams: Vec<Option<Box<Stream>>>,
    pub(super) prices: Prices,
    pub(super) books: Books,
    /// The number of the epoch, and its beginning.
    pub(super) epoch: u64,
    pub(super) epoch_start: u64,
    /// How many things were asked of timers and switch so far.
    pub(super) asked: u64,
    /// What is to be sent, and where to.
    pub(super) outgoing: Vec<(u32, Message)>,
    /// Processes that wait now and are to move.
    pub(super) moving: Vec<u32>,
    /// How busy each node was, while nodes are compared.
    pub(super) busy: Vec<u64>,
    /// Processes, but for the system's, that have not ended.
    pub(super) alive: u64,
    /// What may still move them: those that are ready, what timers hold of them, what is under way.
    pub(super) active: u64,
    /// The last instant, and how much may still happen at it.
    pub(super) instant: u64,
    pub(super) budget: u64,
    pub(super) tally: Tally,
    /// Nodes that promise, or have promised, more than they have, by number, and the most of it.
    pub(super) overcommitted: Vec<(usize, Overcommitted)>,
    pub(super) drops: CountDrops,
    pub(super) audit: Audit,
    pub(super) failure: Option<RunError>,
}

impl<'a, S: Sink, const V: bool> World<'a, S, V> {
    pub(super) fn new(scenario: &'a NodeScenario, job: Job, sink: &'a mut S) -> Result<Self, RunError> {
        let programs = Programs::new(scenario)?;
        let stream = |number: usize| {
            let key = StreamKey {
                seed: scenario.seed,
                replication: job.replication,
                purpose: Purpose::Services,
                index: number as u32,
            };
            programs.random[number].then(|| Box::new(Stream::new(key)))
        };
        let event = |event: &model::Event| Event {
            owner: event.owner as u32,
            posted: false,
            before: NOBODY,
            after: NOBODY,
        };
        let queue = |queue: &model::DualQueue| Dual {
            node: queue.node as u32,
            data: VecDeque::new(),
            waiting: VecDeque::new(),
        };
        Ok(Self {
            scenario,
            sink,
            processes: (0..scenario.processes.len())
                .map(|number| Process::new(scenario, &programs, number))
                .collect(),
            events: scenario.events.iter().map(event).collect(),
            queues: scenario.queues.iter().map(queue).collect(),
            counters: programs.times.clone(),
            streams: (0..scenario.processes.len()).map(stream).collect(),
            programs,
            prices: Prices::new(scenario.costs),
            books: Books::default(),
            epoch: 0,
            epoch_start: 0,
            asked: 0,
            outgoing: Vec::new(),
            moving: Vec::new(),
            busy: vec![0; scenario.nodes.len()],
            alive: scenario.processes.iter().filter(|process| !process.system).count() as u64,
            active: 0,
            instant: 0,
            budget: MOST_AT_ONCE,
            tally: Tally::default(),
            overcommitted: Vec::new(),
            drops: CountDrops::default(),
            audit: Audit::new(scenario.processes.len(), scenario.nodes.len()),
            failure: None,
        })
    }

    /// The next number of what is asked of timers and switch.
    #[inline]
    pub(super) fn number(&mut self) -> u64 {
        self.asked += 1;
        self.asked
    }

    /// How long a law says.
    #[inline]
    pub(super) fn draw(&mut self, process: u32, law: u32) -> u64 {
        match (self.programs.laws[law as usize], &mut self.streams[process as usize]) {
            (Law::Exponential(mean), Some(stream)) => stream.next_exponential(mean.get() as f64),
            (Law::Uniform(low, high), Some(stream)) => {
                let span = (high.get() - low.get()).saturating_add(1);
                low.get().saturating_add(stream.next_below(span))
            }
            (Law::Constant(span) | Law::Exponential(span) | Law::Uniform(span, _), _) => span.get(),
        }
    }

    /// Whether more may happen at `now`; `false` where a program, or a discipline, comes to no end.
    #[inline]
    pub(super) fn may_go_on(&mut self, now: u64) -> bool {
        if self.instant != now {
            (self.instant, self.budget) = (now, MOST_AT_ONCE);
        }
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }

    /// A node promises more than it has.
    pub(super) fn overcommits(&mut self, node: usize, over: Overcommitted) {
        let place = self.overcommitted.partition_point(|(other, _)| *other < node);
        match self.overcommitted.get_mut(place).filter(|(other, _)| *other == node) {
            Some((_, most)) if most.committed >= over.committed => {}
            Some((_, most)) => *most = over,
            None => self.overcommitted.insert(place, (node, over)),
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, error: RunError) {
        self.failure.get_or_insert(error);
    }

    /// The first failure, if there is one.
    ///
    /// # Errors
    /// That.
    #[cold]
    #[inline(never)]
    pub(super) fn failed(&mut self) -> Result<(), RunError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    pub(super) fn name(&self, process: u32) -> &'a str {
        &self.scenario.processes[process as usize].name
    }
}

impl Process {
    fn new(scenario: &NodeScenario, programs: &Programs, number: usize) -> Self {
        let process = &scenario.processes[number];
        Self {
            step: programs.entries[number],
            node: process.node as u32,
            state: State::Sleeps,
            paid: false,
            fresh: false,
            system: process.system,
            left: 0,
            carried: 0,
            woke: 0,
            owed: NEVER,
            unready: NEVER,
            first_posted: NOBODY,
            last_posted: NOBODY,
            moves_to: NOBODY,
            recent: 0,
        }
    }

    /// Whether it is ready, or runs.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready | State::Runs)
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
