//! A limit on the outstanding messages of an application.
//!
//! A message submitted while its application has as many outstanding as the limit allows waits outside,
//! in the application's own order, and enters when one of the application's messages leaves (its last
//! unit is committed, or it is dropped). What waits outside counts as backlog.
//!
//! A message that enters is an arrival at the discipline within, at the instant at which the other left.
//! Should that discipline drop it, the drop is reported at the next call that can report one.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, *Alpha Message Scheduling for Packet-Switched Interconnects*, section 12 |
//! | Work per item | O(1) more than the discipline within |
//! | Units | `limit`: messages |
//! | Memory | one entry per application with something outstanding, one slot per message outside |
//! | Departs from the source | no |

use core::fmt;

use super::flows::Flows;
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Effort, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::{FlowId, Item};
use crate::registry;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Cost, Instant};

/// What the listings say.
pub const INFO: Info = Info {
    name: "outstanding",
    kind: Kind::Wrapper,
    title: "limit on outstanding messages per flow",
    rule: "a flow's messages above the limit wait outside and enter as others of the flow leave",
    source: "Cherkasova and Rokicki, alpha report, section 12",
    work: "O(1)",
    parameters: &[
        Parameter::required("discipline", Takes::Discipline(Role::Discipline))
            .listed("a message discipline")
            .meaning("the discipline that orders the messages that have entered"),
        Parameter::required("limit", Takes::Whole(1..=u64::MAX))
            .listed("messages, at least 1")
            .meaning("how many messages of a flow may have entered and not left"),
    ],
    example: "outstanding(alpha:10,limit=4)",
};

/// Why a limit was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// Nobody could ever enter.
    Limit,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit => f.write_str("limit is 0, must be at least 1 message"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// A flow that has something outstanding.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    outstanding: u64,
    first: Option<usize>,
    last: Option<usize>,
}

/// A message outside, or an empty slot; `next` is the flow's next message, or the next empty slot.
#[derive(Clone, Debug)]
struct Slot<I> {
    item: Option<I>,
    next: Option<usize>,
}

/// The messages that wait outside, a chain of slots for each flow.
#[derive(Clone, Debug)]
struct Outside<I: Item> {
    slots: Vec<Slot<I>>,
    empty: Option<usize>,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Outside<I> {
    fn append(&mut self, flow: &mut Flow, item: I) {
        self.backlog.add(item.cost());
        let slot = Slot { item: Some(item), next: None };
        let at = self.empty.unwrap_or(self.slots.len());
        if at == self.slots.len() {
            self.slots.push(slot);
        } else {
            self.empty = self.slots[at].next;
            self.slots[at] = slot;
        }
        match flow.last {
            Some(last) => self.slots[last].next = Some(at),
            None => flow.first = Some(at),
        }
        flow.last = Some(at);
    }

    fn take(&mut self, flow: &mut Flow) -> Option<I> {
        let at = flow.first?;
        flow.first = self.slots[at].next;
        if flow.first.is_none() {
            flow.last = None;
        }
        self.slots[at].next = self.empty;
        self.empty = Some(at);
        let item = self.slots[at].item.take()?;
        self.backlog.remove(item.cost());
        Some(item)
    }
}

/// Notes whose messages the discipline within drops, and passes them on.
struct Leaving<'a, I> {
    left: &'a mut Vec<FlowId>,
    drops: &'a mut dyn Drops<I>,
}

impl<I: Item> Drops<I> for Leaving<'_, I> {
    fn dropped(&mut self, item: I, reason: DropReason) {
        self.left.push(item.flow());
        self.drops.dropped(item, reason);
    }
}

/// A limit on the outstanding messages of a flow, around a discipline.
#[derive(Clone, Debug)]
pub struct Outstanding<I: Item, D: Discipline<I>> {
    inner: D,
    limit: u64,
    flows: Flows<Flow>,
    outside: Outside<I>,
    /// Whose messages have been dropped in this call.
    left: Vec<FlowId>,
    /// Dropped in a call that could not report it.
    unreported: Vec<(I, DropReason)>,
}

impl<I: Item, D: Discipline<I>> Outstanding<I, D> {
    /// Lets at most `limit` messages of a flow enter `inner`, which must be empty.
    ///
    /// # Errors
    /// The limit is nothing.
    pub fn new(inner: D, limit: u64) -> Result<Self, ConfigError> {
        if limit == 0 {
            return Err(ConfigError::Limit);
        }
        let outside = Outside { slots: Vec::new(), empty: None, backlog: Backlog::default() };
        Ok(Self { inner, limit, flows: Flows::default(), outside, left: Vec::new(), unreported: Vec::new() })
    }

    /// One message of `flow` has left; the next that waits outside takes its place.
    fn leave(&mut self, now: Instant, flow: FlowId, drops: &mut dyn Drops<I>) -> Enqueued {
        let Some(state) = self.flows.get_mut(&flow) else { return Enqueued::Queued };
        if let Some(item) = self.outside.take(state) {
            return self.inner.enqueue(now, item, &mut Leaving { left: &mut self.left, drops });
        }
        state.outstanding -= 1;
        if state.outstanding == 0 {
            self.flows.remove(&flow);
        }
        Enqueued::Queued
    }

    /// Lets enter whoever waits for what has been dropped, which may be dropped in turn.
    #[inline]
    fn settle(&mut self, now: Instant, mut enqueued: Enqueued, drops: &mut dyn Drops<I>) -> Enqueued {
        while let Some(flow) = self.left.pop() {
            if self.leave(now, flow, drops) == Enqueued::Preempts {
                enqueued = Enqueued::Preempts;
            }
        }
        enqueued
    }

    #[inline]
    fn report(&mut self, drops: &mut dyn Drops<I>) {
        for (item, reason) in self.unreported.drain(..) {
            drops.dropped(item, reason);
        }
    }
}

impl<I: Item + Send + 'static> Outstanding<I, Box<dyn Discipline<I> + Send>> {
    /// As a spec names it.
    ///
    /// # Errors
    /// The discipline within is missing, unknown or refused, or the limit is.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let inner = registry::message_discipline(&arguments.nested("discipline")?)?;
        let limit = arguments.whole("limit")?;
        Self::new(inner, limit)
            .map_err(|_| arguments.error("limit", "is 0, must be at least 1 message".to_owned()))
    }
}

impl<I: Item, D: Discipline<I>> Discipline<I> for Outstanding<I, D> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        self.report(drops);
        let flow = self.flows.entry(item.flow()).or_default();
        if flow.outstanding >= self.limit {
            self.outside.append(flow, item);
            return Enqueued::Queued;
        }
        flow.outstanding += 1;
        let enqueued = self.inner.enqueue(now, item, &mut Leaving { left: &mut self.left, drops });
        self.settle(now, enqueued, drops)
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.report(drops);
        loop {
            let grant = self.inner.dequeue(now, gate, &mut Leaving { left: &mut self.left, drops });
            let dropped = !self.left.is_empty();
            // An open grant that is outranked only now is left alone until its next boundary.
            let _ = self.settle(now, Enqueued::Queued, drops);
            // Who has entered in the place of a dropped one may be served at once.
            if grant.is_some() || !dropped {
                return grant;
            }
        }
    }

    #[inline]
    fn charge(&mut self, now: Instant, item: &I, used: I::Cost) {
        self.inner.charge(now, item, used);
    }

    #[inline]
    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        self.report(drops);
        self.inner.requeue(now, item, used, &mut Leaving { left: &mut self.left, drops });
        // No grant is open that could be preempted, here and in `finish`.
        let _ = self.settle(now, Enqueued::Queued, drops);
    }

    #[inline]
    fn finish(&mut self, now: Instant, item: &I, used: I::Cost) {
        self.inner.finish(now, item, used);
        let mut unreported = core::mem::take(&mut self.unreported);
        let entered = self.leave(now, item.flow(), &mut unreported);
        let _ = self.settle(now, entered, &mut unreported);
        self.unreported = unreported;
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        self.inner.next_event()
    }

    fn copied(&self) -> Option<Box<dyn Discipline<I> + Send>>
    where
        I: Clone + Send + 'static,
    {
        Some(Box::new(Outstanding {
            inner: self.inner.copied()?,
            limit: self.limit,
            flows: self.flows.clone(),
            outside: self.outside.clone(),
            left: self.left.clone(),
            unreported: self.unreported.clone(),
        }))
    }

    #[inline]
    fn backlog(&self) -> Backlog<I::Cost> {
        let mut backlog = self.inner.backlog();
        backlog.items += self.outside.backlog.items;
        backlog.cost = backlog.cost.plus(self.outside.backlog.cost);
        self.unreported.iter().for_each(|(item, _)| backlog.add(item.cost()));
        backlog
    }

    #[inline]
    fn effort(&self) -> Option<Effort> {
        self.inner.effort()
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::schedule;
    use super::*;
    use crate::discipline::{CountDrops, Open};
    use crate::item::Message;
    use crate::message::fifo::Fifo;
    use crate::units::Packets;

    #[test]
    fn messages_above_the_limit_wait_outside() {
        // b waits for a to leave, c is of another flow.
        assert_eq!(schedule("outstanding(sf,limit=1)", "a5 . b1 c2/1"), "accaaaab");
        assert_eq!(schedule("outstanding(sf,limit=2)", "a5 . b1 c2/1"), "abccaaaa");
        // c, d and e enter in their order as those before them leave.
        assert_eq!(schedule("outstanding(sf,limit=1)", "c3 d2 e1 x9/1"), "cccddexxxxxxxxx");
    }

    #[test]
    fn a_limit_of_nothing_is_refused() {
        let error = Outstanding::new(Fifo::<Message>::new(), 0).map(drop).expect_err("nothing");
        assert_eq!(error.to_string(), "limit is 0, must be at least 1 message");
    }

    /// Drops whatever is longer than one packet.
    struct Short(Fifo<Message>);

    impl Discipline<Message> for Short {
        fn enqueue(&mut self, now: Instant, item: Message, drops: &mut dyn Drops<Message>) -> Enqueued {
            if item.remaining > Packets::ONE {
                drops.dropped(item, DropReason::TooLarge);
                return Enqueued::Queued;
            }
            self.0.enqueue(now, item, drops)
        }
        fn dequeue(
            &mut self,
            now: Instant,
            gate: &dyn Gate<Message>,
            drops: &mut dyn Drops<Message>,
        ) -> Option<Grant<Message>> {
            self.0.dequeue(now, gate, drops)
        }
        fn backlog(&self) -> Backlog<Packets> {
            self.0.backlog()
        }
    }

    #[test]
    fn drops_let_the_next_enter_and_are_reported_once() {
        let message = |id, length| Message {
            id,
            flow: FlowId(1),
            class: Default::default(),
            remaining: Packets::new(length),
        };
        let mut discipline = Outstanding::new(Short(Fifo::new()), 1).expect("one");
        let (now, drops) = (Instant::ZERO, &mut CountDrops(0));
        for (id, length) in [(0, 1), (1, 2), (2, 2), (3, 1)] {
            let _ = discipline.enqueue(now, message(id, length), drops);
        }
        assert_eq!((discipline.backlog().items, drops.0), (4, 0));
        let first = discipline.dequeue(now, &Open, drops).expect("the first");
        // 1 and 2 are dropped as they enter, which `finish` cannot report, and 3 enters.
        discipline.finish(now, &first.item, Packets::ONE);
        assert_eq!((discipline.backlog().items, drops.0), (3, 0));
        let last = discipline.dequeue(now, &Open, drops).expect("the last");
        assert_eq!((last.item.id, drops.0, discipline.backlog()), (3, 2, Backlog::default()));
        discipline.finish(now, &last.item, Packets::ONE);
        assert!(discipline.flows.is_empty());
    }
}
