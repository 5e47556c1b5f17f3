//! The engine without events against the one that goes from event to event: the same requests, one by one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::{Told, run_job};
use crate::engine::{seeded, step_by_step};
use crate::generators::{class, scenario};
use crate::job::{Ended, Job};
use crate::model::{Cancel, Costs, Draws, FanOut, Known, ServerScenario, Workload};
use crate::record::Part;
use weir_core::item::Message;
use weir_core::registry::{self, DISPATCHER};
use weir_core::units::{Nanos, Speed};
use weir_lab::control::Watch;
use weir_workload::duration::Law;

fn nanos(count: u64) -> Nanos {
    Nanos::new(count)
}

/// A scenario whose load, cores, bounds and costs follow from the case.
fn case(spec: &str, number: u64) -> ServerScenario {
    let cores = [1, 2, 3, 8, 70][number as usize % 5];
    let load = [0.3, 0.8, 1.3][number as usize % 3];
    let classes = match number % 4 {
        2 => vec![
            class("middle", 0.2, Law::Exponential(nanos(30))),
            class("long", 0.1, Law::Uniform(nanos(50), nanos(150))),
            class("short", 0.7, Law::Constant(nanos(10))),
        ],
        0 => vec![
            class("short", 0.9, Law::Constant(nanos(10))),
            class("long", 0.1, Law::Exponential(nanos(100))),
        ],
        _ => vec![class("all", 1.0, Law::Uniform(nanos(1), nanos(9)))],
    };
    let mut made = scenario(&[spec], cores, classes, load).expect("a spec");
    made.seed = number;
    made.stop.duration = nanos(4_000);
    made.site.queue = [None, Some(0), Some(2)][number as usize % 3];
    made.costs.hand_over = nanos(number % 7);
    made.costs.dispatch = nanos(number % 3);
    if number % 7 == 4 {
        made.classes[0].patience = Some(Law::Exponential(nanos(20)).into());
    }
    if number % 8 == 3 {
        made.known = Known::ClassMean;
    }
    if let Workload::Open(open) = &mut made.workload {
        open.flows = 1 + (number % 5) as u32;
    }
    made
}

/// How long each core was busy, and from when to when without a gap.
fn busy(told: &Told) -> BTreeMap<u32, Vec<(u64, u64)>> {
    let mut all: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for &(core, from, until, _) in &told.busy {
        let spans = all.entry(core).or_default();
        match spans.last_mut() {
            Some((_, end)) if *end == from => *end = until,
            _ => spans.push((from, until)),
        }
    }
    all
}

fn agree(scenario: &ServerScenario) -> bool {
    let job = Job { replication: 0, discipline: 0 };
    let (mut quick, counts) = run_job(scenario, job).expect("a run");
    let spec = seeded(scenario, job).expect("a spec");
    let (off, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let watch = Watch { cancel: &off, failed: &off, done: &done, duration: scenario.stop.duration.get() };
    let mut told = Told::default();
    let Ended::Finished(expected) = step_by_step(scenario, &spec, job, &mut told, &watch).expect("a run")
    else {
        unreachable!("nobody breaks it off")
    };
    for one in [&mut quick, &mut told] {
        one.done
            .sort_by_key(|done| (done.arrived, done.began, done.server, done.ended, done.class, done.flow));
        one.dropped.sort_by_key(|&(class, arrived, now, _)| (arrived, class, now));
        one.answered.sort_by_key(|done| (done.arrived, done.ended, done.server, done.class, done.flow));
        let of =
            |part: &Part| (part.arrived, part.class, part.began, part.ended, part.ends as u8, part.served);
        one.parts.sort_by_key(of);
    }
    let name = format!("{}, seed {}", scenario.disciplines[0], scenario.seed);
    let differ = quick.done.iter().zip(&told.done).find(|(one, other)| one != other);
    assert!(differ.is_none() && quick.done.len() == told.done.len(), "{name}: {differ:?}");
    let differ = quick.dropped.iter().zip(&told.dropped).find(|(one, other)| one != other);
    assert!(differ.is_none() && quick.dropped.len() == told.dropped.len(), "{name}: {differ:?}");
    let differ = quick.answered.iter().zip(&told.answered).find(|(one, other)| one != other);
    assert!(differ.is_none() && quick.answered.len() == told.answered.len(), "{name}: {differ:?}");
    let differ = quick.parts.iter().zip(&told.parts).find(|(one, other)| one != other);
    assert!(differ.is_none() && quick.parts.len() == told.parts.len(), "{name}: {differ:?}");
    for one in [&mut quick, &mut told] {
        one.abandoned.sort_unstable();
    }
    assert_eq!(quick.abandoned, told.abandoned, "{name}");
    assert!(busy(&quick) == busy(&told), "{name}");
    assert_eq!(quick.in_use, told.in_use, "{name}");
    let without = |left| crate::job::Left { accelerated: false, ..left };
    assert_eq!(without(counts), expected, "{name}");
    counts.accelerated
}

#[test]
fn it_gives_the_same_requests_as_the_one_with_events() {
    let dispatchers = DISPATCHER.iter().map(|info| info.example);
    let pools = ["cfcfs", "darc", "darc:reserve=0", "darc:delta=1000000"];
    for spec in dispatchers.chain(pools) {
        let quick = (0..120).filter(|&number| agree(&case(spec, number))).count();
        assert_eq!(quick > 0, !needs_events(spec), "{spec} was run {quick} times without events");
    }
}

/// Whether a dispatcher is called at other times than when a request comes.
fn needs_events(spec: &str) -> bool {
    let dispatcher = registry::dispatcher::<Message<Nanos>>(&spec.parse().expect(spec), &case(spec, 0).site);
    dispatcher.is_ok_and(|one| one.period().is_some() || one.hears())
}

/// The same with requests that go to several cores.
#[test]
fn it_gives_the_same_sub_requests_as_the_one_with_events() {
    for spec in DISPATCHER.iter().map(|info| info.example) {
        let apart = |number: u64| {
            let mut made = case(spec, number);
            let to = 1 + (number as u32 / 5) % made.site.servers.min(9);
            let cancel = [Cancel::Waiting, Cancel::None, Cancel::All][number as usize % 3];
            let need = if cancel == Cancel::None { 1 + number as u32 % to } else { to };
            let service = if number % 4 == 1 { Draws::Shared } else { Draws::Own };
            made.fan_out = Some(FanOut { to, need, cancel, service, hedge: None });
            if let Workload::Open(open) = &mut made.workload {
                open.mean_gap *= f64::from(to);
            }
            made
        };
        let quick = (0..60).filter(|&number| agree(&apart(number))).count();
        assert_eq!(quick > 0, !needs_events(spec), "{spec} was run {quick} times without events");
    }
}

#[test]
fn what_it_cannot_stand_for_is_left_to_the_other() {
    let quick = |change: fn(&mut ServerScenario)| {
        let mut made = case("jsq", 4);
        change(&mut made);
        agree(&made)
    };
    assert!(quick(|_| {}));
    assert!(!quick(|made| made.costs = Costs { cold: nanos(3), ..made.costs }));
    assert!(!quick(|made| made.measure.order = true));
    assert!(!quick(|made| made.site.receivers = 2));
    assert!(!quick(|made| made.ring = Some(3)));
    assert!(!quick(|made| made.site.speeds = vec![Speed::new(700_000); made.site.servers as usize]));
    const FIRST: FanOut = FanOut { to: 2, need: 1, cancel: Cancel::None, service: Draws::Own, hedge: None };
    let of_two = |fan_out: FanOut| {
        let mut made = case("jsq", 6);
        made.fan_out = Some(fan_out);
        agree(&made)
    };
    assert!(of_two(FIRST));
    assert!(!of_two(FanOut { cancel: Cancel::Waiting, ..FIRST }));
}
