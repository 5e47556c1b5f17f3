//! Functions that the laws need, with one result on every machine where draws depend on them.
//!
//! | | |
//! |-|-|
//! | Quantile of the normal law | Wichura, "Algorithm AS 241", Applied Statistics 37 (1988), PPND16: relative error about 1e-16 |
//! | Exponential, logarithm, power, Γ | the crate `libm`: software, no instruction of the machine but the exact ones |
//! | Incomplete gamma functions | the crate `statrs`: for distribution functions alone |

use statrs::function::gamma::{checked_gamma_lr, checked_gamma_ur};

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
pub(super) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= CENTRE {
        return q * ratio(CENTRE * CENTRE - q * q, &CENTRAL);
    }
    let r = (-libm::log(if q < 0.0 { p } else { 1.0 - p })).sqrt();
    let far = if r <= 5.0 { ratio(r - 1.6, &MIDDLE) } else { ratio(r - 5.0, &FAR) };
    if q < 0.0 { -far } else { far }
}

/// The 99th percentile of the standard normal law.
pub(super) fn tail_of_a_hundred() -> f64 {
    normal_quantile(0.99)
}

/// `P(Z > z)` of the standard normal law.
pub(super) fn normal_survival(z: f64) -> f64 {
    0.5 * libm::erfc(z / core::f64::consts::SQRT_2)
}

/// Below here the library takes an argument for 0, and two terms of the series are enough.
const SMALL: f64 = 1e-9;

/// The beginning of the series of the lower function: `x^a / Γ(a+1) (1 - a x/(a+1))`.
fn first_terms(shape: f64, x: f64) -> f64 {
    (shape * x.ln() - libm::lgamma(shape + 1.0)).exp() * (1.0 - shape * x / (shape + 1.0))
}

/// The regularised lower incomplete gamma function.
pub(super) fn gamma_below(shape: f64, x: f64) -> f64 {
    match x {
        _ if x <= 0.0 => 0.0,
        _ if x.is_infinite() => 1.0,
        _ if x < SMALL => first_terms(shape, x),
        _ => checked_gamma_lr(shape, x).unwrap_or(1.0).clamp(0.0, 1.0),
    }
}

/// The regularised upper incomplete gamma function.
pub(super) fn gamma_above(shape: f64, x: f64) -> f64 {
    match x {
        _ if x <= 0.0 => 1.0,
        _ if x.is_infinite() => 0.0,
        _ if x < SMALL => 1.0 - first_terms(shape, x),
        _ => checked_gamma_ur(shape, x).unwrap_or(0.0).clamp(0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_agree_with_the_paper_and_the_library() {
        // Test values of AS 241.
        for (p, z) in [(0.25, -0.674_489_750_196_081_7), (0.001, -3.090_232_306_167_813_5)] {
            assert!((normal_quantile(p) - z).abs() < 1e-14, "{p}");
        }
        assert!((normal_quantile(1e-20) + 9.262_340_089_798_408).abs() < 1e-13);
        for k in 1..1000 {
            let p = f64::from(k) / 1000.0;
            assert!((normal_quantile(p) - weir_lab::stats::student::normal_quantile(p)).abs() < 1e-8, "{p}");
            assert!((normal_survival(normal_quantile(p)) - (1.0 - p)).abs() < 1e-15, "{p}");
        }
    }
}
