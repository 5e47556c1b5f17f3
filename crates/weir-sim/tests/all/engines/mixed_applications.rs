//! Closed loops of applications whose messages have different lengths, against what is known of them.

use super::script::{all_checks_hold, outcome, scenario};
use weir_sim::Outcome;

/// The mean of a metric of a class, and its standard error if it has one.
fn of_class(outcome: &Outcome, discipline: &str, class: &str, metric: &str) -> (f64, Option<f64>) {
    let figure = outcome.estimates.iter().find(|figure| {
        figure.discipline.as_deref() == Some(discipline)
            && (figure.subject.class.as_str(), figure.metric, figure.statistic) == (class, metric, "mean")
    });
    let figure = figure.expect("the figure is in every result");
    (figure.value.expect("a value"), figure.standard_error)
}

/// Responses by mean value analysis of one station that shares its processor, and thinking: exact for any law of
/// the services. `classes` are population, service and thinking.
fn mean_value_analysis(classes: [(usize, f64, f64); 2]) -> [f64; 2] {
    let [(first, ..), (second, ..)] = classes;
    // The mean number at the station, by population.
    let mut present = vec![vec![0.0; second + 1]; first + 1];
    let mut responses = [0.0; 2];
    for a in 0..=first {
        for b in 0..=second {
            let found = [
                a.checked_sub(1).map(|less| present[less][b]),
                b.checked_sub(1).map(|less| present[a][less]),
            ];
            let mut sum = 0.0;
            for (class, (members, found)) in [a, b].into_iter().zip(found).enumerate() {
                let (_, service, think) = classes[class];
                let Some(found) = found else { continue };
                responses[class] = service * (1.0 + found);
                sum += members as f64 / (think + responses[class]) * responses[class];
            }
            present[a][b] = sum;
        }
    }
    responses
}

/// Finding B6: each application has lengths of its own; the station is that of BCMP, whose means are known.
#[test]
fn b6_processor_sharing_has_the_means_of_the_product_form() {
    let rest = "[[workload.closed.group]]\napplications = 3\nlengths = { constant = \"1000B\" }\n\
                think = { exponential = \"20us\" }\n\
                [[workload.closed.group]]\napplications = 2\nlengths = { uniform = [\"1B\", \"9999B\"] }\n\
                think = { exponential = \"50us\" }\n\
                [service]\nrate = \"1Gbit\"\n[stop]\nmessages = 400_000\nreplications = 8\n\
                [measure]\nclasses = \"group\"\ntails = false\n";
    let outcome = outcome(&scenario(&["ps"], rest), 1);
    let exact = mean_value_analysis([(3, 8e-6, 20e-6), (2, 40e-6, 50e-6)]);
    for (class, exact) in ["group 1", "group 2"].into_iter().zip(exact) {
        let (mean, error) = of_class(&outcome, "ps", class, "response");
        let error = error.expect("an interval");
        assert!((mean - exact).abs() < 4.0 * error, "{class}: {mean} ±{error} against {exact}");
        assert!(error < 0.005 * exact, "{class}: {error}");
    }
    all_checks_hold(&outcome);
}

/// Without thinking first in, first out serves every application once a round, whatever the lengths of the others.
#[test]
fn b6_first_in_first_out_serves_each_application_once_a_round() {
    let rest = "[[workload.closed.group]]\napplications = 3\nlengths = { constant = \"2pkt\" }\n\
                [[workload.closed.group]]\nlengths = { constant = \"20pkt\" }\n\
                [service]\npacket = { constant = \"1u\" }\n[stop]\npackets = 26_000\nwarm_up = \"26u\"\n";
    let outcome = outcome(&scenario(&["fifo", "rr"], rest), 1);
    for class in ["2pkt", "20pkt"] {
        assert_eq!(of_class(&outcome, "fifo", class, "latency").0, 25.0, "{class}");
    }
    // Under round robin the short ones go round several times for each of the long.
    assert!(of_class(&outcome, "rr", "2pkt", "latency").0 < 8.0);
    let shares: Vec<f64> = outcome
        .estimates
        .iter()
        .filter(|figure| figure.metric == "bandwidth_share" && figure.discipline.as_deref() == Some("fifo"))
        .filter_map(|figure| figure.value)
        .collect();
    let expected = [2.0, 2.0, 2.0, 20.0].map(|length| length / 26.0);
    assert_eq!(shares.len(), 4);
    assert!(
        shares.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < 3e-3),
        "{shares:?}"
    );
}
