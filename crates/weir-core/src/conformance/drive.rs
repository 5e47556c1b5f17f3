//! The engine of the suite: drives two disciplines in lockstep and checks every answer.

use super::ledger::Ledger;
use super::{Commits, Plan, Promises, Random, Sample};
use crate::discipline::{Discipline, DropReason, Enqueued, Gate, Grant};
use crate::item::ClassId;
use crate::units::{Cost, Instant, Nanos};

/// Drives both disciplines through `plan`; `second` is charged in pieces. They must decide alike.
///
/// # Panics
/// They do not, or one of them breaks the contract or a promise.
pub fn drive<I: Sample>(
    plan: &Plan,
    promises: Promises,
    first: &mut dyn Discipline<I>,
    second: &mut dyn Discipline<I>,
) {
    let mut driver = Driver {
        plan,
        promises,
        first,
        second,
        ledger: Ledger::new(),
        random: Random::new(plan.seed),
        now: Instant::ZERO,
        free_at: Instant::ZERO,
        open: None,
        doors: Doors::OPEN,
        arrivals: schedule(plan.arrivals.iter().map(|a| a.gap)),
        changes: schedule(plan.gates.iter().map(|g| g.gap)),
        arrived: 0,
        changed: 0,
    };
    driver.run();
}

/// The moments that gaps lead to.
fn schedule(gaps: impl Iterator<Item = Nanos>) -> Vec<Instant> {
    let mut at = Instant::ZERO;
    gaps.map(|gap| {
        at += gap;
        at
    })
    .collect()
}

/// The gate: classes held back, and the largest head let through.
#[derive(Clone, Copy, PartialEq)]
struct Doors {
    closed: u64,
    largest: u64,
}

impl Doors {
    const OPEN: Self = Self { closed: 0, largest: u64::MAX };
}

impl<I: Sample> Gate<I> for Doors {
    fn permits(&self, head: &I) -> bool {
        self.closed >> (head.class().0 % 64) & 1 == 0 && head.cost().count() <= self.largest
    }
}

/// The open grant.
struct Open<I> {
    item: I,
    quantum: u64,
    started: Instant,
    /// What each copy has been charged.
    charged: [u64; 2],
}

struct Driver<'a, I: Sample> {
    plan: &'a Plan,
    promises: Promises,
    first: &'a mut dyn Discipline<I>,
    second: &'a mut dyn Discipline<I>,
    ledger: Ledger<I>,
    random: Random,
    now: Instant,
    /// When the server can start the next item.
    free_at: Instant,
    open: Option<Open<I>>,
    doors: Doors,
    arrivals: Vec<Instant>,
    changes: Vec<Instant>,
    arrived: usize,
    changed: usize,
}

impl<I: Sample> Driver<'_, I> {
    fn run(&mut self) {
        let work: u64 = self.plan.arrivals.iter().map(|a| a.cost / I::GRAIN).sum();
        let mut steps = 64 * (work + (self.arrivals.len() + self.changes.len()) as u64) + 64;
        self.ask_if_free();
        while let Some(at) = self.next_instant() {
            self.now = at.max(self.now);
            self.step();
            steps = steps.checked_sub(1).expect("the discipline makes no progress");
        }
        let waiting = self.ledger.backlog();
        assert!(waiting.is_empty(), "{waiting:?} waits, and nothing says when to ask again");
        self.ledger.assert_settled();
    }

    /// The next moment at which anything happens; `None` at the end.
    fn next_instant(&mut self) -> Option<Instant> {
        let idle = self.open.is_none() && self.free_at <= self.now;
        let event = self.first.next_event().filter(|_| idle || (self.open.is_some() && self.interrupts()));
        let server = match &self.open {
            Some(open) => Some(self.closes_at(open)),
            None => Some(self.free_at).filter(|_| !idle),
        };
        let arrival = self.arrivals.get(self.arrived).copied();
        let change = self.changes.get(self.changed).copied();
        let next = [event, server, arrival, change].into_iter().flatten().min();
        if next.is_none() && self.doors != Doors::OPEN {
            self.doors = Doors::OPEN;
            self.ask_if_free();
            return Some(self.now);
        }
        next
    }

    /// All that is due now: acceptances before arrivals.
    fn step(&mut self) {
        self.charge_second_in_part();
        if self.open.as_ref().is_some_and(|open| self.closes_at(open) <= self.now) {
            self.close();
        }
        self.ask_if_free();
        while self.changes.get(self.changed).is_some_and(|&at| at <= self.now) {
            let change = self.plan.gates[self.changed];
            self.doors = Doors { closed: change.closed, largest: change.largest };
            self.changed += 1;
            self.ask_if_free();
        }
        while self.arrivals.get(self.arrived).is_some_and(|&at| at <= self.now) {
            self.offer();
            self.ask_if_free();
        }
        let due = self.first.next_event().is_some_and(|at| at <= self.now);
        if due && self.open.is_some() && self.interrupts() {
            self.close();
            self.ask_if_free();
        }
    }

    fn interrupts(&self) -> bool {
        self.plan.interrupts && self.promises.resumable
    }

    fn closes_at(&self, open: &Open<I>) -> Instant {
        let units = match self.plan.commits {
            Commits::AtStart => open.quantum - 1,
            Commits::AsServed => open.quantum,
        };
        open.started + Nanos::new(units * self.plan.tick.get())
    }

    /// How much of the open grant is used by now.
    fn used(&self, open: &Open<I>) -> u64 {
        let passed = (self.now - open.started).get() / self.plan.tick.get();
        let started = u64::from(self.plan.commits == Commits::AtStart);
        open.quantum.min(passed + started)
    }

    /// Charges the second copy alone, with some of what has been used.
    fn charge_second_in_part(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let due = self.used(&open) - open.charged[1];
        let part = self.random.below(due + 1);
        self.second.charge(self.now, &open.item, I::Cost::of(part));
        open.charged[1] += part;
        self.open = Some(open);
    }

    /// Charges both with all that has been used.
    fn charge_all(&mut self) {
        self.charge_second_in_part();
        let Some(mut open) = self.open.take() else { return };
        let used = self.used(&open);
        self.first.charge(self.now, &open.item, I::Cost::of(used - open.charged[0]));
        self.second.charge(self.now, &open.item, I::Cost::of(used - open.charged[1]));
        open.charged = [used; 2];
        self.open = Some(open);
    }

    fn offer(&mut self) {
        self.charge_all();
        let arrival = self.plan.arrivals[self.arrived];
        self.arrived += 1;
        let class = ClassId(arrival.flow.0 as u16);
        let item = I::sample(self.ledger.next_id(), arrival.flow, class, arrival.cost);
        self.ledger.enqueued(item);
        let mut drops = [Vec::new(), Vec::new()];
        let answer = self.first.enqueue(self.now, item, &mut drops[0]);
        let second = self.second.enqueue(self.now, item, &mut drops[1]);
        assert_eq!(answer, second, "the answers to {item:?} at {} differ", self.now);
        self.settle_drops(drops);
        self.ledger.assert_one_readiness(item.flow());
        if answer == Enqueued::Preempts {
            assert!(self.open.is_some(), "{item:?} preempts, yet no grant is open");
            if self.interrupts() {
                self.close();
            }
        }
    }

    /// Asks both for the next item, if the server can start one.
    fn ask_if_free(&mut self) {
        if self.open.is_some() || self.free_at > self.now {
            return;
        }
        let mut drops = [Vec::new(), Vec::new()];
        let grant = self.first.dequeue(self.now, &self.doors, &mut drops[0]);
        let second = self.second.dequeue(self.now, &self.doors, &mut drops[1]);
        assert_eq!(grant, second, "the decisions at {} differ", self.now);
        if let Some(grant) = grant {
            self.start(grant);
        }
        self.settle_drops(drops);
        let event = self.first.next_event();
        assert!(event.is_none_or(|at| at > self.now), "the event {event:?} is not after {}", self.now);
        if self.open.is_none() {
            self.assert_wakes(event);
        }
    }

    fn start(&mut self, grant: Grant<I>) {
        let permitted = self.doors.permits(&grant.item);
        assert!(permitted, "{:?} is granted, yet the gate does not permit it", grant.item);
        self.ledger.granted(&grant);
        let Grant { item, quantum } = grant;
        // Where nobody else knows, the engine ends the grant of a process that waits.
        let quantum = quantum.count().min(item.left());
        self.open = Some(Open { item, quantum, started: self.now, charged: [0; 2] });
    }

    /// Nothing was granted: is that allowed, and will somebody ask again?
    fn assert_wakes(&self, event: Option<Instant>) {
        let waiting = self.ledger.backlog();
        if waiting.is_empty() || self.doors != Doors::OPEN {
            return;
        }
        assert!(!self.promises.work_conserving, "{waiting:?} waits behind an open gate at {}", self.now);
        assert!(event.is_some(), "{waiting:?} waits, and nothing says when to ask again");
    }

    /// The open grant ends here.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let used = self.used(&open);
        let [a, b] = open.charged.map(|charged| I::Cost::of(used - charged));
        self.free_at = match self.plan.commits {
            Commits::AtStart => open.started + Nanos::new(used * self.plan.tick.get()),
            Commits::AsServed => self.now,
        };
        if used == open.item.left() {
            self.ledger.finished(open.item, self.promises);
            self.first.finish(self.now, &open.item, a);
            self.second.finish(self.now, &open.item, b);
            return self.assert_backlog();
        }
        let item = open.item.served(I::Cost::of(used));
        self.ledger.requeued(item);
        let mut drops = [Vec::new(), Vec::new()];
        self.first.requeue(self.now, item, a, &mut drops[0]);
        self.second.requeue(self.now, item, b, &mut drops[1]);
        self.settle_drops(drops);
    }

    fn settle_drops(&mut self, drops: [Vec<(I, DropReason)>; 2]) {
        assert_eq!(drops[0], drops[1], "the drops at {} differ", self.now);
        for (item, reason) in &drops[0] {
            let resumes = self.promises.resumable && *reason == DropReason::NotResumable;
            assert!(!resumes, "{item:?} was given back and dropped, yet the discipline is resumable");
            self.ledger.dropped(*item, *reason);
        }
        self.assert_backlog();
    }

    fn assert_backlog(&self) {
        let waiting = self.ledger.backlog();
        assert_eq!(self.first.backlog(), waiting, "the backlog at {}", self.now);
        assert_eq!(self.second.backlog(), waiting, "the backlog at {}, charged in pieces", self.now);
    }
}
