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

    /// The first entry goes to the end; there is one. If it is the only one, it is put behind itself and read back.
    #[inline]
    pub(super) fn rotate<N: Node>(&mut self, table: &mut [N]) {
        table[self.last as usize].set_next(self.first);
        self.last = self.first;
        self.first = table[self.first as usize].next();
    }

    /// Entries go from the front to the end as long as `passes` says so of them, at most `most` of them; returns how many
    /// did. The list is not changed otherwise, and its ends stay in registers.
    #[inline]
    pub(super) fn pass_over<N: Node>(
        &mut self,
        table: &mut [N],
        most: u64,
        mut passes: impl FnMut(&mut N) -> bool,
    ) -> u64 {
        let (Self { mut first, mut last, len }, mut passed) = (*self, 0);
        while passed < most && len > 1 && passes(&mut table[first as usize]) {
            let next = table[first as usize].next();
            table[last as usize].set_next(first);
            (last, first) = (first, next);
            passed += 1;
        }
        *self = Self { first, last, len };
        passed
    }

    /// The entries in order.
    pub(super) fn iter<'a, N: Node>(&self, table: &'a [N]) -> impl Iterator<Item = u32> + use<'a, N> {
        let first = self.first;
        let after = |entry: &u32| Some(table[*entry as usize].next());
        core::iter::successors(Some(first), after).take(self.len as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Default)]
    struct Entry(u32);

    impl Node for Entry {
        fn next(&self) -> u32 {
            self.0
        }
        fn set_next(&mut self, next: u32) {
            self.0 = next;
        }
    }

    #[test]
    fn passing_over_is_taking_and_joining() {
        for entries in 0..6 {
            for (most, refused) in (0..9).flat_map(|most| (0..9).map(move |refused| (most, refused))) {
                let (mut table, mut list) = ([Entry::default(); 6], List::default());
                (0..entries).for_each(|entry| list.push(&mut table, entry));
                let (mut plain_table, mut plain) = (table, list);
                let mut asked = 0;
                let passed = list.pass_over(&mut table, most, |_| {
                    asked += 1;
                    asked <= refused
                });
                for _ in 0..passed {
                    let entry = plain.pop(&plain_table).expect("an entry");
                    plain.push(&mut plain_table, entry);
                }
                assert!(list.iter(&table).eq(plain.iter(&plain_table)));
                assert_eq!(passed, if entries > 1 { most.min(refused) } else { 0 });
                assert_eq!((list.len(), list.last), (plain.len(), plain.last));
            }
        }
    }

    #[test]
    fn rotating_is_taking_and_joining() {
        for entries in 1..6 {
            let (mut table, mut list) = ([Entry::default(); 6], List::default());
            (0..entries).for_each(|entry| list.push(&mut table, entry));
            for turn in 0..9 {
                assert_eq!((list.first(), list.len()), (Some(turn % entries), entries));
                list.rotate(&mut table);
                assert!(list.iter(&table).eq((1..=entries).map(|place| (turn + place) % entries)));
            }
        }
    }
}
