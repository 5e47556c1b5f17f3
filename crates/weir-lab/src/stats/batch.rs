//! Batches of one replication: counts and sums of every series in windows of ticks.
//!
//! A tick is whatever the engine counts (packets accepted by the port); an observation made at tick `t`
//! belongs to batch `t / size`. All series share the windows, so that series of different disciplines can
//! be compared batch by batch. When more than [`MOST`] batches would be held, neighbours are merged and
//! the size doubles: memory is flat in the length of the run, and a run ends with 128 to 256 batches
//! whatever its length. (The doubling is that of Fishman and Yarberry, INFORMS Journal on Computing 9(3),
//! 1997, "An implementation of the batch means method".)
//!
//! | | |
//! |-|-|
//! | Work per observation | O(1): one shift, one bounds check, two additions |
//! | Memory | `MOST` x series x 32 bytes |
//! | Units | ticks of the engine; sums in the unit of the series, exact |

use super::estimate::Unavailable;
use crate::encode::Encode;

/// The most batches that are held.
pub const MOST: usize = 256;

/// Observations of one series in one batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: u128,
}

impl Total {
    /// Counts the observations of `other` too.
    #[inline]
    pub fn add(&mut self, other: Self) {
        self.count += other.count;
        self.sum += other.sum;
    }

    /// The mean of the observations.
    pub fn mean(self) -> Result<f64, Unavailable> {
        if self.count == 0 {
            Err(Unavailable::NoObservations)
        } else {
            Ok(self.sum as f64 / self.count as f64)
        }
    }
}

/// Counts and sums of several series in common windows of ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches {
    series: usize,
    /// The tick at which the first batch begins; what was observed before is not counted.
    origin: u64,
    /// The size of a batch is two to this power, in ticks.
    doublings: u32,
    /// Batch by batch, the series of a batch side by side.
    totals: Vec<Total>,
}

impl Batches {
    /// No batches yet, for `series` series; ticks before `origin` (a given warm-up) are not counted.
    ///
    /// # Panics
    ///
    /// If there is no series.
    #[must_use]
    pub fn new(series: usize, origin: u64) -> Self {
        assert!(series > 0, "batches of 0 series, must be at least 1");
        Self { series, origin, doublings: 0, totals: Vec::with_capacity(series * MOST) }
    }

    /// The same with windows of at least `size` ticks, rounded up to a power of two: who adds several
    /// observations at once takes no larger pieces than that, or windows without data lie between.
    #[must_use]
    pub fn in_windows_of(mut self, size: u64) -> Self {
        self.doublings = size.clamp(1, 1 << 62).next_power_of_two().trailing_zeros();
        self
    }

    /// Adds one observation of `series` made at `tick`.
    ///
    /// # Panics
    ///
    /// If `series` is not one of this object.
    #[inline]
    pub fn record(&mut self, series: usize, tick: u64, value: u64) {
        self.add(series, tick, Total { count: 1, sum: u128::from(value) });
    }

    /// Adds several observations of `series` made at `tick`, or in its window, at once.
    ///
    /// # Panics
    ///
    /// If `series` is not one of this object.
    #[inline]
    pub fn add(&mut self, series: usize, tick: u64, total: Total) {
        assert!(series < self.series, "series {series} of {}", self.series);
        let Some(since) = tick.checked_sub(self.origin) else { return };
        let batch = since >> self.doublings;
        let place = if batch < MOST as u64 { batch as usize * self.series + series } else { usize::MAX };
        match self.totals.get_mut(place) {
            Some(held) => held.add(total),
            None => self.open(series, since).add(total),
        }
    }

    /// Makes room for the batch of `since`, merging where necessary, and returns the place of `series`.
    #[cold]
    fn open(&mut self, series: usize, since: u64) -> &mut Total {
        while since >> self.doublings >= MOST as u64 {
            self.double_size();
        }
        let batch = (since >> self.doublings) as usize;
        let needed = (batch + 1) * self.series;
        if self.totals.len() < needed {
            self.totals.resize(needed, Total::default());
        }
        &mut self.totals[batch * self.series + series]
    }

    /// Merges each pair of neighbouring batches, if there are two.
    pub fn merge_neighbours(&mut self) {
        if self.len() > 1 {
            self.double_size();
        }
    }

    fn double_size(&mut self) {
        let (series, batches) = (self.series, self.len());
        for batch in 0..batches {
            for at in 0..series {
                let total = self.totals[batch * series + at];
                let into = &mut self.totals[batch / 2 * series + at];
                if batch % 2 == 0 { *into = total } else { into.add(total) }
            }
        }
        self.totals.truncate(batches.div_ceil(2) * series);
        self.doublings += 1;
    }

    /// Gives all of one replication the same batches, so that their series can be compared batch by batch:
    /// neighbours are merged up to the largest size, and missing last batches are empty.
    pub fn align(several: &mut [&mut Self]) {
        let size = several.iter().map(|batches| batches.doublings).max().unwrap_or(0);
        for batches in several.iter_mut() {
            while batches.doublings < size {
                batches.double_size();
            }
        }
        let longest = several.iter().map(|batches| batches.len()).max().unwrap_or(0);
        several
            .iter_mut()
            .for_each(|batches| batches.totals.resize(longest * batches.series, Total::default()));
    }

    /// Forgets the first `batches` batches (a warm-up found by [`super::mser`]), and whatever is recorded
    /// later for their ticks.
    pub fn discard(&mut self, batches: usize) {
        let batches = batches.min(self.len());
        self.totals.drain(..batches * self.series);
        self.origin += (batches as u64) << self.doublings;
    }

    /// Gives back the memory that no batch uses.
    pub fn shrink(&mut self) {
        self.totals.shrink_to_fit();
    }

    /// The number of series.
    #[must_use]
    pub fn series(&self) -> usize {
        self.series
    }

    /// The number of batches; the last may still be filling.
    #[must_use]
    pub fn len(&self) -> usize {
        self.totals.len() / self.series
    }

    /// Whether nothing has been recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.totals.is_empty()
    }

    /// The tick at which the batch of `tick` ends; one of the warm-up belongs to the first.
    #[must_use]
    pub fn end_of(&self, tick: u64) -> u64 {
        let batch = tick.saturating_sub(self.origin) >> self.doublings;
        self.origin.saturating_add((batch + 1).saturating_mul(self.size()))
    }

    /// Ticks in a batch.
    #[must_use]
    pub fn size(&self) -> u64 {
        1 << self.doublings
    }

    /// The tick at which the first batch begins.
    #[must_use]
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// For each batch, the observations of all `series` together.
    pub fn totals<'a>(&'a self, series: &'a [usize]) -> impl Iterator<Item = Total> + 'a {
        self.totals.chunks_exact(self.series).map(move |batch| sum_of(batch, series))
    }

    /// For each batch, the mean over all `series` together: the input of [`super::mser`].
    ///
    /// A batch without an observation has no mean; merge neighbours until there is none.
    pub fn means(&self, series: &[usize]) -> Result<Vec<f64>, Unavailable> {
        self.totals(series).map(Total::mean).collect()
    }
}

fn sum_of(batch: &[Total], series: &[usize]) -> Total {
    let mut sum = Total::default();
    series.iter().for_each(|&at| sum.add(batch[at]));
    sum
}

crate::encode! {
    Total { count, sum }
}

impl Encode for Batches {
    fn encode(&self, into: &mut Vec<u8>) {
        let Self { series, origin, doublings, totals } = self;
        (*series, (*origin, *doublings)).encode(into);
        totals.encode(into);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let (series, (origin, doublings)) = Encode::decode(from)?;
        let totals: Vec<Total> = Encode::decode(from)?;
        let is_one = series > 0 && doublings < u64::BITS && totals.len().is_multiple_of(series);
        let is_one = is_one && totals.len() / series <= MOST;
        is_one.then_some(Self { series, origin, doublings, totals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total(count: u64, sum: u128) -> Total {
        Total { count, sum }
    }

    #[test]
    fn windows_by_hand() {
        let mut batches = Batches::new(2, 0);
        batches.record(0, 0, 10);
        batches.record(1, 1, 3);
        batches.record(0, 1, 5);
        batches.record(0, 1, 7);
        assert_eq!(batches.totals(&[0]).collect::<Vec<_>>(), [total(1, 10), total(2, 12)]);
        assert_eq!(batches.totals(&[1]).collect::<Vec<_>>(), [total(0, 0), total(1, 3)]);
        assert_eq!(batches.totals(&[0, 1]).collect::<Vec<_>>(), [total(1, 10), total(3, 15)]);
        batches.record(0, 3, 1);
        batches.merge_neighbours();
        assert_eq!(batches.totals(&[0]).collect::<Vec<_>>(), [total(3, 22), total(1, 1)]);
        assert_eq!(batches.size(), 2);
        assert_eq!(batches.means(&[0]), Ok(vec![22.0 / 3.0, 1.0]));
        assert_eq!(batches.means(&[1]), Err(Unavailable::NoObservations));
    }

    #[test]
    fn memory_is_flat_and_nothing_is_lost() {
        let mut batches = Batches::new(1, 0);
        for tick in 0..100_000 {
            batches.record(0, tick, tick);
        }
        let held = batches.totals(&[0]).fold(Total::default(), |mut sum, batch| {
            sum.add(batch);
            sum
        });
        assert_eq!(held, total(100_000, 99_999 * 100_000 / 2));
        assert_eq!((batches.len(), batches.size()), (196, 512));
    }

    #[test]
    fn ticks_far_ahead_are_taken() {
        let mut batches = Batches::new(3, 0);
        batches.record(2, 0, 5);
        batches.record(2, u64::MAX, 7);
        assert_eq!(batches.len(), MOST);
        let held: Vec<_> = batches.totals(&[2]).filter(|total| total.count > 0).collect();
        assert_eq!(held, [total(1, 5), total(1, 7)]);
    }

    #[test]
    fn aligned_batches_have_one_size_and_number() {
        let (mut long, mut short) = (Batches::new(1, 0), Batches::new(2, 0));
        (0..300).for_each(|tick| long.record(0, tick, 1));
        (0..100).for_each(|tick| short.record(1, tick, 1));
        Batches::align(&mut [&mut long, &mut short]);
        assert_eq!((long.len(), short.len()), (150, 150));
        assert_eq!((long.size(), short.size()), (2, 2));
        assert_eq!(short.totals(&[1]).map(|total| total.count).sum::<u64>(), 100);
    }

    #[test]
    fn warm_up_is_not_counted() {
        let mut batches = Batches::new(1, 10);
        for tick in 0..14 {
            batches.record(0, tick, tick);
        }
        assert_eq!(batches.means(&[0]), Ok(vec![10.0, 11.0, 12.0, 13.0]));
        batches.discard(1);
        batches.record(0, 10, 99);
        batches.record(0, 11, 13);
        assert_eq!(batches.means(&[0]), Ok(vec![12.0, 12.0, 13.0]));
        assert_eq!(batches.origin(), 11);
        batches.discard(50);
        assert!(batches.is_empty());
    }

    proptest! {
        #[test]
        fn order_of_recording_does_not_matter(
            mut seen in prop::collection::vec((0..3_usize, 0..5_000_u64, any::<u64>()), 1..300)
        ) {
            let all = |seen: &[(usize, u64, u64)]| {
                let mut batches = Batches::new(3, 0);
                seen.iter().for_each(|&(series, tick, value)| batches.record(series, tick, value));
                batches
            };
            let forward = all(&seen);
            seen.sort_unstable();
            prop_assert_eq!(&forward, &all(&seen));
        }
    }
}
