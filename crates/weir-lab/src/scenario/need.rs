//! Needs: what must hold of a run, as a scenario declares it with `[[need]]`.
//!
//! A need is about one figure of the result: a metric and a statistic of it, of all together or of one class, flow or
//! process, held against a bound. Each model says which figures its results have ([`Measured`]); a need about another is
//! refused here. Whether a need is met is judged from the figure and its interval by whoever shows the result.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(needs x figures of the model), when a scenario is read |
//! | Units | seconds, `u`, bits per second, or what the figure has |

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::nearest::nearest;
use weir_document::quantity::{Amount, Clock, NANOS_PER_UNIT};
use weir_document::words::known_names;
use weir_document::{Checked, Checker, Located};

use crate::stats::figure::ALL;

/// The most needs of one scenario.
const MOST: usize = 64;
/// The statistic where none is written.
const MEAN: &str = "mean";
/// Statistics of times.
pub const TAILS: &[&str] = &[MEAN, "p50", "p90", "p99", "p99.9", "max"];
/// The same, of results that reach farther.
pub const FAR_TAILS: &[&str] = &[MEAN, "p50", "p90", "p99", "p99.9", "p99.99", "max"];
/// Statistics of times where no quantiles are measured.
pub const ENDS: &[&str] = &[MEAN, "max"];
/// The mean alone.
pub const MEANS: &[&str] = &[MEAN];

/// What must hold of a run: a figure within a bound. The verdict says of each discipline whether it is met, missed and by
/// how much, or not settled.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Need")]
pub struct NeedTable {
    /// The metric with its statistic, such as `response p99` or `throughput`; without one it is the mean.
    pub metric: Located<String>,
    /// The class that it is about; default: all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Located<String>>,
    /// The flow that it is about; of a port, the number of an application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Located<String>>,
    /// The process that it is about, of a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Located<String>>,
    /// The queue that it is about, of a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Located<String>>,
    /// The link that it is about, of a network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Located<String>>,
    /// The virtual channel that it is about, of a fabric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<Located<String>>,
    /// The load at which it must hold, of a fabric; default: the highest of the scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Located<f64>>,
    /// The figure is to be at most this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Located<Amount>>,
    /// The figure is to be at least this, in place of `bound`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Located<Amount>>,
}

/// On which side of its bound a figure is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// At most the bound.
    AtMost,
    /// At least the bound.
    AtLeast,
}

/// A need, checked: as results have it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Need {
    /// What it is about: `all`, or `class`, `flow`, `process`, `queue`, `link`, `channel`.
    pub kind: &'static str,
    /// Which of them; `all` where it is about all together.
    pub name: String,
    /// The load, where results are for several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// The metric, as in the figures.
    pub metric: &'static str,
    /// The statistic, as in the figures.
    pub statistic: &'static str,
    /// Which side of the bound is right.
    pub side: Side,
    /// The bound, in the unit.
    pub bound: f64,
    /// The unit of the figure and the bound.
    pub unit: &'static str,
    /// What the figure comes to at the least, whatever the discipline, where that is beyond the bound already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
}

/// A metric with the statistics that results have of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name in the figures.
    pub name: &'static str,
    /// What results have of it; the first is meant where none is written.
    pub statistics: &'static [&'static str],
    /// Its unit in the figures.
    pub unit: &'static str,
}

impl Metric {
    /// Of this name, with these statistics, in this unit.
    #[must_use]
    pub const fn new(name: &'static str, statistics: &'static [&'static str], unit: &'static str) -> Self {
        Self { name, statistics, unit }
    }
}

/// What the results of a model have figures of.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Each kind of subject: `all` for all together, else as the keys of a need; in parts where not all of a kind have the
    /// same metrics.
    pub subjects: Vec<Subjects>,
    /// The loads of the scenario, where results are for several.
    pub loads: Vec<f64>,
}

/// The subjects of one kind, with what is measured of each.
#[derive(Clone, Debug)]
pub struct Subjects {
    /// Which kind.
    pub kind: &'static str,
    /// Their names.
    pub names: Vec<String>,
    /// The metrics.
    pub metrics: Vec<Metric>,
}

impl Subjects {
    /// All together.
    #[must_use]
    pub fn all(metrics: Vec<Metric>) -> Self {
        Self { kind: ALL, names: vec![ALL.to_owned()], metrics }
    }

    /// Those of a kind by their names.
    pub fn named<'n>(
        kind: &'static str,
        names: impl IntoIterator<Item = &'n str>,
        metrics: Vec<Metric>,
    ) -> Self {
        Self { kind, names: names.into_iter().map(str::to_owned).collect(), metrics }
    }
}

impl NeedTable {
    /// The subject that is written, by its kind.
    fn subjects(&self) -> [(&'static str, Option<&Located<String>>); 6] {
        [
            ("class", self.class.as_ref()),
            ("flow", self.flow.as_ref()),
            ("process", self.process.as_ref()),
            ("queue", self.queue.as_ref()),
            ("link", self.link.as_ref()),
            ("channel", self.channel.as_ref()),
        ]
    }
}

/// The needs of a scenario, each about a figure that its results have.
///
/// # Errors
/// The first thing in them that is refused.
pub fn check(
    written: &[Located<NeedTable>],
    measured: &Measured,
    checker: &Checker<'_>,
) -> Checked<Vec<Need>> {
    if let Some(beyond) = written.get(MOST) {
        return checker.refuse(
            beyond,
            format!("is beyond the {MOST} needs that a scenario may have"),
            "remove it",
        );
    }
    written.iter().map(|table| Check { table: &table.value, measured, checker }.need()).collect()
}

/// One need in the making.
struct Check<'c> {
    table: &'c NeedTable,
    measured: &'c Measured,
    checker: &'c Checker<'c>,
}

impl Check<'_> {
    fn need(&self) -> Checked<Need> {
        let (subjects, name) = self.subject()?;
        let (metric, statistic) = self.metric(subjects)?;
        let load = self.load()?;
        let (amount, side) = self.amount(metric)?;
        let bound = self.in_unit(amount, metric)?;
        Ok(Need {
            kind: subjects.kind,
            name,
            load,
            metric: metric.name,
            statistic,
            side,
            bound,
            unit: metric.unit,
            floor: None,
        })
    }

    /// What it is about: the kind, and which of it.
    fn subject(&self) -> Checked<(&Subjects, String)> {
        let mut written = self.table.subjects().into_iter().filter_map(|(kind, name)| Some((kind, name?)));
        let Some((kind, name)) = written.next() else {
            return self.kind(ALL, &self.table.metric).map(|subjects| (subjects, ALL.to_owned()));
        };
        self.checker.unused(written.next().map(|(_, second)| second), &format!("need.{kind}"))?;
        self.kind(kind, name)?;
        let of_kind = self.measured.subjects.iter().filter(|each| each.kind == kind);
        if let Some(subjects) = of_kind.clone().find(|each| each.names.contains(&name.value)) {
            return Ok((subjects, name.value.clone()));
        }
        let known: Vec<&str> = of_kind.flat_map(|each| &each.names).map(String::as_str).collect();
        let remedy = known_names(&name.value, known.iter().copied());
        self.checker.refuse(name, format!("is not a {kind} that results have figures of"), remedy)
    }

    fn kind(&self, kind: &str, at: &Located<String>) -> Checked<&Subjects> {
        let known = || self.measured.subjects.iter().filter(|each| !each.names.is_empty());
        let found = known().find(|each| each.kind == kind);
        found.map_or_else(
            || {
                let kinds: Vec<&str> = known().map(|each| each.kind).filter(|kind| *kind != ALL).collect();
                let remedy = match kinds.as_slice() {
                    [] => "remove it".to_owned(),
                    kinds => format!("name one of these: `{}`", kinds.join("`, `")),
                };
                self.checker.refuse(at, "is about something that results have no figures of", remedy)
            },
            Ok,
        )
    }

    /// The metric and the statistic that are written.
    fn metric<'s>(&self, subjects: &'s Subjects) -> Checked<(&'s Metric, &'static str)> {
        let at = &self.table.metric;
        let mut words = at.value.split_whitespace();
        let (name, statistic) = (words.next().unwrap_or_default(), words.next());
        let of =
            if subjects.kind == ALL { "all together".to_owned() } else { format!("a {}", subjects.kind) };
        let Some(metric) = subjects.metrics.iter().find(|metric| metric.name == name) else {
            let names: Vec<&str> = subjects.metrics.iter().map(|metric| metric.name).collect();
            let hint = nearest(name, names.iter().copied());
            let hint = hint.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let remedy = format!("{hint}choose one of `{}`", names.join("`, `"));
            return self.checker.refuse(at, format!("is not a metric that results have of {of}"), remedy);
        };
        let default = metric.statistics.first().copied().unwrap_or(MEAN);
        let wanted = statistic.unwrap_or(default);
        let known = metric.statistics.iter().find(|known| **known == wanted);
        match known.filter(|_| words.next().is_none()) {
            Some(statistic) => Ok((metric, *statistic)),
            None => {
                let listed: Vec<String> =
                    metric.statistics.iter().map(|each| format!("`{name} {each}`")).collect();
                let tails = if metric.statistics.len() < 3 && wanted.starts_with('p') {
                    "; quantiles are measured with measure.tails = true"
                } else {
                    ""
                };
                let remedy = format!("write {}{tails}", listed.join(" or "));
                self.checker.refuse(
                    at,
                    format!("asks for a statistic that results do not have of {of}"),
                    remedy,
                )
            }
        }
    }

    /// The load at which it must hold.
    fn load(&self) -> Checked<Option<f64>> {
        let loads = &self.measured.loads;
        let Some(written) = &self.table.load else { return Ok(loads.iter().copied().reduce(f64::max)) };
        if loads.is_empty() {
            return self.checker.refuse(written, "has no effect where a scenario has one load", "remove it");
        }
        if loads.contains(&written.value) {
            return Ok(Some(written.value));
        }
        let listed: Vec<String> = loads.iter().map(f64::to_string).collect();
        self.checker.refuse(
            written,
            "must be a load of the scenario",
            format!("listed are {}", listed.join(", ")),
        )
    }

    /// The bound, and which side of it is right.
    fn amount(&self, metric: &Metric) -> Checked<(&Located<Amount>, Side)> {
        match (&self.table.bound, &self.table.at_least) {
            (Some(_), Some(second)) => {
                self.checker.refuse(second, "cannot be combined with need.bound", "keep one of the two")
            }
            (Some(bound), None) => Ok((bound, Side::AtMost)),
            (None, Some(bound)) => Ok((bound, Side::AtLeast)),
            (None, None) => {
                let example = example(metric.unit);
                let remedy =
                    format!("add `bound = {example}`, the most it may be, or `at_least = {example}`");
                self.checker.refuse(&self.table.metric, "has no bound", remedy)
            }
        }
    }

    /// The bound in the unit of the figure.
    fn in_unit(&self, written: &Located<Amount>, metric: &Metric) -> Checked<f64> {
        let value = match (written.value, metric.unit) {
            (Amount::Time(time), "s") if time.clock == Clock::Seconds => Some(time.span.get() as f64 / 1e9),
            (Amount::Time(time), "u") if time.clock == Clock::PacketServices => {
                Some(time.span.get() as f64 / NANOS_PER_UNIT as f64)
            }
            (Amount::Speed(speed), "bit/s") => Some(speed.0.get() as f64),
            (Amount::Rate(rate), "1/s") => Some(rate.0),
            (Amount::Share(share), "1") => Some(share.0),
            (Amount::Packets(count), "pkt") => Some(count as f64),
            (Amount::Number(number), "1" | "pkt" | "cores") => Some(number),
            _ => None,
        };
        value.map_or_else(
            || {
                let reason = format!("is not in the unit of `{}`", metric.name);
                self.checker.refuse(written, reason, format!("write it as {}", example(metric.unit)))
            },
            Ok,
        )
    }
}

/// An amount in a unit of figures, as it is written.
fn example(unit: &str) -> &'static str {
    match unit {
        "s" => "\"200ms\"",
        "u" => "\"20u\"",
        "bit/s" => "\"5Mbit\"",
        "1/s" => "\"1000/s\"",
        "pkt" => "\"100pkt\"",
        "1" => "10, or as a share \"1%\"",
        _ => "4",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use weir_document::{DataFiles, Source};

    use super::*;
    use crate::scenario::IN_SERVICES;

    #[derive(Deserialize)]
    struct Document {
        need: Vec<Located<NeedTable>>,
    }

    fn measured() -> Measured {
        let times = |unit| Metric::new("response", TAILS, unit);
        let metrics = vec![times("s"), Metric::new("slowdown", MEANS, "1")];
        let rate = Metric::new("throughput", MEANS, "bit/s");
        let subjects = vec![
            Subjects::all(vec![times("s"), rate]),
            Subjects::named("class", ["api", "batch"], metrics),
            Subjects::named("flow", [], vec![times("u")]),
        ];
        Measured { subjects, loads: Vec::new() }
    }

    fn read(text: &str, measured: &Measured) -> Result<Vec<Need>, String> {
        let text = format!("[[need]]\n{text}\n");
        let source = Source { name: "f", text: &text };
        let document: Document = source.read(&IN_SERVICES).map_err(|refused| refused.to_string())?;
        let files = DataFiles::from(Path::new(""));
        let checker = Checker::new(&source, &files);
        check(&document.need, measured, &checker).map_err(|refused| refused.to_string())
    }

    #[test]
    fn a6_a_need_is_a_figure_within_a_bound() {
        let need =
            |text: &str| read(text, &measured()).unwrap_or_else(|refusal| panic!("{refusal}")).remove(0);
        let found = need("metric = \"response p99\"\nclass = \"api\"\nbound = \"200ms\"");
        assert_eq!((found.kind, found.name.as_str(), found.side), ("class", "api", Side::AtMost));
        assert_eq!((found.metric, found.statistic, found.bound, found.unit), ("response", "p99", 0.2, "s"));
        let found = need("metric = \"throughput\"\nat_least = \"5Mbit\"");
        assert_eq!((found.kind, found.statistic, found.side), ("all", "mean", Side::AtLeast));
        assert_eq!(found.bound, 5e6);
        assert_eq!(need("metric = \"slowdown\"\nclass = \"api\"\nbound = 10").bound, 10.0);
        let several = Measured { loads: vec![0.5, 0.9], ..measured() };
        let at = |text: &str| read(text, &several).expect("valid")[0].load;
        assert_eq!(at("metric = \"response\"\nbound = \"1s\""), Some(0.9));
        assert_eq!(at("metric = \"response\"\nload = 0.5\nbound = \"1s\""), Some(0.5));
    }

    #[test]
    fn a6_a_need_that_results_cannot_answer_is_refused() {
        for (text, refusal) in [
            ("bound = \"1s\"", "f:1:1: need.metric is missing"),
            (
                "metric = \"respons p99\"\nbound = \"1s\"",
                "f:2:10: need.metric \"respons p99\" is not a metric that results have of all together: did you mean `response`? choose one of `response`, `throughput`",
            ),
            (
                "metric = \"response p98\"\nbound = \"1s\"",
                "f:2:10: need.metric is \"response p98\", asks for a statistic",
            ),
            (
                "metric = \"slowdown p99\"\nclass = \"api\"\nbound = 3",
                "f:2:10: need.metric is \"slowdown p99\", asks for a \
             statistic that results do not have of a class: write `slowdown mean`; quantiles are measured with \
             measure.tails = true",
            ),
            (
                "metric = \"response\"\nclass = \"ap\"\nbound = \"1s\"",
                "f:3:9: need.class \"ap\" is not a class that results have figures of: did you mean `api`? choose one of `api`, `batch`",
            ),
            (
                "metric = \"response\"\nflow = \"1\"\nbound = \"1s\"",
                "f:3:8: need.flow \"1\" is about something that results have no figures of: name one of these: `class`",
            ),
            (
                "metric = \"response\"\nclass = \"api\"\nflow = \"1\"\nbound = \"1s\"",
                "f:4:8: need.flow is \"1\", has no effect with need.class: remove it",
            ),
            (
                "metric = \"response\"",
                "f:2:10: need.metric is \"response\", has no bound: add `bound = \"200ms\"`, the \
             most it may be, or `at_least = \"200ms\"`",
            ),
            (
                "metric = \"response\"\nbound = \"1s\"\nat_least = \"1s\"",
                "f:4:12: need.at_least is \"1s\", cannot be combined with \
             need.bound: keep one of the two",
            ),
            (
                "metric = \"response\"\nbound = \"5Mbit\"",
                "f:3:9: need.bound \"5Mbit\" is not in the unit of \
             `response`: write it as \"200ms\"",
            ),
            ("metric = \"response\"\nbound = 5", "f:3:9: need.bound 5 is not in the unit of `response`"),
            (
                "metric = \"response\"\nbound = \"20u\"",
                "f:3:9: need.bound \"20u\" is not in the unit of `response`",
            ),
            ("metric = \"response\"\nload = 0.5\nbound = \"1s\"", "f:3:8: need.load is 0.5, has no effect"),
            (
                "metric = \"response\"\nbound = \"much\"",
                "f:3:9: need.bound is \"much\", in an unknown unit: \
             write a number, or an amount with its unit",
            ),
            ("metric = \"response\"\nbound = -1", "f:3:9: need.bound is -1, "),
            ("metric = \"response\"\nlimit = 1", "f:3:1: need.limit is not a key here"),
        ] {
            let told = read(text, &measured()).expect_err(text);
            assert!(told.starts_with(refusal), "{text}\n{told}\n{refusal}");
        }
        let several = Measured { loads: vec![0.5, 0.9], ..measured() };
        let told = read("metric = \"response\"\nload = 0.7\nbound = \"1s\"", &several).expect_err("refused");
        assert_eq!(told, "f:3:8: need.load is 0.7, must be a load of the scenario: listed are 0.5, 0.9");
    }
}
