//! The accelerated engine: link after link over windows of time, without a calendar of events.
//!
//! Where no link feeds itself through others, what a link does depends on its arrivals only. So each takes
//! the packets of a window in one go, in an order in which it comes after all that feed it: what these let go
//! before the end of the window has been decided then. Equal to the plain engine, packet by packet, for any
//! length of the windows.
//!
//! Work per packet and hop: one merge step and one call of the link. Memory: the packets of a window, and those
//! on their way; windows are lengthened and shortened to hold a few thousand packets.

use crate::build::{self, Feeds, Job};
use crate::collector::Collector;
use crate::feed::{Feed, Lane};
use crate::flight::Flight;
use crate::interface::{Interface, MOST_WAITING};
use crate::job::{Collected, Ended};
use crate::model::NetworkScenario;
use crate::route::{Leg, Routes};
use crate::source::Source;
use crate::wire::Outlet;
use weir_core::units::{Instant, Nanos};
use weir_lab::control::Watch;
use weir_lab::error::RunError;

/// Packets merged at a time.
const BATCH: usize = 1024;
/// The least number of packets of a window; it grows with links and flows.
const WINDOW: usize = 1024;
/// The first window.
const FIRST_SPAN: Nanos = Nanos::new(1_000_000);
/// The longest.
const LONGEST_SPAN: u64 = u64::MAX / 4;

/// A link with its inputs.
struct Stage {
    link: usize,
    interface: Box<dyn Interface>,
    feed: Feed,
}

/// One replication.
struct Accelerated {
    /// In their order.
    stages: Vec<Stage>,
    routes: Routes,
    /// Packets between links.
    boxes: Vec<Vec<Flight>>,
    batch: Vec<Flight>,
    collector: Collector,
    /// The length of the next window, and the packets that a window should have.
    span: Nanos,
    wanted: usize,
}

/// Runs a job through its links in `order`.
///
/// # Errors
/// A discipline refuses its arguments, or the job is larger than what is simulated.
pub fn play(
    network: &NetworkScenario,
    job: Job,
    order: &[usize],
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    let mut engine = Accelerated::new(network, job, order)?;
    let (mut until, mut told) = (Instant::ZERO, 0);
    loop {
        let next = engine.next_departure();
        if next == Instant::NEVER {
            break;
        }
        // Windows without a packet would be empty.
        until = until.max(next).after(engine.span);
        engine.window(until);
        if watch.cancelled() {
            return Ok(Ended::Interrupted);
        }
        engine.check_queues(network, job)?;
        watch.passed(&mut told, until.get());
    }
    engine.window(Instant::NEVER);
    watch.passed(&mut told, network.stop.duration.get());
    Ok(Ended::Finished(Box::new(engine.collected())))
}

/// The boxes between links: by the link that takes from them, then by that which fills them.
fn edges(network: &NetworkScenario) -> Vec<Feeds> {
    let mut edges = build::feeds(network);
    edges.sort_unstable_by_key(|edge| (edge.to, edge.from));
    edges.dedup();
    edges
}

fn routes(network: &NetworkScenario, edges: &[Feeds]) -> Routes {
    let mut routes = Routes::default();
    for flow in &network.flows {
        let place =
            |pair: &[usize]| edges.partition_point(|edge| (edge.to, edge.from) < (pair[1], pair[0])) as u32;
        let between = flow.path.windows(2).map(|pair| Leg::to(place(pair)));
        // The first link is fed by the source itself.
        routes.push([Leg::end(None)].into_iter().chain(between).chain([Leg::end(None)]));
    }
    routes
}

/// The sources that feed each link, with room for no more: there may be a million.
fn sources_of_links(network: &NetworkScenario, replication: u32) -> Result<Vec<Vec<Source>>, RunError> {
    let mut counts = vec![0; network.links.len()];
    network.flows.iter().for_each(|flow| counts[flow.path[0]] += 1);
    let mut sources: Vec<Vec<Source>> = counts.into_iter().map(Vec::with_capacity).collect();
    for (flow, source) in network.flows.iter().zip(build::sources(network, replication)) {
        sources[flow.path[0]].extend(source?);
    }
    Ok(sources)
}

impl Accelerated {
    fn new(network: &NetworkScenario, job: Job, order: &[usize]) -> Result<Self, RunError> {
        let edges = edges(network);
        let mut sources = sources_of_links(network, job.replication)?;
        let mut interfaces: Vec<_> = build::interfaces(network, job, true)?.into_iter().map(Some).collect();
        let mut stages = Vec::new();
        for &link in order {
            let first = edges.partition_point(|edge| edge.to < link);
            let fed = edges[first..].iter().take_while(|edge| edge.to == link).count();
            let lanes = (first..first + fed).map(|place| Lane { place, taken: 0 }).collect();
            let feed = Feed::new(lanes, std::mem::take(&mut sources[link]));
            stages.extend(interfaces[link].take().map(|interface| Stage { link, interface, feed }));
        }
        let mut engine = Self {
            stages,
            routes: routes(network, &edges),
            boxes: vec![Vec::new(); edges.len()],
            batch: Vec::with_capacity(BATCH),
            collector: Collector::new(network, job.replication),
            span: FIRST_SPAN,
            wanted: WINDOW.max(2 * network.flows.len()).max(64 * network.links.len()),
        };
        for stage in &mut engine.stages {
            stage.feed.start(&mut engine.collector);
        }
        Ok(engine)
    }

    fn next_departure(&self) -> Instant {
        self.stages.iter().map(|stage| stage.feed.next_departure()).min().unwrap_or(Instant::NEVER)
    }

    /// Everything before `until`, or to the end with [`Instant::NEVER`].
    fn window(&mut self, until: Instant) {
        let mut packets = 0;
        for stage in &mut self.stages {
            let outlet =
                &mut Outlet { routes: &self.routes, boxes: &mut self.boxes, collector: &mut self.collector };
            packets += if stage.feed.is_single() {
                single(stage, until, outlet)
            } else {
                merged(stage, until, &mut self.batch, outlet)
            };
        }
        if packets < self.wanted / 2 {
            self.span = Nanos::new(self.span.get().saturating_mul(2).min(LONGEST_SPAN));
        } else if packets > self.wanted * 2 {
            self.span = Nanos::new((self.span.get() / 2).max(1));
        }
    }

    fn check_queues(&self, network: &NetworkScenario, job: Job) -> Result<(), RunError> {
        match self.stages.iter().find(|stage| stage.interface.waiting() > MOST_WAITING) {
            Some(stage) => Err(build::overloaded(network, job, stage.link)),
            None => Ok(()),
        }
    }

    fn collected(mut self) -> Collected {
        self.collector.finish();
        self.stages.sort_by_key(|stage| stage.link);
        let links = self.stages.iter().map(|stage| stage.interface.tally().clone()).collect();
        Collected { collector: self.collector, links }
    }
}

/// A link fed by one other takes what that has let go as it lies there.
fn single(stage: &mut Stage, until: Instant, outlet: &mut Outlet<'_>) -> usize {
    let lane = &mut stage.feed.lanes[0];
    let mut packets = std::mem::take(&mut outlet.boxes[lane.place]);
    let waiting = &packets[lane.taken..];
    let count = waiting.partition_point(|flight| flight.at < until);
    stage.interface.run(&waiting[..count], until, outlet);
    lane.taken += count;
    tidy(lane, &mut packets);
    outlet.boxes[lane.place] = packets;
    count
}

/// A link fed by several takes batch after batch.
fn merged(stage: &mut Stage, until: Instant, batch: &mut Vec<Flight>, outlet: &mut Outlet<'_>) -> usize {
    let mut count = 0;
    stage.feed.begin(outlet.boxes);
    loop {
        stage.feed.fill(until, BATCH, outlet.boxes, outlet.collector, batch);
        let Some(last) = batch.last() else { break };
        count += batch.len();
        stage.interface.run(batch, last.at, outlet);
    }
    stage.interface.run(&[], until, outlet);
    for lane in &mut stage.feed.lanes {
        tidy(lane, &mut outlet.boxes[lane.place]);
    }
    count
}

/// Forgets what was taken, once it is more than what was not.
fn tidy(lane: &mut Lane, packets: &mut Vec<Flight>) {
    if 2 * lane.taken >= packets.len() {
        packets.drain(..lane.taken);
        lane.taken = 0;
    }
}
