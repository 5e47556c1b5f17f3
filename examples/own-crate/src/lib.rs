//! Lottery: whoever's ticket is drawn is served next.
//!
//! | | |
//! |-|-|
//! | Source | Waldspurger and Weihl, *Lottery Scheduling: Flexible Proportional-Share Resource Management*, OSDI 1994, section 2 |
//! | Work per item | O(n): the gate is asked of each that waits |
//! | Units | none: a message has one ticket, however long it is |
//! | Departs from the source | messages are served whole, and all have one ticket |

use std::sync::Arc;

use weir_core::added::{self, AddError, Maker};
use weir_core::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use weir_core::info::{Arguments, Info, Kind, Parameter, Takes};
use weir_core::item::Item;
use weir_core::random::Random;
use weir_core::spec::SpecError;
use weir_core::units::Instant;

/// What the listings say.
pub const INFO: Info = Info {
    name: "lottery",
    kind: Kind::Message,
    title: "lottery scheduling",
    rule: "draws the message that is served next, each as likely as any other",
    source: "Waldspurger and Weihl, Lottery Scheduling, OSDI 1994",
    work: "O(n)",
    parameters: &[Parameter::new("seed", Takes::Seed, "0").meaning("of the draws")],
    example: "lottery:seed=7",
};

/// Makes `lottery` a name that scenarios know.
///
/// # Errors
/// Something else has the name.
pub fn add() -> Result<(), AddError> {
    added::add(&INFO, Maker::Message(Arc::new(|arguments| Ok(Box::new(Lottery::from_spec(arguments)?)))))
}

/// A queue from which the next is drawn.
#[derive(Clone, Debug)]
pub struct Lottery<I: Item> {
    waiting: Vec<I>,
    random: Random,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Lottery<I> {
    /// An empty queue.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { waiting: Vec::new(), random: Random::new(seed), backlog: Backlog::default() }
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// The seed is no whole number.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Ok(Self::new(arguments.whole("seed")?))
    }
}

impl<I: Item> Discipline<I> for Lottery<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        self.backlog.add(item.cost());
        self.waiting.push(item);
        Enqueued::Queued
    }

    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let permitted = self.waiting.iter().filter(|item| gate.permits(item)).count() as u64;
        let drawn = (permitted > 0).then(|| self.random.below(permitted))?;
        let place =
            (0..self.waiting.len()).filter(|&at| gate.permits(&self.waiting[at])).nth(drawn as usize)?;
        let item = self.waiting.swap_remove(place);
        let quantum = item.cost();
        self.backlog.remove(quantum);
        Some(Grant { item, quantum })
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    weir_core::conformance::suite!(conforms, || Lottery::new(7), [work_conserving]);
}
