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

/// A slot, and the slot behind it: in its queue, or among the free ones. An enumeration, since an optional
/// item next to the number would take eight bytes more.
#[derive(Clone, Debug)]
enum Slot<I> {
    Free { next: u32 },
    Taken { next: u32, item: I },
}

impl<I> Slot<I> {
    #[inline]
    fn next(&self) -> u32 {
        let (Self::Free { next } | Self::Taken { next, .. }) = self;
        *next
    }

    #[inline]
    fn set_next(&mut self, behind: u32) {
        let (Self::Free { next } | Self::Taken { next, .. }) = self;
        *next = behind;
    }

    #[inline]
    fn item(&self) -> Option<&I> {
        if let Self::Taken { item, .. } = self { Some(item) } else { None }
    }
}

/// Where an item was put: its slot, and the one before it in its queue, if there is any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    at: u32,
    before: u32,
}

/// The slot before each in its queue, for queues that may [lose their last item](Slots::take_last); of a first one it
/// means nothing. Four bytes a slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Before(Vec<u32>);

impl Before {
    /// Notes where an item was put.
    #[inline]
    pub(super) fn note(&mut self, Place { at, before }: Place) {
        match self.0.get_mut(at as usize) {
            Some(noted) => *noted = before,
            // Slots come into being one by one.
            None => self.0.push(before),
        }
    }

    #[inline]
    fn of(&self, slot: u32) -> Option<u32> {
        self.0.get(slot as usize).copied()
    }
}

/// The first item of a queue, where it lies: to look at, and then to take without looking for it again.
pub(super) struct First<'a, I> {
    slot: &'a mut Slot<I>,
    chain: &'a mut Chain,
    free: &'a mut u32,
}

impl<I> First<'_, I> {
    /// The item.
    #[inline(always)]
    pub(super) fn item(&self) -> Option<&I> {
        self.slot.item()
    }

    /// Takes it. It is moved last: moved before anything else is written, it would be laid down in between.
    #[inline(always)]
    pub(super) fn take(self) -> Option<I> {
        let Self { slot, chain, free } = self;
        let next = slot.next();
        let behind = core::mem::replace(free, chain.first);
        chain.first = next;
        chain.len -= 1;
        if next == NONE {
            chain.last = NONE;
        }
        match core::mem::replace(slot, Slot::Free { next: behind }) {
            Slot::Taken { item, .. } => Some(item),
            Slot::Free { .. } => None,
        }
    }

    /// How many items the queue has.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.chain.len
    }
}

/// The store; it grows to the largest number of items and stays.
#[derive(Clone, Debug)]
pub(super) struct Slots<I> {
    slots: Vec<Slot<I>>,
    /// The first of the free slots, which are chained; behind the last of them is the place of the next slot that is made.
    free: u32,
}

impl<I> Default for Slots<I> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: 0 }
    }
}

impl<I> Slots<I> {
    /// The first item of a queue.
    #[inline]
    pub(super) fn head(&self, chain: &Chain) -> Option<&I> {
        self.slots.get(chain.first as usize)?.item()
    }

    /// The first item of a queue, to take.
    #[inline(always)]
    pub(super) fn first<'a>(&'a mut self, chain: &'a mut Chain) -> Option<First<'a, I>> {
        let slot = self.slots.get_mut(chain.first as usize)?;
        Some(First { slot, chain, free: &mut self.free })
    }

    /// Puts an item at the end of a queue.
    #[inline(always)]
    pub(super) fn append(&mut self, chain: &mut Chain, item: I) -> Place {
        // Room is made without the item: where an item is handed to a call on any path, it is laid into memory on every
        // one, and copied from there before it has arrived.
        let (at, before) = (self.free, chain.last);
        let slot = match self.slots.get_mut(at as usize) {
            Some(slot) => slot,
            None => grown(&mut self.slots),
        };
        self.free = slot.next();
        *slot = Slot::Taken { next: NONE, item };
        match self.slots.get_mut(before as usize) {
            Some(last) => last.set_next(at),
            None => chain.first = at,
        }
        chain.last = at;
        chain.len += 1;
        Place { at, before }
    }

    /// Takes the first item of a queue.
    #[inline(always)]
    pub(super) fn take(&mut self, chain: &mut Chain) -> Option<I> {
        self.first(chain)?.take()
    }

    /// Takes the last item of a queue of several, of which every [place was noted](Before::note).
    pub(super) fn take_last(&mut self, chain: &mut Chain, before: &Before) -> Option<I> {
        let at = chain.last;
        let before = before.of(at)?;
        if chain.len < 2 {
            return None;
        }
        let freed = Slot::Free { next: self.free };
        let Slot::Taken { item, .. } = core::mem::replace(self.slots.get_mut(at as usize)?, freed) else {
            return None;
        };
        self.slots.get_mut(before as usize)?.set_next(NONE);
        chain.last = before;
        chain.len -= 1;
        self.free = at;
        Some(item)
    }

    /// Puts all items of one queue behind those of another; none of these may be [taken from its end](Self::take_last).
    pub(super) fn join(&mut self, chain: &mut Chain, behind: Chain) {
        match self.slots.get_mut(chain.last as usize) {
            Some(last) => last.set_next(behind.first),
            None => chain.first = behind.first,
        }
        chain.last = if behind.len > 0 { behind.last } else { chain.last };
        chain.len += behind.len;
    }

    /// The last item of a queue.
    #[inline]
    pub(super) fn last(&self, chain: &Chain) -> Option<&I> {
        self.slots.get(chain.last as usize)?.item()
    }

    /// How many items there were at most.
    #[inline]
    pub(super) fn size(&self) -> usize {
        self.slots.len()
    }

    /// Reads the first item of this queue and its last slot, which the next calls will need; the sum is for nothing.
    /// `read` reads an item from end to end.
    #[inline]
    pub(super) fn fetch_ends(&self, chain: &Chain, read: impl Fn(&I) -> u64) -> u64 {
        let last = self.slots.get(chain.last as usize).map_or(NONE, Slot::next);
        self.head(chain).map_or(0, read) ^ u64::from(last)
    }

    /// The same, and the second item, for a discipline that looks at it right after it has taken the first.
    #[inline]
    pub(super) fn fetch(&self, chain: &Chain, read: impl Fn(&I) -> u64) -> u64 {
        let second = self.slots.get(chain.first as usize).map_or(NONE, Slot::next);
        let second = self.slots.get(second as usize).and_then(Slot::item);
        self.fetch_ends(chain, &read) ^ second.map_or(0, read)
    }

    /// All items, in no particular order.
    pub(super) fn items_mut(&mut self) -> impl Iterator<Item = &mut I> {
        self.slots.iter_mut().filter_map(|slot| match slot {
            Slot::Taken { item, .. } => Some(item),
            Slot::Free { .. } => None,
        })
    }
}

/// One more slot, when none is free.
#[cold]
#[inline(never)]
fn grown<I>(slots: &mut Vec<Slot<I>>) -> &mut Slot<I> {
    let at = slots.len();
    slots.push(Slot::Free { next: at as u32 + 1 });
    &mut slots[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_of_several_lose_their_last_items() {
        use std::collections::VecDeque;

        let (mut slots, mut before, mut chains) =
            (Slots::default(), Before::default(), [Chain::default(); 3]);
        let (mut plain, mut random) = ([(); 3].map(|()| VecDeque::new()), crate::conformance::Random::new(5));
        for item in 0..20_000 {
            let at = random.below(3) as usize;
            match random.below(4) {
                0 | 1 => {
                    before.note(slots.append(&mut chains[at], item));
                    plain[at].push_back(item);
                }
                2 => assert_eq!(slots.take(&mut chains[at]), plain[at].pop_front()),
                _ => {
                    let last = if plain[at].len() > 1 { plain[at].pop_back() } else { None };
                    assert_eq!(slots.take_last(&mut chains[at], &before), last);
                }
            }
            assert_eq!(slots.head(&chains[at]), plain[at].front());
            assert_eq!(slots.last(&chains[at]), plain[at].back());
            assert_eq!(chains[at].len() as usize, plain[at].len());
        }
    }

    #[test]
    fn queues_share_the_slots_that_others_leave() {
        let mut slots = Slots::default();
        let mut chains = [Chain::default(); 3];
        for item in 0..300 {
            slots.append(&mut chains[item % 3], item);
            assert!(chains.iter().all(|chain| slots.fetch(chain, |&item| item as u64) < u64::MAX));
            if item >= 9 {
                assert_eq!(slots.take(&mut chains[item % 3]), Some(item - 9));
            }
        }
        assert_eq!(slots.size(), 10);
        assert_eq!((slots.head(&chains[0]), chains[0].len()), (Some(&291), 3));
        assert_eq!(slots.take(&mut Chain::default()), None);
    }

    #[test]
    fn a_queue_joins_behind_another() {
        for (before, behind) in [(0, 0), (0, 2), (2, 0), (3, 1)] {
            let (mut slots, mut all, mut chain) = (Slots::default(), Chain::default(), Chain::default());
            for item in 0..before + behind {
                slots.append(if item < before { &mut all } else { &mut chain }, item);
            }
            slots.join(&mut all, chain);
            slots.append(&mut all, 9);
            assert_eq!(all.len(), before + behind + 1);
            assert!((0..before + behind).chain([9]).all(|item| slots.take(&mut all) == Some(item)));
            assert_eq!(slots.take(&mut all), None);
        }
    }
}
