//! The accelerated engine as a lane: several disciplines, one timeline.

use std::ops::ControlFlow;

use crate::port::accelerated::{
    Batch, BatchObserver, Limit, Lockstep, LockstepError, Probe, Stopped as Ended,
};
use crate::port::collector::Collector;
use crate::port::engine::{State, Stopped};
use crate::port::lane::Lane;
use crate::port::source::{ArrivalSource, RandomServices};
use crate::stats::Histogram;
use crate::stats::batch::Total;

/// Disciplines in lockstep.
pub struct LockstepLane {
    engine: Lockstep,
    arrivals: Box<dyn ArrivalSource + Send>,
    services: RandomServices,
    lengths: Vec<u32>,
    tails: Option<Tails>,
    into: Collectors,
    served: Batch,
    tick: u64,
    failed: Option<LockstepError>,
}

struct Collectors(Vec<Collector>);

/// Latencies by discipline and class, since the last hand-over.
struct Tails {
    classes: usize,
    histograms: Vec<Histogram>,
}

impl Probe for Tails {
    const COMPLETIONS: bool = true;

    #[inline(always)]
    fn completed(&mut self, strategy: usize, class: usize, latency: u64) {
        self.histograms[strategy * self.classes + class].record(latency);
    }
}

impl BatchObserver for Collectors {
    fn batch(&mut self, batch: Batch) -> ControlFlow<()> {
        for (strategy, collector) in self.0.iter_mut().enumerate() {
            for class in 0..batch.classes {
                let (count, sum) = batch.of(strategy, class);
                collector.batches.add(class, batch.first_tick, Total { count, sum });
                if batch.first_tick >= collector.plan().warm_up {
                    collector.lengths[class].0 += count;
                }
            }
            let readings = Total { count: batch.queue_readings, sum: batch.queue_packets };
            collector.queue.add(0, batch.first_tick, readings);
        }
        ControlFlow::Continue(())
    }
}

impl LockstepLane {
    /// Plays `engine` on the sources and collects into `collectors`, one for each of its strategies.
    #[must_use]
    pub fn new(
        mut engine: Lockstep,
        (arrivals, services): (Box<dyn ArrivalSource + Send>, RandomServices),
        lengths: Vec<u32>,
        collectors: Vec<Collector>,
        tails: bool,
    ) -> Self {
        let classes = lengths.len();
        let histograms = vec![Histogram::new(); classes * collectors.len()];
        let tails = tails.then_some(Tails { classes, histograms });
        let (served, into) = (engine.total(), Collectors(collectors));
        Self { engine, arrivals, services, lengths, tails, into, served, tick: 0, failed: None }
    }

    /// Plays to `until`, or to the end of the warm-up or of the section of histograms begun, if that is
    /// earlier.
    fn play_section(&mut self, until: u64) -> Result<Ended, LockstepError> {
        let plan = self.into.0[0].plan();
        let (warm_up, section) = (plan.warm_up, plan.section);
        let end = match self.tick.checked_sub(warm_up) {
            None => warm_up,
            Some(_) if section == 0 => until,
            Some(since) => warm_up.saturating_add((since / section + 1).saturating_mul(section)),
        };
        let counted = self.tick >= warm_up;
        let ended = self.play(until.min(end), counted);
        if counted {
            self.hand_over(self.tick);
        }
        self.served = self.engine.total();
        self.tick = self.served.end_tick;
        ended
    }

    fn play(&mut self, until: u64, tails: bool) -> Result<Ended, LockstepError> {
        let (arrivals, services) = (&mut *self.arrivals, &mut self.services);
        match &mut self.tails {
            Some(probe) if tails => {
                self.engine.run(arrivals, services, Limit::Packets(until), &mut self.into, probe)
            }
            _ => self.engine.run(arrivals, services, Limit::Packets(until), &mut self.into, &mut ()),
        }
    }

    /// Moves the histograms into the section of the collectors to which `tick` belongs.
    fn hand_over(&mut self, tick: u64) {
        let Some(tails) = &mut self.tails else { return };
        for (place, collector) in self.into.0.iter_mut().enumerate() {
            let own = &mut tails.histograms[place * tails.classes..][..tails.classes];
            collector.add_histograms(tick, own);
            own.fill(Histogram::new());
        }
    }
}

impl Lane for LockstepLane {
    fn advance(&mut self, until: u64) -> Stopped {
        let mut ended = Ok(Ended::AtLimit);
        while self.tick < until && matches!(ended, Ok(Ended::AtLimit)) {
            ended = self.play_section(until);
        }
        match ended {
            Ok(Ended::AtLimit) => Stopped::Reached,
            Ok(Ended::AtEnd | Ended::ByObserver) => Stopped::Exhausted,
            Err(error) => {
                self.failed = Some(error);
                Stopped::Overloaded
            }
        }
    }

    /// Time is that at which the work drawn so far would be over, at most a block of messages ahead.
    fn state(&self, place: usize) -> State {
        let timeline = self.engine.timeline();
        let (busy, now) = timeline.work_and_end();
        let arrived = timeline.handed();
        let served: u64 = (0..self.lengths.len()).map(|class| self.served.of(place, class).0).sum();
        State { ticks: self.tick, now, busy, arrived, unfinished: arrived - served, ..State::default() }
    }

    fn collectors(&mut self) -> Vec<&mut Collector> {
        self.into.0.iter_mut().collect()
    }

    fn failure(&self) -> Option<String> {
        self.failed.map(|error| error.to_string())
    }

    fn finish(&mut self) {
        self.engine.finish(&mut self.into);
    }
}
