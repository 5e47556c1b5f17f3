use std::path::{Path, PathBuf};

use super::*;
use crate::identities::conserved_wait;
use weir_workload::{Run, Sizes};

const REFERENCE: &str = include_str!("../../../../data/reference/mg1-homa.csv");
const ALL: [Policy; 6] = [Policy::Fcfs, Policy::Ps, Policy::Sjf, Policy::Psjf, Policy::Srpt, Policy::Las];

fn sizes_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sizes")
}

fn homa(workload: &str) -> Sizes {
    Sizes::from_cdf_file(&sizes_folder().join(format!("homa-{workload}.csv"))).expect("a CDF file")
}

fn policy(name: &str) -> Policy {
    match name {
        "fcfs" => Policy::Fcfs,
        "ps" => Policy::Ps,
        "sjf" => Policy::Sjf,
        "psjf" => Policy::Psjf,
        "srpt" => Policy::Srpt,
        _ => panic!("unknown policy {name}"),
    }
}

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs()
}

/// Whether `found` is `printed` to the nine digits of the table.
fn agrees(found: f64, printed: &str) -> bool {
    let printed: f64 = printed.parse().expect("a number");
    let digit = 10f64.powf(printed.abs().log10().floor() - 8.0);
    (found - printed).abs() <= 0.51 * digit
}

#[test]
fn every_row_of_the_homa_reference_agrees_to_nine_digits() {
    let mut rows = 0;
    for line in REFERENCE.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let field: Vec<&str> = line.split(',').collect();
        let load = field[1].parse().expect("a load");
        let queue = Mg1::new(&SizeLaw::from(&homa(field[0])), load).expect("stable");
        let policy = policy(field[2]);
        let found = [
            queue.mean_response(policy) / queue.mean_service(),
            queue.mean_slowdown(policy).expect("finite"),
            queue.largest_slowdown(policy).expect("bounded"),
        ];
        for (found, printed) in found.iter().zip(&field[3..]) {
            assert!(agrees(*found, printed), "{line}: found {found}, table {printed}");
        }
        rows += 1;
    }
    assert_eq!(rows, 50);
}

#[test]
fn orders_blind_to_size_give_the_mean_of_m_m_1() {
    for load in [0.1, 0.5, 0.9, 0.999] {
        let queue = Mg1::new(&SizeLaw::exponential(3.0), load).expect("stable");
        // Memoryless services: whoever is served, the number present is the same process.
        for policy in [Policy::Fcfs, Policy::Ps, Policy::Las] {
            let found = queue.mean_response(policy);
            assert!(near(found, 3.0 / (1.0 - load), 1e-10), "{policy:?}, load {load}: {found}");
        }
        assert!(near(queue.fcfs_wait_second_moment(), 18.0 * load / (1.0 - load).powi(2), 1e-10));
        assert!(near(queue.mean_slowdown(Policy::Ps).expect("finite"), 1.0 / (1.0 - load), 1e-10));
        assert_eq!(queue.mean_slowdown(Policy::Fcfs), None);
        assert_eq!(queue.largest_slowdown(Policy::Srpt), None);
    }
}

/// Simpson's rule, which knows nothing of cells and stretches.
fn simpson(from: f64, to: f64, steps: u32, f: impl Fn(f64) -> f64) -> f64 {
    let h = (to - from) / f64::from(steps);
    let weight = |k| if k == 0 || k == steps { 1.0 } else { 2.0 + 2.0 * f64::from(k % 2) };
    (0..=steps).map(|k| weight(k) * f(from + f64::from(k) * h)).sum::<f64>() * h / 3.0
}

#[test]
fn shortest_remaining_first_agrees_with_plain_integration_on_m_m_1() {
    let load = 0.8;
    let rho = |t: f64| load * (1.0 - (-t).exp() * (1.0 + t));
    let second = |t: f64| load * (2.0 - (-t).exp() * (2.0 + 2.0 * t + t * t));
    let response = |x: f64| {
        let wait = 0.5 * (second(x) + load * x * x * (-x).exp()) / (1.0 - rho(x)).powi(2);
        wait + simpson(0.0, x, 1000, |t| 1.0 / (1.0 - rho(t)))
    };
    let queue = Mg1::new(&SizeLaw::exponential(1.0), load).expect("stable");
    for x in [0.01, 0.5, 3.0, 11.0] {
        assert!(near(queue.response(Policy::Srpt, x), response(x), 1e-9), "x = {x}");
    }
    let mean = simpson(0.0, 45.0, 3000, |x| (-x).exp() * response(x));
    assert!(near(queue.mean_response(Policy::Srpt), mean, 1e-8), "{}", queue.mean_response(Policy::Srpt));
}

#[test]
fn the_order_without_preemption_conserves_the_load_weighted_wait() {
    let law = SizeLaw::from(&homa("w4"));
    let queue = Mg1::new(&law, 0.9).expect("stable");
    let classes = law.pieces.iter().map(|piece| {
        let load = queue.arrival_rate() * piece.share * piece.from;
        (load, queue.response(Policy::Sjf, piece.from) - piece.from)
    });
    assert!(near(conserved_wait(classes), 0.9 * queue.mean_work(), 1e-10));
}

#[test]
fn one_size_leaves_no_choice_but_sharing() {
    let queue = Mg1::new(&SizeLaw::from(&Sizes::constant(10).expect("a size")), 0.5).expect("stable");
    for policy in [Policy::Fcfs, Policy::Sjf, Policy::Psjf] {
        assert!(near(queue.mean_response(policy), 15.0, 1e-12), "{policy:?}");
    }
    assert!(near(queue.mean_response(Policy::Srpt), 15.0, 1e-12));
    assert!(near(queue.mean_response(Policy::Ps), 20.0, 1e-12));
    // Everybody present ends together, with the busy period: (work found + own) / (1 - load).
    assert!(near(queue.mean_response(Policy::Las), 30.0, 1e-12));
}

#[test]
fn a_density_stands_for_the_whole_sizes_of_a_long_run() {
    let sizes = Sizes::uniform(1, 20_000).expect("a distribution");
    let listed: Vec<(u64, f64)> = sizes.atoms(20_000).expect("few");
    let atoms = SizeLaw::from(&Sizes::list(&listed).expect("a distribution"));
    let mixed = SizeLaw::from(&sizes);
    assert_eq!((atoms.pieces.len(), mixed.pieces.len()), (20_000, 4097));
    let [atoms, mixed] = [atoms, mixed].map(|law| Mg1::new(&law, 0.8).expect("stable"));
    for policy in ALL {
        let (a, b) = (atoms.mean_response(policy), mixed.mean_response(policy));
        assert!(near(a, b, 3e-8), "{policy:?}: {a} {b}");
        let (a, b) = (atoms.mean_slowdown(policy), mixed.mean_slowdown(policy));
        assert!(near(a.expect("finite"), b.expect("finite"), 3e-8), "{policy:?}: {a:?} {b:?}");
    }
}

#[test]
fn the_memoryless_law_of_whole_sizes_approaches_the_exponential() {
    let whole = Mg1::new(&SizeLaw::from(&Sizes::exponential(1e6).expect("a mean")), 0.7).expect("stable");
    let continuous = Mg1::new(&SizeLaw::exponential(1e6), 0.7).expect("stable");
    for policy in ALL {
        let (a, b) = (whole.mean_response(policy), continuous.mean_response(policy));
        assert!(near(a, b, 2e-6), "{policy:?}: {a} {b}");
    }
}

#[test]
fn every_size_file_has_finite_means_and_the_known_order_among_them() {
    for entry in std::fs::read_dir(sizes_folder()).expect("the folder") {
        let sizes = Sizes::from_cdf_file(&entry.expect("an entry").path()).expect("a CDF file");
        for load in [0.3, 0.95, 0.999_999] {
            let queue = Mg1::new(&SizeLaw::from(&sizes), load).expect("stable");
            let [fcfs, _, sjf, psjf, srpt, las] = ALL.map(|policy| queue.mean_response(policy));
            assert!([fcfs, sjf, psjf, srpt, las].iter().all(|mean| mean.is_finite() && *mean > 0.0));
            assert!(srpt <= psjf && psjf <= las && srpt <= sjf && sjf <= fcfs);
            for policy in ALL {
                assert!(queue.mean_slowdown(policy).is_some_and(|mean| mean.is_finite() && mean >= 1.0));
                assert!(queue.largest_slowdown(policy).is_some_and(|mean| mean.is_finite() && mean >= 1.0));
            }
        }
    }
}

#[test]
fn classes_add_up_to_the_whole() {
    let sizes = Sizes::mixture(&[Run { first: 1, last: 50_000, share: 0.7 }, Run::atom(7, 0.3)]);
    let queue = Mg1::new(&SizeLaw::from(&sizes.expect("a distribution")), 0.8).expect("stable");
    for policy in ALL {
        let edges = [0.0, 7.5, 4096.5, 9000.5, f64::INFINITY];
        let parts: Vec<ClassMeans> =
            edges.windows(2).filter_map(|edge| queue.class_means(policy, edge[0], edge[1])).collect();
        let total = |f: fn(&ClassMeans) -> f64| parts.iter().map(|part| part.share * f(part)).sum::<f64>();
        assert!(near(total(|_| 1.0), 1.0, 1e-12));
        assert!(near(total(|part| part.response), queue.mean_response(policy), 1e-10));
        assert!(near(total(|part| part.slowdown), queue.mean_slowdown(policy).expect("finite"), 1e-10));
    }
    assert_eq!(queue.class_means(Policy::Ps, 60_000.0, 70_000.0), None);
}

/// A message of the simulation below.
#[derive(Clone, Copy)]
struct Job {
    arrived: f64,
    size: f64,
    attained: f64,
}

fn uniform(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// The jobs that share the server now; `jobs` are in order of arrival.
fn served(policy: Policy, jobs: &[Job]) -> Vec<usize> {
    let least = |key: &dyn Fn(&Job) -> f64| {
        let best = jobs.iter().map(key).fold(f64::INFINITY, f64::min);
        (0..jobs.len()).filter(|&i| key(&jobs[i]) <= best + 1e-9).collect::<Vec<_>>()
    };
    let started = jobs.iter().position(|job| job.attained > 0.0);
    match policy {
        Policy::Fcfs => vec![0],
        Policy::Ps => (0..jobs.len()).collect(),
        Policy::Las => least(&|job| job.attained),
        Policy::Sjf => vec![started.unwrap_or_else(|| least(&|job| job.size)[0])],
        Policy::Psjf => vec![least(&|job| job.size)[0]],
        Policy::Srpt => vec![least(&|job| job.size - job.attained)[0]],
    }
}

/// How long the shared service can go on before somebody ends or, under LAS, catches up.
fn horizon(jobs: &[Job], active: &[usize]) -> f64 {
    let each = active.iter().map(|&i| jobs[i].size - jobs[i].attained).fold(f64::INFINITY, f64::min);
    let above = |job: &&Job| job.attained > jobs[active[0]].attained + 1e-9;
    let catch_up = jobs.iter().filter(above).map(|job| job.attained - jobs[active[0]].attained);
    each.min(catch_up.fold(f64::INFINITY, f64::min)) * active.len() as f64
}

/// The mean response time of each size, from events.
fn simulated(policy: Policy, sizes: [f64; 3], load: f64) -> [f64; 3] {
    let (mut random, mut jobs, mut now) = (88_172_645_463_325_252u64, Vec::<Job>::new(), 0.0);
    let (mut arrival, mut sums, mut arrived) = (0.0, [(0.0, 0.0); 3], 0);
    while arrived < 150_000 {
        let active = if jobs.is_empty() { vec![] } else { served(policy, &jobs) };
        let ahead = if jobs.is_empty() { f64::INFINITY } else { horizon(&jobs, &active) };
        let step = ahead.min(arrival - now);
        active.iter().for_each(|&i| jobs[i].attained += step / active.len() as f64);
        now += step;
        jobs.retain(|job| {
            let ended = job.size - job.attained < 1e-9;
            if ended {
                let sum = &mut sums[sizes.iter().position(|&size| size == job.size).expect("listed")];
                *sum = (sum.0 + now - job.arrived, sum.1 + 1.0);
            }
            !ended
        });
        if now >= arrival {
            jobs.push(Job {
                arrived: now,
                size: sizes[(uniform(&mut random) * 3.0) as usize],
                attained: 0.0,
            });
            arrival = now - (1.0 - uniform(&mut random)).ln() * (sizes.iter().sum::<f64>() / 3.0) / load;
            arrived += 1;
        }
    }
    sums.map(|(sum, count)| sum / count)
}

#[test]
fn simulated_events_agree_for_every_policy() {
    let sizes = Sizes::list(&[(1, 1.0 / 3.0), (3, 1.0 / 3.0), (8, 1.0 / 3.0)]).expect("a distribution");
    let queue = Mg1::new(&SizeLaw::from(&sizes), 0.7).expect("stable");
    for policy in ALL {
        let found = simulated(policy, [1.0, 3.0, 8.0], 0.7);
        for (size, found) in [1.0, 3.0, 8.0].into_iter().zip(found) {
            let expected = queue.response(policy, size);
            assert!(near(found, expected, 0.025), "{policy:?}, size {size}: {found} {expected}");
        }
    }
}

#[test]
fn the_wait_of_m_m_1_has_its_tail() {
    let tail = |t| mm1_wait_tail(0.8, 2.0, t).expect("stable");
    assert_eq!((tail(-1.0), tail(0.0)), (1.0, 0.8));
    let mean = simpson(0.0, 600.0, 6000, tail);
    assert!(near(mean, 8.0, 1e-9), "{mean}");
    assert_eq!(mm1_wait_tail(1.0, 1.0, 0.0), Err(TheoryError::Unstable(1.0)));
}

#[test]
fn what_has_no_number_is_an_error() {
    let law = SizeLaw::uniform(0.0, 2.0);
    for load in [1.0, 1.2, f64::INFINITY, 1.0 - 1e-12] {
        assert_eq!(Mg1::new(&law, load).err(), Some(TheoryError::Unstable(load)));
    }
    for load in [0.0, -1.0, f64::NAN] {
        assert!(matches!(Mg1::new(&law, load), Err(TheoryError::Load(_))));
    }
    let busiest = Mg1::new(&law, crate::MAX_LOAD).expect("stable");
    assert!(ALL.iter().all(|&policy| busiest.mean_response(policy).is_finite()));
}
