//! In-order delivery: no message of an application overtakes an earlier one of the same application.
//!
//! A message is inserted with the larger of its own key and the key with which the application's previous
//! message was inserted. That key is forgotten when the application has nothing outstanding: a message is
//! outstanding from its submission until its last unit is committed (`finish`), or it is dropped. Equal
//! keys are served in the order of insertion, so it suffices that the keys do not decrease.
//!
//! A key is `alpha * length + clock` also where alpha is infinite (`sf`, `alpha:inf`) and where only lengths count
//! (`sjf`, `psjf`): among equal lengths the clock decides, and a message that takes over an earlier key takes over its
//! clock, as it does under an alpha of 10^6.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, *Alpha Message Scheduling for Packet-Switched Interconnects*, section 11 |
//! | Work per item | O(1) more than the discipline within |
//! | Units | those of the keys of the discipline within |
//! | Memory | one entry per application with something outstanding; grows to the largest number and stays |
//! | Departs from the source | where the discipline within raises keys of what waits (`update=recalculate`), an application's next message takes at least the largest of these, or it could overtake; an infinite alpha among others (`classes`), or with `update=recalculate`, has keys without a clock, and equal ones are served in the order of insertion |

use core::marker::PhantomData;

use super::clocked::Shortest;
use super::flows::Flows;
use super::{alpha, sf};
use crate::canonical::canonical;
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Effort, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::{FlowId, Item};
use crate::priority::{Key, Prioritized};
use crate::registry;
use crate::role::Role;
use crate::spec::{Argument, Spec, SpecError};
use crate::units::Instant;

/// What the listings say.
pub const INFO: Info = Info {
    name: "in_order",
    kind: Kind::Wrapper,
    title: "in-order delivery per flow",
    rule: "a message's key is at least that of its flow's previous message, while one is outstanding",
    source: "Cherkasova and Rokicki, alpha report, section 11",
    work: "O(1)",
    parameters: &[Parameter::required("discipline", Takes::Discipline(Role::Discipline))
        .listed("a priority discipline")
        .meaning("the discipline that orders the messages otherwise")],
    example: "in_order(alpha:10)",
};

/// Whether a spec orders by what remains alone: as `sf` does, and alpha scheduling whose only alpha is infinite.
fn is_shortest_first(ordered: &Spec) -> Result<bool, SpecError> {
    let ordered = canonical(ordered)?;
    let of_alpha = |argument: &Argument| argument.key.is_none() && argument.value.name == "inf";
    Ok(match ordered.arguments.as_slice() {
        [] => ordered.name == sf::INFO.name,
        [only] => ordered.name == alpha::INFO.name && of_alpha(only),
        _ => false,
    })
}

/// A flow that has something outstanding.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    outstanding: u64,
    /// The key with which its latest message was inserted.
    last: Key,
}

/// The flows that have something outstanding.
#[derive(Clone, Debug, Default)]
struct Table {
    flows: Flows<Flow>,
}

impl Table {
    #[inline]
    fn leave(&mut self, flow: FlowId) {
        if let Some(state) = self.flows.get_mut(&flow) {
            state.outstanding -= 1;
            if state.outstanding == 0 {
                self.flows.remove(&flow);
            }
        }
    }
}

/// Sees what the discipline within drops, and passes it on.
struct Leaving<'a, I> {
    table: &'a mut Table,
    drops: &'a mut dyn Drops<I>,
}

impl<I: Item> Drops<I> for Leaving<'_, I> {
    fn dropped(&mut self, item: I, reason: DropReason) {
        self.table.leave(item.flow());
        self.drops.dropped(item, reason);
    }
}

/// In-order delivery around a priority discipline.
#[derive(Clone, Debug)]
pub struct InOrder<I: Item, D: Prioritized<I>> {
    inner: D,
    table: Table,
    rebased: u128,
    item: PhantomData<fn(I)>,
}

impl<I: Item, D: Prioritized<I>> InOrder<I, D> {
    /// Keeps the order of each flow around `inner`, which must be empty.
    #[must_use]
    pub fn new(inner: D) -> Self {
        let rebased = inner.rebased();
        Self { inner, table: Table::default(), rebased, item: PhantomData }
    }

    /// Brings the stored keys to the clock of the discipline within.
    #[inline]
    fn rebase(&mut self) {
        let rebased = self.inner.rebased();
        if rebased != self.rebased {
            let amount = rebased.wrapping_sub(self.rebased);
            self.table.flows.values_mut().for_each(|flow| flow.last = flow.last.lowered(amount));
            self.rebased = rebased;
        }
    }
}

impl<I: Item + Send + 'static> InOrder<I, Box<dyn Prioritized<I> + Send>> {
    /// As a spec names it.
    ///
    /// # Errors
    /// The discipline within is missing, unknown, refused, or orders by no key.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let ordered = arguments.nested("discipline")?;
        let inner: Box<dyn Prioritized<I> + Send> = registry::priority_discipline(&ordered)?;
        Ok(Self::new(if is_shortest_first(&ordered)? { Box::new(Shortest::new()) } else { inner }))
    }
}

impl<I: Item, D: Prioritized<I>> Discipline<I> for InOrder<I, D> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        self.rebase();
        let mut key = self.inner.key(now, &item);
        let barrier = self.inner.barrier();
        let flow = self.table.flows.entry(item.flow()).or_default();
        if flow.outstanding > 0 {
            key = key.max(flow.last).max(barrier);
        }
        flow.outstanding += 1;
        flow.last = key;
        self.inner.enqueue_with_key(now, item, key, &mut Leaving { table: &mut self.table, drops })
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.inner.dequeue(now, gate, &mut Leaving { table: &mut self.table, drops })
    }

    #[inline]
    fn charge(&mut self, now: Instant, item: &I, used: I::Cost) {
        self.inner.charge(now, item, used);
    }

    #[inline]
    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        self.inner.requeue(now, item, used, &mut Leaving { table: &mut self.table, drops });
    }

    #[inline]
    fn finish(&mut self, now: Instant, item: &I, used: I::Cost) {
        self.inner.finish(now, item, used);
        self.table.leave(item.flow());
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        self.inner.next_event()
    }

    fn copied(&self) -> Option<Box<dyn Discipline<I> + Send>>
    where
        I: Clone + Send + 'static,
    {
        let inner = self.inner.copied_with_keys()?;
        Some(Box::new(InOrder { inner, table: self.table.clone(), rebased: self.rebased, item: PhantomData }))
    }

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let table = &mut self.table;
        self.inner.retain(&mut |item| {
            let stays = keep(item);
            if !stays {
                table.leave(item.flow());
            }
            stays
        })
    }

    #[inline]
    fn backlog(&self) -> Backlog<I::Cost> {
        self.inner.backlog()
    }

    #[inline]
    fn effort(&self) -> Option<Effort> {
        self.inner.effort()
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::schedule;

    #[test]
    fn a_flow_keeps_its_order() {
        // a has 50, then 40; b of the same flow takes 50 in place of 11, c of another has 11.
        assert_eq!(schedule("in_order(alpha:10)", "a5 . b1 c1/1"), "acaaaab");
        assert_eq!(schedule("alpha:10", "a5 . b1 c1/1"), "abcaaaa");
    }

    #[test]
    fn the_key_is_forgotten_when_nothing_is_outstanding() {
        // When c comes a has left, b has not: c takes b's 41, though a had 50. x has 30.
        assert_eq!(schedule("in_order(alpha:10)", "a2 .. c1 x3/1"), "aacxxx");
        assert_eq!(schedule("in_order(sf)", "a4 . b1 x2/1"), "axxaaab");
    }

    /// Finding B2: an infinite alpha decides as one of 10^6.
    #[test]
    fn b2_an_infinite_alpha_is_a_large_one() {
        // At tick 1 b preempts a, of which 19 are left; c of another flow has 20 at tick 2. Then d, of a's flow, takes
        // over a's 20 of tick 0, and stands before c.
        let script = "a20 . b1/1 . c20/1 d3";
        let expected = schedule("in_order(alpha:1000000)", script);
        assert!(expected.find('d') < expected.find('c'), "{expected}");
        for discipline in ["in_order(sf)", "in_order(alpha:inf)", "in_order(psjf)"] {
            assert_eq!(schedule(discipline, script), expected, "{discipline}");
        }
        assert_eq!(schedule("in_order(sjf)", script).find('d'), Some(21));
    }

    #[test]
    fn recalculation_keeps_the_order_too() {
        // At tick 4 a becomes 7 and is preempted by n; then b of the flow of x stays behind x, as it would
        // not with its own 6.5.
        let served = schedule("in_order(alpha(0.5,update=recalculate))", "a10 x12/1 .... n2/2 . b3/1");
        assert_eq!(served, format!("aaaannaaaaaa{}bbb", "x".repeat(12)));
    }
}
