//! Points in time and durations, as logs write them.

use crate::trace::TimeUnit;
use serde::{Deserialize, Serialize};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// The first second of 1973, and how many there are to the year 5138: what counts as seconds of the epoch, and a thousand times
/// as much as milliseconds, and so on.
const EPOCH: (f64, f64) = (1e8, 1e11);

/// How a point in time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stamp {
    /// `10/Oct/2000:13:55:36 -0700`, in brackets or not.
    Common,
    /// ISO 8601: `2023-11-16T18:17:03.979Z`, with or without a zone.
    Iso,
    /// Seconds from any point on.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl Stamp {
    /// How this is written, where it looks like a point in time: a date, or a number of seconds, milliseconds, microseconds or
    /// nanoseconds since 1970.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if let Ok(number) = text.parse::<f64>() {
            let units = [(Self::S, 1.0), (Self::Ms, 1e3), (Self::Us, 1e6), (Self::Ns, 1e9)];
            let fits = |scale: f64| number >= EPOCH.0 * scale && number < EPOCH.1 * scale;
            return units.into_iter().find(|(_, scale)| fits(*scale)).map(|(unit, _)| unit);
        }
        [Self::Common, Self::Iso].into_iter().find(|stamp| stamp.parse(text).is_some())
    }

    /// Nanoseconds since a point that is the same for all times of the format.
    #[must_use]
    pub fn parse(self, text: &str) -> Option<u128> {
        match self {
            Self::Common => TimeUnit::Timestamp.parse(&iso_of_common(text)?),
            Self::Iso => TimeUnit::Timestamp.parse(&text.replacen(',', ".", 1)),
            Self::S => TimeUnit::S.parse(text),
            Self::Ms => TimeUnit::Ms.parse(text),
            Self::Us => TimeUnit::Us.parse(text),
            Self::Ns => TimeUnit::Ns.parse(text),
        }
    }

    /// What a time must look like.
    #[must_use]
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Common => "a time such as 10/Oct/2000:13:55:36 -0700",
            Self::Iso => "a date and time such as 2023-11-16T18:17:03.979Z",
            Self::S => TimeUnit::S.expected(),
            Self::Ms => TimeUnit::Ms.expected(),
            Self::Us => TimeUnit::Us.expected(),
            Self::Ns => TimeUnit::Ns.expected(),
        }
    }
}

/// `10/Oct/2000:13:55:36 -0700` as `2000-10-10T13:55:36-0700`.
fn iso_of_common(text: &str) -> Option<String> {
    let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let (date, time) = text.split_once(':')?;
    let mut parts = date.split('/');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let month = 1 + MONTHS.iter().position(|name| *name == month)?;
    let (time, zone) = time.split_once(' ').unwrap_or((time, ""));
    parts.next().is_none().then(|| format!("{year}-{month:02}-{day}T{time}{zone}"))
}

/// The unit of a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurationUnit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
    /// As it stands behind each number: `12ms`.
    Written,
}

impl DurationUnit {
    /// The unit that a name ends in, as `took_ms`, `took (ms)` or `tookMs`.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let all = [
            (Self::Ms, &["ms", "msec", "millis", "milliseconds", "Ms", "Millis"][..]),
            (Self::Us, &["us", "usec", "micros", "microseconds", "Us", "Micros"]),
            (Self::Ns, &["ns", "nsec", "nanos", "nanoseconds", "Ns", "Nanos"]),
            (Self::S, &["s", "sec", "secs", "seconds", "Seconds"]),
        ];
        let name = name.strip_suffix(')').unwrap_or(name);
        let ends = |word: &str| {
            let rest = name.strip_suffix(word);
            let is_camel = word.starts_with(|c: char| c.is_ascii_uppercase());
            rest.is_some_and(|rest| {
                let last = rest.chars().next_back();
                last.is_some_and(
                    |last| if is_camel { last.is_ascii_lowercase() } else { "_ (.-".contains(last) },
                )
            })
        };
        all.into_iter().find(|(_, words)| words.iter().any(|word| ends(word))).map(|(unit, _)| unit)
    }

    /// Nanoseconds.
    #[must_use]
    pub fn parse(self, text: &str) -> Option<u64> {
        let unit = match self {
            Self::S => TimeUnit::S,
            Self::Ms => TimeUnit::Ms,
            Self::Us => TimeUnit::Us,
            Self::Ns => TimeUnit::Ns,
            Self::Written => return with_unit(text),
        };
        u64::try_from(unit.parse(text)?).ok()
    }

    /// What a duration must look like.
    #[must_use]
    pub const fn expected(self) -> &'static str {
        match self {
            Self::S => TimeUnit::S.expected(),
            Self::Ms => TimeUnit::Ms.expected(),
            Self::Us => TimeUnit::Us.expected(),
            Self::Ns => TimeUnit::Ns.expected(),
            Self::Written => "a duration such as 12ms",
        }
    }
}

/// A number with its unit behind it.
fn with_unit(text: &str) -> Option<u64> {
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let unit = match text[at..].trim() {
        "s" => DurationUnit::S,
        "ms" => DurationUnit::Ms,
        "us" | "µs" | "μs" => DurationUnit::Us,
        "ns" => DurationUnit::Ns,
        _ => return None,
    };
    unit.parse(&text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_known_by_their_looks() {
        for (text, stamp) in [
            ("10/Oct/2000:13:55:36 -0700", Some(Stamp::Common)),
            ("[10/Oct/2000:13:55:36 -0700]", Some(Stamp::Common)),
            ("2023-11-16T18:17:03.979Z", Some(Stamp::Iso)),
            ("2023-11-16 18:17:03,979", Some(Stamp::Iso)),
            ("1700000000", Some(Stamp::S)),
            ("1700000000.25", Some(Stamp::S)),
            ("1700000000250", Some(Stamp::Ms)),
            ("1700000000250000", Some(Stamp::Us)),
            ("1700000000250000000", Some(Stamp::Ns)),
            ("0.25", None),
            ("10/Oct/2000", None),
            ("10/Nix/2000:13:55:36 -0700", None),
            ("", None),
        ] {
            assert_eq!(Stamp::of(text), stamp, "{text}");
        }
    }

    #[test]
    fn formats_agree_on_an_instant() {
        let iso = Stamp::Iso.parse("2000-10-10T20:55:36Z");
        assert_eq!(Stamp::Common.parse("10/Oct/2000:13:55:36 -0700"), iso);
        assert_eq!(Stamp::Common.parse("[10/Oct/2000:22:55:36 +0200]"), iso);
        assert_eq!(Stamp::Ms.parse("1500"), Stamp::S.parse("1.5"));
        assert_eq!(Stamp::S.parse("-1"), None);
    }

    #[test]
    fn units_are_known_by_the_end_of_a_name() {
        for (name, unit) in [
            ("took_ms", Some(DurationUnit::Ms)),
            ("took (us)", Some(DurationUnit::Us)),
            ("tookMs", Some(DurationUnit::Ms)),
            ("durationSeconds", Some(DurationUnit::S)),
            ("latency_s", Some(DurationUnit::S)),
            ("status", None),
            ("items", None),
            ("ms", None),
        ] {
            assert_eq!(DurationUnit::of_name(name), unit, "{name}");
        }
    }

    #[test]
    fn a_duration_may_have_its_unit() {
        assert_eq!(DurationUnit::Written.parse("1.5ms"), Some(1_500_000));
        assert_eq!(DurationUnit::Written.parse("12 µs"), Some(12_000));
        assert_eq!(DurationUnit::Written.parse("12"), None);
        assert_eq!(DurationUnit::Ms.parse("0.25"), Some(250_000));
        assert_eq!(DurationUnit::Ms.parse("-1"), None);
    }
}
