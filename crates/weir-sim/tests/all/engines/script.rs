//! Input given in full, and what the engines did with it.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use weir_core::item::Message;
use weir_core::registry::message_discipline;
use weir_core::spec::Spec;
use weir_core::units::{Nanos, Packets};
use weir_lab::record::Departure;
use weir_sim::port::arrivals::{Arrivals, Open};
use weir_sim::port::engine::{Engine, State, Stopped};
use weir_sim::port::fluid::Fluid;
use weir_sim::port::observer::{Observer, Sample};
use weir_sim::port::plain::Plain;
use weir_sim::port::service::Drawn;
use weir_sim::port::ticks::Ticks;
use weir_sim::port::whole::{Whole, Work};
use weir_sim::workload::source::{ArrivalBlock, ArrivalSource, ServiceSource};
use weir_sim::{Control, Outcome, Scenario, run};

/// A message: its instant, length and flow.
pub(crate) type Given = (u64, u32, u32);

/// Messages given in full, in order of arrival; all of class 0.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    messages: Vec<Given>,
    next: usize,
}

impl ArrivalSource for Script {
    fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize {
        block.clear();
        let from = self.next;
        self.next = (from + n).min(self.messages.len());
        self.messages[from..self.next].iter().for_each(|&(at, length, flow)| block.push(at, length, 0, flow));
        self.next - from
    }
}

/// Service times that repeat for ever.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    times: Vec<u64>,
    next: usize,
}

impl ServiceSource for Times {
    fn fill(&mut self, out: &mut [u64]) {
        for time in out {
            *time = self.times[self.next % self.times.len()];
            self.next += 1;
        }
    }
}

pub(crate) fn open(messages: &[Given]) -> Open<Script> {
    Open::new(Script { messages: messages.to_vec(), next: 0 })
}

pub(crate) fn drawn(times: &[u64]) -> Drawn<Times> {
    Drawn::new(Times { times: times.to_vec(), next: 0 }, Nanos::new(times[0]))
}

pub(crate) fn packets(spec: &str) -> Box<dyn weir_core::discipline::Discipline<Message> + Send> {
    let spec: Spec = spec.parse().expect("a spec");
    message_discipline::<Message<Packets>>(&spec).expect("a discipline")
}

/// Everything that an engine reported.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Tick by tick, the number of the message served.
    pub(crate) schedule: Vec<u64>,
    /// In order of departure.
    pub(crate) departures: Vec<Departure>,
    /// What the queue monitor saw.
    pub(crate) samples: Vec<Sample>,
}

impl Observer for Log {
    const EVERY_PACKET: bool = true;
    fn departed(&mut self, departure: &Departure) {
        self.departures.push(*departure);
    }
    fn accepted(&mut self, tick: u64, index: u64) {
        assert_eq!(tick, self.schedule.len() as u64, "ticks are counted one by one");
        self.schedule.push(index);
    }
    fn sampled(&mut self, sample: &Sample) {
        self.samples.push(*sample);
    }
}

impl Log {
    /// The schedule with messages named `A`, `B`, … in order of arrival.
    pub(crate) fn letters(&self) -> String {
        self.schedule.iter().map(|&index| char::from(b'A' + index as u8)).collect()
    }

    /// The departure of a message by its number.
    pub(crate) fn of(&self, index: u64) -> Departure {
        *self.departures.iter().find(|departure| departure.index == index).expect("it departed")
    }

    /// By number of message, from arrival to the acceptance of the last unit.
    pub(crate) fn latencies(&self) -> Vec<u64> {
        (0..self.departures.len() as u64)
            .map(|index| (self.of(index).last - self.of(index).arrival).get())
            .collect()
    }
}

/// Runs an engine to the end of its input.
pub(crate) fn to_the_end(mut engine: impl Engine) -> (Log, State) {
    let mut log = Log::default();
    assert_eq!(engine.advance(u64::MAX, &mut log), Stopped::Exhausted);
    (log, engine.state())
}

/// The plain engine: `times` are the service times, the queue is read every `period`.
pub(crate) fn plain_with(spec: &str, arrivals: impl Arrivals, times: &[u64], period: u64) -> (Log, State) {
    to_the_end(Plain::new(packets(spec), arrivals, drawn(times), Nanos::new(period)))
}

/// The plain engine where every packet takes 10.
pub(crate) fn plain(spec: &str, messages: &[Given]) -> Log {
    plain_with(spec, open(messages), &[10], 0).0
}

/// The engine of whole messages, one nanosecond a unit of length.
pub(crate) fn whole_with(spec: &str, arrivals: impl Arrivals, preemption: bool) -> Log {
    let spec: Spec = spec.parse().expect("a spec");
    let discipline = message_discipline::<Message<Nanos>>(&spec).expect("a discipline");
    to_the_end(Whole::new(discipline, arrivals, work(), preemption)).0
}

/// The engine of whole messages, which interrupts service.
pub(crate) fn whole(spec: &str, messages: &[Given]) -> Log {
    whole_with(spec, open(messages), true)
}

/// Processor sharing in the limit.
pub(crate) fn fluid(messages: &[Given]) -> Log {
    fluid_with(open(messages))
}

pub(crate) fn fluid_with(arrivals: impl Arrivals) -> Log {
    to_the_end(Fluid::new(arrivals, work())).0
}

fn work() -> Work {
    Work::new(1.0, Ticks::NANOSECONDS).expect("a positive time")
}

/// A scenario of the port: its disciplines, and what follows them.
pub(crate) fn scenario(disciplines: &[&str], rest: &str) -> Scenario {
    let text = format!("weir = 1\nmodel = \"port\"\ndisciplines = {disciplines:?}\n{rest}");
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    Scenario::from_toml(&text, "test.toml", root).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn outcome(scenario: &Scenario, threads: usize) -> Outcome {
    broken_off(scenario, threads, false)
}

/// The result of a scenario; with `cancel`, of its first round.
pub(crate) fn broken_off(scenario: &Scenario, threads: usize, cancel: bool) -> Outcome {
    let mut control = Control {
        threads: NonZeroUsize::new(threads).expect("a thread at least"),
        cancel: &AtomicBool::new(cancel),
        progress: &mut |_| (),
        records: None,
    };
    run(scenario, &mut control).expect("a result").port().expect("a port")
}

/// The mean of a metric over all messages.
pub(crate) fn mean(outcome: &Outcome, discipline: &str, metric: &str) -> Option<f64> {
    let of = |name: Option<&str>| name == Some(discipline);
    let figure = outcome.estimates.iter().find(|figure| {
        of(figure.discipline.as_deref())
            && (figure.subject.class.as_str(), figure.metric, figure.statistic, figure.subject.flow)
                == ("all", metric, "mean", None)
    });
    figure.expect("the figure is in every result").value
}

/// Fails unless every self-check is there and holds.
pub(crate) fn all_checks_hold(outcome: &Outcome) {
    assert!(!outcome.checks.is_empty());
    let failed: Vec<_> = outcome.checks.iter().filter(|check| check.ok == Some(false)).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}
