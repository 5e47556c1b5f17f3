//! Alpha scheduling and shortest-first, many strategies side by side.
//!
//! Within a class of equal length (and equal alpha) messages are served in order of arrival and at most one
//! is partly served: an earlier message has the lower key at insertion, and service only lowers it. So the
//! queue of a strategy is, per class, the place of its first unfinished message and that one's remaining
//! packets; an arrival behind another of its class costs nothing.
//!
//! A *lane* is a strategy. At each arrival one vector step over the lanes compares the newcomer's key with
//! the current head's (strictly smaller preempts), then serves the head up to the next arrival or to its
//! end. Only lanes whose head completes go on, one by one, to the smallest key among their classes.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, "Alpha Message Scheduling", sections 5 to 10 |
//! | Work | O(1) per arrival and O(classes) per completion, in each lane; nothing per packet |
//! | Memory | one key and one place per class and lane |

use super::heads::Heads;
use super::key::{Key, Layout};
use super::queues::Queues;
use super::strategy::{FRACTION_BITS, Strategy};
use super::tally::Probe;
use crate::port::timeline::Segment;

/// One value per class and lane.
pub(super) type Rows<T, const C: usize, const N: usize> = [[T; N]; C];

/// Up to `N` strategies ordered by key and up to `C` classes (both powers of two), over the shared timeline.
#[derive(Clone, Debug)]
pub(super) struct Keyed<const C: usize, const N: usize> {
    pub(super) lanes: Lanes<C, N>,
    narrow: Heads<i64, C, N>,
    wide: Heads<i128, C, N>,
}

/// What is kept of the lanes from one segment to the next.
#[derive(Clone, Debug)]
pub(super) struct Lanes<const C: usize, const N: usize> {
    /// The strategy of each lane in use.
    pub(super) strategies: Vec<usize>,
    /// Place of the first unfinished message.
    pub(super) head: Rows<u64, C, N>,
    /// Latencies of the finished ones together.
    pub(super) sum: Rows<u128, C, N>,
    /// Packets left of the first unfinished message.
    pub(super) remaining: Rows<u64, C, N>,
    /// Messages of each class that have arrived.
    pub(super) arrived: [u64; C],
    pub(super) lengths: [u64; C],
    /// Alpha without the binary places that no strategy uses.
    pub(super) alpha: Rows<u64, C, N>,
    /// Whether the tick of insertion is part of the key.
    pub(super) ticked: [bool; N],
    fraction_bits: u32,
    /// The largest `alpha * length`.
    largest: u128,
}

impl<const C: usize, const N: usize> Keyed<C, N> {
    /// Lanes for at most `N` strategies, given with their places in the comparison.
    pub(super) fn new(strategies: &[(usize, &Strategy)], lengths: &[u32]) -> Self {
        Self { lanes: Lanes::new(strategies, lengths), narrow: Heads::new(), wide: Heads::new() }
    }

    #[inline(always)]
    pub(super) fn play<P: Probe>(&mut self, queues: &Queues, segment: &Segment<'_>, probe: &mut P) {
        let layout = self.lanes.layout(queues, segment);
        let bits = layout.bits(self.lanes.largest, segment.end_tick - layout.first_tick);
        if bits <= <i64 as Key>::ROOM {
            self.narrow.play(&mut self.lanes, layout, queues, segment, probe);
        } else {
            self.wide.play(&mut self.lanes, layout, queues, segment, probe);
        }
    }
}

impl<const C: usize, const N: usize> Lanes<C, N> {
    fn new(strategies: &[(usize, &Strategy)], lengths: &[u32]) -> Self {
        let lengths: [u64; C] = core::array::from_fn(|class| lengths.get(class).map_or(1, |&l| u64::from(l)));
        // Lanes without a strategy repeat the first one; nothing reads them.
        let of_lane = |lane: usize| strategies.get(lane).unwrap_or(&strategies[0]).1;
        let row = |class| core::array::from_fn(|lane| of_lane(lane).alpha_bits(class));
        let mut alpha: Rows<u64, C, N> = core::array::from_fn(row);
        let unused = alpha.as_flattened().iter().map(|a| a.trailing_zeros()).fold(FRACTION_BITS, u32::min);
        alpha.as_flattened_mut().iter_mut().for_each(|a| *a >>= unused);
        let largest = alpha
            .iter()
            .zip(&lengths)
            .map(|(row, &length)| u128::from(row.iter().copied().max().unwrap_or(0)) * u128::from(length));
        Self {
            strategies: strategies.iter().map(|lane| lane.0).collect(),
            head: [[0; N]; C],
            sum: [[0; N]; C],
            remaining: lengths.map(|length| [length; N]),
            arrived: [0; C],
            largest: largest.max().unwrap_or(0),
            alpha,
            ticked: core::array::from_fn(|lane| *of_lane(lane) != Strategy::ShortestFirst),
            fraction_bits: FRACTION_BITS - unused,
            lengths,
        }
    }

    /// Counts and sums of a class, for each strategy.
    pub(super) fn read(&self, class: usize, put: &mut impl FnMut(usize, usize, u64, u128)) {
        for (lane, &strategy) in self.strategies.iter().enumerate() {
            put(strategy, class, self.head[class][lane], self.sum[class][lane]);
        }
    }

    /// The place that the slowest lane has reached in a class.
    pub(super) fn slowest(&self, class: usize) -> u64 {
        self.head[class][..self.strategies.len()].iter().copied().min().unwrap_or(0)
    }

    /// Counts ticks and insertion numbers from the oldest message that waits in any lane.
    #[inline(always)]
    fn layout(&self, queues: &Queues, segment: &Segment<'_>) -> Layout {
        let end = segment.first_order + segment.at.len() as u64;
        let (mut first_order, mut first_tick) = (end, segment.end_tick);
        for class in 0..queues.len() {
            let entry = queues.class(class).entry(self.slowest(class));
            if entry.order < first_order {
                (first_order, first_tick) = (entry.order, entry.tick);
            }
        }
        let order_bits = u64::BITS - (end - first_order).leading_zeros();
        Layout {
            class_bits: C.trailing_zeros(),
            order_bits,
            fraction_bits: self.fraction_bits,
            first_order,
            first_tick,
        }
    }
}
