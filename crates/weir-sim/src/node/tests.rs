//! The engine beside the report's measurements, and small schedules by hand.

use std::sync::atomic::{AtomicBool, AtomicU64};

use weir_core::units::{Instant, Nanos};

use crate::network::job::Watch;
use crate::node::generators::{GENERATOR, add_queue, add_system, message_generator, process, scenario};
use crate::node::job::{Ended, Job, Left, play};
use crate::node::model::NodeScenario;
use crate::node::record::{PATHS, Path, Sink};
use crate::port::run::RunError;

const MS: u64 = 1_000_000;

fn ms(count: u64) -> Nanos {
    Nanos::new(count * MS)
}

/// Plays the first discipline.
pub(super) fn played<S: Sink>(scenario: &NodeScenario, sink: &mut S) -> Result<Left, RunError> {
    let (off, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let watch = Watch { cancel: &off, failed: &off, done: &done, duration: u64::MAX };
    match play(scenario, Job { replication: 0, discipline: 0 }, sink, &watch)? {
        Ended::Finished(left) => Ok(*left),
        Ended::Interrupted => unreachable!("nobody breaks it off"),
    }
}

/// Counts what lies after the warm-up.
struct Counts {
    from: u64,
    run: Vec<u64>,
    started: Vec<u64>,
    dequeued: u64,
    enqueued: u64,
    idle: u64,
    overhead: u64,
    paths: [u64; PATHS],
    high_over_low: u64,
}

impl Counts {
    fn of(scenario: &NodeScenario) -> Self {
        let processes = scenario.processes.len();
        let mut counts = Self {
            from: scenario.stop.warm_up.get(),
            run: vec![0; processes],
            started: vec![0; processes],
            dequeued: 0,
            enqueued: 0,
            idle: 0,
            overhead: 0,
            paths: [0; PATHS],
            high_over_low: 0,
        };
        played(scenario, &mut counts).expect("it plays");
        counts
    }

    fn counts(&self, at: Instant) -> u64 {
        u64::from(at.get() >= self.from)
    }
}

impl Sink for Counts {
    fn path(&mut self, _node: usize, at: Instant, path: Path) {
        self.paths[path as usize] += self.counts(at);
    }
    fn high_over_low(&mut self, _node: usize, at: Instant) {
        self.high_over_low += self.counts(at);
    }
    fn dispatched(&mut self, _node: usize, process: usize, at: Instant, _woke: Option<Instant>) {
        self.started[process] += self.counts(at);
    }
    fn ran(&mut self, _node: usize, process: usize, _level: Option<i8>, from: Instant, until: Instant) {
        self.run[process] += self.counts(from) * (until.get() - from.get());
    }
    fn nobody(&mut self, _node: usize, overhead: bool, from: Instant, until: Instant) {
        let time = self.counts(from) * (until.get() - from.get());
        if overhead { self.overhead += time } else { self.idle += time }
    }
    fn enqueued(&mut self, _queue: usize, _process: usize, at: Instant, _length: usize) {
        self.enqueued += self.counts(at);
    }
    fn dequeued(&mut self, _queue: usize, _process: usize, at: Instant, _length: usize, _age: Nanos) {
        self.dequeued += self.counts(at);
    }
}

fn seconds(scenario: &mut NodeScenario, count: u64) {
    scenario.stop.duration = ms(1000 * (count + 1));
}

/// What the report writes of one setting: run time, messages and schedulings, all in a second.
#[derive(Clone, Copy, Debug)]
struct Setting {
    time: f64,
    messages: f64,
    schedulings: f64,
}

impl Setting {
    /// Overhead of a scheduling in microseconds, with the true time of a message.
    fn overhead(self, message: Nanos) -> f64 {
        (self.time * 1e6 - self.messages * message.get() as f64 / 1000.0) / self.schedulings
    }
}

#[test]
fn a_lone_generator_restarts_for_129_us() {
    let of = |slice: u64| {
        let mut one = scenario(&["epoch"]).expect("a spec");
        one.processes.push(process("generator", ms(100), Some(ms(slice)), message_generator(0)));
        add_queue(&mut one, "messages", 0);
        add_system(&mut one);
        one.measure.verify = true;
        seconds(&mut one, 10);
        let counts = Counts::of(&one);
        (
            Setting {
                time: counts.run[0] as f64 / 1e10,
                messages: counts.enqueued as f64 / 10.0,
                schedulings: counts.started[0] as f64 / 10.0,
            },
            counts,
        )
    };
    for slice in [96, 40, 20, 10, 5, 2, 1] {
        let (setting, counts) = of(slice);
        // The two system processes interrupt it 20 times a second, which costs a swap each.
        let expected = 129.0 + 90.0 * 20.0 / setting.schedulings;
        assert!((setting.overhead(GENERATOR) - expected).abs() < 3.0, "{slice} ms: {setting:?}");
        assert!((setting.time - 0.961).abs() < 0.0005 && counts.idle == 0 && counts.overhead == 80 * MS);
    }
}
