//! Histogram of whole numbers with a stated relative error: logarithmic in the large, linear in the small.
//!
//! Each power of two is divided into `2^BITS` buckets of equal width; below `2^(BITS + 1)` every value has
//! a bucket of its own. A bucket is thus at most `2^-BITS` of its lower end wide, and its midpoint is within
//! `2^-(BITS + 1)` of any value in it: the relative error of a quantile, 0.4 % for the default of 7 bits.
//! The layout is that of HdrHistogram (Tene). Sum, minimum and maximum are exact.
//!
//! | | |
//! |-|-|
//! | Work per value | O(1) without a data-dependent branch: leading zeros, shift, add |
//! | Quantile, merge | O(buckets held); a quantile of [`Ranked`] O(log buckets) |
//! | Memory | up to 256 values: 2 bytes each; then 2, 4 or 8 bytes a bucket by how many values there are, at most `(65 - BITS) << BITS` of them (7,424 for 7 bits), held from the smallest to the largest power of two seen |
//! | Range | all of `u64` |
//! | Units | those of the values: nanoseconds in the engines |
//!
//! A quantile of one histogram says nothing of its own sampling error, since neighbouring messages wait in
//! the same queue; [`super::replications::quantile`] takes that from several histograms.

mod counts;
mod encode;

use counts::{Count, Counts, Width};

use super::total;
use crate::dispatch::{Level, Work};

/// As many values are held by their buckets alone before there are counts: short runs have many histograms of few
/// values, and counts would be most of their time and memory.
const FEW: usize = 256;

/// The number of counts that are examined together.
const STRETCH: usize = 16;

/// Counts of values in buckets of bounded relative width.
#[derive(Clone, Debug)]
pub struct Histogram<const BITS: u32 = 7> {
    /// The bucket of each value, in order of arrival, while they are few; empty once there are counts.
    few: Vec<u16>,
    /// The bucket of the first count.
    first: usize,
    counts: Counts,
    /// How many values the counts are of.
    counted: u64,
    sum: u128,
    minimum: u64,
    maximum: u64,
}

/// Values from `low` to `high`, both inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest value it holds.
    pub low: u64,
    /// The largest value it holds.
    pub high: u64,
    /// How many were recorded.
    pub count: u64,
}

/// A point of the complementary distribution function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exceedance {
    /// The value, the upper end of a bucket: nothing is rounded.
    pub value: u64,
    /// The share of values above it.
    pub share: f64,
}

/// Counts values of several kinds, each in its histogram.
struct Counting<'a, const KINDS: usize, const BITS: u32> {
    histograms: [&'a mut Histogram<BITS>; KINDS],
    values: [&'a [u64]; KINDS],
}

impl<const KINDS: usize, const BITS: u32> Work for Counting<'_, KINDS, BITS> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { mut histograms, mut values } = self;
        for (histogram, values) in histograms.iter_mut().zip(&mut values) {
            if !histogram.holds_all(values) {
                *values = &[];
            }
        }
        let widest = histograms.iter().map(|histogram| histogram.counts.width()).max();
        histograms.iter_mut().for_each(|histogram| histogram.counts.widen(widest.unwrap_or(Width::Narrow)));
        match widest {
            None | Some(Width::Narrow) => Self::count::<u16>(histograms, values),
            Some(Width::Middle) => Self::count::<u32>(histograms, values),
            Some(Width::Wide) => Self::count::<u64>(histograms, values),
        }
    }
}

impl<const KINDS: usize, const BITS: u32> Counting<'_, KINDS, BITS> {
    /// Counts in turns, since an addition to a count waits for the one before where both are of one bucket.
    #[inline(always)]
    fn count<T: Count>(histograms: [&mut Histogram<BITS>; KINDS], values: [&[u64]; KINDS]) {
        let mut counts = histograms.map(|histogram| (histogram.first, T::all(&mut histogram.counts)));
        let mut places = [[0; STRETCH]; KINDS];
        let stretches = values.iter().map(|values| values.len()).min().unwrap_or(0) / STRETCH;
        for stretch in 0..stretches {
            for (kind, places) in places.iter_mut().enumerate() {
                let values = &values[kind][stretch * STRETCH..(stretch + 1) * STRETCH];
                for (place, &value) in places.iter_mut().zip(values) {
                    *place = Histogram::<BITS>::index(value) - counts[kind].0;
                }
            }
            for turn in 0..STRETCH {
                for ((_, counts), places) in counts.iter_mut().zip(&places) {
                    counts[places[turn]].add(1);
                }
            }
        }
        for ((first, counts), values) in counts.iter_mut().zip(values) {
            for &value in &values[stretches * STRETCH..] {
                counts[Histogram::<BITS>::index(value) - *first].add(1);
            }
        }
    }
}

impl<const BITS: u32> Default for Histogram<BITS> {
    fn default() -> Self {
        Self::new()
    }
}

/// Equal where they hold the same values, to the bucket, in whatever form.
impl<const BITS: u32> PartialEq for Histogram<BITS> {
    fn eq(&self, other: &Self) -> bool {
        (self.sum, self.minimum, self.maximum) == (other.sum, other.minimum, other.maximum)
            && self.buckets().eq(other.buckets())
    }
}

impl<const BITS: u32> Eq for Histogram<BITS> {}

impl<const BITS: u32> Histogram<BITS> {
    /// The largest distance of a quantile from the true one, as a share of the true one.
    pub const RELATIVE_ERROR: f64 = 0.5 / (1_u64 << BITS) as f64;

    /// The most buckets that are ever held.
    pub const MOST_BUCKETS: usize = (65 - BITS as usize) << BITS;

    /// An empty histogram, which holds no memory yet.
    #[must_use]
    pub const fn new() -> Self {
        const {
            assert!(
                BITS >= 1 && BITS <= 10,
                "a power of two has 2 to 1024 buckets, and all have numbers of 16 bits"
            )
        };
        Self {
            few: Vec::new(),
            first: 0,
            counts: Counts::NONE,
            counted: 0,
            sum: 0,
            minimum: u64::MAX,
            maximum: 0,
        }
    }

    /// The bucket of `value`. For a value of `2^e` or more and less than `2^(e + 1)` the shift is
    /// `e - BITS`, so that `value >> shift` has `BITS + 1` bits.
    #[inline(always)]
    const fn index(value: u64) -> usize {
        let shift = 63 - BITS - (value | 1 << BITS).leading_zeros();
        ((shift as usize) << BITS) + (value >> shift) as usize
    }

    /// The ends of the bucket at `index`.
    const fn ends(index: usize) -> (u64, u64) {
        let shift = (index >> BITS).saturating_sub(1);
        let low = ((index - (shift << BITS)) as u64) << shift;
        (low, low + ((1 << shift) - 1))
    }

    /// Counts `value`.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.count_at(Self::index(value), 1);
        self.sum += u128::from(value);
        self.minimum = self.minimum.min(value);
        self.maximum = self.maximum.max(value);
    }

    /// Counts all of them: as [`Self::record`] of each, in about half the time where they are many.
    pub fn record_all(&mut self, values: &[u64]) {
        Self::record_together([self], [values]);
    }

    /// Counts values of several kinds, each in its histogram: as [`Self::record_all`] of each, and faster where there are
    /// as many of each kind.
    pub fn record_together<const KINDS: usize>(histograms: [&mut Self; KINDS], values: [&[u64]; KINDS]) {
        Level::detect().run(Counting { histograms, values });
    }

    /// Counts all of them but in the buckets, and sees to it that there is a count for each; `false` where they are so
    /// few that their buckets were kept in place of counts.
    #[inline(always)]
    fn holds_all(&mut self, values: &[u64]) -> bool {
        let (mut sum, mut minimum, mut maximum) = (0_u64, u64::MAX, 0);
        for &value in values {
            sum = sum.wrapping_add(value);
            minimum = minimum.min(value);
            maximum = maximum.max(value);
        }
        if values.is_empty() {
            return false;
        }
        let is_exact = maximum.checked_mul(values.len() as u64).is_some();
        self.sum += if is_exact { u128::from(sum) } else { total(values) };
        self.minimum = self.minimum.min(minimum);
        self.maximum = self.maximum.max(maximum);
        if self.counts.is_empty() && self.few.len() + values.len() <= FEW {
            self.few.extend(values.iter().map(|&value| Self::index(value) as u16));
            return false;
        }
        self.make_room(values.len() as u64);
        let (low, high) = (Self::index(minimum), Self::index(maximum));
        if !self.has_count(low) || !self.has_count(high) {
            self.hold(low, high);
        }
        true
    }

    /// Whether there is a count of the bucket at `index`.
    #[inline]
    fn has_count(&self, index: usize) -> bool {
        index.wrapping_sub(self.first) < self.counts.len()
    }

    /// Makes room for counts of `more` more values.
    #[inline]
    fn make_room(&mut self, more: u64) {
        self.counted += more;
        self.counts.make_room(self.counted);
    }

    /// Counts `more` values at the bucket at `index`.
    #[inline]
    fn count_at(&mut self, index: usize, more: u64) {
        let counted = self.counted + more;
        if self.counts.adds(index.wrapping_sub(self.first), more, counted) {
            self.counted = counted;
        } else {
            self.count_outside(index, more);
        }
    }

    /// Counts where there is no count yet, or where counts have become too narrow.
    #[cold]
    fn count_outside(&mut self, index: usize, more: u64) {
        if self.counts.is_empty() && more == 1 && self.few.len() < FEW {
            self.few.push(index as u16);
            return;
        }
        if !self.has_count(index) {
            self.hold(index, index);
        }
        self.make_room(more);
        self.counts.add(index - self.first, more);
    }

    /// Counts what is in buckets, of which the first is the lowest and the last the highest, in an empty histogram.
    fn count_in_order(&mut self, buckets: &[(usize, u64)]) {
        let [(low, _), .., (high, _)] = *buckets else {
            return buckets.iter().for_each(|&(index, count)| self.count_at(index, count));
        };
        let values = buckets.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        if values <= FEW as u64 {
            let each = buckets.iter().flat_map(|&(index, count)| (0..count).map(move |_| index as u16));
            self.few.extend(each);
            return;
        }
        self.hold(low, high);
        self.make_room(values);
        buckets.iter().for_each(|&(index, count)| self.counts.add(index - self.first, count));
    }

    /// Has counts of the buckets from `low` to `high`, to the ends of their powers of two, and of what was held before.
    #[cold]
    fn hold(&mut self, low: usize, high: usize) {
        let few = std::mem::take(&mut self.few);
        let seen = few.iter().map(|&index| usize::from(index));
        let held = (!self.counts.is_empty()).then(|| (self.first, self.first + self.counts.len() - 1));
        let ends = seen.clone().map(|index| (index, index)).chain(held).chain([(low, high)]);
        let (low, high) = ends.fold((usize::MAX, 0), |all, (low, high)| (all.0.min(low), all.1.max(high)));
        let first = low >> BITS << BITS;
        let length = (high + 1 - first).next_multiple_of(1 << BITS);
        if (first, length) != (self.first, self.counts.len()) {
            let before = if self.counts.is_empty() { 0 } else { self.first - first };
            self.counts.lay_out(before, length);
            self.first = first;
        }
        self.make_room(few.len() as u64);
        seen.for_each(|index| self.counts.add(index - first, 1));
    }

    /// Counts every value of `other` too.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() && self.counts.is_empty() {
            self.clone_from(other);
            return;
        }
        self.merge_counts(other);
        self.sum += other.sum;
        self.minimum = self.minimum.min(other.minimum);
        self.maximum = self.maximum.max(other.maximum);
    }

    /// What all of them hold; room for it is made once.
    #[must_use]
    pub fn of_all<'a>(parts: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let mut all = Self::new();
        let held = parts.filter(|part| !part.is_empty());
        let few = held.clone().map(|part| part.few.len() + FEW * usize::from(!part.counts.is_empty()));
        if few.sum::<usize>() > FEW {
            let low = held.clone().map(|part| part.minimum).min().unwrap_or(0);
            let high = held.clone().map(|part| part.maximum).max().unwrap_or(0);
            all.hold(Self::index(low), Self::index(high));
        }
        held.for_each(|part| all.merge(part));
        all
    }

    fn merge_counts(&mut self, other: &Self) {
        let are_few = self.counts.is_empty() && other.counts.is_empty();
        if are_few && self.few.len() + other.few.len() <= FEW {
            self.few.extend_from_slice(&other.few);
            return;
        }
        let (low, high) = (Self::index(other.minimum), Self::index(other.maximum));
        if !self.has_count(low) || !self.has_count(high) {
            self.hold(low, high);
        }
        self.make_room(other.count());
        other.few.iter().for_each(|&index| self.counts.add(usize::from(index) - self.first, 1));
        if !other.counts.is_empty() {
            self.counts.merge(other.first - self.first, &other.counts);
        }
    }

    /// How many values were recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.few.len() as u64 + self.counted
    }

    /// Their exact sum.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact smallest value.
    #[must_use]
    pub fn minimum(&self) -> Option<u64> {
        (self.minimum <= self.maximum).then_some(self.minimum)
    }

    /// The exact largest value.
    #[must_use]
    pub fn maximum(&self) -> Option<u64> {
        (self.minimum <= self.maximum).then_some(self.maximum)
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.minimum > self.maximum
    }

    /// The value of rank `ceil(p x count)` in increasing order, within [`Self::RELATIVE_ERROR`].
    ///
    /// Nothing if the histogram is empty or `p` is not inside `0..=1`. The first and the last rank are
    /// exact: they are the minimum and the maximum. Of many quantiles [`Ranked`] is made first.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let rank = rank(self.count(), p)?;
        let mut below = 0;
        let holds_rank = |bucket: &Bucket| {
            below += bucket.count;
            below >= rank
        };
        let bucket = self.buckets().find(holds_rank)?;
        Some(self.value_at(rank, self.count(), bucket))
    }

    /// The value of a rank of all, in a bucket.
    fn value_at(&self, rank: u64, count: u64, bucket: Bucket) -> f64 {
        if rank == 1 || rank == count {
            return if rank == 1 { self.minimum } else { self.maximum } as f64;
        }
        let midpoint = bucket.low as f64 + (bucket.high - bucket.low) as f64 / 2.0;
        midpoint.clamp(self.minimum as f64, self.maximum as f64)
    }

    /// Puts the few values in order, as whoever reads them does otherwise each time.
    pub fn put_in_order(&mut self) {
        self.few.sort_unstable();
    }

    /// The buckets that hold something, in increasing order.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counted().map(|(index, count)| Self::bucket(index, count))
    }

    /// The bucket at `index`, which holds `count` values.
    pub(super) fn bucket(index: usize, count: u64) -> Bucket {
        let (low, high) = Self::ends(index);
        Bucket { low, high, count }
    }

    /// The places of the buckets that hold something, in increasing order, and how many they hold.
    pub(super) fn counted(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        // Most counts are zero: stretches of them are passed over at once.
        let length = self.counts.len();
        let held = (0..length).step_by(STRETCH).map(move |from| from..length.min(from + STRETCH));
        let held = held.filter(|stretch| self.counts.any(stretch.clone())).flatten();
        let counted = held.map(|place| (self.first + place, self.counts.get(place)));
        self.few_in_order().chain(counted.filter(|&(_, count)| count > 0))
    }

    /// The buckets of the few values, in increasing order, with how many they hold.
    fn few_in_order(&self) -> impl Iterator<Item = (usize, u64)> + use<BITS> {
        let mut sorted = self.few.clone();
        sorted.sort_unstable();
        let mut sorted = sorted.into_iter().peekable();
        std::iter::from_fn(move || {
            let index = sorted.next()?;
            let more = std::iter::from_fn(|| sorted.next_if_eq(&index)).count() as u64;
            Some((index.into(), 1 + more))
        })
    }

    /// The complementary distribution function: for each bucket that holds something, the share of values
    /// above it. It falls, and the last share, at the bucket of the maximum, is 0.
    pub fn exceedances(&self) -> impl Iterator<Item = Exceedance> + '_ {
        let count = self.count();
        let mut above = count;
        self.buckets().map(move |bucket| {
            above -= bucket.count;
            Exceedance { value: bucket.high.min(self.maximum), share: above as f64 / count as f64 }
        })
    }
}

/// The rank of a quantile of `count` values; nothing if there are none, or `p` is not inside `0..=1`.
fn rank(count: u64, p: f64) -> Option<u64> {
    (count > 0 && (0.0..=1.0).contains(&p)).then(|| ((p * count as f64).ceil() as u64).clamp(1, count))
}

/// A histogram whose buckets know their ranks: a quantile takes O(log buckets).
#[derive(Clone, Debug)]
pub struct Ranked<'a, const BITS: u32 = 7> {
    of: &'a Histogram<BITS>,
    /// How many values are in a bucket or below it.
    up_to: Vec<u64>,
    buckets: Vec<Bucket>,
}

impl<'a, const BITS: u32> Ranked<'a, BITS> {
    /// In one pass over the buckets.
    #[must_use]
    pub fn new(of: &'a Histogram<BITS>) -> Self {
        let buckets: Vec<_> = of.buckets().collect();
        let mut below = 0;
        let mut with = |bucket: &Bucket| {
            below += bucket.count;
            below
        };
        Self { of, up_to: buckets.iter().map(&mut with).collect(), buckets }
    }

    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.up_to.last().copied().unwrap_or(0)
    }

    /// The exact largest value.
    #[must_use]
    pub fn maximum(&self) -> Option<u64> {
        self.of.maximum()
    }

    /// [`Histogram::quantile`].
    #[must_use]
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let rank = rank(self.count(), p)?;
        let at = self.up_to.partition_point(|up_to| *up_to < rank);
        Some(self.of.value_at(rank, self.count(), self.buckets[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    /// The value of rank `ceil(p n)`, from the values themselves.
    fn exact(values: &mut [u64], p: f64) -> u64 {
        values.sort_unstable();
        let rank = ((p * values.len() as f64).ceil() as usize).clamp(1, values.len());
        values[rank - 1]
    }

    #[test]
    fn buckets_follow_each_other_without_gap_or_overlap() {
        let mut next = 0;
        for index in 0..Histogram::<3>::MOST_BUCKETS {
            let (low, high) = Histogram::<3>::ends(index);
            assert_eq!((low, index), (next, Histogram::<3>::index(low)));
            assert_eq!(Histogram::<3>::index(high), index);
            assert!((high - low) as f64 <= low as f64 / 8.0, "{low}..{high}");
            next = high.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends with the largest u64");
        assert_eq!(Histogram::<7>::index(u64::MAX), Histogram::<7>::MOST_BUCKETS - 1);
    }

    #[test]
    fn small_values_are_exact() {
        let histogram = of(&[0, 1, 1, 2, 255]);
        assert_eq!(histogram.quantile(0.5), Some(1.0));
        assert_eq!(histogram.quantile(0.8), Some(2.0));
        assert_eq!(histogram.quantile(1.0), Some(255.0));
        assert_eq!((histogram.minimum(), histogram.maximum()), (Some(0), Some(255)));
        assert_eq!((histogram.count(), histogram.sum()), (5, 259));
        let shares: Vec<_> = histogram.exceedances().map(|point| (point.value, point.share)).collect();
        assert_eq!(shares, [(0, 0.8), (1, 0.4), (2, 0.2), (255, 0.0)]);
    }

    #[test]
    fn memory_follows_what_was_seen() {
        let mut histogram = Histogram::<7>::new();
        (0..FEW as u64).for_each(|value| histogram.record((1 << 30) + value));
        assert_eq!((histogram.few.len(), histogram.counts.len()), (FEW, 0));
        histogram.record(3 << 29);
        assert_eq!((histogram.few.capacity(), histogram.counts.len()), (0, 128), "one power of two");
        histogram.record(1 << 29);
        assert_eq!(histogram.counts.len(), 256, "and the one below");
        assert_eq!((histogram.count(), histogram.minimum()), (FEW as u64 + 2, Some(1 << 29)));
    }

    #[test]
    fn counts_are_as_wide_as_they_must_be() {
        let mut histogram = of(&[5; 300]);
        for (more, values, width) in [
            (0, 300, Width::Narrow),
            (65_235, 65_535, Width::Narrow),
            (1, 65_536, Width::Middle),
            (0xfffe_ffff, 0xffff_ffff, Width::Middle),
            (1, 1 << 32, Width::Wide),
        ] {
            histogram.count_at(Histogram::<7>::index(5), more);
            assert_eq!((histogram.count(), histogram.counts.width()), (values, width));
            let bucket = Bucket { low: 5, high: 5, count: values };
            assert_eq!(histogram.buckets().collect::<Vec<_>>(), [bucket]);
        }
        let mut merged = of(&[5, 6]);
        merged.merge(&histogram);
        merged.merge(&of(&[7; 300]));
        let counts: Vec<u64> = merged.buckets().map(|bucket| bucket.count).collect();
        assert_eq!(counts, [(1 << 32) + 1, 1, 300]);
        merged.record_all(&[7; 40]);
        assert_eq!(merged.buckets().map(|bucket| bucket.count).sum::<u64>(), (1 << 32) + 342);
    }

    #[test]
    fn kinds_of_different_widths_are_counted_together() {
        let (mut narrow, mut wide) = (of(&[9; 300]), of(&[9; 300]));
        wide.count_at(Histogram::<7>::index(9), 1 << 32);
        Histogram::record_together([&mut narrow, &mut wide], [&[8; 50], &[9; 50]]);
        let counts =
            |histogram: &Histogram| histogram.buckets().map(|bucket| bucket.count).collect::<Vec<_>>();
        assert_eq!((counts(&narrow), counts(&wide)), (vec![50, 300], vec![(1 << 32) + 350]));
    }

    #[test]
    fn empty_histogram_has_no_figures() {
        let histogram = of(&[]);
        assert!(histogram.is_empty());
        assert_eq!((histogram.count(), histogram.minimum(), histogram.maximum()), (0, None, None));
        assert_eq!(histogram.quantile(0.5), None);
        assert_eq!(histogram.exceedances().count(), 0);
    }

    #[test]
    fn quantile_needs_a_probability() {
        let histogram = of(&[1, 2, 3]);
        for p in [-0.1, 1.1, f64::NAN] {
            assert_eq!((histogram.quantile(p), Ranked::new(&histogram).quantile(p)), (None, None));
        }
        assert_eq!(Ranked::new(&of(&[])).quantile(0.5), None);
        assert_eq!(histogram.quantile(0.0), Some(1.0));
    }

    fn latencies() -> impl Strategy<Value = Vec<u64>> {
        // Of every magnitude, not only large ones.
        prop::collection::vec((any::<u64>(), 0..64_u32).prop_map(|(bits, shift)| bits >> shift), 1..200)
    }

    proptest! {
        #[test]
        fn merging_equals_recording_all(left in latencies(), right in latencies()) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            let all: Vec<u64> = left.iter().chain(&right).copied().collect();
            prop_assert_eq!(&Histogram::of_all([of(&left), Histogram::new(), of(&right)].iter()), &of(&all));
            prop_assert_eq!(merged, of(&all));
        }

        #[test]
        fn recording_all_is_recording_each(parts in prop::collection::vec(latencies(), 0..4)) {
            let mut at_once = Histogram::<7>::new();
            at_once.record_all(&[]);
            parts.iter().for_each(|part| at_once.record_all(part));
            prop_assert_eq!(at_once, of(&parts.concat()));
        }

        #[test]
        fn quantiles_keep_the_stated_error(mut values in latencies(), p in 0.0..=1.0) {
            let measured = of(&values).quantile(p).expect("not empty");
            let expected = exact(&mut values, p) as f64;
            prop_assert_eq!(Ranked::new(&of(&values)).quantile(p), Some(measured));
            let error = (measured - expected).abs();
            prop_assert!(error <= Histogram::<7>::RELATIVE_ERROR * expected, "{} for {}", measured, expected);
        }

        #[test]
        fn exceedances_are_exact_at_their_values(values in latencies()) {
            let histogram = of(&values);
            for point in histogram.exceedances() {
                let above = values.iter().filter(|&&value| value > point.value).count();
                prop_assert_eq!(point.share, above as f64 / values.len() as f64);
            }
        }
    }
}
