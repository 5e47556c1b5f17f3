//! First-in-first-out queues that share one store of slots, so that a flow that falls silent leaves its
//! room to the others.

/// No slot.
const NONE: u32 = u32::MAX;

/// One queue: its first slot and its last, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    first: u32,
    last: u32,
    len: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self { first: NONE, last: NONE, len: 0 }
    }
}

impl Chain {
    /// The number of items.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.len
    }
}

#[derive(Clone, Debug)]
struct Slot<I> {
    item: Option<I>,
    next: u32,
}

/// The store; it grows to the largest number of items and stays.
#[derive(Clone, Debug)]
pub(super) struct Slots<I> {
    slots: Vec<Slot<I>>,
    /// The first of the free slots, which are chained.
    free: u32,
}

impl<I> Default for Slots<I> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: NONE }
    }
}

impl<I> Slots<I> {
    /// The first item of a queue.
    #[inline]
    pub(super) fn head(&self, chain: &Chain) -> Option<&I> {
        self.slots.get(chain.first as usize)?.item.as_ref()
    }

    /// Puts an item at the end of a queue.
    #[inline]
    pub(super) fn append(&mut self, chain: &mut Chain, item: I) {
        let at = self.place(item);
        match self.slots.get_mut(chain.last as usize) {
            Some(last) => last.next = at,
            None => chain.first = at,
        }
        chain.last = at;
        chain.len += 1;
    }

    /// Takes the first item of a queue.
    #[inline]
    pub(super) fn take(&mut self, chain: &mut Chain) -> Option<I> {
        let at = chain.first;
        let slot = self.slots.get_mut(at as usize)?;
        chain.first = core::mem::replace(&mut slot.next, self.free);
        chain.len -= 1;
        if chain.first == NONE {
            chain.last = NONE;
        }
        self.free = at;
        slot.item.take()
    }

    /// All items, in no particular order.
    pub(super) fn items_mut(&mut self) -> impl Iterator<Item = &mut I> {
        self.slots.iter_mut().filter_map(|slot| slot.item.as_mut())
    }

    #[inline]
    fn place(&mut self, item: I) -> u32 {
        let filled = Slot { item: Some(item), next: NONE };
        let at = self.free;
        if let Some(slot) = self.slots.get_mut(at as usize) {
            self.free = slot.next;
            *slot = filled;
            return at;
        }
        self.grow(filled)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, filled: Slot<I>) -> u32 {
        self.slots.push(filled);
        (self.slots.len() - 1) as u32
    }
}
