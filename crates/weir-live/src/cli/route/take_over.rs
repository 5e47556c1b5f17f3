//! `weird route --take-over`: this process takes the place of the router of the same name that runs.
//!
//! What the other one does is in [`succession`](crate::daemon::succession). Everything that takes time, memory and programs
//! and sockets, is made before the other one is asked for anything.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use weir_plane::config::{Io, Router};
use weir_plane::estate::Estate;
use weir_plane::snapshot::Snapshot;

use super::{Failure, workers};
use crate::cli::client;
use crate::daemon::clock::Clock;
use crate::daemon::control::check_group;
use crate::daemon::directory::{RunDirectory, RunError, base};
use crate::daemon::log;
use crate::daemon::protocol::{Answer, Request};
use crate::daemon::user::User;
use crate::daemon::worker::Worker;
use crate::io::fault::Kind;

/// How long the other process is given to go.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(1);
/// How long it is given to have all its queues.
const SETTLED: Duration = Duration::from_secs(2);

/// The run directory, workers that have all that waited, and what was counted before.
///
/// # Errors
/// No such router runs, it cannot be taken over, or it does not go.
pub(super) fn take_over(
    router: &Router,
    user: Option<User>,
    clock: Clock,
    seed: u64,
) -> Result<(RunDirectory, Vec<Worker>, Snapshot), Failure> {
    if router.io == Io::AfPacket {
        return Err(Failure::Unsupported(format!(
            "router `{}` has io = \"af_packet\", and only what comes in by AF_XDP can be taken over: stop the one that \
             runs, and start this one",
            router.name
        )));
    }
    // What would keep this process from going on is found out before the other one stops.
    RunDirectory::check(&base(), &router.name, user)?;
    check_group(router.group.as_deref())?;
    let mut workers = workers(router, clock, seed, true)?;
    displace(router, &mut workers)?;
    let Estate { counted, interfaces } = match client::ask(&router.name, &Request::HandOver)? {
        Answer::Estate(estate) => *estate,
        _ => return Err(unexpected(&router.name)),
    };
    client::ask(&router.name, &Request::Stop)?;
    let directory = directory(router, user)?;
    let mut lost = 0;
    let (of, devices) = (workers.len(), router.device_places());
    for place in 0..router.devices().len() {
        claim(&mut workers[place % of], place)?;
    }
    for (at, interface) in router.interfaces.iter().enumerate() {
        let worker = &mut workers[devices[at] % of];
        if let Some(left) = interfaces.iter().find(|left| left.name == interface.name) {
            let Worker { plane, arena, .. } = worker;
            lost += plane.inherit(clock.now(), at, left, arena);
        }
    }
    let waited: usize = interfaces.iter().map(|left| left.waiting.len()).sum();
    log::notice(format_args!("router {}: taken over with {waited} packets that wait", router.name));
    if lost > 0 {
        log::warning(format_args!("router {}: {lost} of them found no memory here", router.name));
    }
    Ok((directory, workers, counted))
}

/// Puts the programs of the workers in the place of those of the router that runs.
fn displace(router: &Router, workers: &mut [Worker]) -> Result<(), Failure> {
    let until = Instant::now() + SETTLED;
    let links = loop {
        let Answer::Links { links } = client::ask(&router.name, &Request::TakeOver)? else {
            return Err(unexpected(&router.name));
        };
        match links_of(router, &links) {
            // It may have taken over itself a moment ago, and have no queues yet.
            Err(_) if Instant::now() < until => sleep(10 * PAUSE),
            found => break found?,
        }
    };
    let of = workers.len();
    for (place, link) in links.into_iter().enumerate() {
        workers[place % of].seat_mut(place).displace(link)?;
    }
    Ok(())
}

/// The link of each device.
fn links_of(router: &Router, links: &BTreeMap<String, Option<u32>>) -> Result<Vec<u32>, Failure> {
    let one = |name: &str| match links.get(name) {
        Some(Some(link)) => Ok(*link),
        Some(None) => Err(format!("interface {name} does not come in by AF_XDP there")),
        None => Err(format!("it has no interface {name}")),
    };
    let names = router.devices();
    names.into_iter().map(one).collect::<Result<_, _>>().map_err(|why| {
        let name = &router.name;
        Failure::Unsupported(format!(
            "router `{name}` cannot be taken over: {why}: stop it, and start this one"
        ))
    })
}

/// The run directory of the process that goes.
fn directory(router: &Router, user: Option<User>) -> Result<RunDirectory, Failure> {
    let until = Instant::now() + PATIENCE;
    loop {
        match RunDirectory::claim_after(&base(), &router.name, user) {
            Err(RunError::Running { .. }) if Instant::now() < until => sleep(PAUSE),
            claimed => return Ok(claimed?),
        }
    }
}

/// The claim of an interface of the process that goes.
fn claim(worker: &mut Worker, place: usize) -> Result<(), Failure> {
    let until = Instant::now() + PATIENCE;
    loop {
        match worker.seat_mut(place).claim() {
            Err(fault) if fault.kind == Kind::Busy && Instant::now() < until => sleep(PAUSE),
            claimed => return Ok(claimed?),
        }
    }
}

fn unexpected(name: &str) -> Failure {
    Failure::Unsupported(format!(
        "the daemon of `{name}` is no router, or of a version that cannot be taken over: stop it, and start this one"
    ))
}
