//! Queues by their lengths, so that the longest is found in one step.
//!
//! Queues of one length stand in a ring of their own. A queue that gets another length goes to the front of another
//! ring: of several as long, the newest is the one that had another length last. Each ring has a head, which stands
//! between its oldest and its newest, so that a queue has two neighbours wherever it stands, and none is asked for.
//!
//! | | |
//! |-|-|
//! | Source | Linux, `net/sched/sch_sfq.c` (the lists by depth); McKenney, *Stochastic fairness queueing*, INFOCOM '90 (buffer stealing) |
//! | Work | O(1) for one packet more or less; O(k) for k packets less at once |
//! | Units | packets |
//! | Memory | 16 bytes per queue or per length, of whichever there are more, up to the next power of two; both stay |

/// No queue.
pub(super) const NONE: u32 = u32::MAX;

/// Longer queues count as this long.
const LONGEST: u32 = (u32::MAX >> 1) - 1;

/// The neighbours of a queue among those of its length, or of a head: its oldest and its newest.
#[derive(Clone, Copy, Debug)]
struct Node {
    newer: u32,
    older: u32,
}

/// The node of a queue; heads stand in between.
#[inline]
fn node_of(queue: u32) -> u32 {
    2 * queue
}

/// The head of the ring of a length.
#[inline]
fn head_of(length: u32) -> u32 {
    2 * length + 1
}

/// Where a node stands among a power of two of nodes; the compiler sees that it is there, which saves it a question.
#[inline(always)]
fn place(nodes: &[Node], at: u32) -> usize {
    at as usize & nodes.len().wrapping_sub(1)
}

/// The rings of queues by length.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    nodes: Vec<Node>,
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
        (self.longest > 0).then(|| self.nodes[head_of(self.longest) as usize].older / 2)
    }

    /// Nothing waits.
    pub(super) fn clear(&mut self) {
        *self = Self { nodes: core::mem::take(&mut self.nodes), longest: 0 };
        (0_u32..).zip(&mut self.nodes).for_each(|(at, node)| *node = Node { newer: at, older: at });
    }

    /// A queue gets another length, and becomes the newest of those who have it.
    pub(super) fn set(&mut self, queue: u32, length: u32) {
        self.reach(queue, length);
        self.relink(queue, length);
        self.longest = self.longest.max(length);
        while self.longest > 0 && self.is_empty(self.longest) {
            self.longest -= 1;
        }
    }

    /// The same of a queue that has one packet more.
    #[inline(always)]
    pub(super) fn longer(&mut self, queue: u32, length: u32) {
        self.reach(queue, length);
        self.relink(queue, length);
        self.longest = self.longest.max(length);
    }

    /// The same of a queue that has one packet less: if it was the only one as long, it is one of the longest still.
    #[inline(always)]
    pub(super) fn shorter(&mut self, queue: u32, length: u32) {
        self.relink(queue, length);
        self.longest -= u32::from(self.longest > 0 && self.is_empty(self.longest));
    }

    /// Whether no queue has this length.
    #[inline(always)]
    fn is_empty(&self, length: u32) -> bool {
        let (nodes, head) = (&self.nodes[..], head_of(length));
        nodes[place(nodes, head)].older == head
    }

    /// Moves a queue from its ring to the front of another.
    #[inline(always)]
    fn relink(&mut self, queue: u32, length: u32) {
        let (at, head) = (node_of(queue), head_of(length));
        let nodes = &mut self.nodes[..];
        if nodes.is_empty() {
            return;
        }
        let Node { newer, older } = nodes[place(nodes, at)];
        nodes[place(nodes, newer)].older = older;
        nodes[place(nodes, older)].newer = newer;
        let older = core::mem::replace(&mut nodes[place(nodes, head)].older, at);
        nodes[place(nodes, at)] = Node { newer: head, older };
        nodes[place(nodes, older)].newer = at;
    }

    /// Makes the nodes of a queue and of a length.
    #[inline(always)]
    fn reach(&mut self, queue: u32, length: u32) {
        let last = node_of(queue).max(head_of(length));
        if last as usize >= self.nodes.len() {
            self.grow(last);
        }
    }

    /// Makes a power of two of nodes, this one among them, each alone in its ring.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, last: u32) {
        let alone = |at| Node { newer: at, older: at };
        self.nodes.extend((self.nodes.len() as u32..(last + 1).next_power_of_two()).map(alone));
    }
}

/// The lengths of the queues too, for a table that keeps them only where the longest queue gives way.
#[derive(Clone, Debug, Default)]
pub(super) struct LengthsApart {
    /// Of each queue.
    known: Vec<u32>,
    lengths: Lengths,
}

impl LengthsApart {
    /// Notes that `length` packets wait in a queue now. A call of its own, so that tables without lengths do not carry it
    /// in their loops.
    #[cold]
    #[inline(never)]
    pub(super) fn set(&mut self, at: u32, length: u64) {
        if at as usize >= self.known.len() {
            self.known.resize(at as usize + 1, 0);
        }
        let length = u32::try_from(length).unwrap_or(LONGEST).min(LONGEST);
        if core::mem::replace(&mut self.known[at as usize], length) != length {
            self.lengths.set(at, length);
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
