//! Keys of waiting messages, packed so that one comparison decides.
//!
//! The order is (key, insertion number). Both, and the class, are put into one integer: key in the upper
//! bits, insertion number below it, class in the lowest, so that the smallest integer is the next message
//! and names its class. Ticks and insertion numbers count from the oldest message that waited when the
//! layout was made; a new one is made when they outgrow it. 64 bits hold them in all but extreme backlogs,
//! and where they do not, 128 bits take over for a while. The decisions are the same.

use super::queues::Entry;
use core::fmt::Debug;
use core::ops::{BitAnd, BitOr, BitXor, Shl};

/// All bits if `condition` holds, else none. Opaque to the compiler, which otherwise guesses the condition
/// with a branch, and here guesses are wrong too often.
#[inline(always)]
pub(super) fn mask_if(condition: bool) -> u64 {
    core::hint::black_box(u64::from(condition).wrapping_neg())
}

/// An integer that holds a packed key.
pub(super) trait Key:
    Copy
    + Ord
    + Default
    + Debug
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
{
    /// Bits a key may use; one less than the integer has, so that none is like the mark of an empty class.
    const ROOM: u32;
    /// Larger than every key.
    const LARGEST: Self;
    fn of(value: u64) -> Self;
    /// What the instant of insertion adds to a key.
    fn stamp(entry: &Entry, layout: &Layout) -> Self;
    fn low(self) -> usize;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// The smaller of two, without a branch.
    fn least(self, other: Self) -> Self;
}

macro_rules! key {
    ($integer:ty, $bits:literal, $stamp:expr) => {
        impl Key for $integer {
            const ROOM: u32 = $bits;
            const LARGEST: Self = <$integer>::MAX;
            #[inline(always)]
            fn of(value: u64) -> Self {
                value as $integer
            }
            #[inline(always)]
            fn stamp(entry: &Entry, layout: &Layout) -> Self {
                let stamp: fn(&Entry, &Layout) -> Self = $stamp;
                stamp(entry, layout)
            }
            #[inline(always)]
            fn low(self) -> usize {
                self as usize
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn least(self, other: Self) -> Self {
                other ^ ((self ^ other) & mask_if(self < other) as i64 as $integer)
            }
        }
    };
}
key!(i64, 62, |entry, _| entry.stamp as i64);
key!(i128, 126, |entry, layout| layout.stamp(entry.tick, entry.order) as i128);

/// Where the parts of a packed key stand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    /// Bits of the class.
    pub(super) class_bits: u32,
    /// Bits of the insertion number.
    pub(super) order_bits: u32,
    /// Binary places of the key that are in use.
    pub(super) fraction_bits: u32,
    /// The insertion number that counts as 0.
    pub(super) first_order: u64,
    /// The tick that counts as 0.
    pub(super) first_tick: u64,
}

impl Layout {
    /// Where the key begins.
    #[inline(always)]
    pub(super) fn shift(&self) -> u32 {
        self.class_bits + self.order_bits
    }

    /// What an insertion at this tick, with this number, adds to a key.
    #[inline(always)]
    pub(super) fn stamp(&self, tick: u64, order: u64) -> u128 {
        let tick = u128::from(tick.wrapping_sub(self.first_tick)) << (self.shift() + self.fraction_bits);
        tick | u128::from(order.wrapping_sub(self.first_order)) << self.class_bits
    }

    /// The lowest 64 bits of a stamp.
    #[inline(always)]
    pub(super) fn low_stamp(&self, tick: u64, order: u64) -> u64 {
        let tick = tick.wrapping_sub(self.first_tick).unbounded_shl(self.shift() + self.fraction_bits);
        tick | order.wrapping_sub(self.first_order).unbounded_shl(self.class_bits)
    }

    /// The bits of a stamp that the insertion number fills.
    #[inline(always)]
    pub(super) fn order_mask(&self) -> u64 {
        (1 << self.shift()) - 1
    }

    /// Whether keys up to `largest` before the tick is added, and insertions up to this tick and number,
    /// fit into `room` bits.
    pub(super) fn fits(&self, largest: u128, tick: u64, order: u64, room: u32) -> bool {
        let key = largest + (u128::from(tick - self.first_tick) << self.fraction_bits);
        let order = order - self.first_order;
        order >> self.order_bits == 0 && self.shift() + (u128::BITS - key.leading_zeros()) <= room
    }
}

/// The mark of a class of which nothing waits; larger than every key, yet it names its class.
#[inline(always)]
pub(super) fn nothing<K: Key, const C: usize>(class: usize) -> K {
    K::LARGEST.minus(K::of(C as u64 - 1)).plus(K::of(class as u64))
}

/// The class in the lowest bits of a key.
#[inline(always)]
pub(super) fn class_of<K: Key, const C: usize>(key: K) -> usize {
    key.low() % C
}
