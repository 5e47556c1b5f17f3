//! The coefficient alpha, and the key it gives to a message.
//!
//! A key is `alpha * length + tick`, a whole number of 2^-16 units of cost. The product is taken exactly
//! and rounded once, to the nearest: for every alpha that is a fraction with a denominator below 2^15
//! (0.001, 0.3, 1/3) two keys compare as the exact ones do, ties included, which would not hold for a
//! product with a rounded alpha. (A key that a wrapper hands on to a message of another alpha keeps the
//! rounding of the first, at most 2^-16 units.)
//!
//! Bounds: alpha up to [`Coefficient::LARGEST`], or infinite; `alpha * length` saturates at 2^62 units
//! (alpha 10^6 on a request of 10^12 nanoseconds is 10^18, a quarter of it), above which messages are served
//! in order of arrival. An infinite alpha orders by length alone, after every message of a finite one.

use core::fmt;

use crate::priority::Key;
use crate::units::Cost;

/// The largest `alpha * length`, and the largest clock: together they stay below [`Key::INFINITE`].
pub(super) const LARGEST_TERM: u128 = (1 << 78) - 1;
/// How many bits of the mantissa may be shifted out; one more and nothing is left of any product.
const MAX_SHIFT: i32 = 126;

/// Why an alpha was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is negative, no number, or finite and above [`Coefficient::LARGEST`].
    Alpha(f64),
    /// The upper limit of a tracking alpha is below its lower one.
    Limits {
        /// The lower limit.
        low: f64,
        /// The upper limit.
        high: f64,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alpha(alpha) => write!(
                f,
                "alpha is {alpha}, must be a number from 0 (first in, first out) to {}, or `inf` (shortest first)",
                Coefficient::LARGEST
            ),
            Self::Limits { low, high } => {
                write!(f, "high is {high}, must be at least low, which is {low}")
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// An alpha: `mantissa / 2^(shift + 1)` in units of 2^-16, exactly the number it was made of; or infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coefficient {
    mantissa: u64,
    shift: u32,
    infinite: bool,
}

impl Coefficient {
    /// The largest finite alpha.
    pub const LARGEST: f64 = 1e9;
    /// Shortest first.
    pub const INFINITE: Self = Self { mantissa: 0, shift: 0, infinite: true };

    /// The coefficient `alpha`, from 0 to [`Coefficient::LARGEST`], or infinite.
    ///
    /// # Errors
    /// It is negative, no number, or finite and larger.
    pub fn new(alpha: f64) -> Result<Self, ConfigError> {
        if alpha == f64::INFINITY {
            return Ok(Self::INFINITE);
        }
        if !(0.0..=Self::LARGEST).contains(&alpha) {
            return Err(ConfigError::Alpha(alpha));
        }
        let bits = alpha.to_bits();
        let exponent = (bits >> 52) as i32 & 0x7ff;
        let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
        // alpha = mantissa * 2^(exponent - 1075); the bound of alpha keeps the shift positive.
        let shift = 1075 - exponent - Key::FRACTION_BITS as i32;
        if exponent == 0 || shift > MAX_SHIFT {
            return Ok(Self::of_fractions(0));
        }
        let shift = shift as u32 - 1;
        let even = mantissa.trailing_zeros().min(shift);
        Ok(Self { mantissa: mantissa >> even, shift: shift - even, infinite: false })
    }

    /// The alpha that is written; a number too large for a floating-point number is none, and not `inf`.
    #[must_use]
    pub fn read(text: &str) -> Option<f64> {
        text.parse()
            .ok()
            .filter(|alpha: &f64| alpha.is_finite() || !text.contains(|each: char| each.is_ascii_digit()))
    }

    /// Whether keys under it follow the clock.
    #[inline]
    #[must_use]
    pub const fn is_finite(self) -> bool {
        !self.infinite
    }

    /// The coefficient of `count` units of 2^-16, of which there are fewer than 2^63.
    #[inline]
    pub(in crate::message) const fn of_fractions(count: u64) -> Self {
        Self { mantissa: count << 1, shift: 0, infinite: false }
    }

    /// `alpha * cost` in units of 2^-16, to the nearest, or the cost where alpha is infinite.
    #[must_use]
    #[inline]
    pub fn times<C: Cost>(self, cost: C) -> u128 {
        if self.infinite {
            return u128::from(cost.count());
        }
        let product = u128::from(self.mantissa) * u128::from(cost.count());
        // The half that rounds to the nearest is the last bit but for the shift.
        (((product >> self.shift) + 1) >> 1).min(LARGEST_TERM)
    }

    /// The key of a message of `cost` at `tick` (at most [`LARGEST_TERM`]).
    #[inline]
    pub(super) fn key<C: Cost>(self, cost: C, tick: u128) -> Key {
        let term = self.times(cost);
        if self.infinite { Key(Key::INFINITE.0 + term) } else { Key(term + tick) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Packets;

    const UNIT: u128 = 1 << Key::FRACTION_BITS;

    fn times(alpha: f64, cost: u64) -> u128 {
        Coefficient::new(alpha).expect("within bounds").times(Packets::new(cost))
    }

    #[test]
    fn products_are_exact_or_the_nearest() {
        assert_eq!(times(0.0, 20), 0);
        assert_eq!(times(10.0, 20), 200 * UNIT);
        assert_eq!(times(0.3, 10), 3 * UNIT);
        assert_eq!(times(0.001, 1000), UNIT);
        assert_eq!(times(0.001, 1), 66);
        assert_eq!(times(1e-300, u64::MAX), 0);
        assert_eq!(times(f64::MIN_POSITIVE / 2.0, u64::MAX), 0);
        assert_eq!(times(1e6, 1_000_000_000_000), 1_000_000_000_000_000_000 * UNIT);
        assert_eq!(times(1e9, u64::MAX), LARGEST_TERM);
        assert_eq!(times(f64::INFINITY, 20), 20);
    }

    #[test]
    fn finite_keys_stay_below_infinite_ones() {
        let largest = Coefficient::new(1e9).expect("the bound").key(Packets::new(u64::MAX), LARGEST_TERM);
        assert!(largest.is_finite());
        let infinite = Coefficient::INFINITE.key(Packets::new(u64::MAX), LARGEST_TERM);
        assert!(!infinite.is_finite() && infinite < Key::MAX);
    }

    #[test]
    fn digits_are_never_infinite() {
        assert_eq!([Coefficient::read("inf"), Coefficient::read("+Infinity")], [Some(f64::INFINITY); 2]);
        assert_eq!([Coefficient::read("1e400"), Coefficient::read(&"9".repeat(400))], [None; 2]);
        assert_eq!(Coefficient::read("1e9"), Some(1e9));
    }

    #[test]
    fn numbers_outside_the_bounds_are_refused() {
        for alpha in [-1.0, -0.001, f64::NAN, f64::NEG_INFINITY, 1.1e9] {
            let error = Coefficient::new(alpha).expect_err("out of bounds").to_string();
            assert!(error.starts_with("alpha is ") && error.contains("from 0"), "{error}");
        }
        assert_eq!(Coefficient::new(-0.0).map(|zero| zero.times(Packets::new(9))), Ok(0));
    }
}
