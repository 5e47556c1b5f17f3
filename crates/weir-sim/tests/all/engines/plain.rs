//! The plain engine on schedules decided by hand; every packet takes 10.

use super::script::{Given, open, plain, plain_with};
use weir_lab::record::Departure;

#[test]
fn acceptance_comes_before_an_arrival_at_the_same_instant() {
    // At 10 the server takes the second packet of A; then B, shorter than the two that remain, arrives.
    let log = plain("sf", &[(0, 4, 0), (10, 1, 0)]);
    assert_eq!(log.letters(), "AABAA");
    assert_eq!(log.latencies(), [40, 10]);
}

#[test]
fn an_idle_server_takes_a_packet_before_the_second_arrival_of_that_instant() {
    let log = plain("sf", &[(100, 5, 0), (100, 1, 0), (100, 1, 0)]);
    assert_eq!(log.letters(), "ABCAAAA");
    assert_eq!(log.latencies(), [60, 10, 20]);
}

#[test]
fn what_arrives_at_the_end_of_the_last_transmission_finds_the_server_idle() {
    let (log, state) = plain_with("fifo", open(&[(0, 2, 0), (20, 1, 0), (50, 1, 0)]), &[10], 0);
    assert_eq!(log.letters(), "AABC");
    assert_eq!(log.latencies(), [10, 0, 0]);
    assert_eq!((state.ticks, state.busy.get(), state.now.get()), (4, 40, 60));
}

#[test]
fn latency_ends_at_the_acceptance_of_the_last_packet() {
    let (log, state) = plain_with("rr", open(&[(3, 2, 7), (4, 1, 8)]), &[10, 1, 100], 0);
    // Accepted at 3 (until 13), 13 (until 14), 14: A, then A again since it went to the end at once, B last.
    assert_eq!(log.letters(), "AAB");
    let (a, b) = (log.of(0), log.of(1));
    let times = |of: &Departure| [of.arrival.get(), of.first.get(), of.last.get(), of.alone.get()];
    assert_eq!((times(&a), a.tick, a.flow), ([3, 3, 13, 20], 1, 7));
    assert_eq!((times(&b), b.tick, b.flow), ([4, 14, 14, 10], 2, 8));
    assert_eq!((state.busy.get(), state.now.get()), (111, 114));
    // A is present from 3 to 13, B from 4 to 14.
    assert_eq!((state.message_time, state.unfinished, state.idle_over_backlog), (20, 0, 0));
}

#[test]
fn the_clock_of_alpha_stands_while_the_server_idles() {
    // The idle time before B would, were it counted, carry the key of C beyond what remains of B.
    let late = 1_000_000;
    let log = plain("alpha:1", &[(0, 1, 0), (late, 5, 0), (late + 5, 1, 0)]);
    assert_eq!(log.letters(), "ABCBBBB");
}

/// Per reading of the monitor, packets and messages that wait.
fn readings(messages: &[Given], period: u64) -> Vec<(u64, u64, u64)> {
    let (log, _) = plain_with("fifo", open(messages), &[10], period);
    log.samples.iter().map(|sample| (sample.at.get(), sample.packets, sample.messages)).collect()
}

#[test]
fn the_monitor_counts_packets_that_are_not_accepted() {
    // Accepted at 5, 15, 25; the last transmission ends at 35.
    assert_eq!(readings(&[(5, 3, 0)], 10), [(10, 2, 1), (20, 1, 1), (30, 0, 0)]);
    assert_eq!(readings(&[(5, 3, 0), (8, 1, 0)], 20), [(20, 2, 2), (40, 0, 0)]);
}

#[test]
fn the_monitor_sees_what_arrives_and_what_is_accepted_at_its_instant() {
    // Accepted at 10 and 20 of A, at 30 of B, which arrives as the monitor looks.
    assert_eq!(readings(&[(10, 2, 0), (20, 1, 0)], 10), [(10, 1, 1), (20, 1, 1), (30, 0, 0)]);
    assert_eq!(readings(&[(10, 2, 0), (20, 1, 0), (25, 1, 0)], 20), [(20, 1, 1), (40, 0, 0)]);
}
