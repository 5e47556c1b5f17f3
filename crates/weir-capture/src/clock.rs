//! The times of a capture: a count of units since some moment, as nanoseconds.

use crate::error::Fault;

/// Nanoseconds since the beginning of 1970; before it where negative.
pub(crate) type Moment = i128;

const SECOND: u128 = 1_000_000_000;
/// The bit of `if_tsresol` that tells powers of two from powers of ten.
const BINARY: u8 = 0x80;

/// What an interface counts its times in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Units in a second.
    units: u64,
    /// Seconds added to every time.
    offset: i64,
}

impl Clock {
    /// `resolution` as in the option `if_tsresol`, `offset` as in `if_tsoffset`.
    pub(crate) fn new(resolution: u8, offset: i64) -> Result<Self, Fault> {
        let exponent = u32::from(resolution & !BINARY);
        let base: u64 = if resolution & BINARY == 0 { 10 } else { 2 };
        let units = base.checked_pow(exponent).ok_or(Fault::Resolution(resolution))?;
        Ok(Self { units, offset })
    }

    /// The moment of a count; what is finer than a nanosecond is cut off.
    pub(crate) fn moment(self, count: u64) -> Moment {
        let nanoseconds = u128::from(count) * SECOND / u128::from(self.units);
        // Below 2^94 and 2^93: neither conversion nor sum can overflow.
        nanoseconds as i128 + i128::from(self.offset) * SECOND as i128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(resolution: u8, offset: i64, count: u64) -> Moment {
        Clock::new(resolution, offset).expect("in bounds").moment(count)
    }

    #[test]
    fn units_are_powers_of_ten_or_of_two() {
        assert_eq!(moment(6, 0, 1_340_954_905_298_858), 1_340_954_905_298_858_000);
        assert_eq!(moment(9, 5, 7), 5_000_000_007);
        assert_eq!(moment(0, -5, 7), 2_000_000_000);
        assert_eq!(moment(0x80 | 10, 0, 1536), 1_500_000_000);
        assert_eq!(moment(12, 0, 1_999), 1);
    }

    #[test]
    fn the_bounds_hold_and_what_is_beyond_is_refused() {
        assert_eq!(moment(19, i64::MIN, u64::MAX), i128::from(i64::MIN) * 1_000_000_000 + 1_844_674_407);
        assert!(moment(0, i64::MAX, u64::MAX) > 0);
        assert!(moment(0x80 | 63, 0, u64::MAX) < 2_000_000_000);
        for resolution in [20, 127, 0x80 | 64, 0xff] {
            assert_eq!(Clock::new(resolution, 0), Err(Fault::Resolution(resolution)));
        }
    }
}
