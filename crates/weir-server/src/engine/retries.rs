//! What clients do: when they give up on an attempt, whether and when the next one comes, and whether it is sent at all.
//!
//! A client gives up where its request is refused, where it leaves the queue, and where no answer has come by the timeout of
//! its class. The server does not know of a timeout: the work is done all the same, and is useless.
//!
//! | | |
//! |-|-|
//! | Work | O(log attempts under way) an attempt |
//! | Memory | the attempts whose timeout is still to come, and those that wait for their back-off |
//! | Random numbers | of each request and attempt its own, so that they do not depend on the discipline |

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::breaker::Circuit;
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

/// An attempt that waits for its back-off.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: Instant,
    attempt: Attempt,
    slot: Slot,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.attempt) == (other.at, other.attempt)
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.attempt).cmp(&(other.at, other.attempt))
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
    /// By class.
    timeouts: Vec<Option<Nanos>>,
    due: BinaryHeap<Reverse<Due>>,
    gives_up: BinaryHeap<Reverse<GivesUp>>,
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
        scenario.tells_clients().then(|| Self {
            retry,
            circuit: scenario.breaker.map(Circuit::new),
            backoff: Backoff::new(retry, scenario.seed, replication),
            timeouts: scenario.classes.iter().map(Class::in_time).collect(),
            due: BinaryHeap::new(),
            gives_up: BinaryHeap::new(),
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
        self.gives_up.peek().map_or(Instant::NEVER, |Reverse(first)| first.at)
    }

    /// The attempt that is due.
    pub(super) fn take(&mut self) -> Option<(Slot, Attempt)> {
        self.due.pop().map(|Reverse(due)| (due.slot, due.attempt))
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
        if let Some(timeout) = self.timeouts[usize::from(request.class)] {
            let at = request.arrived.after(timeout);
            self.gives_up.push(Reverse(GivesUp { at, attempt, cause: Cause::Timeout, slot }));
        }
        if request.leaves < Instant::NEVER {
            // From the instant after, since it is served where its turn comes with the last of its patience.
            let at = request.leaves.after(Nanos::ONE);
            self.gives_up.push(Reverse(GivesUp { at, attempt, cause: Cause::Leaves, slot }));
        }
    }

    /// What a slot holds.
    pub(super) fn held(&self, slot: u32) -> Attempt {
        self.held[slot as usize]
    }

    /// The next moment at which a client may give up, and whether the slot still holds its attempt.
    pub(super) fn take_gives_up(&mut self) -> Option<(GivesUp, bool)> {
        let Reverse(first) = self.gives_up.pop()?;
        Some((first, self.held(first.slot) == first.attempt))
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
            let slot = request.again(at);
            self.due.push(Reverse(Due { at, attempt: next, slot }));
        }
        at < self.until
    }

    /// The client of a slot has given up: no other moment makes it do so again.
    pub(super) fn forget(&mut self, slot: u32) {
        self.held[slot as usize] = Attempt::default();
    }
}
