//! Priority disciplines: those that order by one key, fixed when an item is inserted.
//!
//! Wrappers that alter the order of some items (in-order delivery) need the key itself; this is how they
//! get at it without knowing the rule behind it.

use crate::discipline::{Discipline, Drops, Enqueued};
use crate::item::Item;
use crate::units::Instant;

/// A place in the order of service: smaller is served first, equal keys in order of insertion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(pub u64);

/// A discipline that serves by the smallest key.
pub trait Prioritized<I: Item>: Discipline<I> {
    /// The key with which `enqueue` would insert `item` now.
    fn key(&self, now: Instant, item: &I) -> Key;

    /// Takes the item with a key chosen by the caller, not below [`Prioritized::key`].
    fn enqueue_with_key(&mut self, now: Instant, item: I, key: Key, drops: &mut dyn Drops<I>) -> Enqueued;

    /// How much all keys together have been lowered so far to keep them from overflowing. Who stores a
    /// key subtracts what has been added to this since.
    fn rebased(&self) -> u64 {
        0
    }
}
