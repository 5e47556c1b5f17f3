//! What a result says of a run that is too short: how many times as long it must be, and for which figure.
//!
//! Work O(figures). Units: shares of the length of the run.

use serde::Serialize;

use crate::stats::figure::Figure;

/// How much longer a run must be until all its figures are settled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settling {
    /// How many times as long, at the same number of replications; the most that any figure needs.
    pub longer: f64,
    /// The figure that needs it, in words.
    pub figure: String,
    /// What means, shares and rates need, where some are not settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub means: Option<f64>,
    /// What quantiles need, where some are not settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantiles: Option<f64>,
    /// Figures that are not settled.
    pub count: u64,
    /// Figures that have an interval.
    pub of: u64,
    /// Why, where there is a formula for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Quantiles that lie farther out than what tables show of most models: each is marked where it is not settled, and the
/// run is not judged by it.
const FAR: [&str; 2] = ["p99.9", "p99.99"];
/// The same of a share that is below this: how far below makes no difference.
const RARE: f64 = 1e-3;

impl Settling {
    /// Of these figures, those that are too far out or too rare left out (`FAR`, `RARE`); `None` where all are settled. `words` says what a
    /// figure is about, nothing if all of its kind.
    pub fn of<S, X>(figures: &[Figure<S, X>], words: impl Fn(&S) -> String) -> Option<Self> {
        let is_rare = |figure: &Figure<S, X>| {
            figure.unit == "1" && figure.low >= Some(0.0) && figure.high.is_some_and(|high| high < RARE)
        };
        let is_judged = |figure: &&Figure<S, X>| {
            figure.low.is_some() && !FAR.contains(&figure.statistic) && !is_rare(figure)
        };
        let with_interval = || figures.iter().filter(is_judged);
        let longest = |is_quantile: bool| {
            let kind = with_interval().filter(|figure| figure.is_quantile() == is_quantile);
            kind.map(|figure| figure.settled.longer()).reduce(f64::max).filter(|longer| *longer > 1.0)
        };
        let (means, quantiles) = (longest(false), longest(true));
        let longer = means.into_iter().chain(quantiles).reduce(f64::max)?;
        let worst = with_interval().find(|figure| figure.settled.longer() >= longer)?;
        let (subject, metric) = (words(&worst.subject), worst.metric.replace('_', " "));
        let of = if subject.is_empty() { subject } else { format!(" of {subject}") };
        let under = worst.discipline.as_ref().map_or(String::new(), |name| format!(" under {name}"));
        Some(Self {
            longer,
            figure: format!("{} {metric}{of}{under}", worst.statistic),
            means,
            quantiles,
            count: with_interval().filter(|figure| !figure.settled.is_settled()).count() as u64,
            of: with_interval().count() as u64,
            reason: None,
        })
    }

    /// The same with a reason.
    #[must_use]
    pub fn because(self, reason: Option<String>) -> Self {
        Self { reason, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::figure::{Subject, Title};
    use crate::stats::{Measure, Method, Settled};

    fn figure(statistic: &'static str, longer: f64) -> Figure {
        let title =
            Title { subject: Subject::new("class", "short"), metric: "packet_period", statistic, unit: "s" };
        let measure = Measure::estimate(2.0, 0.1, 9, Method::Replications { groups: 4 });
        Figure::new(Some("fifo"), title, &measure.needing(Settled::needing(longer)))
    }

    fn settling(figures: &[Figure]) -> Option<Settling> {
        Settling::of(figures, |subject| subject.name.clone())
    }

    #[test]
    fn the_figure_that_needs_most_is_named() {
        let found =
            settling(&[figure("mean", 1.0), figure("mean", 2.0), figure("p99", 7.0), figure("p90", 3.0)]);
        let found = found.expect("three that are not settled");
        assert_eq!((found.longer, found.means, found.quantiles), (7.0, Some(2.0), Some(7.0)));
        assert_eq!((found.count, found.of), (3, 4));
        assert_eq!(found.figure, "p99 packet period of short under fifo");
    }

    #[test]
    fn a_run_is_not_judged_by_what_is_too_far_out() {
        assert_eq!(settling(&[figure("mean", 1.0), figure("p99.9", 7.0)]), None);
        let found =
            settling(&[figure("mean", 2.0), figure("p99.99", 7.0)]).expect("a mean that is not settled");
        assert_eq!((found.longer, found.count, found.of), (2.0, 1, 1));
    }

    #[test]
    fn a_settled_result_says_nothing_and_its_figures_have_no_key() {
        let settled = figure("p99", 1.0);
        assert_eq!(settling(std::slice::from_ref(&settled)), None);
        let json = |figure: &Figure| serde_json::to_string(figure).expect("JSON");
        assert!(!json(&settled).contains("settled"));
        assert!(json(&figure("p99", 2.0)).ends_with(r#""settled":false}"#));
    }
}
