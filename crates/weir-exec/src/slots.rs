//! The tasks of a worker, by number.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use crate::counters::TaskCounts;
use crate::header::Header;
use crate::join::Settle;

/// What a task is, erased.
pub(crate) type Work = Pin<Box<dyn Future<Output = ()>>>;

/// What a poll of a task takes.
pub(crate) struct Body {
    pub(crate) work: Work,
    pub(crate) header: Arc<Header>,
    pub(crate) waker: Waker,
}

/// A task of this worker.
pub(crate) struct Slot {
    /// `None` while it is polled.
    pub(crate) body: Option<Body>,
    pub(crate) outcome: Arc<dyn Settle>,
    pub(crate) name: Arc<str>,
    /// When it last became ready behind a wait.
    pub(crate) ready_since: u64,
    pub(crate) run: u64,
    pub(crate) polls: u64,
    pub(crate) longest_poll: u64,
}

impl Slot {
    /// A task that has not been polled yet.
    pub(crate) fn new(body: Body, outcome: Arc<dyn Settle>, name: Arc<str>, now: u64) -> Self {
        Self { body: Some(body), outcome, name, ready_since: now, run: 0, polls: 0, longest_poll: 0 }
    }

    /// A poll of it is over, and took this long.
    #[inline]
    pub(crate) fn polled(&mut self, body: Body, took: u64) {
        self.body = Some(body);
        (self.run, self.polls) = (self.run + took, self.polls + 1);
        self.longest_poll = self.longest_poll.max(took);
    }
}

/// See above. Numbers are used again.
#[derive(Default)]
pub(crate) struct Slots {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
}

impl Slots {
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    /// A number for a task.
    pub(crate) fn reserve(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.len() - 1
        })
    }

    pub(crate) fn fill(&mut self, number: u32, slot: Slot) {
        self.slots[number as usize] = Some(slot);
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Slot> {
        self.slots.get_mut(number as usize)?.as_mut()
    }

    /// Gives a number back, and returns what had it.
    pub(crate) fn free(&mut self, number: u32) -> Option<Slot> {
        self.free.push(number);
        self.slots.get_mut(number as usize)?.take()
    }

    /// What was counted of each task; `used` tells what a task has used of each kind of time.
    pub(crate) fn counts(&self, used: impl Fn(u32) -> Option<[Duration; 3]>) -> Vec<TaskCounts> {
        let tasks = (0..).zip(&self.slots).filter_map(|(number, slot)| Some((number, slot.as_ref()?)));
        let counts = tasks.map(|(number, slot)| TaskCounts {
            name: slot.name.to_string(),
            run: Duration::from_nanos(slot.run),
            polls: slot.polls,
            longest_poll: Duration::from_nanos(slot.longest_poll),
            used: used(number),
        });
        counts.collect()
    }
}
