//! What is charged to what, and what becomes of time that nobody is charged.

use super::make;
use crate::discipline::{CountDrops, Discipline, Open};
use crate::item::FlowId;
use crate::task::epoch::Epoch;
use crate::task::{Declared, Task, TaskDiscipline, Used};
use crate::units::{Instant, Nanos};

const A: FlowId = FlowId(0);

fn ms(count: u64) -> Nanos {
    Nanos::new(count * 1_000_000)
}

fn at(count: u64) -> Instant {
    Instant::ZERO + ms(count)
}

/// A process that is promised this much, and runs.
fn running(need: u64, others: u64) -> Epoch<Task> {
    let mut epoch = make("epoch");
    for (process, need) in [(A, need), (FlowId(1), others)] {
        let _ = epoch.declare(at(0), process, Declared { need: ms(need), ..Declared::default() }).unwrap();
    }
    let drops = &mut CountDrops::default();
    let _ = epoch.enqueue(at(0), Task { process: A }, drops);
    let _ = epoch.dequeue(at(0), &Open, drops).unwrap();
    epoch
}

fn used(need: u64, uncommitted: u64, windfall: u64) -> Option<Used> {
    Some(Used { need: ms(need), uncommitted: ms(uncommitted), windfall: ms(windfall) })
}

#[test]
fn need_is_used_first_then_uncommitted_time_then_windfall() {
    let mut epoch = running(15, 60);
    let (task, drops) = (Task { process: A }, &mut CountDrops::default());
    epoch.charge(at(12), &task, ms(12));
    assert_eq!(epoch.used(A), used(12, 0, 0));
    epoch.requeue(at(20), task, ms(8), drops);
    assert_eq!(epoch.used(A), used(15, 5, 0));
    assert_eq!(epoch.dequeue(at(20), &Open, drops).unwrap().quantum, ms(20));
    epoch.requeue(at(40), task, ms(20), drops);
    assert_eq!(epoch.used(A), used(15, 25, 0));
    assert_eq!(epoch.level(A), Some(-3));
    let _ = epoch.dequeue(at(40), &Open, drops).unwrap();
    epoch.finish(at(50), &task, ms(10));
    assert_eq!(epoch.used(A), used(15, 25, 10));
    assert_eq!(epoch.used(FlowId(9)), None);
}

/// What runs out of what is its own moves the critical period, what it uses beyond that does not: 30 ms are
/// uncommitted at the start, 20 of them are left after 30 ms of which 10 were in excess.
#[test]
fn what_is_used_beyond_the_slice_is_paid_out_of_uncommitted_time() {
    let mut epoch = running(20, 50);
    assert_eq!(epoch.critical(), Some(at(30)));
    epoch.charge(at(30), &Task { process: A }, ms(30));
    assert_eq!(epoch.critical(), Some(at(50)));
    epoch.verify().unwrap();
}

#[test]
fn windfall_does_not_count_against_the_need() {
    let mut epoch = running(0, 100);
    let task = Task { process: A };
    assert_eq!(epoch.level(A), Some(-3));
    epoch.charge(at(10), &task, ms(10));
    assert_eq!(epoch.critical(), Some(at(0)));
    assert_eq!(epoch.used(A), used(0, 0, 10));
}

/// A switch costs 5 ms: it lies inside the slice, and is charged to who runs.
#[test]
fn overhead_in_what_is_used_shortens_the_slice() {
    let mut epoch = running(50, 50);
    let (task, drops) = (Task { process: A }, &mut CountDrops::default());
    epoch.charge(at(5), &task, ms(5));
    epoch.requeue(at(10), task, ms(5), drops);
    assert_eq!(epoch.dequeue(at(10), &Open, drops).unwrap().quantum, ms(10));
    assert_eq!(epoch.critical(), Some(at(10)));
}

/// 10 ms pass of which nobody is charged anything.
#[test]
fn time_charged_to_nobody_is_taken_from_what_is_uncommitted() {
    let mut epoch = running(20, 50);
    let (task, drops) = (Task { process: A }, &mut CountDrops::default());
    epoch.requeue(at(30), task, ms(20), drops);
    // Of the 30 that were uncommitted 20 are left.
    assert_eq!(epoch.critical(), Some(at(30)));
    assert_eq!(epoch.dequeue(at(30), &Open, drops).unwrap().quantum, ms(20));
}

/// The engine that cannot interrupt gives a process back late: what it used is of the old epoch.
#[test]
fn an_overrun_of_the_epoch_is_charged_to_the_epoch_before() {
    let mut epoch = running(100, 0);
    let (task, drops) = (Task { process: A }, &mut CountDrops::default());
    epoch.requeue(at(130), task, ms(130), drops);
    assert_eq!(epoch.used(A), used(100, 30, 0));
    assert_eq!(epoch.critical(), Some(at(100)));
    assert_eq!(epoch.next_event(), Some(at(200)));
    epoch.verify().unwrap();
}

#[test]
fn there_is_an_event_only_while_anybody_is_ready_or_runs() {
    let mut epoch = make("epoch");
    let (task, drops) = (Task { process: A }, &mut CountDrops::default());
    assert_eq!((epoch.next_event(), epoch.critical()), (None, None));
    let _ = epoch.enqueue(at(250), task, drops);
    assert_eq!((epoch.next_event(), epoch.backlog().items), (Some(at(300)), 1));
    let _ = epoch.dequeue(at(250), &Open, drops).unwrap();
    assert_eq!((epoch.next_event(), epoch.backlog().items), (Some(at(300)), 0));
    epoch.finish(at(260), &task, ms(10));
    assert_eq!(epoch.next_event(), None);
    assert_eq!(epoch.dequeue(at(990), &Open, drops), None);
}
