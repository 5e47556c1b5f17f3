//! Applications that wait for delivery, on schedules decided by hand; every packet takes 10.
//!
//! A message is delivered when the transmission of its last packet ends; without thinking its application
//! submits the next at that instant, before the server picks. All submit at time 0, in order.

use std::collections::VecDeque;

use super::script::{Log, fluid_with, plain_with, whole_with};
use weir_core::units::{Instant, Nanos};
use weir_sim::port::arrivals::{Application, Closed, Step};

/// What each application submits, one after the other.
struct Planned {
    lengths: Vec<VecDeque<u32>>,
    think: u64,
}

impl Application for Planned {
    fn next(&mut self, flow: u32) -> Step {
        let step = |think, length| Step { think: Nanos::new(think), length, class: 0 };
        let length = self.lengths[flow as usize].pop_front();
        length.map_or(step(u64::MAX, 1), |length| step(self.think, length))
    }
}

fn applications(lengths: &[&[u32]], think: u64) -> Closed<Planned> {
    let lengths: Vec<VecDeque<u32>> = lengths.iter().map(|own| own.iter().copied().collect()).collect();
    let count = lengths.len() as u32;
    Closed::new(Planned { lengths, think }, count)
}

/// Tick by tick the application served.
fn served(log: &Log) -> String {
    log.schedule.iter().map(|&index| log.of(index).flow.to_string()).collect()
}

fn run(spec: &str, lengths: &[&[u32]], think: u64) -> Log {
    plain_with(spec, applications(lengths, think), &[10], 0).0
}

/// Application 0 sends messages of 2, 1 and 3 packets, application 1 of 3 and 2.
const TWO: [&[u32]; 2] = [&[2, 1, 3], &[3, 2]];

#[test]
fn fifo() {
    // 0 is delivered at 20 and submits before the pick, but behind the 3 of application 1, which ends at 50;
    // its 1 is sent at 50, delivered at 60, and its 3 stands behind the 2 that application 1 submitted at 50.
    let log = run("fifo", &TWO, 0);
    assert_eq!(served(&log), "00111011000");
    // In order of submission: the 2 and 3 at 0, the 1 at 20, the 2 at 50, the 3 at 60.
    assert_eq!(log.latencies(), [10, 40, 30, 20, 40]);
}

#[test]
fn shortest_first_picks_what_is_submitted_at_the_delivery() {
    // At 20 the 1 of application 0 is there when the server picks, and goes before the 3 of application 1. Its
    // own 3, submitted at 30, is no shorter than that 3 and later. At 60 the 2 goes before the 3.
    let log = run("sf", &TWO, 0);
    assert_eq!(served(&log), "00011111000");
    // In order of submission: the 2 and 3 at 0, the 1 at 20, the 3 at 30, the 2 at 60.
    assert_eq!(log.latencies(), [10, 50, 0, 70, 10]);
}

#[test]
fn round_robin() {
    assert_eq!(served(&run("rr", &TWO, 0)), "01010101010");
}

#[test]
fn round_robin_with_newcomers_at_the_head() {
    // Delivered at 30, application 0 sends its 1 at once and, delivered again at 40, the first of its 3. The two
    // that application 1 has left of its 3 go at 50 and, after another of application 0, at 70. Its 2 is new at
    // 80, and goes before the last packet of application 0.
    assert_eq!(served(&run("rr_head", &TWO, 0)), "01000101101");
}

#[test]
fn alpha_of_two() {
    // Keys are 2 x length + tick. At 20, tick 2: 2 + 2 for the 1, less than 6. At 30, tick 3: 6 + 3 for the 3,
    // more than 6. At 60, tick 6: 4 + 6 for the 2 of application 1, more than the 9.
    assert_eq!(served(&run("alpha:2", &TWO, 0)), "00011100011");
}

#[test]
fn alpha_of_one_is_fifo_here() {
    // At 20, tick 2: 1 + 2 for the 1, no less than the 3 of application 1, which is earlier.
    assert_eq!(served(&run("alpha:1", &TWO, 0)), "00111011000");
}

#[test]
fn three_applications_submit_in_their_order() {
    let three: [&[u32]; 3] = [&[1, 1], &[1, 1], &[1, 1]];
    for spec in ["fifo", "rr", "sf", "alpha:10", "sjf"] {
        assert_eq!(served(&run(spec, &three, 0)), "012012", "{spec}");
    }
    // Every message is new when it is served.
    assert_eq!(served(&run("rr_head", &three, 0)), "012012");
}

#[test]
fn thinking_begins_at_the_delivery() {
    let log = run("fifo", &[&[1, 2]], 25);
    let (first, second) = (log.of(0), log.of(1));
    assert_eq!([first.last, second.arrival, second.first, second.last], [0, 35, 35, 45].map(Instant::new));
}

#[test]
fn whole_messages() {
    // Delivered at 10, application 0 submits 5 before the server picks the 20.
    let log = whole_with("sf", applications(&[&[10, 5], &[20]], 0), true);
    let ends: Vec<_> =
        log.departures.iter().map(|departure| (departure.flow, departure.last.get())).collect();
    assert_eq!(ends, [(0, 10), (0, 15), (1, 35)]);
}

#[test]
fn processor_sharing() {
    // Each has 10 at 20, where application 0 submits 5; each has 5 more at 30, and 5 of the 20 are left.
    let log = fluid_with(applications(&[&[10, 5], &[20]], 0));
    let ends: Vec<_> =
        log.departures.iter().map(|departure| (departure.flow, departure.last.get())).collect();
    assert_eq!(ends, [(0, 20), (0, 30), (1, 35)]);
}
