//! How arrivals and services vary, and whether one predicts the next.
//!
//! The *index of dispersion for counts* of a window `w` is `Var N(w) / E N(w)`, where `N(w)` is how many arrive in it. It is 1 at every
//! window for a Poisson process; of `k` windows of one, the estimate times `k - 1` has nearly a χ² distribution of `k - 1` degrees of
//! freedom, from which the range is. It grows with the window where arrivals come in bursts, and also where the rate follows the hours.
//!
//! The *lag-1 correlation* is that of a value with the next; of independent values it lies within `1.96 / √n` in 95 % of cases.
//!
//! | | |
//! |-|-|
//! | Source | Cox, Lewis, *The Statistical Analysis of Series of Events* (1966), sections 4.6 and 5.2; Fendick, Whitt, Proc. IEEE 77 (1989) |
//! | Units | nanoseconds |
//! | Work | O(n) |

use super::LoggedRequest;
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Windows of as many mean gaps.
const WINDOWS: [f64; 4] = [10.0, 100.0, 1_000.0, 10_000.0];
/// The fewest windows whose counts are reported.
const FEWEST: usize = 20;
/// The fewest values of which a correlation is reported.
const FEWEST_PAIRS: usize = 20;

/// The index of dispersion of one window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Window {
    /// Its length, in nanoseconds.
    pub length_ns: f64,
    /// How many there are, one after the other.
    pub count: usize,
    /// The index.
    pub index: f64,
    /// Where the index of a Poisson process lies in 95 % of cases.
    pub poisson: (f64, f64),
}

/// How a sequence of values varies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Variation {
    /// The mean, in nanoseconds.
    pub mean_ns: f64,
    /// The squared coefficient of variation; `None` where the mean is 0.
    pub scv: Option<f64>,
    /// The lag-1 correlation; `None` of few values, or of values that are all the same.
    pub correlation: Option<f64>,
}

/// How arrivals and services vary.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dispersion {
    /// How many requests there are.
    pub requests: usize,
    /// From the first arrival to the last, in nanoseconds.
    pub span_ns: u64,
    /// Times between arrivals; `None` of a single request.
    pub gaps: Option<Variation>,
    /// Services, in order of arrival.
    pub services: Variation,
    /// Within what correlations of independent values lie in 95 % of cases.
    pub independent: f64,
    /// The indices of dispersion, the shortest window first.
    pub windows: Vec<Window>,
}

impl Dispersion {
    /// Of requests in order of arrival, of which there is one.
    #[must_use]
    pub(super) fn of(requests: &[LoggedRequest]) -> Self {
        let span = requests.last().map_or(0, |last| last.at);
        let gaps = || requests.windows(2).map(|pair| (pair[1].at - pair[0].at) as f64);
        let services = || requests.iter().map(|request| request.service as f64);
        let gap = span as f64 / (requests.len() - 1).max(1) as f64;
        let windows = WINDOWS.iter().filter_map(|factor| window(requests, span, gap * factor)).collect();
        Self {
            requests: requests.len(),
            span_ns: span,
            gaps: (requests.len() > 1).then(|| Variation::of(gaps)),
            services: Variation::of(services),
            independent: 1.96 / (requests.len() as f64).sqrt(),
            windows,
        }
    }
}

impl Variation {
    fn of<I: Iterator<Item = f64>>(values: impl Fn() -> I) -> Self {
        let (count, sum) = values().fold((0_usize, 0.0), |(count, sum), value| (count + 1, sum + value));
        let mean = sum / count as f64;
        let square = values().map(|value| (value - mean).powi(2)).sum::<f64>();
        let next =
            values().zip(values().skip(1)).map(|(one, next)| (one - mean) * (next - mean)).sum::<f64>();
        let is_told = count >= FEWEST_PAIRS && square > 0.0;
        Self {
            mean_ns: mean,
            scv: (mean > 0.0).then(|| square / (count.max(2) - 1) as f64 / mean.powi(2)),
            correlation: is_told.then(|| next / square),
        }
    }
}

/// The index of windows of this length, as many as lie within the span; `None` where there are few.
fn window(requests: &[LoggedRequest], span: u64, length: f64) -> Option<Window> {
    let count = if length > 0.0 { (span as f64 / length) as usize } else { 0 };
    if count < FEWEST {
        return None;
    }
    let (mut sum, mut squares, mut next) = (0.0, 0.0, 0_usize);
    for place in 1..=count {
        let end = place as f64 * length;
        let from = next;
        while requests.get(next).is_some_and(|request| (request.at as f64) < end) {
            next += 1;
        }
        let arrived = (next - from) as f64;
        (sum, squares) = (sum + arrived, squares + arrived * arrived);
    }
    let n = count as f64;
    let mean = sum / n;
    let freedom = n - 1.0;
    let chi = ChiSquared::new(freedom).ok()?;
    let poisson = (chi.inverse_cdf(0.025) / freedom, chi.inverse_cdf(0.975) / freedom);
    (mean > 0.0).then(|| Window {
        length_ns: length,
        count,
        index: (squares - n * mean * mean).max(0.0) / freedom / mean,
        poisson,
    })
}
