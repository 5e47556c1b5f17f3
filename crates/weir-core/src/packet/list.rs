//! Lists of queues in turn: chains through a table, so that joining and leaving allocate nothing.

/// An entry of a table, with its place in one list.
pub(super) trait Node {
    /// The entry behind this one.
    fn next(&self) -> u32;
    /// Puts another entry behind this one.
    fn set_next(&mut self, next: u32);
}

/// A list of entries of one table, in which an entry stands at most once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct List {
    first: u32,
    last: u32,
    len: u32,
}

impl List {
    /// How many entries stand in it.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// The first entry.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        (self.len > 0).then_some(self.first)
    }

    /// The entry joins the end.
    #[inline]
    pub(super) fn push<N: Node>(&mut self, table: &mut [N], entry: u32) {
        if self.len == 0 {
            self.first = entry;
        } else {
            table[self.last as usize].set_next(entry);
        }
        self.last = entry;
        self.len += 1;
    }

    /// The first entry leaves.
    #[inline]
    pub(super) fn pop<N: Node>(&mut self, table: &[N]) -> Option<u32> {
        let entry = self.first()?;
        self.first = table[entry as usize].next();
        self.len -= 1;
        Some(entry)
    }

    /// The entries in order.
    pub(super) fn iter<'a, N: Node>(&self, table: &'a [N]) -> impl Iterator<Item = u32> + use<'a, N> {
        let first = self.first;
        let after = |entry: &u32| Some(table[*entry as usize].next());
        core::iter::successors(Some(first), after).take(self.len as usize)
    }
}
