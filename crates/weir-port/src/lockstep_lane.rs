//! The accelerated engine as a lane: several disciplines, one timeline.

use std::ops::ControlFlow;

use crate::accelerated::{Batch, BatchObserver, Limit, Lockstep, LockstepError, Probe, Stopped as Ended};
use crate::collector::Collector;
use crate::engine::{Flow, State, Stopped, Waiting};
use crate::lane::Lane;
use weir_core::units::Instant;
use weir_lab::stats::Histogram;
use weir_lab::stats::batch::Total;
use weir_workload::source::{ArrivalSource, RandomServices};

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
    held: Vec<Option<u64>>,
    /// The queue up to the end of the warm-up.
    begun: Waiting,
    failed: Option<LockstepError>,
}

/// The collectors, and the length of each class.
struct Collectors(Vec<Collector>, Vec<u32>);

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
                let total = batch.of(strategy, class);
                collector.batches.add(class, batch.first_tick, total);
                if batch.first_tick >= collector.plan().warm_up {
                    collector.lengths[class].0 += total.count;
                    collector.lengths[class].1 += total.count * u64::from(self.1[class]);
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
        let (served, into) = (engine.total(), Collectors(collectors, lengths.clone()));
        Self {
            engine,
            arrivals,
            services,
            lengths,
            tails,
            into,
            served,
            tick: 0,
            held: Vec::new(),
            begun: Waiting::default(),
            failed: None,
        }
    }

    /// Plays to `until`, or to the end of the warm-up or of the section of histograms begun, if that is
    /// earlier.
    fn play_section(&mut self, until: u64) -> Result<Ended, LockstepError> {
        let first = &self.into.0[0];
        let warm_up = first.plan().warm_up;
        let end = if self.tick < warm_up { warm_up } else { first.section_end(self.tick) };
        let counted = self.tick >= warm_up;
        let ended = self.play(until.min(end), counted);
        if counted {
            self.hand_over(self.tick);
        } else {
            self.begun = self.engine.waiting_time();
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
        self.held = self.engine.held();
        match ended {
            Ok(Ended::AtLimit) => Stopped::Reached,
            Ok(Ended::AtEnd | Ended::ByObserver) => Stopped::Exhausted,
            Err(error) => {
                self.failed = Some(error);
                Stopped::Overloaded
            }
        }
    }

    /// Time is that at which the last tick is over, whatever was drawn ahead.
    fn state(&self, place: usize) -> State {
        let timeline = self.engine.timeline();
        let arrived = timeline.handed();
        let served: u64 = (0..self.lengths.len()).map(|class| self.served.of(place, class).count).sum();
        let waiting = self.engine.waiting_time();
        let packet_time = Waiting {
            integral: waiting.integral - self.begun.integral,
            time: waiting.time - self.begun.time,
        };
        let held = self.held.get(place).copied().flatten();
        let flow = Flow { unit: "packets", arrived: self.engine.arrived(), served: self.tick, held };
        State {
            ticks: self.tick,
            now: timeline.end().since(Instant::ZERO),
            busy: timeline.work(),
            arrived,
            unfinished: arrived - served,
            flow,
            packet_time,
            ..State::default()
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    type Scenario = weir_lab::scenario::Scenario<crate::model::PortScenario>;
    use crate::build::{self, Layout};
    use crate::collector::Plan;

    /// A lane of two strategies, and how a replication of it ends after these steps.
    fn after(steps: &[u64], warm_up: u64, sections: usize) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
        let text = "weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo\", \"sf\"]\n[workload]\nload = 0.8\n";
        let scenario = Scenario::from_toml(text, "test.toml", Path::new("")).expect("a valid scenario");
        let port = &scenario.model;
        let (metrics, classes) = (build::metrics(port), port.classes.len());
        let plan = Plan { warm_up, batch: 256, sections, tails: true, ..Plan::means(metrics, classes) };
        let layout = Layout { plan, records: false };
        let mut placed = build::lanes(port, &layout, 0).expect("lanes");
        assert_eq!((placed.len(), placed[0].engine), (1, "accelerated"));
        let lane = &mut placed[0].lane;
        for &tick in steps {
            assert_eq!(lane.advance(tick), Stopped::Reached);
            assert_eq!([lane.state(0).ticks, lane.state(1).ticks], [tick; 2]);
        }
        lane.finish();
        let collectors = lane.collectors();
        let counted = |collector: &&mut Collector| collector.lengths.iter().map(|(count, _)| count).sum();
        let binned = |collector: &&mut Collector| {
            collector.sections.iter().flatten().map(|histogram| histogram.count()).sum()
        };
        let sections = collectors.iter().map(|collector| collector.sections.len() as u64).collect();
        (collectors.iter().map(counted).collect(), collectors.iter().map(binned).collect(), sections)
    }

    #[test]
    fn histograms_hold_what_is_counted_after_the_warm_up() {
        for warm_up in [0, 512, 4096] {
            let (counted, binned, _) = after(&[20_000], warm_up, 1);
            assert_eq!(counted, binned, "warm-up of {warm_up} ticks");
        }
        assert_eq!(after(&[300], 512, 1).1, [0, 0]);
    }

    #[test]
    fn steps_change_nothing() {
        let at_once = after(&[20_000], 512, 5);
        let in_steps = after(&[100, 512, 5_000, 10_000, 17_001, 20_000], 512, 5);
        // 19,488 ticks in sections of 2,048: ten of them, the most before neighbours merge.
        assert_eq!(at_once, in_steps);
        assert_eq!(in_steps.2, [10, 10]);
    }
}
