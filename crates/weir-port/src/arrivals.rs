//! Who submits the next message, and when: the two sides of the port's input.
//!
//! Open arrivals come from a source that knows nothing of the port (Poisson, bursty, a trace), and are read
//! in blocks. Closed arrivals come from applications that submit their next message when the previous one
//! is delivered and they have thought; what they submit depends on the discipline, so every discipline has
//! its own, while the numbers drawn by an application are the same for all (common random numbers).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_core::units::{Instant, Nanos};
use weir_workload::source::{ArrivalBlock, ArrivalSource};

/// Arrivals are read in blocks of this many messages.
const BLOCK: usize = 1024;

/// A message as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The instant.
    pub at: Instant,
    /// Units of service: packets, or whatever the scenario counts.
    pub length: u32,
    /// Class of the message.
    pub class: u16,
    /// Application that submits it.
    pub flow: u32,
}

/// The input of one port.
pub trait Arrivals: Send {
    /// Whether a submission precedes the server's choice at the same instant. Open arrivals come after an
    /// acceptance at the same instant; an application that was just delivered to comes before.
    const BEFORE_ACCEPTANCE: bool;
    /// The instant of the next arrival, or [`Instant::NEVER`].
    fn next_at(&self) -> Instant;
    /// Takes the next arrival; called only where there is one.
    fn take(&mut self) -> Arrival;
    /// The transmission of the last packet of a message of `flow` ends at `at`.
    fn delivered(&mut self, flow: u32, at: Instant);
}

/// Arrivals that do not depend on the port.
pub struct Open<S> {
    source: S,
    block: ArrivalBlock,
    position: usize,
    next: Instant,
}

impl<S: ArrivalSource> Open<S> {
    /// Reads from `source`.
    pub fn new(source: S) -> Self {
        let block = ArrivalBlock::default();
        let mut open = Self { source, block, position: 0, next: Instant::NEVER };
        open.refill();
        open
    }

    #[cold]
    fn refill(&mut self) {
        self.position = 0;
        let filled = self.source.fill(&mut self.block, BLOCK);
        self.next = if filled == 0 { Instant::NEVER } else { Instant::new(self.block.at[0]) };
    }
}

impl<S: ArrivalSource + Send> Arrivals for Open<S> {
    const BEFORE_ACCEPTANCE: bool = false;

    #[inline]
    fn next_at(&self) -> Instant {
        self.next
    }

    #[inline]
    fn take(&mut self) -> Arrival {
        let i = self.position;
        let block = &self.block;
        let arrival =
            Arrival { at: self.next, length: block.length[i], class: block.class[i], flow: block.flow[i] };
        self.position += 1;
        match self.block.at.get(self.position) {
            Some(&at) => self.next = Instant::new(at),
            None => self.refill(),
        }
        arrival
    }

    #[inline]
    fn delivered(&mut self, _flow: u32, _at: Instant) {}
}

/// What one application does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How long it thinks.
    pub think: Nanos,
    /// The length of what it submits then.
    pub length: u32,
    /// The class.
    pub class: u16,
}

/// Applications, and what they do.
pub trait Application {
    /// What application `flow` does next.
    fn next(&mut self, flow: u32) -> Step;
}

/// A submission to come; the earlier first, then in the order in which they were decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Submission {
    at: Instant,
    order: u64,
    flow: u32,
    length: u32,
    class: u16,
}

/// Applications that each wait for their message to be delivered before they think and submit the next.
pub struct Closed<A> {
    applications: A,
    waiting: BinaryHeap<Reverse<Submission>>,
    submissions: u64,
}

impl<A: Application> Closed<A> {
    /// `count` applications, all of which submit at time 0, in order.
    pub fn new(mut applications: A, count: u32) -> Self {
        let mut waiting = BinaryHeap::with_capacity(count as usize);
        for flow in 0..count {
            let Step { length, class, .. } = applications.next(flow);
            let (at, order) = (Instant::ZERO, u64::from(flow));
            waiting.push(Reverse(Submission { at, order, flow, length, class }));
        }
        Self { applications, waiting, submissions: u64::from(count) }
    }
}

impl<A: Application + Send> Arrivals for Closed<A> {
    const BEFORE_ACCEPTANCE: bool = true;

    #[inline]
    fn next_at(&self) -> Instant {
        self.waiting.peek().map_or(Instant::NEVER, |Reverse(next)| next.at)
    }

    fn take(&mut self) -> Arrival {
        let Reverse(next) = self.waiting.pop().expect("taken only where one waits");
        Arrival { at: next.at, length: next.length, class: next.class, flow: next.flow }
    }

    fn delivered(&mut self, flow: u32, at: Instant) {
        let Step { think, length, class } = self.applications.next(flow);
        let (at, order) = (at.after(think), self.submissions);
        self.waiting.push(Reverse(Submission { at, order, flow, length, class }));
        self.submissions += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages, one a nanosecond, of lengths 1, 2, 3, …: how many have come, and how many come in all.
    struct Counted(u64, u64);

    impl ArrivalSource for Counted {
        fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize {
            block.clear();
            let until = (self.0 + n as u64).min(self.1);
            (self.0..until).for_each(|at| block.push(at, at as u32 + 1, 7, 9));
            let filled = until - self.0;
            self.0 = until;
            filled as usize
        }
    }

    #[test]
    fn open_arrivals_are_read_over_the_ends_of_blocks() {
        let mut open = Open::new(Counted(0, 2 * BLOCK as u64 + 3));
        for number in 0..2 * BLOCK as u32 + 3 {
            let at = Instant::new(u64::from(number));
            assert_eq!(open.next_at(), at);
            open.delivered(9, at);
            assert_eq!(open.take(), Arrival { at, length: number + 1, class: 7, flow: 9 });
        }
        assert_eq!(open.next_at(), Instant::NEVER);
        assert_eq!(Open::new(Counted(0, 0)).next_at(), Instant::NEVER);
    }

    /// Thinks as long as the number of its message, counted from 0 over all applications.
    struct Slower(u64);

    impl Application for Slower {
        fn next(&mut self, flow: u32) -> Step {
            self.0 += 1;
            Step { think: Nanos::new(self.0 - 1), length: flow + 1, class: 0 }
        }
    }

    #[test]
    fn all_applications_submit_at_time_0_in_order_and_then_as_they_are_delivered_to() {
        let mut closed = Closed::new(Slower(0), 3);
        let take = |closed: &mut Closed<Slower>| {
            let arrival = closed.take();
            (arrival.at.get(), arrival.flow, arrival.length)
        };
        assert_eq!([(); 3].map(|()| take(&mut closed)), [(0, 0, 1), (0, 1, 2), (0, 2, 3)]);
        assert_eq!(closed.next_at(), Instant::NEVER);
        // Thinking 3, 4 and 5: at 15, at 9 and at 15 again, where the earlier delivery comes first.
        [(2, 12), (0, 5), (1, 10)]
            .into_iter()
            .for_each(|(flow, at)| closed.delivered(flow, Instant::new(at)));
        assert_eq!([(); 3].map(|()| take(&mut closed)), [(9, 0, 1), (15, 2, 3), (15, 1, 2)]);
    }
}
