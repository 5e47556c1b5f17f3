//! What clients do: when they give up on an attempt, whether and when the next one comes, and whether it is sent at all.
//!
//! A client gives up where its request is refused, where it leaves the queue, and where no answer has come by the timeout of
//! its class. The server does not know of a timeout: the work is done all the same, and is useless.
//!
//! | | |
//! |-|-|
//! | Work | O(log attempts under way) an attempt; of it, the timeouts O(log of their different lengths) |
//! | Memory | the attempts whose timeout is still to come, and those that wait for their back-off |
//! | Random numbers | of each request and attempt its own, so that they do not depend on the discipline |

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::breaker::Circuit;
use super::moments::Moments;
use super::requests::Slot;
use crate::model::{Class, Retry, ServerScenario};
use crate::source::Backoff;
use weir_core::units::{Instant, Nanos};

/// The most tokens that a budget saves up.
const SAVED: f64 = 100.0;

/// Which attempt of which request a slot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Attempt {
    /// The number of the request, from 0, among those that came by themselves.
    pub(super) request: u64,
    /// From 1.
    pub(super) number: u32,
    /// The state of the circuit breaker in which it was sent.
    pub(super) state: u32,
}

/// Why a client may give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// The request leaves the queue.
    Leaves,
    /// No answer has come in time.
    Timeout,
}

/// A moment at which a client may give up on the attempt in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GivesUp {
    pub(super) at: Instant,
    pub(super) attempt: Attempt,
    pub(super) cause: Cause,
    pub(super) slot: u32,
}

/// An attempt that waits for its back-off; of equal times the one of the request that came first is sent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Instant,
    attempt: Attempt,
    /// Where its request is kept.
    place: u32,
}

/// Requests that are to be sent again, in places that are used again.
#[derive(Debug, Default)]
struct Waiting {
    requests: Vec<Slot>,
    free: Vec<u32>,
}

impl Waiting {
    fn keep(&mut self, request: Slot) -> u32 {
        if let Some(place) = self.free.pop() {
            self.requests[place as usize] = request;
            return place;
        }
        self.requests.push(request);
        self.requests.len() as u32 - 1
    }

    fn take(&mut self, place: u32) -> Slot {
        self.free.push(place);
        self.requests[place as usize]
    }
}

/// Clients that do not try again.
const NEVER: Retry = Retry { attempts: 1, backoff: Nanos::ZERO, factor: 1.0, jitter: 0.0, budget: None };

/// The clients of a replication.
#[derive(Debug)]
pub(super) struct Retries {
    retry: Retry,
    circuit: Option<Circuit>,
    backoff: Backoff,
    /// By class, with the lane of those of this length.
    timeouts: Vec<Option<(Nanos, usize)>>,
    due: BinaryHeap<Reverse<Due>>,
    waiting: Waiting,
    gives_up: Moments<GivesUp>,
    /// What each slot holds.
    held: Vec<Attempt>,
    tokens: f64,
    fresh: u64,
    /// Nobody arrives from here on.
    until: Instant,
}

impl Retries {
    /// `None` where it need not be known what clients do.
    pub(super) fn new(scenario: &ServerScenario, replication: u32) -> Option<Self> {
        let retry = scenario.retry.unwrap_or(NEVER);
        let mut lengths: Vec<Nanos> = scenario.classes.iter().filter_map(Class::in_time).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let in_lane = |timeout: Nanos| (timeout, lengths.partition_point(|length| *length < timeout));
        scenario.tells_clients().then(|| Self {
            retry,
            circuit: scenario.breaker.map(Circuit::new),
            backoff: Backoff::new(retry, scenario.seed, replication),
            timeouts: scenario.classes.iter().map(|class| class.in_time().map(in_lane)).collect(),
            due: BinaryHeap::new(),
            waiting: Waiting::default(),
            gives_up: Moments::new(lengths.len()),
            held: Vec::new(),
            tokens: 0.0,
            fresh: 0,
            until: Instant::ZERO + scenario.stop.duration,
        })
    }

    /// When the next attempt comes that is not the first of its request.
    #[inline]
    pub(super) fn next_due(&self) -> Instant {
        self.due.peek().map_or(Instant::NEVER, |Reverse(due)| due.at)
    }

    /// When a client may give up next, where `requests` requests are present.
    #[inline]
    pub(super) fn next_gives_up(&mut self, requests: usize) -> Instant {
        if requests == 0 {
            self.gives_up.clear();
        }
        self.gives_up.first().map_or(Instant::NEVER, |first| first.at)
    }

    /// The attempt that is due.
    pub(super) fn take(&mut self) -> Option<(Slot, Attempt)> {
        self.due.pop().map(|Reverse(due)| (self.waiting.take(due.place), due.attempt))
    }

    /// A request that comes by itself.
    pub(super) fn first(&mut self) -> Attempt {
        let attempt = Attempt { request: self.fresh, number: 1, state: 0 };
        self.fresh += 1;
        self.tokens = (self.tokens + self.retry.budget.unwrap_or(0.0)).min(SAVED);
        attempt
    }

    /// An attempt is to be sent: as it is then, or `None` where the circuit breaker refuses it.
    pub(super) fn sends(&mut self, now: Instant, attempt: Attempt) -> Option<Attempt> {
        match &mut self.circuit {
            Some(circuit) => circuit.sends(now).map(|state| Attempt { state, ..attempt }),
            None => Some(attempt),
        }
    }

    /// The attempt of a slot is answered at `now`; whether its client still waited.
    pub(super) fn answered(&mut self, now: Instant, slot: u32) -> bool {
        let attempt = self.held(slot);
        let waits = attempt != Attempt::default();
        if waits {
            self.forget(slot);
            self.ended(now, attempt, false);
        }
        waits
    }

    /// An attempt that was sent has ended.
    pub(super) fn ended(&mut self, now: Instant, attempt: Attempt, has_failed: bool) {
        if let Some(circuit) = &mut self.circuit {
            circuit.ended(now, attempt.state, has_failed);
        }
    }

    /// The attempt is kept in a slot.
    pub(super) fn keep(&mut self, slot: u32, attempt: Attempt, request: &Slot) {
        let place = slot as usize;
        if place >= self.held.len() {
            self.held.resize(place + 1, Attempt::default());
        }
        self.held[place] = attempt;
        if let Some((timeout, lane)) = self.timeouts[usize::from(request.class)] {
            let at = request.arrived.after(timeout);
            self.gives_up.push_to(lane, GivesUp { at, attempt, cause: Cause::Timeout, slot });
        }
        if request.leaves < Instant::NEVER {
            // From the instant after, since it is served where its turn comes with the last of its patience.
            let at = request.leaves.after(Nanos::ONE);
            self.gives_up.push(GivesUp { at, attempt, cause: Cause::Leaves, slot });
        }
    }

    /// What a slot holds.
    pub(super) fn held(&self, slot: u32) -> Attempt {
        self.held[slot as usize]
    }

    /// The next moment at which a client may give up, and whether the slot still holds its attempt. Moments behind it whose
    /// attempts are over are passed over.
    pub(super) fn take_gives_up(&mut self) -> Option<(GivesUp, bool)> {
        let first = self.gives_up.pop()?;
        while self.gives_up.first().is_some_and(|next| !self.is_held(next)) {
            self.gives_up.pop();
        }
        Some((first, self.is_held(&first)))
    }

    /// Whether the slot of a moment still holds its attempt.
    fn is_held(&self, moment: &GivesUp) -> bool {
        self.held(moment.slot) == moment.attempt
    }

    /// A client gives up at `now` on an attempt; whether it tries again.
    pub(super) fn again(&mut self, now: Instant, attempt: Attempt, request: &Slot) -> bool {
        let next = Attempt { number: attempt.number + 1, ..attempt };
        if next.number > self.retry.attempts {
            return false;
        }
        if self.retry.budget.is_some() {
            if self.tokens < 1.0 {
                return false;
            }
            self.tokens -= 1.0;
        }
        let at = now.after(self.backoff.before(attempt.request, attempt.number));
        if at < self.until {
            let place = self.waiting.keep(request.again(at));
            self.due.push(Reverse(Due { at, attempt: next, place }));
        }
        at < self.until
    }

    /// The client of a slot has given up: no other moment makes it do so again.
    pub(super) fn forget(&mut self, slot: u32) {
        self.held[slot as usize] = Attempt::default();
    }
}
