//! Gauss-Legendre quadrature with 16 nodes, and with 3 where a function hardly changes.
//!
//! `n` nodes are exact for polynomials up to degree `2n - 1`. They are the zeros of the Legendre polynomial, found by
//! Newton's method from Tricomi's estimate; they are computed once.

use core::f64::consts::PI;
use std::sync::LazyLock;

/// Nodes and weights for the interval from -1 to 1.
type Rule<const NODES: usize> = [(f64, f64); NODES];

static FINE: LazyLock<Rule<16>> = LazyLock::new(|| core::array::from_fn(node::<16>));
static COARSE: LazyLock<Rule<3>> = LazyLock::new(|| core::array::from_fn(node::<3>));

/// The integral of `f` from `from` to `to`.
pub(super) fn integral(from: f64, to: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let [sum] = integrals(from, to, |x| [f(x)]);
    sum
}

/// The integrals from `from` to `to` of the functions whose values `f` gives.
pub(super) fn integrals<const N: usize>(from: f64, to: f64, f: impl FnMut(f64) -> [f64; N]) -> [f64; N] {
    by(&FINE, from, to, f)
}

/// The same of functions whose poles are thirty intervals away or more: to 1e-12 of what they are.
pub(super) fn narrow_integrals<const N: usize>(
    from: f64,
    to: f64,
    f: impl FnMut(f64) -> [f64; N],
) -> [f64; N] {
    by(&COARSE, from, to, f)
}

fn by<const NODES: usize, const N: usize>(
    rule: &Rule<NODES>,
    from: f64,
    to: f64,
    mut f: impl FnMut(f64) -> [f64; N],
) -> [f64; N] {
    let (centre, half) = (0.5 * (from + to), 0.5 * (to - from));
    total(rule.iter().map(|&(x, weight)| f(centre + half * x).map(|value| weight * value)))
        .map(|sum| sum * half)
}

/// The sums of several rows of numbers, each from the first number to the last.
pub(super) fn total<const N: usize>(rows: impl Iterator<Item = [f64; N]>) -> [f64; N] {
    rows.fold([-0.0; N], |sums, row| core::array::from_fn(|at| sums[at] + row[at]))
}

fn node<const NODES: usize>(index: usize) -> (f64, f64) {
    let mut x = libm::cos(PI * (index as f64 + 0.75) / (NODES as f64 + 0.5));
    // The estimate has three digits; each step doubles them.
    for _ in 0..6 {
        let (value, slope) = legendre::<NODES>(x);
        x -= value / slope;
    }
    let slope = legendre::<NODES>(x).1;
    (x, 2.0 / ((1.0 - x * x) * slope * slope))
}

/// The Legendre polynomial of a degree and its derivative.
fn legendre<const DEGREE: usize>(x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for k in 2..=DEGREE {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
    }
    (value, DEGREE as f64 * (x * value - before) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_up_to_degree_31_are_exact() {
        let found = integral(0.0, 2.0, |x| x.powi(31));
        assert!((found / (2f64.powi(32) / 32.0) - 1.0).abs() < 1e-13, "{found}");
        let [length, mean] = integrals(1.0, 3.0, |x| [1.0, 0.5 * x]);
        assert!((length - 2.0).abs() < 1e-14 && (mean - 2.0).abs() < 1e-14);
    }

    #[test]
    fn three_nodes_are_enough_where_poles_are_far() {
        let [found] = narrow_integrals(0.0, 1.0, |x| [1.0 / (31.0 - x)]);
        assert!((found / (31.0_f64 / 30.0).ln() - 1.0).abs() < 1e-12, "{found}");
        let [found] = narrow_integrals(0.0, 2.0, |x| [x.powi(5)]);
        assert!((found - 32.0 / 3.0).abs() < 1e-13);
    }

    #[test]
    fn a_pole_one_interval_away_leaves_no_error() {
        let found = integral(0.0, 1.0, |x| 1.0 / (2.0 - x));
        assert!((found - 2f64.ln()).abs() < 1e-14, "{found}");
    }
}
