//! From one number a replication to a [`Figure`], and from the pairs of two disciplines to a [`PairedDifference`].
//!
//! | row | value | interval |
//! |-|-|-|
//! | mean | of the replications' numbers | t ([`replications::mean`]) |
//! | quantile | of all replications together | of the share above it ([`tail::quantile`]) |
//! | least, longest | of all replications | none |
//! | difference | mean of the replications' differences | t; of the least and the longest it is of each replication's own |
//!
//! Where nothing is random every replication is the same, and a figure is exact: its interval is its value, for a
//! quantile as far as the histogram tells it. Work and memory O(replications) a row. Units: as a row's title says.

use super::estimate::{Measure, Unavailable};
use super::figure::{Beside, Figure, Intervals, PairedDifference, Subject, Title, Told};
use super::histogram::{Histogram, Ranked};
use super::replications;
use super::settled::{self, Settled};
use super::tail::{self, Tail};
use super::times::Spread;

/// Why the least and the longest have no interval.
const EXTREME: &str =
    "the extreme of all replications: more of them find one beyond it, so it has no interval";

/// A figure with the number of each replication, `None` where there was nothing to observe.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<S = Subject> {
    /// What it is called.
    pub title: Title<S>,
    /// The value with its interval.
    pub measure: Measure,
    /// Of the least and the longest too: their differences are of these.
    pub parts: Vec<Option<f64>>,
    /// Observations behind it.
    pub count: u64,
    /// How precisely it is read, as a part of it.
    pub reading: f64,
    /// The least that there can be, where it is not 0: no interval reaches below it.
    least: Option<f64>,
    /// Whether it is the least or the longest of all replications.
    is_extreme: bool,
    /// Whether each part is 1 or 0.
    is_share: bool,
    /// Why it is not reported although something was observed; then its differences are not reported either.
    pub withheld: Option<String>,
}

/// The figures of one cell, in an order that is the same for every discipline.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<S = Subject> {
    rows: Vec<Row<S>>,
    intervals: Intervals,
}

/// How a figure of two disciplines is compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// What it is called, in models that compare in several ways.
    pub name: Option<&'static str>,
    /// Its unit, where that is not the figure's.
    pub unit: Option<&'static str>,
    /// From the pairs of the replications: the discipline's number, then the reference's.
    pub of: fn(&[[f64; 2]]) -> Measure,
}

/// The discipline's number less the reference's.
pub const DIFFERENCE: Comparison = Comparison { name: None, unit: None, of: mean_difference };

fn mean_difference(pairs: &[[f64; 2]]) -> Measure {
    let apart: Vec<f64> = pairs.iter().map(|[own, other]| own - other).collect();
    replications::mean(&apart)
}

/// Of shares, which a spread without a width would make too certain.
fn share_difference(pairs: &[[f64; 2]]) -> Measure {
    let [own, other] = [0, 1].map(|place: usize| hits(pairs.iter().map(|pair| pair[place])));
    replications::share_difference(own, other, pairs.len() as u64)
}

/// How many are 1, of numbers that are 1 or 0.
fn hits(parts: impl IntoIterator<Item = f64>) -> u64 {
    parts.into_iter().filter(|part| *part > 0.5).count() as u64
}

/// The quantiles that are wanted of times.
pub struct Tails<'t, const KEPT: usize> {
    /// The times of all replications.
    pub all: Option<&'t Histogram>,
    /// What the quantiles are called.
    pub quantiles: [(&'static str, f64); KEPT],
}

impl<S> Row<S> {
    fn new(title: Title<S>, measure: Measure, parts: Vec<Option<f64>>, count: u64) -> Self {
        Self {
            title,
            measure,
            parts,
            count,
            reading: 0.0,
            least: None,
            is_extreme: false,
            is_share: false,
            withheld: None,
        }
    }

    /// The mean of one number a replication.
    pub fn mean(title: Title<S>, parts: Vec<Option<f64>>, count: u64) -> Self {
        let values: Vec<f64> = parts.iter().copied().flatten().collect();
        let measure = settled::by_itself(replications::mean(&values), 0.0, settled::error_of(title.unit));
        Self::new(title, measure, parts, count)
    }

    /// How many of the replications have something, each of which is 1 or 0.
    pub fn share(title: Title<S>, parts: Vec<Option<f64>>) -> Self {
        let held: Vec<f64> = parts.iter().copied().flatten().collect();
        let of = held.len() as u64;
        let measure = replications::share(hits(held), of);
        Self { is_share: true, ..Self::new(title, measure, parts, of) }
    }

    /// The longest of all replications.
    pub fn longest(title: Title<S>, parts: Vec<Option<f64>>, count: u64) -> Self {
        let measure = match parts.iter().copied().flatten().reduce(f64::max) {
            Some(longest) => Measure::maximum(longest, count),
            None => Unavailable::NoObservations.into(),
        };
        Self { is_extreme: true, ..Self::new(title, measure, parts, count) }
    }

    /// The least of all replications.
    pub fn least(title: Title<S>, parts: Vec<Option<f64>>, count: u64) -> Self {
        let measure = match parts.iter().copied().flatten().reduce(f64::min) {
            Some(least) => Measure::observed(least, count),
            None => Unavailable::NoObservations.into(),
        };
        Self { is_extreme: true, ..Self::new(title, measure, parts, count) }
    }

    /// The quantile `p` of the times of all replications, given that of each and its tail, made one of the title's unit by
    /// `convert`.
    pub fn quantile(
        title: Title<S>,
        (all, p): (&Ranked<'_>, f64),
        each: Vec<(Option<f64>, Tail)>,
        count: u64,
        convert: impl Fn(f64) -> f64,
    ) -> Self {
        let alone: Vec<Vec<Tail>> = each.iter().map(|(_, tail)| vec![*tail]).collect();
        let measure = tail::quantile(all, &alone, p).times(convert(1.0));
        let parts = each.into_iter().map(|(part, _)| part.map(&convert)).collect();
        Self { reading: Histogram::<7>::RELATIVE_ERROR, ..Self::new(title, measure, parts, count) }
    }

    /// The same figure, of which something else than the data says what length of run it needs.
    pub fn judged(self, settled: Settled) -> Self {
        Self { measure: self.measure.judged(settled), ..self }
    }

    /// The same figure, which needs this length of run too.
    pub fn needing(self, settled: Settled) -> Self {
        Self { measure: self.measure.needing(settled), ..self }
    }

    /// Mean, quantiles and longest of times, each made one of the title's unit by `convert`.
    pub fn spreads<const KEPT: usize>(
        title: Title<S>,
        each: &[Spread<KEPT>],
        tails: Option<&Tails<'_, KEPT>>,
        convert: impl Fn(f64) -> f64,
    ) -> Vec<Self>
    where
        S: Clone,
    {
        let count = each.iter().map(|spread| spread.count).sum();
        let of = |statistic| Title { statistic, ..title.clone() };
        let parts = each.iter().map(|spread| spread.mean().map(&convert)).collect();
        let mean = Self::mean(of("mean"), parts, count);
        let least = tails.and_then(|tails| tails.all?.minimum()).map_or(0.0, |least| convert(least as f64));
        let measure = settled::by_itself(mean.measure, least, settled::ERROR_OF_TIME);
        let mut rows = vec![Self { measure, ..mean }];
        let none = Histogram::new();
        let ranked = Ranked::new(tails.and_then(|tails| tails.all).unwrap_or(&none));
        for (tails, place) in tails.into_iter().flat_map(|tails| (0..KEPT).map(move |place| (tails, place))) {
            let (statistic, p) = tails.quantiles[place];
            let parts = each.iter().map(|spread| (spread.quantiles[place], spread.tail)).collect();
            rows.push(Self::quantile(of(statistic), (&ranked, p), parts, count, &convert));
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
    fn told(&self, intervals: Intervals) -> Told {
        let value = self.measure.value();
        if let (Some(reason), true) = (&self.withheld, value.is_some()) {
            return Told::nothing(reason.clone());
        }
        if self.is_extreme && intervals == Intervals::Explained && value.is_some() {
            return Told { value, reason: Some(EXTREME.to_owned()), ..Told::default() };
        }
        let told = Told::new(&self.measure, intervals, self.reading * value.unwrap_or(0.0).abs());
        told.at_least(self.least.unwrap_or(0.0))
    }
}

impl<S: Clone> Row<S> {
    fn figure<X: Beside>(&self, discipline: &str, intervals: Intervals) -> Figure<S, X> {
        let count = if self.measure.value().is_some() { self.count } else { 0 };
        let beside = X::of(&self.measure).at_least(self.least.unwrap_or(0.0));
        let told = self.told(intervals);
        Figure::told(Some(discipline), self.title.clone(), told, count, beside)
    }

    /// Of the pairs of this and the reference's; `names` are those of the discipline and of the reference.
    fn difference<X: Beside>(
        &self,
        other: &Self,
        names: [&str; 2],
        comparison: &Comparison,
        intervals: Intervals,
    ) -> PairedDifference<S, X> {
        let pairs = self.parts.iter().zip(&other.parts);
        let pairs: Vec<[f64; 2]> = pairs.filter_map(|(own, other)| Some([(*own)?, (*other)?])).collect();
        let either = [self, other].map(|row| row.measure.value().unwrap_or(0.0).abs());
        let error = self.reading * (either[0] + either[1]);
        let settled = self.measure.settled().and(other.measure.settled());
        let measure = if self.is_share { share_difference(&pairs) } else { (comparison.of)(&pairs) };
        let measure = measure.needing(settled);
        let told = match self.withheld.as_ref().or(other.withheld.as_ref()).filter(|_| !pairs.is_empty()) {
            Some(reason) => Told::nothing(reason.clone()),
            None => Told::new(&measure, intervals, error),
        };
        let title = Title {
            statistic: if self.is_extreme { of_each(self.title.statistic) } else { self.title.statistic },
            unit: comparison.unit.unwrap_or(self.title.unit),
            ..self.title.clone()
        };
        let difference = PairedDifference::told(names, title, told, X::of(&measure));
        PairedDifference { comparison: comparison.name, ..difference }
    }
}

/// What the least or the longest of all is called where it is each replication's own.
fn of_each(extreme: &'static str) -> &'static str {
    match extreme {
        "max" => "replication_max",
        "min" => "replication_min",
        "window_max" => "replication_window_max",
        statistic => statistic,
    }
}

impl<S> Rows<S> {
    /// These rows, which say why where they have no interval; every figure is exact where nothing is random.
    pub fn new(rows: Vec<Row<S>>, is_random: bool) -> Self {
        Self { rows, intervals: if is_random { Intervals::Explained } else { Intervals::Exact } }
    }

    /// These rows, which do not say why where they have no interval.
    pub fn bare(rows: Vec<Row<S>>) -> Self {
        Self { rows, intervals: Intervals::Bare }
    }

    /// Row by row.
    pub fn iter(&self) -> impl Iterator<Item = &Row<S>> {
        self.rows.iter()
    }
}

impl<S: Clone> Rows<S> {
    /// As a result has them.
    pub fn figures<X: Beside>(&self, discipline: &str) -> impl Iterator<Item = Figure<S, X>> {
        self.rows.iter().map(move |row| row.figure(discipline, self.intervals))
    }

    /// Those compared in this way.
    fn differences<X: Beside>(
        &self,
        reference: &Self,
        names: [&str; 2],
        compared: impl Fn(&Title<S>) -> &'static [Comparison],
    ) -> Vec<PairedDifference<S, X>> {
        let mut differences = Vec::new();
        for (own, other) in self.rows.iter().zip(&reference.rows) {
            let each = compared(&own.title).iter();
            differences.extend(each.map(|one| own.difference(other, names, one, self.intervals)));
        }
        differences
    }
}

impl Rows {
    /// What was measured of this.
    #[must_use]
    pub fn measure(&self, kind: &str, name: &str, metric: &str, statistic: &str) -> Option<&Measure> {
        let is_it = |row: &&Row| {
            let Title { subject, .. } = &row.title;
            let title = (subject.kind, subject.name.as_str(), row.title.metric, row.title.statistic);
            title == (kind, name, metric, statistic)
        };
        self.rows.iter().find(is_it).map(|row| &row.measure)
    }
}

/// The figures of all disciplines; `rows` are those of as many cells for each, discipline by discipline.
pub fn figures<S: Clone, X: Beside>(disciplines: &[String], rows: &[Rows<S>]) -> Vec<Figure<S, X>> {
    let cells = disciplines.iter().zip(cells(disciplines, rows));
    cells.flat_map(|(name, cells)| cells.iter().flat_map(move |rows| rows.figures(name))).collect()
}

/// The paired differences of all disciplines but the reference, by its place, from it; none where it was not finished.
/// `rows` are as of [`figures`]; `compared` says in which ways a figure is compared, if it is.
pub fn differences<S: Clone, X: Beside>(
    disciplines: &[String],
    reference: usize,
    rows: &[Rows<S>],
    compared: impl Fn(&Title<S>) -> &'static [Comparison],
) -> Vec<PairedDifference<S, X>> {
    let Some(others) = cells(disciplines, rows).nth(reference) else { return Vec::new() };
    let mut differences = Vec::new();
    for (place, (name, cells)) in disciplines.iter().zip(cells(disciplines, rows)).enumerate() {
        for (own, other) in cells.iter().zip(others).filter(|_| place != reference) {
            differences.extend(own.differences(other, [name, &disciplines[reference]], &compared));
        }
    }
    differences
}

/// The rows of each discipline.
fn cells<'r, S>(disciplines: &[String], rows: &'r [Rows<S>]) -> impl Iterator<Item = &'r [Rows<S>]> {
    rows.chunks((rows.len() / disciplines.len().max(1)).max(1))
}

/// `part` of `whole`, where there is any.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
