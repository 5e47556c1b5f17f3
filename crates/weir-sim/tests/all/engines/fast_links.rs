//! Whole messages on fast links, where a byte takes less than a nanosecond, against the closed forms of the M/G/1 queue.

use super::script::{outcome, scenario};
use weir_sim::Outcome;

/// W1 of Homa at load 0.8, whose mean message takes some nanoseconds.
fn w1(discipline: &str, rate: &str) -> Outcome {
    let rest = format!(
        "[workload]\nload = 0.8\nlengths = {{ cdf = \"data/sizes/homa-w1.csv\" }}\n[service]\nrate = \"{rate}\"\n\
         [stop]\nmessages = 1_000_000\nreplications = 10\nwarm_up = \"none\"\n[measure]\ntails = false\n"
    );
    outcome(&scenario(&[discipline], &rest), 1)
}

/// How far the simulated mean is from the closed one, in standard errors and as a share of it, at worst.
fn apart(outcome: &Outcome) -> (f64, f64) {
    let rows = outcome.theory.iter().filter_map(|row| Some((row, row.value?)));
    let differences = rows.map(|(row, exact)| {
        let figure = outcome.estimates.iter().find(|figure| {
            (figure.subject.class.as_str(), figure.metric, figure.statistic)
                == (&row.class, row.metric, "mean")
                && figure.subject.flow.is_none()
        });
        let figure = figure.expect("every closed form cannot be combined with a figure");
        let difference = (figure.value.expect("a value") - exact).abs();
        (difference / figure.standard_error.expect("an interval"), difference / exact)
    });
    differences.fold((0.0, 0.0), |(errors, share), (more, other)| (more.max(errors), other.max(share)))
}

/// Finding A7: services were rounded to nanoseconds, by up to a factor of two.
#[test]
fn a7_whole_messages_on_fast_links_have_their_closed_forms() {
    for (discipline, rate) in [("fifo", "400Gbit"), ("ps", "100Gbit"), ("sf", "25Gbit"), ("sf", "10Gbit")] {
        let outcome = w1(discipline, rate);
        assert!(outcome.theory.iter().filter(|row| row.value.is_some()).count() >= 12, "{discipline}");
        let (errors, share) = apart(&outcome);
        assert!(errors < 5.0 && share < 0.03, "{discipline} at {rate}: {errors} standard errors, {share}");
        assert!(outcome.checks.iter().all(|check| check.ok == Some(true)), "{:#?}", outcome.checks);
    }
}

/// The response of a message that is alone, and the simulated time, are in seconds whatever the clock counts.
#[test]
fn a7_times_are_reported_in_seconds() {
    for (rate, service) in [("400Gbit", 2e-8), ("8Gbit", 1e-6), ("3Gbit", 8e-6 / 3.0)] {
        let rest = format!(
            "[workload]\ngap = \"1ms\"\narrivals = \"deterministic\"\nlengths = {{ constant = \"1000B\" }}\n\
             [service]\nrate = \"{rate}\"\n[stop]\nmessages = 100\nwarm_up = \"none\"\n"
        );
        for discipline in ["fifo", "ps", "rr:quantum=100ns", "alpha_tracking"] {
            let outcome = outcome(&scenario(&[discipline], &rest), 1);
            let mean = super::script::mean(&outcome, &outcome.disciplines[0], "response").expect("a mean");
            assert!((mean - service).abs() < 1e-12, "{discipline} at {rate}: {mean}");
            assert!((outcome.duration - 0.099).abs() < 1e-5, "{}", outcome.duration);
        }
    }
}
