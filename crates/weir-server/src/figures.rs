//! From what the runs left to the rows of a result (see [`weir_lab::stats::row`]): one number a replication.
//!
//! | figure | one number of a replication |
//! |-|-|
//! | `delay`, `response`, `slowdown` | mean and quantiles of the requests that arrived in the measured time |
//! | `window_max` | the largest mean delay of the windows that begin in the measured time |
//! | `dropped` | of the requests that arrived in the measured time, those that left unserved |
//! | `abandoned` | of the requests that arrived in the measured time, those that left since their service did not begin in time; only where a class has a `patience` |
//! | `balked` | of the requests that arrived in the measured time, those that did not join, since too many waited; only where a class has `balk` |
//! | `missed` | of the requests that arrived in the measured time, those that were dropped for their deadline; only where a class has a `deadline` |
//! | `refused` | of the attempts of the measured time, those that the circuit breaker refused; only with `workload.breaker` |
//! | `late` | of those that were done, those whose client had given up; only where a class has a `timeout` or a `deadline` |
//! | `goodput` | those that were done in time, over the measured time; only where a class has a `timeout` or a `deadline` |
//! | `attempts` | attempts over requests that came by themselves; only where clients try again |
//! | `tipped` | 1 where more than half of the attempts of the last tenth of the measured time fail, or else 0; only where clients try again |
//! | `recovery` | time from the end of the burst until more than half of the attempts no longer fail, in none of ten windows in a row, each a hundredth of the rest of the run; only where clients try again after a burst; none where a replication does not come back |
//! | `hedged` | of the sub-requests that arrived, those that were sent a second time; only with `workload.hedge` |
//! | `cancelled` | of the sub-requests that were sent, second copies included, those that were not served to their end, since they were not needed any more; only where something is cancelled |
//! | `wasted` | time that cores spent on what was done when its client had given up, or not to its end, or on sub-requests that were not needed, over the measured time of all cores; only where a class has a `timeout` or a `deadline`, or answers are not needed |
//! | `reordered`, `cold` | of those that were done, those that ended after a later one of their flow, or came to a core with other data |
//! | `throughput` | those that were done, over the measured time |
//! | `utilisation`, `overhead` | time that cores were busy, or that was no service, over the measured time of all cores |
//! | `in_use` | cores that may be given requests, over the measured time |
//!
//! `max` and `window_max` are the largest of all replications. No interval of a time reaches below 0, nor one
//! of a slowdown below 1. Work O(replications) a figure. Units: seconds.
//!
//! **A quantile `p` needs `10 / (1 - p)` requests** in all replications: ten above it in the mean, with fewer there is none
//! but that reason. How many of independent requests are above it is nearly Poisson. The upper end of an interval that
//! holds whatever the distribution is one of the requests above (David and Nagaraja, *Order Statistics*, 2003, section
//! 7.1); at 95 % there is none where the mean is below 3.7 (`e^-3.7` is 2.5 %), and waits of neighbours are alike, which
//! makes the ten worth fewer.

use crate::collector::{LEAST_SLOWDOWN, METRICS, SLOWDOWN_STEP, measured};
use crate::model::ServerScenario;
use crate::outcome::{OfClass, ServerDistribution};
use crate::record::Unserved;
use crate::run_length::Length;
use crate::summary::{Cell, ClassPart, Summary};
use weir_lab::scenario::need::{ENDS, FAR_TAILS, MEANS, Measured, Metric, Subjects};
use weir_lab::stats::figure::{ALL, Subject, Title};
use weir_lab::stats::row::{Row, Rows, Tails, ratio};
use weir_lab::stats::run_length::{ERROR, EXCEEDANCES};
use weir_lab::stats::{Bins, FAR_QUANTILES, Unavailable, settled};

/// Fewer requests than this above a quantile do not tell it from the longest; see above.
const ABOVE: f64 = 10.0;

/// Disciplines under which every queue is served first come, first served, whatever a request asks for.
const FIRST_COME: [&str; 4] = ["cfcfs", "random", "rr", "flow_hash"];

/// A metric of times, or of ratios of times.
#[derive(Clone, Copy)]
pub(crate) struct Timed {
    name: &'static str,
    unit: &'static str,
    /// What one of those that are kept makes.
    factor: f64,
    /// The least that there is; what is kept comes on top of it.
    least: f64,
}

impl Timed {
    const fn time(name: &'static str) -> Self {
        Self { name, unit: "s", factor: 1e-9, least: 0.0 }
    }

    /// In its unit.
    pub(crate) fn told(&self, kept: f64) -> f64 {
        self.least + kept * self.factor
    }
}

/// The slowdown.
pub(crate) const SLOWDOWN: Timed =
    Timed { name: "slowdown", unit: "1", factor: SLOWDOWN_STEP, least: LEAST_SLOWDOWN };
/// All of them, in the order in which they are kept.
const TIMES: [Timed; METRICS] = [Timed::time("delay"), Timed::time("response"), SLOWDOWN];

/// The rows of a cell in the making.
struct Making<'c> {
    server: &'c ServerScenario,
    cell: &'c Cell,
    /// The measured time, in seconds.
    span: f64,
    /// How long the run is, where a formula says what that is worth.
    length: Option<Length>,
    /// Whether every queue is served first come, first served.
    is_first_come: bool,
    rows: Vec<Row>,
}

/// All figures of a cell. The order is the same for every discipline.
#[must_use]
pub fn rows(server: &ServerScenario, place: usize, cell: &Cell) -> Rows {
    let length = Length::of(server, place);
    let span = measured(server).span().get() as f64 / 1e9;
    let is_first_come = FIRST_COME.contains(&server.specs[place].name.as_str());
    let mut making = Making { server, cell, span, length, is_first_come, rows: Vec::new() };
    let names = server.classes.iter().map(|class| class.name.as_str());
    for (subject, name) in std::iter::once(ALL).chain(names).enumerate() {
        making.class(subject, name);
    }
    making.cores();
    Rows::new(making.rows, server.is_random())
}

/// What there are figures of, for needs.
#[must_use]
pub fn measured_of(server: &ServerScenario) -> Measured {
    let statistics = if server.measure.tails { FAR_TAILS } else { ENDS };
    let times = TIMES.map(|timed| Metric::new(timed.name, statistics, timed.unit));
    let shares = [
        ("dropped", true),
        ("reordered", server.measure.order),
        ("cold", server.tells_cold()),
        ("abandoned", server.has_patience()),
        (Unserved::Balked.name(), server.may_lose(Unserved::Balked)),
        (Unserved::Missed.name(), server.may_lose(Unserved::Missed)),
        (Unserved::Refused.name(), server.may_lose(Unserved::Refused)),
        ("late", server.has_timeout()),
        ("attempts", server.retry.is_some()),
        ("hedged", server.hedges()),
        ("cancelled", server.cancels()),
    ];
    let shares = shares.into_iter().filter(|(_, is_measured)| *is_measured);
    let shares = shares.map(|(name, _)| Metric::new(name, MEANS, "1"));
    let rates = [("throughput", true), ("goodput", server.has_timeout())];
    let rates = rates.into_iter().filter(|(_, is_measured)| *is_measured);
    let rates = rates.map(|(name, _)| Metric::new(name, MEANS, "1/s"));
    let of_classes: Vec<Metric> = times.into_iter().chain(shares).chain(rates).collect();
    let wasted = server.may_waste().then_some(("wasted", "1"));
    let tipped = server.retry.map(|_| ("tipped", "1"));
    let of_cores = [("utilisation", "1"), ("overhead", "1"), ("in_use", "cores")];
    let recovery = server.burst_ends().map(|_| ("recovery", "s"));
    let of_cores = of_cores.into_iter().chain(tipped).chain(recovery).chain(wasted);
    let of_cores: Vec<Metric> = of_cores.map(|(name, unit)| Metric::new(name, MEANS, unit)).collect();
    let names = server.classes.iter().map(|class| class.name.as_str());
    let subjects = vec![
        Subjects::all(of_classes.iter().copied().chain(of_cores).collect()),
        Subjects::named("class", names, of_classes),
    ];
    Measured { subjects, loads: Vec::new() }
}

/// Whether `requests` requests are enough to distinguish a quantile from the longest.
fn tells(p: f64, requests: u64) -> bool {
    (1.0 - p) * requests as f64 >= ABOVE - 1e-6
}

/// Why a row is no quantile: of all requests that count too few are above it.
fn too_few(row: &Row) -> Option<String> {
    let (_, p) = FAR_QUANTILES.into_iter().find(|(name, _)| *name == row.title.statistic)?;
    let needed = (ABOVE / (1.0 - p)).round() as u64;
    (!tells(p, row.count)).then(|| {
        format!(
            "a {} needs {needed} requests, {ABOVE} of them above it; fewer do not tell it from the longest: lengthen the \
             run, or add replications",
            row.title.statistic
        )
    })
}

impl<'c> Making<'c> {
    fn runs(&self) -> impl Iterator<Item = &'c Summary> + use<'c> {
        self.cell.runs.iter()
    }

    /// The mean of one number a replication.
    fn push(
        &mut self,
        title: Title,
        value: impl Fn(&Summary) -> Option<f64>,
        count: impl Fn(&Summary) -> u64,
    ) {
        let (parts, count) = (self.runs().map(value).collect(), self.runs().map(count).sum());
        self.rows.push(Row::mean(title, parts, count));
    }

    fn class(&mut self, subject: usize, name: &str) {
        for (place, timed) in TIMES.into_iter().enumerate() {
            let title = Title::mean(Subject::new("class", name), timed.name, timed.unit);
            self.times(title.clone(), timed, (subject, place));
            if timed.name == "delay" && self.server.measure.window.is_some() {
                self.window_max(Title { statistic: "window_max", ..title }, subject);
            }
        }
        let title = |metric, unit| Title::mean(Subject::new("class", name), metric, unit);
        let part = |run: &Summary| run.classes[subject];
        let done = |run: &Summary| part(run).done;
        let offered = |run: &Summary| part(run).offered();
        self.push(title("dropped", "1"), |run| ratio(part(run).dropped, offered(run)), offered);
        self.push(title("reordered", "1"), |run| ratio(part(run).reordered, done(run)), done);
        self.only_where(self.server.measure.order);
        self.push(title("cold", "1"), |run| ratio(part(run).cold, done(run)), done);
        self.only_where(self.server.tells_cold());
        let span = self.span;
        let rate = |run: &Summary| (span > 0.0).then(|| done(run) as f64 / span);
        self.push(title("throughput", "1/s"), rate, done);
        if self.server.has_patience() {
            self.push(title("abandoned", "1"), |run| ratio(part(run).abandoned, offered(run)), offered);
        }
        for why in Unserved::ALL.into_iter().filter(|why| self.server.may_lose(*why)) {
            let lost = |run: &Summary| ratio(part(run).lost[why as usize], offered(run));
            self.push(title(why.name(), "1"), lost, offered);
        }
        if self.server.has_timeout() {
            let in_time = |run: &Summary| done(run) - part(run).late;
            self.push(title("late", "1"), |run| ratio(part(run).late, done(run)), done);
            self.push(
                title("goodput", "1/s"),
                |run| (span > 0.0).then(|| in_time(run) as f64 / span),
                in_time,
            );
        }
        if self.server.retry.is_some() {
            let fresh = |run: &Summary| offered(run).saturating_sub(part(run).retried);
            self.push(title("attempts", "1"), |run| ratio(offered(run), fresh(run)), fresh);
        }
        if self.server.hedges() {
            let first = |run: &Summary| part(run).parts.sent - part(run).parts.copies;
            self.push(title("hedged", "1"), |run| ratio(part(run).parts.copies, first(run)), first);
        }
        if self.server.cancels() {
            let sent = |run: &Summary| part(run).parts.sent;
            self.push(title("cancelled", "1"), |run| ratio(part(run).parts.cancelled, sent(run)), sent);
        }
    }

    /// The mean time after a burst until clients are served again. Where some replications do not come back it is withheld:
    /// the mean of the others would be too short, whatever the run.
    fn recovery(&mut self, title: Title) {
        let of = |run: &Summary| run.recovered.map(|time| time as f64 / 1e9);
        let parts: Vec<Option<f64>> = self.runs().map(of).collect();
        let (all, back) = (parts.len(), parts.iter().flatten().count());
        let mut row = Row::mean(title, parts, back as u64);
        row.withheld = (back < all).then(|| {
            format!(
                "{} of {all} replications do not come back within the run (see `tipped`), and the mean of the others would be too \
                 short",
                all - back
            )
        });
        self.rows.push(row);
    }

    /// The last row says nothing where it is not measured.
    fn only_where(&mut self, is_measured: bool) {
        if let Some(row) = self.rows.last_mut().filter(|_| !is_measured) {
            (row.measure, row.parts) = (Unavailable::NotMeasured.into(), vec![None; row.parts.len()]);
        }
    }

    /// Mean, quantiles and longest of a class, by its place, and of a metric.
    fn times(&mut self, title: Title, timed: Timed, (subject, metric): (usize, usize)) {
        let cell = self.cell;
        let each: Vec<_> = cell.runs.iter().map(|run| run.classes[subject].times[metric]).collect();
        let all = cell.tails.get(subject).map(|tails| &tails[metric]);
        let tails = self.server.measure.tails.then_some(Tails { all, quantiles: FAR_QUANTILES });
        for row in Row::spreads(title, &each, tails.as_ref(), |kept| kept * timed.factor) {
            let mut row = self.judged(row.above(timed.least));
            row.withheld = too_few(&row);
            self.rows.push(row);
        }
    }

    /// A row of times, judged by the load. First come, first served at every queue: the work alone says what it needs.
    fn judged(&self, row: Row) -> Row {
        let Some(run) = self.length.as_ref().map(Length::run) else { return row };
        let quantile = FAR_QUANTILES.into_iter().find(|(name, _)| *name == row.title.statistic);
        let needed = match quantile {
            Some((_, p)) => run.quantile((1.0 - p).min(0.5), EXCEEDANCES),
            None => run.mean(ERROR),
        };
        if !self.is_first_come {
            return row.needing(needed);
        }
        let row = row.judged(needed);
        let own = settled::by_itself(row.measure, 0.0, settled::ERROR_OF_PART).settled();
        if quantile.is_some() { row } else { row.needing(own) }
    }

    fn window_max(&mut self, title: Title, subject: usize) {
        let part = |run: &Summary| -> ClassPart { run.classes[subject] };
        let parts = self.runs().map(|run| part(run).window_max.map(|mean| mean * 1e-9)).collect();
        let count = self.runs().map(|run| part(run).done).sum();
        self.rows.push(Row::longest(title, parts, count));
    }

    fn cores(&mut self) {
        let title = |metric, unit| Title::mean(Subject::new("core", ALL), metric, unit);
        let span = self.span * 1e9;
        let all = span * f64::from(self.server.site.servers);
        let share = |time: u64| (all > 0.0).then(|| time as f64 / all);
        let done = |run: &Summary| run.classes[0].done;
        self.push(title("utilisation", "1"), |run| share(run.all_cores().busy), done);
        self.push(title("overhead", "1"), |run| share(run.all_cores().overhead), done);
        if self.server.retry.is_some() {
            let fails = |run: &Summary| run.told.last[1] > run.told.last[0];
            let parts = self.runs().map(|run| Some(f64::from(u8::from(fails(run))))).collect();
            self.rows.push(Row::share(title("tipped", "1"), parts));
        }
        if self.server.burst_ends().is_some() {
            self.recovery(title("recovery", "s"));
        }
        if self.server.may_waste() {
            let share = |run: &Summary| (all > 0.0).then(|| run.told.late as f64 / all);
            self.push(title("wasted", "1"), share, done);
        }
        self.push(title("in_use", "cores"), |run| (span > 0.0).then(|| run.in_use as f64 / span), done);
    }
}

/// The distributions of a cell.
pub fn distributions<'f>(
    server: &'f ServerScenario,
    cell: &'f Cell,
    discipline: &'f str,
) -> impl Iterator<Item = ServerDistribution> {
    let names = server.classes.iter().map(|class| class.name.as_str());
    let subjects = std::iter::once(ALL).chain(names).zip(&cell.tails);
    let each = subjects.flat_map(|(name, tails)| TIMES.iter().zip(tails).map(move |one| (name, one)));
    each.map(move |(name, (timed, histogram))| ServerDistribution {
        discipline: discipline.to_owned(),
        subject: OfClass { class: name.to_owned() },
        metric: timed.name,
        bins: Bins::new(histogram, timed.unit, |kept| timed.told(kept)),
    })
}
