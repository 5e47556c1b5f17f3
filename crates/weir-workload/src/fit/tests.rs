//! Published fits, and parameters found again in draws.

use super::*;
use crate::laws::Form;
use crate::laws::drawn;

/// Revolutions to failure of 23 ball bearings, in millions (Lieblein and Zelen, 1956; Lawless, *Statistical Models and
/// Methods for Lifetime Data*, 1982).
const BEARINGS: [f64; 23] = [
    17.88, 28.92, 33.00, 41.52, 42.12, 45.60, 48.40, 51.84, 51.96, 54.12, 55.56, 67.80, 68.64, 68.64, 68.88,
    84.12, 93.12, 98.64, 105.12, 105.84, 127.92, 128.04, 173.40,
];

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found}, {expected}");
}

fn of(values: Vec<f64>, name: &str) -> Fitted {
    let sample = Sample::new(values).expect("a sample");
    fit(&sample, 0, 0, 1).into_iter().find(|fitted| fitted.law.name() == name).expect(name)
}

#[test]
fn ball_bearings_are_fitted_as_published() {
    let Form::Weibull { shape, scale } = *of(BEARINGS.to_vec(), "weibull").law.form() else {
        panic!("Weibull")
    };
    near(shape, 2.102, 2e-4);
    near(scale, 81.878, 1e-4);
    near(of(BEARINGS.to_vec(), "weibull").log_likelihood, -113.691, 1e-5);
    let Form::Lognormal { mu, sigma, .. } = *of(BEARINGS.to_vec(), "lognormal").law.form() else { panic!() };
    near(mu, 4.150, 1e-3);
    near(sigma, 0.522, 1e-3);
    let Form::Gamma { shape, scale } = *of(BEARINGS.to_vec(), "gamma").law.form() else { panic!("gamma") };
    near(shape, 4.0247, 1e-3);
    near(shape * scale, 72.22, 1e-3);
    let Form::Erlang { stages, .. } = *of(BEARINGS.to_vec(), "erlang").law.form() else { panic!("Erlang") };
    assert_eq!(stages, 4);
    let exponential = of(BEARINGS.to_vec(), "exponential");
    near(exponential.log_likelihood, -23.0 * (72.224_f64.ln() + 1.0), 1e-5);
    near(exponential.aic, 2.0 - 2.0 * exponential.log_likelihood, 1e-12);
    near(exponential.bic, 23.0_f64.ln() - 2.0 * exponential.log_likelihood, 1e-12);
}

/// Each family finds its own draws best, or one that contains it, and its own parameters.
#[test]
fn draws_are_fitted_by_their_own_law() {
    let laws = [
        ContinuousLaw::exponential(3.0),
        ContinuousLaw::gamma(0.6, 2.0),
        ContinuousLaw::erlang(4, 2.0),
        ContinuousLaw::lognormal(2.0, 1.5),
        ContinuousLaw::weibull(0.6, 5.0),
        ContinuousLaw::pareto(1.7, 2.0),
        ContinuousLaw::hyperexponential_of(&[(0.9, 1.0), (0.1, 15.0)]),
    ];
    for (index, law) in laws.into_iter().map(|law| law.expect("valid")).enumerate() {
        let values = drawn(&law, 50 + index as u32, 20_000);
        let sample = Sample::new(values.clone()).expect("a sample");
        let all = fit(&sample, 0, 0, 1);
        let own = all.iter().find(|fitted| fitted.law.name() == law.name()).expect("fitted");
        assert!(own.aic <= all[0].aic + 6.0, "{law:?}: {} for {}", all[0].law.name(), own.aic - all[0].aic);
        for p in [0.1, 0.5, 0.9, 0.99] {
            near(own.law.quantile(p), law.quantile(p), 0.08);
        }
        // The 99.9 % point of Kolmogorov's statistic; that of estimated parameters is smaller.
        assert!(own.distance < 1.95 / 20_000_f64.sqrt(), "{law:?}: {}", own.distance);
    }
}

#[test]
fn the_maximum_is_one() {
    let nudged = |law: &ContinuousLaw, by: f64| match *law.form() {
        Form::Weibull { shape, scale } => [
            ContinuousLaw::weibull(shape * by, scale).expect("valid"),
            ContinuousLaw::weibull(shape, scale * by).expect("valid"),
        ],
        Form::Gamma { shape, scale } => [
            ContinuousLaw::gamma(shape * by, scale).expect("valid"),
            ContinuousLaw::gamma(shape, scale * by).expect("valid"),
        ],
        Form::Lognormal { mu, sigma, .. } => [
            ContinuousLaw::lognormal_of_logarithm(mu * by, sigma).expect("valid"),
            ContinuousLaw::lognormal_of_logarithm(mu, sigma * by).expect("valid"),
        ],
        _ => panic!("{law:?}"),
    };
    for name in ["weibull", "gamma", "lognormal"] {
        let best = of(BEARINGS.to_vec(), name);
        for by in [0.99, 1.01] {
            for other in nudged(&best.law, by) {
                assert!(likelihood::of(&other, &BEARINGS) < best.log_likelihood, "{name} {by}");
            }
        }
    }
}

/// A test of a true law accepts, one of a wrong law does not.
#[test]
fn p_values_tell_a_true_law_from_a_wrong_one() {
    let law = ContinuousLaw::lognormal(2.0, 1.0).expect("valid");
    let sample = Sample::new(drawn(&law, 70, 1_000)).expect("a sample");
    let all = fit(&sample, 7, 99, 3);
    let p = |name: &str| {
        let found = all.iter().find(|fitted| fitted.law.name() == name).expect("fitted");
        found.p_value.expect("tested")
    };
    assert!(p("lognormal") > 0.05, "{}", p("lognormal"));
    assert_eq!(p("exponential"), 0.01);
    assert_eq!(all, fit(&sample, 7, 99, 3));
}

/// Under the true family p-values are even: of 60 samples few are below a tenth.
#[test]
fn p_values_are_even_under_the_true_family() {
    let law = ContinuousLaw::weibull(1.5, 1.0).expect("valid");
    let low = (0..60).filter(|index| {
        let sample = Sample::new(drawn(&law, 200 + index, 60)).expect("a sample");
        let all = fit(&sample, 7, 99, 5);
        let own = all.iter().find(|fitted| fitted.law.name() == "weibull").expect("fitted");
        own.p_value.expect("tested") <= 0.1
    });
    // Binomial of 60 and 0.1: above 15 once in 10,000.
    assert!(low.count() <= 15);
}

#[test]
fn samples_that_cannot_be_fitted_are_refused() {
    let text = |values: Vec<f64>| Sample::new(values).expect_err("refused").to_string();
    assert_eq!(text(vec![1.0; 3]), "there are 3 values, must be at least 10; measure more");
    assert_eq!(text(vec![1.0; 30]), "all values are 1; take a constant of that");
    let mut values: Vec<f64> = (1..20).map(f64::from).collect();
    values[4] = -2.0;
    assert_eq!(text(values), "value 5 is -2, must be above 0; correct or remove it");
}
