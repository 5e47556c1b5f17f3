//! Who gets how many entries and how much weight: admission into a table, release, and why a class is refused.
//!
//! For a class that asks for the share phi and a distance of at most d, in a table of N entries:
//!
//! 1. d becomes the largest power of two that is at most d and N; the class gets n = N / d entries.
//! 2. While n entries cannot hold phi (phi > n w / (N k)), d is halved. If n entries of the least weight hold more
//!    than phi (phi < n / (N k)), the class is given the rest unasked: forced bandwidth. A larger k lowers it.
//! 3. All classes together have at most N entries and the whole pool.
//! 4. Entries are placed by bit reversal ([`crate::placement`]), and stay where they are while others come and go.
//! 5. Weights are shared out (`weights.rs`). An admission may take back one credit of another class there; it
//!    never moves an entry.
//!
//! | | |
//! |-|-|
//! | Source | Martinez, Alfaro, Sanchez 2007, section 2.2; the rules are derived from it |
//! | Work | an admission O(classes + log N), the weights O(classes log classes + N) |
//! | Units | weights in credits; shares exact in fractions of `1 / (10^9 N k)` |
//! | Departs from the source | rounding; release and re-placement |

use weir_core::units::Credits;

use crate::placement::{Allocator, Block};
use crate::quantity::Share;
use crate::shape::Shape;
use crate::weights;

/// A class that was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// What it asked for.
    pub share: Share,
    /// The distance of its entries.
    pub distance: u32,
    /// Where they stand.
    pub block: Block,
}

impl Admitted {
    /// How many entries it has.
    #[must_use]
    pub const fn entries(&self) -> u32 {
        self.block.size
    }
}

/// A number under which a table knows a class, until it is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(usize);

/// Why a class is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// The share needs more weight than a whole table holds.
    Share {
        /// The most that all entries hold.
        largest: Share,
    },
    /// There are too few free entries.
    Entries {
        /// What the distance and the share need.
        needed: u32,
        /// What is free.
        free: u32,
    },
    /// There is too little weight left in the pool.
    Pool {
        /// What it needs, forced bandwidth included.
        needed: Share,
        /// What is left.
        left: Share,
    },
    /// There are as many free entries, but not at equal distances without moving others.
    Scattered {
        /// What it needs.
        needed: u32,
        /// What is free.
        free: u32,
    },
}

/// A request that the table can meet in place of one that it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feasible {
    /// The share.
    pub share: Share,
    /// The distance.
    pub distance: u32,
}

/// An arbitration table with the classes in it.
#[derive(Clone, Debug)]
pub struct Table {
    shape: Shape,
    free: Allocator,
    classes: Vec<Option<Admitted>>,
}

/// Distance and entries that a share gets by rules 1 and 2.
#[derive(Clone, Copy)]
struct Terms {
    distance: u32,
    entries: u32,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self { shape, free: Allocator::new(shape.entries()), classes: Vec::new() }
    }

    /// Lets a class in, without moving another.
    ///
    /// # Errors
    /// Why it does not fit; the table is as it was. [`Table::nearest`] tells what does.
    pub fn admit(&mut self, share: Share, distance: u32) -> Result<Key, Refused> {
        let terms = self.terms(share, distance)?;
        self.check(share, terms)?;
        let needed = terms.entries;
        let scattered = Refused::Scattered { needed, free: self.free.free() };
        let block = self.free.allocate(needed).ok_or(scattered)?;
        let class = Admitted { share, distance: terms.distance, block };
        let place = self.classes.iter().position(Option::is_none).unwrap_or(self.classes.len());
        if place == self.classes.len() {
            self.classes.push(None);
        }
        self.classes[place] = Some(class);
        Ok(Key(place))
    }

    /// Lets a class go; what it had is free. `None` if there is no such class.
    pub fn release(&mut self, key: Key) -> Option<Admitted> {
        let class = self.classes.get_mut(key.0)?.take()?;
        self.free.release(class.block);
        Some(class)
    }

    /// Places all classes anew, those of the shortest distance first; tells who has moved.
    ///
    /// Afterwards the free positions admit the smallest possible distance.
    pub fn compact(&mut self) -> Vec<Key> {
        let mut order: Vec<usize> = (0..self.classes.len()).filter(|&i| self.classes[i].is_some()).collect();
        order.sort_by_key(|&i| self.classes[i].map(|class| class.distance));
        self.free = Allocator::new(self.shape.entries());
        let mut moved = Vec::new();
        for place in order {
            let Some(class) = &mut self.classes[place] else { continue };
            // What was placed once has room when the largest come first.
            let Some(block) = self.free.allocate(class.block.size) else { continue };
            if block != class.block {
                moved.push(Key(place));
            }
            class.block = block;
        }
        moved
    }

    /// A class of the table.
    #[must_use]
    pub fn class(&self, key: Key) -> Option<&Admitted> {
        self.classes.get(key.0)?.as_ref()
    }

    /// The classes in the table.
    pub fn classes(&self) -> impl Iterator<Item = (Key, &Admitted)> {
        self.classes.iter().enumerate().filter_map(|(place, class)| Some((Key(place), class.as_ref()?)))
    }

    /// The number of free positions.
    #[must_use]
    pub fn free_entries(&self) -> u32 {
        self.free.free()
    }

    /// What is left of the pool, rounded down.
    #[must_use]
    pub fn free_share(&self) -> Share {
        Share::of(self.left(), self.whole())
    }

    /// Rules 1 and 2.
    fn terms(&self, share: Share, distance: u32) -> Result<Terms, Refused> {
        let all = self.shape.entries();
        let mut distance = 1 << distance.clamp(1, all).ilog2();
        while share > self.shape.maximum(all / distance) {
            if distance == 1 {
                return Err(Refused::Share { largest: self.shape.maximum(all) });
            }
            distance /= 2;
        }
        Ok(Terms { distance, entries: all / distance })
    }

    /// Rule 3.
    fn check(&self, share: Share, terms: Terms) -> Result<(), Refused> {
        let free = self.free.free();
        if terms.entries > free {
            return Err(Refused::Entries { needed: terms.entries, free });
        }
        let needed = self.reserved(share, terms.entries);
        if needed > self.left() {
            let (whole, part) = (self.whole(), u128::from(Share::PARTS));
            // Rounded up, so that it reads as more than what is left.
            let needed = Share::new(u64::try_from((needed * part).div_ceil(whole)).unwrap_or(u64::MAX));
            return Err(Refused::Pool { needed, left: self.free_share() });
        }
        Ok(())
    }

    /// The pool in the unit in which shares and least weights are both whole.
    fn whole(&self) -> u128 {
        u128::from(Share::PARTS) * u128::from(self.shape.entries()) * u128::from(self.shape.k)
    }

    /// What a class takes of the pool, forced bandwidth included.
    fn reserved(&self, share: Share, entries: u32) -> u128 {
        let asked = u128::from(share.parts()) * u128::from(self.shape.entries()) * u128::from(self.shape.k);
        asked.max(u128::from(entries) * u128::from(Share::PARTS))
    }

    fn left(&self) -> u128 {
        let taken: u128 = self.classes().map(|(_, class)| self.reserved(class.share, class.entries())).sum();
        self.whole().saturating_sub(taken)
    }

    /// What would be let in instead of a request that is not: the same share at the shortest distance that fits,
    /// and the largest share at the distance that was asked for or the next that fits.
    #[must_use]
    pub fn nearest(&self, share: Share, distance: u32) -> (Option<Feasible>, Option<Feasible>) {
        let all = self.shape.entries();
        let first = distance.clamp(1, all).ilog2();
        let mut less = None;
        for found in (first..=all.ilog2()).filter_map(|power| self.feasible(share, 1 << power)) {
            if found.share == share {
                return (Some(found), less);
            }
            less = less.or(Some(found));
        }
        (None, less)
    }

    /// The largest share up to `share` that would be let in, at the largest distance that holds it.
    #[must_use]
    pub fn largest(&self, share: Share) -> Option<Feasible> {
        let powers = 0..=self.shape.entries().ilog2();
        let found = powers.filter_map(|power| self.feasible(share, 1 << power));
        found.max_by_key(|found| (found.share, found.distance))
    }

    /// The largest share up to `share` that would be let in at exactly this distance.
    fn feasible(&self, share: Share, distance: u32) -> Option<Feasible> {
        let terms = Terms { distance, entries: self.shape.entries() / distance };
        let share = share.min(self.free_share()).min(self.shape.maximum(terms.entries));
        let is_placed = terms.entries <= self.free.largest();
        (share.parts() > 0 && is_placed && self.check(share, terms).is_ok())
            .then_some(Feasible { share, distance })
    }

    /// The total weight of each class, in the order of [`Table::classes`].
    #[must_use]
    pub fn weights(&self) -> Vec<Credits> {
        weights::totals(self.shape, self.classes().map(|(_, class)| (class.share, class.entries())))
    }

    /// Who stands at each position, by its place in [`Table::classes`], and with which weight.
    #[must_use]
    pub fn slots(&self) -> Vec<Option<(usize, Credits)>> {
        let mut slots = vec![None; self.shape.entries() as usize];
        let weights = self.weights();
        for (place, (_, class)) in self.classes().enumerate() {
            let weights = weights::spread(weights[place], class.entries());
            for (position, weight) in class.block.positions(self.shape.entries()).zip(weights) {
                slots[position as usize] = Some((place, weight));
            }
        }
        slots
    }
}

#[cfg(test)]
mod tests {
    use weir_core::units::Bytes;

    use super::*;
    use crate::quantity;

    const SHAPE: Shape = Shape { capacity: 64, mtu: Bytes::new(2048), credit: Bytes::new(64), k: 2, w: 4 };

    fn share(text: &str) -> Share {
        quantity::share(text).expect("a share")
    }

    fn table(shape: Shape, classes: &[(&str, u32)]) -> Table {
        let mut table = Table::new(shape);
        for (text, distance) in classes {
            table.admit(share(text), *distance).expect("room");
        }
        table
    }

    const TABLE_1: [(&str, u32); 7] =
        [("25%", 2), ("25%", 4), ("25%", 8), ("12.5%", 16), ("6.25%", 32), ("3.125%", 64), ("3.125%", 64)];

    #[test]
    fn table_1_fits_exactly() {
        let table = table(SHAPE, &TABLE_1);
        let entries: Vec<u32> = table.classes().map(|(_, class)| class.entries()).collect();
        assert_eq!(entries, [32, 16, 8, 4, 2, 1, 1]);
        let weights: Vec<u64> = table.weights().iter().map(|weight| weight.get()).collect();
        assert_eq!(weights, [1024, 1024, 1024, 512, 256, 128, 128]);
        assert_eq!((table.free_entries(), table.free_share()), (0, Share::new(0)));
        let slot = |at: usize| table.slots()[at].map(|(class, weight)| (class, weight.get()));
        assert_eq!((slot(0), slot(1), slot(3)), (Some((0, 32)), Some((1, 64)), Some((2, 128))));
    }

    #[test]
    fn a_share_that_its_entries_cannot_hold_gets_more_of_them() {
        let table = table(SHAPE, &[("20%", 64)]);
        let (_, class) = table.classes().next().expect("one");
        // One entry holds 3.125 %, eight of them 25 %.
        assert_eq!((class.distance, class.entries()), (8, 8));
    }

    #[test]
    fn a_short_distance_forces_bandwidth() {
        let table = table(SHAPE, &[("1%", 2)]);
        assert_eq!(table.weights(), [Credits::new(1024)]);
        assert_eq!(table.free_share(), share("75%"));
    }

    #[test]
    fn refusals_name_what_is_missing_and_what_would_fit() {
        let mut table = table(SHAPE, &[("25%", 2), ("25%", 4)]);
        assert_eq!(table.admit(share("10%"), 2), Err(Refused::Entries { needed: 32, free: 16 }));
        let (same, less) = table.nearest(share("10%"), 2);
        assert_eq!(same, Some(Feasible { share: share("10%"), distance: 4 }));
        assert_eq!(less, None);
        assert_eq!(table.admit(share("60%"), 8), Err(Refused::Entries { needed: 32, free: 16 }));
        let mut full = table.clone();
        full.admit(share("48%"), 8).expect("room");
        assert_eq!(full.free_share(), share("2%"));
        assert_eq!(full.admit(share("3%"), 64), Err(Refused::Entries { needed: 1, free: 0 }));
        table.admit(share("25%"), 8).expect("room");
        let refused = Refused::Pool { needed: share("30%"), left: share("25%") };
        assert_eq!(
            Table::new(SHAPE).admit(Share::new(u64::MAX), 1),
            Err(Refused::Share { largest: share("200%") })
        );
        let mut wide = Table::new(Shape { w: 16, ..SHAPE });
        wide.admit(share("75%"), 16).expect("room");
        assert_eq!(wide.admit(share("30%"), 16), Err(refused));
        assert_eq!(wide.nearest(share("30%"), 16).1, Some(Feasible { share: share("25%"), distance: 16 }));
    }

    #[test]
    fn classes_come_and_go_without_moving_others() {
        let mut table = table(SHAPE, &TABLE_1);
        let before = table.slots();
        let key = Key(1);
        let gone = table.release(key).expect("there");
        assert_eq!(table.release(key), None);
        assert_eq!(table.free_entries(), 16);
        let again = table.admit(gone.share, 4).expect("room");
        assert_eq!(again, key);
        assert_eq!(table.slots(), before);
    }

    #[test]
    fn scattered_entries_are_told_and_compacted() {
        let one = Shape { capacity: 4, k: 1, w: 1, ..SHAPE };
        let mut table = table(one, &[("25%", 4), ("25%", 4), ("25%", 4), ("25%", 4)]);
        table.release(Key(0));
        table.release(Key(2));
        assert_eq!(table.admit(share("50%"), 2), Err(Refused::Scattered { needed: 2, free: 2 }));
        assert_eq!(table.compact(), [Key(1), Key(3)]);
        assert!(table.admit(share("50%"), 2).is_ok());
    }
}
