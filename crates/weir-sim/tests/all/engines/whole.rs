//! Whole messages on schedules decided by hand; a unit of length takes 1.

use super::script::{Given, Log, open, whole, whole_with};

/// In order of departure: the number of the message, its first service and its end.
fn ends(log: &Log) -> Vec<(u64, u64, u64)> {
    log.departures
        .iter()
        .map(|departure| (departure.index, departure.first.get(), departure.last.get()))
        .collect()
}

#[test]
fn an_arrival_preempts_at_its_instant() {
    let log = whole("sf", &[(0, 100, 0), (30, 10, 0)]);
    assert_eq!(ends(&log), [(1, 30, 40), (0, 0, 110)]);
    assert_eq!((log.of(0).alone.get(), log.of(0).completion.get(), log.of(1).tick), (100, 110, 0));
}

#[test]
fn what_remains_decides_not_the_length() {
    // At 95 only 5 of the first remain; at 40 there are 60.
    assert_eq!(ends(&whole("sf", &[(0, 100, 0), (95, 10, 0)])), [(0, 0, 100), (1, 100, 110)]);
    assert_eq!(ends(&whole("psjf", &[(0, 100, 0), (95, 10, 0)])), [(1, 95, 105), (0, 0, 110)]);
    assert_eq!(ends(&whole("sf", &[(0, 100, 0), (40, 60, 0)])), [(0, 0, 100), (1, 100, 160)]);
    assert_eq!(ends(&whole("sf", &[(0, 100, 0), (40, 59, 0)])), [(1, 40, 99), (0, 0, 159)]);
}

#[test]
fn preemptions_nest() {
    // 3 within 2 within 1: each resumes where it stopped.
    let log = whole("psjf", &[(0, 100, 0), (10, 50, 0), (20, 5, 0)]);
    assert_eq!(ends(&log), [(2, 20, 25), (1, 10, 65), (0, 0, 155)]);
}

#[test]
fn a_server_that_cannot_be_interrupted_ignores_preemptions() {
    let messages: [Given; 3] = [(0, 100, 0), (30, 50, 0), (40, 10, 0)];
    for spec in ["sf", "psjf", "sjf", "alpha:inf"] {
        let log = whole_with(spec, open(&messages), false);
        assert_eq!(ends(&log), [(0, 0, 100), (2, 100, 110), (1, 110, 160)], "{spec}");
    }
}

#[test]
fn a_completion_comes_before_an_arrival_at_the_same_instant() {
    // At 10 the server is free and takes the 50, which waits; then the 1 arrives.
    let messages: [Given; 3] = [(0, 10, 0), (5, 50, 0), (10, 1, 0)];
    assert_eq!(ends(&whole("sjf", &messages)), [(0, 0, 10), (1, 10, 60), (2, 60, 61)]);
    // Where it can be interrupted, it is at once: of the 50 nothing has been served.
    assert_eq!(ends(&whole("psjf", &messages)), [(0, 0, 10), (2, 10, 11), (1, 11, 61)]);
}

#[test]
fn first_service_is_the_first_time_that_something_is_served() {
    let log = whole("psjf", &[(7, 50, 0), (7, 20, 0), (7, 1, 0)]);
    assert_eq!(ends(&log), [(2, 7, 8), (1, 8, 28), (0, 28, 78)]);
}

#[test]
fn alpha_in_nanoseconds_of_service() {
    // Keys are 1 x length + clock. At 30 of the first 70 remain, key 70; 39 + 30 is less, 40 + 30 is not.
    assert_eq!(ends(&whole("alpha:1", &[(0, 100, 0), (30, 39, 0)])), [(1, 30, 69), (0, 0, 139)]);
    assert_eq!(ends(&whole("alpha:1", &[(0, 100, 0), (30, 40, 0)])), [(0, 0, 100), (1, 100, 140)]);
}

#[test]
fn highest_ratio_of_wait_to_length() {
    // At 100 the 50 has waited 90, a ratio of 1.8, the 20 has waited 30, of 1.5.
    let log = whole("hrrn", &[(0, 100, 0), (10, 50, 0), (70, 20, 0)]);
    assert_eq!(ends(&log), [(0, 0, 100), (1, 100, 150), (2, 150, 170)]);
    // Had it waited 40, a ratio of 2, it would be first.
    let log = whole("hrrn", &[(0, 100, 0), (10, 50, 0), (60, 20, 0)]);
    assert_eq!(ends(&log), [(0, 0, 100), (2, 100, 120), (1, 120, 170)]);
}

#[test]
fn round_robin_by_a_quantum() {
    // 10 of each in turn: A 0, A 10 (alone), B 20, A 30 (5 left), B 35 (the rest).
    let log = whole("rr:quantum=10", &[(0, 25, 0), (15, 20, 0)]);
    assert_eq!(ends(&log), [(0, 0, 35), (1, 20, 45)]);
}

#[test]
fn what_attained_least_catches_up_at_once() {
    // From 40 to 80 the second catches up with the 40 of the first; then they take turns of 10: the second has
    // its last 10 first or second, the first has 60 to go.
    let log = whole("las:quantum=10", &[(0, 100, 0), (40, 50, 0)]);
    assert_eq!(ends(&log), [(1, 40, 100), (0, 0, 150)]);
}

#[test]
fn an_idle_server_waits_for_the_next_arrival() {
    let log = whole("fifo", &[(5, 10, 0), (100, 1, 0)]);
    assert_eq!(ends(&log), [(0, 5, 15), (1, 100, 101)]);
    assert_eq!(log.latencies(), [10, 1]);
}
