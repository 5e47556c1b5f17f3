//! Windows by hand, and against the figures of the whole run.

use super::*;
use crate::outcome::Outcome;
use crate::run::tests::{scenario, told};
use weir_core::units::Instant;
use weir_lab::stats::windows::OverTimeRow;

fn departure(arrival: u64, leaves: u64, length: u32, class: u16) -> Departure {
    let (arrival, leaves) = (Instant::new(arrival), Instant::new(leaves));
    Departure { arrival, last: leaves, completion: leaves, length, class, ..Departure::default() }
}

#[test]
fn windows_by_hand() {
    let course = Course {
        length: 10,
        end: 40,
        clock: 10.0,
        service: 2.0,
        metric: Metric::Response,
        unit: "s",
        classes: vec!["short".to_owned(), "long".to_owned()],
    };
    let mut windows = Windows::new(Arc::new(course));
    for each in
        [departure(0, 5, 1, 0), departure(2, 15, 4, 1), departure(12, 18, 1, 0), departure(16, 33, 2, 0)]
    {
        windows.departed(&each);
    }
    let figures = windows.figures();
    let rows = windows::over_replications("fifo", Nanos::new(10), &[&figures]);
    let values = |place: usize| rows[place].values.clone();
    // Three windows are whole: 5 + 8 message ticks, 5 + 6 + 4, 10, over 10 each.
    assert_eq!(values(0), [Some(1.3), Some(1.5), Some(1.0)]);
    assert_eq!(values(1), [Some(0.2), Some(1.0), Some(0.0)]);
    assert_eq!(values(2), [Some(1.0), Some(2.0), Some(0.0)]);
    assert_eq!(values(3), [Some(0.5), Some(0.95), None]);
    assert_eq!((values(6), values(7)), (vec![Some(0.5), Some(0.6), None], vec![None, Some(1.3), None]));
    assert_eq!((rows.len() as u64, rows[7].name.as_deref()), (super::rows(2), Some("long")));
}

fn row<'o>(outcome: &'o Outcome, discipline: &str, what: (&str, &str)) -> &'o OverTimeRow {
    let is = |row: &&OverTimeRow| {
        (row.discipline.as_str(), row.name.as_deref()) == (discipline, None)
            && (row.metric.as_str(), row.statistic.as_str()) == what
    };
    outcome.windows.iter().find(is).unwrap_or_else(|| panic!("{what:?} of {discipline}"))
}

fn mean(outcome: &Outcome, discipline: &str) -> f64 {
    let is = |row: &&crate::outcome::Figure| {
        row.discipline.as_deref() == Some(discipline) && row.subject.class == "all" && row.statistic == "mean"
    };
    outcome.estimates.iter().find(is).and_then(|row| row.value).expect("a mean")
}

#[test]
fn windows_add_up_to_the_whole_run() {
    for rest in ["", "lengths = { uniform = [\"1kB\", \"9kB\"] }\n[service]\nrate = \"1Gbit\"\n"] {
        let window = if rest.is_empty() { "500u" } else { "4ms" };
        let stop = if rest.is_empty() { "packets" } else { "messages" };
        let rest = format!(
            "load = 0.6\n{rest}[stop]\n{stop} = 60000\nwarm_up = \"none\"\n[measure]\nwindow = \"{window}\"\nover_time = true\n"
        );
        let outcome = told(&scenario("\"fifo\", \"sf\", \"ps\"", &rest), &mut |_| ()).expect("a result");
        let metric = outcome.windows[3].metric.clone();
        for discipline in ["fifo", "sf", "ps"] {
            let known =
                |what| row(&outcome, discipline, what).values.iter().map(|value| value.unwrap_or(0.0));
            let counts: Vec<f64> = known(("departed", "count")).collect();
            let sum: f64 = known((&metric, "mean")).zip(&counts).map(|(mean, count)| mean * count).sum();
            let (count, windows) = (counts.iter().sum::<f64>(), counts.len() as f64);
            // All but the last window, which is not whole.
            assert!(count / outcome.messages as f64 > 0.97, "{count}");
            let expected = mean(&outcome, discipline);
            assert!((sum / count / expected - 1.0).abs() < 0.02, "{discipline}: {} {expected}", sum / count);
            // Little's law.
            let inside = known(("inside", "mean")).sum::<f64>() / windows;
            let per_window = outcome.windows[0].interval;
            let response = inside * per_window * windows / count;
            let beyond = response - sum / count;
            // With packets, what is inside is served for one more packet than the latency says.
            let packet = if metric == "latency" { 1.0 } else { 0.0 };
            assert!((beyond - packet).abs() < 0.01 * response, "{discipline}: {response} {}", sum / count);
            let throughput = known(("throughput", "share")).sum::<f64>() / windows;
            assert!((throughput - 0.6).abs() < 0.03, "{throughput}");
        }
    }
}

#[test]
fn replications_have_as_many_windows_as_the_shortest() {
    let rest = "load = 0.6\n[stop]\npackets = 90000\nreplications = 3\n[measure]\nwindow = \"1000u\"\nover_time = true\n";
    let outcome = told(&scenario("\"fifo\", \"sf\"", rest), &mut |_| ()).expect("a result");
    let counts: Vec<usize> = outcome.windows.iter().map(|row| row.values.len()).collect();
    assert!(counts.iter().all(|&count| (45..=51).contains(&count)), "{counts:?}");
    let inside = row(&outcome, "sf", ("inside", "mean"));
    let ends = inside.low.iter().zip(&inside.values).zip(&inside.high);
    assert!(ends.clone().all(|((low, value), high)| low <= value && value <= high));
}
