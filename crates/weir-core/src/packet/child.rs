//! A discipline within another that has one for each of its queues.
//!
//! First in, first out, which most of them are, stands in the table of queues itself and is called directly; any other
//! stands behind a pointer, so that a table is no larger than that of the most common.

use core::any::Any;

use super::fifo::Fifo;
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Effort, Enqueued, Gate, Grant};
use crate::item::Item;
use crate::registry::{Visitor, visit_packet};
use crate::spec::{Spec, SpecError};
use crate::units::{Bytes, Instant};

/// The discipline.
pub enum Child<I: Item> {
    /// First in, first out.
    Fifo(Fifo<I>),
    /// Any other.
    Other(Box<dyn Discipline<I> + Send>),
}

/// Makes them.
pub type ChildFactory<I> = Box<dyn Fn() -> Child<I> + Send>;

/// What makes the packet discipline that `spec` names, as often as it is asked.
///
/// # Errors
/// The name is not registered, or an argument is refused.
pub(super) fn child_factory<I>(spec: &Spec) -> Result<ChildFactory<I>, SpecError>
where
    I: Item<Cost = Bytes> + Send + 'static,
{
    drop(visit_packet::<I, _>(spec, Within)?);
    let spec = spec.clone();
    Ok(Box::new(move || visit_packet(&spec, Within).expect("the spec has made one before")))
}

/// Takes a discipline of any type for a child.
struct Within;

impl<I: Item + Send + 'static> Visitor<I> for Within {
    type Output = Child<I>;

    fn visit<D: Discipline<I> + Send + 'static>(self, make: impl Fn() -> D) -> Child<I> {
        let mut made = Some(make());
        let any: &mut dyn Any = &mut made;
        let fifo = any.downcast_mut::<Option<Fifo<I>>>().and_then(Option::take);
        fifo.map_or_else(|| Child::Other(Box::new(made.unwrap_or_else(make))), Child::Fifo)
    }
}

impl<I: Item> Discipline<I> for Child<I> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        match self {
            // As `Fifo` does it, without a call that takes the item on either path: for that it would be copied.
            Self::Fifo(fifo) if fifo.admits(&item) => fifo.append(item),
            Self::Fifo(_) => drops.dropped(item, DropReason::QueueFull),
            Self::Other(other) => return other.enqueue(now, item, drops),
        }
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        match self {
            Self::Fifo(fifo) => fifo.dequeue(now, gate, drops),
            // Put together anew, so that the grant of the other arm need not lie in memory.
            Self::Other(other) => {
                let Grant { item, quantum } = other.dequeue(now, gate, drops)?;
                Some(Grant { item, quantum })
            }
        }
    }

    #[inline]
    fn charge(&mut self, now: Instant, item: &I, used: I::Cost) {
        match self {
            Self::Fifo(fifo) => fifo.charge(now, item, used),
            Self::Other(other) => other.charge(now, item, used),
        }
    }

    #[inline]
    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        match self {
            Self::Fifo(fifo) => fifo.requeue(now, item, used, drops),
            Self::Other(other) => other.requeue(now, item, used, drops),
        }
    }

    #[inline]
    fn finish(&mut self, now: Instant, item: &I, used: I::Cost) {
        match self {
            Self::Fifo(fifo) => fifo.finish(now, item, used),
            Self::Other(other) => other.finish(now, item, used),
        }
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        match self {
            Self::Fifo(fifo) => fifo.next_event(),
            Self::Other(other) => other.next_event(),
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog<I::Cost> {
        match self {
            Self::Fifo(fifo) => fifo.backlog(),
            Self::Other(other) => other.backlog(),
        }
    }

    #[inline]
    fn effort(&self) -> Option<Effort> {
        match self {
            Self::Fifo(fifo) => fifo.effort(),
            Self::Other(other) => other.effort(),
        }
    }

    fn copied(&self) -> Option<Box<dyn Discipline<I> + Send>>
    where
        I: Clone + Send + 'static,
    {
        match self {
            Self::Fifo(fifo) => fifo.copied(),
            Self::Other(other) => other.copied(),
        }
    }

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        match self {
            Self::Fifo(fifo) => fifo.retain(keep),
            Self::Other(other) => other.retain(keep),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Packet;

    #[test]
    fn only_first_in_first_out_stands_in_the_table() {
        let child = |text: &str| child_factory::<Packet>(&text.parse().expect("a spec")).map(|make| make());
        assert!(matches!(child("fifo"), Ok(Child::Fifo(_))));
        assert!(matches!(child("fifo:limit=9pkt"), Ok(Child::Fifo(_))));
        assert!(matches!(child("drr"), Ok(Child::Other(_))));
        assert!(child("fifo:limit=0pkt").is_err());
    }
}
