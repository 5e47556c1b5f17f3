//! Numbers as the C library reads them (`strtoul` and `strtol` with base 0), and what it calls a space.
//!
//! | | |
//! |-|-|
//! | Source | ISO C, 7.22.1.4; `long` has 64 bits |
//! | Work | O(digits) |
//! | Departs from the source | the sign and the text of an overflow are not kept: its value is all ones |

/// What C's `isspace` holds for a space.
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// A number at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// As `strtoul` returns it: a negative number is taken from 2^64, one too large is 2^64 - 1.
    pub(super) unsigned: u64,
    /// As `strtol` returns it: the nearest that there is.
    pub(super) signed: i64,
    /// Bytes that were read, 0 where there is no number.
    pub(super) length: usize,
    /// Whether it is a number of 64 bits.
    pub(super) fits: bool,
}

/// Reads a number: space, a sign, `0x` and hexadecimal digits, `0` and octal digits, or decimal digits.
pub(super) fn number(text: &[u8]) -> Read {
    let digit_at =
        |at: usize, base: u32| text.get(at).and_then(|byte| char::from(*byte).to_digit(base)).map(u64::from);
    let mut at = text.iter().take_while(|byte| is_space(**byte)).count();
    let is_negative = text.get(at) == Some(&b'-');
    at += usize::from(matches!(text.get(at), Some(b'-' | b'+')));
    let is_hexadecimal = digit_at(at, 10) == Some(0)
        && matches!(text.get(at + 1), Some(b'x' | b'X'))
        && digit_at(at + 2, 16).is_some();
    let base = match digit_at(at, 10) {
        _ if is_hexadecimal => 16,
        Some(0) => 8,
        _ => 10,
    };
    at += if is_hexadecimal { 2 } else { 0 };
    let first = at;
    let mut magnitude = Some(0_u64);
    while let Some(digit) = digit_at(at, base) {
        let shifted = magnitude.and_then(|value| value.checked_mul(u64::from(base)));
        magnitude = shifted.and_then(|value| value.checked_add(digit));
        at += 1;
    }
    if at == first {
        return Read { unsigned: 0, signed: 0, length: 0, fits: true };
    }
    let whole = i128::from(magnitude.unwrap_or(u64::MAX)) * if is_negative { -1 } else { 1 };
    let unsigned = magnitude.map_or(u64::MAX, |value| if is_negative { value.wrapping_neg() } else { value });
    let signed = whole.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    Read { unsigned, signed: signed as i64, length: at, fits: magnitude.is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        for (text, unsigned, length) in [
            ("64 ,1", 64, 2),
            (" \t0x1Fg", 31, 6),
            ("010", 8, 3),
            ("09", 0, 1),
            ("0x", 0, 1),
            ("0xg", 0, 1),
            (",1", 0, 0),
            ("  ", 0, 0),
            ("- 1", 0, 0),
            ("+7", 7, 2),
            ("-1", u64::MAX, 2),
            ("-18446744073709551615", 1, 21),
            ("18446744073709551616", u64::MAX, 20),
        ] {
            let read = number(text.as_bytes());
            assert_eq!((read.unsigned, read.length), (unsigned, length), "{text}");
        }
        let signed = |text: &str| number(text.as_bytes()).signed;
        assert_eq!((signed("-5x"), signed("9223372036854775808"), signed("")), (-5, i64::MAX, 0));
        assert!(!number(b"-18446744073709551616").fits);
    }
}
