//! The tail of one stretch of a run, in few numbers; and a quantile with its interval from several stretches.
//!
//! # The interval
//!
//! The value is the quantile of all data. Its interval is Woodruff's (Journal of the American Statistical Association 47,
//! 1952): an interval for the *share* that is above the value, carried back to values through the distribution of all
//! data. It is not symmetric, which a tail is not either.
//!
//! The share above is a mean of zeros and ones, so its error comes from the stretches as that of a mean does
//! ([`super::linear`]): the number above of each, against its part of all. What is above comes in clumps, as who waits long
//! waits with others. Let `θ` be the relative variance of the number above times that number: the size of a clump, as it
//! counts for the variance. Then `k = n p / θ` exceedances of `n p` are independent, nearly Poisson (Aldous, *Probability
//! Approximations via the Poisson Clumping Heuristic*, 1989), and the ends are those of a Poisson mean: the upper end of the
//! value is where `k'` of `k` are above, `k'` being the largest number whose upper limit is `k`; the lower end is where as
//! many are as have `k` for lower limit (Garwood, Biometrika 28, 1936; the gamma quantiles by Wilson and Hilferty, PNAS 17,
//! 1931). The normal quantile in these is replaced by Student's, since `θ` is estimated from few stretches.
//!
//! A run that happens to have seen no large clump would believe that there is none. So `θ` is also taken at levels that are
//! exceeded 2, 4, 8 and 16 times as often, and the largest counts; and it is not below 1 where less than a hundred are above.
//!
//! # When it is settled
//!
//! If there is an upper end: if the upper limit of a Poisson mean of which none was seen is below `k`, which takes 4 to 5
//! independent exceedances. Otherwise that end is beyond what was seen, the longest stands there, and the quantile is *not
//! settled*. Of a queue whose load is known [`super::run_length`] says it, which does not depend on what was seen.
//!
//! | | |
//! |-|-|
//! | Work | a quantile: O(stretches x levels) and a few passes over the buckets of all |
//! | Memory | [`LEVELS`] numbers a stretch |
//! | Units | those of the values |
//! | Departs from the source | between the levels that are kept of a stretch, the logarithm of the share is linear in the value |

use super::estimate::{Measure, Method, Unavailable};
use super::histogram::{Bucket, Histogram, Ranked};
use super::linear::{Influence, spread};
use super::settled::Settled;
use super::student::two_sided;

/// The levels that are kept: exceeded by a half, a quarter, and so on to one in two million.
pub const LEVELS: usize = 21;
/// The multiples of the share above a quantile at which its clump size is examined too.
const LOOKED_AT: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];
/// Stretches are merged down to this many.
const FEWEST: usize = 8;
/// With fewer values than this above a quantile, they are not taken to be more regular than independent ones.
const REGULAR: f64 = 100.0;
/// The confidence of the interval.
const CONFIDENCE: f64 = super::estimate::CONFIDENCE;

/// The tail of one stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    count: u64,
    /// The value that a share of `0.5^(1 + place)` is above.
    values: [f64; LEVELS],
}

impl Default for Tail {
    fn default() -> Self {
        Self { count: 0, values: [0.0; LEVELS] }
    }
}

impl Tail {
    /// Of a histogram, in one pass over its buckets.
    #[must_use]
    pub fn new<const BITS: u32>(histogram: &Histogram<BITS>) -> Self {
        let count = histogram.count();
        let longest = histogram.maximum().unwrap_or(0) as f64;
        let mut tail = Self { count, values: [longest; LEVELS] };
        // The number that are not above the level at a place, at least.
        let reached_at = |place| count - (share(place) * count as f64) as u64;
        let (mut below, mut place, mut reached) = (0, 0, reached_at(0));
        for (index, own) in histogram.counted() {
            below += own;
            if below < reached {
                continue;
            }
            let Bucket { low, high, .. } = Histogram::<BITS>::bucket(index, own);
            let middle = low as f64 + (high - low) as f64 / 2.0;
            let middle = if below == count { longest } else { middle };
            while place < LEVELS && below >= reached {
                tail.values[place] = middle;
                place += 1;
                reached = reached_at(place);
            }
        }
        tail
    }

    /// How many are above `value`; not a whole number, since it is read between levels.
    #[must_use]
    pub fn above(&self, value: f64) -> f64 {
        let count = self.count as f64;
        let Some(first) = self.values.iter().position(|level| *level > value) else { return 0.0 };
        let Some(last) = first.checked_sub(1) else { return count * (0.5 + 0.5 * below_half(self, value)) };
        let part = (value - self.values[last]) / (self.values[first] - self.values[last]);
        let above = count * share(last) * libm::pow(0.5_f64, part);
        // One at least is above whatever is below the longest.
        above.max(1.0)
    }
}

/// The share above the level at a place.
fn share(place: usize) -> f64 {
    0.5_f64.powi(place as i32 + 1)
}

/// How near 1 the share above is of a value below the middle one: linear to 0.
fn below_half(tail: &Tail, value: f64) -> f64 {
    if tail.values[0] > 0.0 { (1.0 - value / tail.values[0]).clamp(0.0, 1.0) } else { 0.0 }
}

/// What is known of the share above a quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    /// `k`.
    independent: f64,
    /// The stretches that it rests on.
    groups: u64,
}

/// The `p`-quantile of `all`, with its interval from stretches: those of a chain follow each other in time, chains are
/// independent. Stretches without data are left out.
pub fn quantile<const BITS: u32>(all: &Ranked<'_, BITS>, chains: &[Vec<Tail>], p: f64) -> Measure {
    let Some(value) = all.quantile(p) else { return Unavailable::NoObservations.into() };
    let chains: Vec<Vec<Tail>> =
        chains.iter().map(|chain| chain.iter().filter(|tail| tail.count > 0).copied().collect()).collect();
    let held = chains.iter().map(Vec::len).sum::<usize>() as u64;
    if held < 2 {
        return Measure::estimate(value, 0.0, all.count(), Method::Exceedances { groups: held });
    }
    let reading = value * Histogram::<BITS>::RELATIVE_ERROR / 3.0_f64.sqrt();
    let Some(Known { independent, groups }) = known(all, &chains, p) else {
        // No stretch differs from another: what is left is the error of reading.
        return Measure::estimate(value, reading, all.count(), Method::Exceedances { groups: held });
    };
    let reach = two_sided(CONFIDENCE, groups - 1);
    let at = |independents: f64| all.quantile((1.0 - (1.0 - p) * independents / independent).max(0.0));
    let (fewer, more) = (fewest_that_allow(independent, reach), most_that_allow(independent, reach));
    let low = at(more).unwrap_or(value).min(value);
    let high = if fewer > 0.0 { at(fewer) } else { all.maximum().map(|longest| longest as f64) };
    let wider = |end: f64| libm::hypot(end - value, reach * reading);
    let ends = (value - wider(low), value + wider(high.unwrap_or(value).max(value)));
    let needed = upper_limit(0.0, reach);
    Measure::between(value, ends, all.count(), Method::Exceedances { groups })
        .needing(Settled::needing(needed / independent))
}

/// How many exceedances of the `p`-quantile are independent; `None` where all stretches are alike.
fn known<const BITS: u32>(all: &Ranked<'_, BITS>, chains: &[Vec<Tail>], p: f64) -> Option<Known> {
    let count = all.count() as f64;
    let expected = (1.0 - p) * count;
    let (mut clump, mut groups, mut before) = (0.0_f64, u64::MAX, 0.0);
    for times in LOOKED_AT {
        let above = ((1.0 - p) * times).min(0.5_f64.max(1.0 - p));
        // At a half, or at the quantile's own share, it stays.
        if std::mem::replace(&mut before, above) == above {
            break;
        }
        let Some(level) = all.quantile(1.0 - above) else { continue };
        let Some((each, left)) = clump_above(chains, level) else { continue };
        clump = clump.max(each);
        groups = groups.min(left);
    }
    if groups == u64::MAX || clump <= 0.0 {
        return None;
    }
    let clump = clump.max((REGULAR / expected).min(1.0));
    Some(Known { independent: expected / clump, groups })
}

/// The size of a clump above a level, and the stretches that it rests on: the relative variance of the number above it,
/// times that number. Where many values are equal fewer are above than the share says.
fn clump_above(chains: &[Vec<Tail>], level: f64) -> Option<(f64, u64)> {
    let of_chain = |chain: &Vec<Tail>| chain.iter().map(|tail| (tail.above(level), tail.count)).collect();
    let each: Vec<Vec<(f64, u64)>> = chains.iter().map(of_chain).collect();
    let above: f64 = each.iter().flatten().map(|(above, _)| above).sum();
    let count: u64 = each.iter().flatten().map(|(_, count)| count).sum();
    if above <= 0.0 {
        return None;
    }
    let share = above / count as f64;
    let influence =
        |&(own, count): &(f64, u64)| Influence { on_value: (own - share * count as f64) / above, count };
    let found = spread(each.iter().map(|chain| chain.iter().map(influence).collect()).collect(), FEWEST);
    found.map(|(variance, groups)| (variance * above, groups))
}

/// The gamma quantile of a shape, at a normal quantile, by Wilson and Hilferty.
fn gamma(shape: f64, normal: f64) -> f64 {
    let root = 1.0 - 1.0 / (9.0 * shape) + normal / (3.0 * shape.sqrt());
    shape * root.max(0.0).powi(3)
}

/// The upper limit of a Poisson mean of which `seen` events were seen.
fn upper_limit(seen: f64, reach: f64) -> f64 {
    gamma(seen + 1.0, reach)
}

/// The largest number whose upper limit is not above `mean`; 0 where there is none.
fn fewest_that_allow(mean: f64, reach: f64) -> f64 {
    bisected(0.0, mean, |seen| upper_limit(seen, reach) <= mean)
}

/// The largest number whose lower limit is not above `mean`.
fn most_that_allow(mean: f64, reach: f64) -> f64 {
    let far = mean + 10.0 * reach * (reach + mean.sqrt());
    bisected(mean, far, |seen| gamma(seen.max(1e-9), -reach) <= mean)
}

/// The last between two numbers for which something holds that holds up to there; the first where it never holds.
fn bisected(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

crate::encode! {
    Tail { count, values }
}

#[cfg(test)]
mod tests;
