//! Figures from independent replications: a mean of one number each, and figures that are not means.
//!
//! A quantile is no mean, and the quantile of all data is less biased than the mean of the quantiles of its
//! parts. Sectioning takes the first as the value and the spread of the others about it as the error:
//! `sum of (part - whole)^2 / (k (k - 1))` for `k` parts (Asmussen and Glynn, *Stochastic Simulation*, 2007,
//! section III.5; for quantiles Nakayama, ACM TOMACS 24(4), 2014). The parts are replications, or stretches
//! of one run long enough to be nearly independent, each with its own histogram; correlation inside a part
//! does no harm.

use super::estimate::{Measure, Method, Unavailable};
use super::histogram::Histogram;

/// The mean of one number from each replication, with the t interval.
pub fn mean(values: &[f64]) -> Measure {
    let groups = values.len() as u64;
    let Some(mean) = average(values) else { return Unavailable::NoObservations.into() };
    around(mean, values, groups, Method::Replications { groups }, 0.0)
}

/// The figure `whole` of all `count` observations, given the same figure of each section.
pub fn sectioned(whole: f64, sections: &[f64], count: u64) -> Measure {
    around(whole, sections, count, Method::Sectioning { groups: sections.len() as u64 }, 0.0)
}

/// The `p`-quantile of all sections together, with its interval in the unit of the values.
///
/// A histogram tells a quantile within a share `e` of it. That is taken as an error spread evenly over
/// `-e..=e`, independent of the chance of the run: its variance `e^2 / 3` is added, which covers all of it
/// where there is no other. Sections without data are left out.
pub fn quantile<const BITS: u32>(sections: &[Histogram<BITS>], p: f64) -> Measure {
    let mut all = Histogram::<BITS>::new();
    sections.iter().for_each(|section| all.merge(section));
    let parts: Vec<f64> = sections.iter().filter_map(|section| section.quantile(p)).collect();
    quantile_of_parts(&all, &parts, p)
}

/// The `p`-quantile of `all`, as [`quantile`] has it, given the same quantile of each section that has data.
pub fn quantile_of_parts<const BITS: u32>(all: &Histogram<BITS>, parts: &[f64], p: f64) -> Measure {
    let Some(whole) = all.quantile(p) else { return Unavailable::NoObservations.into() };
    let reading = (whole * Histogram::<BITS>::RELATIVE_ERROR).powi(2) / 3.0;
    let method = Method::Sectioning { groups: parts.len() as u64 };
    around(whole, parts, all.count(), method, reading)
}

/// The largest value of all sections together.
pub fn maximum<const BITS: u32>(sections: &[Histogram<BITS>]) -> Measure {
    let count = sections.iter().map(Histogram::count).sum();
    let largest = sections.iter().filter_map(Histogram::maximum).max();
    largest.map_or(Unavailable::NoObservations.into(), |value| Measure::maximum(value as f64, count))
}

/// The mean, taken about the first value: equal values have exactly their value as mean, and no spread.
fn average(values: &[f64]) -> Option<f64> {
    let first = values.first()?;
    Some(first + values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64)
}

/// The t interval around `value`, from the spread of independent `parts` about it and a variance besides.
fn around(value: f64, parts: &[f64], count: u64, method: Method, besides: f64) -> Measure {
    let held = parts.len() as u64;
    if held < 2 {
        return Measure::estimate(value, 0.0, count, method);
    }
    let squares: f64 = parts.iter().map(|part| (part - value).powi(2)).sum();
    let variance = squares / (held as f64 * (held - 1) as f64) + besides;
    Measure::estimate(value, variance.sqrt(), count, method)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::Noise;

    #[test]
    fn mean_by_hand() {
        let measure = mean(&[2.0, 4.0, 4.0, 6.0]);
        let estimate = measure.as_estimate().expect("an estimate");
        // Squares 4 + 0 + 0 + 4, over 4 x 3.
        assert_eq!(estimate.value(), 4.0);
        assert!((estimate.standard_error() - (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((estimate.half_width() - 3.182_446_305 * (2.0_f64 / 3.0).sqrt()).abs() < 1e-6);
        assert_eq!(estimate.method(), Method::Replications { groups: 4 });
    }

    #[test]
    fn equal_values_have_no_spread() {
        let measure = mean(&[0.1; 8]);
        let estimate = measure.as_estimate().expect("an estimate");
        assert_eq!((estimate.value(), estimate.standard_error()), (0.1, 0.0));
    }

    #[test]
    fn too_few_replications_are_a_reason() {
        assert_eq!(mean(&[]), Unavailable::NoObservations.into());
        assert_eq!(mean(&[1.0]), Measure::observed(1.0, 1));
        assert_eq!(sectioned(1.0, &[], 0), Unavailable::TooFewGroups { held: 0 }.into());
        let none: [Histogram; 3] = [Histogram::new(), Histogram::new(), Histogram::new()];
        assert_eq!(quantile(&none, 0.5), Unavailable::NoObservations.into());
        assert_eq!(maximum(&none), Unavailable::NoObservations.into());
        let mut one = none.clone();
        one[1].record(5);
        assert_eq!(quantile(&one, 0.5), Measure::observed(5.0, 1));
        assert_eq!(maximum(&one), Measure::maximum(5.0, 1));
    }

    #[test]
    fn sections_spread_about_the_whole() {
        let measure = sectioned(5.0, &[4.0, 7.0], 10);
        let estimate = measure.as_estimate().expect("an estimate");
        assert_eq!((estimate.value(), estimate.count()), (5.0, 10));
        assert!((estimate.standard_error() - 2.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_error_of_reading_is_covered_where_there_is_no_other() {
        let mut section = Histogram::<7>::new();
        (0..10).for_each(|_| section.record(1_000_003));
        section.record(1_100_000);
        let measure = quantile(&vec![section; 40], 0.5);
        let estimate = measure.as_estimate().expect("an estimate");
        assert!(estimate.half_width() > estimate.value() * Histogram::<7>::RELATIVE_ERROR);
        assert!(estimate.half_width() < estimate.value() * Histogram::<7>::RELATIVE_ERROR * 1.2);
    }

    #[test]
    fn quantile_intervals_cover_at_about_their_level() {
        let mut random = Noise::new(11);
        let section = |random: &mut Noise| {
            let mut histogram = Histogram::<7>::new();
            (0..2_000).for_each(|_| histogram.record((random.exponential() * 1e9) as u64));
            histogram
        };
        let covers = |p: f64, random: &mut Noise| {
            let sections: Vec<_> = (0..10).map(|_| section(random)).collect();
            let measure = quantile(&sections, p);
            let estimate = measure.as_estimate().expect("an estimate");
            let truth = -(1.0 - p).ln() * 1e9;
            (estimate.low()..=estimate.high()).contains(&truth)
        };
        for p in [0.5, 0.9, 0.99] {
            let covered = (0..200).filter(|_| covers(p, &mut random)).count();
            assert!((180..=200).contains(&covered), "p = {p}: {covered} of 200");
        }
    }
}
