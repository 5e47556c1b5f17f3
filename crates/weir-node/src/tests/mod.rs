//! The engine against a naive one, the properties of epoch scheduling under random programs, and the report's measurements.

mod by_hand;
mod naive;
mod properties;
mod refusals;
mod report;
mod stranded;
mod trace;

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::job::{Ended, Job, Left, play};
use crate::model::NodeScenario;
use crate::record::Sink;
use weir_core::registry::TASK;
use weir_core::units::Nanos;
use weir_lab::control::Watch;
use weir_lab::error::RunError;

use self::naive::Naive;
use self::trace::Trace;
use crate::generators::random::{Wish, random};

const MS: u64 = 1_000_000;

fn ms(count: u64) -> Nanos {
    Nanos::new(count * MS)
}

fn us(count: u64) -> Nanos {
    Nanos::new(count * 1000)
}

/// Plays the first discipline.
fn played<S: Sink>(scenario: &NodeScenario, sink: &mut S) -> Result<Left, RunError> {
    let (off, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let watch = Watch { cancel: &off, failed: &off, done: &done, duration: u64::MAX };
    match play(scenario, Job { replication: 0, discipline: 0 }, sink, &watch)? {
        Ended::Finished(left) => Ok(*left),
        Ended::Interrupted => unreachable!("nobody breaks it off"),
    }
}

fn traced(scenario: &NodeScenario) -> Trace {
    let mut trace = Trace::new(scenario);
    if let Err(error) = played(scenario, &mut trace) {
        panic!("{}: {error:?}", scenario.disciplines[0]);
    }
    trace.sorted()
}

/// The disciplines, as their examples have them, and `epoch` and `cbs` as they may be otherwise.
fn disciplines() -> Vec<String> {
    let mut all: Vec<String> = TASK.iter().map(|info| info.example.to_owned()).collect();
    all.push("epoch(20ms,allocate=at_dispatch,slice=1500us)".to_owned());
    all.push("cbs(20ms,reclaim=grub)".to_owned());
    all.push("epoch(20ms,min_slice=500us,preempt_left=1ms,slice=3ms)".to_owned());
    all
}

#[test]
fn agrees_with_the_naive_engine() {
    for (place, spec) in disciplines().iter().enumerate() {
        for case in 0..1000 {
            let wish = Wish { nodes: 1 + case as usize % 3, costs: case % 4 != 0, fits: false, whole: false };
            let one = random(10_000 * place as u64 + case, spec, wish, 12);
            let (trace, expected) = (traced(&one), Naive::play(&one).sorted());
            assert!(trace == expected, "{spec}, case {case}:\n{}", trace.difference(&expected));
        }
    }
}

#[test]
fn a_job_that_is_broken_off_says_so() {
    let one = random(1, "epoch", Wish { nodes: 1, costs: true, fits: true, whole: true }, 12);
    let (on, off, done) = (AtomicBool::new(true), AtomicBool::new(false), AtomicU64::new(0));
    let watch = Watch { cancel: &on, failed: &off, done: &done, duration: u64::MAX };
    let ended = play(&one, Job { replication: 0, discipline: 0 }, &mut crate::record::Forget, &watch);
    assert!(matches!(ended, Ok(Ended::Interrupted)), "{ended:?}");
}
