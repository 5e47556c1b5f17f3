//! Sources that know nothing of the network: when each packet leaves its host, and how large it is.
//!
//! A departure falls at its scheduled time or, on a host whose timers tick, at the next tick; the packet then
//! takes its time in the host. Packets are drawn in blocks; the length of a block changes nothing.
//!
//! Where a rate follows a curve, gaps are drawn at its mean, and their sum is read on a clock that goes by the curve
//! ([`weir_workload::curve`]): a Poisson process becomes the non-homogeneous one, and equal gaps always have the same number of
//! expected departures between them. Source: Cinlar, *Introduction to Stochastic Processes*, 1975, section 4.7. Work O(1) a
//! packet, and O(log points) where a point of the curve is passed.

use std::sync::Arc;

use crate::collector::Collector;
use crate::delay::Passage;
use crate::flight::Flight;
use crate::sampler::Sampler;
use weir_core::units::{Bytes, Cost, Instant, Nanos};
use weir_lab::stream::Stream;
use weir_workload::arrivals::FineTimes;
use weir_workload::curve::CurveClock;

/// When packets are scheduled to depart, from the flow's start, and how large they are.
pub enum Schedule {
    /// Times and sizes from streams of their own.
    Drawn(Box<DrawnSchedule>),
    /// Recorded times and sizes, and the next of them.
    Replay(Arc<Vec<(Nanos, Bytes)>>, usize),
    /// Any other times and sizes.
    Listed(Box<dyn Iterator<Item = Scheduled> + Send>),
}

/// A departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// When, from the flow's start.
    pub after: Nanos,
    /// The size on the wire, in bytes.
    pub size: u32,
}

/// Times and sizes from streams of their own.
pub struct DrawnSchedule {
    /// Times in nanoseconds.
    pub pace: Pace,
    /// Sizes in bytes.
    pub sizes: Draws,
    /// The packets left to send.
    pub left: u64,
}

/// What makes the times of departures.
pub enum Pace {
    /// Gaps, the first from the flow's start, the last departure before, and the clock of a curve, by which that is.
    Gaps(Draws, Nanos, Option<Box<CurveClock>>),
    /// A process of the workload.
    Process(Box<FineTimes>),
}

impl Pace {
    fn fill(&mut self, at: &mut [Instant], scratch: &mut [u64]) {
        match self {
            Self::Gaps(gaps, last, clock) => {
                gaps.fill(scratch);
                for (at, &gap) in at.iter_mut().zip(&*scratch) {
                    *last = last.plus(Nanos::new(gap));
                    *at = Instant::ZERO + *last;
                }
                if let Some(clock) = clock {
                    at.iter_mut().for_each(|at| *at = Instant::new(clock.at(at.get())));
                }
            }
            Self::Process(times) => {
                times.fill(scratch);
                at.iter_mut().zip(&*scratch).for_each(|(at, &time)| *at = Instant::new(time));
            }
        }
    }
}

/// What is drawn. Where all draws are the same there is no stream, which is most of what a source takes in memory.
pub enum Draws {
    /// Always this.
    Constant(u64),
    /// From a distribution, with numbers of the stream.
    Drawn(Box<(Sampler, Stream)>),
}

impl Draws {
    /// Draws by `sampler`; `stream` is made where something is drawn.
    pub fn new(sampler: Sampler, stream: impl FnOnce() -> Stream) -> Self {
        sampler.constant().map_or_else(|| Self::Drawn(Box::new((sampler, stream()))), Self::Constant)
    }

    fn fill(&mut self, out: &mut [u64]) {
        match self {
            Self::Constant(value) => out.fill(*value),
            Self::Drawn(drawn) => {
                let (sampler, stream) = &mut **drawn;
                sampler.fill(stream, out);
            }
        }
    }
}

/// A size as packets have it.
fn size(bytes: u64) -> u32 {
    u32::try_from(bytes.max(1)).unwrap_or(u32::MAX)
}

impl DrawnSchedule {
    fn fill(&mut self, at: &mut [Instant], sizes: &mut [u32], scratch: &mut [u64]) -> usize {
        let count = at.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= count as u64;
        self.pace.fill(&mut at[..count], &mut scratch[..count]);
        match &mut self.sizes {
            Draws::Constant(bytes) => sizes[..count].fill(size(*bytes)),
            drawn @ Draws::Drawn(_) => {
                drawn.fill(&mut scratch[..count]);
                sizes.iter_mut().zip(&scratch[..count]).for_each(|(own, &bytes)| *own = size(bytes));
            }
        }
        count
    }
}

impl Schedule {
    /// Fills in the next departures, on a clock that begins with the flow; returns how many, fewer than there
    /// is room for only at the end.
    fn fill(&mut self, at: &mut [Instant], sizes: &mut [u32], scratch: &mut [u64]) -> usize {
        let next: &mut dyn Iterator<Item = Scheduled> = match self {
            Self::Drawn(drawn) => return drawn.fill(at, sizes, scratch),
            Self::Replay(packets, next) => {
                let rest = packets[*next..].iter().take(at.len());
                *next += rest.len();
                &mut rest.map(|&(after, bytes)| Scheduled { after, size: size(bytes.get()) })
            }
            Self::Listed(packets) => &mut packets.by_ref().take(at.len()),
        };
        let mut count = 0;
        for Scheduled { after, size } in next {
            (at[count], sizes[count]) = (Instant::ZERO + after, size);
            count += 1;
        }
        count
    }
}

/// The source of one flow.
pub struct Source {
    schedule: Schedule,
    /// The way through its host.
    host: Passage,
    times: Times,
    /// A packet of the flow.
    packet: Flight,
    /// The number of the next.
    number: u32,
    /// The block: arrivals at the first link in nanoseconds (before, what was drawn), departures, sizes.
    at: Box<[u64]>,
    sent: Box<[Instant]>,
    sizes: Box<[u32]>,
    next: usize,
    filled: usize,
    ended: bool,
}

/// When a flow sends.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// When it begins.
    pub start: Instant,
    /// When it ends.
    pub stop: Instant,
    /// Departures wait for these.
    pub ticks: Option<Ticks>,
}

/// When a host's timers tick.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    /// From one tick to the next, more than nothing.
    pub every: Nanos,
    /// The first.
    pub first: Nanos,
}

impl Ticks {
    /// The first tick that is not before `at`.
    #[inline]
    fn next(self, at: Instant) -> Instant {
        let first = self.first.get();
        let since = at.get().saturating_sub(first).checked_next_multiple_of(self.every.get());
        since.and_then(|since| since.checked_add(first)).map_or(Instant::NEVER, Instant::new)
    }
}

impl Source {
    /// A source of packets like `packet`, in blocks of `block`.
    #[must_use]
    pub fn new(schedule: Schedule, host: Passage, times: Times, packet: Flight, block: usize) -> Self {
        Self {
            schedule,
            host,
            times,
            packet,
            number: 0,
            at: vec![0; block].into_boxed_slice(),
            sent: vec![Instant::ZERO; block].into_boxed_slice(),
            sizes: vec![0; block].into_boxed_slice(),
            next: 0,
            filled: 0,
            ended: false,
        }
    }

    /// When the next packet arrives at its first link, or [`Instant::NEVER`].
    #[inline]
    pub fn head(&mut self, collector: &mut Collector) -> Instant {
        if self.next == self.filled && !self.refill(collector) {
            return Instant::NEVER;
        }
        Instant::new(self.at[self.next])
    }

    /// Appends the next packet; there is one. It is copied first and changed there: a wide copy of what was just
    /// written in parts would wait for the parts.
    #[inline]
    pub fn take(&mut self, out: &mut Vec<Flight>) {
        let place = self.next;
        out.push(self.packet);
        if let Some(flight) = out.last_mut() {
            flight.at = Instant::new(self.at[place]);
            flight.sent = self.sent[place];
            flight.size = self.sizes[place];
            flight.sequence = self.number;
        }
        self.next += 1;
        self.number = self.number.wrapping_add(1);
    }

    /// Draws the next block; whether there is anything in it.
    #[cold]
    fn refill(&mut self, collector: &mut Collector) -> bool {
        if self.ended {
            return false;
        }
        (self.next, self.filled) = (0, 0);
        let drawn = self.schedule.fill(&mut self.sent, &mut self.sizes, &mut self.at);
        self.ended = drawn < self.sent.len();
        for place in 0..drawn {
            let sent = self.departure(self.sent[place].since(Instant::ZERO));
            if sent >= self.times.stop {
                self.ended = true;
                break;
            }
            self.sent[place] = sent;
            self.at[place] = self.host.through(sent).get();
            self.filled += 1;
        }
        collector.sent(self.packet.flow, &self.sent[..self.filled], &self.sizes[..self.filled]);
        self.filled > 0
    }

    /// When a packet leaves that is scheduled this long after the start.
    #[inline]
    fn departure(&self, scheduled: Nanos) -> Instant {
        let at = self.times.start.after(scheduled);
        self.times.ticks.map_or(at, |ticks| ticks.next(at))
    }
}
