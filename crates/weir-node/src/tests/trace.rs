//! What happened in a replication, in a form that two engines can be compared by.

use crate::model::NodeScenario;
use crate::record::{Path, Sink};
use weir_core::units::{Instant, Nanos};

/// Who had a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Process(usize),
    Idle,
    Overhead,
}

/// What happened; each list in the order of time, of one instant in the order of the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trace {
    /// By node: who had the processor, from when to when, neighbours of one kind joined.
    pub(super) had: Vec<Vec<(Who, u64, u64)>>,
    pub(super) paths: Vec<(u64, usize, u8)>,
    pub(super) high_over_low: Vec<(u64, usize)>,
    pub(super) woke: Vec<(u64, usize)>,
    pub(super) started: Vec<(u64, usize, usize, Option<u64>)>,
    pub(super) waits: Vec<(u64, usize, u64)>,
    pub(super) responded: Vec<(u64, usize, u64)>,
    pub(super) unfinished: Vec<(u64, usize, u64)>,
    pub(super) enqueued: Vec<(u64, usize, usize, usize)>,
    pub(super) dequeued: Vec<(u64, usize, usize, usize, u64)>,
    pub(super) moved: Vec<(u64, usize, usize)>,
    /// Ends of epochs, and who was ready throughout.
    pub(super) epochs: Vec<(u64, Vec<bool>)>,
    processes: usize,
}

impl Trace {
    pub(super) fn new(scenario: &NodeScenario) -> Self {
        Self {
            had: vec![Vec::new(); scenario.nodes.len()],
            paths: Vec::new(),
            high_over_low: Vec::new(),
            woke: Vec::new(),
            started: Vec::new(),
            waits: Vec::new(),
            responded: Vec::new(),
            unfinished: Vec::new(),
            enqueued: Vec::new(),
            dequeued: Vec::new(),
            moved: Vec::new(),
            epochs: Vec::new(),
            processes: scenario.processes.len(),
        }
    }

    pub(super) fn had(&mut self, node: usize, who: Who, from: u64, until: u64) {
        if from == until {
            return;
        }
        match self.had[node].last_mut() {
            Some((last, _, end)) if *last == who && *end == from => *end = until,
            Some((_, _, end)) if *end != from => panic!("node {node}: told up to {end}, then from {from}"),
            _ => self.had[node].push((who, from, until)),
        }
    }

    /// What differs first, list by list.
    pub(super) fn difference(&self, other: &Self) -> String {
        fn first<T: PartialEq + std::fmt::Debug>(name: &str, one: &[T], other: &[T]) -> String {
            let place = (0..one.len().max(other.len())).find(|&place| one.get(place) != other.get(place));
            place.map_or(String::new(), |place| {
                format!("{name} {place}: {:?}, expected {:?}\n", one.get(place), other.get(place))
            })
        }
        let mut all = vec![
            first("path", &self.paths, &other.paths),
            first("high over low", &self.high_over_low, &other.high_over_low),
            first("woke", &self.woke, &other.woke),
            first("started", &self.started, &other.started),
            first("waits", &self.waits, &other.waits),
            first("responded", &self.responded, &other.responded),
            first("unfinished", &self.unfinished, &other.unfinished),
            first("enqueued", &self.enqueued, &other.enqueued),
            first("dequeued", &self.dequeued, &other.dequeued),
            first("moved", &self.moved, &other.moved),
            first("epoch", &self.epochs, &other.epochs),
        ];
        all.extend(self.had.iter().zip(&other.had).map(|(one, other)| first("had", one, other)));
        all.concat()
    }

    /// The lists of instants in an order that does not depend on the engine's.
    pub(super) fn sorted(mut self) -> Self {
        self.paths.sort_by_key(|one| (one.0, one.1));
        self.woke.sort();
        self.started.sort_by_key(|one| (one.0, one.1));
        self.waits.sort();
        self.responded.sort();
        self.enqueued.sort_by_key(|one| (one.0, one.1));
        self.dequeued.sort_by_key(|one| (one.0, one.1));
        self
    }
}

impl Sink for Trace {
    fn path(&mut self, node: usize, at: Instant, path: Path) {
        self.paths.push((at.get(), node, path as u8));
    }
    fn high_over_low(&mut self, node: usize, at: Instant) {
        self.high_over_low.push((at.get(), node));
    }
    fn woke(&mut self, process: usize, at: Instant) {
        self.woke.push((at.get(), process));
    }
    fn dispatched(&mut self, node: usize, process: usize, at: Instant, woke: Option<Instant>) {
        self.started.push((at.get(), node, process, woke.map(Instant::get)));
    }
    fn ran(&mut self, node: usize, process: usize, _level: Option<i8>, from: Instant, until: Instant) {
        self.had(node, Who::Process(process), from.get(), until.get());
    }
    fn nobody(&mut self, node: usize, overhead: bool, from: Instant, until: Instant) {
        self.had(node, if overhead { Who::Overhead } else { Who::Idle }, from.get(), until.get());
    }
    fn waits(&mut self, process: usize, at: Instant, since: Instant) {
        self.waits.push((at.get(), process, since.get()));
    }
    fn responded(&mut self, process: usize, at: Instant, since: Instant) {
        self.responded.push((at.get(), process, since.get()));
    }
    fn unfinished(&mut self, process: usize, at: Instant, since: Instant) {
        self.unfinished.push((at.get(), process, since.get()));
    }
    fn enqueued(&mut self, queue: usize, process: usize, at: Instant, length: usize) {
        self.enqueued.push((at.get(), queue, process, length));
    }
    fn dequeued(&mut self, queue: usize, process: usize, at: Instant, length: usize, age: Nanos) {
        self.dequeued.push((at.get(), queue, process, length, age.get()));
    }
    fn epoch(&mut self, at: Instant, always_ready: &dyn Fn(usize) -> bool) {
        self.epochs.push((at.get(), (0..self.processes).map(always_ready).collect()));
    }
    fn moved(&mut self, process: usize, node: usize, at: Instant) {
        self.moved.push((at.get(), process, node));
    }
}
