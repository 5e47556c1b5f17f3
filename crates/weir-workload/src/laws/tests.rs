//! Moments and quantiles against closed forms and published numbers; draws against the distribution function and the moments.

use super::sample::drawn;
use super::*;

/// The 99.9 % point of Kolmogorov's statistic times the root of the sample's size.
const KOLMOGOROV: f64 = 1.95;

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs().max(1e-300), "{found}, {expected}");
}

fn lognormal() -> ContinuousLaw {
    ContinuousLaw::lognormal(2.0, 1.5).expect("valid")
}

fn coxian() -> ContinuousLaw {
    ContinuousLaw::phase_type(PhaseType::coxian(&[1.0, 3.0], &[0.25]).expect("valid"))
}

fn every() -> Vec<ContinuousLaw> {
    let empirical = Empirical::new(&[(1.0, 0.1), (2.0, 0.5), (2.0, 0.6), (7.0, 1.0)]).expect("valid");
    let laws = [
        ContinuousLaw::deterministic(3.0),
        ContinuousLaw::uniform(1.0, 4.0),
        ContinuousLaw::exponential(2.5),
        ContinuousLaw::erlang(3, 2.0),
        ContinuousLaw::erlang(40, 2.0),
        ContinuousLaw::gamma(0.4, 3.0),
        ContinuousLaw::gamma_of_mean(5.0, 0.5),
        Ok(lognormal()),
        ContinuousLaw::weibull(0.7, 2.0),
        ContinuousLaw::weibull_of_mean(2.0, 1.0),
        ContinuousLaw::pareto(4.5, 1.0),
        ContinuousLaw::bounded_pareto(1.1, 1.0, 1000.0),
        ContinuousLaw::hyperexponential(2.0, 2.0),
        ContinuousLaw::mixture(vec![(0.3, lognormal()), (0.7, coxian())]),
    ];
    let mut all: Vec<ContinuousLaw> = laws.into_iter().map(|law| law.expect("valid")).collect();
    all.extend([coxian(), ContinuousLaw::empirical(empirical)]);
    all
}

#[test]
fn moments_are_those_of_the_textbooks() {
    let of = |law: Result<ContinuousLaw, LawError>| {
        let law = law.expect("valid");
        [law.mean(), law.cv().map(|cv| cv * cv), law.skewness()].map(|value| value.expect("finite"))
    };
    let same = |found: [f64; 3], expected: [f64; 3]| {
        found.into_iter().zip(expected).for_each(|(found, expected)| near(found, expected, 1e-9));
    };
    same(of(ContinuousLaw::uniform(1.0, 4.0)), [2.5, 0.75 / 6.25, 0.0]);
    same(of(ContinuousLaw::exponential(2.5)), [2.5, 1.0, 2.0]);
    same(of(ContinuousLaw::erlang(4, 2.0)), [2.0, 0.25, 1.0]);
    same(of(ContinuousLaw::gamma_of_mean(5.0, 0.5)), [5.0, 0.25, 1.0]);
    // (exp(σ²) + 2) sqrt(exp(σ²) - 1), with exp(σ²) = 1 + cv².
    same(of(Ok(lognormal())), [2.0, 2.25, 5.25 * 1.5]);
    // The Rayleigh law: mean sqrt(π)/2, variance 1 - π/4.
    let pi = core::f64::consts::PI;
    let rayleigh = 2.0 * pi.sqrt() * (pi - 3.0) / (4.0 - pi).powf(1.5);
    same(of(ContinuousLaw::weibull(2.0, 1.0)), [pi.sqrt() / 2.0, (4.0 - pi) / pi, rayleigh]);
    same(of(ContinuousLaw::pareto(4.0, 3.0)), [4.0, 0.125, 10.0 * 0.5_f64.sqrt()]);
    same(
        of(ContinuousLaw::hyperexponential(2.0, 2.0)),
        [2.0, 4.0, {
            let law = ContinuousLaw::hyperexponential(2.0, 2.0).expect("valid");
            let Form::Hyperexponential(b) = law.form() else { panic!("branches") };
            near(b[0].0 * b[0].1, b[1].0 * b[1].1, 1e-12);
            let cube: f64 = b.iter().map(|(p, m)| 6.0 * p * m.powi(3)).sum();
            (cube - 3.0 * 2.0 * 20.0 + 16.0) / 64.0
        }],
    );
    // Coxian: 1 + 3/4 in the mean; E[X²] = 2 (1 + 1/4 (1·3 + 3²)) = 8.
    let cox = coxian().moments().raw().map(|moment| moment.expect("finite"));
    near(cox[0], 1.75, 1e-12);
    near(cox[1], 8.0, 1e-12);
}

/// Bounded Pareto at its tail index, where the closed form is a logarithm, and away from it.
#[test]
fn bounded_pareto_has_its_raw_moments() {
    let law = ContinuousLaw::bounded_pareto(1.0, 1.0, 1e4).expect("valid");
    near(law.mean().expect("finite"), 1e4_f64.ln() / (1.0 - 1e-4), 1e-12);
    near(law.second_moment().expect("finite"), 9999.0 / (1.0 - 1e-4), 1e-12);
    let near_it = ContinuousLaw::bounded_pareto(1.0 + 1e-7, 1.0, 1e4).expect("valid");
    near(near_it.mean().expect("finite"), law.mean().expect("finite"), 1e-5);
}

#[test]
fn infinite_moments_are_no_numbers() {
    let of = |alpha| ContinuousLaw::pareto(alpha, 1.0).expect("valid").moments();
    assert_eq!(of(1.0), Moments { mean: None, variance: None, third: None });
    assert_eq!((of(2.0).mean, of(2.0).variance), (Some(2.0), None));
    assert!(of(3.0).variance.is_some() && of(3.0).third.is_none());
    let mixed = ContinuousLaw::mixture(vec![
        (0.9, lognormal()),
        (0.1, ContinuousLaw::pareto(1.5, 1.0).expect("valid")),
    ]);
    let mixed = mixed.expect("valid");
    assert!(mixed.mean().is_some() && mixed.cv().is_none() && mixed.skewness().is_none());
}

#[test]
fn quantiles_invert_the_distribution_function() {
    for law in every() {
        if matches!(law.form(), Form::Deterministic(_) | Form::Empirical(_)) {
            continue;
        }
        for p in [1e-6, 0.01, 0.3, 0.5, 0.9, 0.999, 1.0 - 1e-9] {
            let x = law.quantile(p);
            assert!((law.cdf(x) - p).abs() < 1e-11, "{law:?} at {p}: {x}");
            assert!((law.cdf(x) + law.survival(x) - 1.0).abs() < 1e-11, "{law:?} at {p}");
        }
    }
}

#[test]
fn quantiles_of_tables() {
    // Chi-square of 10 degrees of freedom: 18.307 at 95 %, as every table has it.
    near(ContinuousLaw::gamma(5.0, 2.0).expect("valid").quantile(0.95), 18.307_038, 1e-7);
    near(ContinuousLaw::exponential(1.0).expect("valid").quantile(0.99), 100.0_f64.ln(), 1e-12);
    let law = ContinuousLaw::lognormal_of_median(2.0, 9.0).expect("valid");
    near(law.quantile(0.5), 2.0, 1e-12);
    near(law.quantile(0.99), 9.0, 1e-12);
    let of = |p| every().pop().expect("the empirical law").quantile(p);
    for (p, value) in [(0.05, 1.0), (0.3, 1.5), (0.55, 2.0), (0.8, 4.5), (1.0, 7.0)] {
        near(of(p), value, 1e-12);
    }
}

#[test]
fn phase_types_agree_with_what_they_are_equal_to() {
    let erlang = ContinuousLaw::erlang(3, 3.0).expect("valid");
    let rates = [vec![-1.0, 1.0, 0.0], vec![0.0, -1.0, 1.0], vec![0.0, 0.0, -1.0]];
    let chain = PhaseType::of_rates(&[1.0, 0.0, 0.0], &rates).expect("valid");
    let chain = ContinuousLaw::phase_type(chain);
    let hyper = ContinuousLaw::hyperexponential_of(&[(0.9, 1.0), (0.1, 20.0)]).expect("valid");
    let branches = PhaseType::new(&[0.9, 0.1], &[1.0, 20.0], &[vec![0.0; 2], vec![0.0; 2]]).expect("valid");
    let branches = ContinuousLaw::phase_type(branches);
    for x in [0.1, 1.0, 5.0, 30.0] {
        near(chain.survival(x), erlang.survival(x), 1e-10);
        near(branches.survival(x), hyper.survival(x), 1e-10);
    }
    near(chain.skewness().expect("finite"), erlang.skewness().expect("finite"), 1e-10);
    near(branches.cv().expect("finite"), hyper.cv().expect("finite"), 1e-12);
    // A phase that may be entered again is left after two visits in the mean.
    let again = PhaseType::new(&[1.0], &[2.0], &[vec![0.5]]).expect("valid");
    near(ContinuousLaw::phase_type(again).quantile(0.99), 4.0 * 100.0_f64.ln(), 1e-9);
}

/// Kolmogorov–Smirnov: the largest distance of a sample's steps from the distribution function.
fn distance(law: &ContinuousLaw, mut sample: Vec<f64>) -> f64 {
    sample.sort_unstable_by(f64::total_cmp);
    let n = sample.len() as f64;
    let of = |(i, x): (usize, &f64)| {
        let p = law.cdf(*x);
        (p - i as f64 / n).max((i + 1) as f64 / n - p)
    };
    sample.iter().enumerate().map(of).fold(0.0, f64::max)
}

#[test]
fn draws_follow_the_distribution_function() {
    for (index, law) in every().iter().enumerate() {
        if matches!(law.form(), Form::Deterministic(_) | Form::Empirical(_)) {
            continue;
        }
        let count = 10_000;
        let found = distance(law, drawn(law, index as u32, count)) * (count as f64).sqrt();
        assert!(found < KOLMOGOROV, "{law:?}: {found}");
    }
}

#[test]
fn draws_have_the_moments() {
    for (index, law) in every().iter().enumerate() {
        let count = 200_000;
        let sample = drawn(law, index as u32, count);
        let mean = sample.iter().sum::<f64>() / count as f64;
        let (expected, cv) = (law.mean().expect("finite"), law.cv().expect("finite"));
        assert!((mean / expected - 1.0).abs() <= 4.5 * cv / (count as f64).sqrt() + 1e-12, "{law:?}: {mean}");
        let variance = sample.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count as f64;
        let found = variance.sqrt() / mean;
        assert!((found - cv).abs() <= 0.06 * cv + 1e-9, "{law:?}: {found} for {cv}");
    }
}

#[test]
fn scaling_scales_quantiles_and_moments() {
    for law in every() {
        let twice = law.scaled(2.0).expect("valid");
        near(twice.quantile(0.9), 2.0 * law.quantile(0.9), 1e-9);
        near(twice.mean().expect("finite"), 2.0 * law.mean().expect("finite"), 1e-12);
        assert_eq!(twice.cv().is_some(), law.cv().is_some());
    }
    assert!(lognormal().scaled(0.0).is_err());
}

/// The first draws, bit by bit: they are to be the same on every machine.
#[test]
fn draws_are_the_same_everywhere() {
    let sum = |law: &ContinuousLaw| {
        let bits = drawn(law, 99, 100).into_iter().map(f64::to_bits);
        bits.fold(0_u64, |hash, bits| (hash.rotate_left(5) ^ bits).wrapping_mul(0x517c_c1b7_2722_0a95))
    };
    let found: Vec<(&str, u64)> = every().iter().map(|law| (law.name(), sum(law))).collect();
    assert_eq!(found, DRAWN);
}

const DRAWN: [(&str, u64); 16] = [
    ("deterministic", 0x89c1_2a77_f7ad_e884),
    ("uniform", 0x2b52_0b5e_f66a_d48a),
    ("exponential", 0x56f7_47f4_812a_1d23),
    ("erlang", 0xe798_3e0a_fb63_b312),
    ("erlang", 0x2e6a_5f16_f5ff_1516),
    ("gamma", 0x85a4_f769_d91d_ab63),
    ("gamma", 0xf154_4ba9_2e87_8185),
    ("lognormal", 0x80d5_2e59_150f_3c5c),
    ("weibull", 0x5ea3_8446_908c_e9ad),
    ("weibull", 0x345e_e71a_59d9_430a),
    ("pareto", 0xa280_50a0_5a82_1b28),
    ("bounded_pareto", 0x02b3_ae71_cae3_3749),
    ("hyperexponential", 0x822d_912e_abcf_adc1),
    ("mixture", 0xb4ed_fed9_d9ab_5fbe),
    ("phase_type", 0x1987_0ad5_83f2_0800),
    ("empirical", 0xd4c8_3b3c_57aa_c16a),
];

#[test]
fn refusals_say_which_parameter_and_which_bound() {
    let text = |law: Result<ContinuousLaw, LawError>| law.expect_err("refused").to_string();
    for (law, expected) in [
        (ContinuousLaw::exponential(0.0), "mean is 0, must be a number above 0; raise it"),
        (ContinuousLaw::exponential(f64::NAN), "mean is NaN, must be a number above 0; raise it"),
        (ContinuousLaw::erlang(0, 1.0), "stages is 0, must be from 1 to 1000; raise it"),
        (ContinuousLaw::gamma(0.01, 1.0), "shape is 0.01, must be from 0.05 to 1000000; raise it"),
        (ContinuousLaw::lognormal(1.0, 200.0), "cv is 200, must be from 0.001 to 100; lower it"),
        (ContinuousLaw::hyperexponential(1.0, 0.5), "cv is 0.5, must be from 1 to 100; raise it"),
        (
            ContinuousLaw::pareto_of_mean(1.0, 1.0),
            "alpha is 1, must be above 1, the mean is infinite up to there; raise it",
        ),
        (
            ContinuousLaw::bounded_pareto(1.0, 2.0, 1.0),
            "high is 1, must be above low, which is 2; raise it, or swap the two",
        ),
        (
            ContinuousLaw::hyperexponential_of(&[(0.5, 1.0), (0.4, 1.0)]),
            "sum of probabilities is 0.9, must be 1; correct one of them",
        ),
        (ContinuousLaw::mixture(Vec::new()), "number of parts is 0, must be from 1 to 64; list as many"),
    ] {
        assert_eq!(text(law), expected);
    }
    let chain = |next: f64| PhaseType::new(&[1.0], &[1.0], &[vec![next]]).expect_err("refused").to_string();
    assert!(chain(1.0).starts_with("probability of absorption is 0, must be above 0"), "{}", chain(1.0));
    let points = Empirical::new(&[(1.0, 0.5)]).expect_err("refused").to_string();
    assert_eq!(points, "last probability is 0.5, must be 1; add the largest value with 1");
}
