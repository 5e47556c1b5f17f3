//! What is kept of the packets of one run: whole numbers, so that the order in which an engine tells does not matter.
//!
//! Times are ticks. What is generated or delivered in the measured time, from the end of the warm-up to the end of the
//! run, is counted. Memory: a histogram for each kind of latency and channel, nothing for each packet.
//!
//! For Little's law packets from the interface's buffer to delivery are counted in two ways: by the area under their
//! number, from the times of entries and of deliveries, and by the latencies of those that are delivered.

use crate::model::{FabricScenario, Routing, Size};
use crate::record::{Delivery, Generation, Injection, Sink};
use crate::time::{Ticks, ticks};
use weir_lab::stats::Times;

/// Latencies are of these kinds, in this order: from the interface, from generation, of messages.
pub const KINDS: usize = 3;

/// Packets and their bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Volume {
    fn add(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

/// The packets of a channel from the interface's buffer to delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// The area under their number over the measured time, in packets times ticks.
    pub area: i128,
    /// How many there are where the measured time begins.
    pub first: i64,
    /// How many there are where it ends.
    pub last: i64,
}

impl Inside {
    /// A packet begins (1) or ceases (-1) to be inside.
    #[inline]
    fn count(&mut self, sign: i64, at: Ticks, (from, to): (Ticks, Ticks)) {
        self.area += i128::from(sign) * i128::from(to.saturating_sub(at.max(from)));
        self.first += if at < from { sign } else { 0 };
        self.last += sign;
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { area: self.area + other.area, first: self.first + other.first, last: self.last + other.last }
    }
}

/// What was counted of a channel in the measured time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Generated.
    pub offered: Volume,
    /// Delivered.
    pub delivered: Volume,
    /// By kind.
    pub latencies: [Times; KINDS],
    /// From entries and deliveries.
    pub inside: Inside,
}

impl Counts {
    /// Counts what `other` has counted too.
    pub fn merge(&mut self, other: &Self) {
        self.offered = self.offered.plus(other.offered);
        self.delivered = self.delivered.plus(other.delivered);
        self.latencies.iter_mut().zip(&other.latencies).for_each(|(own, other)| own.merge(other));
        self.inside = self.inside.plus(other.inside);
    }
}

/// Collects one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collector {
    /// Channel by channel.
    pub counts: Vec<Counts>,
    /// Packets generated, warm-up included.
    pub generated: u64,
    /// Packets that entered, warm-up included.
    pub injected: u64,
    /// Packets delivered, warm-up included.
    pub delivered: u64,
    /// Channels whose messages are distinguished.
    messages: Vec<bool>,
    tails: bool,
    /// The measured time.
    window: (Ticks, Ticks),
}

/// Whether the latency of a channel's messages is measured: it has messages, and their packets come in order.
#[must_use]
pub fn measures_messages(fabric: &FabricScenario, channel: usize) -> bool {
    let size = fabric.channels.get(channel).map(|channel| &channel.size);
    fabric.routing != Routing::AdaptiveUp && matches!(size, Some(Size::Messages(_)))
}

impl Collector {
    /// Nothing yet.
    #[must_use]
    pub fn new(fabric: &FabricScenario) -> Self {
        let channels = fabric.channels.len();
        Self {
            counts: vec![Counts::default(); channels],
            generated: 0,
            injected: 0,
            delivered: 0,
            messages: (0..channels).map(|channel| measures_messages(fabric, channel)).collect(),
            tails: fabric.tails,
            window: (ticks(fabric.stop.warm_up), ticks(fabric.stop.duration)),
        }
    }
}

impl Sink for Collector {
    #[inline]
    fn generated(&mut self, generation: &Generation) {
        self.generated += 1;
        if generation.at >= self.window.0 {
            self.counts[usize::from(generation.channel)].offered.add(generation.size);
        }
    }

    #[inline]
    fn injected(&mut self, injection: &Injection) {
        self.injected += 1;
        let counts = &mut self.counts[usize::from(injection.channel)];
        counts.inside.count(1, injection.at, self.window);
    }

    #[inline]
    fn delivered(&mut self, delivery: &Delivery) {
        self.delivered += 1;
        let channel = usize::from(delivery.channel);
        let counts = &mut self.counts[channel];
        counts.inside.count(-1, delivery.delivered, self.window);
        if delivery.delivered < self.window.0 {
            return;
        }
        counts.delivered.add(delivery.size);
        let total = delivery.delivered - delivery.generated;
        counts.latencies[0].record(delivery.delivered - delivery.injected, self.tails);
        counts.latencies[1].record(total, self.tails);
        if delivery.last && self.messages[channel] {
            counts.latencies[2].record(total, self.tails);
        }
    }
}

weir_lab::encode! {
    Volume { packets, bytes }
    Inside { area, first, last }
}
