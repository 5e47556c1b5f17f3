//! Who arrives next, and the receivers in between.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::requests::Slot;
use crate::model::{Costs, ServerScenario, Workload};
use crate::source::clients::Clients;
use crate::source::parts::{From, Needs};
use crate::source::{Estimate, FOR_EVER, Parts, Patience, Source};
use weir_core::units::{Instant, Nanos};
use weir_lab::error::RunError;
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::requests::Requests;

/// Requests of a block.
const BLOCK: usize = 1024;

/// The requests of one replication.
#[derive(Debug)]
pub(super) struct Arrivals {
    kind: Kind,
    estimate: Estimate,
    /// Of estimates, where they are random.
    draws: Stream,
    /// When the next request arrives, or [`Instant::NEVER`].
    next_at: Instant,
}

#[derive(Debug)]
enum Kind {
    Source { source: Source, block: Requests, next: usize },
    Clients { clients: Clients, patience: Option<Box<Patience>> },
}

impl Arrivals {
    /// # Errors
    /// The workload is refused.
    pub(super) fn new(scenario: &ServerScenario, replication: u32) -> Result<Self, RunError> {
        let kind = match (Source::new(scenario, replication)?, &scenario.workload) {
            (None, Workload::Closed(closed)) => Kind::Clients {
                clients: Clients::new(scenario, closed, replication)?,
                patience: Patience::new(scenario, replication).map(Box::new),
            },
            (Some(source), _) => Kind::Source { source, block: Requests::default(), next: 0 },
            (None, _) => unreachable!("all but closed-loop clients have a source"),
        };
        let key = StreamKey { seed: scenario.seed, replication, purpose: Purpose::Services, index: 1 };
        let estimate = Estimate::new(scenario);
        let mut arrivals = Self { kind, estimate, draws: Stream::new(key), next_at: Instant::NEVER };
        arrivals.look_ahead();
        Ok(arrivals)
    }

    /// When the next request arrives, or [`Instant::NEVER`].
    #[inline]
    pub(super) fn next_at(&self) -> Instant {
        self.next_at
    }

    #[inline]
    fn look_ahead(&mut self) {
        self.next_at = match &mut self.kind {
            Kind::Source { source, block, next } => {
                if *next == block.len() {
                    *next = 0;
                    source.fill(block, BLOCK);
                }
                block.at.get(*next).map_or(Instant::NEVER, |&at| Instant::new(at))
            }
            Kind::Clients { clients, .. } => clients.next_at().unwrap_or(Instant::NEVER),
        };
    }

    /// The next request, which arrives at [`Self::next_at`].
    #[inline]
    pub(super) fn take(&mut self) -> Option<Slot> {
        let at = self.next_at;
        let request = match &mut self.kind {
            Kind::Source { block, next, .. } => {
                let place = *next;
                *next += 1;
                let (class, service) = (*block.class.get(place)?, Nanos::new(*block.service.get(place)?));
                let known = self.estimate.of(class, service, &mut self.draws);
                let patience = block.patience.get(place).copied().unwrap_or(FOR_EVER);
                Slot::arrived(at, class, *block.flow.get(place)?, service, known, patience)
            }
            Kind::Clients { clients, patience } => {
                let (request, stream) = clients.submit()?;
                let known = self.estimate.of(request.class, request.service, stream);
                let patience =
                    patience.as_ref().map_or(FOR_EVER, |patience| patience.of(request.class, stream));
                Slot::arrived(at, request.class, request.client, request.service, known, patience)
            }
        };
        self.look_ahead();
        Some(request)
    }

    /// Draws what the sub-requests of the request need that was taken last.
    pub(super) fn split(&mut self, request: &Slot, parts: &mut Parts) {
        let first = Needs { service: request.service, known: request.known };
        let from = match &mut self.kind {
            Kind::Source { .. } => From::Source(&mut self.draws),
            Kind::Clients { clients, .. } => From::Client(clients.stream(request.flow)),
        };
        parts.draw(request.class, first, &self.estimate, from);
    }

    /// A request of a flow has ended at `now`; or, `dropped`, has left unserved.
    #[inline]
    pub(super) fn over(&mut self, flow: u32, now: Instant, dropped: bool) {
        if let Kind::Clients { clients, .. } = &mut self.kind {
            clients.over(flow, now, dropped);
            self.look_ahead();
        }
    }
}

/// Who comes before the discipline when; of equal times who arrived first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Delivery {
    at: Instant,
    number: u64,
    slot: u32,
}

/// Receivers that take time.
#[derive(Debug)]
pub(super) struct Receivers {
    costs: Costs,
    /// How many may wait for each, but for the one it sees to.
    ring: u64,
    /// When each is free.
    free: Vec<Instant>,
    under_way: BinaryHeap<Reverse<Delivery>>,
    received: u64,
}

impl Receivers {
    /// The receivers; `None` where they take no time.
    pub(super) fn new(scenario: &ServerScenario) -> Option<Self> {
        let costs = scenario.costs;
        let takes_time = costs.dispatch.get() > 0 || costs.hand_over.get() > 0;
        takes_time.then(|| Self {
            costs,
            ring: scenario.ring.map_or(u64::MAX, u64::from),
            free: vec![Instant::ZERO; scenario.site.receivers as usize],
            under_way: BinaryHeap::new(),
            received: 0,
        })
    }

    /// When the next request comes before the discipline, or [`Instant::NEVER`].
    #[inline]
    pub(super) fn next_at(&self) -> Instant {
        self.under_way.peek().map_or(Instant::NEVER, |Reverse(first)| first.at)
    }

    /// Whether there is no place for a request at a receiver. All take equally long there, so how many there are, the one
    /// it sees to with them, follows from when it is free.
    #[inline]
    pub(super) fn is_full(&self, now: Instant, receiver: u32) -> bool {
        let left = self.free[receiver as usize].since(now).get();
        left > 0 && left.div_ceil(self.costs.dispatch.get().max(1)) > self.ring
    }

    /// A request arrives at a receiver.
    #[inline]
    pub(super) fn receive(&mut self, now: Instant, slot: u32, receiver: u32) {
        let free = &mut self.free[receiver as usize];
        *free = now.max(*free).after(self.costs.dispatch);
        let at = free.after(self.costs.hand_over);
        self.received += 1;
        self.under_way.push(Reverse(Delivery { at, number: self.received, slot }));
    }

    /// The request that comes before the discipline at [`Self::next_at`].
    #[inline]
    pub(super) fn deliver(&mut self) -> Option<u32> {
        self.under_way.pop().map(|Reverse(first)| first.slot)
    }
}
