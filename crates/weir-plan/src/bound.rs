//! How long a class can wait: the worst service gap of its entries and what a packet's latency is bounded by.
//!
//! A packet that is the first of its class to wait has left after, at most,
//!
//! - one packet of its own class, which may be in transmission: the MTU;
//! - the *gap*: what the other classes are served between two entries of its own, or in a round;
//! - what they *carry* into it: of each up to MTU - 1 credits of deficit kept from before (deficit table and deficit
//!   round robin), or of each entry as much by a last packet larger than the weight that remains (weighted table);
//! - itself: the MTU.
//!
//! A foreign packet in transmission is part of the gap: it was sent on an entry there. The bound holds at one output
//! whose link has credits for the class; over several outputs the bounds add up. Whoever stands behind others of the
//! same class waits a gap more for each turn that they take.
//!
//! | scheduler | gap | carried |
//! |---|---|---|
//! | deficit table | weights of the foreign entries in between | (MTU - 1) for each class among them |
//! | weighted table | the same | (MTU - 1) for each of those entries |
//! | basic table | one MTU for each foreign entry in between | nothing |
//! | deficit round robin | frame less the quantum of the class | (MTU - 1) for each other class |
//!
//! Quanta are those that are written for the target (`written.rs`). Linux counts a header with each packet, which its
//! quanta and bounds of deficit round robin include.
//!
//! Of the gaps of a class the one that gives the largest bound counts; for the gap alone, as it stands in the
//! published comparison, [`Bound::gap`] is the largest.
//!
//! | | |
//! |-|-|
//! | Source | derived from the algorithms of Martinez, Alfaro, Sanchez 2007, and of Shreedhar and Varghese 1995 |
//! | Work | O(entries) a class |
//! | Units | credits; times rounded up to a whole nanosecond |

use serde::Serialize;
use weir_core::units::{Bytes, Credits, Nanos};

use crate::serial;
use crate::shape::{Link, Shape};

/// What bounds the latency of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bound {
    /// The most that others are served in between, without what they carry.
    #[serde(serialize_with = "serial::count", rename = "gap_credits")]
    pub gap: Credits,
    /// What others carry into the gap of the largest bound.
    #[serde(serialize_with = "serial::count", rename = "carried_credits")]
    pub carried: Credits,
    /// All of it, two packets of its own included.
    #[serde(serialize_with = "serial::count", rename = "total_credits")]
    pub total: Credits,
    /// The time of the gap alone.
    #[serde(serialize_with = "serial::count", rename = "gap_ns")]
    pub gap_time: Nanos,
    /// The bound as a time.
    #[serde(serialize_with = "serial::count", rename = "latency_ns")]
    pub latency: Nanos,
}

/// The bounds of one class under each scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bounds {
    /// The table with deficits.
    pub deficit_table: Bound,
    /// The table of InfiniBand, in which nothing is carried over.
    pub weighted_table: Bound,
    /// The table of PCI Express, one packet an entry.
    pub basic_table: Bound,
    /// Deficit round robin with the quanta of the plan.
    pub round_robin: Bound,
}

/// The schedulers that latencies are bounded for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduler {
    /// The table with deficits.
    #[default]
    DeficitTable,
    /// That of InfiniBand.
    WeightedTable,
    /// That of PCI Express.
    BasicTable,
    /// Deficit round robin.
    RoundRobin,
}

impl Scheduler {
    /// Its name in a sentence.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeficitTable => "the deficit table",
            Self::WeightedTable => "the weighted table",
            Self::BasicTable => "the basic table",
            Self::RoundRobin => "deficit round robin",
        }
    }

    /// Its bound among those of a class.
    #[must_use]
    pub const fn of(self, bounds: &Bounds) -> Bound {
        match self {
            Self::DeficitTable => bounds.deficit_table,
            Self::WeightedTable => bounds.weighted_table,
            Self::BasicTable => bounds.basic_table,
            Self::RoundRobin => bounds.round_robin,
        }
    }
}

/// One position of a table: the place of its class, and its weight.
pub type Slot = Option<(usize, Credits)>;

/// What stands between two entries of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Gap {
    weight: u64,
    entries: u64,
    classes: u64,
}

/// Turns credits into bounds.
#[derive(Clone, Copy, Debug)]
pub struct Bounding {
    packet: u64,
    round_packet: u64,
    credit: Bytes,
    link: Link,
}

impl Bounding {
    /// For a table and a link.
    #[must_use]
    pub const fn new(shape: Shape, link: Link) -> Self {
        let packet = shape.packet().get();
        Self { packet, round_packet: packet, credit: shape.credit, link }
    }

    /// For a table, a link, and a target that counts a header with each packet.
    pub(crate) const fn with_header(shape: Shape, link: Link, header: Bytes) -> Self {
        let round_packet = (shape.mtu.get() + header.get()).div_ceil(shape.credit.get());
        Self { packet: shape.packet().get(), round_packet, credit: shape.credit, link }
    }

    /// The largest packet under deficit round robin, in credits.
    pub(crate) const fn round_packet(&self) -> u64 {
        self.round_packet
    }

    /// The bound of a class in a round with these quanta.
    pub(crate) fn round_robin(&self, quanta: &[Credits], class: usize) -> Bound {
        let own = quanta.get(class).map_or(0, |quantum| quantum.get());
        let frame: u64 = quanta.iter().map(|quantum| quantum.get()).sum();
        self.round(frame - own, quanta.len())
    }

    /// The bound of one of `classes` classes in a round in which the others are served `gap`.
    pub(crate) fn round(&self, gap: u64, classes: usize) -> Bound {
        let others = classes.saturating_sub(1) as u64;
        self.worst([(gap, others * (self.round_packet - 1))].into_iter(), self.round_packet)
    }

    /// The bounds of the class `class` in a table and, with `quanta` of all classes, in a round.
    #[must_use]
    pub fn bounds(&self, slots: &[Slot], quanta: &[Credits], class: usize) -> Bounds {
        let gaps = gaps(slots, class);
        let carry = self.packet - 1;
        let packet = self.packet;
        Bounds {
            deficit_table: self.worst(gaps.iter().map(|gap| (gap.weight, gap.classes * carry)), packet),
            weighted_table: self.worst(gaps.iter().map(|gap| (gap.weight, gap.entries * carry)), packet),
            basic_table: self.worst(gaps.iter().map(|gap| (gap.entries * packet, 0)), packet),
            round_robin: self.round_robin(quanta, class),
        }
    }

    /// The largest bound of gaps with what is carried into them, with two packets of its own.
    fn worst(&self, gaps: impl Iterator<Item = (u64, u64)> + Clone, packet: u64) -> Bound {
        let gap = gaps.clone().map(|(weight, _)| weight).max().unwrap_or(0);
        let (weight, carried) = gaps.max_by_key(|(weight, carried)| weight + carried).unwrap_or((0, 0));
        let total = weight + carried + 2 * packet;
        Bound {
            gap: Credits::new(gap),
            carried: Credits::new(carried),
            total: Credits::new(total),
            gap_time: self.time(gap),
            latency: self.time(total),
        }
    }

    fn time(&self, credits: u64) -> Nanos {
        self.link.time_of(Bytes::new(credits.saturating_mul(self.credit.get())))
    }
}

/// What stands between each entry of a class and the next.
fn gaps(slots: &[Slot], class: usize) -> Vec<Gap> {
    let is_own = |at: &usize| slots[*at].is_some_and(|(owner, _)| owner == class);
    let own: Vec<usize> = (0..slots.len()).filter(is_own).collect();
    let owners = slots.iter().flatten().map(|(owner, _)| owner + 1).max().unwrap_or(0);
    // In which gap a class was last counted.
    let mut seen = vec![usize::MAX; owners];
    let mut gaps = Vec::with_capacity(own.len());
    for (turn, &from) in own.iter().enumerate() {
        let to = own.get(turn + 1).copied().unwrap_or(own[0] + slots.len());
        let mut gap = Gap::default();
        for at in from + 1..to {
            let Some((owner, weight)) = slots[at % slots.len()] else { continue };
            gap.weight += weight.get();
            gap.entries += 1;
            gap.classes += u64::from(core::mem::replace(&mut seen[owner], turn) != turn);
        }
        gaps.push(gap);
    }
    gaps
}

#[cfg(test)]
mod tests {
    use weir_core::units::Rate;

    use super::*;
    use crate::shape::Coding;

    const SHAPE: Shape = Shape { capacity: 8, mtu: Bytes::new(2048), credit: Bytes::new(64), k: 2, w: 4 };
    const LINK: Link = Link { rate: Rate::new(2_500_000_000), coding: Coding::EightOfTen };

    fn slots(text: &str) -> Vec<Slot> {
        let slot = |byte: u8| (byte != b'.').then(|| (usize::from(byte - b'a'), Credits::new(32)));
        text.bytes().map(slot).collect()
    }

    #[test]
    fn gaps_go_round_the_end_and_over_free_positions() {
        let gap = |weight, entries, classes| Gap { weight, entries, classes };
        assert_eq!(gaps(&slots("abcab.bb"), 0), [gap(64, 2, 2), gap(96, 3, 1)]);
        assert_eq!(gaps(&slots("abcab.bb"), 2), [gap(32 * 6, 6, 2)]);
        assert_eq!(gaps(&slots("a"), 0), [Gap::default()]);
        assert_eq!(gaps(&slots("a"), 1), []);
    }

    #[test]
    fn bounds_by_hand() {
        let quanta = [Credits::new(64), Credits::new(128), Credits::new(32)];
        let bounds = Bounding::new(SHAPE, LINK).bounds(&slots("abcab.bb"), &quanta, 0);
        // b and c once each: 64 credits, and 31 carried by each; the other gap has 96 and 31.
        let table = bounds.deficit_table;
        assert_eq!((table.gap.get(), table.carried.get(), table.total.get()), (96, 31, 96 + 31 + 64));
        assert_eq!(table.latency, Nanos::new(191 * 256));
        assert_eq!(bounds.weighted_table.total.get(), 96 + 3 * 31 + 64);
        assert_eq!(bounds.basic_table.total.get(), 3 * 32 + 64);
        let round = bounds.round_robin;
        assert_eq!((round.gap.get(), round.carried.get(), round.total.get()), (160, 62, 160 + 62 + 64));
    }
}
