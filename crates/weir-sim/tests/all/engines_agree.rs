//! Two engines, one truth: on random input the accelerated engine decides what the plain engine decides,
//! packet by packet, and measures the same latencies.

use std::ops::ControlFlow;

use proptest::prelude::*;
use weir_core::item::Message;
use weir_core::registry::message_discipline;
use weir_core::spec::Spec;
use weir_core::units::Nanos;
use weir_lab::record::Departure;
use weir_sim::port::accelerated::{
    Alpha, Batch, BatchObserver, Level, Limit, Lockstep, Options, Probe, Strategy as Rule,
};
use weir_sim::port::arrivals::Open;
use weir_sim::port::engine::Engine;
use weir_sim::port::observer::Observer;
use weir_sim::port::plain::Plain;
use weir_sim::port::service::Drawn;
use weir_sim::workload::curve::{Interpolation, Points};
use weir_sim::workload::source::{ArrivalBlock, ArrivalSource, ServiceSource};
use weir_sim::workload::{Arrivals, MessageClasses, Paced, Sizes, arrival_source};

/// Arrivals and services given in full.
#[derive(Clone, Debug)]
struct Script {
    arrivals: Vec<(u64, u16)>,
    lengths: Vec<u32>,
    next: usize,
}

impl ArrivalSource for Script {
    fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize {
        block.clear();
        let until = (self.next + n).min(self.arrivals.len());
        for &(at, class) in &self.arrivals[self.next..until] {
            block.push(at, self.lengths[usize::from(class)], class, 0);
        }
        let filled = until - self.next;
        self.next = until;
        filled
    }
}

#[derive(Clone, Debug)]
struct Services {
    times: Vec<u64>,
    next: usize,
}

impl ServiceSource for Services {
    fn fill(&mut self, out: &mut [u64]) {
        for time in out {
            *time = self.times[self.next % self.times.len()];
            self.next += 1;
        }
    }
}

/// Per tick the class served and the packets of its message that were left; per class the latencies.
#[derive(Clone, Debug, Default, PartialEq)]
struct Log {
    served: Vec<(u64, usize, u64)>,
    latencies: Vec<(usize, u64)>,
}

#[derive(Default)]
struct PlainLog {
    log: Log,
    messages: Vec<(usize, u64)>,
    arrivals: Vec<(u64, u16)>,
}

impl Observer for PlainLog {
    const EVERY_PACKET: bool = true;
    fn arrived(&mut self, _tick: u64, index: u64, length: u64) {
        self.messages.push((usize::from(self.arrivals[index as usize].1), length));
    }
    fn accepted(&mut self, tick: u64, index: u64) {
        let (class, left) = &mut self.messages[index as usize];
        self.log.served.push((tick, *class, *left));
        *left -= 1;
    }
    fn departed(&mut self, departure: &Departure) {
        self.log.latencies.push((usize::from(departure.class), (departure.last - departure.arrival).get()));
    }
}

#[derive(Default)]
struct FastLog(Log);

impl Probe for FastLog {
    const COMPLETIONS: bool = true;
    const DECISIONS: bool = true;
    fn completed(&mut self, _strategy: usize, class: usize, latency: u64) {
        self.0.latencies.push((class, latency));
    }
    fn served(&mut self, _strategy: usize, tick: u64, class: usize, remaining: u64, packets: u64) {
        self.0.served.extend((0..packets).map(|sent| (tick + sent, class, remaining - sent)));
    }
}

struct Ignore;

impl BatchObserver for Ignore {
    fn batch(&mut self, _batch: Batch) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn plain(spec: &str, script: &Script, services: &Services) -> Log {
    let spec: Spec = spec.parse().expect("a spec");
    let discipline = message_discipline::<Message>(&spec).expect("a discipline");
    let mut log = PlainLog { arrivals: script.arrivals.clone(), ..PlainLog::default() };
    let drawn = Drawn::new(services.clone(), Nanos::new(1));
    Plain::new(discipline, Open::new(script.clone()), drawn, Nanos::new(0)).advance(u64::MAX, &mut log);
    log.log
}

fn accelerated(rule: &Rule, script: &Script, services: &Services, level: Level) -> Log {
    let options = Options { level, ..Options::default() };
    let mut engine = Lockstep::new(std::slice::from_ref(rule), &script.lengths, options).expect("an engine");
    let mut log = FastLog::default();
    let (mut arrivals, mut services) = (script.clone(), services.clone());
    engine.run(&mut arrivals, &mut services, Limit::Trace, &mut Ignore, &mut log).expect("a run");
    log.0.served.sort_unstable();
    log.0
}

fn sorted(mut log: Log) -> Log {
    log.latencies.sort_unstable();
    log
}

/// Bursts at one instant, idle periods and everything between; lengths from 1 to 40.
fn script() -> impl Strategy<Value = (Script, Services)> {
    let lengths = prop::collection::btree_set(1_u32..40, 1..6);
    let gaps =
        prop::collection::vec((prop_oneof![Just(0_u64), 1..40_u64, 100..400_u64], any::<u16>()), 1..250);
    let times = prop::collection::vec(1_u64..12, 1..40);
    (lengths, gaps, times).prop_map(|(lengths, gaps, times)| {
        let lengths: Vec<u32> = lengths.into_iter().collect();
        let mut now = 0;
        let arrivals = gaps.into_iter().map(|(gap, class)| {
            now += gap;
            (now, class % lengths.len() as u16)
        });
        (Script { arrivals: arrivals.collect(), lengths, next: 0 }, Services { times, next: 0 })
    })
}

fn rules() -> Vec<(String, Rule)> {
    let alpha =
        |value: f64| (format!("alpha:{value}"), Rule::Alpha(Alpha::nearest(value).expect("an alpha")));
    let mut rules = vec![
        ("fifo".to_owned(), Rule::Fifo),
        ("rr".to_owned(), Rule::RoundRobin),
        ("rr_head".to_owned(), Rule::RoundRobinHead),
        ("sf".to_owned(), Rule::ShortestFirst),
    ];
    rules.extend([0.0, 0.0009765625, 0.5, 1.0, 2.75, 10.0, 100.0, 1e6].map(alpha));
    rules
}

fn assert_agree(script: &Script, services: &Services) -> Result<(), TestCaseError> {
    for (spec, rule) in rules() {
        let expected = sorted(plain(&spec, script, services));
        for &level in Level::available() {
            let found = sorted(accelerated(&rule, script, services, level));
            prop_assert_eq!(&found.served, &expected.served, "{} at {:?}", spec, level);
            prop_assert_eq!(&found.latencies, &expected.latencies, "{} at {:?}", spec, level);
        }
    }
    Ok(())
}

/// Messages whose rate follows a curve, with a rush, a pause and the rest.
fn curved() -> impl Strategy<Value = (Script, Services)> {
    let interpolation = prop::sample::select(vec![Interpolation::Constant, Interpolation::Linear]);
    let process = prop::sample::select(vec![
        Arrivals::Poisson,
        Arrivals::Deterministic,
        Arrivals::Bursty { peak: 4.0, burst: 10.0, quiet: 0.25 },
    ]);
    let times = prop::collection::vec(1_u64..12, 1..40);
    (any::<u64>(), interpolation, process, times).prop_map(|(seed, interpolation, arrivals, times)| {
        let mut points = Points::default();
        [(0, 6.0), (300, 0.0), (700, 1.0)]
            .iter()
            .for_each(|&(at, rate)| points.add(at, rate).expect("a point"));
        let curve = points.curve(interpolation, Some(1_500)).expect("a curve").over_mean();
        let paced = Paced { arrivals, mean_gap: 30.0, curve: Some(curve) };
        let sizes = Sizes::alpha_report();
        let classes = MessageClasses::by_length(&sizes, 6).expect("six lengths");
        let MessageClasses::Lengths(lengths) = classes.clone() else { panic!("lengths") };
        let mut block = ArrivalBlock::default();
        let mut source = arrival_source(paced, &sizes, 1, &classes, (seed, 0)).expect("a source");
        assert_eq!(source.fill(&mut block, 250), 250);
        let arrivals = block.at.iter().copied().zip(block.class.iter().copied()).collect();
        (Script { arrivals, lengths: lengths.to_vec(), next: 0 }, Services { times, next: 0 })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn decisions_and_latencies_are_equal_on_a_curve((script, services) in curved()) {
        assert_agree(&script, &services)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn decisions_and_latencies_are_equal((script, services) in script()) {
        assert_agree(&script, &services)?;
    }
}
