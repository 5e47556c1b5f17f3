//! From one number a replication to a [`Figure`], and from the pairs of two disciplines to a [`PairedDifference`].
//!
//! | row | value | interval |
//! |-|-|-|
//! | mean | of the replications' numbers | t ([`replications::mean`]) |
//! | quantile | of all replications together | by sectioning ([`replications::quantile_of_parts`]) |
//! | least, longest | of all replications | none |
//! | difference | mean of the replications' differences | t; of the least and the longest it is of each replication's own |
//!
//! Where nothing is random every replication is the same, and a figure is exact: its interval is its value, for a
//! quantile as far as the histogram tells it. Work and memory O(replications) a row. Units: as a row's title says.

use super::estimate::{Measure, Unavailable};
use super::figure::{Figure, PairedDifference};
use super::histogram::Histogram;
use super::replications;
use super::times::Spread;

/// Where an interval comes from if it is none.
const EXACT: &str = "exact: nothing is random";
/// Why there is none of the least and the longest.
const EXTREME: &str =
    "the extreme of all replications: more of them find one beyond it, so it has no interval";

/// What a figure is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Title<'f> {
    /// The kind of its subject.
    pub kind: &'static str,
    /// The name of its subject.
    pub name: &'f str,
    /// What is measured.
    pub metric: &'static str,
    /// `mean`, a quantile, `min`, `max`.
    pub statistic: &'static str,
    /// The unit.
    pub unit: &'static str,
}

/// A figure with the number of each replication, `None` where there was nothing to observe.
pub struct Row<'f> {
    /// What it is called.
    pub title: Title<'f>,
    /// The value with its interval.
    pub measure: Measure,
    /// Of the least and the longest too: their differences are of these.
    pub parts: Vec<Option<f64>>,
    /// Observations behind it.
    pub count: u64,
    /// How near it is told, as a part of it.
    pub reading: f64,
    /// The least that there can be, where one is known: no interval reaches below it.
    least: Option<f64>,
    /// Why it has no interval, where it is random and never has one.
    pub no_interval: Option<String>,
    /// Why it is not told although something was observed: nor are its differences.
    pub withheld: Option<String>,
}

/// The figures of one discipline, in an order that is the same for every discipline.
pub struct Rows<'f> {
    rows: Vec<Row<'f>>,
    is_random: bool,
}

/// The quantiles that are wanted of times.
pub struct Tails<'t, const KEPT: usize> {
    /// The times of all replications.
    pub all: Option<&'t Histogram>,
    /// What the quantiles are called.
    pub quantiles: [(&'static str, f64); KEPT],
}

/// A value with its interval.
#[derive(Default)]
struct Told {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    standard_error: Option<f64>,
    method: Option<String>,
    reason: Option<String>,
}

/// A figure with its interval; one that is not random is told within `error`.
fn told(measure: &Measure, is_random: bool, error: f64) -> Told {
    let value = measure.value();
    match (measure, measure.as_estimate(), value) {
        (Measure::NotAvailable { reason }, _, _) => {
            Told { reason: Some(reason.to_string()), ..Told::default() }
        }
        (_, _, Some(exact)) if !is_random => Told {
            value,
            low: Some(exact - error),
            high: Some(exact + error),
            standard_error: Some(0.0),
            method: Some(EXACT.to_owned()),
            reason: None,
        },
        (_, Some(estimate), _) => Told {
            value,
            low: Some(estimate.low()),
            high: Some(estimate.high()),
            standard_error: Some(estimate.standard_error()),
            method: Some(estimate.method().to_string()),
            reason: None,
        },
        _ => Told {
            value,
            reason: Some("one replication tells a value, an interval needs at least 2".to_owned()),
            ..Told::default()
        },
    }
}

impl<'f> Row<'f> {
    /// The mean of one number a replication.
    pub fn mean(title: Title<'f>, parts: Vec<Option<f64>>, count: u64) -> Self {
        let values: Vec<f64> = parts.iter().copied().flatten().collect();
        Self {
            title,
            measure: replications::mean(&values),
            parts,
            count,
            reading: 0.0,
            least: None,
            no_interval: None,
            withheld: None,
        }
    }

    /// The longest of all replications.
    pub fn longest(title: Title<'f>, parts: Vec<Option<f64>>, count: u64) -> Self {
        let measure = match parts.iter().copied().flatten().reduce(f64::max) {
            Some(longest) => Measure::maximum(longest, count),
            None => Unavailable::NoObservations.into(),
        };
        Self {
            title,
            measure,
            parts,
            count,
            reading: 0.0,
            least: None,
            no_interval: Some(EXTREME.to_owned()),
            withheld: None,
        }
    }

    /// The least of all replications.
    pub fn least(title: Title<'f>, parts: Vec<Option<f64>>, count: u64) -> Self {
        let measure = match parts.iter().copied().flatten().reduce(f64::min) {
            Some(least) => Measure::observed(least, count),
            None => Unavailable::NoObservations.into(),
        };
        Self {
            title,
            measure,
            parts,
            count,
            reading: 0.0,
            least: None,
            no_interval: Some(EXTREME.to_owned()),
            withheld: None,
        }
    }

    /// Mean, quantiles and longest of times, each made one of the title's unit by `convert`.
    pub fn spreads<const KEPT: usize>(
        title: Title<'f>,
        each: &[Spread<KEPT>],
        tails: Option<&Tails<'_, KEPT>>,
        convert: impl Fn(f64) -> f64,
    ) -> Vec<Self> {
        let count = each.iter().map(|spread| spread.count).sum();
        let of = |statistic| Title { statistic, ..title };
        let parts = each.iter().map(|spread| spread.mean().map(&convert)).collect();
        let mut rows = vec![Self::mean(of("mean"), parts, count)];
        let none = Histogram::new();
        for (tails, place) in tails.into_iter().flat_map(|tails| (0..KEPT).map(move |place| (tails, place))) {
            let (statistic, p) = tails.quantiles[place];
            let held: Vec<f64> = each.iter().filter_map(|spread| spread.quantiles[place]).collect();
            let all = tails.all.unwrap_or(&none);
            let measure = replications::quantile_of_parts(all, &held, p).times(convert(1.0));
            let parts = each.iter().map(|spread| spread.quantiles[place].map(&convert)).collect();
            let reading = Histogram::<7>::RELATIVE_ERROR;
            rows.push(Self {
                title: of(statistic),
                measure,
                parts,
                count,
                reading,
                least: None,
                no_interval: None,
                withheld: None,
            });
        }
        let parts = each.iter().map(|spread| spread.longest().map(&convert)).collect();
        rows.push(Self::longest(of("max"), parts, count));
        rows
    }

    /// Of numbers that are all larger by `least` than those it was made of, and never below it.
    pub fn above(self, least: f64) -> Self {
        let parts = self.parts.into_iter().map(|part| part.map(|part| part + least)).collect();
        Self { measure: self.measure.plus(least), parts, least: Some(least), ..self }
    }

    /// Its value with its interval.
    fn told(&self, is_random: bool) -> Told {
        let value = self.measure.value();
        if let (Some(reason), true) = (&self.withheld, value.is_some()) {
            return Told { reason: Some(reason.clone()), ..Told::default() };
        }
        match &self.no_interval {
            Some(reason) if is_random && value.is_some() => {
                Told { value, reason: Some(reason.clone()), ..Told::default() }
            }
            _ => {
                let told = told(&self.measure, is_random, self.reading * value.unwrap_or(0.0).abs());
                let least = self.least.unwrap_or(f64::NEG_INFINITY);
                Told { low: told.low.map(|low| low.max(least)), ..told }
            }
        }
    }

    fn figure(&self, discipline: &str, is_random: bool) -> Figure {
        let told = self.told(is_random);
        Figure {
            discipline: discipline.to_owned(),
            kind: self.title.kind,
            name: self.title.name.to_owned(),
            metric: self.title.metric,
            statistic: self.title.statistic,
            count: if self.measure.value().is_some() { self.count } else { 0 },
            value: told.value,
            low: told.low,
            high: told.high,
            standard_error: told.standard_error,
            method: told.method,
            unit: self.title.unit,
            reason: told.reason,
        }
    }

    /// Of the pairs of this and the reference's; `names` are those of the discipline and of the reference.
    fn difference(&self, other: &Self, names: [&str; 2], is_random: bool) -> PairedDifference {
        let pairs = self.parts.iter().zip(&other.parts);
        let apart: Vec<f64> = pairs.filter_map(|(own, other)| Some((*own)? - (*other)?)).collect();
        let either = [self, other].map(|row| row.measure.value().unwrap_or(0.0).abs());
        let error = self.reading * (either[0] + either[1]);
        let told = match self.withheld.as_ref().or(other.withheld.as_ref()).filter(|_| !apart.is_empty()) {
            Some(reason) => Told { reason: Some(reason.clone()), ..Told::default() },
            None => told(&replications::mean(&apart), is_random, error),
        };
        PairedDifference {
            discipline: names[0].to_owned(),
            reference: names[1].to_owned(),
            kind: self.title.kind,
            name: self.title.name.to_owned(),
            metric: self.title.metric,
            statistic: match self.title.statistic {
                "max" => "replication_max",
                "min" => "replication_min",
                "window_max" => "replication_window_max",
                statistic => statistic,
            },
            value: told.value,
            low: told.low,
            high: told.high,
            unit: self.title.unit,
            reason: told.reason,
        }
    }
}

impl<'f> Rows<'f> {
    /// These rows; every figure is exact where nothing is random.
    pub fn new(rows: Vec<Row<'f>>, is_random: bool) -> Self {
        Self { rows, is_random }
    }

    /// As a result has them.
    pub fn figures(&self, discipline: &str) -> impl Iterator<Item = Figure> {
        self.rows.iter().map(move |row| row.figure(discipline, self.is_random))
    }

    /// The paired differences from the reference; `names` are those of the discipline and of the reference.
    fn differences(&self, reference: &Self, names: [&str; 2]) -> Vec<PairedDifference> {
        let pairs = self.rows.iter().zip(&reference.rows);
        pairs.map(|(own, other)| own.difference(other, names, self.is_random)).collect()
    }

    /// What was measured of this.
    #[must_use]
    pub fn measure(&self, kind: &str, name: &str, metric: &str, statistic: &str) -> Option<&Measure> {
        self.row(kind, name, metric, statistic).map(|row| &row.measure)
    }

    fn row(&self, kind: &str, name: &str, metric: &str, statistic: &str) -> Option<&Row<'f>> {
        let is_it = |row: &&Row<'_>| {
            let title = row.title;
            (title.kind, title.name, title.metric, title.statistic) == (kind, name, metric, statistic)
        };
        self.rows.iter().find(is_it)
    }
}

/// The paired differences of all disciplines but the reference, by its place, from it; none where it was not finished.
pub fn differences(disciplines: &[String], reference: usize, rows: &[Rows<'_>]) -> Vec<PairedDifference> {
    let Some(other) = rows.get(reference) else { return Vec::new() };
    let others = disciplines.iter().zip(rows).enumerate().filter(|&(place, _)| place != reference);
    let of = |(_, (discipline, own)): (usize, (&String, &Rows<'_>))| {
        own.differences(other, [discipline, &disciplines[reference]])
    };
    others.flat_map(of).collect()
}

/// `part` of `whole`, where there is any.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
