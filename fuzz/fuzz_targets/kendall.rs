//! Queues in Kendall's notation: a refusal has a place; what is read prints as what reads the same, and has figures that are numbers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_theory::{Given, Kendall, figures};

fuzz_target!(|input: (&str, f64, f64, f64)| {
    let (text, arrival, service, more) = input;
    let queue = match text.parse::<Kendall>() {
        Err(error) => return assert!(error.at > 0 && error.at <= text.chars().count() + 1),
        Ok(queue) => queue,
    };
    assert_eq!(queue.to_string().parse(), Ok(queue));
    // More states than these take long, and are tried by the tests.
    if [queue.servers, queue.places, queue.sources].into_iter().flatten().any(|number| number > 1000) {
        return;
    }
    let plain = Given { arrival: Some(arrival), service: Some(service), ..Given::default() };
    let general = Given { scv_arrival: Some(more), scv_service: Some(more), ..plain };
    let patient = Given { patience: Some(more), ..plain };
    for given in [plain, general, patient] {
        for figure in figures(&queue, &given).into_iter().flatten() {
            assert!(!figure.value.is_nan() && figure.value >= 0.0);
        }
    }
});
