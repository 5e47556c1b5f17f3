//! Benchmarks of the server: whole replications with all statistics, 99.5 % of requests of 0.5 µs and 0.5 % of 500 µs, at
//! a load of 80 %. `…/patience`: at 120 %, where requests leave that wait. `…/retries`: at 95 %, where clients send a request again
//! that is refused or not answered in time; an attempt counts. `…/fan_out`: requests of ten sub-requests to ten of sixteen
//! cores, exponential services; a request counts. `…/steps`: by the engine that goes from event to event, where there is
//! another.

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::bench::{Bench, Round, Unit};
use weir_core::units::Nanos;
use weir_lab::control::Watch;
use weir_lab::error::RunError;
use weir_server::collector::Collector;
use weir_server::generators::{class, extreme_bimodal, scenario};
use weir_server::job::{Ended, Job};
use weir_server::model::{Cancel, Draws, FanOut, Retry, ServerScenario, Workload};
use weir_server::run;
use weir_workload::duration::Law;

/// Pools by their number of cores, and how long a replication is.
const POOLS: [(u32, Nanos); 2] = [(8, Nanos::new(20_000_000)), (128, Nanos::new(2_000_000))];
/// The disciplines; those that have an engine without events too.
const DISCIPLINES: [(&str, bool); 7] = [
    ("cfcfs", true),
    ("rr", true),
    ("random", true),
    ("jsq", true),
    ("preemptive:quantum=5us,cost=500ns", false),
    ("work_stealing:cost=200ns", false),
    ("darc", false),
];

/// What plays a job.
type Play = fn(&ServerScenario, Job, &mut Collector, &Watch<'_>) -> Result<Ended, RunError>;

pub(super) fn benches() -> Vec<Bench> {
    let mut all = Vec::new();
    for (cores, duration) in POOLS {
        for (spec, has_two) in DISCIPLINES {
            let name = spec.split(':').next().unwrap_or(spec);
            let mut bench = |engine: &str, play: Play| {
                let prepare = move || rounds(mix(spec, cores, duration), play);
                all.push(Bench::new(
                    format!("server/{cores}/{name}{engine}"),
                    Unit::Rate("requests/s"),
                    prepare,
                ));
            };
            bench("", run::play);
            if has_two {
                bench("/steps", run::step_by_step);
            }
        }
        let prepare = move || rounds(impatient(cores, duration), run::play);
        all.push(Bench::new(format!("server/{cores}/cfcfs/patience"), Unit::Rate("requests/s"), prepare));
        let prepare = move || rounds(retries(cores, duration), run::play);
        all.push(Bench::new(format!("server/{cores}/cfcfs/retries"), Unit::Rate("attempts/s"), prepare));
    }
    for (engine, play) in [("", run::play as Play), ("/steps", run::step_by_step as Play)] {
        let prepare = move || rounds(fan_out(), play);
        all.push(Bench::new(format!("server/16/random/fan_out{engine}"), Unit::Rate("requests/s"), prepare));
    }
    all
}

/// Requests that need the answers of ten of sixteen cores.
fn fan_out() -> ServerScenario {
    let exponential = vec![class("all", 1.0, Law::Exponential(Nanos::new(10_000)))];
    let Ok(mut server) = scenario(&["random"], 16, exponential, 0.8) else {
        unreachable!("the disciplines of the benchmarks are specs");
    };
    let (cancel, service) = (Cancel::Waiting, Draws::Own);
    server.fan_out = Some(FanOut { to: 10, need: 10, cancel, service, hedge: None });
    if let Workload::Open(open) = &mut server.workload {
        open.mean_gap *= 10.0;
    }
    server.stop.duration = Nanos::new(200_000_000);
    server
}

/// More than can be done, of which a part leaves: patience is exponential, with the mean of a hundred short services.
fn impatient(cores: u32, duration: Nanos) -> ServerScenario {
    let mut server = mix("cfcfs", cores, duration);
    for class in &mut server.classes {
        class.patience = Some(Law::Exponential(Nanos::new(50_000)).into());
    }
    if let Workload::Open(open) = &mut server.workload {
        open.mean_gap /= 1.5;
    }
    server
}

/// Whoever has no answer in time sends the request again, up to twice, after a back-off.
fn retries(cores: u32, duration: Nanos) -> ServerScenario {
    let mut server = mix("cfcfs", cores, duration);
    for class in &mut server.classes {
        class.timeout = Some(Nanos::new(1_000_000));
    }
    let backoff = Nanos::new(50_000);
    server.retry = Some(Retry { attempts: 3, backoff, factor: 2.0, jitter: 1.0, budget: None });
    server.site.queue = Some(1_000);
    if let Workload::Open(open) = &mut server.workload {
        open.mean_gap *= 0.8 / 0.95;
    }
    server
}

fn mix(spec: &str, cores: u32, duration: Nanos) -> ServerScenario {
    let Ok(mut server) = scenario(&[spec], cores, extreme_bimodal(), 0.8) else {
        unreachable!("the disciplines of the benchmarks are specs");
    };
    server.stop.duration = duration;
    server
}

/// Plays a replication, a new one every time; how many requests it took.
fn rounds(server: ServerScenario, play: Play) -> Round {
    let (off, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut replication = 0;
    Box::new(move || {
        let watch = Watch { cancel: &off, failed: &off, done: &done, duration: u64::MAX };
        let (job, mut table) = (Job { replication, discipline: 0 }, Collector::new(&server, replication));
        replication += 1;
        let ended = play(&server, job, &mut table, &watch);
        std::hint::black_box(table);
        match ended {
            Ok(Ended::Finished(left)) => left.offered,
            _ => unreachable!("the scenarios of the benchmarks are valid, and nobody breaks them off"),
        }
    })
}
