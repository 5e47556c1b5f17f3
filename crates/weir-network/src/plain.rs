//! The plain engine: one calendar of what happens next, for any traffic and any topology.
//!
//! The calendar has one entry for each link whose state changes by itself, one for the first packet on its way
//! from each link, and one for each source; a transfer has one for its packets, its acknowledgements and its
//! timer. At one instant links come first, then packets from links, by the number of the link, then packets
//! from sources, by the number of the flow, then acknowledgements and timers likewise.
//!
//! Where traffic adapts to the network this is the only engine, and links take the special forms that there are. Where the
//! accelerated engine could run the network they do not, so that the two can be compared.
//!
//! Work per packet and hop: two times of a link, O(log links) each; O(log flows) where a source or a timer acts.

use crate::build::{self, Job};
use crate::calendar::{Actor, Calendar};
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
use weir_lab::recorded::Table;

/// Steps between two checks of the watch.
const STEPS: u32 = 1 << 14;

/// One replication.
struct Plain<'a> {
    network: &'a NetworkScenario,
    links: Vec<Box<dyn Interface>>,
    /// What is on its way from each link, and how much of it has arrived.
    under_way: Vec<Vec<Flight>>,
    taken: Vec<usize>,
    sources: Vec<Option<Source>>,
    transfers: Vec<Option<Transfer>>,
    /// When each transfer's timer is in the calendar.
    timers: Vec<Instant>,
    /// The packet that is being sent.
    sent: Vec<Flight>,
    calendar: Calendar,
    /// Where a link puts the packets of each flow: on its own way.
    ways: Routes,
    /// The link that they go to next.
    next: Routes,
    collector: Collector,
}

/// Runs a job.
///
/// # Errors
/// A discipline refuses its arguments, or the job is larger than what is simulated.
pub fn play(network: &NetworkScenario, job: Job, watch: &Watch<'_>) -> Result<Ended, RunError> {
    play_by(network, job, build::adapts(network), watch)
}

/// The same; `fast` takes the special forms of links that there are.
///
/// # Errors
/// As [`play`].
pub(crate) fn play_by(
    network: &NetworkScenario,
    job: Job,
    fast: bool,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    Plain::new(network, job, fast)?.play(job, &mut |_| (), watch)
}

/// Runs a job as [`play`], and records its packets.
///
/// # Errors
/// As [`play`].
pub fn play_recorded(
    network: &NetworkScenario,
    job: Job,
    table: &mut Table<'_, '_>,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    let mut plain = Plain::new(network, job, build::adapts(network))?;
    plain.collector.record_packets();
    let mut hand_over = |collector: &mut Collector| {
        if let Some(packets) = &mut collector.packets {
            packets.hand_over(network, table);
        }
    };
    plain.play(job, &mut hand_over, watch)
}

/// Every link puts what it lets go into a box of its own.
fn ways(network: &NetworkScenario) -> Routes {
    let mut ways = Routes::default();
    for flow in &network.flows {
        let there = boxes(&flow.path);
        ways.push(there.chain(boxes(&flow.back)));
    }
    ways
}

/// The boxes after each link of a path, behind a place that stands for none.
fn boxes(path: &[usize]) -> impl Iterator<Item = Leg> {
    let leg = |(place, &link): (usize, &usize)| {
        if place + 1 == path.len() { Leg::end(Some(link as u32)) } else { Leg::to(link as u32) }
    };
    [Leg::end(None)].into_iter().chain(path.iter().enumerate().map(leg))
}

/// The links that packets go to next.
fn next(network: &NetworkScenario) -> Routes {
    let mut next = Routes::default();
    for flow in &network.flows {
        let legs = |path: &[usize]| path.iter().map(|&link| Leg::to(link as u32)).collect::<Vec<_>>();
        next.push(
            legs(&flow.path)
                .into_iter()
                .chain([Leg::end(None)])
                .chain(legs(&flow.back))
                .chain([Leg::end(None)]),
        );
    }
    next
}

impl<'a> Plain<'a> {
    fn new(network: &'a NetworkScenario, job: Job, fast: bool) -> Result<Self, RunError> {
        let links = build::interfaces(network, job, fast)?;
        let mut plain = Self {
            network,
            under_way: vec![Vec::new(); links.len()],
            taken: vec![0; links.len()],
            calendar: Calendar::new(links.len()),
            links,
            sources: build::sources(network, job.replication).collect::<Result<_, _>>()?,
            transfers: build::transfers(network, job.replication),
            timers: vec![Instant::NEVER; network.flows.len()],
            sent: Vec::new(),
            ways: ways(network),
            next: next(network),
            collector: Collector::new(network, job.replication),
        };
        for flow in 0..network.flows.len() {
            plain.note_source(flow);
            let start = plain.transfers[flow].as_ref().map_or(Instant::NEVER, Transfer::start);
            plain.note_timer(flow, start);
        }
        Ok(plain)
    }

    /// Plays to the end; `hand_over` takes from the collector, now and then, what it need not hold.
    fn play(
        mut self,
        job: Job,
        hand_over: &mut dyn FnMut(&mut Collector),
        watch: &Watch<'_>,
    ) -> Result<Ended, RunError> {
        let mut told = 0;
        loop {
            for _ in 0..STEPS {
                if !self.step() {
                    hand_over(&mut self.collector);
                    watch.passed(&mut told, self.network.stop.duration.get());
                    return Ok(Ended::Finished(Box::new(self.collected())));
                }
            }
            hand_over(&mut self.collector);
            if watch.cancelled() {
                return Ok(Ended::Interrupted);
            }
            self.check_queues(job)?;
            let next = self.calendar.next_at();
            watch.passed(&mut told, if next == Instant::NEVER { 0 } else { next.get() });
        }
    }

    fn note_source(&mut self, flow: usize) {
        let Some(source) = &mut self.sources[flow] else { return };
        let at = source.head(&mut self.collector);
        self.calendar.note(at, Actor::Flow(flow as u32));
    }

    /// Does what happens next; `false` if nothing does.
    fn step(&mut self) -> bool {
        let Some((at, actor)) = self.calendar.first() else { return false };
        match actor {
            Actor::Link(link) => self.act(link as usize, &[], at.after(Nanos::new(1))),
            Actor::FromLink(link) => self.arrive_from(link as usize),
            Actor::Flow(flow) => self.send(flow as usize),
            Actor::Acknowledgement(flow) => self.answer(flow as usize),
            Actor::Timer(flow) => self.wake_transfer(at, flow as usize),
        }
        true
    }

    /// The first packet on its way from a link arrives.
    #[inline]
    fn arrive_from(&mut self, link: usize) {
        let (packets, taken) = (&mut self.under_way[link], &mut self.taken[link]);
        let flight = packets[*taken];
        *taken += 1;
        let next = packets.get(*taken).map_or(Instant::NEVER, |next| next.at);
        self.calendar.arrive_from(link, next);
        if 2 * *taken >= packets.len() {
            packets.drain(..*taken);
            *taken = 0;
        }
        let leg = self.next.leg(flight.flow, flight.hop);
        if let Some(next) = leg.place() {
            return self.act(next, &[flight], flight.at);
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
            self.calendar.note(next_data, Actor::Flow(flow as u32));
        }
        if acks == Instant::NEVER {
            self.calendar.note(next_acks, Actor::Acknowledgement(flow as u32));
        }
        self.note_timer(flow, timer);
    }

    /// The timer of a transfer is due at `at`, or later: it then asks again.
    fn note_timer(&mut self, flow: usize, at: Instant) {
        if at < self.timers[flow] {
            self.timers[flow] = at;
            self.calendar.note(at, Actor::Timer(flow as u32));
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
        self.calendar.note(next, Actor::Flow(flow as u32));
        flight.iter().for_each(|flight| self.join(flight));
    }

    /// An acknowledgement leaves its host.
    fn answer(&mut self, flow: usize) {
        let Some(transfer) = &mut self.transfers[flow] else { return };
        let flight = transfer.acks.take();
        let next = transfer.acks.head();
        self.calendar.note(next, Actor::Acknowledgement(flow as u32));
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
    #[inline]
    fn join(&mut self, flight: &Flight) {
        if let Some(link) = self.next.leg(flight.flow, flight.hop).place() {
            self.act(link, std::slice::from_ref(flight), flight.at);
        }
    }

    /// A link takes these packets, and does what happens before `until`.
    #[inline]
    fn act(&mut self, link: usize, arrivals: &[Flight], until: Instant) {
        let outlet =
            &mut Outlet { routes: &self.ways, boxes: &mut self.under_way, collector: &mut self.collector };
        self.links[link].run(arrivals, until, outlet);
        let first = self.under_way[link].get(self.taken[link]).map_or(Instant::NEVER, |first| first.at);
        self.calendar.arrive_from(link, first);
        self.calendar.wake_link(link, self.links[link].wake());
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
