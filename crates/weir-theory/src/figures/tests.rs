use proptest::prelude::*;

use super::*;

fn given(arrival: f64, service: f64) -> Given {
    Given { arrival: Some(arrival), service: Some(service), ..Given::default() }
}

fn all(queue: &str, given: &Given) -> Vec<Figure> {
    let read = queue.parse().unwrap_or_else(|error| panic!("{queue}: {error}"));
    figures(&read, given).unwrap_or_else(|error| panic!("{queue}: {error}"))
}

fn value(queue: &str, given: &Given, metric: &str) -> f64 {
    let found = all(queue, given);
    found.iter().find(|one| one.metric == metric).unwrap_or_else(|| panic!("{queue}: no {metric}")).value
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
}

#[test]
fn one_server_by_hand() {
    // M/M/1 at a load of 0.8 with services of 2 s.
    let of = given(0.4, 2.0);
    near(value("M/M/1", &of, "utilisation"), 0.8);
    near(value("M/M/1", &of, "probability_of_waiting"), 0.8);
    near(value("M/M/1", &of, "mean_wait"), 8.0);
    near(value("M/M/1", &of, "mean_response"), 10.0);
    near(value("M/M/1", &of, "mean_number_in_system"), 4.0);
    near(value("M/M/1", &of, "wait_p90"), 10.0 * 8f64.ln());
    near(value("M/D/1", &of, "mean_wait"), 4.0);
    near(value("M/E_2/1", &of, "mean_wait"), 6.0);
    near(value("M/G/1", &Given { scv_service: Some(4.0), ..of }, "mean_wait"), 20.0);
    near(value("M/G/1-PS", &of, "mean_response"), 10.0);
    near(value("M/E_2/1-LCFS-PR", &of, "mean_response"), 10.0);
    near(value("M/D/1-SRPT", &of, "mean_response"), 6.0);
    near(value("M/M/1-LAS", &of, "mean_response"), 10.0);
    assert!(value("M/M/1-SRPT", &of, "mean_response") < value("M/M/1-SJF", &of, "mean_response"));
    near(value("M/M/1-LCFS", &of, "mean_wait"), 8.0);
}

#[test]
fn orders_that_do_not_look_at_sizes_agree_for_any_number_of_exponential_servers() {
    let of = given(2.4, 1.0);
    for order in ["", "-LCFS", "-SIRO", "-PS", "-LCFS-PR", "-LAS"] {
        let queue = format!("M/M/3{order}");
        near(value(&queue, &of, "mean_response"), value("M/M/3", &of, "mean_response"));
    }
    assert!(all("M/M/3-SIRO", &of).iter().all(|figure| !figure.metric.starts_with("wait_p")));
}

#[test]
fn neighbours_agree_where_they_meet() {
    let of = given(2.4, 1.0);
    near(value("M/M/3/2000", &of, "mean_wait"), value("M/M/3", &of, "mean_wait"));
    let one = given(0.6, 1.0);
    near(value("E_1/M/1", &one, "mean_wait"), value("M/M/1", &one, "mean_wait"));
    near(value("M/D/1/200", &one, "utilisation"), 0.6);
    near(value("M^1/M/1", &one, "mean_wait"), value("M/M/1", &one, "mean_wait"));
    let pair = Given { batch: Some(2.0), scv_batch: Some(0.0), ..given(0.3, 1.0) };
    near(value("M^X/M/1", &pair, "mean_wait"), value("M^2/M/1", &given(0.3, 1.0), "mean_wait"));
    let calls = Given { patience: Some(1e9), ..of };
    assert!((value("M/M/3+M", &calls, "mean_wait") / value("M/M/3", &of, "mean_wait") - 1.0).abs() < 1e-6);
    near(value("M/G/3/3", &of, "loss"), crate::erlang_b(3, 2.4));
    near(value("M/M/inf", &of, "mean_number_in_system"), 2.4);
    near(value("G/G/inf", &Given { scv_arrival: Some(3.0), ..of }, "mean_number_in_system"), 2.4);
    near(value("M/G/inf", &given(1e9, 10.0), "mean_number_in_system"), 1e10);
    near(value("M/M/2//2", &given(1.0, 1.0), "mean_number_in_system"), 1.0);
}

#[test]
fn a_general_queue_has_a_bound_and_an_approximation() {
    let of = Given { scv_arrival: Some(0.5), scv_service: Some(2.0), ..given(1.6, 1.0) };
    let waits: Vec<(Status, f64)> = all("G/G/2", &of)
        .iter()
        .filter(|figure| figure.metric == "mean_wait")
        .map(|figure| (figure.status, figure.value))
        .collect();
    let about = 1.25 * crate::mmk_wait(2, 0.8).expect("a load");
    let most = 1.6 * (0.5 / 2.56 + 1.25) / 0.4;
    assert_eq!(waits[0].0, Status::UpperBound);
    assert_eq!(waits[1].0, Status::Approximation);
    near(waits[0].1, most);
    near(waits[1].1, about);
}

#[test]
fn what_is_missing_or_of_no_use_is_named() {
    let error = |queue: &str, given: &Given| figures(&queue.parse().expect(queue), given).expect_err(queue);
    let of = given(2.4, 1.0);
    assert_eq!(error("M/M/3+M", &of), FigureError::Missing(Parameter::Patience));
    assert_eq!(error("M/G/1", &given(0.5, 1.0)), FigureError::Missing(Parameter::ScvService));
    assert_eq!(error("M^X/M/1", &of), FigureError::Missing(Parameter::Batch));
    assert_eq!(error("M/M/3", &Given::default()), FigureError::Missing(Parameter::Arrival));
    let patient = Given { patience: Some(1.0), ..of };
    assert_eq!(error("M/M/3", &patient), FigureError::Unused(Parameter::Patience));
    assert_eq!(error("M/M/3", &given(4.5, 1.0)), FigureError::Theory(TheoryError::Unstable(1.5)));
    assert_eq!(error("M/M/3", &given(0.5, 0.0)), FigureError::Theory(TheoryError::MeanService(0.0)));
    for far in [given(1e-310, 1.0), given(1e300, 1e300), given(1e-200, 1e-200)] {
        assert_eq!(error("M/G/7/7", &far), FigureError::Theory(NoForm::OutOfRange.into()));
    }
    assert!(error("M/D/1/20001", &of).to_string().starts_with("number of places is 20001, must be at most"));
    assert!(matches!(error("MAP/M/1", &of), FigureError::InLibrary(_)));
    for (queue, next) in [
        ("M/G/3/10", Some("M/M/3/10")),
        ("M/M/3+G", Some("M/M/3+M")),
        ("M/G/1-SRPT", Some("M/M/1-SRPT")),
        ("G/M/1-PS", Some("G/M/1")),
        ("M^X/M/2", Some("M/M/2")),
        ("D/D/2/5+D-SRPT", Some("D/D/2")),
    ] {
        let next = next.map(|text| text.parse().expect(text));
        assert_eq!(error(queue, &of), FigureError::Unknown(next), "{queue}");
    }
}

proptest! {
    #[test]
    fn no_queue_panics_and_no_figure_is_none(
        queue in "(M|D|E_2|G|M\\^X|M\\^3)/(M|D|E_3|G)/(1|2|7|inf)(/|/9|/9/12|//12)?([+](M|G))?(-(PS|LCFS|SRPT|LAS|SJF|LCFS-PR))?",
        arrival in prop_oneof![Just(0.0), 1e-9..1e9, Just(f64::NAN), 0.01..3.0],
        service in prop_oneof![Just(0.0), 1e-9..1e9, Just(f64::INFINITY), 0.1..1.0],
        more in 0.0..4.0,
    ) {
        let Ok(queue) = queue.parse::<Kendall>() else { return Ok(()) };
        let mut given = given(arrival, service);
        // What is missing is given, and what is unused taken away, until there are figures or another reason.
        let found = loop {
            match figures(&queue, &given) {
                Err(FigureError::Missing(Parameter::Patience)) => given.patience = Some(more),
                Err(FigureError::Missing(Parameter::ScvArrival)) => given.scv_arrival = Some(more),
                Err(FigureError::Missing(Parameter::ScvService)) => given.scv_service = Some(more),
                Err(FigureError::Missing(Parameter::Batch)) => given.batch = Some(1.0 + more),
                Err(FigureError::Missing(Parameter::ScvBatch)) => given.scv_batch = Some(more),
                other => break other,
            }
        };
        for figure in found.into_iter().flatten() {
            prop_assert!(figure.value.is_finite() && figure.value >= 0.0, "{queue} {given:?} {figure:?}");
            prop_assert!(figure.unit != Unit::Share || figure.value <= 1.0 + 1e-12, "{queue} {given:?} {figure:?}");
        }
    }
}
