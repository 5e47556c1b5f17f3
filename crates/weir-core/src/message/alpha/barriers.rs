//! The messages that stand before others with smaller keys, as a stack.
//!
//! Recalculation raises the key of the head, which stays where it is: messages behind it may have
//! smaller keys than it. When it is preempted it becomes a *barrier*: a newcomer with a smaller key than
//! its own is inserted before it, any other behind it. Barriers stand in the order of service, the latest
//! first, so they form a stack, and a newcomer is inserted before the first, from the top, whose key is
//! larger than its own.
//!
//! A barrier below one with at least its key can never be that one. Those that can have keys that
//! increase downwards along a chain, and each of the chain points further down it as well (Myers's
//! skew-binary jump pointers), so that the search takes O(log n) steps.
//!
//! | | |
//! |-|-|
//! | Source | Myers, *An applicative random-access stack*, Information Processing Letters 17, 1983 |
//! | Work | push and search O(log n), pop O(1) |

use crate::priority::Key;

/// One barrier; its level is its place in the stack, from 1.
#[derive(Clone, Copy, Debug)]
struct Barrier {
    key: Key,
    /// The nearest level below with a larger key, 0 for none.
    next: u32,
    /// A level further down the chain.
    jump: u32,
    /// How many there are on the chain from here down.
    depth: u32,
    /// The largest key from here down.
    largest: Key,
}

/// The stack of barriers; level 0 is the floor, before which everything can be inserted.
#[derive(Clone, Debug, Default)]
pub(super) struct Barriers {
    stack: Vec<Barrier>,
}

impl Barriers {
    /// The level of the topmost.
    #[inline]
    pub(super) fn top(&self) -> u32 {
        self.stack.len() as u32
    }

    fn at(&self, level: u32) -> Option<&Barrier> {
        self.stack.get((level as usize).wrapping_sub(1))
    }

    fn depth(&self, level: u32) -> u32 {
        self.at(level).map_or(0, |barrier| barrier.depth)
    }

    fn jump(&self, level: u32) -> u32 {
        self.at(level).map_or(0, |barrier| barrier.jump)
    }

    /// Whether `level` is the floor, or its key is larger than `key`.
    fn exceeds(&self, level: u32, key: Key) -> bool {
        self.at(level).is_none_or(|barrier| key < barrier.key)
    }

    /// The level before whose barrier a newcomer with `key` is inserted.
    #[inline]
    pub(super) fn level(&self, key: Key) -> u32 {
        let mut level = self.top();
        while !self.exceeds(level, key) {
            let Some(barrier) = self.at(level) else { return 0 };
            level = if self.exceeds(barrier.jump, key) { barrier.next } else { barrier.jump };
        }
        level
    }

    /// Puts a barrier on top, and returns its level.
    #[inline]
    pub(super) fn push(&mut self, key: Key) -> u32 {
        let next = self.level(key);
        let jump = self.jump(next);
        let even = self.depth(next) - self.depth(jump) == self.depth(jump) - self.depth(self.jump(jump));
        let jump = if even { self.jump(jump) } else { next };
        let (depth, largest) = (self.depth(next) + 1, self.largest().max(key));
        self.stack.push(Barrier { key, next, jump, depth, largest });
        self.top()
    }

    /// Takes off what stands above `level`, that of the first in order: nobody waits there any more.
    #[inline]
    pub(super) fn truncate(&mut self, level: u32) {
        self.stack.truncate(level as usize);
    }

    /// The largest key of all.
    #[inline]
    pub(super) fn largest(&self) -> Key {
        self.stack.last().map_or(Key::default(), |barrier| barrier.largest)
    }

    /// Replaces each key by `f` of it; `f` must keep the order of the keys.
    pub(super) fn map(&mut self, f: impl Fn(Key) -> Key) {
        for barrier in &mut self.stack {
            barrier.key = f(barrier.key);
            barrier.largest = f(barrier.largest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newcomer_goes_before_the_first_larger_barrier() {
        let mut barriers = Barriers::default();
        let keys = [90, 70, 80, 40, 60, 50, 55, 20, 10, 30];
        for key in keys {
            barriers.push(Key(key));
        }
        for height in (0..=keys.len()).rev() {
            for key in 0..100 {
                let first = keys[..height].iter().rposition(|barrier| key < *barrier);
                assert_eq!(barriers.level(Key(key)) as usize, first.map_or(0, |place| place + 1));
            }
            assert_eq!(barriers.largest(), Key(keys[..height].iter().copied().max().unwrap_or(0)));
            barriers.truncate(height.saturating_sub(1) as u32);
        }
    }

    #[test]
    fn a_long_chain_is_searched_in_few_steps() {
        let mut barriers = Barriers::default();
        for key in (100_001..=200_000).rev() {
            barriers.push(Key(key));
        }
        let mut steps = 0;
        let mut level = barriers.top();
        while let Some(barrier) = barriers.at(level).filter(|barrier| barrier.key <= Key(150_000)) {
            level = if barriers.exceeds(barrier.jump, Key(150_000)) { barrier.next } else { barrier.jump };
            steps += 1;
        }
        assert_eq!(level, barriers.level(Key(150_000)));
        assert!(steps <= 64, "{steps}");
    }
}
