use super::*;
use crate::{NoForm, erlang_b, mmk_wait};

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs().max(1e-12)
}

fn queue(arrival: f64, servers: u32) -> Markov {
    let servers = Some(servers);
    Markov { arrival, service: 1.0, servers, places: None, sources: None, patience: 0.0 }
}

fn means(queue: Markov) -> MarkovMeans {
    MarkovQueue::new(queue).expect("a queue").means()
}

#[test]
fn without_bounds_it_is_erlangs_c() {
    for (servers, load) in [(1, 0.5), (3, 0.8), (50, 0.96)] {
        let of = queue(load * f64::from(servers), servers);
        let found = means(of);
        assert!(near(found.wait, mmk_wait(servers, load).expect("a load"), 1e-12));
        // A bound so far away that nobody meets it.
        let far = means(Markov { places: Some(servers + 3000), ..of });
        for (one, other) in [(found.wait, far.wait), (found.waits, far.waits), (found.response, far.response)]
        {
            assert!(near(one, other, 1e-11), "{one} {other}");
        }
        for t in [0.0, 0.3, 2.0, 7.0] {
            let far = MarkovQueue::new(Markov { places: Some(servers + 3000), ..of }).expect("a queue");
            let tail = MarkovQueue::new(of).expect("a queue").wait_tail(t);
            assert!(near(tail, far.wait_tail(t), 1e-9), "{t}: {tail} {}", far.wait_tail(t));
        }
    }
}

#[test]
fn without_places_to_wait_it_is_erlangs_b() {
    for (servers, offered) in [(1, 1.0), (5, 3.0), (10, 20.0), (600, 590.0)] {
        let found = means(Markov { places: Some(servers), ..queue(offered, servers) });
        assert!(near(found.lost, erlang_b(servers, offered), 1e-11));
        assert_eq!((found.waits, found.wait, found.wait_of_abandoned), (0.0, 0.0, None));
    }
}

#[test]
fn one_server_with_few_places_by_hand() {
    // Kleinrock I, section 3.6: π(n) = (1 - ρ) ρ^n / (1 - ρ^(K+1)).
    let (load, places) = (0.8_f64, 4);
    let found = means(Markov { places: Some(places), ..queue(load, 1) });
    let share = |n: i32| (1.0 - load) * load.powi(n) / (1.0 - load.powi(5));
    assert!(near(found.lost, share(4), 1e-13));
    let present: f64 = (0..=4).map(|n| f64::from(n) * share(n)).sum();
    assert!(near(found.response, present / (load * (1.0 - share(4))), 1e-13));
    // At a load of 1 all states are alike.
    assert!(near(means(Markov { places: Some(places), ..queue(1.0, 1) }).lost, 0.2, 1e-13));
}

#[test]
fn callers_that_lose_patience_as_published() {
    // Garnett, Mandelbaum and Reiman, Manufacturing & Service Operations Management 4, 2002, table 1: 50 agents, 48 calls
    // a minute of a minute each, patience of two minutes on average.
    let calls = queue(48.0, 50);
    let patient = MarkovQueue::new(calls).expect("a queue");
    let leaving = MarkovQueue::new(Markov { patience: 0.5, ..calls }).expect("a queue");
    let (endless, erlang_a) = (patient.means(), leaving.means());
    let seconds = |minutes: f64| 60.0 * minutes;
    assert!((seconds(endless.wait) - 20.8).abs() < 0.05 && (seconds(erlang_a.wait) - 3.7).abs() < 0.05);
    let quantile = seconds(patient.wait_quantile(0.9).expect("a share"));
    assert!((quantile - 58.1).abs() < 0.05, "{quantile}");
    assert!((erlang_a.abandoned - 0.031).abs() < 5e-4 && (erlang_a.waiting - 3.0).abs() < 0.5);
    assert!((erlang_a.utilisation.expect("servers") - 0.93).abs() < 5e-3);
}

#[test]
fn patience_as_long_as_service_is_a_queue_without_bound_of_servers() {
    // M/M/c+M with θ = μ: the number present is Poisson, whatever c.
    let (offered, servers) = (7.0_f64, 5);
    let found = means(Markov { patience: 1.0, ..queue(offered, servers) });
    assert!(near(found.busy + found.waiting, offered, 1e-12));
    let poisson = |n: u32| (1..=n).fold((-offered).exp(), |term, i| term * offered / f64::from(i));
    let idle: f64 = (0..servers).map(poisson).sum();
    assert!(near(found.waits, 1.0 - idle, 1e-12));
}

/// One customer after another, first come first served: what the served and the others wait, by each one's own clock.
fn by_clocks(of: Markov, customers: u32) -> (f64, f64, f64) {
    let mut noise = weir_lab::stats::testing::Noise::new(7);
    let mut free = vec![0.0_f64; of.servers.expect("servers") as usize];
    let (mut now, mut served, mut left) = (0.0, (0.0, 0.0), (0.0, 0.0));
    for _ in 0..customers {
        now += noise.exponential() / of.arrival;
        let (patience, service) = (noise.exponential() / of.patience, noise.exponential() / of.service);
        let next = free.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("a server");
        let wait = (*next - now).max(0.0);
        if wait > patience {
            left = (left.0 + 1.0, left.1 + patience);
        } else {
            *next = now + wait + service;
            served = (served.0 + 1.0, served.1 + wait);
        }
    }
    (left.0 / f64::from(customers), served.1 / served.0, left.1 / left.0)
}

#[test]
fn the_served_and_the_others_wait_as_in_a_simulation() {
    let of = Markov { patience: 0.7, ..queue(3.3, 3) };
    let (found, (left, served, gone)) = (means(of), by_clocks(of, 1_000_000));
    for (exact, simulated) in [
        (found.abandoned, left),
        (found.wait_of_served, served),
        (found.wait_of_abandoned.expect("some leave"), gone),
    ] {
        assert!(near(simulated, exact, 0.01), "{simulated} {exact}");
    }
}

#[test]
fn parts_make_up_the_whole() {
    let base = queue(4.0, 3);
    let all = [
        Markov { patience: 0.3, ..base },
        Markov { patience: 0.3, places: Some(9), ..base },
        Markov { places: Some(9), ..base },
        Markov { sources: Some(12), arrival: 0.4, ..base },
        Markov { sources: Some(12), places: Some(5), arrival: 0.4, patience: 0.1, ..base },
    ];
    for of in all {
        let (solved, found) = (MarkovQueue::new(of).expect("a queue"), means(of));
        let served = 1.0 - found.lost - found.abandoned;
        assert!(near(found.arrivals * served, found.busy * of.service, 1e-11), "{found:?}");
        let gone = found.wait_of_abandoned.unwrap_or(0.0) * found.abandoned;
        let waits = found.wait_of_served * served + gone;
        assert!(near(waits, found.wait * (1.0 - found.lost), 1e-11), "{found:?}");
        assert!(near(solved.wait_tail(0.0), found.waits / (1.0 - found.lost), 1e-11), "{found:?}");
        // The mean is the integral of the tail.
        let step = 1e-3;
        let area: f64 = (0..40_000).map(|i| solved.wait_tail((f64::from(i) + 0.5) * step) * step).sum();
        assert!(near(area, found.wait, 1e-5), "{area} {found:?}");
        let t = solved.wait_quantile(0.95).expect("a share");
        assert!(near(solved.wait_tail(t), 0.05, 1e-9));
    }
}

#[test]
fn engset_and_machines_as_tabulated() {
    // Engset's loss by its sum over binomial terms of the other sources.
    let (sources, servers, each) = (8_u32, 3_u32, 0.25_f64);
    let found = means(Markov { sources: Some(sources), places: Some(servers), ..queue(each, servers) });
    let term = |n: u32| {
        let choose: f64 = (0..n).map(|i| f64::from(sources - 1 - i) / f64::from(i + 1)).product();
        choose * each.powi(n as i32)
    };
    let lost = term(servers) / (0..=servers).map(term).sum::<f64>();
    assert!(near(found.lost, lost, 1e-12));
    // One repairman: with two machines π = 1, 2ρ, 2ρ² (Kleinrock I, section 3.8).
    let found = means(Markov { sources: Some(2), ..queue(0.5, 1) });
    assert!(near(found.utilisation.expect("a server"), 1.5 / 2.5, 1e-12));
    assert!(near(found.waiting, 0.5 / 2.5, 1e-12) && found.lost == 0.0);
}

#[test]
fn without_bound_of_servers_nobody_waits() {
    let found = means(Markov { servers: None, ..queue(30.0, 1) });
    assert!(near(found.busy, 30.0, 1e-12) && near(found.response, 1.0, 1e-12));
    assert_eq!((found.waiting, found.waits, found.utilisation), (0.0, 0.0, None));
}

#[test]
fn what_is_out_of_bounds_is_refused() {
    let refused = |of: Markov| MarkovQueue::new(of).map(|_| ()).expect_err("refused");
    assert_eq!(refused(queue(3.0, 3)), TheoryError::Unstable(1.0));
    assert_eq!(refused(Markov { patience: 1e-9, ..queue(30.0, 3) }), NoForm::TooManyStates.into());
    for wrong in [queue(0.0, 3), queue(f64::NAN, 3), queue(1.0, 0)] {
        assert!(matches!(refused(wrong), TheoryError::Parameter { .. }));
    }
    let few = refused(Markov { places: Some(2), ..queue(1.0, 3) });
    assert_eq!(few.to_string(), "number of places is 2, must be at least the number of servers");
    let solved = MarkovQueue::new(queue(1.0, 3)).expect("a queue");
    assert!(solved.wait_quantile(1.0).is_err() && solved.wait_quantile(f64::NAN).is_err());
    assert_eq!(solved.wait_quantile(0.01), Ok(0.0));
}
