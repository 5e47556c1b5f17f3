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
use super::queues::Queues;
use super::strategy::{FRACTION_BITS, Strategy};
use super::tally::Probe;
use crate::timeline::Segment;

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
    /// The number of lanes in use.
    pub(super) used: usize,
    /// The strategy of each lane.
    pub(super) strategies: [usize; N],
    /// Place of the first unfinished message.
    pub(super) head: Rows<u64, C, N>,
    /// Latencies of the finished ones together: the lower 64 bits, and the upper.
    pub(super) sum: Rows<u64, C, N>,
    pub(super) carry: Rows<u64, C, N>,
    /// Packets left of the first unfinished message.
    pub(super) remaining: Rows<u64, C, N>,
    /// Messages of each class that have arrived.
    pub(super) arrived: [u64; C],
    pub(super) lengths: [u64; C],
    /// The length of each class, lane by lane.
    pub(super) whole: Rows<u64, C, N>,
    /// Alpha without the binary places that no strategy uses.
    pub(super) alpha: Rows<u64, C, N>,
    /// Whether each lane has one alpha for all classes.
    pub(super) uniform: bool,
    /// Whether the tick of insertion is part of the key.
    pub(super) ticked: [bool; N],
}

impl<const C: usize, const N: usize> Keyed<C, N> {
    /// Lanes for at most `N` strategies, given with their places in the comparison; `unused` binary places
    /// of their alphas are dropped.
    pub(super) fn new(strategies: &[(usize, &Strategy)], lengths: &[u32], unused: u32) -> Self {
        Self { lanes: Lanes::new(strategies, lengths, unused), narrow: Heads::new(), wide: Heads::new() }
    }

    #[inline(always)]
    pub(super) fn play<P: Probe>(&mut self, queues: &Queues, segment: &Segment<'_>, probe: &mut P) {
        match (queues.is_narrow(), self.lanes.uniform) {
            (true, true) => self.narrow.play::<P, true>(&mut self.lanes, queues, segment, probe),
            (true, false) => self.narrow.play::<P, false>(&mut self.lanes, queues, segment, probe),
            (false, _) => self.wide.play::<P, false>(&mut self.lanes, queues, segment, probe),
        }
    }
}

/// Binary places that the alphas of all these strategies leave unused.
fn unused_places(strategies: &[(usize, &Strategy)], classes: usize) -> u32 {
    let alphas = strategies.iter().flat_map(|lane| (0..classes).map(|class| lane.1.alpha_bits(class)));
    alphas.map(u64::trailing_zeros).fold(FRACTION_BITS, u32::min)
}

/// The queues for these strategies, and the binary places that none uses: the scale of their keys is common to all.
pub(super) fn queues(strategies: &[(usize, &Strategy)], lengths: &[u32], class_bits: u32) -> (Queues, u32) {
    let unused = unused_places(strategies, lengths.len());
    let product = |class: usize, strategy: &Strategy| {
        u128::from(strategy.alpha_bits(class) >> unused) * u128::from(lengths[class])
    };
    let products = strategies.iter().flat_map(|lane| (0..lengths.len()).map(|class| product(class, lane.1)));
    (Queues::new(lengths.len(), class_bits, FRACTION_BITS - unused, products.max().unwrap_or(0)), unused)
}

impl<const C: usize, const N: usize> Lanes<C, N> {
    fn new(strategies: &[(usize, &Strategy)], lengths: &[u32], unused: u32) -> Self {
        // Lanes without a strategy repeat the first one; nothing reads them.
        let of_lane = |lane: usize| strategies.get(lane).unwrap_or(&strategies[0]);
        let lengths: [u64; C] = core::array::from_fn(|class| lengths.get(class).map_or(1, |&l| u64::from(l)));
        let row = |class| core::array::from_fn(|lane| of_lane(lane).1.alpha_bits(class) >> unused);
        Self {
            used: strategies.len().min(N),
            strategies: core::array::from_fn(|lane| of_lane(lane).0),
            head: [[0; N]; C],
            sum: [[0; N]; C],
            carry: [[0; N]; C],
            whole: lengths.map(|length| [length; N]),
            remaining: lengths.map(|length| [length; N]),
            arrived: [0; C],
            alpha: core::array::from_fn(row),
            uniform: !strategies.iter().any(|lane| matches!(lane.1, Strategy::AlphaPerClass(_))),
            ticked: core::array::from_fn(|lane| *of_lane(lane).1 != Strategy::ShortestFirst),
            lengths,
        }
    }

    /// Counts and sums of a class, for each strategy.
    pub(super) fn read(&self, class: usize, put: &mut impl FnMut(usize, usize, u64, u128)) {
        for (lane, &strategy) in self.strategies[..self.used].iter().enumerate() {
            let sum = u128::from(self.carry[class][lane]) << 64 | u128::from(self.sum[class][lane]);
            put(strategy, class, self.head[class][lane], sum);
        }
    }

    /// Packets that each strategy still holds, counted in its own queue.
    pub(super) fn held(&self, put: &mut impl FnMut(usize, u64)) {
        for (lane, &strategy) in self.strategies[..self.used].iter().enumerate() {
            let of_class = |class: usize| match self.arrived[class] - self.head[class][lane] {
                0 => 0,
                messages => self.remaining[class][lane] + (messages - 1) * self.lengths[class],
            };
            put(strategy, (0..C).map(of_class).sum());
        }
    }

    /// The place that the slowest lane has reached in a class.
    pub(super) fn slowest(&self, class: usize) -> u64 {
        self.head[class][..self.used].iter().copied().min().unwrap_or(0)
    }
}
