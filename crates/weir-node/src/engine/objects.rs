//! Events and dual queues: what is posted, what lies there, and who waits.

use std::collections::VecDeque;

use crate::engine::code::{Programs, Step};
use crate::engine::world::NOBODY;
use crate::model::{self, NodeScenario};

/// An event.
#[derive(Clone, Copy, Debug)]
struct Event {
    owner: u32,
    posted: bool,
    /// Its neighbours among the posted events of its owner.
    before: u32,
    after: u32,
}

/// The posted events of a process, in the order of the posts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted {
    first: u32,
    last: u32,
}

impl Posted {
    pub(super) const NONE: Self = Self { first: NOBODY, last: NOBODY };
}

/// All events.
#[derive(Debug)]
pub(super) struct Events(Vec<Event>);

impl Events {
    pub(super) fn new(scenario: &NodeScenario) -> Self {
        let event = |event: &model::Event| Event {
            owner: event.owner as u32,
            posted: false,
            before: NOBODY,
            after: NOBODY,
        };
        Self(scenario.events.iter().map(event).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(super) fn owner(&self, event: u32) -> u32 {
        self.0[event as usize].owner
    }

    /// The events of a process.
    pub(super) fn of(&self, process: u32) -> impl Iterator<Item = u32> {
        (0..).zip(&self.0).filter(move |(_, event)| event.owner == process).map(|(number, _)| number)
    }

    /// Marks an event as posted, as the last of its owner's; `false` if it was posted already.
    #[inline]
    pub(super) fn post(&mut self, event: u32, owners: &mut Posted) -> bool {
        let one = &mut self.0[event as usize];
        if one.posted {
            return false;
        }
        let last = std::mem::replace(&mut owners.last, event);
        (one.posted, one.before, one.after) = (true, last, NOBODY);
        match last {
            NOBODY => owners.first = event,
            last => self.0[last as usize].after = event,
        }
        true
    }

    /// Takes the first posted event that a step of their owner waits for; `false` if there is none.
    #[inline]
    pub(super) fn take(&mut self, owners: &mut Posted, programs: &Programs, step: u32) -> bool {
        let mut event = match programs.steps[step as usize] {
            Step::WaitOne { event } if self.0[event as usize].posted => event,
            Step::WaitOne { .. } => NOBODY,
            _ => owners.first,
        };
        while event != NOBODY && !programs.waits_for(step, event) {
            event = self.0[event as usize].after;
        }
        if event == NOBODY {
            return false;
        }
        let one = &mut self.0[event as usize];
        one.posted = false;
        let (before, after) = (one.before, one.after);
        match before {
            NOBODY => owners.first = after,
            before => self.0[before as usize].after = after,
        }
        match after {
            NOBODY => owners.last = before,
            after => self.0[after as usize].before = before,
        }
        true
    }
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

impl Dual {
    pub(super) fn new(queue: &model::DualQueue) -> Self {
        Self { node: queue.node as u32, data: VecDeque::new(), waiting: VecDeque::new() }
    }
}
