//! Cores that are slow or stand still, in small runs whose course was found by hand: deadlines, and quanta.

use super::by_hand::{course, trace};
use super::run;
use crate::model::{Deadline, Fault, Hopeless};
use weir_core::units::{Nanos, Speed};

fn deadline(within: u64, drop: Hopeless) -> Option<Deadline> {
    Some(Deadline { within: Nanos::new(within), drop })
}

fn stands_still(at: u64, lasts: u64) -> Vec<Fault> {
    vec![Fault { core: 0, at: Nanos::new(at), lasts: Nanos::new(lasts), speed: Speed::ZERO }]
}

/// At half the speed the third would end at 30, one too late for a deadline of 25 from 4; at full speed it would not.
#[test]
fn what_would_end_late_is_reckoned_with_the_speed_of_the_core_and_without_faults() {
    for spec in ["cfcfs", "rr"] {
        let mut made = trace(spec, 1, &[(0, 0, 10), (1, 0, 3), (4, 0, 2), (40, 0, 12), (100, 0, 13)]);
        made.site.speeds = vec![Speed::new(500_000)];
        made.classes[0].deadline = deadline(25, Hopeless::Before);
        let missed = |told: &super::Told| -> Vec<_> {
            told.lost.iter().map(|one| (one.arrived.get(), one.now.get(), one.left.get())).collect()
        };
        let (told, _) = run(&made);
        assert_eq!(course(&made), [(0, 0, 20, 0), (1, 20, 26, 0), (40, 40, 64, 0)], "{spec}");
        assert_eq!(missed(&told), [(4, 26, 2), (100, 100, 13)], "{spec}");
        // A fault makes the fourth late, of which nobody knows when it begins.
        made.faults = stands_still(45, 10);
        let (told, _) = run(&made);
        assert_eq!(course(&made), [(0, 0, 20, 0), (1, 20, 26, 0), (40, 40, 74, 0)], "{spec}");
        assert_eq!(missed(&told), [(4, 26, 2), (100, 100, 13)], "{spec}");
    }
}

#[test]
fn a_deadline_ends_a_grant_of_a_core_that_is_slow_or_stands_still() {
    for spec in ["cfcfs", "rr"] {
        let mut made = trace(spec, 1, &[(0, 0, 20), (1, 0, 30), (14, 0, 1), (18, 0, 4), (140, 0, 2)]);
        made.site.speeds = vec![Speed::new(500_000)];
        made.faults = stands_still(20, 100);
        made.classes[0].deadline = deadline(12, Hopeless::During);
        let (told, left) = run(&made);
        let lost: Vec<_> =
            told.lost.iter().map(|one| (one.arrived.get(), one.now.get(), one.left.get())).collect();
        // Of the first 6 are done in 12, of the second nothing whole in 1, of the fourth 1 before the core stands still.
        assert_eq!(lost, [(0, 12, 14), (1, 13, 30), (18, 30, 3)], "{spec}");
        assert_eq!(course(&made), [(14, 14, 16, 0), (140, 140, 144, 0)], "{spec}");
        let busy = [(0, 0, 12, 6), (0, 12, 13, 1), (0, 14, 16, 1), (0, 18, 30, 11), (0, 140, 144, 2)];
        assert_eq!(told.busy, busy, "{spec}");
        assert_eq!((left.done, left.dropped), (2, 3), "{spec}");
    }
}

/// At a thousandth of the speed a nanosecond of service takes a microsecond, whatever the quantum.
#[test]
fn a_quantum_too_short_for_a_nanosecond_of_service_is_lengthened() {
    let mut made = trace("preemptive:quantum=1ns,cost=0ns", 1, &[(0, 0, 3), (0, 1, 3)]);
    made.site.speeds = vec![Speed::new(1_000)];
    assert_eq!(course(&made), [(0, 0, 5_000, 0), (0, 1_000, 6_000, 0)]);
}
