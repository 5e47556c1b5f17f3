//! Whether a run is long enough for its figures.
//!
//! Where messages come from outside at a load below 1, the work that waits is the same under every discipline that
//! conserves it, and [`RunLength`] says from the moments of the services how long it takes to forget. Under `fifo` every
//! wait is that work: means and quantiles need what the formula says, and quantiles no more. Other disciplines let some wait less and some
//! longer, whose waits forget sooner or later than the work: they need half of it, and what their own figures show.
//!
//! Every mean is judged by its own standard error too, over what it is above the shortest that was seen
//! ([`settled::by_itself`]), every other quantile by the exceedances of its sections ([`weir_lab::stats::tail`]).
//!
//! Of a trace, a closed loop, arrivals that are equally spaced or a rate that follows a curve the formula says nothing.
//!
//! Work O(1) a figure. Units: nanoseconds of the clock.

use crate::gathered::Gathered;
use crate::model::{Input, Open, PortScenario, Service};
use crate::outcome::{Figure, Subject};
use weir_core::message::fifo;
use weir_core::units::Nanos;
use weir_lab::result::Settling;
use weir_lab::stats::run_length::{self, ERROR, EXCEEDANCES};
use weir_lab::stats::settled::{self, ERROR_OF_PART, ERROR_OF_TIME};
use weir_lab::stats::{Measure, RunLength};
use weir_workload::Arrivals;

/// What disciplines need of what `fifo` needs, as a relative standard error and as exceedances.
const OTHER_ERROR: f64 = 2.5;
const OTHER_EXCEEDANCES: f64 = 0.5;

/// How long a run was, where a formula says what that is worth.
#[derive(Clone, Copy, Debug)]
pub struct Sufficiency {
    length: Option<RunLength>,
}

impl Sufficiency {
    /// Of what was run; `warm_up` ticks of each replication were not counted.
    #[must_use]
    pub fn new(port: &PortScenario, first: &Gathered, warm_up: u64) -> Self {
        Self { length: length(port, first, warm_up) }
    }

    /// A mean of a discipline, with the least value that was seen where that is known.
    pub fn mean(&self, discipline: &str, measure: Measure, least: f64) -> Measure {
        let Some(length) = &self.length else { return settled::by_itself(measure, least, ERROR_OF_TIME) };
        let by_formula = length.mean(if is_fifo(discipline) { ERROR } else { OTHER_ERROR * ERROR });
        let error = if is_fifo(discipline) { ERROR_OF_PART } else { ERROR_OF_TIME };
        settled::by_itself(measure, least, error).needing(by_formula)
    }

    /// The `p`-quantile of a discipline.
    pub fn quantile(&self, discipline: &str, measure: Measure, p: f64) -> Measure {
        let Some(length) = &self.length else { return measure };
        let above = (1.0 - p).min(0.5);
        match is_fifo(discipline) {
            true => measure.judged(length.quantile(above, EXCEEDANCES)),
            false => measure.needing(length.quantile(above, OTHER_EXCEEDANCES * EXCEEDANCES)),
        }
    }

    /// The mean of a metric of a class, or of all.
    pub fn mean_of(&self, gathered: &Gathered, metric: usize, class: Option<usize>) -> Measure {
        let least = gathered.least(metric, class);
        self.mean(&gathered.name, gathered.mean_measured(metric, class), least)
    }

    /// The mean number of packets waiting: the work, whatever the discipline.
    pub fn queue_length(&self, gathered: &Gathered) -> Measure {
        self.mean(fifo::INFO.name, gathered.queue_length().into(), 0.0)
    }

    /// What the result says, where figures are not settled.
    #[must_use]
    pub fn told(&self, port: &PortScenario, figures: &[Figure]) -> Option<Settling> {
        let reason = self.length.map(|length| {
            let relaxation = match port.service {
                Service::Packets(time) => {
                    format!("{:.0} packet services", length.relaxation / time.mean().get() as f64)
                }
                Service::Whole(_) => Nanos::new(length.relaxation.round() as u64).to_string(),
            };
            format!(
                "at load {} the queue takes some {relaxation} to forget how it began, and {:.0} times that is measured",
                length.load,
                length.measured * length.replications / length.relaxation
            )
        });
        Settling::of(figures, words).map(|settling| settling.because(reason))
    }
}

fn is_fifo(discipline: &str) -> bool {
    discipline == fifo::INFO.name
}

/// What a figure is about, in words.
fn words(subject: &Subject) -> String {
    match subject.flow {
        Some(flow) => format!("application {flow}"),
        None if subject.class == weir_lab::stats::figure::ALL => String::new(),
        None => subject.class.clone(),
    }
}

fn length(port: &PortScenario, first: &Gathered, warm_up: u64) -> Option<RunLength> {
    let Input::Open(open) = &port.input else { return None };
    if open.curve.is_some() {
        return None;
    }
    let load = port.load.filter(|load| *load > 0.0 && *load < 1.0)?;
    let dispersion = dispersion(open)?;
    let moments = services(port, open);
    let rate = 1.0 / open.mean_gap;
    // The work that comes in a unit of time: of Poisson arrivals λ E[S²], and more by what their number varies more.
    let besides = rate * moments[0] * moments[0] * (dispersion - 1.0);
    let variance = rate * moments[1] + besides;
    let relaxation = run_length::relaxation(load, variance);
    let replications = first.states.len() as f64;
    let all = first.total_time(|state| state.now) as f64 / replications;
    let ticks = first.total(|state| state.ticks) as f64 / replications;
    let counted = (1.0 - warm_up as f64 / ticks).clamp(0.0, 1.0);
    (ticks > 0.0 && counted > 0.0).then(|| RunLength {
        load,
        relaxation,
        clump: relaxation * run_length::longer_by_rare(rate, moments),
        variance: run_length::poisson(rate, moments) * variance / (rate * moments[1]),
        warm_up: all * (1.0 - counted),
        measured: all * counted,
        replications,
    })
}

/// The variance of the number of arrivals over its mean, in the long run; the formula is not for equal gaps.
fn dispersion(open: &Open) -> Option<f64> {
    match open.arrivals {
        Arrivals::Deterministic => None,
        ref arrivals => arrivals.dispersion(),
    }
}

/// The moments of the service of a message: of packets from those of its number of packets, whose own third and fourth
/// central moments are left out (they are negligible against those of the lengths).
fn services(port: &PortScenario, open: &Open) -> [f64; 4] {
    let unit = port.service.mean_per_unit();
    let [first, second, third, fourth] = [1, 2, 3, 4].map(|k| open.lengths.moment(k));
    let spread = match port.service {
        Service::Packets(time) => time.second_moment_ratio() - 1.0,
        Service::Whole(_) => 0.0,
    };
    [
        unit * first,
        unit.powi(2) * (second + spread * first),
        unit.powi(3) * (third + 3.0 * spread * second),
        unit.powi(4) * (fourth + 6.0 * spread * third + 3.0 * spread * spread * second),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;
    use weir_lab::control::Control;

    use crate::outcome::Outcome;

    type Scenario = weir_lab::scenario::Scenario<PortScenario>;

    fn played(rest: &str) -> Outcome {
        let text = format!("weir = 1\nmodel = \"port\"\n{rest}");
        let scenario = Scenario::from_toml(&text, "test.toml", Path::new("")).expect("a scenario");
        let cancel = AtomicBool::new(false);
        let threads = NonZeroUsize::MIN;
        let mut control = Control { threads, cancel: &cancel, progress: &mut |_| {}, records: None };
        crate::run::run(&scenario.model, &scenario.frame, &mut control).expect("a result")
    }

    fn settled(outcome: &Outcome, discipline: &str, statistic: &str) -> bool {
        let is_it = |figure: &&Figure| {
            figure.discipline.as_deref() == Some(discipline)
                && figure.subject == Subject::new("all")
                && (figure.metric, figure.statistic) == ("latency", statistic)
        };
        outcome.estimates.iter().find(is_it).expect("a figure").settled.is_settled()
    }

    /// Finding A1: 200,000 packets at load 0.95 printed means and quantiles as if they were known, and OK next to them.
    #[test]
    fn a1_a_short_run_says_so_and_judges_nothing_by_it() {
        let short = played("disciplines = [\"fifo\"]\n[workload]\nload = 0.95\n[stop]\npackets = 200_000\n");
        assert!(!settled(&short, "fifo", "mean") && !settled(&short, "fifo", "p99"));
        let settling = short.settling.as_ref().expect("what it needs");
        assert!(settling.longer > 2.0 && settling.means.is_some(), "{settling:?}");
        assert!(settling.quantiles.is_some_and(|longer| longer > 2.0) && settling.reason.is_some());
        let rows = short.theory.iter().filter(|row| row.value.is_some() && row.metric == "latency");
        assert!(rows.into_iter().all(|row| row.agrees.is_none() && !row.settled), "{:?}", short.theory);
        let known = short.checks.iter().find(|check| check.check == "known formula").expect("a check");
        assert_eq!(known.ok, None);
    }

    #[test]
    fn a1_a_run_that_is_long_enough_is_judged() {
        let long = played("disciplines = [\"fifo\"]\n[workload]\nload = 0.6\n[stop]\npackets = 1_000_000\n");
        assert!(settled(&long, "fifo", "mean") && settled(&long, "fifo", "p99"));
        assert!(long.theory.iter().all(|row| row.settled));
        assert!(long.theory.iter().any(|row| row.agrees == Some(true)));
        assert!(long.checks.iter().all(|check| check.ok == Some(true)), "{:?}", long.checks);
    }

    #[test]
    fn bursts_need_longer_runs() {
        let of = |arrivals: &str| {
            let text = format!(
                "disciplines = [\"fifo\"]\n[workload]\nload = 0.7\n{arrivals}\n[stop]\npackets = 200_000\n"
            );
            settled(&played(&text), "fifo", "p99")
        };
        assert!(of(""));
        assert!(!of("arrivals = { bursty = { peak = 5.0, burst = 100.0 } }"));
    }

    #[test]
    fn the_dispersion_of_a_rate_that_switches() {
        // Ten bursts in a row of 5 times the rate, nothing between: s is 0.2, T is 2 gaps, T' 8.
        let arrivals = Arrivals::Bursty { peak: 5.0, burst: 10.0, quiet: 0.0 };
        let lengths = weir_workload::Sizes::exponential(5.0).expect("a mean");
        let open =
            |arrivals| Open { arrivals, mean_gap: 1.0, curve: None, lengths: lengths.clone(), flows: 1 };
        let known = 1.0 + 2.0 * 0.2 * 0.8 * 25.0 / (0.5 + 0.125);
        assert!((dispersion(&open(arrivals)).expect("known") - known).abs() < 1e-12);
        assert_eq!(dispersion(&open(Arrivals::Poisson)), Some(1.0));
        assert_eq!(dispersion(&open(Arrivals::Deterministic)), None);
    }
}
