//! The report's four experiments: what its method measures on a simulated node with the costs of its Table 1.

use super::{MS, ms, played};
use crate::generators::{
    GENERATOR, SIMPLE_SINK, add_queue, add_system, message_generator, message_sink, process, scenario,
};
use crate::model::NodeScenario;
use crate::record::Sink;
use weir_core::units::{Instant, Nanos};

const SECONDS: u64 = 10;

/// Counts what lies after the warm-up.
#[derive(Debug)]
struct Counts {
    from: u64,
    run: Vec<u64>,
    started: Vec<u64>,
    messages: u64,
    overhead: u64,
    high_over_low: u64,
}

impl Counts {
    fn counts(&self, at: Instant) -> u64 {
        u64::from(at.get() >= self.from)
    }

    /// Milliseconds of run time in a second, schedulings and messages in a second.
    fn rates(&self, process: usize) -> Rates {
        let seconds = SECONDS as f64;
        Rates {
            time: self.run[process] as f64 / MS as f64 / seconds,
            messages: self.messages as f64 / seconds,
            schedulings: self.started[process] as f64 / seconds,
        }
    }
}

impl Sink for Counts {
    fn high_over_low(&mut self, _node: usize, at: Instant) {
        self.high_over_low += self.counts(at);
    }
    fn dispatched(&mut self, _node: usize, process: usize, at: Instant, _woke: Option<Instant>) {
        self.started[process] += self.counts(at);
    }
    fn ran(&mut self, _node: usize, process: usize, _level: Option<i8>, from: Instant, until: Instant) {
        self.run[process] += self.counts(from) * (until.get() - from.get());
    }
    fn nobody(&mut self, _node: usize, _overhead: bool, from: Instant, until: Instant) {
        self.overhead += self.counts(from) * (until.get() - from.get());
    }
    fn enqueued(&mut self, _queue: usize, _process: usize, at: Instant, _length: usize) {
        self.messages += self.counts(at);
    }
}

/// The report's `t`, `M` and `n`.
#[derive(Clone, Copy, Debug)]
struct Rates {
    time: f64,
    messages: f64,
    schedulings: f64,
}

/// Equation 2: microseconds of overhead in a scheduling, given the milliseconds of a message.
fn overhead(rates: Rates, message: f64) -> f64 {
    1000.0 * (rates.time - rates.messages * message) / rates.schedulings
}

/// Equation 3: the milliseconds of a message from two settings.
fn message(one: Rates, two: Rates) -> f64 {
    (two.schedulings * one.time - one.schedulings * two.time)
        / (two.schedulings * one.messages - one.schedulings * two.messages)
}

fn millis(span: Nanos) -> f64 {
    span.get() as f64 / MS as f64
}

fn measured(mut one: NodeScenario) -> Counts {
    add_system(&mut one);
    one.measure.verify = true;
    one.stop.duration = ms(1000 * (SECONDS + 1));
    let processes = one.processes.len();
    let mut counts = Counts {
        from: one.stop.warm_up.get(),
        run: vec![0; processes],
        started: vec![0; processes],
        messages: 0,
        overhead: 0,
        high_over_low: 0,
    };
    if let Err(error) = played(&one, &mut counts) {
        panic!("{error:?}");
    }
    counts
}

/// The generator, and the sink if it has a need.
fn setting(slice: u64, needs: (u64, Option<u64>), priority: u8) -> Counts {
    let mut one = scenario(&["epoch"]).expect("a spec");
    add_queue(&mut one, "messages", 0);
    one.processes.push(process("generator", ms(needs.0), Some(ms(slice)), message_generator(0)));
    if let Some(need) = needs.1 {
        let mut sink = process("sink", ms(need), Some(ms(slice)), message_sink(0, SIMPLE_SINK));
        sink.declared.priority = priority;
        one.processes.push(sink);
    }
    measured(one)
}

fn near(value: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{what}: {value}, expected {expected} to within {tolerance}"
    );
}

#[test]
fn what_is_left_is_961_ms_in_a_second() {
    for slice in [96, 40, 20, 10, 5, 2, 1] {
        let counts = setting(slice, (100, None), 1);
        near(counts.rates(0).time, 961.0, 0.1, "ms in a second");
        assert_eq!(counts.overhead, SECONDS * 8 * MS, "of every epoch 0.8 ms are charged to nobody");
    }
    near(setting(1, (100, None), 1).rates(0).schedulings / 10.0, 96.0, 1.0, "schedulings in an epoch");
}

#[test]
fn restarting_takes_129_us() {
    let (long, short) = (setting(96, (100, None), 1).rates(0), setting(1, (100, None), 1).rates(0));
    let found = message(long, short);
    near(found / millis(GENERATOR), 1.0, 0.002, "time of a message");
    near(overhead(short, found), 129.0, 1.0, "overhead of a scheduling");
}

/// The end of a slice costs 219 us and a post, a preemption by one of the system's processes 219 us alone.
#[test]
fn round_robin_takes_219_us_and_a_post_one_way_and_119_us_back() {
    for slice in [40, 20, 10, 5, 2] {
        let counts = setting(slice, (100, Some(100)), 1);
        let generator = overhead(counts.rates(0), millis(GENERATOR));
        let least = if slice > 10 { 219.0 } else { 231.0 };
        assert!((least..=235.0).contains(&generator), "slices of {slice} ms: generator {generator}");
        let sink = overhead(counts.rates(1), millis(SIMPLE_SINK));
        if (5..=20).contains(&slice) {
            // Messages are counted where they are sent: one of them may be on its way at an end of the time.
            let one = 1000.0 * millis(SIMPLE_SINK) / (counts.rates(1).schedulings * SECONDS as f64);
            let ends = ((sink - 119.0) / one).round().clamp(-1.0, 1.0);
            near(sink, 119.0 + ends * one, 0.01, "sink");
        }
    }
}

#[test]
fn a_generator_and_a_simple_sink_pass_1342_messages_in_a_second() {
    let counts = setting(20, (100, Some(100)), 1);
    near(counts.rates(0).messages, 1342.0, 2.0, "messages in a second");
}

/// The less the generator needs, the longer it is on its low queue, and the more messages preempt it. With one slice for all of its
/// need it comes to the end of a slice equally often in all settings.
#[test]
fn preemption_from_the_low_queue_takes_135_us() {
    let all = [90, 70, 50, 30, 10].map(|need| setting(96, (need, Some(100 - need)), 1));
    let excess = |counts: &Counts| {
        let rates = counts.rates(0);
        (rates.time - rates.messages * millis(GENERATOR), rates.schedulings)
    };
    let high = |counts: &Counts| counts.high_over_low as f64 / counts.messages as f64;
    for pair in all.windows(2) {
        assert!(high(&pair[1]) > high(&pair[0]));
    }
    let ((one, fewer), (two, more)) = (excess(&all[1]), excess(&all[4]));
    near(1000.0 * (two - one) / (more - fewer), 135.0, 2.0, "marginal overhead");
    let none = setting(96, (0, Some(100)), 1);
    near(high(&none), 1.0, 0.02, "preemptions for a message");
}

/// Of the generator's schedulings about 16 in a second follow a preemption by one of the system's processes, which costs 84 us more.
#[test]
fn preemption_by_priority_takes_135_us_and_119_us_back() {
    let counts = setting(10, (100, Some(100)), 2);
    near(overhead(counts.rates(0), millis(GENERATOR)), 135.0, 1.0, "generator");
    near(overhead(counts.rates(1), millis(SIMPLE_SINK)), 119.0, 1.0, "sink");
}
