//! A lane: one engine and what is collected of it, behind one small interface.
//!
//! The engines are monomorphised per discipline, so that the packet loop holds no dynamic call; a lane is
//! called dynamically once per million packets. A lane may carry several disciplines (lockstep).

use crate::audit::{Audited, SlopAudit};
use crate::collector::Collector;
use crate::engine::{Engine, State, Stopped};
use crate::observer::{Observer, Sample};
use weir_lab::record::Departure;

/// One engine with what it collects.
pub trait Lane: Send {
    /// Runs until `until` ticks in all.
    fn advance(&mut self, until: u64) -> Stopped;
    /// The counters of the discipline at `place` among those of the lane.
    fn state(&self, place: usize) -> State;
    /// What was collected, discipline by discipline.
    fn collectors(&mut self) -> Vec<&mut Collector>;
    /// What verification found.
    fn audited(&self) -> Option<Audited> {
        None
    }
    /// Why the engine could not go on, if it could not.
    fn failure(&self) -> Option<String> {
        None
    }
    /// Hands out the batch begun.
    fn finish(&mut self) {}
}

/// An engine with one discipline.
pub struct Single<E> {
    engine: E,
    collector: Collector,
}

impl<E: Engine> Single<E> {
    /// Collects into `collector`.
    pub fn new(engine: E, collector: Collector) -> Self {
        Self { engine, collector }
    }
}

impl<E: Engine> Lane for Single<E> {
    fn advance(&mut self, until: u64) -> Stopped {
        self.engine.advance(until, &mut self.collector)
    }
    fn state(&self, _place: usize) -> State {
        self.engine.state()
    }
    fn collectors(&mut self) -> Vec<&mut Collector> {
        vec![&mut self.collector]
    }
}

/// An engine with one discipline whose decisions are checked, packet by packet.
pub struct Verified<E> {
    engine: E,
    observer: Both,
}

struct Both {
    collector: Collector,
    audit: SlopAudit,
}

impl<E: Engine> Verified<E> {
    /// Collects into `collector` and checks by `audit`.
    pub fn new(engine: E, collector: Collector, audit: SlopAudit) -> Self {
        Self { engine, observer: Both { collector, audit } }
    }
}

impl<E: Engine> Lane for Verified<E> {
    fn advance(&mut self, until: u64) -> Stopped {
        self.engine.advance(until, &mut self.observer)
    }
    fn state(&self, _place: usize) -> State {
        self.engine.state()
    }
    fn collectors(&mut self) -> Vec<&mut Collector> {
        vec![&mut self.observer.collector]
    }
    fn audited(&self) -> Option<Audited> {
        Some(self.observer.audit.counts())
    }
}

impl Observer for Both {
    const EVERY_PACKET: bool = true;

    fn departed(&mut self, departure: &Departure) {
        self.collector.departed(departure);
        self.audit.departed(departure);
    }
    fn sampled(&mut self, sample: &Sample) {
        self.collector.sampled(sample);
    }
    fn arrived(&mut self, tick: u64, index: u64, length: u64) {
        self.audit.arrived(tick, index, length);
    }
    fn accepted(&mut self, tick: u64, index: u64) {
        self.audit.accepted(tick, index);
    }
}
