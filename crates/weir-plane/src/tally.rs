//! Counters, sized once: what the snapshot is made of.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work per packet | O(1) |
//! | Memory | 1.3 kB for each class of each interface, 48 bytes for each subscriber |
//! | Units | packets, bytes of IP, nanoseconds |

use std::collections::BTreeMap;

use weir_core::discipline::DropReason;
use weir_gauge::spans::Spans;

use super::snapshot::{ClassSnapshot, Count, Reason};
use super::subscribers::SubscriberCounts;

/// Counts by reason.
#[derive(Clone, Debug)]
pub(super) struct Reasons([Count; Reason::ALL.len()]);

impl Default for Reasons {
    fn default() -> Self {
        Self([Count::default(); Reason::ALL.len()])
    }
}

impl Reasons {
    /// Counts a packet.
    pub(super) fn add(&mut self, reason: Reason, bytes: u16) {
        self.0[reason as usize].add(bytes.into());
    }

    /// Adds what another has counted.
    fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| merge(mine, *other));
    }

    /// Those that are not zero.
    pub(super) fn snapshot(&self) -> BTreeMap<Reason, Count> {
        let counted = Reason::ALL.into_iter().zip(self.0);
        counted.filter(|(_, count)| count.packets > 0).collect()
    }

    /// All together.
    #[cfg(test)]
    pub(super) fn packets(&self) -> u64 {
        self.0.iter().map(|count| count.packets).sum()
    }
}

fn merge(mine: &mut Count, other: Count) {
    mine.packets += other.packets;
    mine.bytes += other.bytes;
}

/// Counts a packet less.
pub(super) fn remove(count: &mut Count, bytes: u16) {
    count.packets = count.packets.saturating_sub(1);
    count.bytes = count.bytes.saturating_sub(bytes.into());
}

/// What the router calls what a discipline says.
pub(super) fn reason(reason: DropReason) -> Reason {
    match reason {
        DropReason::Congestion => Reason::Congestion,
        DropReason::TooLarge => Reason::TooLargeForDiscipline,
        DropReason::Unclassified => Reason::Unclassified,
        // What remains is of servers and tasks.
        _ => Reason::QueueFull,
    }
}

/// Whose a packet is, as it is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Whose {
    /// Its class.
    pub(super) class: u16,
    /// Its subscriber; 0 where there are none.
    pub(super) subscriber: u16,
}

/// What was counted at an interface, by class and by subscriber.
#[derive(Clone, Debug, Default)]
pub(super) struct Tallies {
    /// By class.
    pub(super) classes: Vec<ClassTally>,
    /// By subscriber; nothing where there are none.
    pub(super) subscribers: Vec<SubscriberCounts>,
}

impl Tallies {
    /// A tally of `classes` classes.
    pub(super) fn new(classes: usize) -> Self {
        Self { classes: vec![ClassTally::default(); classes], subscribers: Vec::new() }
    }

    #[inline]
    fn subscriber(&mut self, whose: Whose, count: impl FnOnce(&mut SubscriberCounts)) {
        if let Some(counts) = self.subscribers.get_mut(usize::from(whose.subscriber)) {
            count(counts);
        }
    }

    /// The class of a packet.
    #[inline]
    pub(super) fn class(&mut self, whose: Whose) -> &mut ClassTally {
        &mut self.classes[usize::from(whose.class)]
    }

    /// A packet is offered, and waits until it is forwarded or lost.
    #[inline]
    pub(super) fn offer(&mut self, whose: Whose, bytes: u16) {
        self.class(whose).offer(bytes);
        self.subscriber(whose, |counts| counts.waiting.add(bytes.into()));
    }

    /// A packet waits that was offered elsewhere.
    pub(super) fn inherit(&mut self, whose: Whose, bytes: u16) {
        self.class(whose).inherit(bytes);
        self.subscriber(whose, |counts| counts.waiting.add(bytes.into()));
    }

    /// A packet left.
    #[inline]
    pub(super) fn forward(&mut self, whose: Whose, bytes: u16) {
        self.class(whose).forward(bytes);
        self.subscriber(whose, |counts| {
            counts.forwarded.add(bytes.into());
            remove(&mut counts.waiting, bytes);
        });
    }

    /// A packet was dropped.
    pub(super) fn lose(&mut self, whose: Whose, reason: Reason, bytes: u16) {
        self.class(whose).lose(reason, bytes);
        self.subscriber(whose, |counts| {
            counts.dropped.add(bytes.into());
            remove(&mut counts.waiting, bytes);
        });
    }

    /// A packet that had left was not taken after all.
    pub(super) fn fail(&mut self, whose: Whose, bytes: u16) {
        self.class(whose).fail(bytes);
        self.subscriber(whose, |counts| {
            remove(&mut counts.forwarded, bytes);
            counts.dropped.add(bytes.into());
        });
    }
}

/// What was counted of a class at the interface that it leaves by.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassTally {
    /// Offered to the queue.
    pub(super) offered: Count,
    /// Left.
    pub(super) forwarded: Count,
    /// Marked with congestion.
    pub(super) marked: Count,
    /// Dropped at the queue or behind it.
    pub(super) dropped: Reasons,
    /// Waiting now.
    pub(super) waiting: Count,
    /// From arrival to the end of transmission.
    pub(super) sojourn: Spans,
}

impl ClassTally {
    /// A packet is offered, and waits until it is forwarded or lost.
    #[inline]
    pub(super) fn offer(&mut self, bytes: u16) {
        self.offered.add(bytes.into());
        self.waiting.add(bytes.into());
    }

    /// A packet waits that was offered elsewhere.
    pub(super) fn inherit(&mut self, bytes: u16) {
        self.waiting.add(bytes.into());
    }

    /// A packet left.
    #[inline]
    pub(super) fn forward(&mut self, bytes: u16) {
        self.forwarded.add(bytes.into());
        remove(&mut self.waiting, bytes);
    }

    /// A packet was dropped.
    pub(super) fn lose(&mut self, reason: Reason, bytes: u16) {
        self.dropped.add(reason, bytes);
        remove(&mut self.waiting, bytes);
    }

    /// A packet that had left was not taken after all.
    pub(super) fn fail(&mut self, bytes: u16) {
        remove(&mut self.forwarded, bytes);
        self.dropped.add(Reason::InterfaceDown, bytes);
    }

    /// Adds what another has counted.
    pub(super) fn merge(&mut self, other: &Self) {
        merge(&mut self.offered, other.offered);
        merge(&mut self.forwarded, other.forwarded);
        merge(&mut self.marked, other.marked);
        merge(&mut self.waiting, other.waiting);
        self.dropped.merge(&other.dropped);
        self.sojourn.merge(&other.sojourn);
    }

    /// As it is reported.
    pub(super) fn snapshot(&self, name: &str, oldest_ns: u64) -> ClassSnapshot {
        ClassSnapshot {
            name: name.to_owned(),
            offered: self.offered,
            forwarded: self.forwarded,
            marked: self.marked,
            dropped: self.dropped.snapshot(),
            waiting: self.waiting,
            oldest_ns,
            sojourn: self.sojourn.snapshot(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_own_counter() {
        let mut reasons = Reasons::default();
        for (bytes, reason) in (1..).zip(Reason::ALL) {
            reasons.add(reason, bytes);
        }
        let snapshot = reasons.snapshot();
        assert_eq!(snapshot.len(), Reason::ALL.len());
        for (bytes, reason) in (1..).zip(Reason::ALL) {
            assert_eq!(snapshot[&reason], Count { packets: 1, bytes });
        }
    }

    #[test]
    fn what_was_offered_waits_until_it_left_or_was_lost() {
        let mut tally = ClassTally::default();
        (1..=4).for_each(|bytes| tally.offer(bytes));
        tally.forward(1);
        tally.lose(Reason::QueueFull, 2);
        tally.fail(1);
        assert_eq!(tally.waiting, Count { packets: 2, bytes: 7 });
        assert_eq!(tally.offered, Count { packets: 4, bytes: 10 });
        assert_eq!((tally.forwarded, tally.dropped.packets()), (Count::default(), 2));
    }
}
