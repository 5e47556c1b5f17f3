//! The conformance suite: what every discipline owes the engines that drive it.
//!
//! One line in the tests of a discipline, or of a wrapper, runs all of it:
//!
//! ```text
//! conformance::suite!(conforms, Fifo::new, [work_conserving, flow_order, resumable]);
//! ```
//!
//! The list names what the discipline promises beyond the contract ([`Promises`]). The items are messages
//! counted in packets and in nanoseconds, and packets; a discipline for some of them only names these:
//! `suite!(conforms: [Packet], || tbf(Fifo::new()), [flow_order])`; one of tasks names [`Burst`]. It is part of the
//! library, so that a discipline of another crate can be held to it too.
//!
//! What is checked at every step of every [`Plan`]: the backlog, in items and in cost; each item leaves
//! once; no grant is empty, beyond its item's cost, or of an item that does not wait; order within a flow
//! and work conservation where promised; `Preempts` only over an open grant; a discipline that withholds
//! its backlog says when to ask again, later than now, unless the gate withholds it. Of tasks, whose cost only the
//! engine knows, it is checked that a process is ready once at a time, and that nothing else is dropped as
//! `AlreadyReady`. Each plan is driven
//! over two copies in lockstep, one charged at once and one in pieces and through a `Box`; they must
//! decide alike. Then senseless sequences of operations, which must not panic ([`hostile`]).
//!
//! [`agree`] is the same lockstep over a discipline and its oracle. Pools of servers have a suite of their own ([`pool`]).

mod drive;
mod ledger;
mod plan;
pub mod pool;

pub use crate::random::Random;
pub use drive::drive;
pub use plan::{Arrival, Burst, Commits, GateChange, Plan, Sample};
pub use pool::{PoolPromises, check_pool, drive_pool, hostile_pool};

use crate::discipline::{Backlog, CountDrops, Discipline, Gate};
use crate::item::{ClassId, FlowId, Item};
use crate::units::{Cost, Instant};

/// What a discipline promises beyond the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promises {
    /// It withholds nothing while the gate is open.
    pub work_conserving: bool,
    /// The items of a flow are finished in the order of their arrival.
    pub flow_order: bool,
    /// An item given back unfinished is served on.
    pub resumable: bool,
}

/// Tests a discipline: `suite!(name, make, [promise, ...])`, or `suite!(name: [Item, ...], ...)`.
#[macro_export]
macro_rules! conformance_suite {
    ($name:ident, $make:expr, [$($promise:ident),* $(,)?]) => {
        $crate::conformance::suite!($name: [
            $crate::item::Message<$crate::units::Packets>,
            $crate::item::Message<$crate::units::Nanos>,
            $crate::item::Packet,
        ], $make, [$($promise),*]);
    };
    ($name:ident: [$($item:ty),+ $(,)?], $make:expr, [$($promise:ident),* $(,)?]) => {
        #[test]
        // A discipline may promise everything.
        #[allow(clippy::needless_update)]
        fn $name() {
            let promises = $crate::conformance::Promises {
                $($promise: true,)*
                ..$crate::conformance::Promises::default()
            };
            $($crate::conformance::check::<$item, _>($make, promises);)+
        }
    };
}
pub use crate::conformance_suite as suite;

/// Loads, in hundredths of what the server can serve.
const LOADS: [u64; 5] = [33, 90, 100, 300, 2000];
/// Plans for each load, engine and gate.
const PLANS: u64 = 3;
/// Hostile sequences.
const HOSTILE: u64 = 24;

/// Drives disciplines made by `make` through every kind of plan, then through hostile sequences.
///
/// # Panics
/// The discipline breaks the contract or a promise.
pub fn check<I, D>(make: impl Fn() -> D, promises: Promises)
where
    I: Sample,
    D: Discipline<I> + 'static,
{
    for trial in trials::<I>() {
        let _named = Named(&trial);
        trial.run::<I, D>(&make, promises);
    }
}

/// One part of [`check`]; written, it says which.
#[derive(Clone, Debug)]
pub enum Trial {
    /// A plan, over two copies in lockstep.
    Plan(Plan),
    /// A senseless sequence, of this seed.
    Hostile(u64),
}

impl core::fmt::Display for Trial {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Plan(plan) => plan.fmt(f),
            Self::Hostile(seed) => {
                write!(f, "senseless sequence {seed} (times that run backwards, extreme sizes)")
            }
        }
    }
}

impl Trial {
    /// Drives disciplines made by `make` through it.
    ///
    /// # Panics
    /// The discipline breaks the contract or a promise.
    pub fn run<I, D>(&self, make: impl Fn() -> D, promises: Promises)
    where
        I: Sample,
        D: Discipline<I> + 'static,
    {
        match self {
            Self::Plan(plan) => {
                let mut boxed: Box<dyn Discipline<I>> = Box::new(make());
                drive(plan, promises, &mut make(), &mut boxed);
            }
            Self::Hostile(seed) => hostile(&mut make(), *seed, 400),
        }
    }
}

/// The parts of [`check`], in its order.
pub fn trials<I: Sample>() -> impl Iterator<Item = Trial> {
    plans::<I>(PLANS).map(Trial::Plan).chain((0..HOSTILE).map(Trial::Hostile))
}

/// Drives a discipline and its oracle through every kind of plan: they must decide alike.
///
/// # Panics
/// They do not, or one of them breaks the contract.
pub fn agree<I: Sample, D: Discipline<I>, O: Discipline<I>>(
    make: impl Fn() -> D,
    oracle: impl Fn() -> O,
    promises: Promises,
) {
    for plan in plans::<I>(PLANS) {
        let trial = Trial::Plan(plan.clone());
        let _named = Named(&trial);
        drive(&plan, promises, &mut make(), &mut oracle());
    }
}

/// The backlog that these items make, counted one by one.
pub fn backlog_of<'a, I: Item + 'a>(items: impl Iterator<Item = &'a I>) -> Backlog<I::Cost> {
    let mut backlog = Backlog::default();
    items.for_each(|item| backlog.add(item.cost()));
    backlog
}

/// Plans at several loads, over each kind of engine, with gates and without.
pub fn plans<I: Sample>(each: u64) -> impl Iterator<Item = Plan> {
    let fits = |kind: &u64| !I::TASK || plan::fits_tasks(*kind);
    let kinds = LOADS.into_iter().flat_map(move |load| (0..8).filter(fits).map(move |kind| (load, kind)));
    kinds.flat_map(move |(load, kind)| {
        (0..each).map(move |n| Plan::random::<I>((load * 8 + kind) * 1_000 + n, load, kind))
    })
}

/// Names the trial that fails.
struct Named<'a>(&'a Trial);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in {}: {:?}", self.0, self.0);
        }
    }
}

/// A gate that is as often closed as open, for no reason.
struct Whim(u64);

impl<I: Sample> Gate<I> for Whim {
    fn permits(&self, head: &I) -> bool {
        self.0 >> (head.id() % 64) & 1 == 0
    }
}

/// Applies `operations` without sense: grants left open, items returned that were never granted, costs
/// and times at the ends of their ranges, time that runs backwards.
///
/// # Panics
/// The discipline does.
pub fn hostile<I: Sample>(discipline: &mut dyn Discipline<I>, seed: u64, operations: u32) {
    let mut random = Random::new(seed);
    let mut granted = Vec::new();
    let mut drops = CountDrops::default();
    for id in 0..operations {
        let now = Instant::new(random.extreme());
        let stranger = I::sample(id, FlowId(random.flow()), ClassId(random.class()), random.extreme());
        let item: I = granted.pop().filter(|_| random.one_in(2)).unwrap_or(stranger);
        let used = I::Cost::of(random.extreme());
        match random.below(6) {
            0 | 1 => drop(discipline.enqueue(now, stranger, &mut drops)),
            2 => {
                let grant = discipline.dequeue(now, &Whim(random.bits()), &mut drops);
                granted.extend(grant.map(|grant| grant.item));
            }
            3 => discipline.charge(now, &item, used),
            4 => discipline.requeue(now, item.served(used), used, &mut drops),
            _ => discipline.finish(now, &item, used),
        }
        let _ = (discipline.next_event(), discipline.backlog());
    }
}

#[cfg(test)]
mod tests;
