//! What holds of every discipline, and what some promise.

use std::collections::HashMap;

use super::random::{chance, disciplines, told};
use super::{Told, delay, run};
use crate::generators::{class, extreme_bimodal, high_bimodal, lab, scenario};
use crate::model::{Cancel, FanOut, Open, ServerScenario, Workload};
use crate::record::{Ends, Part, Unserved};
use weir_core::units::{Instant, Nanos};
use weir_workload::duration::Law;

/// Spans of one core that overlap.
fn overlaps(told: &Told) -> bool {
    let mut spans = told.busy.clone();
    spans.sort_unstable();
    spans.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].2 > pair[1].1)
}

/// Every part is reported once, cores do nothing but parts, and every answer has as many as it needs.
fn parts_add_up(told: &Told, fan_out: FanOut, place: &str) {
    assert!(
        told.done.is_empty() && told.answered.iter().all(|one| one.ended >= one.arrived + one.service),
        "{place}"
    );
    let served: u64 = told.parts.iter().map(|part| part.served.get()).sum();
    let busy: u64 = told.busy.iter().map(|(_, from, until, overhead)| until - from - overhead).sum();
    assert_eq!(busy, served, "{place}");
    let count = |of: &dyn Fn(&Part) -> bool| told.parts.iter().filter(|part| of(part)).count();
    let answers = count(&|part| part.ends == Ends::Answer);
    assert!(answers >= told.answered.len() * fan_out.need as usize, "{place}");
    let copies = count(&|part| part.is_copy);
    assert!(copies == 0 || fan_out.hedge.is_some(), "{place}");
    let cancelled = count(&|part| part.ends == Ends::Cancelled);
    let may_cancel = fan_out.cancels() || fan_out.cancel != Cancel::None;
    assert!(cancelled == 0 || may_cancel, "{place}");
}

#[test]
fn nothing_is_lost_nobody_is_early_and_no_core_does_two_things() {
    for spec in disciplines() {
        for case in 1_000..1_008 {
            let scenario = chance(spec, case);
            let (told, left) = told(spec, case, &scenario);
            let place = format!("{spec}, case {case}");
            let unserved = told.dropped.len() + told.abandoned.len() + told.lost.len();
            let done = told.done.len() + told.answered.len();
            assert_eq!(left.offered, (done + unserved) as u64, "{place}");
            assert_eq!((left.done, left.dropped), (done as u64, unserved as u64), "{place}");
            assert_eq!(left.abandoned, told.abandoned.len() as u64, "{place}");
            assert!(told.done.iter().all(|one| one.began >= one.arrived), "{place}");
            assert!(told.done.iter().all(|one| one.ended >= one.began + one.service), "{place}");
            assert!(!overlaps(&told), "{place}");
            if let Some(fan_out) = scenario.fan_out {
                parts_add_up(&told, fan_out, &place);
                continue;
            }
            let in_part = told.lost.iter().map(|one| (one.service - one.left).get());
            let service: u64 = told.done.iter().map(|one| one.service.get()).chain(in_part).sum();
            let busy: u64 = told.busy.iter().map(|(_, from, until, overhead)| until - from - overhead).sum();
            assert!(
                busy >= service && (busy == service || !told.dropped.is_empty()),
                "{place}: {busy} {service}"
            );
            // A grant ends with its request, or before; the rest were cut off.
            let missed = told.lost.iter().filter(|one| one.why == Unserved::Missed).count() as u64;
            let cut_off = left.decisions - left.done - left.preemptions;
            assert!(cut_off <= missed, "{place}: {cut_off} {missed}");
            assert_eq!(left.last, told.done.iter().map(|one| one.ended.get()).max().unwrap_or(0), "{place}");
        }
    }
}

#[test]
fn a_core_serves_in_order_of_arrival_under_dispatchers() {
    for info in weir_core::registry::DISPATCHER {
        let mut made = scenario(&[info.example], 4, high_bimodal(), 0.9).expect("valid");
        if let Workload::Open(open) = &mut made.workload {
            open.flows = 50;
        }
        made.site.queue = Some(20);
        let (mut told, _) = run(&made);
        told.done.sort_by_key(|done| done.began);
        let mut last = HashMap::new();
        for done in &told.done {
            let before = last.insert(done.server, done.arrived).unwrap_or(Instant::ZERO);
            assert!(before <= done.arrived, "{}: {done:?}", info.name);
        }
    }
}

#[test]
fn the_same_requests_come_whatever_the_discipline_and_the_same_seed_tells_the_same() {
    let requests = |told: &Told| {
        let mut all: Vec<_> =
            told.done.iter().map(|one| (one.arrived, one.class, one.flow, one.service)).collect();
        all.sort_unstable();
        all
    };
    let of = |spec: &str| run(&scenario(&[spec], 4, extreme_bimodal(), 0.7).expect("valid")).0;
    let first = of("rr");
    assert_eq!(first, of("rr"));
    for spec in ["cfcfs", "random", "jsq", "preemptive:quantum=5us,cost=500ns"] {
        assert_eq!(requests(&of(spec)), requests(&first), "{spec}");
    }
}

fn flows(scenario: &mut ServerScenario, flows: u32) {
    if let Workload::Open(open) = &mut scenario.workload {
        *open = Open { flows, ..open.clone() };
    }
}

#[test]
fn flows_that_stay_at_their_core_are_never_cold_nor_reordered() {
    let told = |spec: &str| {
        let mut made = scenario(&[spec], 8, high_bimodal(), 0.8).expect("valid");
        made.measure.order = true;
        made.costs.cold = Nanos::new(300);
        flows(&mut made, 100);
        run(&made).0
    };
    let steady = told("flow_hash");
    assert!(steady.done.iter().all(|one| !one.cold && !one.reordered));
    let dealt = told("rr");
    assert!(dealt.done.iter().any(|one| one.cold) && dealt.done.iter().any(|one| one.reordered));
}

#[test]
fn the_dynamic_count_goes_by_one_and_stays_within_its_bounds() {
    let mut made = lab(&["dynamic:add=500us,period=10ms"], false, Nanos::new(100_000_000)).expect("valid");
    made.stop.duration = Nanos::new(600_000_000);
    let (told, _) = run(&made);
    assert!(told.in_use.len() > 2, "{:?}", told.in_use);
    assert!(told.in_use.windows(2).all(|pair| pair[0].1.abs_diff(pair[1].1) == 1));
    assert!(told.in_use.windows(2).skip(1).all(|pair| pair[1].0 - pair[0].0 >= 10_000_000));
    assert!(told.in_use.iter().all(|&(_, count)| (1..=7).contains(&count)));
    assert_eq!(told.in_use.last().map(|last| last.1), Some(7));
}

#[test]
fn long_requests_never_run_where_cores_are_reserved_for_short_ones() {
    let (told, _) = run(&scenario(&["darc"], 8, high_bimodal(), 0.7).expect("valid"));
    let cores = |class: u16| {
        let mut cores: Vec<u32> =
            told.done.iter().filter(|one| one.class == class).map(|one| one.server).collect();
        cores.sort_unstable();
        cores.dedup();
        cores
    };
    assert!(cores(1).len() < 8, "{:?}", cores(1));
    assert!(cores(0).iter().any(|core| !cores(1).contains(core)));
}

#[test]
fn reserved_cores_without_long_requests_are_one_queue() {
    let mixed = vec![
        class("short", 1.0, Law::Exponential(Nanos::new(1_000))),
        class("long", 0.0, Law::Constant(Nanos::new(100_000))),
    ];
    let delays = |spec: &str| {
        let (told, _) = run(&scenario(&[spec], 6, mixed.clone(), 0.8).expect("valid"));
        let mut delays: Vec<_> = told.done.iter().map(|one| (one.arrived, delay(one))).collect();
        delays.sort_unstable();
        delays
    };
    assert_eq!(delays("darc"), delays("cfcfs"));
}
