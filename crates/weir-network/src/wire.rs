//! What a link does with the packets its queue has let go: line, propagation, and the node at its end.
//!
//! A transmission takes `ceil((size + framing) x 8 / rate) + overhead + jitter`, with the jitter from the link's
//! own stream in the order of transmission. Once a packet is in the ring of the interface its end is known, so
//! it is sent on at that moment with the instant at which it will arrive.

use crate::collector::Collector;
use crate::delay::{Passage, Spans};
use crate::flight::Flight;
use crate::route::Routes;
use weir_core::units::{Bytes, Cost, Instant, Nanos, Rate};

/// Sizes above this take the long way to their time.
const SHORT: u64 = 1 << 31;
/// Bits and nanoseconds: what a byte costs at one bit a second.
const BYTE_AT_ONE_BIT: u64 = 8 * 1_000_000_000;

/// What was counted at a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkTally {
    /// All packets transmitted.
    pub hops: u64,
    /// Those of them that were sent after the warm-up.
    pub transmitted: u64,
    /// Packets dropped that were sent after the warm-up.
    pub dropped: u64,
    /// Time in the queue of those transmitted, in nanoseconds.
    pub wait: u128,
    /// Time the line was occupied, from the warm-up to the end of the sources.
    pub busy: u128,
    /// Packets in the queue, summed over the nanoseconds of the same time.
    pub queued: u128,
    /// The most packets in the queue.
    pub longest: u64,
}

/// From one instant up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Its first instant.
    pub from: Instant,
    /// The first after it.
    pub to: Instant,
}

impl From<(Nanos, Nanos)> for Interval {
    /// Between two times since the beginning.
    fn from((from, to): (Nanos, Nanos)) -> Self {
        Self { from: Instant::ZERO + from, to: Instant::ZERO + to }
    }
}

impl Interval {
    /// Whether an instant lies in it.
    #[inline]
    #[must_use]
    pub fn contains(self, at: Instant) -> bool {
        self.from <= at && at < self.to
    }

    #[inline]
    fn length(self) -> Nanos {
        self.to - self.from
    }

    /// How much of it lies within another.
    #[inline]
    fn within(self, other: Self) -> Nanos {
        self.to.min(other.to).since(self.from.max(other.from))
    }
}

/// Where packets go that leave a link.
pub struct Outlet<'a> {
    /// Which box a packet goes to.
    pub routes: &'a Routes,
    /// Packets between links.
    pub boxes: &'a mut [Vec<Flight>],
    /// What is measured of them.
    pub collector: &'a mut Collector,
}

/// The line of a link with all that lies behind it.
#[derive(Clone, Debug)]
pub struct Wire {
    rate: Rate,
    framing: u64,
    /// Overhead and jitter.
    spans: Spans,
    propagation: Nanos,
    /// The node at the end.
    passage: Passage,
    /// Whether packets that end there pass through it too.
    host: bool,
    /// The largest packet.
    mtu: u32,
    /// The last size with its time on the line.
    known: (u32, Nanos),
    /// When the last transmission ends.
    free: Instant,
    /// From the warm-up to the end of the sources.
    window: Interval,
    /// What was counted.
    pub tally: LinkTally,
}

/// What a wire is made of.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The rate of the line.
    pub rate: Rate,
    /// Framing of each packet.
    pub framing: Bytes,
    /// Overhead and jitter.
    pub spans: Spans,
    /// From the end of a transmission to the arrival.
    pub propagation: Nanos,
    /// The way through the node at the end.
    pub passage: Passage,
    /// Whether packets that end there take it.
    pub host: bool,
    /// The largest packet.
    pub mtu: Option<Bytes>,
    /// From the warm-up to the end of the sources.
    pub window: Interval,
}

impl Wire {
    /// An idle line.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self {
            rate: Rate::new(parts.rate.get().max(1)),
            framing: parts.framing.get(),
            spans: parts.spans,
            propagation: parts.propagation,
            passage: parts.passage,
            host: parts.host,
            mtu: parts.mtu.map_or(u32::MAX, |mtu| u32::try_from(mtu.get()).unwrap_or(u32::MAX)),
            known: (0, Nanos::ZERO),
            free: Instant::ZERO,
            window: parts.window,
            tally: LinkTally::default(),
        }
    }

    /// Whether the line takes packets of this size.
    #[inline]
    #[must_use]
    pub fn takes(&self, size: u32) -> bool {
        size <= self.mtu
    }

    /// The time of `size` on the line alone.
    #[inline]
    fn time_of(&mut self, size: u32) -> Nanos {
        if size != self.known.0 {
            let framed = u64::from(size).saturating_add(self.framing);
            let time = if framed < SHORT {
                Nanos::new((framed * BYTE_AT_ONE_BIT).div_ceil(self.rate.get()))
            } else {
                self.rate.time_of(Bytes::new(framed)).unwrap_or(Nanos::new(u64::MAX))
            };
            self.known = (size, time);
        }
        self.known.1
    }

    /// Puts a packet into the ring at `now`; returns when its transmission ends.
    #[inline(always)]
    pub fn send(&mut self, now: Instant, flight: &Flight, outlet: &mut Outlet<'_>) -> Instant {
        let start = now.max(self.free);
        let span = self.time_of(flight.size).plus(self.spans.draw());
        let end = start.after(span);
        self.free = end;
        let sending = Interval { from: start, to: end };
        self.count(flight, now, sending);
        outlet.collector.passed(flight, now, sending);
        let hop = flight.hop + 1;
        let leg = outlet.routes.leg(flight.flow, hop);
        let arrived = end.after(self.propagation);
        let past = leg.ends() && !self.host;
        let at = if past { self.passage.past(arrived) } else { self.passage.through(arrived) };
        match leg.place() {
            Some(place) => pass(&mut outlet.boxes[place], flight, at, hop),
            None => outlet.collector.delivered(flight, at),
        }
        end
    }

    #[inline]
    fn count(&mut self, flight: &Flight, now: Instant, sending: Interval) {
        let queued = Interval { from: flight.at, to: now };
        let wait = u128::from(queued.length().get());
        let window = self.window;
        let tally = &mut self.tally;
        let counted = flight.sent >= window.from;
        tally.hops += 1;
        tally.transmitted += u64::from(counted);
        tally.wait += if counted { wait } else { 0 };
        if flight.at >= window.from && sending.to <= window.to {
            tally.busy += u128::from(sending.length().get());
            tally.queued += wait;
        } else {
            tally.busy += u128::from(sending.within(window).get());
            tally.queued += u128::from(queued.within(window).get());
        }
    }

    /// A packet is dropped at `now`, from the queue or before it.
    pub fn lose(&mut self, now: Instant, flight: &Flight, collector: &mut Collector) {
        self.tally.dropped += u64::from(flight.sent >= self.window.from);
        let queued = Interval { from: flight.at, to: now };
        self.tally.queued += u128::from(queued.within(self.window).get());
        collector.dropped(flight, now);
    }
}

/// Puts a packet into a box. It is copied first and changed there: a wide copy of what was just written in parts
/// would wait for the parts.
#[inline]
fn pass(packets: &mut Vec<Flight>, flight: &Flight, at: Instant, hop: u8) {
    packets.push(*flight);
    if let Some(copy) = packets.last_mut() {
        copy.at = at;
        copy.hop = hop;
    }
}

weir_lab::encode! {
    LinkTally { hops, transmitted, dropped, wait, busy, queued, longest }
}
