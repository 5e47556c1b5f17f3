//! Figures from independent replications: a mean of one number each, and figures that are not means.
//!
//! A share that decides a bound is no mean of shares: that of all data is less biased than the mean of those of its parts.
//! Sectioning takes the first as the value and the spread of the others about it as the error:
//! `sum of (part - whole)^2 / (k (k - 1))` for `k` parts (Asmussen and Glynn, *Stochastic Simulation*, 2007, section III.5).
//! Quantiles have intervals of their own ([`super::tail`]).

use std::borrow::Borrow;

use super::estimate::{CONFIDENCE, Measure, Method, Unavailable};
use super::histogram::{Histogram, Ranked};
use super::tail::{self, Tail};

/// The mean of one number from each replication, with the t interval.
pub fn mean(values: &[f64]) -> Measure {
    let groups = values.len() as u64;
    let Some(mean) = average(values) else { return Unavailable::NoObservations.into() };
    around(mean, values, groups, Method::Replications { groups })
}

/// The probability of something that `hits` of `of` replications have, with the interval of Clopper and Pearson, *The use
/// of confidence or fiducial limits*, Biometrika 26, 1934: it covers at least as it says, whatever the probability. Work
/// O(replications).
pub fn share(hits: u64, of: u64) -> Measure {
    if of == 0 {
        return Unavailable::NoObservations.into();
    }
    let value = hits as f64 / of as f64;
    if of == 1 {
        return Measure::observed(value, of);
    }
    let ends = limits(hits, of, (1.0 - CONFIDENCE) / 2.0);
    Measure::between(value, ends, of, Method::Replications { groups: of })
}

/// The difference of two such probabilities, `own` less `other`, each hits of the same replications: as far apart as the limits of
/// either allow, each of which misses half as often (Bonferroni). So it covers at least as it says, and has a width where all
/// replications are alike.
pub fn share_difference(own: u64, other: u64, of: u64) -> Measure {
    if of == 0 {
        return Unavailable::NoObservations.into();
    }
    let value = (own as f64 - other as f64) / of as f64;
    if of == 1 {
        return Measure::observed(value, of);
    }
    let tail = (1.0 - CONFIDENCE) / 4.0;
    let (own, other) = (limits(own, of, tail), limits(other, of, tail));
    Measure::between(value, (own.0 - other.1, own.1 - other.0), of, Method::Replications { groups: of })
}

/// The least probability under which as many hits or more are not rarer than `tail`, and the largest of as few or fewer.
fn limits(hits: u64, of: u64, tail: f64) -> (f64, f64) {
    let low = if hits == 0 { 0.0 } else { crossing(|p| 1.0 - at_most(hits - 1, of, p) - tail) };
    let high = if hits == of { 1.0 } else { crossing(|p| tail - at_most(hits, of, p)) };
    (low, high)
}

/// Where a function that increases over the probabilities is 0.
fn crossing(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// `P(X <= hits)` of a binomial number of `of`.
fn at_most(hits: u64, of: u64, p: f64) -> f64 {
    let odds = libm::log(p / (1.0 - p));
    let mut term = of as f64 * libm::log1p(-p);
    let mut sum = libm::exp(term);
    for k in 1..=hits {
        term += libm::log((of - k + 1) as f64 / k as f64) + odds;
        sum += libm::exp(term);
    }
    sum
}

/// The figure `whole` of all `count` observations, given the same figure of each section.
pub fn sectioned(whole: f64, sections: &[f64], count: u64) -> Measure {
    around(whole, sections, count, Method::Sectioning { groups: sections.len() as u64 })
}

/// The `p`-quantile of all sections together, which follow each other in time, with its interval in the unit of the values.
pub fn quantile<const BITS: u32>(sections: &[Histogram<BITS>], p: f64) -> Measure {
    let all = Histogram::of_all(sections.iter());
    tail::quantile(&Ranked::new(&all), &[sections.iter().map(Tail::new).collect()], p)
}

/// The largest value of all sections together.
pub fn maximum<const BITS: u32>(sections: &[impl Borrow<Histogram<BITS>>]) -> Measure {
    let each = || sections.iter().map(Borrow::borrow);
    let count = each().map(Histogram::count).sum();
    let largest = each().filter_map(Histogram::maximum).max();
    largest.map_or(Unavailable::NoObservations.into(), |value| Measure::maximum(value as f64, count))
}

/// The mean, taken about the first value: equal values have exactly their value as mean, and no spread.
fn average(values: &[f64]) -> Option<f64> {
    let first = values.first()?;
    Some(first + values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64)
}

/// The t interval around `value`, from the spread of independent `parts` about it.
fn around(value: f64, parts: &[f64], count: u64, method: Method) -> Measure {
    let held = parts.len() as u64;
    if held < 2 {
        return Measure::estimate(value, 0.0, count, method);
    }
    let squares: f64 = parts.iter().map(|part| (part - value).powi(2)).sum();
    let variance = squares / (held as f64 * (held - 1) as f64);
    Measure::estimate(value, variance.sqrt(), count, method)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Against the table of Clopper and Pearson's limits at 95 %.
    #[test]
    fn shares_have_the_limits_of_clopper_and_pearson() {
        for (hits, of, low, high) in [
            (0, 10, 0.0, 0.3085),
            (1, 10, 0.0025, 0.4450),
            (5, 10, 0.1871, 0.8129),
            (10, 10, 0.6915, 1.0),
            (3, 20, 0.0321, 0.3789),
        ] {
            let measure = share(hits, of);
            let estimate = measure.as_estimate().expect("an estimate");
            assert_eq!(estimate.value(), hits as f64 / of as f64);
            assert!(
                (estimate.low() - low).abs() < 5e-5 && (estimate.high() - high).abs() < 5e-5,
                "{estimate:?}"
            );
        }
        assert!(share(1, 1).as_estimate().is_none() && share(0, 0).value().is_none());
    }

    #[test]
    fn shares_that_are_alike_have_a_difference_with_a_width() {
        let ends = |own, other| {
            let measure = share_difference(own, other, 10);
            let estimate = measure.as_estimate().expect("an estimate");
            (estimate.value(), estimate.low(), estimate.high())
        };
        // None of ten at 97.5 %: 1 - 0.0125^(1/10).
        let none = 1.0 - 0.0125_f64.powf(0.1);
        let (value, low, high) = ends(0, 0);
        assert!(value == 0.0 && (low + none).abs() < 1e-9 && (high - none).abs() < 1e-9, "{low} {high}");
        let (value, low, high) = ends(10, 0);
        assert!(value == 1.0 && (low - (1.0 - 2.0 * none)).abs() < 1e-9 && high == 1.0, "{low} {high}");
        assert!(
            share_difference(1, 0, 1).as_estimate().is_none() && share_difference(0, 0, 0).value().is_none()
        );
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
}
