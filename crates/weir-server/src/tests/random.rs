//! Random scenarios under every registered discipline: the engine tells, request by request, what the naive one does.
//! Times are few multiples of one unit, so that much falls together.

use std::sync::Arc;

use super::naive::Naive;
use super::{Told, run_stepwise};
use crate::generators::{class, scenario};
use crate::job::{Job, Left};
use crate::model::{
    After, Balk, Breaker, Burst, Cancel, Class, Closed, Costs, Deadline, Draws, FanOut, Fault, Hedge,
    Hopeless, Known, Levels, Open, Process, Retry, ServerScenario, Service, Workload,
};
use weir_core::item::Message;
use weir_core::pool::MAX_CLASSES;
use weir_core::registry::{self, DISPATCHER, POOL};
use weir_core::units::{Nanos, Speed};
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::arrivals::{BatchSize, Batches, MarkovArrivals, Part};
use weir_workload::curve::{Interpolation, Points};
use weir_workload::duration::Law;
use weir_workload::requests::Requests;
use weir_workload::{Arrivals, ContinuousLaw, Curve};

/// Requests of a scenario, about.
const REQUESTS: u64 = 150;

pub(super) struct Dice(Stream);

impl Dice {
    pub(super) fn new(case: u64) -> Self {
        Self(Stream::new(StreamKey { seed: case, replication: 0, purpose: Purpose::Test, index: 0 }))
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0.next_below(bound)
    }

    pub(super) fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    fn units(&mut self, unit: u64, low: u64, high: u64) -> Nanos {
        Nanos::new((low + self.below(high - low + 1)) * unit)
    }

    fn law(&mut self, unit: u64) -> Law {
        match self.below(6) {
            0 => Law::Exponential(self.units(unit, 1, 12)),
            1 => Law::Uniform(self.units(unit, 1, 2), self.units(unit, 2, 20)),
            _ => Law::Constant(self.units(unit, 1, 12)),
        }
    }

    /// A law of whole units, or one of a textbook.
    fn patience(&mut self, unit: u64) -> Service {
        let mean = self.units(unit, 1, 12).get() as f64;
        let textbook = match self.below(6) {
            0 => ContinuousLaw::lognormal(mean, 1.5),
            1 => ContinuousLaw::erlang(3, mean),
            _ => return self.law(unit).into(),
        };
        Service::Textbook(Arc::new(textbook.expect("valid")))
    }
}

/// What disciplines are tried: the examples of the registry, dispatchers over queues of other orders, servers that take long to wake.
pub(super) fn disciplines() -> Vec<&'static str> {
    let registered = DISPATCHER.iter().chain(POOL).map(|info| info.example);
    let more = [
        "per_server(rr,discipline=psjf)",
        "per_server(random,discipline=hrrn)",
        "per_server(jsq,discipline=sf)",
        "per_server(least_work,discipline=sjf)",
        "jiq:choices=2",
        "power_of_two(1,memory=1)",
        "least_requests(2/1,bias=2)",
        "bounded_hash(factor=1,points=2)",
        "subset(peak_ewma:20us,size=2)",
        "per_server(jiq,discipline=sf)",
        "core_allocation(period=10us,delay=2us,idle=5us,wake=7us)",
        "racks(core_allocation(period=10us,delay=0ns,idle=0ns,wake=25us),racks=2,choices=1)",
    ];
    registered.chain(more).collect()
}

/// The unit of time under which a discipline's period is a few services.
fn unit(dice: &mut Dice, spec: &str, scenario: &ServerScenario) -> u64 {
    let spec = spec.parse().expect("a spec");
    let pool = registry::pool::<Message<Nanos>>(&spec, &scenario.site).expect("valid");
    match pool.period() {
        Some(period) => (period.get() / [3, 10, 40][dice.below(3) as usize]).max(1),
        None => [1, 10, 1_000, 100_000][dice.below(4) as usize],
    }
}

fn workload(dice: &mut Dice, unit: u64, service: f64, cores: u32, classes: u64) -> (Workload, u64) {
    let load = 0.3 + dice.below(9) as f64 / 10.0;
    let mean_gap = (service / (load * f64::from(cores))).max(0.01);
    let duration = (mean_gap * REQUESTS as f64) as u64 + 1;
    let flows = 1 + dice.below(12) as u32;
    let process = match dice.below(8) {
        0 => Process::Arrivals(Arrivals::Deterministic),
        1 => Process::Arrivals(Arrivals::Bursty { peak: 4.0, burst: 6.0, quiet: 0.2 }),
        3 => Process::Arrivals(Arrivals::Markov(Arc::new(switching()))),
        4 => Process::Arrivals(together()),
        2 => Process::Trains { every: dice.units(unit, 10, 60), spacing: dice.units(unit, 0, 1) },
        _ => Process::Arrivals(Arrivals::Poisson),
    };
    let levels = dice.one_in(3).then(|| Levels {
        every: Nanos::new(duration / 3 + 1),
        count: 3,
        factor: [0.5, 2.0][dice.below(2) as usize],
    });
    let burst = burst(dice, duration).filter(|_| levels.is_none());
    let curve = curve(dice, duration).filter(|_| levels.is_none() && burst.is_none());
    let workload = match dice.below(5) {
        0 => Workload::Closed(Closed { clients: 1 + dice.below(12) as u32, think: dice.law(unit).into() }),
        1 => Workload::Trace(Arc::new(trace(dice, unit, classes, duration))),
        _ => Workload::Open(Open { process, mean_gap, levels, burst, curve, flows }),
    };
    (workload, duration)
}

/// A rate that depends on one of two phases, one of which is left by an arrival alone.
fn switching() -> MarkovArrivals {
    let (hidden, arriving) = (vec![vec![-3.0, 0.5], vec![0.0, -0.4]], vec![vec![2.0, 0.5], vec![0.4, 0.0]]);
    MarkovArrivals::new(&hidden, &arriving).expect("a process")
}

/// Batches, and equal gaps.
fn together() -> Arrivals {
    let batches = Batches { of: Arrivals::Poisson, size: BatchSize::Geometric(3.0) };
    let parts = [(0.6, Arrivals::Batches(Arc::new(batches))), (0.4, Arrivals::Deterministic)];
    let parts = parts.map(|(share, arrivals)| Part { share, arrivals });
    Arrivals::Superposition(Arc::new(parts.into()))
}

/// Where there are no levels, now and then a burst.
fn burst(dice: &mut Dice, duration: u64) -> Option<Burst> {
    let (at, lasts) = (Nanos::new(duration / 4), Nanos::new(duration / 5));
    dice.one_in(3).then_some(Burst { at, lasts, factor: 3.0 })
}

/// Where there is neither, now and then a curve.
fn curve(dice: &mut Dice, duration: u64) -> Option<Curve> {
    let mut points = Points::default();
    for (time, rate) in [(0, 1.0), (duration / 7 + 1, 3.0), (duration / 5 + 2, 0.0), (duration / 3 + 3, 2.0)]
    {
        points.add(time, rate).ok()?;
    }
    let interpolation = [Interpolation::Constant, Interpolation::Linear][dice.below(2) as usize];
    let curve = points.curve(interpolation, dice.one_in(2).then_some(duration / 3 + 9));
    dice.one_in(2).then(|| curve.ok().map(Curve::over_mean)).flatten()
}

/// Requests at whole units, many of them together.
fn trace(dice: &mut Dice, unit: u64, classes: u64, duration: u64) -> Requests {
    let mut requests = Requests::default();
    let mut at = 0;
    for _ in 0..REQUESTS {
        at += dice.units(unit, 0, 2 * (duration / unit / REQUESTS).max(1)).get();
        requests.at.push(at);
        requests.class.push(dice.below(classes) as u16);
        requests.flow.push(dice.below(7) as u32);
        requests.service.push(dice.units(unit, 1, 10).get());
    }
    requests
}

/// A random scenario of one discipline.
pub(super) fn chance(spec: &str, case: u64) -> ServerScenario {
    let dice = &mut Dice::new(case);
    let cores = [1, 2, 3, 4, 7][dice.below(5) as usize].max(2);
    let few = 1 + dice.below(3).min(MAX_CLASSES as u64 - 1);
    let classes = |dice: &mut Dice, unit| -> Vec<Class> {
        (0..few).map(|_| class("some", (1 + dice.below(4)) as f64, dice.law(unit))).collect()
    };
    let drawn = classes(dice, 1_000);
    let mut made = scenario(&[spec], cores, drawn, 0.5).expect("a spec");
    let unit = unit(dice, spec, &made);
    let drawn = classes(dice, unit);
    made = scenario(&[spec], cores, drawn, 0.5).expect("a spec");
    made.seed = case;
    let service: f64 = (0..few as usize)
        .map(|class| made.site.classes[class].share * made.site.classes[class].service.get() as f64)
        .sum();
    let (workload, duration) = workload(dice, unit, service, cores, few);
    made.workload = workload;
    made.stop.duration = Nanos::new(duration);
    made.site.receivers = 1 + dice.below(3) as u32;
    made.site.queue = dice.one_in(3).then(|| dice.below(6) as u32);
    made.known = match dice.below(4) {
        0 => Known::ClassMean,
        1 => Known::Within(3.0),
        _ => Known::Exact,
    };
    if dice.one_in(2) {
        let (dispatch, hand_over) = (dice.units(unit, 0, 1), dice.units(unit, 0, 3));
        made.costs = Costs { dispatch, hand_over, cold: dice.units(unit, 0, 2) };
    }
    if made.costs.dispatch.get() > 0 && dice.one_in(2) {
        made.ring =
            Some(if matches!(made.workload, Workload::Closed(_)) { 64 } else { dice.below(3) as u32 });
    }
    made.measure.order = dice.one_in(2);
    made.measure.verify = dice.one_in(2);
    if dice.one_in(3) {
        for class in &mut made.classes {
            class.patience = dice.one_in(2).then(|| dice.patience(unit));
        }
    }
    if dice.one_in(3) {
        try_again(dice, unit, &mut made);
    }
    if dice.one_in(3) {
        leave(dice, unit, &mut made);
    } else if !made.tells_clients() && dice.one_in(2) {
        go_to_several(dice, unit, &mut made);
    }
    if dice.one_in(3) {
        uneven(dice, unit, duration, &mut made);
    }
    made
}

/// Requests are dropped for their deadlines, or do not join.
fn leave(dice: &mut Dice, unit: u64, made: &mut ServerScenario) {
    for class in &mut made.classes {
        let drop = [Hopeless::Before, Hopeless::During][dice.below(2) as usize];
        class.deadline = dice.one_in(2).then(|| Deadline { within: dice.units(unit, 1, 30), drop });
        let probability = [0.5, 1.0][dice.below(2) as usize];
        class.balk = dice.one_in(3).then(|| Balk { at: 1 + dice.below(4), probability });
    }
}

/// Cores are of different speeds, or stand still for a while.
fn uneven(dice: &mut Dice, unit: u64, duration: u64, made: &mut ServerScenario) {
    if dice.one_in(2) {
        let speeds = (0..made.site.servers).map(|_| [1_000_000, 500_000, 333_333][dice.below(3) as usize]);
        made.site.speeds = speeds.map(Speed::new).collect();
    }
    for core in 0..made.site.servers {
        let mut at = 0;
        while dice.one_in(2) {
            at += dice.units(unit, 0, 1 + duration / unit / 4).get();
            let (lasts, speed) = (dice.units(unit, 1, 30), [0, 0, 100_000, 700_001][dice.below(4) as usize]);
            made.faults.push(Fault { core, at: Nanos::new(at), lasts, speed: Speed::new(speed) });
            at += lasts.get();
        }
    }
}

/// Requests go to several cores, at once or one after the other.
fn go_to_several(dice: &mut Dice, unit: u64, made: &mut ServerScenario) {
    let cancel = |dice: &mut Dice| [Cancel::None, Cancel::Waiting, Cancel::All][dice.below(3) as usize];
    let draws = |dice: &mut Dice| if dice.one_in(4) { Draws::Shared } else { Draws::Own };
    let to = 1 + dice.below(u64::from(made.site.servers)) as u32;
    let after = if dice.one_in(2) { After::Quantile(0.6) } else { After::Span(dice.units(unit, 1, 20)) };
    let hedge = Hedge { after, cancel: cancel(dice), service: draws(dice) };
    made.fan_out = Some(FanOut {
        to,
        need: 1 + dice.below(u64::from(to)) as u32,
        cancel: cancel(dice),
        service: draws(dice),
        hedge: (to == 1 || dice.one_in(3)).then_some(hedge),
    });
    made.costs.cold = Nanos::ZERO;
    if let Workload::Open(open) = &mut made.workload {
        open.mean_gap *= f64::from(to).sqrt();
    }
}

/// Clients give up and try again.
fn try_again(dice: &mut Dice, unit: u64, made: &mut ServerScenario) {
    made.retry = Some(Retry {
        attempts: 2 + dice.below(4) as u32,
        backoff: dice.units(unit, 0, 8),
        factor: 1.0 + dice.below(3) as f64,
        jitter: dice.below(3) as f64 / 2.0,
        budget: dice.one_in(2).then(|| dice.below(8) as f64 / 10.0),
    });
    for class in &mut made.classes {
        class.timeout = dice.one_in(2).then(|| dice.units(unit, 1, 40));
    }
    if dice.one_in(3) {
        made.retry = None;
    }
    made.breaker = dice.one_in(2).then(|| Breaker {
        failures: (1 + dice.below(3)) as f64 / 4.0,
        window: dice.units(unit, 5, 60),
        least: 1 + dice.below(4),
        open: dice.units(unit, 1, 30),
        probes: 1 + dice.below(3),
    });
}

const JOB: Job = Job { replication: 0, discipline: 0 };

/// What the engine tells, which must go well.
pub(super) fn told(spec: &str, case: u64, scenario: &ServerScenario) -> (Told, Left) {
    run_stepwise(scenario, JOB).unwrap_or_else(|error| panic!("{spec}, case {case}: {error}"))
}

/// # Panics
/// The engines disagree; the message has the first difference.
fn agree(spec: &str, case: u64) {
    let scenario = chance(spec, case);
    let (told, _) = told(spec, case, &scenario);
    let naive = Naive::run(&scenario, JOB);
    if told == naive {
        return;
    }
    let part = told.parts.iter().zip(&naive.parts).position(|(one, other)| one != other);
    if let Some(place) = part.filter(|_| scenario.fan_out.is_some()) {
        let (one, other) = (told.parts[place], naive.parts[place]);
        panic!("{spec}, case {case}: part {place}: {one:?}, naive {other:?}, of {:?}", scenario.fan_out);
    }
    let place = told.done.iter().zip(&naive.done).position(|(one, other)| one != other);
    let place = place.unwrap_or(told.done.len().min(naive.done.len()));
    panic!(
        "{spec}, case {case}: request {place}: {:?}, naive {:?}; drops {:?}, naive {:?}; in use {:?}, naive {:?}",
        told.done.get(place),
        naive.done.get(place),
        told.dropped.len(),
        naive.dropped.len(),
        told.in_use,
        naive.in_use,
    );
}

/// How many scenarios of each discipline; `WEIR_CASES` for more.
fn cases() -> u64 {
    std::env::var("WEIR_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(20)
}

#[test]
fn the_engine_tells_what_the_naive_one_does() {
    for spec in disciplines() {
        (0..cases()).for_each(|case| agree(spec, case));
    }
}

#[test]
fn random_scenarios_are_of_every_kind() {
    let made: Vec<ServerScenario> = (0..120).map(|case| chance("rr", case)).collect();
    let has = |of: &dyn Fn(&ServerScenario) -> bool| made.iter().any(of);
    assert!(has(&|one| matches!(one.workload, Workload::Closed(_))));
    assert!(has(&|one| matches!(one.workload, Workload::Trace(_))));
    assert!(has(&|one| one.costs.cold.get() > 0) && has(&|one| one.costs.dispatch.get() > 0));
    assert!(has(&|one| one.retry.is_some() && one.has_timeout()) && has(&ServerScenario::has_patience));
    assert!(has(&|one| one.ring.is_some()) && has(&|one| one.breaker.is_some()));
    let is_closed = |one: &ServerScenario| matches!(one.workload, Workload::Closed(_));
    assert!(
        has(&|one| is_closed(one) && one.retry.is_some()) && has(&|one| is_closed(one) && one.has_patience())
    );
    assert!(has(&ServerScenario::has_deadline) && has(&ServerScenario::has_balking));
    assert!(has(&|one| !one.site.speeds.is_empty()) && has(&|one| !one.faults.is_empty()));
    assert!(has(&|one| !one.site.speeds.is_empty() && one.has_deadline()));
    assert!(has(&|one| !one.site.speeds.is_empty() && one.cancels()));
    assert!(has(&|one| !one.faults.is_empty() && one.hedges()));
    assert!(has(&|one| !one.faults.is_empty() && one.has_deadline()));
    assert!(has(&|one| one.fan_out.is_some_and(|fan_out| fan_out.to > fan_out.need && fan_out.need > 1)));
    assert!(has(&ServerScenario::hedges) && has(&ServerScenario::cancels));
    assert!(has(&|one| one.site.queue.is_some()) && has(&|one| one.measure.order));
}
