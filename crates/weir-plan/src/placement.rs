//! Where the entries of a class stand in the table: bit reversal, and buddies over it.
//!
//! Number the positions by bit reversal: the i-th of the sequence is the position whose binary digits are those of
//! i read backwards. Then every aligned block of n positions of the sequence (n a power of two) is a set of
//! positions exactly `entries / n` apart. To place a class is to find such a block, and that is what a buddy
//! allocator does: a block is split into halves until it has the size asked for, and joins its other half when
//! both are free again.
//!
//! The smallest free block that suffices is taken, the first of them where several do. While nothing is released
//! no two free blocks have the same size, so that whatever fits by count finds a block: the free positions always
//! admit the smallest possible distance. After releases they may be scattered, and then moving others is the only
//! way ([`crate::admission::Table::compact`]).
//!
//! | | |
//! |-|-|
//! | Source | Martinez, Alfaro, Sanchez 2007, section 2.2; the fill-in by bit reversal of their IEEE TPDS 15(9):810-823 |
//! | Work | O(log entries) a placement or release |
//! | Units | positions of the table |
//! | Memory | O(entries) at most, for the free blocks |
//! | Departs from the source | the allocator, so that classes come and go without moving others |

use std::collections::BTreeSet;

/// The most entries of a table that are planned.
pub const MAX_ENTRIES: u32 = 1024;

/// The position that is number `index` of the bit-reversed sequence of `entries` positions, a power of two.
#[must_use]
pub fn reversed(index: u32, entries: u32) -> u32 {
    debug_assert!(entries.is_power_of_two() && index < entries);
    if entries == 1 { 0 } else { index.reverse_bits() >> (32 - entries.trailing_zeros()) }
}

/// Consecutive positions of the bit-reversed sequence: `size` of them, a power of two, from a multiple of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block {
    /// How many positions.
    pub size: u32,
    /// The first of them in the sequence.
    pub start: u32,
}

impl Block {
    /// Its positions in a table of `entries`, in ascending order: `entries / size` apart.
    pub fn positions(self, entries: u32) -> impl Iterator<Item = u32> {
        let distance = entries / self.size;
        let first = reversed(self.start, entries);
        (0..self.size).map(move |turn| first + turn * distance)
    }

    /// The block of the same size with which it makes one of twice the size.
    fn buddy(self) -> Self {
        Self { size: self.size, start: self.start ^ self.size }
    }
}

/// The free positions of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocator {
    entries: u32,
    /// By size, then by place.
    free: BTreeSet<Block>,
}

impl Allocator {
    /// A table of `entries` free positions.
    ///
    /// # Panics
    /// If `entries` is not a power of two up to [`MAX_ENTRIES`].
    #[must_use]
    pub fn new(entries: u32) -> Self {
        assert!(entries.is_power_of_two() && entries <= MAX_ENTRIES, "entries is {entries}");
        Self { entries, free: BTreeSet::from([Block { size: entries, start: 0 }]) }
    }

    /// Takes `size` positions at equal distances; `None` if there is no such set, or `size` is no power of two.
    pub fn allocate(&mut self, size: u32) -> Option<Block> {
        if !size.is_power_of_two() {
            return None;
        }
        let found = *self.free.range(Block { size, start: 0 }..).next()?;
        self.free.remove(&found);
        let mut half = found.size;
        while half > size {
            half /= 2;
            self.free.insert(Block { size: half, start: found.start + half });
        }
        Some(Block { size, start: found.start })
    }

    /// Gives back what [`Allocator::allocate`] gave.
    pub fn release(&mut self, block: Block) {
        let mut block = block;
        while block.size < self.entries && self.free.remove(&block.buddy()) {
            block = Block { size: 2 * block.size, start: block.start & !block.size };
        }
        let is_new = self.free.insert(block);
        debug_assert!(is_new, "released twice");
    }

    /// The number of free positions.
    #[must_use]
    pub fn free(&self) -> u32 {
        self.free.iter().map(|block| block.size).sum()
    }

    /// The most entries that a class can still get without a move; zero in a full table.
    #[must_use]
    pub fn largest(&self) -> u32 {
        self.free.last().map_or(0, |block| block.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(block: Block) -> Vec<u32> {
        block.positions(64).collect()
    }

    #[test]
    fn table_1_is_placed_as_published() {
        let mut table = Allocator::new(64);
        let mut next = |size| positions(table.allocate(size).expect("room"));
        assert_eq!(next(32), (0..64).step_by(2).collect::<Vec<_>>());
        assert_eq!(next(16), (1..64).step_by(4).collect::<Vec<_>>());
        assert_eq!(next(8), (3..64).step_by(8).collect::<Vec<_>>());
        assert_eq!(next(4), (7..64).step_by(16).collect::<Vec<_>>());
        assert_eq!(next(2), [15, 47]);
        assert_eq!(next(1), [31]);
        assert_eq!(next(1), [63]);
        assert_eq!((table.free(), table.largest(), table.allocate(1)), (0, 0, None));
    }

    #[test]
    fn buddies_join_again() {
        let mut table = Allocator::new(8);
        let blocks: Vec<Block> = (0..8).map(|_| table.allocate(1).expect("room")).collect();
        for block in [3, 0, 7, 5, 1, 2, 6, 4] {
            table.release(blocks[block]);
        }
        assert_eq!(table, Allocator::new(8));
    }

    #[test]
    fn scattered_positions_do_not_make_a_short_distance() {
        let mut table = Allocator::new(4);
        let blocks: Vec<Block> = (0..4).map(|_| table.allocate(1).expect("room")).collect();
        table.release(blocks[0]);
        table.release(blocks[2]);
        assert_eq!((table.free(), table.largest(), table.allocate(2)), (2, 1, None));
    }

    #[test]
    fn a_table_of_one_entry() {
        let mut table = Allocator::new(1);
        assert_eq!(table.allocate(3), None);
        assert_eq!(table.allocate(1).expect("room").positions(1).collect::<Vec<_>>(), [0]);
    }
}
