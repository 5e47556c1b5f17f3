//! Random order of service: of all that wait, each is as likely to be next.
//!
//! A message that has begun is served to its end before another is drawn. One that is given back goes on next.
//!
//! | | |
//! |-|-|
//! | Source | Kingman, *On queues in which customers are served in random order*, Proceedings of the Cambridge Philosophical Society 58, 1962; Takács, *Delay distributions for one line with Poisson input, general holding times, and various orders of service*, Bell System Technical Journal 42, 1963 |
//! | Work per item | O(1); a removal of a message that is not next O(n) |
//! | Units | messages |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | no |

use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::random::Random;
use crate::spec::SpecError;
use crate::units::Instant;

/// What the listings say.
pub const INFO: Info = Info {
    name: "ros",
    kind: Kind::Message,
    title: "random order of service",
    rule: "serves whole messages, of all that wait each with the same probability",
    source: "Kingman, On queues in which customers are served in random order, Proc. Cambridge Phil. Soc. 58, 1962",
    work: "O(1)",
    parameters: &[Parameter::new("seed", Takes::Seed, "0")
        .meaning("the seed of the choices; a simulation draws one for each replication if none is given")],
    example: "ros",
};

/// Random order of service.
#[derive(Clone, Debug)]
pub struct Ros<I: Item> {
    /// Those that have not begun, in no order but for the one that is next, which is the last once it is drawn.
    waiting: Vec<I>,
    /// One that has begun and was given back.
    begun: Vec<I>,
    is_drawn: bool,
    random: Random,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Ros<I> {
    /// Nothing waits; choices follow from the seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            waiting: Vec::new(),
            begun: Vec::new(),
            is_drawn: false,
            random: Random::new(seed),
            backlog: Backlog::default(),
        }
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// The seed is no whole number.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Ok(Self::new(arguments.whole("seed")?))
    }

    /// Draws who is next, unless that is known, and puts it last.
    #[inline]
    fn draw(&mut self) {
        let count = self.waiting.len();
        if !self.is_drawn && count > 0 {
            self.is_drawn = true;
            self.waiting.swap(self.random.pick(count as u32) as usize, count - 1);
        }
    }
}

impl<I: Item> Discipline<I> for Ros<I> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        self.backlog.add(item.cost());
        self.waiting.push(item);
        // Whoever comes after a draw that a gate has refused has the same chance as all others.
        self.is_drawn = false;
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let from = match self.begun.is_empty() {
            true => {
                self.draw();
                &mut self.waiting
            }
            false => &mut self.begun,
        };
        let item = from.pop_if(|item| gate.permits(item))?;
        self.is_drawn &= !self.begun.is_empty();
        let quantum = item.cost();
        self.backlog.remove(quantum);
        Some(Grant { item, quantum })
    }

    #[inline]
    fn requeue(&mut self, _now: Instant, item: I, _used: I::Cost, _drops: &mut dyn Drops<I>) {
        self.backlog.add(item.cost());
        self.begun.push(item);
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let mut keep = self.backlog.less(keep);
        self.begun.retain(&mut keep);
        self.waiting.retain(&mut keep);
        self.is_drawn = false;
        true
    }

    #[inline]
    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use crate::discipline::{CountDrops, Open};
    use crate::item::{ClassId, FlowId, Message};
    use crate::message::schedule::schedule;
    use crate::units::Packets;

    conformance::suite!(conforms, || Ros::new(7), [work_conserving, resumable]);

    #[test]
    fn a_message_is_served_to_its_end() {
        assert_eq!(schedule("ros", "a3 . b1"), "aaab");
    }

    #[test]
    fn each_that_waits_is_as_likely_to_be_next() {
        let mut first = [0_u32; 5];
        let (mut ros, drops) = (Ros::new(3), &mut CountDrops::default());
        for _ in 0..10_000 {
            for id in 0..5 {
                let (flow, class) = (FlowId(0), ClassId(0));
                let message = Message { id, flow, class, remaining: Packets::new(1) };
                let _ = ros.enqueue(Instant::ZERO, message, drops);
            }
            let mut next = || ros.dequeue(Instant::ZERO, &Open, drops).expect("one waits").item.id;
            first[next() as usize] += 1;
            (0..4).for_each(|_| _ = next());
        }
        // Five standard deviations of a count of mean 2000.
        assert!(first.iter().all(|count| count.abs_diff(2_000) < 200), "{first:?}");
    }
}
