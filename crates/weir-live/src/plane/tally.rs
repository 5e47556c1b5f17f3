//! Counters, sized once: what the snapshot is made of.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work per packet | O(1) |
//! | Memory | 1.3 kB for each class of each interface |
//! | Units | packets, bytes of IP, nanoseconds |

use std::collections::BTreeMap;

use weir_core::discipline::DropReason;

use super::snapshot::{ClassSnapshot, Count, Reason, Sojourn};

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

/// Spans up to this power of two, in nanoseconds, have buckets of their own: 18 minutes.
const LONGEST: usize = 40;
/// How many buckets there are: four for each power of two from the second on, and one for each shorter span.
const BUCKETS: usize = 4 * (LONGEST - 1);

/// A histogram of spans, in powers of two, each divided into four.
#[derive(Clone, Debug)]
pub(super) struct Spans {
    sum: u64,
    longest: u64,
    buckets: [u64; BUCKETS],
}

impl Default for Spans {
    fn default() -> Self {
        Self { sum: 0, longest: 0, buckets: [0; BUCKETS] }
    }
}

/// The bucket of a span.
#[inline]
const fn bucket(span: u64) -> usize {
    if span < 4 {
        return span as usize;
    }
    let power = span.ilog2() as usize;
    let at = 4 * (power - 1) + (span >> (power - 2) & 3) as usize;
    if at < BUCKETS { at } else { BUCKETS - 1 }
}

/// The longest span of a bucket.
const fn upper_end(bucket: usize) -> u64 {
    if bucket < 4 {
        return bucket as u64;
    }
    if bucket == BUCKETS - 1 {
        return u64::MAX;
    }
    let (power, quarter) = (bucket / 4 + 1, bucket as u64 % 4);
    ((5 + quarter) << (power - 2)) - 1
}

impl Spans {
    /// Counts a span.
    #[inline]
    pub(super) fn add(&mut self, span: u64) {
        self.sum = self.sum.saturating_add(span);
        self.longest = self.longest.max(span);
        self.buckets[bucket(span)] += 1;
    }

    fn merge(&mut self, other: &Self) {
        self.sum = self.sum.saturating_add(other.sum);
        self.longest = self.longest.max(other.longest);
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(mine, other)| *mine += other);
    }

    fn snapshot(&self) -> Sojourn {
        let filled = (0..BUCKETS).filter(|&at| self.buckets[at] > 0);
        let buckets = filled.map(|at| (upper_end(at), self.buckets[at])).collect();
        Sojourn { sum_ns: self.sum, longest_ns: self.longest, buckets }
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
    fn a_span_lies_in_the_first_bucket_that_reaches_it() {
        let spans = (0..200).chain((2..64).flat_map(|power| {
            let two = 1_u64 << power;
            [two - 1, two, two + 1, two + two / 4, two + two / 2 - 1, two + two / 4 * 3]
        }));
        for span in spans.chain([u64::MAX]) {
            let at = bucket(span);
            assert!(span <= upper_end(at), "{span} {at}");
            assert!(at == 0 || span > upper_end(at - 1), "{span} {at}");
            assert!(at == BUCKETS - 1 || upper_end(at) - span <= span / 4, "{span}");
        }
        assert!((1..BUCKETS).all(|at| upper_end(at) > upper_end(at - 1)));
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
