//! What the timeline hands out, and the messages it holds for that.

use core::fmt;

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
pub(super) struct Window {
    /// The place of the first among all arrivals.
    pub(super) first: u64,
    pub(super) at: Vec<u64>,
    pub(super) class: Vec<u16>,
    pub(super) length: Vec<u32>,
    pub(super) tick: Vec<u64>,
    pub(super) last_tick: Vec<u64>,
}

impl Window {
    pub(super) fn end(&self) -> u64 {
        self.first + self.at.len() as u64
    }

    pub(super) fn forget(&mut self, n: usize) {
        self.first += n as u64;
        self.at.drain(..n);
        self.class.drain(..n);
        self.length.drain(..n);
        self.tick.drain(..n);
        self.last_tick.drain(..n);
    }
}
