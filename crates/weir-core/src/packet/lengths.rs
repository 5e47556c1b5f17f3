//! Queues by their lengths, so that the longest is found in one step.
//!
//! Queues of one length stand in a list of their own, chained through their table. A queue that gets another length
//! goes to the front of another list: of several as long, the newest is the one that had another length last.
//!
//! | | |
//! |-|-|
//! | Source | Linux, `net/sched/sch_sfq.c` (the lists by depth); McKenney, *Stochastic fairness queueing*, INFOCOM '90 (buffer stealing) |
//! | Work | O(1) for one packet more or less; O(k) for k packets less at once |
//! | Units | packets |
//! | Memory | 12 bytes per queue, one word per length; both stay |

/// No queue.
pub(super) const NONE: u32 = u32::MAX;

/// How long a queue is, and its neighbours among those of its length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    length: u32,
    newer: u32,
    older: u32,
}

impl Link {
    /// Of an empty queue, which stands in no list.
    pub(super) const EMPTY: Self = Self { length: 0, newer: NONE, older: NONE };

    /// How many packets wait in the queue.
    #[inline]
    pub(super) fn length(&self) -> u32 {
        self.length
    }
}

/// An entry of a table of queues.
pub(super) trait Linked {
    /// Its link.
    fn link(&self) -> &Link;
    /// The same, to change.
    fn link_mut(&mut self) -> &mut Link;
}

impl Linked for Link {
    #[inline]
    fn link(&self) -> &Link {
        self
    }
    #[inline]
    fn link_mut(&mut self) -> &mut Link {
        self
    }
}

/// The lists of queues by length, over a table that the caller has.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    /// The newest queue of each length, from one on.
    newest: Vec<u32>,
    /// The greatest length.
    longest: u32,
}

impl Lengths {
    /// The greatest length; 0 if nothing waits.
    #[inline]
    pub(super) fn longest(&self) -> u32 {
        self.longest
    }

    /// The newest of the longest queues, if something waits.
    #[inline]
    pub(super) fn newest_of_longest(&self) -> Option<u32> {
        if self.longest > 0 { self.newest.get(self.longest as usize).copied() } else { None }
    }

    /// Nothing waits; the links of the table are emptied by the caller.
    pub(super) fn clear(&mut self) {
        self.newest.fill(NONE);
        self.longest = 0;
    }

    /// A queue gets another length, and becomes the newest of those who have it.
    #[inline(always)]
    pub(super) fn set<Q: Linked>(&mut self, queues: &mut [Q], at: u32, changed: u32) {
        let Link { length, newer, older } = *queues[at as usize].link();
        if length > 0 {
            match queues.get_mut(newer as usize) {
                Some(newer) => newer.link_mut().older = older,
                None => self.newest[length as usize] = older,
            }
            if let Some(older) = queues.get_mut(older as usize) {
                older.link_mut().newer = newer;
            }
        }
        if changed as usize >= self.newest.len() {
            self.newest.resize(changed as usize + 1, NONE);
        }
        let older =
            if changed > 0 { core::mem::replace(&mut self.newest[changed as usize], at) } else { NONE };
        if let Some(older) = queues.get_mut(older as usize) {
            older.link_mut().newer = at;
        }
        *queues[at as usize].link_mut() = Link { length: changed, newer: NONE, older };
        self.longest = self.longest.max(changed);
        while self.longest > 0 && self.newest[self.longest as usize] == NONE {
            self.longest -= 1;
        }
    }
}

/// Lengths apart from the queues, for a table that keeps them only where the longest queue gives way.
#[derive(Clone, Debug, Default)]
pub(super) struct LengthsApart {
    links: Vec<Link>,
    lengths: Lengths,
}

impl LengthsApart {
    /// Notes that `length` packets wait in a queue now.
    #[inline]
    pub(super) fn set(&mut self, at: u32, length: u64) {
        if at as usize >= self.links.len() {
            self.links.resize(at as usize + 1, Link::EMPTY);
        }
        let length = u32::try_from(length).unwrap_or(u32::MAX - 1);
        if self.links[at as usize].length != length {
            self.lengths.set(&mut self.links, at, length);
        }
    }

    /// The queue that gives way to a newcomer of another, in which `waiting` packets wait: the longest, if it will be
    /// longer than that one with the newcomer.
    #[inline]
    pub(super) fn gives_way_to(&self, waiting: u64) -> Option<u32> {
        self.lengths.newest_of_longest().filter(|_| u64::from(self.lengths.longest) > waiting + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Random;

    #[test]
    fn the_longest_is_that_of_a_search() {
        const QUEUES: usize = 9;
        let (mut apart, mut random) = (LengthsApart::default(), Random::new(3));
        // The length of each queue, and when it got it.
        let (mut plain, mut change) = ([(0_u64, 0_u64); QUEUES], 0);
        for _ in 0..50_000 {
            let at = random.below(QUEUES as u64) as usize;
            let length = match random.below(4) {
                0 => plain[at].0 + 1,
                1 => plain[at].0.saturating_sub(1),
                2 => random.below(12),
                _ => 0,
            };
            if length != plain[at].0 {
                change += 1;
                plain[at] = (length, change);
            }
            apart.set(at as u32, length);
            let longest = plain.iter().enumerate().max_by_key(|(_, queue)| **queue);
            let (expected, &(length, _)) = longest.expect("queues");
            assert_eq!(u64::from(apart.lengths.longest()), length);
            for waiting in 0..12 {
                let gives_way = (length > waiting + 1).then_some(expected as u32);
                assert_eq!(apart.gives_way_to(waiting), gives_way);
            }
        }
    }

    #[test]
    fn whoever_is_newest_of_the_longest_gives_way() {
        let mut apart = LengthsApart::default();
        apart.set(4, 3);
        apart.set(2, 3);
        assert_eq!(apart.gives_way_to(1), Some(2));
        apart.set(4, 2);
        apart.set(4, 3);
        assert_eq!(apart.gives_way_to(1), Some(4));
        assert_eq!(apart.gives_way_to(2), None, "it would be as long itself");
    }
}
