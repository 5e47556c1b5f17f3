//! What a worker counts: the six paths of its scheduler, wake-ups, polls, and how long the longest of them was.

use std::time::Duration;

use weir_core::task::Path;

/// What a scheduler has decided since it began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Decisions {
    pub(crate) paths: [u64; Path::COUNT],
    pub(crate) high_over_low: u64,
    /// Nanoseconds in which nobody ran.
    pub(crate) idle: u64,
}

impl Decisions {
    #[inline]
    pub(crate) fn made(&mut self, path: Path, high_over_low: bool) {
        self.paths[path as usize] += 1;
        self.high_over_low += u64::from(high_over_low);
    }
}

/// What a worker has counted of its tasks since it began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) wakes: u64,
    pub(crate) polls: u64,
    pub(crate) spawned: u64,
    pub(crate) refused: u64,
    pub(crate) panicked: u64,
    pub(crate) aborted: u64,
    /// The longest poll in nanoseconds, and whose it was.
    pub(crate) longest_poll: u64,
    pub(crate) longest_poll_of: String,
}

/// What a worker has counted and measured since it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerCounts {
    /// Its number.
    pub worker: usize,
    /// How long it has run.
    pub elapsed: Duration,
    /// For how long of that nobody ran.
    pub idle: Duration,
    /// How often the scheduler went each [`Path`].
    pub paths: [u64; Path::COUNT],
    /// How often a task of a normal queue took over from one of a low queue.
    pub high_over_low: u64,
    /// Wake-ups of tasks that waited.
    pub wakes: u64,
    /// Polls of tasks.
    pub polls: u64,
    /// Tasks that were admitted.
    pub spawned: u64,
    /// Tasks that were refused, panicked, and were aborted.
    pub refused: u64,
    /// See [`Self::refused`].
    pub panicked: u64,
    /// See [`Self::refused`].
    pub aborted: u64,
    /// The longest poll so far: for that long no other task could run.
    pub longest_poll: Duration,
    /// Whose it was.
    pub longest_poll_of: String,
    /// The tasks that have not ended.
    pub tasks: Vec<TaskCounts>,
}

/// What a worker has counted of one task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskCounts {
    /// Its name.
    pub name: String,
    /// How long it has run, in polls.
    pub run: Duration,
    /// How often it was polled.
    pub polls: u64,
    /// Its longest poll.
    pub longest_poll: Duration,
    /// What it has used out of its need, of what is promised to nobody, and of what others were promised and did not
    /// claim; `None` under a discipline for which all time is alike.
    pub used: Option<[Duration; 3]>,
}
