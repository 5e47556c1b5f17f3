//! Properties of epoch scheduling under random programs: the promise, the levels, what is forgotten, who gets what.

use super::trace::{Trace, Who};
use super::{MS, ms, played, traced};
use crate::generators::random::{Dice, UNIT, Wish, random};
use crate::generators::{Writer, add_system, every_epoch, lone_generator, process, scenario};
use crate::model::{NodeScenario, Operation};
use crate::record::Sink;
use weir_core::units::{Instant, Nanos};

/// Specs, and whether what is owed is whole units of time: a process that is owed less than `min_slice` may go to its low
/// queue, and lose as much.
const EPOCH: [(&str, bool); 4] = [
    ("epoch:20ms", true),
    ("epoch(20ms,allocate=at_dispatch,slice=1500us)", true),
    ("epoch(20ms,min_slice=1ns,preempt_left=1ms,slice=3ms)", false),
    ("epoch(20ms,min_slice=1ns,allocate=at_dispatch)", false),
];

/// Compares what each process runs in an epoch with its need.
struct Promise {
    needs: Vec<u64>,
    ran: Vec<u64>,
    /// The least that is useful, below which a process may go to its low queue.
    min_slice: u64,
    epochs: u64,
    worst: u64,
    /// Runs on a low queue of processes that were owed more than that.
    too_low: u64,
}

impl Promise {
    fn of(one: &NodeScenario, min_slice: u64) -> Self {
        let needs: Vec<u64> = one.processes.iter().map(|process| process.declared.need.get()).collect();
        let mut promise =
            Self { ran: vec![0; needs.len()], needs, min_slice, epochs: 0, worst: 0, too_low: 0 };
        if let Err(error) = played(one, &mut promise) {
            panic!("{}: {error:?}", one.disciplines[0]);
        }
        promise
    }
}

impl Sink for Promise {
    fn ran(&mut self, _node: usize, process: usize, level: Option<i8>, from: Instant, until: Instant) {
        let owed = self.needs[process].saturating_sub(self.ran[process]);
        self.too_low += u64::from(level < Some(0) && owed >= self.min_slice);
        self.ran[process] += until.get() - from.get();
    }
    fn epoch(&mut self, _at: Instant, always_ready: &dyn Fn(usize) -> bool) {
        for (process, ran) in self.ran.iter_mut().enumerate() {
            if self.needs[process] > 0 && always_ready(process) {
                self.epochs += 1;
                self.worst = self.worst.max(self.needs[process].saturating_sub(*ran));
            }
            *ran = 0;
        }
    }
}

#[test]
fn who_is_ready_throughout_an_epoch_runs_its_need() {
    let mut epochs = 0;
    for case in 0..450 {
        let (spec, whole) = EPOCH[case as usize % EPOCH.len()];
        let wish = Wish { nodes: 1 + usize::from(case % 5 == 0), costs: false, fits: true, whole };
        let mut one = random(case, spec, wish, 200);
        one.balance = None;
        let promise = Promise::of(&one, 1);
        assert_eq!((promise.worst, promise.too_low), (0, 0), "{spec}, case {case}");
        epochs += promise.epochs;
    }
    assert!(epochs >= 100_000, "{epochs} process-epochs");
}

#[test]
fn what_is_too_small_to_be_useful_is_all_that_may_be_missed() {
    for case in 0..60 {
        let wish = Wish { nodes: 1, costs: false, fits: true, whole: false };
        let promise = Promise::of(&random(case, "epoch:20ms", wish, 50), 300_000);
        assert!(promise.worst < 300_000 && promise.too_low == 0, "case {case}: {} ns", promise.worst);
    }
}

#[test]
fn with_costs_a_need_is_missed_by_no_more_than_what_an_interrupt_carries_over() {
    let mut worst = 0;
    for case in 0..40 {
        let dice = &mut Dice::new(case);
        let mut one = scenario(&["epoch"]).expect("a spec");
        let mut room = 90;
        for number in 0..2 + dice.below(3) {
            let need = dice.below(room / 2);
            room -= need;
            let slice = Some(ms(5 + dice.below(20)));
            one.processes.push(process(&number.to_string(), ms(need), slice, lone_generator()));
        }
        add_system(&mut one);
        one.stop.duration = ms(4000);
        worst = worst.max(Promise::of(&one, 800_000).worst);
    }
    // The timer's interrupt and a swap.
    assert!(worst <= 219_000, "{worst} ns");
}

#[test]
fn the_past_is_forgotten_at_the_turn_of_an_epoch() {
    // A nanosecond behind the turn: who wakes at the turn itself is posted before it, to the queue of the past.
    let (epoch, begins) = (40 * UNIT, 5 * 40 * UNIT + 1);
    for case in 0..60 {
        let wish = Wish { nodes: 1, costs: false, fits: case % 3 == 0, whole: case % 2 == 0 };
        let mut bare = random(case, EPOCH[case as usize % EPOCH.len()].0, wish, 12);
        for one in &mut bare.processes {
            one.starts = Nanos::new(begins);
        }
        let mut lived = bare.clone();
        let never = 1_000 * begins;
        for (number, one) in lived.processes.iter_mut().enumerate() {
            let until = |at| Operation::SleepUntil { every: Nanos::new(never), offset: Nanos::new(at) };
            let dice = &mut Dice::new(case ^ 77);
            let past = Writer::new().begin(Some(3)).compute(dice.units(1, 3)).sleep(dice.units(0, 4)).end();
            // All ask for their wake-ups in the order of their numbers, as those do that begin there.
            let past = past.then(until(begins - epoch + 1000 * number as u64)).then(until(begins)).done();
            let shift = past.operations.len();
            let mut operations = past.operations;
            operations.extend(one.program.operations.iter().cloned().map(|mut operation| {
                match &mut operation {
                    Operation::Loop { after, .. } => *after += shift,
                    Operation::End(begin) => *begin += shift,
                    _ => {}
                }
                operation
            }));
            one.program.operations = operations;
            one.starts = Nanos::new(0);
        }
        let since = |trace: Trace| {
            let mut had = trace.had.into_iter().next().expect("a node");
            had.retain(|(_, _, until)| *until > begins);
            let waits: Vec<_> = trace.waits.into_iter().filter(|wait| wait.0 >= begins).collect();
            let started: Vec<_> = trace.started.into_iter().filter(|one| one.0 >= begins).collect();
            had[0].1 = had[0].1.max(begins);
            had.retain(|(who, from, _)| *who != Who::Idle || *from > begins);
            (had, waits, started)
        };
        let (bare, lived) = (since(traced(&bare)), since(traced(&lived)));
        assert!(bare == lived, "case {case}:\n{bare:?}\n{lived:?}");
    }
}

/// What each process ran in each epoch.
struct PerEpoch {
    ran: Vec<u64>,
    epochs: Vec<Vec<u64>>,
}

impl Sink for PerEpoch {
    fn ran(&mut self, _node: usize, process: usize, _level: Option<i8>, from: Instant, until: Instant) {
        self.ran[process] += until.get() - from.get();
    }
    fn epoch(&mut self, _at: Instant, _always_ready: &dyn Fn(usize) -> bool) {
        let processes = self.ran.len();
        self.epochs.push(std::mem::replace(&mut self.ran, vec![0; processes]));
    }
}

fn per_epoch(one: &NodeScenario) -> Vec<Vec<u64>> {
    let mut sink = PerEpoch { ran: vec![0; one.processes.len()], epochs: Vec::new() };
    if let Err(error) = played(one, &mut sink) {
        panic!("{error:?}");
    }
    sink.epochs
}

#[test]
fn where_all_is_promised_and_all_are_ready_each_runs_exactly_its_need() {
    for case in 0..50 {
        let dice = &mut Dice::new(case);
        let mut one = scenario(&["epoch(min_slice=1ns)"]).expect("a spec");
        for need in [15, 25, 60] {
            let slice = Some(Nanos::new(300_000 + dice.below(50 * MS)));
            let mut all = process(&need.to_string(), ms(need), slice, lone_generator());
            all.declared.priority = dice.below(4) as u8;
            one.processes.push(all);
        }
        one.measure.verify = true;
        for ran in per_epoch(&one) {
            assert_eq!(ran, [15 * MS, 25 * MS, 60 * MS], "case {case}");
        }
    }
}

#[test]
fn slices_share_low_time_in_their_ratio() {
    for (one, two) in [(1, 1), (1, 2), (3, 1), (2, 5), (7, 3)] {
        let mut node = scenario(&["epoch"]).expect("a spec");
        for slice in [one, two] {
            node.processes.push(process("user", ms(0), Some(ms(slice)), lone_generator()));
        }
        // Everything is promised to somebody who claims nothing.
        let idler = every_epoch(ms(100), ms(0), Nanos::new(1));
        node.processes.push(process("idler", ms(100), None, idler));
        for ran in per_epoch(&node).into_iter().skip(1) {
            let apart = (ran[0] * two).abs_diff(ran[1] * one);
            assert!(apart <= one * two * MS + 2 * MS, "{one} to {two}: {ran:?}");
        }
    }
}
