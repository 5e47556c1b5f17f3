//! What an engine tells of a run, as it happens.
//!
//! The engines keep no statistics; they report, and an observer collects. An observer says at compile time
//! what it wants to hear, so that a run pays only for that.

/// A message whose last unit of service has been accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// Its number in order of arrival, from 0.
    pub index: u64,
    /// The application it belongs to.
    pub flow: u32,
    /// Its class.
    pub class: u16,
    /// Its length at arrival, in the scenario's unit of length.
    pub length: u32,
    /// Instant of arrival.
    pub arrival: u64,
    /// Instant at which its first unit was accepted.
    pub first: u64,
    /// Instant at which its last unit was accepted; served whole, at which its service ended.
    pub last: u64,
    /// Instant at which its service ended; where service times are drawn, `last` and one mean service.
    pub completion: u64,
    /// The time its service takes, or is expected to take, on a server of its own.
    pub alone: u64,
    /// Ticks before its last one: packets (or messages, served whole) accepted before.
    pub tick: u64,
}

/// What the queue monitor saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The instant.
    pub at: u64,
    /// Packets accepted before.
    pub tick: u64,
    /// Packets that had arrived and were not yet accepted.
    pub packets: u64,
    /// Messages of which not every packet was accepted yet.
    pub messages: u64,
}

/// Hears of a run.
pub trait Observer {
    /// Whether [`Observer::arrived`] and [`Observer::accepted`] are to be called.
    const EVERY_PACKET: bool = false;

    /// A message has been served.
    fn departed(&mut self, departure: &Departure);

    /// Message number `index` of `length` units arrives when `tick` packets have been accepted.
    fn arrived(&mut self, tick: u64, index: u64, length: u64) {
        let _ = (tick, index, length);
    }

    /// Tick `tick` went to the message with number `index`.
    fn accepted(&mut self, tick: u64, index: u64) {
        let _ = (tick, index);
    }

    /// The queue monitor looked.
    fn sampled(&mut self, sample: &Sample) {
        let _ = sample;
    }
}
