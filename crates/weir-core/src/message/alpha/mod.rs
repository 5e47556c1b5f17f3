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

use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::priority::{Key, Prioritized, copied_with_keys};
use crate::spec::SpecError;
use crate::units::Instant;

/// What the listings say.
pub const INFO: Info = Info {
    name: "alpha",
    kind: Kind::Message,
    title: "alpha scheduling",
    rule: "serves the message of the smallest alpha * length + clock; the clock counts the units served so \
        far",
    source: "Cherkasova and Rokicki, alpha report, sections 6 and 10",
    work: "O(1) for lengths below 64, else O(log n)",
    parameters: &[
        Parameter::required("alpha", Takes::Text)
            .worded("a number from 0 (first in, first out) to 1000000000, or `inf` (shortest first)")
            .meaning(
                "how many units of service later a message may arrive, for each unit that it is shorter, \
                 and still go first",
            ),
        Parameter::new("update", Takes::Words(&["decrement", "recalculate"]), "decrement")
            .meaning("how the key of the message being served follows what remains of it"),
        Parameter::new("classes", Takes::Text, "none")
            .or(&["none"])
            .listed("alphas of the classes 0, 1, 2 and so on, separated by `/`, or `none`")
            .refused("alphas separated by `/`, such as 10/10/100")
            .meaning("a class's own alpha; classes beyond the last take `alpha`"),
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
        let alpha = arguments.read("alpha", Coefficient::read)?;
        Coefficient::new(alpha).map_err(expected("alpha"))?;
        let classes = match arguments.word("classes")? {
            Some(_) => Vec::new(),
            None => arguments.read("classes", |text| text.split('/').map(Coefficient::read).collect())?,
        };
        let update = arguments.choice("update", [Update::Decrement, Update::Recalculate])?;
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
    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        either!(self, queue => queue.retain(keep))
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

    copied_with_keys!();
}

#[cfg(test)]
mod tests {
    use super::super::schedule::schedule;
    use super::*;
    use crate::item::Message;

    #[test]
    fn the_head_is_decremented() {
        // a has key 2 * 5, after one packet 8. At tick 1 b4 has 2 * 4 + 1 = 9, and b3 has 7.
        assert_eq!(schedule("alpha:2", "a5 . b4"), "aaaaabbbb");
        assert_eq!(schedule("alpha:2", "a5 . b3"), "abbbaaaa");
        // At tick 3 c1 has 5: behind b, whose last packet has 3, and before a, which has 8.
        assert_eq!(schedule("alpha:2", "a5 . b3 .. c1"), "abbbcaaaa");
    }

    #[test]
    fn equal_keys_are_served_in_order_of_insertion() {
        // At tick 4 the head a has 9 - 1 = 8, c4 has 4 + 4 = 8, c3 has 7.
        assert_eq!(schedule("alpha:1", "a9 b3 .... c4"), "bbbaaaaaaaaacccc");
        assert_eq!(schedule("alpha:1", "a9 b3 .... c3"), "bbbacccaaaaaaaa");
    }

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(schedule("alpha:0", "a3 b1 . c2"), "aaabcc");
        assert_eq!(schedule("alpha:inf", "a5 . b3 . c1"), schedule("sf", "a5 . b3 . c1"));
        assert_eq!(schedule("alpha:inf", "a4 . b3"), "aaaabbb");
    }

    #[test]
    fn recalculated_a_newcomer_preempts_if_it_is_shorter() {
        for alpha in ["0.1", "1", "50", "inf"] {
            let spec = format!("alpha:{alpha},update=recalculate");
            assert_eq!(schedule(&spec, "a9 . b8"), "aaaaaaaaabbbbbbbb", "{spec}");
            assert_eq!(schedule(&spec, "a9 . b7"), "abbbbbbbaaaaaaaa", "{spec}");
        }
        assert_eq!(schedule("alpha:0,update=recalculate", "a9 . b1"), "aaaaaaaaab");
    }

    #[test]
    fn a_recalculated_head_stays_before_smaller_keys() {
        // At tick 4 a becomes 0.5 * 6 + 4 = 7 and is preempted by n2 with 5; x12 stays behind with 6. At
        // tick 5 y3 has 6.5, before a and hence before x.
        let served = schedule("alpha:0.5,update=recalculate", "a10 x12 .... n2 . y3");
        assert_eq!(served, format!("aaaannyyyaaaaaa{}", "x".repeat(12)));
        // With 7 it goes behind both.
        let served = schedule("alpha:0.5,update=recalculate", "a10 x12 .... n2 . y4");
        assert_eq!(served, format!("aaaannaaaaaa{}yyyy", "x".repeat(12)));
    }

    #[test]
    fn each_class_has_its_alpha() {
        assert_eq!(schedule("alpha:10", "a3#0 b2#1"), "bbaaa");
        assert_eq!(schedule("alpha(10,classes=1/100)", "a3#0 b2#1"), "aaabb");
        // The head, of class 1, is decremented by 100 to 200; c2 of class 65535 takes 10.
        assert_eq!(schedule("alpha(10,classes=1/100)", "a3#1 . c2#65535"), "accaa");
        // Infinite alphas come last, by length.
        assert_eq!(schedule("alpha(10,classes=inf)", "a3#0 b1#0 c9#1"), "cccccccccbaaa");
    }

    #[test]
    fn alphas_out_of_bounds_are_refused() {
        let new = |alpha, classes| Alpha::<Message>::new(&Config { alpha, classes, ..Config::default() });
        assert_eq!(new(-1.0, vec![]).err(), Some(ConfigError::Alpha(-1.0)));
        assert_eq!(new(1.0, vec![1.0, 2e9]).err(), Some(ConfigError::Alpha(2e9)));
        assert!(new(f64::NAN, vec![]).is_err() && new(f64::INFINITY, vec![0.0]).is_ok());
    }
}
