//! From events to bursts: each wake-up of a task, how long it ran until it waited again, and when that was.

use crate::events::{After, Event};

/// A wake-up of a task, and what it ran until it waited. Times are nanoseconds since the executor began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// When it became ready.
    pub wake: u64,
    /// How long it ran, with what the executor needed to come to it.
    pub run: u64,
    /// When it waited again, ended, or was last seen.
    pub done: u64,
    /// How often the discipline gave it the worker: with another task, or none, before it; and with itself. Where it went
    /// on behind a yield is not counted.
    pub given: [u32; 2],
}

/// What a task did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Did {
    /// Its bursts, in the order of time.
    pub bursts: Vec<Burst>,
    /// How often it gave way of its own accord.
    pub yields: u64,
    /// Its longest poll.
    pub longest_poll: u64,
    /// When it ended; `None`: it had not when the recording ends.
    pub ended: Option<u64>,
    open: Option<Burst>,
    yielded: bool,
}

/// What the executor itself needed for a poll, where that was measured, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Where another task, or none, was polled before; and where the same was.
    pub found: [Vec<u64>; 2],
}

/// Gathers bursts.
#[derive(Debug, Default)]
pub struct Bursts {
    /// What each task did, by its place in the facts.
    pub tasks: Vec<Did>,
    /// What polls cost.
    pub costs: Costs,
    /// The last task that each worker polled, and until when.
    before: Vec<Option<(u32, u64)>>,
    /// How many bursts there are, and may be; those behind are left out.
    kept: usize,
    most: usize,
    /// Whether some were left out.
    pub is_cut: bool,
}

const OTHER: usize = 0;
const SAME: usize = 1;
/// The most measurements that are kept of each kind.
const MOST_COSTS: usize = 1 << 20;

impl Bursts {
    /// Gathers at most `most` bursts.
    #[must_use]
    pub fn up_to(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// An event of a worker.
    pub fn hear(&mut self, worker: u32, event: Event) {
        let (Event::Ready { task, .. } | Event::Poll { task, .. }) = event;
        if task as usize >= self.tasks.len() {
            self.tasks.resize_with(task as usize + 1, Did::default);
        }
        let did = &mut self.tasks[task as usize];
        match event {
            Event::Ready { at, .. } => {
                did.open.get_or_insert(Burst { wake: at, run: 0, done: at, given: [0; 2] });
            }
            Event::Poll { from, until, after, own, .. } => {
                if worker as usize >= self.before.len() {
                    self.before.resize(worker as usize + 1, None);
                }
                let before = self.before[worker as usize].replace((task, until));
                let kind = if before == Some((task, from)) { SAME } else { OTHER };
                let took = until - from;
                did.polled(from, until, after, kind);
                did.longest_poll = did.longest_poll.max(took);
                if let Some(own) = own.filter(|_| self.costs.found[kind].len() < MOST_COSTS) {
                    self.costs.found[kind].push(own.min(took));
                }
                if matches!(after, After::Waits | After::Ends) {
                    self.close(task as usize);
                }
            }
        }
    }

    fn close(&mut self, task: usize) {
        let did = &mut self.tasks[task];
        if let Some(burst) = did.open.take() {
            if self.kept == self.most {
                self.is_cut = true;
            } else {
                self.kept += 1;
                did.bursts.push(burst);
            }
        }
    }

    /// The recording is over, with `tasks` tasks: what ran and had not come to an end is kept as far as it went.
    pub fn finish(&mut self, tasks: usize) {
        self.tasks.resize_with(tasks, Did::default);
        for task in 0..tasks {
            if self.tasks[task].open.is_some_and(|burst| burst.run > 0) {
                self.close(task);
            }
        }
    }
}

impl Did {
    fn polled(&mut self, from: u64, until: u64, after: After, kind: usize) {
        // Where the wake-up is lost, it is taken to have been when the poll began.
        let burst = self.open.get_or_insert(Burst { wake: from, run: 0, done: from, given: [0; 2] });
        burst.run = burst.run.saturating_add(until - from);
        burst.done = until;
        if !std::mem::replace(&mut self.yielded, after == After::Yields) {
            burst.given[kind] = burst.given[kind].saturating_add(1);
        }
        self.yields += u64::from(after == After::Yields);
        if after == After::Ends {
            self.ended = Some(until);
        }
    }
}

impl Costs {
    /// The middle of what was found of polls behind another task's; and of those behind the same one's, which cost no
    /// more. `None` where nothing was.
    #[must_use]
    pub fn medians(&mut self) -> [Option<u64>; 2] {
        let [other, same] = &mut self.found;
        let [other, same] = [median(other), median(same)];
        match (other, same) {
            (Some(other), same) => [Some(other), Some(same.unwrap_or(other).min(other))],
            (None, same) => [same; 2],
        }
    }
}

fn median(found: &mut [u64]) -> Option<u64> {
    let middle = found.len() / 2;
    (!found.is_empty()).then(|| *found.select_nth_unstable(middle).1)
}
