//! From the checked model to the parts of one replication: sources, links, routes, and which engine runs them.
//!
//! | traffic | links | engine |
//! |-|-|-|
//! | open loop | none feeds itself through others | accelerated |
//! | any other | any | plain |
//!
//! Random streams are keyed by flow or link and by what they are for; those of sources never depend on the
//! discipline, so that all disciplines see the same packets sent.

use crate::delay::{Passage, Spans};
use crate::drop_tail::DropTail;
use crate::flight::{CAPABLE, Flight};
use crate::interface::{Driven, Interface};
use crate::model::{
    Delay, Drawn, Flow, Gaps, Link, NetworkScenario, NodeKind, PacketSizes, Phase, Tick, Traffic,
};
use crate::sampler::Sampler;
use crate::script;
use crate::source::{DrawnSchedule, Draws, Pace, Schedule, Source, Ticks, Times};
use crate::tcp::Config;
use crate::transfer::Transfer;
use crate::wire::{Interval, Parts, Wire};
use weir_core::discipline::Discipline;
use weir_core::info::parse_packets;
use weir_core::registry::{Visitor, visit_packet, with_seeds};
use weir_core::spec::Spec;
use weir_core::units::{Instant, Nanos};
use weir_lab::error::RunError;
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::arrivals::FineTimes;
use weir_workload::curve::CurveClock;

/// The most links in a route, there and back.
const LONGEST_ROUTE: usize = 250;
/// The most packets of a flow in a replication.
const MOST_PACKETS: f64 = 4e9;
/// The number of packets of a flow whose gaps are 0.
const ENDLESS: &str = "packets without end";
/// Packets drawn at a time: many where there are few flows.
const LONG_BLOCK: usize = 256;
const SHORT_BLOCK: usize = 16;
/// Up to this many flows are few.
const FEW_FLOWS: usize = 256;
/// The most steps of all time series together.
const MOST_STEPS: u64 = 1 << 22;

const SECOND: f64 = 1e9;

/// One discipline in one replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The replication.
    pub replication: u32,
    /// A place in [`NetworkScenario::disciplines`].
    pub discipline: usize,
}

fn too_large(place: impl Into<String>, reason: impl Into<String>) -> RunError {
    RunError::TooLarge { place: place.into(), reason: reason.into() }
}

/// Refuses what cannot be simulated, before anything is.
///
/// # Errors
/// A route, a flow or the time series are longer than what is simulated.
pub fn check(network: &NetworkScenario) -> Result<(), RunError> {
    let duration = network.stop.duration.get();
    for flow in &network.flows {
        let place = || format!("flow `{}`", flow.name);
        let hops = flow.path.len() + flow.back.len();
        if flow.path.is_empty() || hops > LONGEST_ROUTE {
            let reason = format!("its route has {hops} links, must have from 1 to {LONGEST_ROUTE}");
            return Err(too_large(place(), reason));
        }
        if matches!(flow.traffic, Traffic::Tcp(_)) && flow.back.is_empty() {
            return Err(too_large(
                place(),
                "its acknowledgements have no route back, must have at least 1 link",
            ));
        }
        let packets = expected(flow, duration);
        if packets > MOST_PACKETS {
            let count =
                if packets.is_finite() { format!("{packets:.0} packets") } else { ENDLESS.to_owned() };
            let reason = format!("it sends {count}, at most {MOST_PACKETS:.0} are simulated");
            return Err(too_large(place(), reason));
        }
    }
    let step = network.measure.series.map_or(u64::MAX, |step| step.get().max(1));
    let steps = (duration / step).saturating_mul(network.flows.len() as u64);
    if steps > MOST_STEPS {
        let reason = format!("they have {steps} steps over all flows, at most {MOST_STEPS} are kept");
        return Err(too_large("the time series", reason));
    }
    Ok(())
}

/// How many packets a flow sends on average; none where that is up to the network.
fn expected(flow: &Flow, duration: u64) -> f64 {
    let span = Nanos::new(flow.stop.get().min(duration).saturating_sub(flow.start.get()));
    if span.get() == 0 {
        return 0.0;
    }
    match &flow.traffic {
        Traffic::Drawn(drawn) => drawn.expected(span),
        Traffic::Script(traffic, _) => script::expected(traffic, span.get() as f64 / SECOND),
        Traffic::Replay(packets) => packets.len() as f64,
        Traffic::Tcp(tcp) => tcp.packets.map_or(0.0, |packets| packets as f64),
    }
}

/// Makes the streams of a replication.
#[derive(Clone, Copy, Debug)]
struct Streams {
    seed: u64,
    replication: u32,
}

impl Streams {
    fn key(self, purpose: Purpose, index: usize) -> StreamKey {
        StreamKey { seed: self.seed, replication: self.replication, purpose, index: index as u32 }
    }

    fn of(self, purpose: Purpose, index: usize) -> Stream {
        Stream::new(self.key(purpose, index))
    }
}

/// The sources of a replication, in the order of the flows; none where traffic adapts to the network.
///
/// # Errors
/// Of each source: a distribution cannot be drawn.
pub fn sources(
    network: &NetworkScenario,
    replication: u32,
) -> impl Iterator<Item = Result<Option<Source>, RunError>> {
    let streams = Streams { seed: network.seed, replication };
    let of = move |(index, flow)| source(network, flow, index, streams);
    network.flows.iter().enumerate().map(of)
}

fn source(
    network: &NetworkScenario,
    flow: &Flow,
    index: usize,
    streams: Streams,
) -> Result<Option<Source>, RunError> {
    let schedule = match &flow.traffic {
        Traffic::Drawn(drawn) => drawn_schedule(flow, drawn, index, streams)?,
        Traffic::Replay(packets) => Schedule::Replay(packets.clone(), 0),
        Traffic::Script(traffic, mode) => {
            script::schedule(traffic, *mode, streams.key(Purpose::Arrivals, index))
        }
        Traffic::Tcp(_) => return Ok(None),
    };
    let processing = network.nodes[flow.source].processing;
    let host = Passage::new(Spans::new(processing, || streams.of(Purpose::Sending, index)));
    let times = Times {
        start: Instant::ZERO + flow.start,
        stop: Instant::ZERO + flow.stop.min(network.stop.duration),
        ticks: flow.tick.map(|tick| ticks(tick, || streams.of(Purpose::Clocks, flow.source))),
    };
    let block = if network.flows.len() <= FEW_FLOWS { LONG_BLOCK } else { SHORT_BLOCK };
    Ok(Some(Source::new(schedule, host, times, packet(flow, index), block)))
}

/// When the timers of a host tick in a replication; all its flows draw from the same stream.
fn ticks(Tick { every, phase }: Tick, stream: impl FnOnce() -> Stream) -> Ticks {
    let first = match phase {
        Phase::At(first) => first,
        Phase::Random => Nanos::new(stream().next_below(every.get())),
    };
    Ticks { every, first }
}

/// The transfers of a replication, in the order of the flows; none where traffic does not adapt.
#[must_use]
pub fn transfers(network: &NetworkScenario, replication: u32) -> Vec<Option<Transfer>> {
    let streams = Streams { seed: network.seed, replication };
    let host = |node: usize, index: usize| {
        Passage::new(Spans::new(network.nodes[node].processing, || streams.of(Purpose::Sending, index)))
    };
    let of = |(index, flow): (usize, &Flow)| {
        let Traffic::Tcp(tcp) = &flow.traffic else { return None };
        let size = u32::try_from(tcp.packet.get()).unwrap_or(u32::MAX);
        let packet = Flight { size, ..packet(flow, index) };
        // The acknowledgements draw from streams that no flow has.
        let hosts = [host(flow.source, index), host(flow.destination, network.flows.len() + index)];
        let active = Interval::from((flow.start, flow.stop.min(network.stop.duration)));
        Some(Transfer::new(&Config::from(tcp), packet, flow.path.len() as u8 + 1, hosts, active))
    };
    network.flows.iter().enumerate().map(of).collect()
}

/// The first packet of a flow.
#[must_use]
pub fn packet(flow: &Flow, index: usize) -> Flight {
    let ecn = matches!(flow.traffic, Traffic::Tcp(tcp) if tcp.ecn);
    Flight {
        at: Instant::ZERO,
        sent: Instant::ZERO,
        flow: index as u32,
        sequence: 0,
        size: 0,
        addresses: flow.addresses,
        class: flow.class.0 as u8,
        dscp: flow.dscp,
        hop: 0,
        marks: if ecn { CAPABLE } else { 0 },
    }
}

fn drawn_schedule(flow: &Flow, drawn: &Drawn, index: usize, streams: Streams) -> Result<Schedule, RunError> {
    let phases = |of| move || streams.of(Purpose::Phases, 2 * index + of);
    let refused = |reason: &str| too_large(format!("flow `{}`", flow.name), reason);
    let gaps = |sampler| {
        let clock = drawn.clock.as_ref().map(|clock| Box::new(CurveClock::clone(clock)));
        Pace::Gaps(Draws::new(sampler, || streams.of(Purpose::Arrivals, index)), Nanos::default(), clock)
    };
    let pace = match &drawn.gap {
        Gaps::Tg(gap) => gaps(Sampler::new(gap, SECOND, phases(0)).map_err(refused)?),
        Gaps::Law(law) => gaps(Sampler::of_law(law.clone())),
        Gaps::Process(arrivals, mean) => {
            let stream = |purpose, part| {
                let own = if purpose == Purpose::Phases { 2 * index } else { index };
                Stream::new(streams.key(purpose, own).part(part))
            };
            let curve = drawn.curve().cloned();
            let times = FineTimes::from_any_instant(arrivals, mean * SECOND, curve, &stream);
            Pace::Process(Box::new(times.map_err(|error| refused(&error.to_string()))?))
        }
    };
    let sizes = match &drawn.size {
        PacketSizes::Tg(size) => Sampler::new(size, 1.0, phases(1)).map_err(refused)?,
        PacketSizes::Table(sizes) => Sampler::of_sizes(sizes),
    };
    Ok(Schedule::Drawn(Box::new(DrawnSchedule {
        pace,
        sizes: Draws::new(sizes, || streams.of(Purpose::Lengths, index)),
        left: drawn.packets.unwrap_or(u64::MAX),
    })))
}

/// The links of a job, in their order; `fast` takes the special forms that there are.
///
/// # Errors
/// A discipline refuses its arguments.
pub fn interfaces(
    network: &NetworkScenario,
    job: Job,
    fast: bool,
) -> Result<Vec<Box<dyn Interface>>, RunError> {
    let streams = Streams { seed: network.seed, replication: job.replication };
    let of = |(index, link)| interface(network, link, index, job, streams, fast);
    network.links.iter().enumerate().map(of).collect()
}

fn interface(
    network: &NetworkScenario,
    link: &Link,
    index: usize,
    job: Job,
    streams: Streams,
    fast: bool,
) -> Result<Box<dyn Interface>, RunError> {
    let wire = wire(network, link, index, job, streams);
    let spec = &link.disciplines[job.discipline];
    if let Some(limit) = drop_tail(spec).filter(|_| fast) {
        return Ok(Box::new(DropTail::new(wire, limit, link.ring)));
    }
    let mut seeds = streams.of(Purpose::Decisions, index);
    let spec = with_seeds(spec, &mut || seeds.next_u64());
    let made = visit_packet(&spec, Drive { wire, ring: link.ring });
    made.map_err(RunError::from)
}

fn wire(network: &NetworkScenario, link: &Link, index: usize, job: Job, streams: Streams) -> Wire {
    let node = &network.nodes[link.to];
    let overhead = link.overhead.get(job.discipline).copied().unwrap_or_default();
    let delay = Delay { constant: overhead, jitter: link.jitter };
    Wire::new(Parts {
        rate: link.rate,
        framing: link.overhead_bytes,
        spans: Spans::new(delay, || streams.of(Purpose::Transmissions, index)),
        propagation: link.propagation,
        passage: Passage::new(Spans::new(node.processing, || streams.of(Purpose::Forwarding, index))),
        host: node.kind == NodeKind::Host,
        mtu: link.mtu,
        window: Interval::from((network.stop.warm_up, network.stop.duration)),
    })
}

/// Whether a spec is a drop-tail queue in packets, and of how many; `Some(None)` for any number.
fn drop_tail(spec: &Spec) -> Option<Option<u64>> {
    if spec.name != "fifo" {
        return None;
    }
    match spec.arguments.as_slice() {
        [] => Some(None),
        [limit] if limit.key.as_deref().is_none_or(|key| key == "limit") => match limit.value.name.as_str() {
            "none" => Some(None),
            packets => {
                parse_packets(packets).filter(|packets| packets.get() > 0).map(|packets| Some(packets.get()))
            }
        },
        _ => None,
    }
}

/// Puts a discipline behind a line.
struct Drive {
    wire: Wire,
    ring: u32,
}

impl Visitor<Flight> for Drive {
    type Output = Box<dyn Interface>;

    fn visit<D: Discipline<Flight> + Send + 'static>(self, make: impl Fn() -> D) -> Box<dyn Interface> {
        Box::new(Driven::new(make(), self.wire, self.ring))
    }
}

/// The links in an order in which each comes after all that feed it; `None` where there is none, or where
/// traffic adapts to the network.
#[must_use]
pub fn order(network: &NetworkScenario) -> Option<Vec<usize>> {
    if adapts(network) {
        return None;
    }
    let links = network.links.len();
    let mut feeds = feeds(network);
    feeds.sort_unstable();
    feeds.dedup();
    let mut fed_by = vec![0_usize; links];
    feeds.iter().for_each(|pair| fed_by[pair.to] += 1);
    let mut order: Vec<usize> = (0..links).filter(|&link| fed_by[link] == 0).collect();
    let mut next = 0;
    while let Some(&link) = order.get(next) {
        next += 1;
        let from = feeds.partition_point(|pair| pair.from < link);
        for &Feeds { to, .. } in feeds[from..].iter().take_while(|pair| pair.from == link) {
            fed_by[to] -= 1;
            if fed_by[to] == 0 {
                order.push(to);
            }
        }
    }
    (order.len() == links).then_some(order)
}

/// Whether traffic adapts to the network.
#[must_use]
pub fn adapts(network: &NetworkScenario) -> bool {
    network.flows.iter().any(|flow| matches!(flow.traffic, Traffic::Tcp(_)))
}

/// That one link feeds another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Feeds {
    /// The one before.
    pub from: usize,
    /// The one after.
    pub to: usize,
}

/// Which link feeds which, once for every flow.
#[must_use]
pub fn feeds(network: &NetworkScenario) -> Vec<Feeds> {
    let pairs = |flow: &Flow| -> Vec<Feeds> {
        flow.path.windows(2).map(|pair| Feeds { from: pair[0], to: pair[1] }).collect()
    };
    network.flows.iter().flat_map(pairs).collect()
}

/// The error where the queue of a link grows beyond what is simulated.
#[must_use]
pub fn overloaded(network: &NetworkScenario, job: Job, link: usize) -> RunError {
    let most = crate::interface::MOST_WAITING;
    RunError::Overloaded {
        disciplines: network.disciplines[job.discipline].clone(),
        reason: format!(
            "more than {most} packets wait at link `{}`, give its discipline a limit",
            network.links[link].name
        ),
    }
}
