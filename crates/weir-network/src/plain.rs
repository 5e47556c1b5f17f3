//! The plain engine: one calendar of what happens next, for any traffic and any topology.
//!
//! The calendar has one entry for each link whose state changes by itself, one for the first packet on its way
//! from each link, and one for each source; a transfer has one for its packets, its acknowledgements and its
//! timer. At one instant links come first, then packets from links, by the number of the link, then packets
//! from sources, by the number of the flow, then acknowledgements and timers likewise.
//!
//! Work per packet and hop: three entries, O(log(links + flows)) each.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::build::{self, Job};
use crate::collector::Collector;
use crate::flight::{BACK, Flight};
use crate::interface::{Interface, MOST_WAITING};
use crate::job::{Collected, Ended};
use crate::model::NetworkScenario;
use crate::route::{Leg, Routes};
use crate::source::Source;
use crate::transfer::Transfer;
use crate::wire::Outlet;
use weir_core::units::{Instant, Nanos};
use weir_lab::control::Watch;
use weir_lab::error::RunError;

/// Steps between two looks at the outside.
const STEPS: u32 = 1 << 14;

/// Who acts next. The order of the variants, then of the numbers, is the order at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Actor {
    /// A link changes by itself.
    Link(u32),
    /// The first packet on its way from a link arrives.
    FromLink(u32),
    /// A flow sends its next packet.
    Flow(u32),
    /// An acknowledgement of a flow leaves its host.
    Acknowledgement(u32),
    /// The timer of a transfer runs out.
    Timer(u32),
}

const _: () = assert!(size_of::<Actor>() == 8);

/// One replication.
struct Plain<'a> {
    network: &'a NetworkScenario,
    links: Vec<Box<dyn Interface>>,
    /// When each link is in the calendar.
    woken: Vec<Instant>,
    /// What is on its way from each link.
    under_way: Vec<VecDeque<Flight>>,
    sources: Vec<Option<Source>>,
    transfers: Vec<Option<Transfer>>,
    /// When each transfer's timer is in the calendar.
    timers: Vec<Instant>,
    /// The packet that is being sent.
    sent: Vec<Flight>,
    calendar: BinaryHeap<Reverse<(Instant, Actor)>>,
    routes: Routes,
    /// What the last call of a link let go.
    gone: Vec<Vec<Flight>>,
    collector: Collector,
}

/// Runs a job.
///
/// # Errors
/// A discipline refuses its arguments, or the job is larger than what is simulated.
pub fn play(network: &NetworkScenario, job: Job, watch: &Watch<'_>) -> Result<Ended, RunError> {
    let mut plain = Plain::new(network, job)?;
    let mut told = 0;
    loop {
        for _ in 0..STEPS {
            if !plain.step() {
                watch.passed(&mut told, network.stop.duration.get());
                return Ok(Ended::Finished(Box::new(plain.collected())));
            }
        }
        if watch.cancelled() {
            return Ok(Ended::Interrupted);
        }
        plain.check_queues(job)?;
        let now = plain.calendar.peek().map_or(0, |Reverse((at, _))| at.get());
        watch.passed(&mut told, now);
    }
}

/// Everything a link lets go goes into one box.
fn routes(network: &NetworkScenario) -> Routes {
    let mut routes = Routes::default();
    for flow in &network.flows {
        let way = flow.path.iter().map(|_| Leg::to(0));
        let back = flow.back.iter().map(|_| Leg::to(0));
        routes.push(way.chain([Leg::end(Some(0))]).chain(back).chain([Leg::end(Some(0))]));
    }
    routes
}

impl<'a> Plain<'a> {
    fn new(network: &'a NetworkScenario, job: Job) -> Result<Self, RunError> {
        let links = build::interfaces(network, job, false)?;
        let mut plain = Self {
            network,
            woken: vec![Instant::NEVER; links.len()],
            under_way: vec![VecDeque::new(); links.len()],
            links,
            sources: build::sources(network, job.replication)?,
            transfers: build::transfers(network, job.replication),
            timers: vec![Instant::NEVER; network.flows.len()],
            sent: Vec::new(),
            calendar: BinaryHeap::new(),
            routes: routes(network),
            gone: vec![Vec::new()],
            collector: Collector::new(network, job.replication),
        };
        for flow in 0..network.flows.len() {
            plain.note_source(flow);
            let start = plain.transfers[flow].as_ref().map_or(Instant::NEVER, Transfer::start);
            plain.note_timer(flow, start);
        }
        Ok(plain)
    }

    fn note(&mut self, at: Instant, actor: Actor) {
        if at != Instant::NEVER {
            self.calendar.push(Reverse((at, actor)));
        }
    }

    fn note_source(&mut self, flow: usize) {
        let Some(source) = &mut self.sources[flow] else { return };
        let at = source.head(&mut self.collector);
        self.note(at, Actor::Flow(flow as u32));
    }

    /// Does what happens next; `false` if nothing does.
    fn step(&mut self) -> bool {
        let Some(Reverse((at, actor))) = self.calendar.pop() else { return false };
        match actor {
            Actor::Link(link) => self.wake(at, link as usize),
            Actor::FromLink(link) => self.arrive_from(link as usize),
            Actor::Flow(flow) => self.send(flow as usize),
            Actor::Acknowledgement(flow) => self.answer(flow as usize),
            Actor::Timer(flow) => self.wake_transfer(at, flow as usize),
        }
        true
    }

    /// A link changes by itself.
    fn wake(&mut self, at: Instant, link: usize) {
        if self.woken[link] != at {
            return;
        }
        self.woken[link] = Instant::NEVER;
        self.act(link, &[], at.after(Nanos::new(1)));
    }

    /// The first packet on its way from a link arrives.
    fn arrive_from(&mut self, link: usize) {
        let Some(flight) = self.under_way[link].pop_front() else { return };
        let next = self.under_way[link].front().map_or(Instant::NEVER, |next| next.at);
        self.note(next, Actor::FromLink(link as u32));
        if !self.routes.leg(flight.flow, flight.hop).ends() {
            return self.join(&flight);
        }
        if flight.marks & BACK == 0 {
            self.collector.delivered(&flight, flight.at);
        }
        self.with_transfer(flight.at, flight.flow as usize, |transfer, collector| {
            transfer.arrived(&flight, collector);
        });
    }

    /// Lets a transfer act, and notes when it will again.
    fn with_transfer(&mut self, now: Instant, flow: usize, act: impl FnOnce(&mut Transfer, &mut Collector)) {
        let Some(transfer) = &mut self.transfers[flow] else { return };
        let (data, acks) = (transfer.data.head(), transfer.acks.head());
        act(transfer, &mut self.collector);
        let (next_data, next_acks, timer) = (transfer.data.head(), transfer.acks.head(), transfer.timer(now));
        // What was there before has its entry in the calendar.
        if data == Instant::NEVER {
            self.note(next_data, Actor::Flow(flow as u32));
        }
        if acks == Instant::NEVER {
            self.note(next_acks, Actor::Acknowledgement(flow as u32));
        }
        self.note_timer(flow, timer);
    }

    /// The timer of a transfer is due at `at`, or later: it then asks again.
    fn note_timer(&mut self, flow: usize, at: Instant) {
        if at < self.timers[flow] {
            self.timers[flow] = at;
            self.note(at, Actor::Timer(flow as u32));
        }
    }

    fn wake_transfer(&mut self, at: Instant, flow: usize) {
        if self.timers[flow] == at {
            self.timers[flow] = Instant::NEVER;
            self.with_transfer(at, flow, |transfer, collector| transfer.wake(at, collector));
        }
    }

    /// A packet of a transfer leaves its host.
    fn send_of_transfer(&mut self, flow: usize) {
        let Some(transfer) = &mut self.transfers[flow] else { return };
        let flight = transfer.data.take();
        let next = transfer.data.head();
        self.note(next, Actor::Flow(flow as u32));
        flight.iter().for_each(|flight| self.join(flight));
    }

    /// An acknowledgement leaves its host.
    fn answer(&mut self, flow: usize) {
        let Some(transfer) = &mut self.transfers[flow] else { return };
        let flight = transfer.acks.take();
        let next = transfer.acks.head();
        self.note(next, Actor::Acknowledgement(flow as u32));
        flight.iter().for_each(|flight| self.join(flight));
    }

    /// A source or a transfer sends its next packet.
    fn send(&mut self, flow: usize) {
        let Some(source) = &mut self.sources[flow] else { return self.send_of_transfer(flow) };
        source.take(&mut self.sent);
        self.note_source(flow);
        if let Some(flight) = self.sent.pop() {
            self.join(&flight);
        }
    }

    /// A packet arrives at the link it goes to next.
    fn join(&mut self, flight: &Flight) {
        let flow = &self.network.flows[flight.flow as usize];
        let hop = usize::from(flight.hop);
        let link = flow.path.get(hop).copied().unwrap_or_else(|| flow.back[hop - flow.path.len() - 1]);
        self.act(link, std::slice::from_ref(flight), flight.at);
    }

    fn act(&mut self, link: usize, arrivals: &[Flight], until: Instant) {
        let outlet =
            &mut Outlet { routes: &self.routes, boxes: &mut self.gone, collector: &mut self.collector };
        self.links[link].run(arrivals, until, outlet);
        if let Some(first) = self.gone[0].first() {
            let first = first.at;
            if self.under_way[link].is_empty() {
                self.note(first, Actor::FromLink(link as u32));
            }
            self.under_way[link].extend(self.gone[0].drain(..));
        }
        let wake = self.links[link].wake();
        if wake < self.woken[link] {
            self.woken[link] = wake;
            self.note(wake, Actor::Link(link as u32));
        }
    }

    fn check_queues(&self, job: Job) -> Result<(), RunError> {
        let waits = |link: &dyn Interface| link.waiting() > MOST_WAITING;
        match self.links.iter().position(|link| waits(&**link)) {
            Some(link) => Err(build::overloaded(self.network, job, link)),
            None => Ok(()),
        }
    }

    fn collected(mut self) -> Collected {
        self.collector.finish();
        let links = self.links.iter().map(|link| link.tally().clone()).collect();
        Collected { collector: self.collector, links }
    }
}
