//! What an engine reports of a run, as it happens.
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

    /// Messages have been served, one after the other: as [`Observer::departed`] of each.
    fn departed_all(&mut self, departures: &[Departure]) {
        departures.iter().for_each(|departure| self.departed(departure));
    }

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

/// Departures that an observer hears of together, since it counts many at once faster than one by one.
#[derive(Debug)]
pub(crate) struct Departures(Vec<Departure>);

impl Departures {
    /// The most that are followed: enough that each class has many, and few enough for the second cache.
    pub(crate) const MOST: usize = 1536;

    /// Adds one, and has the observer hear of all where they are many.
    #[inline]
    pub(crate) fn push<O: Observer>(&mut self, departure: Departure, observer: &mut O) {
        self.0.push(departure);
        if self.0.len() == Self::MOST {
            self.tell(observer);
        }
    }

    /// Has the observer hear of these, of which there are at most [`Self::MOST`].
    #[inline]
    pub(crate) fn tell_all<O: Observer>(&mut self, all: impl Iterator<Item = Departure>, observer: &mut O) {
        self.0.extend(all);
        self.tell(observer);
    }

    /// Has the observer hear of them.
    pub(crate) fn tell<O: Observer>(&mut self, observer: &mut O) {
        observer.departed_all(&self.0);
        self.0.clear();
    }
}

impl Default for Departures {
    fn default() -> Self {
        Self(Vec::with_capacity(Self::MOST))
    }
}
