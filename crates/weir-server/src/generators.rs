//! Scenarios of the server as Rust builds them: mixtures of the literature, and small ones.
//!
//! | | |
//! |-|-|
//! | Source | the bimodal mixtures of Demoulin et al., *When Idling is Ideal* (Perséphone), SOSP '21, table 3; service times and bursts of the lab as its saturated queues have them |
//! | Units | nanoseconds |

use crate::model::{
    Class, Costs, Known, Levels, Measure, Open, Process, ServerScenario, Service, Stop, Workload,
};
use weir_core::pool::{Profile, Site};
use weir_core::spec::{Spec, SpecError};
use weir_core::units::Nanos;
use weir_workload::Arrivals;
use weir_workload::duration::Law;

/// A class by name, share and law.
#[must_use]
pub fn class(name: &str, share: f64, law: Law) -> Class {
    Class {
        name: name.to_owned(),
        share,
        service: Service::Law(law),
        slo: None,
        patience: None,
        timeout: None,
        deadline: None,
        balk: None,
    }
}

/// Poisson arrivals of these classes at a load, on `cores` cores, one flow, one receiver, no costs, for 10 ms of which all
/// counts. Disciplines know the whole service.
///
/// # Errors
/// One of the disciplines is no spec.
pub fn scenario(
    disciplines: &[&str],
    cores: u32,
    classes: Vec<Class>,
    load: f64,
) -> Result<ServerScenario, SpecError> {
    let shares: f64 = classes.iter().map(|class| class.share).sum();
    let service = classes.iter().map(|class| class.share * class.service.mean()).sum::<f64>() / shares;
    let mean_gap = service / (load * f64::from(cores));
    let process = Process::Arrivals(Arrivals::Poisson);
    let profile = |class: &Class| Profile {
        share: class.share / shares,
        service: Nanos::new((class.service.mean().round() as u64).max(1)),
    };
    Ok(ServerScenario {
        title: String::new(),
        seed: 1,
        disciplines: disciplines.iter().map(|&written| written.to_owned()).collect(),
        specs: disciplines.iter().map(|written| written.parse()).collect::<Result<Vec<Spec>, _>>()?,
        reference: 0,
        site: Site {
            servers: cores,
            receivers: 1,
            classes: classes.iter().map(profile).collect(),
            queue: None,
            speeds: Vec::new(),
        },
        classes,
        workload: Workload::Open(Open {
            process,
            mean_gap,
            levels: None,
            burst: None,
            curve: None,
            flows: 1,
        }),
        retry: None,
        breaker: None,
        faults: Vec::new(),
        fan_out: None,
        known: Known::Exact,
        ring: None,
        costs: Costs::default(),
        load: Some(load),
        stop: Stop { warm_up: Nanos::new(0), duration: Nanos::new(10_000_000), replications: 1 },
        measure: Measure { tails: true, order: false, window: None, over_time: false, verify: false },
    })
}

/// 99.5 % of 0.5 µs, 0.5 % of 500 µs.
#[must_use]
pub fn extreme_bimodal() -> Vec<Class> {
    bimodal((0.995, 500), (0.005, 500_000))
}

/// 50 % of 1 µs, 50 % of 100 µs.
#[must_use]
pub fn high_bimodal() -> Vec<Class> {
    bimodal((0.5, 1_000), (0.5, 100_000))
}

/// Short and long requests, by share and service.
fn bimodal(short: (f64, u64), long: (f64, u64)) -> Vec<Class> {
    let constant = |span| Law::Constant(Nanos::new(span));
    vec![class("short", short.0, constant(short.1)), class("long", long.0, constant(long.1))]
}

/// The lab: seven cores with queues of 4096, six levels of `level`, each twice the rate of the one before, from 57.5
/// requests a millisecond on, in trains every 2.3 ms; all requests alike, or one in ten long.
///
/// # Errors
/// One of the disciplines is no spec.
pub fn lab(disciplines: &[&str], mixed: bool, level: Nanos) -> Result<ServerScenario, SpecError> {
    let classes = match mixed {
        true => bimodal((0.9, 1_950), (0.1, 3_420)),
        false => vec![class("request", 1.0, Law::Constant(Nanos::new(3_420)))],
    };
    let mut lab = scenario(disciplines, 7, classes, 1.0)?;
    lab.load = None;
    lab.site.queue = Some(4096);
    lab.workload = Workload::Open(Open {
        process: Process::Trains { every: Nanos::new(2_300_000), spacing: Nanos::new(50) },
        mean_gap: 1e6 / 57.5,
        levels: Some(Levels { every: level, count: 6, factor: 2.0 }),
        burst: None,
        curve: None,
        flows: 1,
    });
    lab.stop.duration = Nanos::new(level.get().saturating_mul(6));
    Ok(lab)
}
