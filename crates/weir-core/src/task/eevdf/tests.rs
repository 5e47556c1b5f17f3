use super::*;
use crate::conformance::Random;
use crate::task::TaskDiscipline;
use crate::task::testing::{ALWAYS, Machine, at, machine, ms, schedule, weight};

fn slice(length: u64) -> Declared {
    Declared { slice: Some(ms(length)), ..weight(1) }
}

#[test]
fn short_requests_are_served_soon_and_shares_are_equal() {
    let declared = [slice(4), slice(1)];
    let bursts = [('a', 0, 99), ('b', 0, 99)];
    assert_eq!(schedule("eevdf", &declared, &bursts, 16), "baaaabbbbaaaabbb");
}

#[test]
fn shares_are_in_proportion_to_weights() {
    // Deadlines of a: 1/2, 1, ...; of b: 1, 2, ...
    let declared = [weight(2), weight(1)];
    let bursts = [('a', 0, 99), ('b', 0, 99)];
    assert_eq!(schedule("eevdf:1ms", &declared, &bursts, 9), "abaabaaba");
}

#[test]
fn who_wakes_eligible_and_due_earlier_preempts() {
    // The preempted keeps the 3 ms that are left of its request.
    let declared = [slice(4), slice(1)];
    assert_eq!(schedule("eevdf", &declared, &[('a', 0, 99), ('b', 1, 99)], 12), "abaaabbbaaaa");
}

#[test]
fn who_wakes_and_is_due_later_waits_for_the_end_of_the_request() {
    let declared = [slice(4), slice(8)];
    assert_eq!(schedule("eevdf", &declared, &[('a', 0, 99), ('b', 1, 99)], 14), "aaaabbbbbbbbaa");
}

#[test]
fn a_negative_lag_is_kept_over_a_wait_or_not() {
    // a waits at 4, 2 ms ahead of its share, and wakes at 5.
    let bursts = [('a', 0, 4), ('b', 0, 99), ('a', 5, 99)];
    assert_eq!(schedule("eevdf:4ms", &[], &bursts, 16), "aaaabbbbbbbbaaaa");
    assert_eq!(schedule("eevdf:4ms,lag=zero", &[], &bursts, 12), "aaaabbbbaaaa");
}

#[test]
fn a_positive_lag_is_kept_over_a_wait_or_not() {
    // b waits at 5, 1.5 ms short of its share; at 9 it wakes with them, due before a, or without, due after.
    let bursts = [('a', 0, 99), ('b', 0, 1), ('b', 9, 99)];
    assert_eq!(schedule("eevdf:4ms", &[], &bursts, 16), "aaaabaaaabbbbaaa");
    assert_eq!(schedule("eevdf:4ms,lag=zero", &[], &bursts, 16), "aaaabaaaaaaaabbb");
}

#[test]
fn another_share_has_effect_with_the_next_request() {
    let mut machine = machine("eevdf:2ms", &[weight(1), weight(1)]);
    machine.wake(at(0), 0, ALWAYS);
    machine.wake(at(0), 1, ALWAYS);
    machine.run_until(at(8));
    machine.discipline.declare(at(8), FlowId(0), weight(3)).unwrap();
    machine.run_until(at(4_008));
    let served = machine.served(0, at(8), at(4_008));
    assert!(served >= ms(2_996) && served <= ms(3_004), "{served}");
}

/// The lag of each process times all shares, exactly, when all have been ready since the beginning.
fn lags<D: TaskDiscipline<crate::task::Task>>(machine: &Machine<D>, declared: &[Declared]) -> Vec<i128> {
    let served: Vec<i128> = (0..declared.len())
        .map(|process| machine.served(process as u32, Instant::ZERO, machine.now).get().into())
        .collect();
    let shares: i128 = declared.iter().map(|declared| i128::from(declared.share())).sum();
    let all: i128 = served.iter().sum();
    let lag = |(declared, served): (&Declared, i128)| i128::from(declared.share()) * all - shares * served;
    declared.iter().zip(served).map(lag).collect()
}

/// Checks the bound of the module at odd moments while all are ready.
fn bound(seed: u64) {
    let mut random = Random::new(seed);
    let declared: Vec<_> = (0..2 + random.below(9))
        .map(|_| Declared {
            slice: Some(Nanos::new(100_000 + random.below(20_000_000))),
            ..weight(1 + random.below([10, 100, 100_000][seed as usize % 3]))
        })
        .collect();
    let mut machine = machine("eevdf", &declared);
    (0..declared.len()).for_each(|process| machine.wake(Instant::ZERO, process as u32, ALWAYS));
    let shares: i128 = declared.iter().map(|declared| i128::from(declared.share())).sum();
    let largest: i128 = declared.iter().map(|d| d.slice.unwrap().get().into()).max().unwrap();
    for _ in 0..300 {
        machine.run_until(machine.now + Nanos::new(1 + random.below(10_000_000)));
        for (process, lag) in lags(&machine, &declared).into_iter().enumerate() {
            assert!(lag.abs() < shares * largest, "{seed}: {process} at {}: {lag}/{shares}", machine.now);
        }
    }
}

#[test]
fn the_lag_stays_between_plus_and_minus_the_largest_slice() {
    (0..60).for_each(bound);
}

#[test]
fn the_mean_is_exact_while_processes_come_and_go() {
    // The machine verifies the mean after every call.
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let declared: Vec<_> = (0..6).map(|_| weight(1 + random.below(1_000))).collect();
        let mut machine = machine(["eevdf:3ms", "eevdf:3ms,lag=zero"][seed as usize % 2], &declared);
        let mut wakes = [Instant::ZERO; 6];
        for _ in 0..400 {
            let process = random.below(6) as usize;
            // Long enough after the last burst that it is over: all together want less than there is.
            wakes[process] += Nanos::new(200_000_000 + random.below(10_000_000));
            machine.wake(wakes[process], process as u32, Nanos::new(1 + random.below(16_000_000)));
        }
        machine.run_until(Instant::new(30_000_000_000));
    }
}

#[test]
fn no_virtual_time_overflows_in_292_years() {
    let mut eevdf = machine("eevdf", &[weight(1), weight(1 << 40)]).discipline;
    let drops = &mut crate::discipline::CountDrops::default();
    let year = 31_557_600_000_000_000;
    for process in [0, 1] {
        let _ = eevdf.enqueue(at(0), crate::task::Task { process: FlowId(process) }, drops);
    }
    for step in 0..292 {
        let now = Instant::new(step * year);
        let grant = eevdf.dequeue(now, &crate::discipline::Open, drops).unwrap();
        eevdf.requeue(Instant::new((step + 1) * year), grant.item, Nanos::new(year), drops);
        eevdf.verify().unwrap();
    }
}
