//! A replication over time, window by window, where `measure.over_time` asks for it.
//!
//! | metric | statistic | of | of a window |
//! |---|---|---|---|
//! | `share` | mean | all processes but the system's, and each process | run time, of the time of a processor |
//! | `responses` | count | all | responses that end in it |
//! | `response` | mean | all, and each process | of these, from ready to waiting |
//! | `response` | p50, p99 | all | of at least 10 and 100 of these |
//! | `late` | share | all | of those of processes with a deadline, the ones that are longer |
//! | `length` | mean | each queue | what lies there, over time |
//! | `busy`, `uncharged` | mean | each node | the part of the time in which somebody runs, and in which the processor is busy for nobody |
//!
//! Windows go from the beginning to the end of a replication, warm-up included.
//!
//! | | |
//! |-|-|
//! | Work | O(1) for each event |
//! | Memory | a histogram a window; 48 bytes a window and process, 24 and queue, 48 and node |
//! | Units | nanoseconds |

use crate::model::NodeScenario;
use crate::record::Sink;
use weir_core::units::{Instant, Nanos};
use weir_lab::stats::windows::{self, FEWEST, Figures};
use weir_lab::stats::{Areas, Histogram};

/// The responses that end in one window, of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ended {
    count: u64,
    sum: u128,
}

/// A process over time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ProcessWindows {
    ran: Areas,
    ended: Vec<Ended>,
    deadline: Option<u64>,
    /// Whether it counts among all.
    counts: bool,
}

/// A node over time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NodeWindows {
    busy: Areas,
    uncharged: Areas,
}

/// The responses that end in one window, of all processes but the system's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Together {
    responses: Histogram,
    with_deadline: u64,
    late: u64,
}

/// Collects windows of one replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    length: u64,
    processes: Vec<ProcessWindows>,
    queues: Vec<Areas>,
    nodes: Vec<NodeWindows>,
    together: Vec<Together>,
}

/// How many rows of figures there are.
#[must_use]
pub fn rows(processes: usize, queues: usize, nodes: usize) -> u64 {
    (6 + 2 * processes + queues + 2 * nodes) as u64
}

impl Windows {
    /// Nothing yet; none where a scenario does not ask for it.
    #[must_use]
    pub fn new(node: &NodeScenario) -> Option<Self> {
        let (length, end) = (node.measure.over_time?, node.stop.duration);
        let areas = Areas::new(length.get(), end.get());
        let count = windows::count(length, end) as usize;
        let process = |process: &crate::model::Process| ProcessWindows {
            ran: areas.clone(),
            ended: vec![Ended::default(); count],
            deadline: process.deadline.map(Nanos::get),
            counts: !process.system,
        };
        let of_node = NodeWindows { busy: areas.clone(), uncharged: areas.clone() };
        Some(Self {
            length: length.get().max(1),
            processes: node.processes.iter().map(process).collect(),
            queues: vec![areas.clone(); node.queues.len()],
            nodes: vec![of_node; node.nodes.len()],
            together: vec![Together::default(); count],
        })
    }

    fn response(&mut self, process: usize, at: Instant, since: Instant) {
        let (window, time) = ((at.get() / self.length) as usize, at.since(since).get());
        let own = &mut self.processes[process];
        let Some(ended) = own.ended.get_mut(window) else { return };
        ended.count += 1;
        ended.sum += u128::from(time);
        if !own.counts {
            return;
        }
        let together = &mut self.together[window];
        together.responses.record(time);
        if let Some(deadline) = own.deadline {
            together.with_deadline += 1;
            together.late += u64::from(time > deadline);
        }
    }

    /// What was collected: of all processes, of each, of each queue, of each node.
    #[must_use]
    pub fn figures(&self, node: &NodeScenario) -> Vec<Figures> {
        let of_process = |(process, windows): (&crate::model::Process, &ProcessWindows)| {
            let share = Figures::new("share", "mean", "1", some(windows.ran.means()));
            let response = Figures::new("response", "mean", "s", windows.ended.iter().map(mean).collect());
            [share.of(&process.name), response.of(&process.name)]
        };
        let of_queue = |(queue, length): (&crate::model::DualQueue, &Areas)| {
            Figures::new("length", "mean", "1", some(length.means())).of(&queue.name)
        };
        let of_node = |(name, windows): (&String, &NodeWindows)| {
            let busy = Figures::new("busy", "mean", "1", some(windows.busy.means()));
            let uncharged = Figures::new("uncharged", "mean", "1", some(windows.uncharged.means()));
            [busy.of(name), uncharged.of(name)]
        };
        let processes = node.processes.iter().zip(&self.processes).flat_map(of_process);
        let queues = node.queues.iter().zip(&self.queues).map(of_queue);
        let nodes = node.nodes.iter().zip(&self.nodes).flat_map(of_node);
        self.together().into_iter().chain(processes).chain(queues).chain(nodes).collect()
    }

    /// Of all processes but the system's.
    fn together(&self) -> [Figures; 6] {
        let counted = || self.processes.iter().filter(|process| process.counts);
        let sum = |mut sum: Vec<f64>, process: &ProcessWindows| {
            sum.iter_mut().zip(process.ran.means()).for_each(|(sum, own)| *sum += own);
            sum
        };
        let shares = counted().fold(vec![0.0; self.together.len()], sum);
        let ended = |window: usize| {
            counted().fold(Ended::default(), |all, process| {
                let own = process.ended[window];
                Ended { count: all.count + own.count, sum: all.sum + own.sum }
            })
        };
        let ended: Vec<Ended> = (0..self.together.len()).map(ended).collect();
        let each = |of: &dyn Fn(&Together) -> Option<f64>| self.together.iter().map(of).collect();
        let quantile = |p: f64, least: u64| {
            each(&|of| of.responses.quantile(p).filter(|_| of.responses.count() >= least).map(seconds))
        };
        let late = |of: &Together| (of.with_deadline > 0).then(|| of.late as f64 / of.with_deadline as f64);
        [
            Figures::new("share", "mean", "1", some(shares)),
            Figures::new("responses", "count", "1", ended.iter().map(|of| Some(of.count as f64)).collect()),
            Figures::new("response", "mean", "s", ended.iter().map(mean).collect()),
            Figures::new("response", "p50", "s", quantile(0.5, FEWEST[0])),
            Figures::new("response", "p99", "s", quantile(0.99, FEWEST[1])),
            Figures::new("late", "share", "1", each(&late)),
        ]
    }
}

fn some(values: Vec<f64>) -> Vec<Option<f64>> {
    values.into_iter().map(Some).collect()
}

fn seconds(nanoseconds: f64) -> f64 {
    nanoseconds / 1e9
}

fn mean(ended: &Ended) -> Option<f64> {
    (ended.count > 0).then(|| seconds(ended.sum as f64 / ended.count as f64))
}

impl Sink for Windows {
    fn ran(&mut self, node: usize, process: usize, _level: Option<i8>, from: Instant, until: Instant) {
        self.nodes[node].busy.add(from.get(), until.get());
        self.processes[process].ran.add(from.get(), until.get());
    }

    fn nobody(&mut self, node: usize, overhead: bool, from: Instant, until: Instant) {
        if overhead {
            self.nodes[node].uncharged.add(from.get(), until.get());
        }
    }

    fn waits(&mut self, process: usize, at: Instant, since: Instant) {
        self.response(process, at, since);
    }

    fn responded(&mut self, process: usize, at: Instant, since: Instant) {
        self.response(process, at, since);
    }

    fn enqueued(&mut self, queue: usize, _process: usize, at: Instant, _length: usize) {
        self.queues[queue].change(at.get(), 1);
    }

    fn dequeued(&mut self, queue: usize, _process: usize, at: Instant, _length: usize, _age: Nanos) {
        self.queues[queue].change(at.get(), -1);
    }
}

#[cfg(test)]
mod tests;
