//! Priority disciplines: those that order by one key, fixed when an item is inserted.
//!
//! Wrappers that alter the order of some items (in-order delivery) need the key itself; this is how they
//! get at it without knowing the rule behind it.
//!
//! Keys have 80 bits. Those below [`Key::INFINITE`] are finite, with 63 integer and 16 fractional bits;
//! those from there on come after every finite key and are ordered by cost alone (an infinite alpha).
//! Finite keys that follow a clock are lowered together now and then, so that neither overflows.

use crate::discipline::{Discipline, Drops, Enqueued};
use crate::item::Item;
use crate::units::{Cost, Instant};

/// A place in the order of service: smaller is served first, equal keys in order of insertion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(pub u128);

impl Key {
    /// How many bits of a finite key are fractional.
    pub const FRACTION_BITS: u32 = 16;
    /// The least of the keys that come after every finite one.
    pub const INFINITE: Self = Self(1 << 79);
    /// The largest key.
    pub const MAX: Self = Self((1 << 80) - 1);

    /// The key that orders by `cost` alone.
    #[must_use]
    #[inline]
    pub fn of<C: Cost>(cost: C) -> Self {
        Self(u128::from(cost.count()))
    }

    /// Whether it follows the clock.
    #[must_use]
    #[inline]
    pub fn is_finite(self) -> bool {
        self < Self::INFINITE
    }

    /// As it stands after all keys have been lowered by `amount`, but not below zero.
    #[must_use]
    #[inline]
    pub fn lowered(self, amount: u128) -> Self {
        if self.is_finite() { Self(self.0.saturating_sub(amount)) } else { self }
    }
}

/// A discipline that serves by the smallest key.
pub trait Prioritized<I: Item>: Discipline<I> {
    /// The key with which `enqueue` would insert `item` now.
    fn key(&self, now: Instant, item: &I) -> Key;

    /// Takes the item with a key chosen by the caller; one below [`Prioritized::key`] is raised to it.
    fn enqueue_with_key(&mut self, now: Instant, item: I, key: Key, drops: &mut dyn Drops<I>) -> Enqueued;

    /// How much all finite keys together have been lowered so far, modulo 2^128. Who stores a key lowers
    /// it by what has been added to this since ([`Key::lowered`]).
    fn rebased(&self) -> u128 {
        0
    }

    /// The largest key an item has been raised to while it stood before items with smaller ones, or would
    /// be by an insertion now. A newcomer with at least this key, and at least that of another item as it
    /// was inserted, is served after it. Zero where insertion leaves the other keys alone.
    fn barrier(&self) -> Key {
        Key::default()
    }

    /// As [`Discipline::copied`], with the keys.
    fn copied_with_keys(&self) -> Option<Box<dyn Prioritized<I> + Send>>
    where
        I: Clone + Send + 'static;
}

/// [`Prioritized::copied_with_keys`] of one that is [`Clone`] if its items are.
macro_rules! copied_with_keys {
    () => {
        fn copied_with_keys(&self) -> Option<Box<dyn $crate::priority::Prioritized<I> + Send>>
        where
            I: Clone + Send + 'static,
        {
            Some(Box::new(self.clone()))
        }
    };
}
pub(crate) use copied_with_keys;

impl<I: Item, D: Prioritized<I> + ?Sized> Prioritized<I> for Box<D> {
    #[inline]
    fn key(&self, now: Instant, item: &I) -> Key {
        (**self).key(now, item)
    }
    #[inline]
    fn enqueue_with_key(&mut self, now: Instant, item: I, key: Key, drops: &mut dyn Drops<I>) -> Enqueued {
        (**self).enqueue_with_key(now, item, key, drops)
    }
    #[inline]
    fn rebased(&self) -> u128 {
        (**self).rebased()
    }
    #[inline]
    fn barrier(&self) -> Key {
        (**self).barrier()
    }
    fn copied_with_keys(&self) -> Option<Box<dyn Prioritized<I> + Send>>
    where
        I: Clone + Send + 'static,
    {
        (**self).copied_with_keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_keys_do_not_follow_the_clock() {
        assert_eq!(Key(10).lowered(4), Key(6));
        assert_eq!(Key(10).lowered(40), Key(0));
        assert_eq!(Key::INFINITE.lowered(40), Key::INFINITE);
        assert!(Key::MAX > Key::INFINITE && !Key::MAX.is_finite());
    }
}
