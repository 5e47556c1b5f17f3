//! Parameters, declarations and exits: what is refused, and what is promised.

use super::make;
use crate::discipline::{CountDrops, Discipline, Enqueued, Open};
use crate::info::Arguments;
use crate::item::FlowId;
use crate::spec::Spec;
use crate::task::epoch::Epoch;
use crate::task::{DeclarationError, Declared, MAX_PROCESSES, Overcommitted, Task, TaskDiscipline};
use crate::units::{Instant, Nanos};

const A: FlowId = FlowId(0);
const B: FlowId = FlowId(1);

fn ms(count: u64) -> Nanos {
    Nanos::new(count * 1_000_000)
}

fn at(count: u64) -> Instant {
    Instant::ZERO + ms(count)
}

fn need(count: u64) -> Declared {
    Declared { need: ms(count), ..Declared::default() }
}

fn refusal(spec: &str) -> String {
    let spec: Spec = spec.parse().unwrap();
    let built = Epoch::<Task>::from_spec(&Arguments::new(&spec, &crate::task::epoch::INFO).unwrap());
    built.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn parameters_are_refused_with_bound() {
    for (spec, expected) in [
        ("epoch:100ns", "`epoch`: length is `100ns`, must be a span from 1us to 86400s"),
        ("epoch:100", "`epoch`: length is `100`, must be a span from 1us to 86400s"),
        ("epoch:200us", "`epoch`: min_slice is `300us`, must be a span from 1ns to 200us"),
        ("epoch:min_slice=0ns", "`epoch`: min_slice is `0ns`, must be a span from 1ns to 100ms"),
        ("epoch:slice=200us", "`epoch`: slice is `200us`, must be a span from 300us to 86400s"),
        ("epoch:preempt_left=2", "`epoch`: preempt_left is `2`, must be a span from 0ns to 86400s"),
        ("epoch:admit=maybe", "`epoch`: admit is `maybe`, must be one of `warn`, `refuse`, `allow`"),
        ("epoch:allocate=never", "`epoch`: allocate is `never`, must be one of `at_wait`, `at_dispatch`"),
        ("epoch:returning=last", "`epoch`: returning is `last`, must be one of `behind`, `ahead`"),
        ("epoch:leftover=lost", "`epoch`: leftover is `lost`, must be one of `void`, `keep`"),
    ] {
        assert_eq!(refusal(spec), expected);
    }
}

/// 40 ms and 70 ms, then 40 ms and 60 ms.
#[test]
fn more_than_there_is_is_admitted_refused_or_told() {
    let over = Overcommitted { committed: ms(110), epoch: ms(100) };
    for (spec, expected) in [
        ("epoch", Ok(Some(over))),
        ("epoch:admit=allow", Ok(None)),
        ("epoch:admit=refuse", Err(DeclarationError::Overcommitted(over))),
    ] {
        let mut epoch = make(spec);
        assert_eq!(epoch.declare(at(0), A, need(40)), Ok(None), "{spec}");
        assert_eq!(epoch.declare(at(0), B, need(70)), expected, "{spec}");
        assert_eq!(epoch.declare(at(0), B, need(60)), Ok(None), "{spec}");
    }
}

#[test]
fn a_need_above_the_epoch_is_admitted_refused_or_told() {
    let over = Overcommitted { committed: ms(150), epoch: ms(100) };
    for (spec, expected) in [
        ("epoch", Ok(Some(over))),
        ("epoch:admit=allow", Ok(None)),
        ("epoch:admit=refuse", Err(DeclarationError::Need { need: ms(150), epoch: ms(100) })),
    ] {
        assert_eq!(make(spec).declare(at(0), A, need(150)), expected, "{spec}");
    }
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut epoch = make("epoch:admit=allow");
    let _ = epoch.declare(at(0), A, need(30)).unwrap();
    let (day, least) = (ms(86_400_000), Nanos::new(300_000));
    let (short, long) = (Nanos::new(1_000), day + Nanos::new(1));
    let no_place = FlowId(MAX_PROCESSES);
    for (process, declared, expected) in [
        (A, Declared { priority: 4, ..need(50) }, DeclarationError::Priority(4)),
        (A, Declared { slice: Some(short), ..need(50) }, DeclarationError::Slice { slice: short, least }),
        (A, Declared { need: long, ..need(50) }, DeclarationError::Long { need: long, most: day }),
        (no_place, need(50), DeclarationError::Process(no_place)),
        (FlowId(u32::MAX), need(50), DeclarationError::Process(FlowId(u32::MAX))),
    ] {
        assert_eq!(epoch.declare(at(0), process, declared), Err(expected));
    }
    let told = DeclarationError::Long { need: long, most: day }.to_string();
    assert_eq!(told, "need is 86400000000001ns, must be at most 86400s, a day");
    ready(&mut epoch, 0, A);
    assert_eq!(epoch.critical(), Some(at(70)));
}

fn ready(epoch: &mut Epoch<Task>, now: u64, process: FlowId) {
    assert_eq!(epoch.enqueue(at(now), Task { process }, &mut CountDrops::default()), Enqueued::Queued);
}

#[test]
fn needs_count_at_once_before_the_first_epoch_and_from_the_next_one_on_after_that() {
    let mut epoch = make("epoch");
    let _ = epoch.declare(at(0), A, need(30)).unwrap();
    let _ = epoch.declare(at(0), A, need(20)).unwrap();
    assert_eq!(epoch.critical(), None);
    ready(&mut epoch, 0, B);
    assert_eq!(epoch.critical(), Some(at(80)));
    // Of several changes in an epoch the last one counts; of a process that was not known too.
    for (process, count) in [(A, 50), (FlowId(7), 10), (A, 40)] {
        let _ = epoch.declare(at(10), process, need(count)).unwrap();
        assert_eq!(epoch.critical(), Some(at(80)));
        epoch.verify().unwrap();
    }
    // 50 are promised now; of the other 50 the slice of B takes 20.
    let grant = epoch.dequeue(at(100), &Open, &mut CountDrops::default()).unwrap();
    assert_eq!((grant.item.process, epoch.critical()), (B, Some(at(130))));
}

/// The epoch in which it is made has begun, though nobody was ready to see it begin.
#[test]
fn a_change_in_an_idle_epoch_counts_from_the_next_one_too() {
    let mut epoch = make("epoch");
    let _ = epoch.declare(at(0), A, need(30)).unwrap();
    ready(&mut epoch, 0, A);
    let grant = epoch.dequeue(at(0), &Open, &mut CountDrops::default()).unwrap();
    epoch.finish(at(10), &grant.item, ms(10));
    let _ = epoch.declare(at(350), A, need(60)).unwrap();
    ready(&mut epoch, 360, A);
    assert_eq!(epoch.critical(), Some(at(370)));
    let _ = epoch.dequeue(at(400), &Open, &mut CountDrops::default()).unwrap();
    assert_eq!(epoch.critical(), Some(at(440)));
}

#[test]
fn who_exits_needs_nothing_any_more_and_may_come_again() {
    let mut epoch = make("epoch:admit=refuse");
    let _ = epoch.declare(at(0), A, need(80)).unwrap();
    epoch.exit(at(0), A);
    let _ = epoch.declare(at(0), A, need(70)).unwrap();
    let _ = epoch.declare(at(0), B, need(30)).unwrap();
    epoch.verify().unwrap();
    ready(&mut epoch, 0, B);
    assert_eq!(epoch.critical(), Some(at(0)));
    epoch.exit(at(5), A);
    assert_eq!(epoch.critical(), Some(at(70)));
    assert_eq!(epoch.level(A), Some(1));
    assert_eq!(epoch.declare(at(10), A, need(70)), Ok(None));
    assert_eq!(epoch.critical(), Some(at(70)));
}

/// Only who waits can leave.
#[test]
fn who_is_ready_or_runs_does_not_exit() {
    let mut epoch = make("epoch");
    let _ = epoch.declare(at(0), A, need(80)).unwrap();
    ready(&mut epoch, 0, A);
    epoch.exit(at(0), A);
    assert_eq!(epoch.critical(), Some(at(20)));
    let _ = epoch.dequeue(at(0), &Open, &mut CountDrops::default()).unwrap();
    epoch.exit(at(0), A);
    epoch.exit(at(0), B);
    assert_eq!(epoch.critical(), Some(at(20)));
}

/// The new priority counts when a slice is next allocated, the new slice then too.
#[test]
fn a_change_of_priority_counts_with_the_next_slice() {
    let mut epoch = make("epoch");
    let drops = &mut CountDrops::default();
    ready(&mut epoch, 0, A);
    ready(&mut epoch, 0, B);
    let grant = epoch.dequeue(at(0), &Open, drops).unwrap();
    let higher = Declared { priority: 3, slice: Some(ms(30)), ..Declared::default() };
    let _ = epoch.declare(at(0), A, higher).unwrap();
    assert_eq!(grant.quantum, ms(20));
    epoch.requeue(at(20), grant.item, ms(20), drops);
    let grant = epoch.dequeue(at(20), &Open, drops).unwrap();
    assert_eq!((grant.item.process, grant.quantum), (A, ms(30)));
}
