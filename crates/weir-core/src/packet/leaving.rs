//! What a discipline around others keeps count of: all that waits in any of them.

use crate::discipline::{Backlog, DropReason, Drops};
use crate::item::Item;

/// Counts what a child drops out of the backlog, and passes it on.
pub(super) struct Leaving<'a, I: Item> {
    pub(super) backlog: &'a mut Backlog<I::Cost>,
    pub(super) drops: &'a mut dyn Drops<I>,
}

impl<I: Item> Drops<I> for Leaving<'_, I> {
    fn dropped(&mut self, item: I, reason: DropReason) {
        self.backlog.remove(item.cost());
        self.drops.dropped(item, reason);
    }
}
