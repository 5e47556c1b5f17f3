//! Fairness: Jain's index, and the effective packet period of the alpha report.
//!
//! | | |
//! |-|-|
//! | Jain's index | Jain, Chiu and Hawe, DEC-TR-301, 1984: `(sum x)^2 / (n sum x^2)`, from `1/n` (one has all) to 1 (all have the same) |
//! | Effective packet period | Cherkasova and Rokicki, section 12: (latency + 1) / length, in packet services |
//!
//! The one added to the latency is the service of the last packet, whose acceptance ends the latency. A
//! discipline is fair in the report's sense if the period hardly depends on the length of the message.

use super::estimate::{Measure, Unavailable};
use super::linear::Linearised;

/// Jain's index of shares; shares are finite and not negative.
pub fn jain(shares: &[f64]) -> Result<f64, Unavailable> {
    let largest = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if shares.is_empty() {
        return Err(Unavailable::NoObservations);
    }
    if !shares.iter().all(|share| share.is_finite() && *share >= 0.0) {
        return Err(Unavailable::OutOfRange);
    }
    if largest == 0.0 {
        return Err(Unavailable::ZeroDenominator);
    }
    // Relative to the largest, so that no square overflows.
    let sum: f64 = shares.iter().map(|share| share / largest).sum();
    let squares: f64 = shares.iter().map(|share| (share / largest).powi(2)).sum();
    Ok(sum * sum / (shares.len() as f64 * squares))
}

/// The effective packet period of messages of `length` packets with the given mean latency.
///
/// `service` is the mean service of a packet, in the unit of the latency; so is the result.
pub fn effective_packet_period(
    latency: Linearised,
    service: f64,
    length: u32,
) -> Result<Linearised, Unavailable> {
    if length == 0 {
        return Err(Unavailable::ZeroDenominator);
    }
    Ok(latency.plus_constant(service).times(1.0 / f64::from(length)))
}

/// The smallest and the largest of a figure over classes, and whose they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes<C> {
    /// The class with the smallest value.
    pub least: (C, Measure),
    /// The class with the largest value.
    pub most: (C, Measure),
}

/// The extremes over `classes`; those without a value are left out, of equal values the first counts.
pub fn extremes<C: Copy>(
    classes: impl IntoIterator<Item = (C, Measure)>,
) -> Result<Extremes<C>, Unavailable> {
    let mut found: Option<(Extremes<C>, f64, f64)> = None;
    for class in classes {
        let Some(value) = class.1.value() else { continue };
        let (all, least, most) = found.get_or_insert((Extremes { least: class, most: class }, value, value));
        if value < *least {
            (all.least, *least) = (class, value);
        }
        if value > *most {
            (all.most, *most) = (class, value);
        }
    }
    found.map(|(all, ..)| all).ok_or(Unavailable::NoObservations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Batches, Pool};

    #[test]
    fn index_by_hand() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Ok(1.0));
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Ok(0.25));
        // 36 / (3 x 14).
        assert!((jain(&[1.0, 2.0, 3.0]).expect("valid") - 6.0 / 7.0).abs() < 1e-12);
        assert!((jain(&[1e300, 2e300, 3e300]).expect("valid") - 6.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn index_of_nothing_is_a_reason() {
        assert_eq!(jain(&[]), Err(Unavailable::NoObservations));
        assert_eq!(jain(&[0.0, 0.0]), Err(Unavailable::ZeroDenominator));
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(jain(&[1.0, bad]), Err(Unavailable::OutOfRange));
        }
    }

    #[test]
    fn period_counts_the_last_packet() {
        // Two messages of 4 packets accepted after 3 and 9 services.
        let mut batches = Batches::new(1, 0);
        batches.record(0, 0, 3_000);
        batches.record(0, 1, 9_000);
        let mut pool = Pool::new();
        pool.push(batches);
        let latency = pool.mean(&[0]).expect("observations");
        let latency_error = latency.estimate().as_estimate().expect("two batches").standard_error();
        let period = effective_packet_period(latency, 1_000.0, 4).expect("a length");
        let measure = period.estimate();
        let estimate = measure.as_estimate().expect("two batches");
        assert_eq!(estimate.value(), 1_750.0);
        assert!((estimate.standard_error() - latency_error / 4.0).abs() < 1e-9);
        assert!(effective_packet_period(period, 1.0, 0).is_err());
    }

    #[test]
    fn extremes_name_their_classes() {
        let classes = [
            (1, Measure::observed(2.0, 1)),
            (2, Unavailable::NoObservations.into()),
            (3, Measure::observed(1.5, 1)),
            (20, Measure::observed(2.0, 1)),
        ];
        let found = extremes(classes).expect("values");
        assert_eq!((found.least.0, found.most.0), (3, 1));
        assert_eq!(extremes(classes[1..2].iter().copied()), Err(Unavailable::NoObservations));
    }
}
