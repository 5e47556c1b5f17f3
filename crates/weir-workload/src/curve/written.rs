//! What a document says of a curve, and how it is checked.

use std::path::PathBuf;

use super::file::{Format, read};
use super::{Curve, CurveError, Interpolation, Part, Points, RateUnit};
use crate::document::default_header;
use crate::trace::{Separator, TimeUnit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::units::Nanos;
use weir_document::quantity::{RequestRate, Time};
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

/// What a document says of a curve; no time is later than `longest`.
///
/// # Errors
/// It is not written in exactly one way, a time or a rate is out of bounds, or a row of its file is refused.
pub fn checked(
    checker: &mut Checker<'_>,
    written: &Located<CurveTable>,
    longest: Nanos,
) -> Checked<WrittenCurve> {
    let table = &written.value;
    let period = table.period.as_ref().map(|period| checker.some_span(period, longest)).transpose()?;
    let (points, seconds) = match (&table.factors, &table.rates, &table.csv) {
        (Some(factors), None, None) => {
            let points = factors.value.iter().map(|(time, factor)| (time, factor, factor.value));
            (inline(checker, points, longest)?, None)
        }
        (None, Some(rates), None) => {
            let points = rates.value.iter().map(|(time, rate)| (time, rate, rate.value.0));
            (inline(checker, points, longest)?, Some(1.0))
        }
        (None, None, Some(csv)) => (of_file(checker, &csv.value)?, csv.value.rate_unit.seconds()),
        _ => {
            let reason = "must have exactly one of `factors`, `rates`, `csv`";
            return checker.refuse(
                written,
                reason,
                "write, for example, `factors = [[\"0s\", 0.5], [\"10s\", 2.0]]`",
            );
        }
    };
    let made = points.curve(table.interpolation.unwrap_or_default(), period.map(Nanos::get));
    let curve = made.or_else(|CurveError { part, reason, remedy }| match (&table.period, &table.csv) {
        (Some(period), _) if part == Part::Period => checker.refuse(period, reason, remedy),
        (_, Some(csv)) => checker.refuse(&csv.value.file, reason, remedy),
        _ => checker.refuse(written, reason, remedy),
    })?;
    let rate = seconds.map(|seconds| curve.mean() / seconds);
    Ok(WrittenCurve { curve: curve.over_mean(), rate })
}

fn inline<'p, T: 'p>(
    checker: &Checker<'_>,
    points: impl Iterator<Item = (&'p Located<Time>, &'p Located<T>, f64)>,
    longest: Nanos,
) -> Checked<Points> {
    let mut all = Points::default();
    for (time, at, rate) in points {
        let added = all.add(checker.span(time, longest)?.get(), rate);
        added.or_else(|CurveError { part, reason, remedy }| match part {
            Part::Time => checker.refuse(time, reason, remedy),
            _ => checker.refuse(at, reason, remedy),
        })?;
    }
    Ok(all)
}

fn of_file(checker: &mut Checker<'_>, written: &CurveFile) -> Checked<Points> {
    let unit = &written.time_unit;
    if unit.value == TimeUnit::U {
        return checker.refuse(
            unit,
            "is of traces of the port alone",
            "write `s`, `ms`, `us`, `ns` or `timestamp`",
        );
    }
    let (file, name) = checker.data_file(&written.file)?;
    let format = Format {
        time: written.time.as_deref().unwrap_or("time"),
        rate: written.rate.as_deref().unwrap_or("rate"),
        time_unit: unit.value,
        uneven: written.uneven,
        header: written.header,
        separator: written.separator,
    };
    read(file, &name, &format)
}
