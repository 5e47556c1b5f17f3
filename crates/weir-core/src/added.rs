//! Disciplines that a program adds to those of the registry, under names of their own.
//!
//! They are added once, before scenarios are read; from then on models, comparisons, listings and wrappers find them by
//! name, as they find those of this crate. An added discipline orders [`Handle`]s, because it is not known here which items
//! an engine has: [`Erased`] keeps the engine's items, hands handles to the discipline, and gives back the item of each
//! handle that returns. A handle can neither be copied nor made by others, so that no item is served twice.
//!
//! The list of what was added stands behind a lock, which is taken where a spec is read and never while items are served.
//!
//! | | |
//! |-|-|
//! | Source | type erasure by an index in place of the value (a slot map) |
//! | Work per item | that of the discipline, one call through a pointer, and O(1) for the slot |
//! | Units | a message's cost in its own unit, counted in [`Packets`]; a packet's in [`Bytes`] |
//! | Memory | one slot per item in the queue; grows to the largest number and stays |
//! | Departs from the contract | an item cannot be marked with congestion through its handle |

use core::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use crate::discipline::{Backlog, Discipline, DropReason, Drops, Effort, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind};
use crate::item::{Addresses, ClassId, FlowId, Item};
use crate::registry;
use crate::spec::SpecError;
use crate::units::{Bytes, Cost, Instant, Packets};

/// The longest name that is taken, in bytes.
const LONGEST_NAME: usize = 64;

/// An item as an added discipline has it.
#[derive(Debug, PartialEq, Eq)]
pub struct Handle<C: Cost> {
    slot: u32,
    flow: FlowId,
    class: ClassId,
    addresses: Addresses,
    cost: C,
}

impl<C: Cost> Handle<C> {
    /// Names the item among those in the queue; free again when the item has left.
    #[must_use]
    pub fn slot(&self) -> u32 {
        self.slot
    }
}

impl<C: Cost> Item for Handle<C> {
    type Cost = C;
    #[inline]
    fn flow(&self) -> FlowId {
        self.flow
    }
    #[inline]
    fn class(&self) -> ClassId {
        self.class
    }
    #[inline]
    fn cost(&self) -> C {
        self.cost
    }
    #[inline]
    fn addresses(&self) -> Addresses {
        self.addresses
    }
}

/// An added discipline, boxed.
pub type Boxed<C> = Box<dyn Discipline<Handle<C>> + Send>;

/// What makes an added discipline from the arguments of a spec.
pub type Make<C> = Arc<dyn Fn(&Arguments<'_>) -> Result<Boxed<C>, SpecError> + Send + Sync>;

/// What is added: how one is made, by what it orders.
#[derive(Clone)]
pub enum Maker {
    /// Messages.
    Message(Make<Packets>),
    /// Packets at a link.
    Packet(Make<Bytes>),
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().name())
    }
}

impl Maker {
    fn kind(&self) -> Kind {
        match self {
            Self::Message(_) => Kind::Message,
            Self::Packet(_) => Kind::Packet,
        }
    }
}

/// Why a discipline was not added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddError {
    /// This crate has a discipline of that name.
    Taken(String),
    /// The name is empty or too long, or a spec could not name it.
    Name(String),
    /// The description says another kind than the maker.
    Kind {
        /// What the description says.
        described: Kind,
        /// What the maker makes.
        made: Kind,
    },
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(name) => write!(f, "`{name}` is the name of a discipline of weir, choose another"),
            Self::Name(name) => write!(
                f,
                "the name is `{}`, must have from 1 to {LONGEST_NAME} letters, digits or underscores",
                crate::excerpt::shorten(name)
            ),
            Self::Kind { described, made } => {
                write!(f, "the description says `{}`, but a `{}` is made", described.name(), made.name())
            }
        }
    }
}

impl core::error::Error for AddError {}

/// What was added, in that order.
static ADDED: RwLock<Vec<(&'static Info, Maker)>> = RwLock::new(Vec::new());

/// Adds a discipline, in place of one that was added under the same name before.
///
/// # Errors
/// [`AddError`]; nothing is changed then.
pub fn add(info: &'static Info, maker: Maker) -> Result<(), AddError> {
    let is_word = info.name.bytes().all(|each| each.is_ascii_alphanumeric() || each == b'_');
    if !is_word || info.name.is_empty() || info.name.len() > LONGEST_NAME {
        return Err(AddError::Name(info.name.to_owned()));
    }
    if registry::own().any(|own| own.name == info.name) {
        return Err(AddError::Taken(info.name.to_owned()));
    }
    if info.kind != maker.kind() {
        return Err(AddError::Kind { described: info.kind, made: maker.kind() });
    }
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    added.retain(|(other, _)| other.name != info.name);
    added.push((info, maker));
    Ok(())
}

/// Takes away a discipline that was added; whether there was one. Queues that were made of it stay.
pub fn remove(name: &str) -> bool {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    let before = added.len();
    added.retain(|(info, _)| info.name != name);
    added.len() < before
}

/// The descriptions of what was added, in that order.
#[must_use]
pub fn added() -> Vec<&'static Info> {
    ADDED.read().unwrap_or_else(PoisonError::into_inner).iter().map(|(info, _)| *info).collect()
}

fn find(name: &str) -> Option<(&'static Info, Maker)> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    added.iter().find(|(info, _)| info.name == name).cloned()
}

/// What was added for messages under a name.
pub(crate) fn message(name: &str) -> Option<(&'static Info, Make<Packets>)> {
    match find(name)? {
        (info, Maker::Message(make)) => Some((info, make)),
        _ => None,
    }
}

/// What was added for packets under a name.
pub(crate) fn packet(name: &str) -> Option<(&'static Info, Make<Bytes>)> {
    match find(name)? {
        (info, Maker::Packet(make)) => Some((info, make)),
        _ => None,
    }
}

/// An added discipline as one of an engine's items.
pub struct Erased<I: Item, C: Cost> {
    inner: Boxed<C>,
    /// The item of each slot; none where the slot is free, or its item is that of the open grant.
    items: Vec<Option<I>>,
    free: Vec<u32>,
    /// The handle of the open grant.
    open: Option<Handle<C>>,
    dropped: Vec<(Handle<C>, DropReason)>,
}

impl<I: Item, C: Cost> fmt::Debug for Erased<I, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Erased").field("backlog", &self.backlog()).finish_non_exhaustive()
    }
}

impl<I: Item, C: Cost> Erased<I, C> {
    /// The discipline over an engine's items.
    #[must_use]
    pub fn new(inner: Boxed<C>) -> Self {
        Self { inner, items: Vec::new(), free: Vec::new(), open: None, dropped: Vec::new() }
    }

    /// A slot for an item, and the handle of it.
    fn hold(&mut self, item: I) -> Handle<C> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.items.push(None);
            // An engine numbers its items with as many bits.
            (self.items.len() - 1) as u32
        });
        let handle = Handle {
            slot,
            flow: item.flow(),
            class: item.class(),
            addresses: item.addresses(),
            cost: C::of(item.cost().count()),
        };
        self.items[slot as usize] = Some(item);
        handle
    }

    fn release(&mut self, slot: u32) -> Option<I> {
        self.free.push(slot);
        self.items[slot as usize].take()
    }

    /// Hands on what the discipline has dropped.
    fn hand_on(&mut self, drops: &mut dyn Drops<I>) {
        while let Some((handle, reason)) = self.dropped.pop() {
            if let Some(item) = self.release(handle.slot) {
                drops.dropped(item, reason);
            }
        }
    }
}

/// The engine's gate over handles.
struct Through<'a, I> {
    gate: &'a dyn Gate<I>,
    items: &'a [Option<I>],
}

impl<I, C: Cost> Gate<Handle<C>> for Through<'_, I> {
    fn permits(&self, head: &Handle<C>) -> bool {
        self.items[head.slot as usize].as_ref().is_some_and(|item| self.gate.permits(item))
    }
}

impl<I: Item, C: Cost> Discipline<I> for Erased<I, C> {
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let handle = self.hold(item);
        let enqueued = self.inner.enqueue(now, handle, &mut self.dropped);
        self.hand_on(drops);
        enqueued
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let granted = self.inner.dequeue(now, &Through { gate, items: &self.items }, &mut self.dropped);
        self.hand_on(drops);
        let Grant { item: handle, quantum } = granted?;
        let item = self.items[handle.slot as usize].take()?;
        self.open = Some(handle);
        Some(Grant { item, quantum: I::Cost::of(quantum.count()) })
    }

    fn charge(&mut self, now: Instant, _item: &I, used: I::Cost) {
        if let Some(open) = &self.open {
            self.inner.charge(now, open, C::of(used.count()));
        }
    }

    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        let handle = match self.open.take() {
            Some(open) => {
                let cost = C::of(item.cost().count());
                self.items[open.slot as usize] = Some(item);
                Handle { cost, ..open }
            }
            // Without a grant to end, it is a newcomer.
            None => self.hold(item),
        };
        self.inner.requeue(now, handle, C::of(used.count()), &mut self.dropped);
        self.hand_on(drops);
    }

    fn finish(&mut self, now: Instant, _item: &I, used: I::Cost) {
        if let Some(open) = self.open.take() {
            self.inner.finish(now, &open, C::of(used.count()));
            self.release(open.slot);
        }
    }

    fn next_event(&self) -> Option<Instant> {
        self.inner.next_event()
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        let backlog = self.inner.backlog();
        Backlog { items: backlog.items, cost: I::Cost::of(backlog.cost.count()) }
    }

    fn effort(&self) -> Option<Effort> {
        self.inner.effort()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{self, Promises};
    use crate::info::{Parameter, Takes};
    use crate::item::{Message, Packet};
    use crate::message::{fifo::Fifo, las::Las, psjf::Psjf};
    use crate::packet::drr::Drr;
    use crate::spec::Spec;

    conformance::suite!(
        conforms,
        || Erased::new(Box::new(Psjf::<Handle<Packets>>::new())),
        [work_conserving, resumable]
    );

    fn parsed(text: &str) -> Spec {
        text.parse().expect(text)
    }

    #[test]
    fn decides_as_the_discipline_itself() {
        let promises = Promises { work_conserving: true, flow_order: false, resumable: true };
        let erased = || Erased::new(Box::new(Psjf::<Handle<Packets>>::new()));
        conformance::agree::<Message, _, _>(erased, Psjf::new, promises);
        let las = || Las::<Handle<Packets>>::new(Packets::new(3)).expect("valid");
        conformance::agree::<Message, _, _>(
            || Erased::new(Box::new(las())),
            || Las::new(Packets::new(3)).expect("valid"),
            promises,
        );
    }

    const LOCAL: Info = Info {
        name: "local_las",
        kind: Kind::Message,
        title: "a discipline of a test",
        rule: "as las",
        source: "this test",
        work: "O(log n)",
        parameters: &[Parameter::new("quantum", Takes::Turn, "1").meaning("how much is served in a turn")],
        example: "local_las:2",
    };

    #[test]
    fn what_was_added_is_found_by_its_name() {
        assert!(registry::message_discipline::<Message>(&parsed("local_las")).is_err());
        let make: Make<Packets> = Arc::new(|arguments| Ok(Box::new(Las::from_spec(arguments)?)));
        add(&LOCAL, Maker::Message(Arc::clone(&make))).expect("a new name");
        assert!(registry::message_discipline::<Message>(&parsed("local_las:3")).is_ok());
        assert!(registry::message_discipline::<Message>(&parsed("outstanding(local_las:3,limit=2)")).is_ok());
        assert_eq!(registry::info("local_las").expect("added").title, "a discipline of a test");
        let refused = registry::message_discipline::<Message>(&parsed("local_las:0"));
        assert!(refused.err().expect("zero").to_string().contains("`local_las`: quantum is `0`"));
        let refused = registry::packet_discipline::<Packet>(&parsed("local_las")).err().expect("of messages");
        assert!(refused.to_string().contains("orders messages"), "{refused}");
        add(&LOCAL, Maker::Message(make)).expect("in its own place");
        assert_eq!(registry::named("local_las").count(), 1);
        assert!(remove("local_las") && !remove("local_las") && !remove("fifo"));
        assert_eq!(registry::named("local_las").count(), 0);
    }

    #[test]
    fn a_discipline_of_packets_is_added_too() {
        static INFO: Info = Info { name: "local_drr", kind: Kind::Packet, ..crate::packet::drr::INFO };
        let make: Make<Bytes> = Arc::new(|arguments| Ok(Box::new(Drr::from_spec(arguments)?)));
        add(&INFO, Maker::Packet(make)).expect("a new name");
        let spec = parsed("tbf(local_drr,rate=10Mbit,burst=15140B)");
        assert!(registry::packet_discipline::<Packet>(&spec).is_ok());
    }

    #[test]
    fn refusals_say_why() {
        let fifo = || Maker::Message(Arc::new(|_: &Arguments<'_>| Ok(Box::new(Fifo::new()))));
        let refused = |info: &'static Info| add(info, fifo()).expect_err("refused").to_string();
        static TAKEN: Info = Info { name: "drr", ..LOCAL };
        static SPACED: Info = Info { name: "two words", ..LOCAL };
        static OTHER: Info = Info { kind: Kind::Packet, name: "local_other", ..LOCAL };
        assert_eq!(refused(&TAKEN), "`drr` is the name of a discipline of weir, choose another");
        assert!(refused(&SPACED).starts_with("the name is `two words`, must have from 1 to 64 letters"));
        assert_eq!(refused(&OTHER), "the description says `packet`, but a `message` is made");
    }
}
