//! What hears of everything that happens on a worker: the recorder of a live run, or a simulation.

use crate::dispatcher::After;
use weir_core::task::Declared;

/// A poll of a task. Times are nanoseconds since the executor began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polled {
    pub(crate) task: u32,
    /// The level of the queue on which it ran.
    pub(crate) level: Option<i8>,
    pub(crate) from: u64,
    pub(crate) until: u64,
    pub(crate) after: After,
    /// How much of it the worker needed to come to the task, where that was measured.
    pub(crate) own: Option<u64>,
}

/// How long a poll took, from when until when, and how much of it the worker needed to come to the task, if that was
/// measured.
#[derive(Clone, Copy)]
pub(crate) struct Took {
    pub(crate) from: u64,
    pub(crate) until: u64,
    pub(crate) own: Option<u64>,
}

impl Took {
    pub(crate) const fn span(self) -> u64 {
        self.until.saturating_sub(self.from)
    }
}

/// Hears of what happens on a worker, on its thread. A task's number is used again once the task has ended.
pub(crate) trait Observe {
    /// A task was admitted.
    fn admitted(&mut self, now: u64, task: u32, name: &str, declared: &Declared) {
        let _ = (now, task, name, declared);
    }

    /// A task that waited became ready.
    #[inline]
    fn ready(&mut self, now: u64, task: u32) {
        let _ = (now, task);
    }

    /// A poll is over.
    fn polled(&mut self, polled: Polled);

    /// Whether it is to be measured how long the worker needs to come to the next task. That takes one more look at the
    /// clock.
    #[inline]
    fn measures(&mut self) -> bool {
        false
    }

    /// Nobody is ready.
    fn rests(&mut self, now: u64) {
        let _ = now;
    }

    /// The worker is about to stop.
    fn is_over(&mut self, now: u64) {
        let _ = now;
    }
}
