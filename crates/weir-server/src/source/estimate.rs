//! What disciplines know of a request's service.
//!
//! An estimate within a factor is `service * factor^x`, `x` even in (-1, 1). It is computed from exactly rounded
//! operations alone, so it is the same on every machine.

use crate::model::{Known, ServerScenario};
use weir_core::units::Nanos;
use weir_lab::logarithm::ln;
use weir_lab::stream::Stream;

/// The largest factor; beyond it an estimate says nothing.
const WIDEST: f64 = 1e9;

/// Decides what a discipline knows.
#[derive(Clone, Debug)]
pub(crate) enum Estimate {
    /// The service.
    Exact,
    /// The mean of each class.
    ClassMean(Vec<Nanos>),
    /// It is off by up to a factor, of which this is the logarithm.
    Within(f64),
}

impl Estimate {
    pub(crate) fn new(scenario: &ServerScenario) -> Self {
        match scenario.known {
            Known::Exact => Self::Exact,
            Known::ClassMean => {
                Self::ClassMean(scenario.site.classes.iter().map(|class| class.service).collect())
            }
            Known::Within(factor) => Self::Within(ln(factor.clamp(1.0, WIDEST))),
        }
    }

    /// What is known of a request; at least 1 ns, where it needs anything.
    #[inline]
    pub(crate) fn of(&self, class: u16, service: Nanos, draws: &mut Stream) -> Nanos {
        match self {
            Self::Exact => service,
            Self::ClassMean(means) => means.get(usize::from(class)).copied().unwrap_or(service),
            Self::Within(logarithm) => {
                let factor = exponential((2.0 * draws.next_uniform() - 1.0) * logarithm);
                let told = Nanos::new((service.get() as f64 * factor).round() as u64);
                told.max(service.min(Nanos::ONE))
            }
        }
    }
}

/// `e^x`, to about thirteen digits where `x` is between -30 and 30: a series at `x / 1024`, squared ten times.
fn exponential(x: f64) -> f64 {
    let small = x / 1024.0;
    let series = (1..=7).rev().fold(1.0, |sum, n| 1.0 + small / f64::from(n) * sum);
    (0..10).fold(series, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_lab::stream::{Purpose, StreamKey};

    #[test]
    fn the_series_is_the_exponential() {
        for x in [-20.0, -1.0, -1e-9, 0.0, 0.3, core::f64::consts::LN_10, 25.0_f64] {
            assert!((exponential(x) / x.exp() - 1.0).abs() < 1e-11, "{x}");
        }
    }

    #[test]
    fn an_estimate_stays_within_its_factor_and_is_even_in_its_logarithm() {
        let estimate = Estimate::Within(ln(4.0));
        let mut draws =
            Stream::new(StreamKey { seed: 1, replication: 0, purpose: Purpose::Services, index: 1 });
        let told: Vec<f64> = (0..20_000)
            .map(|_| estimate.of(0, Nanos::new(1_000_000), &mut draws).get() as f64 / 1e6)
            .collect();
        assert!(told.iter().all(|factor| (0.249..4.001).contains(factor)));
        let below = told.iter().filter(|&&factor| factor < 1.0).count();
        assert!((9_700..10_300).contains(&below), "{below}");
    }
}
