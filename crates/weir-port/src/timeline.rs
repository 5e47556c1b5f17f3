//! The timeline that all work-conserving disciplines of a comparison share, in ticks.
//!
//! A tick is one packet accepted by the server. Whatever the order of service, the k-th packet accepted
//! takes the k-th service time, so the acceptance instants are those of FIFO. With `W[k]` the sum of the
//! first k service times and `C[m]` the packets of the messages before the m-th, Lindley's recursion gives
//! the server's idle time so far, `I[m] = max(I[m-1], a[m] - W[C[m]])`, and tick k of message m happens at
//! `W[k] + I[m]`.
//!
//! Between two arrivals every discipline serves the same number of ticks. `T[m]`, the packets accepted at
//! or before the arrival of message m, is therefore all a discipline needs to know of time: its schedule
//! is a function of lengths and tick counts. An acceptance comes before an arrival at the same instant; a
//! message that finds the server idle has its first packet accepted at once.
//!
//! | | |
//! |-|-|
//! | Source | Lindley, Proc. Camb. Phil. Soc. 48 (1952), pp. 277–289, read in units of work |
//! | Work | O(1) per packet and per message, in blocks |
//! | Memory | the packets and messages not yet served, plus one block |
//! | Units | clock counts (nanoseconds); the clock ends at 2^63 |

use weir_core::units::{Instant, Nanos};
use weir_lab::dispatch::Level;
use weir_workload::source::{ArrivalBlock, ArrivalSource, ServiceSource};

mod segment;
mod settle;
use segment::Window;
pub use segment::{Finished, QueueSample, Segment, TimelineError};
use settle::Settle;

/// Messages drawn at a time.
const BLOCK: usize = 512;
/// Ticks compared at a time when looking for the acceptances before an instant.
const PROBE: usize = 16;
/// The clock's end; beyond it sums of times could wrap.
const CLOCK_END: u64 = 1 << 63;
/// An instant that is not reached before the clock's end.
const NEVER: u64 = CLOCK_END - 1;

/// Draws arrivals and services and turns them into segments.
#[derive(Clone, Debug)]
pub struct Timeline {
    messages: Window,
    /// The acceptance instant of each tick that has not been handed out, and of packets yet to be
    /// accepted: the first `filled` entries. `PROBE` entries that no instant reaches follow.
    instants: Vec<u64>,
    filled: usize,
    /// The tick of the first of them.
    first_instant: u64,
    /// Service times of all packets that have arrived, together.
    total_work: u64,
    /// Packets of all messages that have arrived.
    arrived: u64,
    /// Ticks gone at the last arrival.
    accepted: u64,
    /// The server's idle time so far.
    idle: u64,
    /// The ticks before which the server was idle, with its idle time up to them; only those that the ticks not yet
    /// handed out need.
    pauses: Vec<(u64, u64)>,
    last_at: u64,
    monitor_period: u64,
    next_sample: u64,
    samples: Vec<QueueSample>,
    sampled: usize,
    handed_tick: u64,
    handed_order: u64,
    finished_order: u64,
    incoming: ArrivalBlock,
    level: Level,
}

impl Timeline {
    /// A timeline at time 0 whose queue is read every `monitor_period` (never, if 0).
    #[must_use]
    pub fn new(monitor_period: Nanos) -> Self {
        Self::with_level(monitor_period, Level::detect())
    }

    /// As `new`, with the loops of `level`; the timeline is the same.
    #[must_use]
    pub fn with_level(monitor_period: Nanos, level: Level) -> Self {
        let monitor_period = monitor_period.get();
        Self {
            messages: Window::default(),
            instants: vec![NEVER; PROBE],
            filled: 0,
            first_instant: 0,
            total_work: 0,
            arrived: 0,
            accepted: 0,
            idle: 0,
            pauses: Vec::new(),
            last_at: 0,
            monitor_period,
            next_sample: if monitor_period == 0 { u64::MAX } else { monitor_period },
            samples: Vec::new(),
            sampled: 0,
            handed_tick: 0,
            handed_order: 0,
            finished_order: 0,
            incoming: ArrivalBlock::default(),
            level,
        }
    }

    /// Draws at most `n` more messages and settles the ticks before the last of them. At the end of a
    /// trace it settles the ticks that are left. Returns the number of messages drawn.
    ///
    /// # Errors
    ///
    /// [`TimelineError`] for arrivals out of order or without a packet, and at the end of the clock.
    pub fn extend(
        &mut self,
        arrivals: &mut dyn ArrivalSource,
        services: &mut dyn ServiceSource,
        n: usize,
    ) -> Result<usize, TimelineError> {
        self.forget();
        let mut incoming = core::mem::take(&mut self.incoming);
        let drawn = arrivals.fill(&mut incoming, n.min(BLOCK));
        let from = self.messages.at.len();
        self.append(&incoming)?;
        self.incoming = incoming;
        let fresh = self.draw(services)?;
        let level = self.level;
        level.run(Settle { timeline: self, from, fresh });
        if drawn == 0 {
            self.drain();
        }
        Ok(drawn)
    }

    /// The service times of the ticks handed out.
    #[must_use]
    pub fn work(&self) -> Nanos {
        let next = (self.handed_tick - self.first_instant) as usize;
        Nanos::new(match self.instants[next..self.filled].first() {
            Some(accepted) => accepted - self.idle_before(self.handed_tick),
            None => self.total_work,
        })
    }

    /// When these are over: the end of the last service.
    #[must_use]
    pub fn end(&self) -> Instant {
        let idle = self.handed_tick.checked_sub(1).map_or(0, |last| self.idle_before(last));
        Instant::new(self.work().get() + idle)
    }

    /// The server's idle time up to a tick, from the last that was handed out on.
    fn idle_before(&self, tick: u64) -> u64 {
        let later = self.pauses.partition_point(|&(first, _)| first <= tick);
        later.checked_sub(1).map_or(0, |last| self.pauses[last].1)
    }

    /// Packets arrived so far.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Ticks gone at the last arrival.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// The instant of the last arrival.
    #[must_use]
    pub fn last_arrival(&self) -> Instant {
        Instant::new(self.last_at)
    }

    /// Messages drawn so far.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages.end()
    }

    /// Messages handed out so far.
    #[must_use]
    pub fn handed(&self) -> u64 {
        self.handed_order
    }

    /// Hands out the ticks below `stop`, as far as drawn, and what arrives and is sampled before tick
    /// `stop`; `None` when all that has been handed out.
    pub fn next_segment(&mut self, stop: u64) -> Option<Segment<'_>> {
        let end_tick = self.accepted.min(stop);
        let window = &self.messages;
        let order_end = window.first + window.tick.partition_point(|&tick| tick < stop) as u64;
        let sampled_end = self.samples.partition_point(|sample| sample.tick < stop);
        let (order, tick, sampled) = (self.handed_order, self.handed_tick, self.sampled);
        if end_tick <= tick && order_end <= order && sampled_end <= sampled {
            return None;
        }
        (self.handed_tick, self.handed_order, self.sampled) = (end_tick, order_end, sampled_end);
        let finished = self.finished_order;
        let done = &self.messages.last_tick[(finished - self.messages.first) as usize..];
        self.finished_order += done.partition_point(|&last| last < end_tick) as u64;
        let mut segment = self.view(order, order_end, tick, end_tick, sampled);
        segment.finished = self.finished(finished);
        Some(segment)
    }

    fn view(&self, order: u64, order_end: u64, tick: u64, end_tick: u64, sampled: usize) -> Segment<'_> {
        let window = &self.messages;
        let range = (order - window.first) as usize..(order_end - window.first) as usize;
        let ticks = (tick - self.first_instant) as usize..(end_tick - self.first_instant) as usize;
        Segment {
            first_tick: tick,
            end_tick,
            first_order: order,
            at: &window.at[range.clone()],
            class: &window.class[range.clone()],
            length: &window.length[range.clone()],
            tick: &window.tick[range],
            accepted: &self.instants[ticks],
            finished: self.finished(self.finished_order),
            queue: &self.samples[sampled..self.sampled],
        }
    }

    fn finished(&self, from: u64) -> Finished<'_> {
        let window = &self.messages;
        let range = (from - window.first) as usize..(self.finished_order - window.first) as usize;
        Finished {
            first_order: from,
            at: &window.at[range.clone()],
            class: &window.class[range.clone()],
            length: &window.length[range.clone()],
            next: window.class.get(range.end).map(|&class| (class, window.last_tick[range.end])),
            last_tick: &window.last_tick[range],
        }
    }

    /// Drops what nobody needs any more, once it is half of what is held.
    fn forget(&mut self) {
        let messages = (self.finished_order.min(self.handed_order) - self.messages.first) as usize;
        if messages > self.messages.at.len() / 2 {
            self.messages.forget(messages);
        }
        let ticks = (self.handed_tick - self.first_instant) as usize;
        if ticks > self.filled / 2 {
            self.instants.copy_within(ticks..self.filled + PROBE, 0);
            self.filled -= ticks;
            self.first_instant += ticks as u64;
        }
        self.samples.drain(..self.sampled);
        self.sampled = 0;
        let last = self.handed_tick.saturating_sub(1);
        let begun = self.pauses.partition_point(|&(first, _)| first <= last);
        self.pauses.drain(..begun.saturating_sub(1));
    }

    /// Appends the messages of a block after checking them.
    fn append(&mut self, block: &ArrivalBlock) -> Result<(), TimelineError> {
        let order = self.messages.end();
        let before = core::iter::once(&self.last_at).chain(&block.at);
        if let Some(i) = before.zip(&block.at).position(|(before, at)| before > at) {
            return Err(TimelineError::Unsorted { order: order + i as u64 });
        }
        if let Some(i) = block.length.iter().position(|&length| length == 0) {
            return Err(TimelineError::ZeroLength { order: order + i as u64 });
        }
        let mut arrived = self.arrived;
        self.messages.last_tick.extend(block.length.iter().map(|&length| {
            arrived += u64::from(length);
            arrived - 1
        }));
        self.arrived = arrived;
        self.messages.at.extend(&block.at);
        self.messages.class.extend(&block.class);
        self.messages.length.extend(&block.length);
        Ok(())
    }

    /// Draws the service times of the packets appended; returns the place of the first.
    fn draw(&mut self, services: &mut dyn ServiceSource) -> Result<usize, TimelineError> {
        let from = self.filled;
        let length = (self.arrived - self.first_instant) as usize;
        if self.instants.len() < length + PROBE {
            self.instants.resize(2 * length + PROBE, 0);
        }
        self.filled = length;
        services.fill(&mut self.instants[from..length]);
        let longest = self.instants[from..length].iter().fold(0, |all, service| all | service);
        self.instants[length..length + PROBE].fill(NEVER);
        let last_at = self.messages.at.last().copied().unwrap_or(self.last_at);
        // The longest service is at most `longest`; a power of two covers rounding it up.
        let fresh_work = u128::from(longest) * (length - from) as u128;
        if u128::from(self.total_work) + u128::from(last_at) + fresh_work >= u128::from(CLOCK_END) {
            return Err(TimelineError::ClockEnds);
        }
        Ok(from)
    }

    /// No message will follow: everything that waits is accepted.
    fn drain(&mut self) {
        if self.accepted < self.arrived {
            let last = self.instants[(self.arrived - 1 - self.first_instant) as usize];
            self.sample_until(last, self.accepted, self.arrived);
            self.accepted = self.arrived;
        }
    }

    /// Ticks below `limit` accepted at or before `instant`, of which there are at least `from`.
    #[inline(always)]
    fn accepted_by(&self, from: u64, limit: u64, instant: u64) -> u64 {
        let mut tick = from;
        for probe in
            self.instants[(from - self.first_instant) as usize..self.filled + PROBE].chunks_exact(PROBE)
        {
            // The sign of the difference, all times being below 2^63: a sum that needs no masks.
            let hits: u64 = probe.iter().map(|&accepted| accepted.wrapping_sub(instant + 1) >> 63).sum();
            tick += hits;
            if hits < PROBE as u64 {
                break;
            }
        }
        tick.min(limit)
    }

    /// Reads the queue at each sampling instant before `at`, when `arrived` packets have arrived and at
    /// least `tick` have been accepted.
    #[cold]
    #[inline(never)]
    fn sample_until(&mut self, at: u64, tick: u64, arrived: u64) {
        let mut tick = tick;
        while self.next_sample < at {
            tick = self.accepted_by(tick, arrived, self.next_sample);
            let later = if tick < arrived { 0 } else { (at - 1 - self.next_sample) / self.monitor_period };
            self.samples.push(QueueSample { readings: later + 1, tick, packets: arrived - tick });
            self.next_sample = self.next_sample.saturating_add(self.monitor_period.saturating_mul(later + 1));
        }
    }
}

#[cfg(test)]
mod tests;
