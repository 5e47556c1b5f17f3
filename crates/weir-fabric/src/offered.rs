//! How far the offered load of a run can be from the scenario's by chance, known from the laws of its sources.
//!
//! An interface and channel has `floor(f)` flows and one more with the chance of the rest, `p`. `B` bytes come with each of its
//! arrivals, of a message or a burst all that it has, and the variance of the number of arrivals is `d` times its mean: once of a
//! Poisson process, and of others in the long run ([`weir_workload::Arrivals::dispersion`]). Of the bytes in a time `T`
//!
//! `variance = f r T (V[B] + d E[B]^2) / E[B] + p (1 - p) (r T)^2`
//!
//! where `r` is the rate of a flow, the mean over the measured time where it follows a curve. Interfaces, channels and
//! replications are independent, so variances add up.
//!
//! | | |
//! |-|-|
//! | Source | Bernstein 1924: a sum of variance `v` of independent parts up to `b` is off by `t` with a chance of at most `2 exp(-t^2 / (2 v + 2 b t / 3))`; Chebyshev 1867, where arrivals depend on each other: with a chance of at most `v / t^2` |
//! | Units | bytes on the wire; what is returned is over what links carry, as the load is |
//! | Work | once a load, linear in channels and in the lists of their sizes |
//! | Departures | the second moment of a message on the wire is bounded from above, its packets by one more than its payload fills |

use crate::figures::capacity;
use crate::law::{bursts, payloads};
use crate::model::{Arrivals, Channel, FabricScenario, Size, Traffic};
use crate::time::{TICKS_PER_SECOND, ticks, timing};
use crate::topology::Wiring;

/// The chance of a false alarm, at most.
const ALARM: f64 = 0.001;

/// A size on the wire: `E[X]`, `E[X^2]`, the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moments {
    mean: f64,
    second: f64,
    most: f64,
}

impl Moments {
    /// Of sums of this many, which are independent of them.
    fn times(self, count: Self) -> Self {
        let variance = self.second - self.mean * self.mean;
        Self {
            mean: count.mean * self.mean,
            second: count.mean * variance + count.second * self.mean * self.mean,
            most: count.most * self.most,
        }
    }

    /// Of `scale X + add`.
    fn moved(self, scale: f64, add: f64) -> Self {
        Self {
            mean: scale * self.mean + add,
            second: scale * scale * self.second + 2.0 * scale * add * self.mean + add * add,
            most: scale * self.most + add,
        }
    }
}

/// What a packet, or a message, takes on the wire; `None` if it has no bound.
fn unit(fabric: &FabricScenario, channel: &Channel) -> Option<Moments> {
    let header = fabric.traffic.header.get() as f64;
    let of = |sizes: &weir_workload::Sizes| {
        let most = sizes.support().1? as f64;
        Some(Moments { mean: sizes.mean(), second: sizes.second_moment(), most })
    };
    match &channel.size {
        Size::Constant(payload) => {
            let payload = payload.get() as f64;
            Some(Moments { mean: payload, second: payload * payload, most: payload }.moved(1.0, header))
        }
        Size::Pareto(pareto) => Some(of(&payloads(pareto).ok()?)?.moved(1.0, header)),
        Size::Messages(sizes) => {
            let most = (fabric.mtu.get() as f64 - header).max(1.0);
            Some(of(sizes)?.moved(1.0 + header / most, header))
        }
    }
}

/// The bytes of an arrival.
fn arrival(fabric: &FabricScenario, channel: &Channel) -> Option<Moments> {
    let unit = unit(fabric, channel)?;
    match fabric.traffic.arrivals {
        Arrivals::Poisson | Arrivals::Process(_) => Some(unit),
        Arrivals::Bursts { shape, cap } => {
            let law = bursts(shape, cap).ok()?;
            let most = f64::from(cap);
            Some(unit.times(Moments { mean: law.mean(), second: law.second_moment(), most }))
        }
    }
}

/// The mean rate in the measured time over that of the scenario: 1 where no curve is followed.
#[must_use]
pub fn measured_rate(fabric: &FabricScenario) -> f64 {
    let [from, until] = [fabric.stop.warm_up, fabric.stop.duration].map(|at| at.get() as f64);
    fabric
        .traffic
        .curve
        .as_ref()
        .map_or(1.0, |curve| (curve.before(until) - curve.before(from)) / (until - from))
}

/// The variance of the number of arrivals over its mean, and whether arrivals of separate times are independent.
fn spread(traffic: &Traffic) -> Option<(f64, bool)> {
    match &traffic.arrivals {
        Arrivals::Poisson | Arrivals::Bursts { .. } => Some((1.0, true)),
        Arrivals::Process(process) => Some((process.dispersion()?, false)),
    }
}

/// By how much the mean offered load of `replications` replications is off at most, but for one time in a thousand;
/// `None` where that is not known.
#[must_use]
pub fn tolerance(fabric: &FabricScenario, load: f64, replications: usize) -> Option<f64> {
    let hosts = f64::from(Wiring::new(fabric.topology).ok()?.hosts());
    let shares: f64 = fabric.channels.iter().map(|channel| channel.share).sum();
    let span = ticks(fabric.stop.duration).saturating_sub(ticks(fabric.stop.warm_up)) as f64
        / TICKS_PER_SECOND as f64;
    let rate = fabric.traffic.flow_rate.get() as f64 / 8.0 * measured_rate(fabric);
    let offered = load * measured_rate(fabric) * timing(fabric).line.bytes_per_second() * span;
    let (dispersion, independent) = spread(&fabric.traffic)?;
    // What a flow is short of, or above, is no more than all that it sends.
    let (mut variance, mut most) = (0.0, rate * span);
    for channel in &fabric.channels {
        let bytes = arrival(fabric, channel)?;
        let own = offered * channel.share / shares;
        let rest = (own / (rate * span)).fract();
        let second = bytes.second + (dispersion - 1.0) * bytes.mean * bytes.mean;
        variance += own * second / bytes.mean + rest * (1.0 - rest) * (rate * span).powi(2);
        most = bytes.most.max(most);
    }
    let all = replications as f64;
    let variance = variance * hosts * all;
    let off = if independent {
        let chance = libm::log(2.0 / ALARM);
        let part = most * chance / 3.0;
        part + (part * part + 2.0 * variance * chance).sqrt()
    } else {
        (variance / ALARM).sqrt()
    };
    Some(off / all / capacity(fabric)).filter(|tolerance| tolerance.is_finite())
}

#[cfg(test)]
mod tests {
    use weir_core::units::{Bytes, Nanos};

    use super::*;
    use crate::source::Offer;
    use crate::testing;
    use std::sync::Arc;
    use weir_workload::Arrivals as Process;
    use weir_workload::arrivals::{BatchSize, Batches, Renewal};

    #[test]
    fn moments_of_bursts_by_hand() {
        // One or three packets of 10 bytes each, or of 0 or 20.
        let count = Moments { mean: 2.0, second: 5.0, most: 3.0 };
        let constant = Moments { mean: 10.0, second: 100.0, most: 10.0 };
        assert_eq!(constant.times(count), Moments { mean: 20.0, second: 500.0, most: 30.0 });
        let either = Moments { mean: 10.0, second: 200.0, most: 20.0 };
        assert_eq!(either.times(count), Moments { mean: 20.0, second: 700.0, most: 60.0 });
        assert_eq!(constant.moved(1.0, 2.0), Moments { mean: 12.0, second: 144.0, most: 12.0 });
    }

    /// The offered load of a replication, from its sources alone.
    fn offered(fabric: &FabricScenario, replication: u32) -> f64 {
        let wiring = Wiring::new(fabric.topology).expect("fits");
        let mut bytes = 0.0;
        for mut source in Offer::new(fabric, &wiring, 0).expect("fits").sources(replication).expect("drawn") {
            while source.next_at() < ticks(fabric.stop.duration) {
                if source.next_at() >= ticks(fabric.stop.warm_up) {
                    bytes += f64::from(source.head().size);
                }
                source.advance();
            }
        }
        bytes / capacity(fabric)
    }

    #[test]
    fn sources_are_off_by_about_what_is_expected() {
        let mut fabric = testing::scenario();
        fabric.stop.duration = Nanos::new(1_000_000);
        for (arrivals, times) in [(Arrivals::Poisson, 40), (Arrivals::Bursts { shape: 1.5, cap: 20 }, 40)] {
            fabric.traffic.arrivals = arrivals.clone();
            let off = |replication| offered(&fabric, replication) / 0.8 - 1.0;
            let square =
                (0..times).map(|replication| off(replication).powi(2)).sum::<f64>() / f64::from(times);
            let tolerance = tolerance(&fabric, 0.8, 1).expect("known") / 0.8;
            let deviations = tolerance / square.sqrt();
            assert!((3.0..6.0).contains(&deviations), "{arrivals:?}: {tolerance} of {}", square.sqrt());
            assert!((0..times).all(|replication| off(replication).abs() <= tolerance), "{arrivals:?}");
        }
    }

    /// Chebyshev's bound at one time in a thousand is 31.6 standard deviations.
    #[test]
    fn sources_whose_arrivals_depend_on_each_other_are_off_by_what_their_dispersion_says() {
        let bursty = Process::Bursty { peak: 5.0, burst: 30.0, quiet: 0.1 };
        let batches = Batches { of: Process::Poisson, size: BatchSize::Geometric(20.0) };
        for process in [bursty, Process::Batches(Arc::new(batches))] {
            let mut fabric = testing::scenario();
            fabric.stop.duration = Nanos::new(4_000_000);
            fabric.traffic.arrivals = Arrivals::Process(process.clone());
            let off = |replication| offered(&fabric, replication) / 0.8 - 1.0;
            let square = (0..40).map(|replication| off(replication).powi(2)).sum::<f64>() / 40.0;
            let tolerance = tolerance(&fabric, 0.8, 1).expect("known") / 0.8;
            let deviations = tolerance / square.sqrt();
            assert!((24.0..44.0).contains(&deviations), "{process:?}: {tolerance} of {}", square.sqrt());
        }
        let mut fabric = testing::scenario();
        let heavy = Process::Renewal(Renewal::Pareto(1.5));
        fabric.traffic.arrivals = Arrivals::Process(heavy);
        assert_eq!(tolerance(&fabric, 0.8, 1), None);
    }

    #[test]
    fn the_measured_part_of_a_curve_has_its_own_load() {
        let mut fabric = testing::scenario();
        assert!((measured_rate(&fabric) - 1.0).abs() < 1e-12);
        (fabric.stop.warm_up, fabric.stop.duration) = (Nanos::new(500_000), Nanos::new(2_000_000));
        fabric.traffic.curve = Some(testing::curve(&[(0, 0.5), (1_000_000, 1.5)], 2_000_000));
        assert!((measured_rate(&fabric) - 1.75 / 1.5).abs() < 1e-12);
        let found = (0..20).map(|replication| offered(&fabric, replication)).sum::<f64>() / 20.0;
        let expected = 0.8 * measured_rate(&fabric);
        let tolerance = tolerance(&fabric, 0.8, 20).expect("known");
        assert!((found - expected).abs() < tolerance, "{found} for {expected} within {tolerance}");
    }

    #[test]
    fn more_replications_and_smaller_packets_are_known_better() {
        let mut fabric = testing::scenario();
        let one = tolerance(&fabric, 0.8, 1).expect("known");
        let four = tolerance(&fabric, 0.8, 4).expect("known");
        assert!(four < 0.55 * one && four > 0.2 * one, "{one} {four}");
        fabric.channels.iter_mut().for_each(|channel| channel.size = Size::Constant(Bytes::new(56)));
        assert!(tolerance(&fabric, 0.8, 1).expect("known") < one);
    }
}
