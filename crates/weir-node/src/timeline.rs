//! Who ran when in a part of a run, as a Gantt chart shows it.
//!
//! Of each kind of row up to [`MOST_ROWS`] are kept; where more happens, the timeline ends before what is not kept.
//! A process that goes on where it was left, at the same level, is one row. Work O(1) for each report; memory is
//! bounded by the rows.

use crate::model::NodeScenario;
use crate::outcome::{Critical, Lengths, Marks, Runs, Timeline};
use crate::record::Sink;
use weir_core::units::{Instant, Nanos};

/// The most rows of each kind.
pub const MOST_ROWS: usize = 20_000;

/// Somebody, or nobody, ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    node: u32,
    process: Option<u32>,
    level: Option<i8>,
    from: u64,
    until: u64,
}

/// A queue has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Length {
    queue: u32,
    at: u64,
    length: u64,
}

/// Something has happened to a process, or to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    what: &'static str,
    process: Option<u32>,
    at: u64,
}

/// The critical scheduling period of a node has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Period {
    node: u32,
    at: u64,
    begins: u64,
}

/// Shows a part of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gantt {
    from: u64,
    /// Until when; earlier than asked for where too much happened.
    until: u64,
    truncated: bool,
    runs: Vec<Run>,
    /// The last run of each node.
    last: Vec<Option<usize>>,
    lengths: Vec<Length>,
    marks: Vec<Mark>,
    critical: Vec<Period>,
    /// When the critical scheduling period of each node begins.
    begins: Vec<Option<u64>>,
    /// The same where the timeline begins.
    begins_first: Vec<Option<u64>>,
    /// How much each queue holds there.
    lengths_first: Vec<u64>,
}

/// Adds a row, unless there are too many.
fn keep<T>(rows: &mut Vec<T>, row: T) -> bool {
    let fits = rows.len() < MOST_ROWS;
    if fits {
        rows.push(row);
    }
    fits
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

impl Gantt {
    /// Nothing yet; none where a scenario does not ask for it.
    #[must_use]
    pub fn new(node: &NodeScenario) -> Option<Self> {
        let (from, until) = node.measure.timeline?;
        Some(Self {
            from: from.get(),
            until: until.min(node.stop.duration).get().max(from.get()),
            truncated: false,
            runs: Vec::new(),
            last: vec![None; node.nodes.len()],
            lengths: Vec::new(),
            marks: Vec::new(),
            critical: Vec::new(),
            begins: vec![None; node.nodes.len()],
            begins_first: vec![None; node.nodes.len()],
            lengths_first: vec![0; node.queues.len()],
        })
    }

    /// Nothing is shown from this instant on.
    #[inline]
    #[must_use]
    pub fn until(&self) -> Instant {
        Instant::new(self.until)
    }

    fn holds(&self, at: u64) -> bool {
        (self.from..self.until).contains(&at)
    }

    /// Where `kept` is false, what is from `at` on is not shown.
    fn end(&mut self, kept: bool, at: u64) {
        if !kept {
            self.truncated = true;
            self.until = self.until.min(at);
        }
    }

    fn run(&mut self, mut run: Run) {
        run.from = run.from.max(self.from);
        run.until = run.until.min(self.until);
        if run.from >= run.until {
            return;
        }
        let node = run.node as usize;
        if let Some(last) = self.last[node].map(|last| &mut self.runs[last])
            && (last.process, last.level, last.until) == (run.process, run.level, run.from)
        {
            last.until = run.until;
            return;
        }
        let kept = keep(&mut self.runs, run);
        self.last[node] = if kept { Some(self.runs.len() - 1) } else { None };
        self.end(kept, run.from);
    }

    fn mark(&mut self, what: &'static str, process: Option<u32>, at: Instant) {
        if self.holds(at.get()) {
            let at = at.get();
            let kept = keep(&mut self.marks, Mark { what, process, at });
            self.end(kept, at);
        }
    }

    fn length(&mut self, queue: usize, at: Instant, length: usize) {
        let (at, length) = (at.get(), length as u64);
        if at < self.from {
            self.lengths_first[queue] = length;
        }
        if self.holds(at) {
            let kept = keep(&mut self.lengths, Length { queue: queue as u32, at, length });
            self.end(kept, at);
        }
    }

    /// Puts what there is where the timeline begins before all changes.
    fn begin(&mut self) {
        let at = self.from;
        let held = self.lengths_first.iter().enumerate().filter(|&(_, &length)| length > 0);
        let first = held.map(|(queue, &length)| Length { queue: queue as u32, at, length });
        self.lengths.splice(0..0, first);
        let begins = self.begins_first.iter().enumerate();
        let first =
            begins.filter_map(|(node, begins)| Some(Period { node: node as u32, at, begins: (*begins)? }));
        self.critical.splice(0..0, first);
    }

    /// As a result has it, under the name of a discipline.
    #[must_use]
    pub fn timeline(mut self, discipline: &str) -> Timeline {
        self.begin();
        let until = self.until;
        self.runs.retain(|run| run.from < until);
        self.lengths.retain(|row| row.at < until);
        self.marks.retain(|row| row.at < until);
        self.critical.retain(|row| row.at < until);
        Timeline {
            discipline: discipline.to_owned(),
            from: seconds(self.from),
            until: seconds(until),
            truncated: self.truncated,
            runs: Runs {
                node: self.runs.iter().map(|run| run.node).collect(),
                process: self.runs.iter().map(|run| run.process).collect(),
                level: self.runs.iter().map(|run| run.level).collect(),
                from: self.runs.iter().map(|run| seconds(run.from)).collect(),
                until: self.runs.iter().map(|run| seconds(run.until.min(until))).collect(),
            },
            lengths: Lengths {
                queue: self.lengths.iter().map(|row| row.queue).collect(),
                at: self.lengths.iter().map(|row| seconds(row.at)).collect(),
                length: self.lengths.iter().map(|row| row.length).collect(),
            },
            marks: Marks {
                what: self.marks.iter().map(|row| row.what).collect(),
                process: self.marks.iter().map(|row| row.process).collect(),
                at: self.marks.iter().map(|row| seconds(row.at)).collect(),
            },
            critical: Critical {
                node: self.critical.iter().map(|row| row.node).collect(),
                at: self.critical.iter().map(|row| seconds(row.at)).collect(),
                begins: self.critical.iter().map(|row| seconds(row.begins)).collect(),
            },
        }
    }
}

impl Sink for Gantt {
    fn woke(&mut self, process: usize, at: Instant) {
        self.mark("woke", Some(process as u32), at);
    }

    fn ran(&mut self, node: usize, process: usize, level: Option<i8>, from: Instant, until: Instant) {
        let (node, process) = (node as u32, Some(process as u32));
        self.run(Run { node, process, level, from: from.get(), until: until.get() });
    }

    fn nobody(&mut self, node: usize, overhead: bool, from: Instant, until: Instant) {
        if overhead {
            let (from, until) = (from.get(), until.get());
            self.run(Run { node: node as u32, process: None, level: None, from, until });
        }
    }

    fn waits(&mut self, process: usize, at: Instant, _woke: Instant) {
        self.mark("waits", Some(process as u32), at);
    }

    fn enqueued(&mut self, queue: usize, _process: usize, at: Instant, length: usize) {
        self.length(queue, at, length);
    }

    fn dequeued(&mut self, queue: usize, _process: usize, at: Instant, length: usize, _age: Nanos) {
        self.length(queue, at, length);
    }

    fn epoch(&mut self, at: Instant, _always_ready: &dyn Fn(usize) -> bool) {
        self.mark("epoch", None, at);
    }

    fn critical(&mut self, node: usize, at: Instant, begins: Instant) {
        let (at, begins) = (at.get(), begins.get());
        let changed = self.begins[node].replace(begins) != Some(begins);
        if at < self.from {
            self.begins_first[node] = Some(begins);
        }
        if changed && self.holds(at) {
            let kept = keep(&mut self.critical, Period { node: node as u32, at, begins });
            self.end(kept, at);
        }
    }

    fn moved(&mut self, process: usize, _node: usize, at: Instant) {
        self.mark("moved", Some(process as u32), at);
    }
}
