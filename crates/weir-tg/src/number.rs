//! Numbers, times and addresses of the language.
//!
//! A number is decimal, octal (`017`), hexadecimal (`0x0f`) or floating (`1.5`, `15e-1`). A time is `s`, `m:s`
//! or `h:m:s`, where the seconds may have a fraction; next to a colon a leading zero does not mean octal, so
//! that `1:08` is what it looks like.

use std::net::{Ipv4Addr, SocketAddrV4};

use weir_core::units::Nanos;

use crate::error::shorten;

/// Whole numbers are at most this: what a floating number holds exactly.
pub(crate) const MAX_WHOLE: u64 = 1 << 53;
/// Times are at most this, 11 days: what a floating number holds to the nanosecond.
const MAX_SECONDS: f64 = 1e6;
/// The longest number, in characters.
const MAX_DIGITS: usize = 400;

/// Whether a word is meant as a number, a time or an address.
pub(crate) fn begins(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit() || ".+-".contains(first))
}

/// A finite number of at least 0.
pub(crate) fn read(word: &str) -> Result<f64, String> {
    let value = magnitude(word).ok_or_else(|| format!("`{}` is not a number", shorten(word)))?;
    if !value.is_finite() {
        return Err(format!("`{}` is too large for a number", shorten(word)));
    }
    if value < 0.0 || word.starts_with('-') {
        return Err(format!("the number is {}, must be at least 0", shorten(word)));
    }
    Ok(value)
}

fn magnitude(word: &str) -> Option<f64> {
    if word.len() > MAX_DIGITS {
        return None;
    }
    let digits = word.strip_prefix('+').unwrap_or(word);
    if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return integer(hexadecimal, 16);
    }
    let octal =
        digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|each| each.is_ascii_digit());
    if octal { integer(digits, 8) } else { floating(digits) }
}

/// An integer of a base; as a floating number it is rounded where it is longer than that holds.
fn integer(digits: &str, base: u32) -> Option<f64> {
    if digits.is_empty() {
        return None;
    }
    digits
        .chars()
        .try_fold(0.0, |value, digit| Some(value * f64::from(base) + f64::from(digit.to_digit(base)?)))
}

/// A decimal or floating number; the names of infinity are none.
fn floating(word: &str) -> Option<f64> {
    let known = word.bytes().all(|each| each.is_ascii_digit() || b".eE+-".contains(&each));
    if known { word.parse().ok() } else { None }
}

/// A whole number within bounds.
pub(crate) fn whole(word: &str, least: u64, most: u64) -> Result<u64, String> {
    let value = read(word)?;
    let within = value >= least as f64 && value <= most.min(MAX_WHOLE) as f64;
    if value.fract() != 0.0 || !within {
        return Err(format!("the number is {}, must be whole and from {least} to {most}", shorten(word)));
    }
    Ok(value as u64)
}

/// A time.
pub(crate) fn time(word: &str) -> Result<Nanos, String> {
    let refused = || format!("`{}` is not a time", shorten(word));
    let parts: Vec<&str> = word.split(':').take(4).collect();
    let (seconds, above) = parts.split_last().ok_or_else(refused)?;
    if above.is_empty() {
        return nanos(read(seconds)?, word);
    }
    if above.len() > 2 || !seconds.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(refused());
    }
    let mut sum = 0.0;
    for part in above {
        let digits = !part.is_empty() && part.len() < 16 && part.bytes().all(|each| each.is_ascii_digit());
        sum = 60.0 * (sum + if digits { floating(part).ok_or_else(refused)? } else { return Err(refused()) });
    }
    if seconds.len() > MAX_DIGITS {
        return Err(refused());
    }
    nanos(sum + floating(seconds).ok_or_else(refused)?, word)
}

fn nanos(seconds: f64, word: &str) -> Result<Nanos, String> {
    if seconds > MAX_SECONDS {
        return Err(format!("the time is {}, must be at most {MAX_SECONDS} s", shorten(word)));
    }
    Ok(crate::nanos_of(seconds))
}

/// An address of four numbers and a port.
pub(crate) fn address(word: &str) -> Result<SocketAddrV4, String> {
    let refused = || format!("`{}` is not an address", shorten(word));
    let mut parts = word.split('.');
    let mut part = |most: u16| {
        let digits =
            parts.next().filter(|part| part.len() <= 5 && part.bytes().all(|each| each.is_ascii_digit()));
        digits
            .and_then(|digits| digits.parse::<u16>().ok())
            .filter(|value| *value <= most)
            .ok_or_else(refused)
    };
    let mut octets = [0; 4];
    for octet in &mut octets {
        *octet = u8::try_from(part(255)?).unwrap_or(u8::MAX);
    }
    let port = part(u16::MAX)?;
    if parts.next().is_some() {
        return Err(refused());
    }
    if port == 0 {
        return Err(format!("the port of `{}` is 0, must be from 1 to 65535", shorten(word)));
    }
    Ok(SocketAddrV4::new(Ipv4Addr::from(octets), port))
}
