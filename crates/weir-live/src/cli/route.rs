//! `weird route`: runs a router until it is asked to end.

use std::sync::Arc;

use weir_plane::config::{Io, OnFailure, Router, Xdp, read};
use weir_plane::{Part, Plane};

use super::Failure;
use super::daemon::{Configured, ended, ended_early, metrics as bind_metrics, random, system};
use crate::daemon::clock::Clock;
use crate::daemon::control::{Control, Socket};
use crate::daemon::directory::{RunDirectory, base};
use crate::daemon::inbox::inbox;
use crate::daemon::metrics::Metrics;
use crate::daemon::passage::Passage;
use crate::daemon::readings::Readings;
use crate::daemon::reload::Hangups;
use crate::daemon::requests::{Began, InForce, Order};
use crate::daemon::run::{self, Daemon, Parts, Standing};
use crate::daemon::seat::Seat;
use crate::daemon::succession::Succession;
use crate::daemon::user::User;
use crate::daemon::worker::Worker;
use crate::daemon::{log, metrics, privileges};
use crate::io::link::{Facts, Watch};
use crate::io::{Means, arena, dispatcher};

mod take_over;
use take_over::take_over;

/// The arguments of `weird route`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    configured: Configured,
    /// Real-time priority from 1 to 99 (SCHED_FIFO); without, that of the process.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=99))]
    priority: Option<u8>,
    /// Keeps its memory from being paged out.
    #[arg(long)]
    lock_memory: bool,
    /// Takes the place of the running router of this name: no packet is lost, and that one ends. As root.
    #[arg(long)]
    take_over: bool,
}

/// Runs a router.
///
/// # Errors
/// The configuration is refused, a privilege is missing, or an interface cannot be opened.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (file, router) = arguments.configured.read(read)?;
    if arguments.configured.print {
        return super::print(&router.to_toml());
    }
    if arguments.configured.check {
        let advice: String = router.advice().iter().map(|line| format!("{line}\n")).collect();
        let interfaces = router.interfaces.len();
        return super::print(&format!("{file} is a router of {interfaces} interfaces\n{advice}"));
    }
    arguments.configured.begin_log();
    let daemon = set_up(arguments, router, file)?;
    let Served { started, control, metrics } = daemon;
    let left = started.run().map_err(ended_early("the router"))?;
    // Another process waits for what these have; that it closes its sockets takes the kernel some time.
    drop(metrics);
    drop(control);
    left.into_iter().for_each(Worker::leave);
    Ok(())
}

/// A daemon, and what serves it as long as it lives.
struct Served {
    started: Daemon,
    control: Control,
    metrics: Option<metrics::Served>,
}

/// All that needs privileges, then without them the rest.
fn set_up(arguments: &Arguments, router: Router, file: String) -> Result<Served, Failure> {
    privileges::require(system(privileges::effective())?, privileges::needed(router.io != Io::AfPacket))?;
    let ended = ended()?;
    let hangups = system(Hangups::take())?;
    let pins = pins(&router);
    let user = arguments.configured.user(router.user.as_deref(), pins)?;
    let clock = Clock::start();
    let seed = router.hash_key.map_or_else(random, Ok)?;
    let (place, workers, past) = if arguments.take_over {
        // It would be refused when there is no way back any more.
        rank(arguments)?;
        let (directory, workers, past) = take_over(&router, user, clock, seed)?;
        (Place::after(directory, &router)?, workers, Some(past))
    } else {
        let place = Place::claim(&router, user)?;
        (place, workers(&router, clock, seed, false)?, None)
    };
    let Place { socket, metrics } = place;
    let watch = system(Watch::new())?;
    user.map_or(Ok(()), |user| socket.hand_over(user))?;
    let standing = stand(arguments, &router, user, workers.iter().any(Worker::is_behind))?;
    arguments.configured.restrict(socket.directory(), pins.is_some());
    announce(&router, &workers);
    let workers = system(run::begin(workers, router.devices().len(), clock))?;
    // What is started from here on moves no packets.
    arguments.priority.map_or(Ok(String::new()), privileges::real_time)?;
    system(log::serve())?;
    let (caller, inbox) = system(inbox())?;
    let readings = Readings::new(caller);
    let router = Arc::new(router);
    let in_force = InForce::new(Arc::clone(&router));
    let began = Began { router: Router::clone(&router), in_force: in_force.clone(), seed };
    let control = system(socket.serve(Arc::clone(&readings), began.clone()))?;
    let served =
        metrics.map(|metrics| metrics.serve(Arc::clone(&readings), Order::Stats, Some(Order::Subscribers)));
    let metrics = system(served.transpose())?;
    system(hangups.serve(arguments.configured.file.clone(), readings, began))?;
    let succession = Succession::None;
    let parts = Parts { clock, router, in_force, file, inbox, watch, ended, standing, past, succession };
    Ok(Served { started: Daemon::new(parts, workers), control, metrics })
}

/// Where a daemon is asked.
struct Place {
    socket: Socket,
    metrics: Option<Metrics>,
}

impl Place {
    fn claim(router: &Router, user: Option<User>) -> Result<Self, Failure> {
        let directory = RunDirectory::claim_after(&base(), &router.name, user)?;
        let socket = Socket::bind(directory, router.group.as_deref())?;
        Ok(Self { socket, metrics: bind_metrics(router.metrics)? })
    }

    /// After another process, whose packets are more than somebody's metrics.
    fn after(directory: RunDirectory, router: &Router) -> Result<Self, Failure> {
        let socket = Socket::bind(directory, router.group.as_deref())?;
        let metrics = router.metrics.and_then(|address| match Metrics::bind(address) {
            Ok(metrics) => Some(metrics),
            Err(error) => {
                log::error(format_args!("metrics at {address}: {error}; the router goes on without them"));
                None
            }
        });
        Ok(Self { socket, metrics })
    }
}

/// What moves packets, with all interfaces open; `beside`: while another process still has them.
fn workers(router: &Router, clock: Clock, seed: u64, beside: bool) -> Result<Vec<Worker>, Failure> {
    let frames = u32::try_from(router.frames()).unwrap_or(u32::MAX);
    let memory = arena(frames).map_err(|error| {
        Failure::Unsupported(format!("memory of {frames} frames: {error}; lower `memory`"))
    })?;
    let of = router.workers as usize;
    let mut arenas = memory.split(router.workers);
    let mut seats: Vec<Vec<Seat>> = (0..of).map(|_| Vec::new()).collect();
    let names = router.devices();
    for (place, name) in names.iter().enumerate() {
        let (means, arena) = (Means::of(router, name, frames), &mut arenas[place % of]);
        seats[place % of].push(if beside {
            Seat::beside(name, means)?
        } else {
            Seat::open(name, means, arena)?
        });
    }
    let open = (0..names.len()).map(|place| &seats[place % of][place / of]);
    let devices: Vec<_> = open.filter_map(Seat::facts).collect();
    let passages = system(Passage::between(of, frames))?;
    let mut workers = Vec::new();
    for (this, ((arena, seats), passage)) in arenas.into_iter().zip(seats).zip(passages).enumerate() {
        let plane = Plane::part_of(router.clone(), Part::new(this, of), &devices, frames, seed)?;
        workers.push(Worker::new(plane, arena, seats, passage, clock, router.spin));
    }
    Ok(workers)
}

/// Why programs outlive a daemon that is killed, where they do.
fn pins(router: &Router) -> Option<&'static str> {
    let is_there = |name: &String| Facts::of(name).is_ok_and(|facts| dispatcher::is_there(&facts));
    if router.on_failure == OnFailure::Stop {
        return Some("on_failure = \"stop\"");
    }
    if router.io == Io::AfPacket {
        return None;
    }
    match router.xdp {
        Xdp::Dispatcher => Some("xdp = \"dispatcher\""),
        Xdp::Auto => {
            let mut names = router.interfaces.iter().map(|interface| &interface.name);
            names.any(is_there).then_some("the dispatcher of an interface")
        }
    }
}

/// Takes the priority that is asked for, and keeps memory from being paged out; the priority in words.
fn rank(arguments: &Arguments) -> Result<String, Failure> {
    if arguments.lock_memory {
        privileges::lock_memory()?;
    }
    Ok(match arguments.priority {
        Some(priority) => privileges::real_time_for_all(priority)?,
        None => "that of the process (SCHED_OTHER)".to_owned(),
    })
}

/// Takes the rank that is asked for, and gives up what is not needed any more.
fn stand(
    arguments: &Arguments,
    router: &Router,
    user: Option<User>,
    behind: bool,
) -> Result<Standing, Failure> {
    let priority = rank(arguments)?;
    let kept = privileges::needed(router.io != Io::AfPacket) | privileges::for_dispatcher(behind);
    let capabilities = system(privileges::drop_to(kept, user))?;
    Ok(Standing { capabilities, priority })
}

/// Says what runs, and what should be changed about it.
fn announce(router: &Router, workers: &[Worker]) {
    let devices = router.device_places();
    for (at, interface) in router.interfaces.iter().enumerate() {
        let seat = workers[devices[at] % workers.len()].seat(devices[at]);
        let rate = interface.rate.map_or_else(|| "no rate".to_owned(), |rate| rate.to_string());
        let (means, holds) = (seat.means(), router.bound_at(at));
        let name = match interface.vlan {
            Some(_) => format!("{} ({})", interface.name, interface.what()),
            None => interface.name.clone(),
        };
        log::info(format_args!("interface {name}: {means}, {}, {rate}; {holds}", interface.discipline));
    }
    for place in 0..router.devices().len() {
        let seat = workers[place % workers.len()].seat(place);
        seat.advice().iter().for_each(|line| log::warning(format_args!("{line}")));
    }
    router.advice().iter().for_each(|line| log::warning(format_args!("{line}")));
    let threads = if workers.len() == 1 { String::new() } else { format!(" with {} workers", workers.len()) };
    log::notice(format_args!("router {}: running as process {}{threads}", router.name, std::process::id()));
}
