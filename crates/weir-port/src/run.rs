//! Runs a scenario of the port: from the checked file to the result.
//!
//! The amount of work in each replication, the rounds, and the points at which precision is read depend on
//! the scenario alone; replications are put together in their order. So the result is the same, to the last
//! byte, for any number of threads.

use crate::build::{self, Layout, lanes};
use crate::collector::{Collector, Plan};
use crate::gathered::{CLOCK, Gathered, Left, SECTIONS};
use crate::model::{Input, Limit, PortScenario, Replay, Service};
use crate::outcome::{Outcome, Precision};
use crate::over_time::Course;
use crate::report;
use crate::rounds::{Grain, Rounds, Running, Standing};
use crate::warmup::{self, WarmUpTicks};
use std::ops::Range;
use weir_lab::control::{Control, Progress};
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::record::{Block, Names};
use weir_lab::stats::{Batches, Measure, Target, Unavailable};
use weir_workload::MessageClasses;

/// Batches of a replication at the end, at least.
const BATCHES: u64 = 256;
/// The first reading of the precision comes at this share of the limit.
const FIRST_READING: u64 = 64;
/// The largest window of a replication's batches at its start.
const LARGEST_BATCH: u64 = 1 << 16;
/// Replications that are held in memory at a time, where no precision is asked for.
const WAVE: u32 = 16;

/// Runs a scenario of the port.
///
/// # Errors
/// [`RunError`]; a scenario whose load is 1 or more is no error, its result says so in place of means.
pub fn run(port: &PortScenario, frame: &Frame, control: &mut Control<'_>) -> Result<Outcome, RunError> {
    if port.statement.is_some() {
        return Ok(report::statement(port, frame));
    }
    let ticks = ticks_per_replication(port);
    let warm_up = warmup::ticks(port, ticks, control)?;
    let plan = plan(port, ticks, &warm_up);
    let replications = port.stop.replications;
    let mut gathered = nothing(port, &plan);
    let wave = if port.stop.precision.is_some() { replications } else { WAVE };
    let (mut interrupted, mut precision, mut begun) = (false, None, 0);
    while begun < replications && !interrupted {
        let end = begun.saturating_add(wave).min(replications);
        let mut session = Session::new(port, &plan, ticks, begun..end, control)?;
        interrupted = session.run(control)?;
        precision = session.reading.take();
        session.gather_into(&mut gathered);
        begun = end;
    }
    Ok(report::outcome(port, frame, &gathered, report::Ending { warm_up, interrupted, precision }))
}

/// Every discipline before the first replication.
pub(crate) fn nothing(port: &PortScenario, plan: &Plan) -> Vec<Gathered> {
    let named = |named| Gathered::new(named, plan, port.ticks.of_nanoseconds(CLOCK), port.stop.replications);
    port.disciplines.iter().map(named).collect()
}

/// What every discipline collects. Windows begin small, so that a run that ends early still has some.
pub(crate) fn plan(port: &PortScenario, ticks: u64, warm_up: &WarmUpTicks) -> Plan {
    let readings = if port.stop.precision.is_some() { FIRST_READING } else { 1 };
    let batch = (ticks / (BATCHES * readings)).clamp(1, LARGEST_BATCH).next_power_of_two();
    Plan {
        metrics: build::metrics(port),
        classes: port.classes.len(),
        flows: build::flows(port),
        warm_up: warm_up.ticks,
        batch: batch.min(warm_up.granularity()),
        sections: SECTIONS.div_ceil(port.stop.replications as usize),
        tails: port.measure.tails,
        // Parts of a curve have other rates: only replications are alike.
        is_one_sample: port.curve().is_some(),
        windows: Course::new(port, build::metrics(port)[0]),
    }
}

/// The most ticks of a replication: packets, or messages served whole.
pub(crate) fn ticks_per_replication(port: &PortScenario) -> u64 {
    let replications = u64::from(port.stop.replications);
    let per_message = match port.service {
        Service::Packets(_) => mean_length(port),
        Service::Whole(_) => 1.0,
    };
    if let Input::Trace(replay) = &port.input {
        return match port.service {
            Service::Packets(_) => replay.trace.lengths().iter().map(|&length| u64::from(length)).sum(),
            Service::Whole(_) => replay.trace.len() as u64,
        };
    }
    let ticks = match port.stop.limit {
        Limit::Packets(packets) => packets,
        Limit::Messages(messages) => (messages as f64 * per_message).ceil() as u64,
    };
    ticks.div_ceil(replications).max(1)
}

/// The mean length of a message, in the unit of the scenario.
pub(super) fn mean_length(port: &PortScenario) -> f64 {
    match &port.input {
        Input::Open(open) => open.lengths.mean(),
        Input::Closed(closed) => closed.mean_length(),
        Input::Trace(replay) => replay.trace.mean_length(),
    }
}

/// Some replications on their way.
pub(crate) struct Session<'a> {
    port: &'a PortScenario,
    pub(crate) rounds: Rounds,
    plan: &'a Plan,
    replications: Range<u32>,
    target: Option<Target>,
    /// The last reading of the precision.
    reading: Option<Precision>,
    /// What records call applications and classes.
    names: Names,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        port: &'a PortScenario,
        plan: &'a Plan,
        ticks: u64,
        replications: Range<u32>,
        control: &Control<'_>,
    ) -> Result<Self, RunError> {
        let (records, mut all) = (control.records.is_some(), Vec::new());
        for replication in replications.clone() {
            let placed = lanes(port, &Layout { plan: plan.clone(), records }, replication)?;
            all.extend(placed.into_iter().map(|placed| (replication, placed)));
        }
        let target = port.stop.precision.and_then(|share| Target::relative(share).ok());
        let grain = Grain { batch: plan.batch, records };
        let rounds = Rounds::new(all, ticks, grain, control.threads);
        let names = if records { names(port) } else { Names::default() };
        Ok(Self { port, rounds, plan, replications, target, reading: None, names })
    }

    /// Runs to the end; whether it was broken off.
    ///
    /// With a precision asked for it is read at doubling lengths, and must be there at two readings in turn:
    /// an interval is at its narrowest by chance as well as by merit.
    pub(crate) fn run(&mut self, control: &mut Control<'_>) -> Result<bool, RunError> {
        let limit = self.rounds.progress().1;
        let mut reading = if self.target.is_some() { limit.div_ceil(FIRST_READING) } else { limit };
        loop {
            let standing = self.rounds.advance(reading, control.cancel);
            self.hand_over_records(control)?;
            self.tell(control);
            match standing {
                Standing::Going if !self.rounds.has_reached(reading) => {}
                Standing::Going if self.is_precise_again() => return Ok(false),
                Standing::Going => reading = reading.saturating_mul(2).min(limit),
                Standing::Done => break,
                Standing::Interrupted => return Ok(true),
                Standing::Failed(place) => return Err(self.failure(place)),
            }
        }
        self.reading = self.precision();
        Ok(false)
    }

    /// Reads the precision; whether it is there, and was at the reading before.
    fn is_precise_again(&mut self) -> bool {
        let before = self.reading.as_ref().is_some_and(|reading| reading.met);
        self.reading = self.precision();
        before && self.reading.as_ref().is_some_and(|reading| reading.met)
    }

    fn tell(&self, control: &mut Control<'_>) {
        let (done, total) = self.rounds.progress();
        let disciplines = self.port.disciplines.len() as u64;
        let of = |ticks: u64, replications: u32| {
            ticks.saturating_mul(disciplines).saturating_mul(u64::from(replications))
        };
        let (before, now) = (self.replications.start, self.replications.len() as u32);
        (control.progress)(Progress {
            done: of(total, before).saturating_add(of(done, now)),
            total: of(total, self.port.stop.replications),
        });
    }

    fn hand_over_records(&mut self, control: &mut Control<'_>) -> Result<(), RunError> {
        let Some(sink) = &mut control.records else { return Ok(()) };
        let clock = self.port.ticks.of_nanoseconds(CLOCK);
        for running in &mut self.rounds.lanes {
            let replication = running.replication;
            let disciplines = running.placed.disciplines.clone();
            for (place, collector) in disciplines.into_iter().zip(running.placed.lane.collectors()) {
                let discipline = &self.port.disciplines[place].name;
                if let Some(records) = &mut collector.records {
                    let names = &self.names;
                    let block = Block { discipline, replication, names, clock, departures: records };
                    sink.take(&block).map_err(RunError::Records)?;
                    records.clear();
                }
            }
        }
        Ok(())
    }

    fn failure(&self, place: usize) -> RunError {
        let placed = &self.rounds.lanes[place].placed;
        let names: Vec<_> =
            placed.disciplines.iter().map(|&at| self.port.disciplines[at].name.as_str()).collect();
        let limit = crate::engine::BACKLOG_LIMIT;
        let reason = placed.lane.failure().unwrap_or_else(|| {
            format!("more than {limit} messages are queued, lower the load or the length of the run")
        });
        RunError::Overloaded { disciplines: names.join("`, `"), reason }
    }

    /// Adds what was collected, replication by replication, and ends it.
    fn gather_into(&mut self, gathered: &mut [Gathered]) {
        self.rounds.lanes.iter_mut().for_each(|running| running.placed.lane.finish());
        self.add_to(gathered, Collector::hand_over);
    }

    /// Every discipline over these replications, so far, as `of` takes it; batches that the engines have not
    /// completed yet are not in it.
    fn add_to(&mut self, gathered: &mut [Gathered], of: fn(&mut Collector) -> Collector) {
        for lanes in self.rounds.lanes.chunk_by_mut(|a, b| a.replication == b.replication) {
            let replication = lanes[0].replication;
            left(lanes, of).into_iter().for_each(|left| gathered[left.place].add(replication, left));
        }
    }

    /// The requested precision and whether every mean has it; `None` where none was requested.
    fn precision(&mut self) -> Option<Precision> {
        let target = self.target?;
        let mut gathered = nothing(self.port, self.plan);
        self.add_to(&mut gathered, |collector| collector.without_histograms());
        let names = self.port.classes.names(self.port.unit.symbol());
        // A mean without an interval is no precise one.
        let mean = |discipline: &Gathered, class| match discipline.mean_measured(0, class) {
            Measure::Observed { .. } => Unavailable::TooFewGroups { held: 1 }.into(),
            measure => measure,
        };
        let series = gathered.iter().flat_map(|discipline| {
            let classes = std::iter::once(None).chain((0..discipline.classes).map(Some));
            let names = &names;
            classes.map(move |class| {
                let name = class.map_or("all", |class: usize| names[class].as_str());
                (format!("{} {name}", discipline.name), mean(discipline, class))
            })
        });
        let assessment = target.assess(series);
        let unmet = assessment.unmet().iter().map(|unmet| unmet.series.clone()).collect();
        let share = self.port.stop.precision.unwrap_or_default();
        Some(Precision { target: share, met: assessment.is_met(), unmet })
    }
}

/// What the lanes of one replication have left so far, as `of` takes it.
pub(crate) fn left(lanes: &mut [Running], of: fn(&mut Collector) -> Collector) -> Vec<Left> {
    let mut all = Vec::new();
    for Running { placed, .. } in lanes {
        let figures = |collector: &Collector| collector.windows.as_ref().map(|windows| windows.figures());
        let copy = |collector: &mut Collector| (figures(collector).unwrap_or_default(), of(collector));
        let copies: Vec<_> = placed.lane.collectors().into_iter().map(copy).collect();
        for (at, (&place, (windows, collector))) in placed.disciplines.iter().zip(copies).enumerate() {
            let (state, audited) = (placed.lane.state(at), placed.lane.audited());
            all.push(Left { place, engine: placed.engine, collector, state, audited, windows });
        }
    }
    align(all.iter_mut().map(|left| &mut left.collector).collect());
    all
}

/// What the input calls its applications and its classes; classes that it does not name are those of the result.
fn names(port: &PortScenario) -> Names {
    let Input::Trace(Replay { trace, .. }) = &port.input else {
        return Names { flows: Vec::new(), classes: port.classes.names(port.unit.symbol()) };
    };
    let classes = match port.classes {
        MessageClasses::Named { .. } => trace.class_values().to_vec(),
        MessageClasses::Lengths(_) | MessageClasses::Deciles(_) => port.classes.names(port.unit.symbol()),
    };
    Names { flows: trace.flow_names().to_vec(), classes }
}

fn align(collectors: Vec<&mut Collector>) {
    let (mut batches, mut queues) = (Vec::new(), Vec::new());
    for collector in collectors {
        batches.push(&mut collector.batches);
        queues.push(&mut collector.queue);
    }
    Batches::align(&mut batches);
    Batches::align(&mut queues);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::num::NonZeroUsize;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;
    use weir_lab::control::RecordSink;
    use weir_lab::record::{Departure, Rows};

    type Scenario = weir_lab::scenario::Scenario<crate::model::PortScenario>;

    pub(crate) fn scenario(disciplines: &str, rest: &str) -> (PortScenario, Frame) {
        let text = format!("weir = 1\nmodel = \"port\"\ndisciplines = [{disciplines}]\n[workload]\n{rest}");
        let scenario = Scenario::from_toml(&text, "test.toml", Path::new(""));
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        (scenario.model, scenario.frame)
    }

    pub(crate) fn told(
        (port, frame): &(PortScenario, Frame),
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Outcome, RunError> {
        let cancel = AtomicBool::new(false);
        let threads = NonZeroUsize::MIN;
        run(port, frame, &mut Control { threads, cancel: &cancel, progress, records: None })
    }

    #[test]
    fn a_queue_beyond_what_is_simulated_ends_the_run() {
        for service in ["", "lengths = { constant = \"1000B\" }\n[service]\nrate = \"1Gbit\"\n"] {
            for discipline in ["\"hrrn\"", "\"ps\""] {
                let mut scenario = scenario(discipline, &format!("load = 2\n{service}"));
                // Such a load is refused with a statement; a burst or a trace may reach it for a while.
                assert!(scenario.0.statement.take().is_some());
                let error = told(&scenario, &mut |_| ()).expect_err("the queue grows");
                let expected = "more than 10000 messages are queued, lower the load or the length of the run";
                assert_eq!(error.to_string(), format!("`{}`: {expected}", discipline.trim_matches('"')));
            }
        }
    }

    #[test]
    fn ticks_are_shared_out_among_the_replications() {
        let ticks =
            |stop: &str| ticks_per_replication(&scenario("\"fifo\"", &format!("load = 0.5\n{stop}")).0);
        assert_eq!(ticks("[stop]\npackets = 1000\n"), 1000);
        assert_eq!(ticks("[stop]\npackets = 1000\nreplications = 7\n"), 143);
        assert_eq!(ticks("[stop]\nmessages = 1000\n"), 4_700);
        assert_eq!(ticks("[stop]\npackets = 1\nreplications = 9\n"), 1);
    }

    #[test]
    fn progress_never_falls_and_ends_at_the_total() {
        let scenario =
            scenario("\"fifo\", \"hrrn\"", "load = 0.5\n[stop]\npackets = 40_000\nreplications = 2\n");
        let mut seen = Vec::new();
        told(&scenario, &mut |progress| seen.push(progress)).expect("a result");
        assert!(seen.is_sorted_by(|a, b| a.done <= b.done && a.total == b.total));
        assert_eq!(seen.last(), Some(&Progress { done: 80_000, total: 80_000 }));
    }

    struct Failing;

    impl RecordSink for Failing {
        fn rows(&mut self, _: &Rows<'_>) -> Result<(), String> {
            Err("the port has no tables".to_owned())
        }

        fn take(&mut self, block: &Block<'_>) -> Result<(), String> {
            Err(format!("{} rows do not fit", block.departures.len().min(1)))
        }
    }

    #[derive(Default)]
    struct Kept(Vec<(String, u32, Vec<Departure>)>, Names);

    impl RecordSink for Kept {
        fn rows(&mut self, _: &Rows<'_>) -> Result<(), String> {
            Err("the port has no tables".to_owned())
        }

        fn take(&mut self, block: &Block<'_>) -> Result<(), String> {
            self.0.push((block.discipline.to_owned(), block.replication, block.departures.to_vec()));
            self.1 = block.names.clone();
            Ok(())
        }
    }

    fn recorded(
        (port, frame): &(PortScenario, Frame),
        sink: &mut dyn RecordSink,
    ) -> Result<Outcome, RunError> {
        let cancel = AtomicBool::new(false);
        let (progress, threads) = (&mut |_| (), NonZeroUsize::MIN);
        run(port, frame, &mut Control { threads, cancel: &cancel, progress, records: Some(sink) })
    }

    /// Finding B4: records are of all replications, and name the classes as the result does.
    #[test]
    fn b4_records_are_those_of_every_replication_in_order_of_departure() {
        let scenario = scenario("\"fifo\", \"sf\"", "load = 0.5\n[stop]\npackets = 2000\nreplications = 2\n");
        let mut kept = Kept::default();
        recorded(&scenario, &mut kept).expect("a result");
        let of = kept.0.iter().map(|(name, replication, _)| (name.as_str(), *replication));
        assert_eq!(of.collect::<Vec<_>>(), [("fifo", 0), ("sf", 0), ("fifo", 1), ("sf", 1)]);
        assert_eq!(kept.1.classes, ["1pkt", "2pkt", "3pkt", "4pkt", "5pkt", "20pkt"]);
        for (name, _, departures) in &kept.0 {
            assert!(departures.is_sorted_by_key(|departure| departure.tick), "{name}");
            assert!(departures.iter().all(|departure| departure.tick < 1000), "{name}");
            assert!(departures.iter().all(|d| d.arrival <= d.first && d.first <= d.last), "{name}");
        }
        assert!(kept.0[0].2.is_sorted_by_key(|departure| departure.index));
        assert_ne!(kept.0[0].2[5], kept.0[2].2[5]);
    }

    #[test]
    fn a9_time_and_utilisation_do_not_depend_on_the_engine() {
        for packets in [1, 700, 60_000] {
            let rest = format!("load = 0.6\n[stop]\npackets = {packets}\nwarm_up = \"none\"\n");
            let scenario = scenario("\"fifo\", \"sf\", \"hrrn\"", &rest);
            let accelerated = told(&scenario, &mut |_| ()).expect("a result");
            let plain = recorded(&scenario, &mut Kept::default()).expect("a result");
            assert_eq!((accelerated.engines[0].engine, plain.engines[0].engine), ("accelerated", "plain"));
            assert_eq!(accelerated.duration, plain.duration);
            let used = |outcome: &Outcome| -> Vec<Option<f64>> {
                let rows = outcome.estimates.iter().filter(|row| row.metric == "utilisation");
                rows.map(|row| row.value).collect()
            };
            assert_eq!(used(&accelerated), used(&plain));
            assert_eq!(used(&plain)[0], used(&plain)[2]);
        }
    }

    #[test]
    fn records_that_cannot_be_written_end_the_run() {
        let scenario = scenario("\"fifo\"", "load = 0.5\n[stop]\npackets = 2000\n");
        let error = recorded(&scenario, &mut Failing).expect_err("the sink fails");
        assert_eq!(error.to_string(), "records cannot be written: 1 rows do not fit");
    }
}
