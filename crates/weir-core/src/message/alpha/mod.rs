//! Alpha scheduling: between first in, first out and shortest first, by one coefficient.
//!
//! A message is inserted with the key `alpha * length + tick`, where the clock `tick` counts the units
//! served so far, and the smallest key is served first, equal keys in the order of insertion. Alpha 0 is
//! first in, first out, a large alpha is shortest first, and in between no message is slowed by one that
//! is `l` units shorter and was submitted more than `alpha * l` ticks later.
//!
//! What remains of the message being served (its head) counts at each insertion. `update=decrement`
//! lowers its key by alpha for each unit served, so that it is that of its insertion with what remains;
//! `update=recalculate` sets it at each insertion to what it would be if inserted now (section 6 can be
//! read so), whereupon a newcomer preempts exactly if it is shorter than what remains, for any alpha above 0.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, *Alpha Message Scheduling for Packet-Switched Interconnects*, sections 6 and 10 |
//! | Work per item | O(1) for lengths below 64 of one alpha, else O(log n) |
//! | Units | key and clock: units of cost with 16 fractional bits; alpha has no unit |
//! | Bounds | alpha up to 10^9 or infinite; `alpha * length` saturates at 2^62 units |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | the clock cannot overflow; a heap in place of the list, with the same order |

mod barriers;
mod clock;
mod coefficient;
mod decrement;
mod recalculate;

pub use coefficient::{Coefficient, ConfigError};
pub use decrement::{Assign, Decrementing};
pub use recalculate::Recalculating;

use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind, Parameter};
use crate::item::Item;
use crate::priority::{Key, Prioritized};
use crate::spec::SpecError;
use crate::units::Instant;

const ALPHA_VALUES: &str = "a number from 0 (first in, first out) to 1000000000, or `inf` (shortest first)";

/// What the listings say.
pub const INFO: Info = Info {
    name: "alpha",
    kind: Kind::Message,
    title: "alpha scheduling",
    rule: "serves the smallest alpha * length + clock; the clock counts what has been served",
    source: "Cherkasova and Rokicki, alpha report, sections 6 and 10",
    work: "O(1) for lengths below 64, else O(log n)",
    parameters: &[
        Parameter {
            name: "alpha",
            values: ALPHA_VALUES,
            default: None,
            meaning: "how many units served later a message may come for each unit it is shorter",
        },
        Parameter {
            name: "update",
            values: "`decrement` or `recalculate`",
            default: Some("decrement"),
            meaning: "how the key of the message being served follows what remains of it",
        },
        Parameter {
            name: "classes",
            values: "alphas of the classes 0, 1, 2 and so on, separated by `/`, or `none`",
            default: Some("none"),
            meaning: "a class's own alpha; classes beyond the last take `alpha`",
        },
    ],
    example: "alpha:10",
};

/// How the key of the message being served follows what remains of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// Lowered by alpha for each unit served.
    #[default]
    Decrement,
    /// Set at each insertion to what it would be if inserted now.
    Recalculate,
}

/// What alpha scheduling is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The alpha of every class that has none of its own.
    pub alpha: f64,
    /// How the key of the message being served follows what remains of it.
    pub update: Update,
    /// The alphas of classes 0, 1, 2 and so on.
    pub classes: Vec<f64>,
}

/// An alpha for each class.
#[derive(Clone, Debug)]
pub struct PerClass {
    alpha: Coefficient,
    classes: Vec<Coefficient>,
}

impl PerClass {
    #[inline]
    fn of<I: Item>(&self, item: &I) -> Coefficient {
        if self.classes.is_empty() {
            return self.alpha;
        }
        self.classes.get(usize::from(item.class().0)).copied().unwrap_or(self.alpha)
    }
}

impl<I: Item> Assign<I> for PerClass {
    type Kept = ();
    #[inline]
    fn assign(&self, _item: &I, _waiting: I::Cost) {}
    #[inline]
    fn coefficient(&self, item: &I, (): ()) -> Coefficient {
        self.of(item)
    }
}

/// Alpha scheduling, by one of the two updates.
#[derive(Clone, Debug)]
pub enum Alpha<I: Item> {
    /// `update=decrement`.
    Decrement(Decrementing<I, PerClass>),
    /// `update=recalculate`.
    Recalculate(Recalculating<I>),
}

impl<I: Item> Alpha<I> {
    /// An empty queue.
    ///
    /// # Errors
    /// An alpha is negative, no number, or finite and above [`Coefficient::LARGEST`].
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let alpha = Coefficient::new(config.alpha)?;
        let classes = config.classes.iter().copied().map(Coefficient::new).collect::<Result<_, _>>()?;
        let alphas = PerClass { alpha, classes };
        Ok(match config.update {
            Update::Decrement => Self::Decrement(Decrementing::new(alphas)),
            Update::Recalculate => Self::Recalculate(Recalculating::new(alphas)),
        })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An alpha is missing, no number or out of bounds, or the update is unknown.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let expected = |name| move |reason: ConfigError| arguments.error(name, reason_of(&reason));
        let alpha = arguments.parsed("alpha", ALPHA_VALUES, |text| text.parse::<f64>().ok())?;
        Coefficient::new(alpha).map_err(expected("alpha"))?;
        let classes = arguments.parsed("classes", "alphas separated by `/`, such as 10/10/100", |text| {
            if text == "none" { Some(Vec::new()) } else { text.split('/').map(|a| a.parse().ok()).collect() }
        })?;
        let update = match arguments.choice("update", &["decrement", "recalculate"])? {
            0 => Update::Decrement,
            _ => Update::Recalculate,
        };
        Self::new(&Config { alpha, update, classes }).map_err(expected("classes"))
    }

    /// Rebases the clock whenever it passes `clock`, and the numbers of insertion after `insertions`. Low
    /// limits cost time and change no decision.
    #[must_use]
    pub fn rebasing_at(self, clock: I::Cost, insertions: u64) -> Self {
        match self {
            Self::Decrement(queue) => Self::Decrement(queue.rebasing_at(clock, insertions)),
            Self::Recalculate(queue) => Self::Recalculate(queue.rebasing_at(clock, insertions)),
        }
    }
}

/// The reason as it continues the name of the parameter.
pub(super) fn reason_of(error: &ConfigError) -> String {
    let text = error.to_string();
    text.split_once(' ').map_or(text.clone(), |(_, reason)| reason.to_owned())
}

/// The same call on whichever of the two it is.
macro_rules! either {
    ($alpha:expr, $queue:ident => $call:expr) => {
        match $alpha {
            Self::Decrement($queue) => $call,
            Self::Recalculate($queue) => $call,
        }
    };
}

impl<I: Item> Discipline<I> for Alpha<I> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        either!(self, queue => queue.enqueue(now, item, drops))
    }
    #[inline]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        either!(self, queue => queue.dequeue(now, gate, drops))
    }
    #[inline]
    fn charge(&mut self, now: Instant, item: &I, used: I::Cost) {
        either!(self, queue => queue.charge(now, item, used));
    }
    #[inline]
    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        either!(self, queue => queue.requeue(now, item, used, drops));
    }
    #[inline]
    fn finish(&mut self, now: Instant, item: &I, used: I::Cost) {
        either!(self, queue => queue.finish(now, item, used));
    }
    #[inline]
    fn next_event(&self) -> Option<Instant> {
        either!(self, queue => queue.next_event())
    }
    #[inline]
    fn backlog(&self) -> Backlog<I::Cost> {
        either!(self, queue => queue.backlog())
    }
}

impl<I: Item> Prioritized<I> for Alpha<I> {
    #[inline]
    fn key(&self, now: Instant, item: &I) -> Key {
        either!(self, queue => queue.key(now, item))
    }
    #[inline]
    fn enqueue_with_key(&mut self, now: Instant, item: I, key: Key, drops: &mut dyn Drops<I>) -> Enqueued {
        either!(self, queue => queue.enqueue_with_key(now, item, key, drops))
    }
    #[inline]
    fn rebased(&self) -> u128 {
        either!(self, queue => queue.rebased())
    }
    #[inline]
    fn barrier(&self) -> Key {
        either!(self, queue => queue.barrier())
    }
}
