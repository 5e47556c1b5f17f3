//! What must hold whatever processes do: random loads, run on a naive processor. After every call it checks the
//! invariant, and at every dispatch that nobody of a higher level is ready.

use super::load::{EPOCH, Load};
use super::make;
use super::node::{Node, Piece, Step};
use crate::conformance::Random;
use crate::item::FlowId;
use crate::task::epoch::Epoch;
use crate::task::{Declared, Task, TaskDiscipline, Used};
use crate::units::Nanos;

/// Times in whole milliseconds, and as they come.
const WHOLE: u64 = 1_000_000;
const ANY: u64 = 1;
/// Less than this is too small to be useful.
const USEFUL: u64 = 300_000;
const SPECS: [&str; 2] = ["epoch", "epoch:allocate=at_dispatch"];
/// Where nothing is too small to be useful.
const EXACT: [&str; 2] = ["epoch:slice=20ms,min_slice=1ns", "epoch:min_slice=1ns,allocate=at_dispatch"];

/// What a process ran.
fn ran(pieces: &[Piece], process: usize) -> u64 {
    pieces.iter().filter(|piece| piece.process == process).map(|piece| piece.to - piece.from).sum()
}

/// A load of its own number under one of two specs, with wake-ups before or after the end of a grant.
fn node(load: &Load, seed: u64, specs: [&str; 2]) -> Node<Epoch<Task>> {
    let mut node = load.node(make(specs[seed as usize % 2]));
    node.closes_first = seed.is_multiple_of(3);
    node
}

fn used(node: &Node<Epoch<Task>>, process: usize) -> Used {
    node.discipline.used(FlowId(process as u32)).unwrap()
}

/// The worst shortfall of a process that was ready throughout an epoch, and how many such there were.
fn shortfalls(specs: [&str; 2], loads: u64, epochs: u64, grain: u64) -> (u64, u64) {
    let (mut worst, mut counted) = (0, 0);
    for seed in 0..loads {
        let mut node = node(&Load::random(seed, EPOCH, grain), seed, specs);
        for epoch in 0..epochs {
            let pieces = node.run_up_to(EPOCH * (epoch + 1));
            for (process, state) in node.processes.iter().enumerate() {
                if state.since.is_some_and(|since| since <= epoch * EPOCH) {
                    worst = worst.max(state.declared.need.get().saturating_sub(ran(&pieces, process)));
                    counted += 1;
                }
            }
        }
    }
    (worst, counted)
}

#[test]
fn who_is_ready_throughout_an_epoch_runs_its_need() {
    let (worst, counted) = shortfalls(EXACT, 800, 40, ANY);
    assert!(worst == 0 && counted > 100_000, "{worst}ns in {counted}");
}

#[test]
fn who_is_ready_throughout_an_epoch_runs_its_need_in_whole_milliseconds() {
    let (worst, counted) = shortfalls(SPECS, 600, 40, WHOLE);
    assert!(worst == 0 && counted > 50_000, "{worst}ns in {counted}");
}

/// Of a need, less than is useful may be left.
#[test]
fn who_is_ready_throughout_an_epoch_lacks_less_than_is_useful() {
    let (worst, counted) = shortfalls(SPECS, 200, 40, ANY);
    assert!((1..USEFUL).contains(&worst) && counted > 20_000, "{worst}ns in {counted}");
}

/// Nobody runs while another does; the use reported of each adds up to what was run. With costs too.
#[test]
fn time_is_conserved() {
    for seed in 0..200 {
        let mut node = node(&Load::random(seed, 2 * EPOCH, ANY), seed, SPECS);
        node.overhead = [0, 100_000][seed as usize / 2 % 2];
        let pieces = node.run_up_to(8 * EPOCH);
        assert!(pieces.is_sorted_by(|a, b| a.to <= b.from), "{seed}");
        for process in 0..node.processes.len() {
            let Used { need, uncommitted, windfall } = used(&node, process);
            let low = pieces.iter().filter(|piece| piece.level < 0).copied().collect::<Vec<_>>();
            assert_eq!(windfall.get(), ran(&low, process), "{seed}");
            assert_eq!((need + uncommitted + windfall).get(), ran(&pieces, process), "{seed}");
        }
    }
}

/// Overcommitted loads too.
#[test]
fn nobody_goes_low_with_time_that_is_useful_uncommitted_or_owed() {
    let mut demotions = 0;
    for seed in 0..300 {
        let mut node = node(&Load::random(seed, 2 * EPOCH, ANY), seed, SPECS);
        for epoch in 1..=10 {
            let before: Vec<_> = (0..node.processes.len()).map(|process| used(&node, process).need).collect();
            node.run_up_to(epoch * EPOCH);
            for demotion in std::mem::take(&mut node.demotions) {
                let need = node.processes[demotion.process].declared.need;
                let owed = need - (demotion.used - before[demotion.process]);
                assert!(demotion.uncommitted.get() < USEFUL && owed.get() < USEFUL, "{seed}: {demotion:?}");
                demotions += 1;
            }
        }
    }
    assert!(demotions > 5_000, "{demotions}");
}

/// The mean that a process runs in an epoch.
fn share(load: &Load, seed: u64, process: usize) -> u64 {
    const EPOCHS: u64 = 20;
    ran(&node(load, seed, SPECS).run_up_to(EPOCHS * EPOCH), process) / EPOCHS
}

/// A need that rises, all others fixed, moves where the turns of a process lie in the epoch; by that it may lose,
/// seldom, up to a slice.
#[test]
fn to_need_more_is_not_to_run_less() {
    let (mut compared, mut less) = (0, 0);
    for seed in 0..800 {
        let mut load = Load::random(seed, EPOCH, ANY);
        let committed: u64 = load.declared.iter().map(|declared| declared.need.get()).sum();
        let left = (EPOCH - committed).saturating_sub(WHOLE);
        let always = (0..load.declared.len()).find(|&process| load.is_always_ready(process));
        let Some(process) = always.filter(|_| left > 0) else { continue };
        let before = share(&load, seed, process);
        let declared = &mut load.declared[process];
        declared.need += Nanos::new(WHOLE + Random::new(seed).below(left));
        let slice = declared.slice.unwrap().get();
        let after = share(&load, seed, process);
        assert!(after + slice >= before, "{seed}: {before}ns, then {after}ns");
        compared += 1;
        less += u64::from(after < before);
    }
    assert!(compared > 300 && 40 * less < compared, "{less} of {compared}");
}

/// The members of the normal queues, from the highest.
fn ready(epoch: &Epoch<Task>) -> Vec<u32> {
    let mut order = Vec::new();
    for mut queue in epoch.queues.into_iter().rev() {
        while let Some(process) = queue.pop_front(&epoch.processes) {
            order.push(process);
        }
    }
    order
}

/// A node that has run for some epochs goes on as one does that begins there, with the same queues.
#[test]
fn the_past_is_forgotten_at_the_end_of_an_epoch() {
    let mut busy = 0;
    for seed in 0..400 {
        let load = Load::random(seed, EPOCH + EPOCH / 4, ANY);
        let spec = SPECS[seed as usize % 2];
        let mut old = node(&load, seed, SPECS);
        old.run_up_to((1 + seed % 5) * EPOCH);
        old.close_if_over();
        for (process, program) in old.processes.iter_mut().zip(load.programs(1)) {
            process.program = program;
        }
        let order = ready(&old.discipline);
        old.pieces.clear();
        let mut new = Node::twin(&old, make(spec), load.programs(1), &order);
        let until = old.now + 3 * EPOCH;
        assert_eq!(old.run_up_to(until), new.run_up_to(until), "{seed}");
        busy += usize::from(order.len() > 1);
    }
    assert!(busy > 100, "{busy}");
}

/// Some processes that compute without end, with these needs and random slices and priorities.
fn always(needs: &[u64], priorities: u64, random: &mut Random) -> Node<Epoch<Task>> {
    let mut node = Node::new(make("epoch"));
    for &need in needs {
        let slice = Nanos::new(WHOLE * (1 + random.below(40)));
        let priority = random.below(priorities) as u8;
        let declared =
            Declared { need: Nanos::new(need), slice: Some(slice), priority, ..Declared::default() };
        node.add(declared, Box::new(|| Step::Compute(u64::MAX / 4)));
    }
    node
}

#[test]
fn fully_committed_and_all_ready_everybody_runs_exactly_its_need() {
    for seed in 0..200 {
        let random = &mut Random::new(seed);
        let mut left = 100;
        let mut needs: Vec<_> = (0..random.below(6))
            .map(|_| {
                let need = random.below(left + 1);
                left -= need;
                need * WHOLE
            })
            .collect();
        needs.push(left * WHOLE);
        let mut node = always(&needs, 4, random);
        for epoch in 1..=5 {
            let pieces = node.run_up_to(epoch * EPOCH);
            let all: Vec<_> = (0..needs.len()).map(|process| ran(&pieces, process)).collect();
            assert_eq!(all, needs, "{seed}");
        }
    }
}

/// What is left of an epoch goes to equals in proportion to their slices, but for one slice.
#[test]
fn windfall_is_shared_by_slices() {
    for seed in 0..200 {
        let random = &mut Random::new(seed);
        let number = 2 + random.below(5) as usize;
        let mut node = always(&vec![0; number], 1, random);
        let asleep = Declared { need: Nanos::new(random.below(EPOCH)), ..Declared::default() };
        node.add(asleep, Box::new(|| Step::Sleep));
        for epoch in 1..=5 {
            let pieces = node.run_up_to(epoch * EPOCH);
            let low: Vec<_> = pieces.into_iter().filter(|piece| piece.level < 0).collect();
            let turns = |process: usize| {
                let slice = node.processes[process].declared.slice.unwrap();
                ran(&low, process) as f64 / slice.get() as f64
            };
            let turns: Vec<_> = (0..number).map(turns).collect();
            let (least, most) = turns
                .iter()
                .fold((f64::MAX, 0f64), |(least, most), &turns| (turns.min(least), turns.max(most)));
            assert!(most - least <= 1.0, "{seed}: {turns:?}");
        }
    }
}
