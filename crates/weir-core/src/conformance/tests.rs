//! The suite itself: it must refuse what breaks the contract.

use super::*;
use crate::discipline::{DropReason, Drops, Enqueued, Grant};
use crate::item::Message;
use crate::message::fifo::Fifo;
use crate::units::Nanos;

/// What is wrong with a first-in-first-out queue.
#[derive(Clone, Copy, PartialEq)]
enum Defect {
    Nothing,
    CountsOnlyEnqueued,
    ServesEachTwice,
    Forgets,
    Withholds,
    IgnoresGate,
    EmptyGrant,
    AlwaysPreempts,
    LosesTheReturned,
    CountsCharges,
    PastEvent,
}
use Defect::{
    AlwaysPreempts, CountsCharges, CountsOnlyEnqueued, EmptyGrant, Forgets, IgnoresGate, LosesTheReturned,
    Nothing, PastEvent, ServesEachTwice, Withholds,
};

struct Broken<I: Item> {
    queue: Fifo<I>,
    defect: Defect,
    calls: u64,
    enqueued: Backlog<I::Cost>,
    charges: u64,
}

impl<I: Sample> Discipline<I> for Broken<I> {
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        self.calls += 1;
        self.enqueued.add(item.cost());
        if self.defect == Forgets && self.calls.is_multiple_of(50) {
            return Enqueued::Queued;
        }
        let answer = self.queue.enqueue(now, item, drops);
        if self.defect == AlwaysPreempts { Enqueued::Preempts } else { answer }
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let mut grant = match self.defect {
            Withholds if self.queue.backlog().items == 1 => return None,
            IgnoresGate => self.queue.dequeue(now, &crate::discipline::Open, drops)?,
            _ => self.queue.dequeue(now, gate, drops)?,
        };
        match self.defect {
            EmptyGrant => grant.quantum = I::Cost::ZERO,
            ServesEachTwice => drop(self.queue.enqueue(now, grant.item, drops)),
            LosesTheReturned => grant.quantum = I::Cost::ONE,
            CountsCharges if self.charges.is_multiple_of(3) => grant.quantum = I::Cost::ONE,
            _ => {}
        }
        Some(grant)
    }

    fn charge(&mut self, _now: Instant, _item: &I, _used: I::Cost) {
        self.charges += 1;
    }

    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        if self.defect == LosesTheReturned {
            return drops.dropped(item, crate::discipline::DropReason::NotResumable);
        }
        self.queue.requeue(now, item, used, drops);
    }

    fn next_event(&self) -> Option<Instant> {
        Some(Instant::ZERO).filter(|_| self.defect == PastEvent)
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        if self.defect == CountsOnlyEnqueued { self.enqueued } else { self.queue.backlog() }
    }
}

fn run(defect: Defect) {
    let promises = Promises { work_conserving: true, flow_order: true, resumable: true };
    let make = || Broken { queue: Fifo::new(), defect, calls: 0, enqueued: Backlog::default(), charges: 0 };
    check::<Message, _>(make, promises);
}

#[test]
fn a_sound_queue_passes() {
    run(Nothing);
}

macro_rules! refused {
    ($($name:ident: $defect:ident, $message:literal;)+) => {$(
        #[test]
        #[should_panic(expected = $message)]
        fn $name() {
            run($defect);
        }
    )+};
}

refused! {
    a_wrong_backlog: CountsOnlyEnqueued, "the backlog at";
    an_item_served_twice: ServesEachTwice, "the backlog at";
    a_lost_item: Forgets, "the backlog at";
    a_backlog_withheld: Withholds, "waits behind an open gate";
    a_gate_ignored: IgnoresGate, "the gate does not permit it";
    an_empty_grant: EmptyGrant, "is empty";
    a_preemption_of_nobody: AlwaysPreempts, "no grant is open";
    a_lost_remainder: LosesTheReturned, "the discipline is resumable";
    a_charge_counted_by_call: CountsCharges, "differ";
    an_event_in_the_past: PastEvent, "is not after";
}

/// A queue of processes, which takes one that is ready already, or drops every other one.
struct BrokenTasks {
    queue: Fifo<Burst>,
    drops_any: bool,
}

impl Discipline<Burst> for BrokenTasks {
    fn enqueue(&mut self, now: Instant, item: Burst, drops: &mut dyn Drops<Burst>) -> Enqueued {
        if self.drops_any && item.id() % 2 == 1 {
            drops.dropped(item, DropReason::AlreadyReady);
            return Enqueued::Queued;
        }
        self.queue.enqueue(now, item, drops)
    }

    fn dequeue(
        &mut self,
        now: Instant,
        gate: &dyn Gate<Burst>,
        drops: &mut dyn Drops<Burst>,
    ) -> Option<Grant<Burst>> {
        let Grant { item, .. } = self.queue.dequeue(now, gate, drops)?;
        Some(Grant { item, quantum: Nanos::new(1_000_000) })
    }

    fn requeue(&mut self, now: Instant, item: Burst, used: Nanos, drops: &mut dyn Drops<Burst>) {
        self.queue.requeue(now, item, used, drops);
    }

    fn backlog(&self) -> Backlog<Nanos> {
        self.queue.backlog()
    }
}

fn run_tasks(drops_any: bool) {
    check::<Burst, _>(|| BrokenTasks { queue: Fifo::new(), drops_any }, Promises::default());
}

#[test]
#[should_panic(expected = "is ready twice")]
fn a_process_that_is_ready_twice() {
    run_tasks(false);
}

#[test]
#[should_panic(expected = "yet its process is not ready")]
fn a_readiness_dropped_for_no_reason() {
    run_tasks(true);
}
