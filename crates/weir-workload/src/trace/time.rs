//! The times of a trace: a number in a stated unit, or a date with a time of day.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::units::Nanos;
use weir_document::quantity::{Clock, Time};

const SECOND: u128 = 1_000_000_000;

/// How the times of a trace are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// `2023-11-16 18:17:03.9799600`, or with `T` and a time zone.
    Timestamp,
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
    /// Mean packet service times.
    U,
}

impl TimeUnit {
    /// What a time must look like.
    pub(crate) const fn expected(self) -> &'static str {
        match self {
            Self::Timestamp => "a date and time such as 2023-11-16 18:17:03.9799600",
            Self::S => "a number of seconds from 0 up",
            Self::Ms => "a number of milliseconds from 0 up",
            Self::Us => "a number of microseconds from 0 up",
            Self::Ns => "a number of nanoseconds from 0 up",
            Self::U => "a number of mean packet services from 0 up",
        }
    }

    /// A span of nanoseconds of the clock, as it is written.
    pub(crate) fn time(self, span: u64) -> Time {
        let clock = if self == Self::U { Clock::PacketServices } else { Clock::Seconds };
        Time { span: Nanos::new(span), clock }
    }

    /// Nanoseconds of the clock, from the beginning of the year 1 for dates.
    pub(crate) fn parse(self, text: &str) -> Option<u128> {
        match self {
            Self::Timestamp => timestamp(text),
            Self::S | Self::U => number(text, SECOND),
            Self::Ms => number(text, 1_000_000),
            Self::Us => number(text, 1_000),
            Self::Ns => number(text, 1),
        }
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.len() <= 25 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A decimal number times `factor`; what is finer than a nanosecond is cut off.
fn number(text: &str, factor: u128) -> Option<u128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if digits(whole) && digits(fraction) {
        let whole = whole.parse::<u128>().ok()?.checked_mul(factor)?;
        return whole.checked_add(fraction_of(fraction, factor)?);
    }
    // An exponent, as programs write very small and very large numbers.
    let is_exponential = text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(['e', 'E']);
    let value = is_exponential.then(|| text.parse::<f64>().ok())?? * factor as f64;
    (0.0..1e30).contains(&value).then_some(value as u128)
}

/// The digits behind a decimal point times `factor`, to 12 places.
fn fraction_of(digits: &str, factor: u128) -> Option<u128> {
    let kept = &digits[..digits.len().min(12)];
    let scale = 10_u128.pow(kept.len() as u32);
    Some(kept.parse::<u128>().ok()? * factor / scale)
}

fn timestamp(text: &str) -> Option<u128> {
    let (date, time) = text.split_once(['T', ' '])?;
    let (time, offset) = zone(time)?;
    let mut parts = time.splitn(3, ':');
    let hour = part(parts.next()?, 2, 0, 23)?;
    let minute = part(parts.next()?, 2, 0, 59)?;
    let seconds = parts.next()?;
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let second = part(second, 2, 0, 60)?;
    let fraction = digits(fraction).then(|| fraction_of(fraction, SECOND))??;
    let local = days(date)? * 86_400 + hour * 3_600 + minute * 60 + second;
    let universal = u128::try_from(local - offset).ok()?;
    Some(universal * SECOND + fraction)
}

/// A number of exactly `width` digits within `low..=high`.
fn part(text: &str, width: usize, low: i64, high: i64) -> Option<i64> {
    let value = (digits(text) && text.len() == width).then(|| text.parse::<i64>().ok())??;
    (low..=high).contains(&value).then_some(value)
}

/// The time of day, and how many seconds its clock is ahead of universal time.
fn zone(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = time.find(['+', '-']) else { return Some((time, 0)) };
    let written = &time[at + 1..];
    let (hours, minutes) = match written.split_once(':') {
        Some(parts) => parts,
        // ISO 8601 has a basic form without the colon.
        None if written.len() == 4 && digits(written) => written.split_at(2),
        None => (written, "00"),
    };
    let seconds = part(hours, 2, 0, 23)? * 3_600 + part(minutes, 2, 0, 59)? * 60;
    Some((&time[..at], if time[at..].starts_with('-') { -seconds } else { seconds }))
}

/// The days from the first of March of the year 0 (so that a leap day ends a year) to `date`.
fn days(date: &str) -> Option<i64> {
    let mut parts = date.splitn(3, '-');
    let year = part(parts.next()?, 4, 1, 9999)?;
    let month = part(parts.next()?, 2, 1, 12)?;
    let day = part(parts.next()?, 2, 1, days_of_month(year, month))?;
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cut_at_a_nanosecond() {
        assert_eq!(TimeUnit::S.parse("1.5"), Some(1_500_000_000));
        assert_eq!(TimeUnit::S.parse("0.1234567899"), Some(123_456_789));
        assert_eq!(TimeUnit::Ns.parse("18446744073709551616"), Some(1 << 64));
        assert_eq!(TimeUnit::Us.parse("2.5e3"), Some(2_500_000));
        for bad in ["", "-1", "nan", "inf", "1e999", "1.", ".5", "1,5", "0x1", "1e", "infe"] {
            assert_eq!(TimeUnit::S.parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn timestamps_follow_the_calendar() {
        let at = |text| TimeUnit::Timestamp.parse(text).expect(text);
        assert_eq!(at("2023-11-16 18:17:04.0319600") - at("2023-11-16T18:17:03.97996Z"), 52_000_000);
        assert_eq!(at("2024-03-01 00:00:00") - at("2024-02-28 00:00:00"), 2 * 86_400 * SECOND);
        assert_eq!(at("2000-01-01 00:00:00") - at("1970-01-01 00:00:00"), 946_684_800 * SECOND);
        assert_eq!(at("2024-05-10 02:00:00.5+02:00"), at("2024-05-10 00:00:00.5"));
        assert_eq!(at("2024-05-10 00:00:00-01:30"), at("2024-05-10 01:30:00"));
        assert_eq!(at("2024-05-10 00:00:00-0130"), at("2024-05-10 01:30:00"));
    }

    #[test]
    fn dates_that_do_not_exist_are_refused() {
        for bad in [
            "2023-02-29 00:00:00",
            "2023-13-01 00:00:00",
            "2023-1-01 00:00:00",
            "2023-01-01",
            "18:17:03",
            "2023-01-01 24:00:00",
            "2023-01-01 00:00",
            "2023-01-01 00:00:00.",
            "0000-01-01 00:00:00",
            "2023-01-01 00:00:00+99:00",
        ] {
            assert_eq!(TimeUnit::Timestamp.parse(bad), None, "{bad}");
        }
    }
}
