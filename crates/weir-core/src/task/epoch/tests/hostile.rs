//! No sequence of calls makes it panic or breaks the invariant: processes that were never granted are given back, time
//! runs backwards, spans and processes are at the ends of their ranges.

use super::make;
use crate::conformance::Random;
use crate::discipline::{CountDrops, Discipline, Open};
use crate::item::FlowId;
use crate::task::{Declared, MAX_PROCESSES, Task, TaskDiscipline};
use crate::units::{Instant, Nanos};

fn extreme(random: &mut Random) -> u64 {
    match random.below(6) {
        0 => 0,
        1 => u64::MAX - random.below(3),
        2 => i64::MAX as u64 + random.below(3) - 1,
        3 => random.bits(),
        4 => 86_400_000_000_000 - random.below(3),
        _ => random.below(3_000_000),
    }
}

fn process(random: &mut Random) -> FlowId {
    FlowId(match random.below(200) {
        0..=9 => u32::MAX,
        10 => MAX_PROCESSES,
        _ => random.below(6) as u32,
    })
}

fn declared(random: &mut Random) -> Declared {
    Declared {
        priority: random.below(5) as u8,
        need: Nanos::new(extreme(random)),
        slice: random.one_in(2).then(|| Nanos::new(extreme(random))),
        ..Declared::default()
    }
}

fn drive(spec: &str, seed: u64) {
    let mut epoch = make(spec);
    let random = &mut Random::new(seed);
    let drops = &mut CountDrops::default();
    let monotonic = random.one_in(2);
    let mut now = 0;
    for _ in 0..400 {
        let moment = extreme(random);
        now = if monotonic { moment.max(now).min(now.saturating_add(1 << 40)) } else { moment };
        let (at, task) = (Instant::new(now), Task { process: process(random) });
        let used = Nanos::new(extreme(random));
        match random.below(8) {
            0 | 1 => drop(epoch.enqueue(at, task, drops)),
            2 => drop(epoch.dequeue(at, &Open, drops)),
            3 => epoch.charge(at, &task, used),
            4 => epoch.requeue(at, task, used, drops),
            5 => epoch.finish(at, &task, used),
            6 => drop(epoch.declare(at, task.process, declared(random))),
            _ => epoch.exit(at, task.process),
        }
        let _ = (epoch.next_event(), epoch.backlog(), epoch.level(task.process), epoch.critical());
        epoch.verify().unwrap();
    }
}

#[test]
fn nothing_makes_it_panic() {
    let specs = [
        "epoch",
        "epoch(length=1us,slice=1ns,min_slice=1ns,preempt_left=0ns,allocate=at_dispatch)",
        "epoch(length=86400s,slice=86400s,min_slice=86400s,preempt_left=86400s,admit=allow)",
        "epoch(length=3us,slice=2us,min_slice=1us,preempt_left=0ns,leftover=keep,returning=ahead,admit=allow)",
    ];
    for seed in 0..400 {
        drive(specs[seed as usize % specs.len()], seed);
    }
}

/// The highest process there can be; the memory of all of them is taken at once.
#[test]
fn the_highest_process_has_a_place() {
    let mut epoch = make("epoch");
    let task = Task { process: FlowId(MAX_PROCESSES - 1) };
    let drops = &mut CountDrops::default();
    let _ = epoch.enqueue(Instant::ZERO, task, drops);
    assert_eq!(epoch.dequeue(Instant::ZERO, &Open, drops).unwrap().item, task);
    assert_eq!(drops.0, 0);
}

#[test]
fn who_is_ready_already_or_has_no_place_is_dropped() {
    let mut epoch = make("epoch");
    let drops = &mut CountDrops::default();
    let mut ready = |process: u32| {
        let _ = epoch.enqueue(Instant::ZERO, Task { process: FlowId(process) }, drops);
        drops.0
    };
    assert_eq!([ready(0), ready(0), ready(MAX_PROCESSES), ready(u32::MAX), ready(1)], [0, 1, 2, 3, 3]);
}
