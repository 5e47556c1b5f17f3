//! What an engine tells of a run, as it happens.
//!
//! The engines keep no statistics; they report, and an observer collects. An observer says at compile time
//! what it wants to hear, so that a run pays only for that.

use weir_core::units::Instant;
use weir_lab::record::Departure;

/// What the queue monitor saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The instant.
    pub at: Instant,
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
