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

use super::source::{ArrivalBlock, ArrivalSource, ServiceSource};
use crate::engine::dispatch::{Level, Work};
use core::fmt;

/// Messages drawn at a time.
const BLOCK: usize = 512;
/// Parts of a block whose searches run side by side.
const PARTS: usize = 4;
/// Ticks compared at a time when looking for the acceptances before an instant.
const PROBE: usize = 16;
/// The clock's end; beyond it sums of times could wrap.
const CLOCK_END: u64 = 1 << 63;
/// An instant that is not reached before the clock's end.
const NEVER: u64 = CLOCK_END - 1;

/// What makes a workload impossible to schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimelineError {
    /// Message `order` arrives before its predecessor.
    Unsorted {
        /// Its place among all arrivals, from 0.
        order: u64,
    },
    /// Message `order` has no packet.
    ZeroLength {
        /// Its place among all arrivals, from 0.
        order: u64,
    },
    /// The clock would pass 2^63 counts.
    ClockEnds,
}

impl fmt::Display for TimelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsorted { order } => {
                write!(f, "message {} arrives before its predecessor; sort the arrivals by time", order + 1)
            }
            Self::ZeroLength { order } => {
                write!(f, "message {} has 0 packets, must have at least 1", order + 1)
            }
            Self::ClockEnds => {
                f.write_str("the clock passes 2^63 counts; shorten the run or use a larger unit of time")
            }
        }
    }
}

impl std::error::Error for TimelineError {}

/// Readings of the queue monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// Readings in a row that found the same; more than one only while the port is empty.
    pub readings: u64,
    /// Packets accepted so far.
    pub tick: u64,
    /// Packets arrived and not yet accepted.
    pub packets: u64,
}

/// A stretch of the timeline: the ticks `first_tick..end_tick` and the messages that arrive among them.
///
/// To play it, serve up to the first message's `tick`, then for each message insert it and serve up to the
/// next one's tick, the last time up to `end_tick`.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The first tick.
    pub first_tick: u64,
    /// One past the last tick.
    pub end_tick: u64,
    /// The place of the first message among all arrivals.
    pub first_order: u64,
    /// Arrival of each message.
    pub at: &'a [u64],
    /// Class of each message.
    pub class: &'a [u16],
    /// Packets of each message.
    pub length: &'a [u32],
    /// Ticks gone when each message arrives.
    pub tick: &'a [u64],
    /// The acceptance instant of each tick.
    pub accepted: &'a [u64],
    /// The messages whose last tick, in order of arrival, lies in the segment: FIFO's completions.
    pub finished: Finished<'a>,
    /// Readings of the queue monitor.
    pub queue: &'a [QueueSample],
}

/// Messages that FIFO completes in a segment.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// The place of the first among all arrivals.
    pub first_order: u64,
    /// Arrival of each.
    pub at: &'a [u64],
    /// Class of each.
    pub class: &'a [u16],
    /// Packets of each.
    pub length: &'a [u32],
    /// The tick of each one's last packet.
    pub last_tick: &'a [u64],
    /// Class and last tick of the message that follows them, if it has arrived.
    pub next: Option<(u16, u64)>,
}

/// Messages not yet handed out, or not yet finished in order of arrival.
#[derive(Clone, Debug, Default)]
struct Window {
    /// The place of the first among all arrivals.
    first: u64,
    at: Vec<u64>,
    class: Vec<u16>,
    length: Vec<u32>,
    tick: Vec<u64>,
    last_tick: Vec<u64>,
}

impl Window {
    fn end(&self) -> u64 {
        self.first + self.at.len() as u64
    }

    fn forget(&mut self, n: usize) {
        self.first += n as u64;
        self.at.drain(..n);
        self.class.drain(..n);
        self.length.drain(..n);
        self.tick.drain(..n);
        self.last_tick.drain(..n);
    }
}

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
    /// A timeline at time 0 whose queue is read every `monitor_period` clock counts (never, if 0).
    #[must_use]
    pub fn new(monitor_period: u64) -> Self {
        Self::with_level(monitor_period, Level::detect())
    }

    /// As `new`, with the loops of `level`; the timeline is the same.
    #[must_use]
    pub fn with_level(monitor_period: u64, level: Level) -> Self {
        Self {
            messages: Window::default(),
            instants: vec![NEVER; PROBE],
            filled: 0,
            first_instant: 0,
            total_work: 0,
            arrived: 0,
            accepted: 0,
            idle: 0,
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

    /// The service times of all that has arrived, and the instant at which they would be over.
    #[must_use]
    pub fn work_and_end(&self) -> (u64, u64) {
        (self.total_work, self.total_work + self.idle)
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
    pub fn last_arrival(&self) -> u64 {
        self.last_at
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

    /// Turns the fresh service times into the work before each packet, then into acceptance instants:
    /// Lindley's recursion, message by message.
    #[inline(always)]
    fn settle(&mut self, from: usize, fresh: usize) {
        let end = self.filled;
        let mut total = self.total_work;
        for slot in &mut self.instants[fresh..end] {
            let service = *slot;
            *slot = total;
            total += service;
        }
        self.total_work = total;
        let mut settled = fresh;
        for i in from..self.messages.at.len() {
            let tick = self.messages.last_tick[i] + 1 - u64::from(self.messages.length[i]);
            let first = (tick - self.first_instant) as usize;
            let begin = self.instants[first] + self.idle;
            if begin < self.messages.at[i] {
                self.shift(settled, first);
                settled = first;
                self.idle += self.messages.at[i] - begin;
            }
        }
        self.shift(settled, end);
    }

    /// Adds the idle time to the work before these packets.
    #[inline(always)]
    fn shift(&mut self, from: usize, to: usize) {
        for slot in &mut self.instants[from..to] {
            *slot += self.idle;
        }
    }

    /// Finds the tick of each message from the `from`-th of the window on. Each search goes on from the
    /// message before; several parts of the block take turns, so that none waits for the other.
    #[inline(always)]
    fn find_ticks(&mut self, from: usize) {
        let count = self.messages.at.len() - from;
        self.messages.tick.resize(from + count, 0);
        let part = count / PARTS;
        let mut tick = [self.accepted; PARTS];
        if part > 0 {
            for (n, tick) in tick.iter_mut().enumerate().skip(1) {
                let later = &self.instants[(self.accepted - self.first_instant) as usize..self.filled];
                let at = self.messages.at[from + n * part - 1];
                *tick += later.partition_point(|&accepted| accepted <= at) as u64;
                *tick = (*tick).min(self.messages.last_tick[from + n * part - 1]);
            }
        }
        for step in 0..part {
            for (n, tick) in tick.iter_mut().enumerate() {
                *tick = self.find_tick(from + n * part + step, *tick);
            }
        }
        for i in from + PARTS * part..from + count {
            tick[PARTS - 1] = self.find_tick(i, tick[PARTS - 1]);
        }
        self.accepted = self.messages.tick.last().copied().unwrap_or(0).max(self.accepted);
    }

    /// The ticks gone when the `i`-th message of the window arrives, at least `from`.
    #[inline(always)]
    fn find_tick(&mut self, i: usize, from: u64) -> u64 {
        let first_tick = self.messages.last_tick[i] + 1 - u64::from(self.messages.length[i]);
        let tick = self.accepted_by(from, first_tick, self.messages.at[i]);
        self.messages.tick[i] = tick;
        tick
    }

    /// Reads the queue up to the last message drawn.
    #[inline(always)]
    fn sample(&mut self, from: usize, accepted: u64) {
        let mut accepted = accepted;
        for i in from..self.messages.at.len() {
            if self.next_sample < self.messages.at[i] {
                let arrived = self.messages.last_tick[i] + 1 - u64::from(self.messages.length[i]);
                self.sample_until(self.messages.at[i], accepted, arrived);
            }
            accepted = self.messages.tick[i];
        }
        self.last_at = self.messages.at.last().copied().unwrap_or(self.last_at);
    }
}

/// Settles the messages from the `from`-th of the window on, whose first packet is the `fresh`-th.
struct Settle<'a> {
    timeline: &'a mut Timeline,
    from: usize,
    fresh: usize,
}

impl Work for Settle<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { timeline, from, fresh } = self;
        let accepted = timeline.accepted;
        timeline.settle(from, fresh);
        timeline.find_ticks(from);
        timeline.sample(from, accepted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::stream::{Purpose, Stream, StreamKey};

    /// Arrivals read from a list.
    struct Listed {
        arrivals: Vec<(u64, u32)>,
        drawn: usize,
    }

    impl ArrivalSource for Listed {
        fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize {
            block.clear();
            let n = n.min(self.arrivals.len() - self.drawn);
            for &(at, length) in &self.arrivals[self.drawn..self.drawn + n] {
                block.push(at, length, 0, 0);
            }
            self.drawn += n;
            n
        }
    }

    struct Cycle(Vec<u64>, usize);

    impl ServiceSource for Cycle {
        fn fill(&mut self, out: &mut [u64]) {
            for slot in out {
                *slot = self.0[self.1 % self.0.len()];
                self.1 += 1;
            }
        }
    }

    #[derive(Debug, Default, PartialEq)]
    struct Played {
        tick: Vec<u64>,
        accepted: Vec<u64>,
        finished: Vec<u64>,
        queue: Vec<(u64, u64)>,
    }

    fn play(arrivals: &[(u64, u32)], services: &[u64], period: u64, stop: u64, level: Level) -> Played {
        let mut source = Listed { arrivals: arrivals.to_vec(), drawn: 0 };
        let mut times = Cycle(services.to_vec(), 0);
        let mut timeline = Timeline::with_level(period, level);
        let mut played = Played::default();
        let mut boundary = stop;
        loop {
            let drawn = timeline.extend(&mut source, &mut times, 37).unwrap();
            loop {
                while let Some(segment) = timeline.next_segment(boundary) {
                    played.tick.extend(segment.tick);
                    played.accepted.extend(segment.accepted);
                    played.finished.extend(segment.finished.last_tick);
                    let rows = segment
                        .queue
                        .iter()
                        .flat_map(|q| core::iter::repeat_n((q.tick, q.packets), q.readings as usize));
                    played.queue.extend(rows);
                }
                if timeline.accepted() < boundary {
                    break;
                }
                boundary += stop;
            }
            if drawn == 0 {
                return played;
            }
        }
    }

    /// The same, one packet at a time.
    fn plain(arrivals: &[(u64, u32)], services: &[u64], period: u64) -> Played {
        let mut played = Played::default();
        let mut free = 0;
        let mut packets = 0;
        for &(at, length) in arrivals {
            for _ in 0..length {
                let begin = at.max(free);
                free = begin + services[played.accepted.len() % services.len()];
                played.accepted.push(begin);
            }
            played.finished.push(played.accepted.len() as u64 - 1);
        }
        for &(at, length) in arrivals {
            played.tick.push(played.accepted[..packets].partition_point(|&begin| begin <= at) as u64);
            packets += length as usize;
        }
        let end = played.accepted.last().copied().unwrap_or(0);
        for sample in (1..).map(|k| k * period).take_while(|&sample| sample < end) {
            let gone = played.accepted.partition_point(|&begin| begin <= sample) as u64;
            let here: u64 =
                arrivals.iter().filter(|(at, _)| *at <= sample).map(|&(_, length)| u64::from(length)).sum();
            played.queue.push((gone, here - gone));
        }
        played
    }

    #[test]
    fn equals_a_packet_by_packet_server_on_random_input() {
        let mut stream = Stream::new(StreamKey { seed: 1, replication: 0, purpose: Purpose::Test, index: 0 });
        for case in 0..300 {
            let gap = 1 + stream.next_below(60);
            let mut at = stream.next_below(20);
            let mut arrivals = Vec::new();
            for _ in 0..stream.next_below(300) {
                arrivals.push((at, 1 + stream.next_below(12) as u32));
                at += stream.next_below(gap) * (1 + 50 * u64::from(stream.next_below(20) == 0));
            }
            let services: Vec<u64> = (0..1 + case % 5).map(|_| 1 + stream.next_below(8)).collect();
            let expected = plain(&arrivals, &services, 13);
            for &level in Level::available() {
                let stop = 1 + stream.next_below(90);
                assert_eq!(play(&arrivals, &services, 13, stop, level), expected, "case {case}, {level:?}");
            }
        }
    }

    #[test]
    fn bad_arrivals_are_named() {
        let mut timeline = Timeline::new(0);
        let mut source = Listed { arrivals: vec![(5, 1), (4, 1)], drawn: 0 };
        let mut times = Cycle(vec![1], 0);
        let error = timeline.extend(&mut source, &mut times, 10).unwrap_err();
        assert_eq!(error, TimelineError::Unsorted { order: 1 });
        assert_eq!(error.to_string(), "message 2 arrives before its predecessor; sort the arrivals by time");
        let mut source = Listed { arrivals: vec![(5, 0)], drawn: 0 };
        let error = Timeline::new(0).extend(&mut source, &mut times, 10).unwrap_err();
        assert_eq!(error, TimelineError::ZeroLength { order: 0 });
        let mut source = Listed { arrivals: vec![(1 << 63, 1)], drawn: 0 };
        let error = Timeline::new(0).extend(&mut source, &mut times, 10).unwrap_err();
        assert_eq!(error, TimelineError::ClockEnds);
    }
}
