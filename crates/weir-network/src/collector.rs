//! What is measured of the packets in one replication: whole numbers, so that no order of collecting matters.
//!
//! A packet belongs to the span of sending time in which it was sent; the bounds of all intervals cut time into
//! spans, and an interval is the sum of its spans. Memory: linear in flows times spans, and in flows times steps
//! of the time series where these are asked for. The first replication has its delays over time too, by class.

use crate::flight::{BACK, Flight};
use crate::model::{Measure, NetworkScenario};
use crate::over_time::Windows;
use crate::packets::Packets;
use crate::wire::Interval;
use weir_core::units::{Instant, Nanos};
use weir_lab::stats::{Histogram, OverTime};

/// Up to this many flows each has a histogram of its own.
const FLOWS_WITH_TAILS: usize = 64;
/// Up to this many flows each is measured at every link.
pub const FLOWS_WITH_HOPS: usize = 1024;

/// What was counted of the packets of one flow in one span; times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets sent.
    pub offered: u64,
    /// Their bytes.
    pub offered_bytes: u64,
    /// Packets that arrived.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Packets that arrived after one sent later.
    pub reordered: u64,
    /// The sum of the delays.
    pub delay: u128,
    /// The sum of their squares.
    pub squares: u128,
    /// The largest delay.
    pub longest: u64,
}

impl Counts {
    /// Counts what `other` has counted too.
    pub fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.offered_bytes += other.offered_bytes;
        self.delivered += other.delivered;
        self.delivered_bytes += other.delivered_bytes;
        self.dropped += other.dropped;
        self.reordered += other.reordered;
        self.delay += other.delay;
        self.squares += other.squares;
        self.longest = self.longest.max(other.longest);
    }
}

/// One step of a time series of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Bytes sent.
    pub offered: u64,
    /// Bytes of them that arrived.
    pub delivered: u64,
    /// Packets that arrived.
    pub packets: u64,
    /// The sum of their delays.
    pub delay: u128,
}

/// What was counted of one flow at one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopCounts {
    /// Packets transmitted.
    pub packets: u64,
    /// Their time in the queue.
    pub wait: u128,
    /// Packets dropped.
    pub dropped: u64,
}

/// Time series of all flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesBins {
    /// The step.
    pub step: Nanos,
    /// Steps of each flow.
    pub steps: usize,
    /// Flow by flow.
    pub bins: Vec<Bin>,
}

impl SeriesBins {
    #[inline]
    fn at(&mut self, flow: u32, sent: Instant) -> Option<&mut Bin> {
        let step = usize::try_from(sent.get() / self.step.get()).ok().filter(|&step| step < self.steps)?;
        self.bins.get_mut(flow as usize * self.steps + step)
    }
}

/// What became of a packet, for the comparison of the engines.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fate {
    pub(crate) flow: u32,
    pub(crate) sequence: u32,
    pub(crate) sent: Instant,
    pub(crate) delivered: Option<Instant>,
    pub(crate) hop: u8,
}

/// A span between bounds, and its place among the spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Latest {
    interval: Interval,
    span: usize,
}

impl Latest {
    /// No span yet.
    const NONE: Self = Self { interval: Interval { from: Instant::ZERO, to: Instant::ZERO }, span: 0 };
}

/// Collects one replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collector {
    /// The bounds of all intervals, in order.
    bounds: Vec<Instant>,
    /// Flow by flow, span by span; the first span is before all bounds.
    counts: Vec<Counts>,
    /// The number after the largest that was delivered, flow by flow.
    newest: Vec<u32>,
    /// Whether delays in a span are counted in histograms; empty where none are.
    tailed: Vec<bool>,
    /// The histogram of each flow: its own, or that of its class.
    group: Vec<u16>,
    /// Histograms of flows, or of classes.
    pub histograms: Vec<Histogram>,
    /// Time series.
    pub series: Option<SeriesBins>,
    /// Delays over time, of the first replication.
    pub over_time: OverTime,
    /// Where the hops of each flow begin; empty where they are not measured.
    hop_begins: Vec<u32>,
    /// Flow by flow, hop by hop.
    pub hops: Vec<HopCounts>,
    /// Packets one by one, where they are recorded.
    pub packets: Option<Box<Packets>>,
    /// Figures over time, where they are asked for.
    pub windows: Option<Box<Windows>>,
    /// Whether there are time series or windows, or packets are recorded.
    is_watched: bool,
    /// Whether there are windows, or packets are recorded: what they hear of lies out of the way of other runs.
    is_followed: bool,
    warm_up: Instant,
    /// The span found last.
    latest: Latest,
    /// Packets sent, in all.
    pub offered: u64,
    /// Every packet.
    #[cfg(test)]
    pub(crate) fates: Vec<Fate>,
}

/// Whether each flow has a histogram of its own; else each class has one.
#[must_use]
pub fn tails_by_flow(network: &NetworkScenario) -> bool {
    network.measure.flows && network.flows.len() <= FLOWS_WITH_TAILS
}

/// The bounds of all intervals, in order, each once.
fn bounds(measure: &Measure) -> Vec<Instant> {
    let ends = measure.intervals.iter().flat_map(|(from, to)| [from, to]);
    let mut bounds: Vec<Instant> = ends.map(|end| Instant::ZERO + *end).collect();
    bounds.sort_unstable();
    bounds.dedup();
    bounds
}

impl Collector {
    /// Nothing yet, of a replication by its number.
    #[must_use]
    pub fn new(network: &NetworkScenario, replication: u32) -> Self {
        let (measure, flows) = (&network.measure, network.flows.len());
        let bounds = bounds(measure);
        let spans = bounds.len() + 1;
        let by_flow = tails_by_flow(network);
        let group = |(place, class): (usize, usize)| if by_flow { place as u16 } else { class as u16 };
        let classes = network.flows.iter().map(|flow| usize::from(flow.class.0));
        let groups = if by_flow { flows } else { network.classes.len().max(1) };
        let tailed = |all: Interval| {
            let inside = |span: usize| span > 0 && all.contains(bounds[span - 1]);
            (0..spans).map(inside).collect()
        };
        let all = measure.intervals.first().map(|&interval| Interval::from(interval));
        let duration = network.stop.duration.get();
        let steps = |step: Nanos| usize::try_from(duration.div_ceil(step.get())).unwrap_or(usize::MAX);
        let series = measure.series.map(|step| step.max(Nanos::ONE)).map(|step| SeriesBins {
            step,
            steps: steps(step),
            bins: vec![Bin::default(); steps(step).saturating_mul(flows)],
        });
        let over_time = if replication == 0 {
            OverTime::new(network.stop.duration, network.classes.len())
        } else {
            OverTime::default()
        };
        let mut hop_begins = Vec::new();
        let mut hops = 0;
        if measure.flows && flows <= FLOWS_WITH_HOPS {
            for flow in &network.flows {
                hop_begins.push(hops as u32);
                hops += flow.path.len() + flow.back.len() + 1;
            }
        }
        Self {
            counts: vec![Counts::default(); spans * flows],
            newest: vec![0; flows],
            tailed: all.filter(|_| measure.tails).map_or_else(Vec::new, tailed),
            group: classes.enumerate().map(group).collect(),
            histograms: vec![Histogram::new(); if measure.tails { groups } else { 0 }],
            series,
            over_time,
            packets: None,
            windows: Windows::new(network).map(Box::new),
            is_watched: measure.series.is_some() || measure.over_time.is_some(),
            is_followed: measure.over_time.is_some(),
            hop_begins,
            hops: vec![HopCounts::default(); hops],
            warm_up: Instant::ZERO + network.stop.warm_up,
            latest: Latest::NONE,
            offered: 0,
            bounds,
            #[cfg(test)]
            fates: Vec::new(),
        }
    }

    /// Records packets too.
    pub fn record_packets(&mut self) {
        self.packets = Some(Box::default());
        (self.is_watched, self.is_followed) = (true, true);
    }

    /// The span of a sending time.
    #[inline]
    fn span(&mut self, sent: Instant) -> usize {
        let Latest { interval, span } = self.latest;
        if interval.contains(sent) {
            return span;
        }
        self.find_span(sent)
    }

    #[cold]
    fn find_span(&mut self, sent: Instant) -> usize {
        let span = self.bounds.partition_point(|&bound| sent >= bound);
        let from = span.checked_sub(1).map_or(Instant::ZERO, |before| self.bounds[before]);
        let to = self.bounds.get(span).copied().unwrap_or(Instant::NEVER);
        self.latest = Latest { interval: Interval { from, to }, span };
        span
    }

    #[inline]
    fn counts_at(&mut self, flow: u32, span: usize) -> &mut Counts {
        &mut self.counts[flow as usize * (self.bounds.len() + 1) + span]
    }

    /// A flow sends packets at these times and of these sizes, in order.
    pub fn sent(&mut self, flow: u32, times: &[Instant], sizes: &[u32]) {
        self.offered += times.len() as u64;
        let mut begin = 0;
        while let Some(&first) = times.get(begin) {
            let span = self.span(first);
            let until = self.latest.interval.to;
            let count = times[begin..].partition_point(|&sent| sent < until).max(1);
            let counts = self.counts_at(flow, span);
            counts.offered += count as u64;
            counts.offered_bytes +=
                sizes[begin..begin + count].iter().map(|&size| u64::from(size)).sum::<u64>();
            begin += count;
        }
        if let Some(windows) = &mut self.windows {
            windows.sent(times);
        }
        let Some(series) = &mut self.series else { return };
        for (&sent, &size) in times.iter().zip(sizes) {
            if let Some(bin) = series.at(flow, sent) {
                bin.offered += u64::from(size);
            }
        }
    }

    /// A packet has come to its destination.
    #[inline]
    pub fn delivered(&mut self, flight: &Flight, at: Instant) {
        let delay = (at - flight.sent).get();
        let span = self.span(flight.sent);
        let newest = &mut self.newest[flight.flow as usize];
        let late = flight.sequence < *newest;
        *newest = (*newest).max(flight.sequence.wrapping_add(1));
        let counts = self.counts_at(flight.flow, span);
        counts.delivered += 1;
        counts.delivered_bytes += u64::from(flight.size);
        counts.delay += u128::from(delay);
        counts.squares += u128::from(delay) * u128::from(delay);
        counts.longest = counts.longest.max(delay);
        counts.reordered += u64::from(late);
        if self.tailed.get(span).is_some_and(|&tailed| tailed) {
            self.histograms[usize::from(self.group[flight.flow as usize])].record(delay);
        }
        self.over_time.record(flight.sent, usize::from(flight.class), delay);
        if self.is_watched {
            self.watch(flight, at, delay);
        }
        #[cfg(test)]
        self.log(flight, Some(at));
    }

    /// What there is of a delivery besides counts.
    #[cold]
    #[inline(never)]
    fn watch(&mut self, flight: &Flight, at: Instant, delay: u64) {
        if let Some(bin) = self.series.as_mut().and_then(|series| series.at(flight.flow, flight.sent)) {
            bin.delivered += u64::from(flight.size);
            bin.packets += 1;
            bin.delay += u128::from(delay);
        }
        if let Some(windows) = &mut self.windows {
            windows.delivered(flight, delay);
        }
        if let Some(packets) = &mut self.packets {
            packets.delivered(flight, at);
        }
    }

    /// A packet was dropped at `now`; acknowledgements are not counted.
    #[inline]
    pub fn dropped(&mut self, flight: &Flight, now: Instant) {
        if self.is_followed {
            self.follow_drop(flight, now);
        }
        if flight.marks & BACK != 0 {
            return;
        }
        let span = self.span(flight.sent);
        self.counts_at(flight.flow, span).dropped += 1;
        if let Some(hop) = self.hop(flight) {
            hop.dropped += 1;
        }
        #[cfg(test)]
        self.log(flight, None);
    }

    #[cold]
    #[inline(never)]
    fn follow_drop(&mut self, flight: &Flight, now: Instant) {
        if let Some(windows) = &mut self.windows {
            windows.dropped(flight, now);
        }
        if let Some(packets) = self.packets.as_mut().filter(|_| flight.marks & BACK == 0) {
            packets.dropped(flight, now);
        }
    }

    /// A packet leaves the queue of a link at `now`, and occupies its line.
    #[inline]
    pub fn passed(&mut self, flight: &Flight, now: Instant, sending: Interval) {
        if let Some(hop) = self.hop(flight) {
            hop.packets += 1;
            hop.wait += u128::from((now - flight.at).get());
        }
        if self.is_followed {
            self.follow(flight, now, sending);
        }
    }

    #[cold]
    #[inline(never)]
    fn follow(&mut self, flight: &Flight, now: Instant, sending: Interval) {
        if let Some(windows) = &mut self.windows {
            windows.passed(flight, now, sending);
        }
        if let Some(packets) = &mut self.packets {
            packets.passed(flight, now - flight.at);
        }
    }

    #[inline]
    fn hop(&mut self, flight: &Flight) -> Option<&mut HopCounts> {
        let begin = *self.hop_begins.get(flight.flow as usize)?;
        if flight.sent < self.warm_up {
            return None;
        }
        self.hops.get_mut(begin as usize + usize::from(flight.hop))
    }

    #[cfg(test)]
    fn log(&mut self, flight: &Flight, delivered: Option<Instant>) {
        let Flight { flow, sequence, sent, .. } = *flight;
        let hop = if delivered.is_none() { flight.hop } else { 0 };
        self.fates.push(Fate { flow, sequence, sent, delivered, hop });
    }

    /// Forgets what was needed only while it collected.
    pub fn finish(&mut self) {
        self.latest = Latest::NONE;
    }

    /// What was counted of a flow in the spans of an interval.
    #[must_use]
    pub fn interval(&self, flow: usize, interval: Interval) -> Counts {
        let spans = self.bounds.len() + 1;
        let mut sum = Counts::default();
        for span in 1..spans {
            if interval.contains(self.bounds[span - 1]) {
                sum.add(&self.counts[flow * spans + span]);
            }
        }
        sum
    }

    /// What was counted of all flows at all times.
    #[must_use]
    pub fn total(&self) -> Counts {
        let mut sum = Counts::default();
        self.counts.iter().for_each(|counts| sum.add(counts));
        sum
    }

    /// The hops of a flow; none where they are not measured.
    #[must_use]
    pub fn hops_of(&self, flow: usize, count: usize) -> &[HopCounts] {
        let begin = self.hop_begins.get(flow).copied();
        begin.map_or(&[], |begin| &self.hops[begin as usize..][..count])
    }
}

weir_lab::encode! {
    Counts { offered, offered_bytes, delivered, delivered_bytes, dropped, reordered, delay, squares, longest }
    Bin { offered, delivered, packets, delay }
    HopCounts { packets, wait, dropped }
    SeriesBins { step, steps, bins }
}
