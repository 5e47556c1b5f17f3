use super::*;
use crate::stats::testing::Noise;

/// M/M/1 with services of mean 1.
fn exponential(load: f64, measured: f64, replications: f64) -> RunLength {
    let relaxation = relaxation(load, 2.0 * load);
    let variance = poisson(load, [1.0, 2.0, 6.0, 24.0]);
    RunLength { load, relaxation, clump: relaxation, variance, warm_up: 0.0, measured, replications }
}

#[test]
fn the_variance_of_exponential_services_is_the_known_one() {
    // The work is 0 with probability 1 - ρ, else exponential with mean w = 1 / (1 - ρ): E[V^k] = ρ k! w^k, so
    // (6 ρ w³ - 2 ρ² w³) (1 - ρ)^-1 / (ρ w)² = (6 - 2 ρ) / (ρ (1 - ρ)²).
    for load in [0.3_f64, 0.8, 0.95] {
        let known = (6.0 - 2.0 * load) / (load * (1.0 - load).powi(2));
        assert!((poisson(load, [1.0, 2.0, 6.0, 24.0]) / known - 1.0).abs() < 1e-12);
        // Near saturation Whitt's estimate has the same limit.
        let estimate = in_heavy_traffic(load, relaxation(load, 2.0 * load));
        assert!((estimate / known - 1.0).abs() < 2.1 * (1.0 - load), "{load}: {estimate} {known}");
    }
}

#[test]
fn the_error_is_that_of_runs() {
    let (load, messages, runs) = (0.7, 4_000, 400);
    let mut random = Noise::new(3);
    let mut errors = 0.0;
    let known = load / (1.0 - load);
    for _ in 0..runs {
        let (mut work, mut sum) = (0.0_f64, 0.0);
        for _ in 0..messages {
            work = (work + random.exponential() - random.exponential() / load).max(0.0);
            sum += work;
        }
        errors += (sum / f64::from(messages) / known - 1.0).powi(2) / f64::from(runs);
    }
    let error = exponential(load, f64::from(messages) / load, 1.0).error();
    // The formula is of the work over time. Of waits over messages the variance is (2 + 5ρ - 4ρ² + ρ³) / (6 - 2ρ) / ρ times
    // that (Daley 1968), 1.2 at this load and 1 at saturation.
    let known = (2.0 + 5.0 * load - 4.0 * load * load + load * load * load) / (6.0 - 2.0 * load) / load;
    let ratio = errors.sqrt() / (error * known.sqrt());
    assert!((ratio - 1.0).abs() < 0.12, "{ratio}");
}

/// Finding A1: the second moment counts, and quantiles need more than means.
#[test]
fn a1_long_services_and_quantiles_need_longer_runs() {
    // 20,000 messages at load 0.9: 50 relaxation times. 1 independent exceedance of p99 is not enough, nor is the mean settled.
    let short = exponential(0.9, 20_000.0 / 0.9, 1.0);
    assert!(!short.mean(ERROR).is_settled() && short.exceedances(0.01) < 2.0);
    let long = exponential(0.9, 400_000.0 / 0.9, 1.0);
    assert!(long.mean(ERROR).is_settled() && long.quantile(0.01, EXCEEDANCES).is_settled());
    assert!(!long.quantile(0.001, EXCEEDANCES).is_settled());
    // As much work in services of which one in a hundred is 50 times as long.
    let moments = [1, 2, 3, 4].map(|k| 0.99 * 0.505_f64.powi(k) + 0.01 * 50.0_f64.powi(k));
    let variance = poisson(0.9, moments);
    let forgets = relaxation(0.9, 0.9 * moments[1]);
    let clump = forgets * longer_by_rare(0.9, moments);
    assert!(clump > 1.05 * forgets && longer_by_rare(0.9, [1.0, 2.0, 6.0, 24.0]) < 1.0 + 1e-9);
    let rare = RunLength { variance, relaxation: forgets, clump, ..long };
    assert!(!rare.mean(ERROR).is_settled() && !rare.quantile(0.01, EXCEEDANCES).is_settled());
}

#[test]
fn what_is_needed_is_enough() {
    for (load, warm_up, replications) in [(0.5, 0.0, 1.0), (0.95, 500.0, 20.0), (0.99, 0.0, 3.0)] {
        let short = RunLength { warm_up, ..exponential(load, 20.0, replications) };
        let of = |longer: f64| RunLength { measured: short.measured * longer, ..short };
        let (mean, tail) = (short.mean(ERROR), short.quantile(0.01, EXCEEDANCES));
        assert!(!mean.is_settled() && of(mean.longer()).mean(ERROR).is_settled(), "{load}");
        assert!(!tail.is_settled() && of(tail.longer()).quantile(0.01, EXCEEDANCES).is_settled(), "{load}");
    }
}
