//! Points of wall-clock time: nanoseconds since 1970, read and written as in RFC 3339.
//!
//! | | |
//! |-|-|
//! | Source | RFC 3339; the civil calendar in days as in Howard Hinnant, *chrono-compatible low-level date algorithms*, 2013 |
//! | Units | nanoseconds since 1970-01-01T00:00:00Z, without leap seconds, as `CLOCK_REALTIME` counts |
//! | Range | 1970 to 2096 |

use core::fmt;

use serde::{Deserialize, Serialize};

const SECOND: u64 = 1_000_000_000;
/// The last accepted second, in 2096: sums with a time of a log then fit into 63 bits.
const LAST: u64 = 4_000_000_000;

/// A point of wall-clock time, from 1970 to 2096.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct WallTime(u64);

impl WallTime {
    /// A time, in nanoseconds since 1970; `None` after 2096.
    #[must_use]
    pub const fn new(nanos: u64) -> Option<Self> {
        if nanos <= LAST * SECOND { Some(Self(nanos)) } else { None }
    }

    /// Nanoseconds since 1970.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The next multiple of `seconds` seconds that is after this.
    #[must_use]
    pub fn next_multiple(self, seconds: u32) -> Option<Self> {
        let step = u64::from(seconds.max(1)) * SECOND;
        Self::new((self.0 / step + 1) * step)
    }

    /// Reads `2026-11-22T02:00:00Z`, `2026-11-22T03:00:00.5+01:00`, or seconds since 1970 such as `1795312800.25`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.contains('T') { rfc3339(text) } else { Self::new(nanos(text)?) }
    }
}

/// A decimal number of seconds in nanoseconds, exactly.
fn nanos(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if fraction.len() > 9 {
        return None;
    }
    let scale = 10_u64.pow(9 - u32::try_from(fraction.len()).ok()?);
    digits(whole)?.checked_mul(SECOND)?.checked_add(digits(fraction)? * scale)
}

fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.len() <= 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

fn rfc3339(text: &str) -> Option<WallTime> {
    let (date, time) = text.split_once('T')?;
    let zone_at = time.find(['Z', '+', '-'])?;
    let (time, zone) = time.split_at(zone_at);
    let [year, month, day] = parts(date, '-')?;
    let (year, month, day) = (digits(year)?, digits(month)?, digits(day)?);
    let [hours, minutes, seconds] = parts(time, ':')?;
    let (hours, minutes, seconds) = (digits(hours)?, digits(minutes)?, nanos(seconds)?);
    let in_range = (1970..=2096).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hours < 24
        && minutes < 60
        && seconds < 60 * SECOND;
    let days = in_range.then(|| days(year, month, day))?;
    // A day that the month does not have is another day in the calendar.
    if civil(days) != (year, month, day) {
        return None;
    }
    let local = (days * 86_400 + hours * 3600 + minutes * 60) * SECOND + seconds;
    let shifted = match zone.split_at(1) {
        ("Z", "") => Some(local),
        ("+", offset) => local.checked_sub(offset_nanos(offset)?),
        ("-", offset) => local.checked_add(offset_nanos(offset)?),
        _ => None,
    };
    WallTime::new(shifted?)
}

fn offset_nanos(text: &str) -> Option<u64> {
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    (hours < 24 && minutes < 60).then_some((hours * 60 + minutes) * 60 * SECOND)
}

fn parts(text: &str, separator: char) -> Option<[&str; 3]> {
    let mut parts = text.split(separator);
    let three = [parts.next()?, parts.next()?, parts.next()?];
    parts.next().is_none().then_some(three)
}

/// Days since 1970 of a day of the Gregorian calendar, not before 1970.
fn days(year: u64, month: u64, day: u64) -> u64 {
    // Years begin in March, so that the leap day is their last.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day, `days` days after the first of 1970.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let part = (5 * of_year + 2) / 153;
    let month = if part < 10 { part + 3 } else { part - 9 };
    (era * 400 + year + u64::from(month <= 2), month, of_year - (153 * part + 2) / 5 + 1)
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, rest) = (self.0 / SECOND, self.0 % SECOND);
        let (year, month, day) = civil(seconds / 86_400);
        let (hours, minutes, seconds) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}")?;
        if rest > 0 {
            write!(f, ".{}", format!("{rest:09}").trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

impl TryFrom<u64> for WallTime {
    type Error = String;
    fn try_from(nanos: u64) -> Result<Self, String> {
        Self::new(nanos).ok_or_else(|| format!("{nanos} ns is after 2096"))
    }
}

impl From<WallTime> for u64 {
    fn from(time: WallTime) -> Self {
        time.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (text, written) in [
            ("2026-11-22T02:00:00Z", "2026-11-22T02:00:00Z"),
            ("2026-11-22T03:30:00.250+01:30", "2026-11-22T02:00:00.25Z"),
            ("2024-02-29T23:59:59.999999999-00:01", "2024-03-01T00:00:59.999999999Z"),
            ("0", "1970-01-01T00:00:00Z"),
            ("951782400.5", "2000-02-29T00:00:00.5Z"),
        ] {
            assert_eq!(WallTime::parse(text).expect(text).to_string(), written);
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "now",
            "-1",
            "1e9",
            "4000000001",
            "99999999999",
            "1.0000000001",
            "2026-11-22",
            "2026-11-22T02:00:00",
            "2026-11-22T24:00:00Z",
            "2026-11-22T02:00:60Z",
            "2026-02-29T02:00:00Z",
            "2026-13-01T02:00:00Z",
            "2026-00-01T02:00:00Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59Z",
            "2026-11-22T02:00:00Zz",
            "2026-11-22T02:00:00+1",
            "é026-11-22T02:00:00Z",
            "2026-11-22T02:00:00é",
        ] {
            assert_eq!(WallTime::parse(text), None, "{text}");
        }
    }

    #[test]
    fn scripts_start_at_the_next_multiple() {
        let at = |seconds: u64| WallTime::new(seconds * SECOND);
        assert_eq!(at(44).and_then(|time| time.next_multiple(15)), at(45));
        assert_eq!(at(45).and_then(|time| time.next_multiple(15)), at(60));
        assert_eq!(at(LAST).and_then(|time| time.next_multiple(15)), None);
    }
}
