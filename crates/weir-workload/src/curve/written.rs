//! What a document says of a curve, and how it is checked.

use std::path::PathBuf;

use super::file::{Format, read};
use super::{Curve, CurveError, Interpolation, Part, Points, RateUnit};
use crate::document::default_header;
use crate::trace::{Separator, TimeUnit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::units::Nanos;
use weir_document::quantity::{Clock, RequestRate, Time};
use weir_document::{Checked, Checker, Located};

/// Times with what is there.
type PointList<T> = Vec<(Located<Time>, Located<T>)>;

/// A rate of arrivals that follows the time: exactly one of `factors`, `rates` and `csv`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurveTable {
    /// Times from `"0s"` on, with the rate there over the mean, which comes from the load, the rate or the gap: numbers in any
    /// proportion, such as `[["0s", 0.5], ["10s", 2.0]]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factors: Option<Located<PointList<f64>>>,
    /// Times from `"0s"` on, with the rate there, such as `[["0s", "200/s"], ["10s", "1k/s"]]`. A load, a rate or a gap is not
    /// needed; where there is one, it gives the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<Located<PointList<RequestRate>>>,
    /// A CSV file with such times and rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csv: Option<Located<CurveFile>>,
    /// How the rate goes from one point to the next; default: `constant`, it stays until the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpolation: Option<Interpolation>,
    /// After how long the curve begins again, at or after its last point. Default: never, the last rate stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Located<Time>>,
}

impl CurveTable {
    /// Whether it is written with rates, so that it has a mean of its own.
    #[must_use]
    pub fn has_rates(&self) -> bool {
        let of_file = |csv: &Located<CurveFile>| csv.value.rate_unit.seconds().is_some();
        self.rates.is_some() || self.csv.as_ref().is_some_and(of_file)
    }
}

/// A CSV file with one row a point of a curve, in order of time.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurveFile {
    /// The file, relative to the scenario; may be compressed by gzip. Lines that begin with `#` are comments.
    pub file: Located<PathBuf>,
    /// The column of the time, which counts from the first row; default: `time`. Without a header, columns are named "1",
    /// "2", ....
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// How the time is written.
    pub time_unit: Located<TimeUnit>,
    /// The column of the rate; default: `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// How the rate is written: `"/s"`, `"/min"`, `"/h"`, or `"factor"`, over the mean.
    pub rate_unit: RateUnit,
    /// Whether steps between rows may differ. Default: false; a step longer than one and a half of the first is then a
    /// hole, and refused.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub uneven: bool,
    /// Whether the first row names the columns.
    #[serde(default = "default_header")]
    pub header: bool,
    /// What stands between two fields.
    #[serde(default)]
    pub separator: Separator,
}

/// A curve as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenCurve {
    /// Its rates over their mean.
    pub curve: Curve,
    /// The mean rate, in a second, where it is written with rates.
    pub rate: Option<f64>,
}

/// In what a curve is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The clock of the service, where it may be one of a port.
    pub port: Option<Clock>,
    /// No time is later.
    pub longest: Nanos,
}

impl Written {
    /// Whether time counts mean packet services, of which a second has no number.
    fn is_abstract(self) -> bool {
        self.port == Some(Clock::PacketServices)
    }

    fn span(self, checker: &Checker<'_>, written: &Located<Time>) -> Checked<Nanos> {
        let Some(clock) = self.port else { return checker.span(written, self.longest) };
        let span = checker.on_clock(written, clock)?;
        if span > self.longest {
            let longest = Time { span: self.longest, clock };
            return checker.refuse(written, format!("must be at most {longest}"), "lower it");
        }
        Ok(span)
    }

    fn period(self, checker: &Checker<'_>, written: &Located<Time>) -> Checked<u64> {
        let span = self.span(checker, written)?;
        if span.get() == 0 {
            let example = if self.is_abstract() { "200u" } else { "5ms" };
            return checker.refuse(written, "must be above 0", format!("write a time such as \"{example}\""));
        }
        Ok(span.get())
    }

    /// Refuses a period that ends before the last point.
    fn holds(self, checker: &Checker<'_>, period: &Located<Time>, points: &Points) -> Checked<()> {
        let last = Time { span: points.last(), clock: self.port.unwrap_or(Clock::Seconds) };
        if period.value.span >= last.span {
            return Ok(());
        }
        let reason = format!("is shorter than the curve, whose last point is at {last}");
        checker.refuse(period, reason, "lengthen it, or leave out points")
    }

    /// Refuses rates in a second, where there are none.
    fn has_seconds<T>(self, checker: &Checker<'_>, rates: &Located<T>) -> Checked<()> {
        if !self.is_abstract() {
            return Ok(());
        }
        let reason = "must not be in seconds, since the service is in mean packet services";
        checker.refuse(rates, reason, "write factors, and the mean by a `load` or a `gap`")
    }
}

/// What a document says of a curve in seconds; no time is later than `longest`.
///
/// # Errors
/// As for [`checked_on`].
pub fn checked(
    checker: &mut Checker<'_>,
    written: &Located<CurveTable>,
    longest: Nanos,
) -> Checked<WrittenCurve> {
    checked_on(checker, written, Written { port: None, longest })
}

/// What a document says of a curve.
///
/// # Errors
/// It is not written in exactly one way, a time or a rate is out of bounds, or a row of its file is refused.
pub fn checked_on(
    checker: &mut Checker<'_>,
    written: &Located<CurveTable>,
    on: Written,
) -> Checked<WrittenCurve> {
    let table = &written.value;
    let period = table.period.as_ref().map(|period| on.period(checker, period)).transpose()?;
    let (points, seconds) = match (&table.factors, &table.rates, &table.csv) {
        (Some(factors), None, None) => {
            let points = factors.value.iter().map(|(time, factor)| (time, factor, factor.value));
            (inline(checker, points, on)?, None)
        }
        (None, Some(rates), None) => {
            on.has_seconds(checker, rates)?;
            let points = rates.value.iter().map(|(time, rate)| (time, rate, rate.value.0));
            (inline(checker, points, on)?, Some(1.0))
        }
        (None, None, Some(csv)) => (of_file(checker, csv, on)?, csv.value.rate_unit.seconds()),
        _ => {
            let reason = "must have exactly one of `factors`, `rates`, `csv`";
            return checker.refuse(
                written,
                reason,
                "write, for example, `factors = [[\"0s\", 0.5], [\"10s\", 2.0]]`",
            );
        }
    };
    if let Some(period) = &table.period {
        on.holds(checker, period, &points)?;
    }
    let made = points.curve(table.interpolation.unwrap_or_default(), period);
    let curve = made.or_else(|CurveError { reason, remedy, .. }| match &table.csv {
        Some(csv) => checker.refuse(&csv.value.file, reason, remedy),
        None => checker.refuse(written, reason, remedy),
    })?;
    let rate = seconds.map(|seconds| curve.mean() / seconds);
    Ok(WrittenCurve { curve: curve.over_mean(), rate })
}

fn inline<'p, T: 'p>(
    checker: &Checker<'_>,
    points: impl Iterator<Item = (&'p Located<Time>, &'p Located<T>, f64)>,
    on: Written,
) -> Checked<Points> {
    let mut all = Points::default();
    for (time, at, rate) in points {
        let added = all.add(on.span(checker, time)?.get(), rate);
        added.or_else(|CurveError { part, reason, remedy }| match part {
            Part::Time => checker.refuse(time, reason, remedy),
            _ => checker.refuse(at, reason, remedy),
        })?;
    }
    Ok(all)
}

/// Refuses times of a file that are not of the clock.
fn times_of_file(checker: &Checker<'_>, unit: &Located<TimeUnit>, on: Written) -> Checked<()> {
    let is_abstract = unit.value == TimeUnit::U;
    match on.port {
        None if is_abstract => checker.refuse(
            unit,
            "is of traces of the port alone",
            "write `s`, `ms`, `us`, `ns` or `timestamp`",
        ),
        Some(_) if is_abstract != on.is_abstract() => {
            let remedy = "give the service and the curve either both in seconds or both in `u`";
            checker.refuse(unit, "must be of the clock of the service", remedy)
        }
        _ => Ok(()),
    }
}

fn of_file(checker: &mut Checker<'_>, at: &Located<CurveFile>, on: Written) -> Checked<Points> {
    let written = &at.value;
    times_of_file(checker, &written.time_unit, on)?;
    if written.rate_unit.seconds().is_some() {
        on.has_seconds(checker, at)?;
    }
    let (file, name) = checker.data_file(&written.file)?;
    let format = Format {
        time: written.time.as_deref().unwrap_or("time"),
        rate: written.rate.as_deref().unwrap_or("rate"),
        time_unit: written.time_unit.value,
        uneven: written.uneven,
        header: written.header,
        separator: written.separator,
    };
    read(file, &name, &format)
}
