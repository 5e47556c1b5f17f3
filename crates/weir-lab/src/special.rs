//! Functions of mathematics with one result on every machine: quantiles of the normal law and of Student's, incomplete gamma and
//! beta functions.
//!
//! Exponentials and logarithms are those of the crate `libm`, software whose only instructions of the machine are exact. Those
//! of the standard library are the system's, whose last bit differs between systems, processors, and a page of a browser; so no
//! figure of a result is made with them, which Clippy holds the crates of the models to.
//!
//! | | |
//! |-|-|
//! | Quantile of the normal law | Wichura, "Algorithm AS 241", Applied Statistics 37 (1988), PPND16: relative error about 1e-16 |
//! | Quantile of Student's law | the root of its distribution function by Newton's method; from 1,000 degrees of freedom on, the expansion 26.7.5 of Abramowitz and Stegun (1964), relative error below 1e-12 for levels to 1 - 1e-5 |
//! | Incomplete gamma functions | series 8.7.1 and continued fraction 8.9.2 of the DLMF (release 1.2): relative error about 1e-14, and more for shapes of many thousands |
//! | Incomplete beta function | continued fraction 8.17.22 of the DLMF, by Lentz's method |
//! | Work | O(1) for the normal law; tens of terms for the others, for gamma O(√shape) |

use core::f64::consts::{PI, SQRT_2};

/// The central interval of AS 241: `|p - 1/2|` up to here.
const CENTRE: f64 = 0.425;
const CENTRAL: [[f64; 8]; 2] = [
    [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
];
const MIDDLE: [[f64; 8]; 2] = [
    [
        7.745_450_142_783_414e-4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        5.475_938_084_995_345e-4,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
];
const FAR: [[f64; 8]; 2] = [
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_8e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        7.868_691_311_456_133e-4,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_887_9,
        1.0,
    ],
];

/// The ratio of two polynomials, highest power first.
fn ratio(x: f64, [above, below]: &[[f64; 8]; 2]) -> f64 {
    let value = |coefficients: &[f64; 8]| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    value(above) / value(below)
}

/// The `p`-quantile of the standard normal law, for `0 < p < 1`.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= CENTRE {
        return q * ratio(CENTRE * CENTRE - q * q, &CENTRAL);
    }
    let r = (-libm::log(if q < 0.0 { p } else { 1.0 - p })).sqrt();
    let far = if r <= 5.0 { ratio(r - 1.6, &MIDDLE) } else { ratio(r - 5.0, &FAR) };
    if q < 0.0 { -far } else { far }
}

/// `P(Z > z)` of the standard normal law.
#[must_use]
pub fn normal_survival(z: f64) -> f64 {
    0.5 * libm::erfc(z / SQRT_2)
}

/// With this many degrees of freedom or more the expansion is as good as the root.
const MANY_DEGREES: u64 = 1_000;
/// Steps of Newton's method at most; each doubles the digits, or at first the value.
const MOST_STEPS: usize = 100;

/// The `p`-quantile of Student's law with `degrees` of freedom, for `0 < p < 1` and at least one degree.
#[must_use]
pub fn student_quantile(p: f64, degrees: u64) -> f64 {
    if p < 0.5 {
        return -student_quantile(1.0 - p, degrees);
    }
    if degrees >= MANY_DEGREES {
        return expanded(normal_quantile(p), degrees as f64);
    }
    let (n, above) = (degrees as f64, 1.0 - p);
    // Where the survival is convex, which it is above 0, the steps come from the left and never go too far.
    let mut t = normal_quantile(p).max(0.0);
    for _ in 0..MOST_STEPS {
        let step = (student_survival(t, n) - above) / student_density(t, n);
        t += step;
        if step <= 1e-15 * t {
            break;
        }
    }
    t
}

/// `P(T > t)` of Student's law with `n` degrees of freedom, for `t` of at least 0.
fn student_survival(t: f64, n: f64) -> f64 {
    0.5 * beta_below(n / 2.0, 0.5, n / (n + t * t), t * t / (n + t * t))
}

fn student_density(t: f64, n: f64) -> f64 {
    let logarithm = libm::lgamma((n + 1.0) / 2.0)
        - libm::lgamma(n / 2.0)
        - 0.5 * libm::log(n * PI)
        - (n + 1.0) / 2.0 * libm::log1p(t * t / n);
    libm::exp(logarithm)
}

/// The quantile of Student's law whose normal one is `z`, for many degrees of freedom.
fn expanded(z: f64, n: f64) -> f64 {
    let s = z * z;
    let first = (s + 1.0) / 4.0;
    let second = ((5.0 * s + 16.0) * s + 3.0) / 96.0;
    let third = (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0;
    let fourth = ((((79.0 * s + 776.0) * s + 1_482.0) * s - 1_920.0) * s - 945.0) / 92_160.0;
    z * (1.0 + (first + (second + (third + fourth / n) / n) / n) / n)
}

/// Terms at most: no function here needs as many.
const MOST_TERMS: usize = 1_000_000;
/// In place of a denominator of 0.
const TINY: f64 = 1e-300;
/// Where two terms of the series of the lower gamma function are enough.
const SMALL: f64 = 1e-9;

/// A continued fraction `1/(b0 + a1/(b1 + a2/(b2 + …)))` by Lentz's method: `first` is `b0`, `terms` have `a` and `b`.
fn fraction(first: f64, terms: impl Iterator<Item = (f64, f64)>) -> f64 {
    let away = |x: f64| if x.abs() < TINY { TINY } else { x };
    let mut value = away(first);
    let (mut c, mut d) = (value, 0.0);
    for (a, b) in terms.take(MOST_TERMS) {
        d = 1.0 / away(b + a * d);
        c = away(b + a / c);
        value *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    1.0 / value
}

/// The regularised incomplete beta function `I_x(a, b)`, for `x` in [0, 1] and `1 - x`, which who knows it better gives.
fn beta_below(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    if x <= 0.0 || rest <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_below(b, a, rest, x);
    }
    let front =
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log(rest);
    let coefficient = |term: u32| {
        let m = f64::from(term / 2);
        let above = if term.is_multiple_of(2) { m * (b - m) } else { -(a + m) * (a + b + m) };
        let k = f64::from(term);
        (above * x / ((a + k - 1.0) * (a + k)), 1.0)
    };
    libm::exp(front) / a * fraction(1.0, (1..).map(coefficient))
}

/// The regularised lower incomplete gamma function.
#[must_use]
pub fn gamma_below(shape: f64, x: f64) -> f64 {
    match x {
        _ if x <= 0.0 => 0.0,
        _ if x < SMALL => first_terms(shape, x),
        _ if x < shape + 1.0 => gamma_series(shape, x),
        _ => 1.0 - gamma_above(shape, x),
    }
}

/// The regularised upper incomplete gamma function.
#[must_use]
pub fn gamma_above(shape: f64, x: f64) -> f64 {
    match x {
        _ if x <= 0.0 => 1.0,
        _ if x.is_infinite() => 0.0,
        _ if x < shape + 1.0 => 1.0 - gamma_below(shape, x),
        _ => {
            let term = |n: u32| {
                let n = f64::from(n);
                (-n * (n - shape), x - shape + 1.0 + 2.0 * n)
            };
            gamma_front(shape, x) * fraction(x - shape + 1.0, (1..).map(term))
        }
    }
}

/// `x^a e^-x / Γ(a)`.
fn gamma_front(shape: f64, x: f64) -> f64 {
    libm::exp(shape * libm::log(x) - x - libm::lgamma(shape))
}

/// The lower function by its series, for `x` that is not far above the shape.
fn gamma_series(shape: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut at) = (1.0 / shape, 1.0 / shape, shape);
    for _ in 0..MOST_TERMS {
        at += 1.0;
        term *= x / at;
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    (gamma_front(shape, x) * sum).min(1.0)
}

/// The beginning of the series of the lower function: `x^a / Γ(a+1) (1 - a x/(a+1))`.
fn first_terms(shape: f64, x: f64) -> f64 {
    libm::exp(shape * libm::log(x) - libm::lgamma(shape + 1.0)) * (1.0 - shape * x / (shape + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
    use statrs::function::gamma::{checked_gamma_lr, checked_gamma_ur};

    fn near(found: f64, expected: f64, share: f64) {
        assert!((found - expected).abs() <= share * expected.abs(), "{found}, expected {expected}");
    }

    #[test]
    fn normal_quantiles_agree_with_the_paper_and_a_library() {
        // Test values of AS 241.
        for (p, z) in [(0.25, -0.674_489_750_196_081_7), (0.001, -3.090_232_306_167_813_5)] {
            near(normal_quantile(p), z, 1e-14);
        }
        near(normal_quantile(1e-20), -9.262_340_089_798_408, 1e-14);
        for k in 1..1000 {
            let p = f64::from(k) / 1000.0;
            assert!((normal_quantile(p) - Normal::standard().inverse_cdf(p)).abs() < 1e-8, "{p}");
            assert!((normal_survival(normal_quantile(p)) - (1.0 - p)).abs() < 1e-15, "{p}");
        }
    }

    #[test]
    fn student_quantiles_agree_with_closed_forms_and_a_library() {
        for k in 1..1000 {
            let p = f64::from(k) / 1000.0;
            // Of one degree and of two there are closed forms.
            near(student_quantile(p, 1), -1.0 / (PI * p).tan(), if k == 500 { f64::INFINITY } else { 1e-12 });
            near(student_quantile(p, 2), (2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt(), 1e-12);
        }
        // Of many more degrees the library has five digits.
        for degrees in [3, 7, 29, 199, 999, 1_000, 5_000] {
            let law = StudentsT::new(0.0, 1.0, degrees as f64).expect("a law");
            for p in [0.6, 0.9, 0.975, 0.995, 0.9995, 1.0 - 1e-5] {
                near(student_quantile(p, degrees), law.inverse_cdf(p), 1e-7);
                near(1.0 - law.cdf(student_quantile(p, degrees)), 1.0 - p, 1e-7);
            }
        }
    }

    #[test]
    fn the_expansion_continues_the_root() {
        let (z, n) = (normal_quantile(0.975), 200_000.0);
        near(student_quantile(0.975, 200_000), z + (z.powi(3) + z) / (4.0 * n), 1e-10);
        for p in [0.6, 0.975, 0.9995, 1.0 - 1e-5] {
            near(expanded(normal_quantile(p), 999.0), student_quantile(p, 999), 1e-11);
        }
    }

    #[test]
    fn gamma_functions_agree_with_a_library() {
        for shape in [0.05, 0.5, 1.0, 2.5, 40.0, 3_000.0] {
            for part in [1e-3, 0.2, 0.9, 1.0, 1.1, 2.0, 5.0] {
                let x = shape * part;
                let (below, above) = (gamma_below(shape, x), gamma_above(shape, x));
                assert!((below - checked_gamma_lr(shape, x).expect("a share")).abs() < 1e-10, "{shape} {x}");
                assert!((above - checked_gamma_ur(shape, x).expect("a share")).abs() < 1e-10, "{shape} {x}");
                near(below + above, 1.0, 1e-15);
            }
            assert_eq!((gamma_below(shape, f64::INFINITY), gamma_above(shape, 0.0)), (1.0, 1.0));
        }
        // Of shape 1 they are those of an exponential law, far out in the tail too.
        near(gamma_above(1.0, 600.0), libm::exp(-600.0), 1e-12);
        near(gamma_below(1.0, 1e-12), 1e-12, 1e-12);
    }
}
