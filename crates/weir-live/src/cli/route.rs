//! `weird route`: runs a router until it is asked to end.

use std::sync::Arc;

use weir_plane::Plane;
use weir_plane::arena::{Arena, COST};
use weir_plane::config::{Io, OnFailure, Router, read};

use super::Failure;
use super::daemon::{Configured, ended, ended_early, metrics, random, system};
use crate::daemon::clock::Clock;
use crate::daemon::control::Socket;
use crate::daemon::directory::{RunDirectory, base};
use crate::daemon::inbox::inbox;
use crate::daemon::readings::Readings;
use crate::daemon::reload::Hangups;
use crate::daemon::requests::Order;
use crate::daemon::run::{Daemon, Parts, Standing};
use crate::daemon::seat::Seat;
use crate::daemon::user::User;
use crate::daemon::{log, privileges};
use crate::io::link::Watch;
use crate::io::{Means, arena};

/// What `weird route` is told.
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
    daemon.started.run().map_err(ended_early("the router"))
}

/// A daemon, and what serves it as long as it lives.
struct Served {
    started: Daemon,
    _control: crate::daemon::control::Control,
}

/// All that needs privileges, then without them the rest.
fn set_up(arguments: &Arguments, router: Router, file: String) -> Result<Served, Failure> {
    privileges::require(system(privileges::effective())?, privileges::needed(router.io != Io::AfPacket))?;
    let ended = ended()?;
    let hangups = system(Hangups::take())?;
    let pins = (router.on_failure == OnFailure::Stop).then_some("on_failure = \"stop\"");
    let user = arguments.configured.user(router.user.as_deref(), pins)?;
    let directory = RunDirectory::claim_after(&base(), &router.name, user)?;
    let socket = Socket::bind(directory, router.group.as_deref())?;
    let metrics = metrics(router.metrics)?;
    let frames = u32::try_from(router.memory.get() / COST).unwrap_or(u32::MAX);
    let mut arena = arena(frames).map_err(|error| {
        Failure::Unsupported(format!("memory of {frames} frames: {error}; lower `memory`"))
    })?;
    let seats = seats(&router, &mut arena)?;
    let devices: Vec<_> = seats.iter().filter_map(Seat::facts).collect();
    let seed = router.hash_key.map_or_else(random, Ok)?;
    let plane = Plane::new(router.clone(), &devices, frames, seed)?;
    let watch = system(Watch::new())?;
    user.map_or(Ok(()), |user| socket.hand_over(user))?;
    let standing = stand(arguments, router.io, user)?;
    arguments.configured.settle(socket.directory(), pins.is_some())?;
    let (caller, inbox) = system(inbox())?;
    let readings = Readings::new(caller);
    let control = system(socket.serve(Arc::clone(&readings), router.clone()))?;
    if let Some(metrics) = metrics {
        system(metrics.serve(Arc::clone(&readings), Order::Stats))?;
    }
    system(hangups.serve(arguments.configured.file.clone(), readings, router.clone()))?;
    announce(&router, &seats);
    let router = Arc::new(router);
    let parts =
        Parts { plane, arena, seats, clock: Clock::start(), router, file, inbox, watch, ended, standing };
    Ok(Served { started: Daemon::new(parts), _control: control })
}

fn seats(router: &Router, arena: &mut Arena) -> Result<Vec<Seat>, Failure> {
    let means = Means::of(router, arena.frames());
    let open = |interface: &weir_plane::config::Interface| Seat::open(&interface.name, means.clone(), arena);
    Ok(router.interfaces.iter().map(open).collect::<Result<_, _>>()?)
}

/// Takes the priority that is asked for, and gives up what is not needed any more.
fn stand(arguments: &Arguments, io: Io, user: Option<User>) -> Result<Standing, Failure> {
    if arguments.lock_memory {
        privileges::lock_memory()?;
    }
    let priority = match arguments.priority {
        Some(priority) => privileges::real_time(priority)?,
        None => "that of the process (SCHED_OTHER)".to_owned(),
    };
    let capabilities = system(privileges::drop_to(privileges::needed(io != Io::AfPacket), user))?;
    Ok(Standing { capabilities, priority })
}

/// Says what runs, and what should be changed about it.
fn announce(router: &Router, seats: &[Seat]) {
    for (place, (interface, seat)) in router.interfaces.iter().zip(seats).enumerate() {
        let rate = interface.rate.map_or_else(|| "no rate".to_owned(), |rate| rate.to_string());
        let (name, means, holds) = (&interface.name, seat.means(), router.bound_at(place));
        log::info(format_args!("interface {name}: {means}, {}, {rate}; {holds}", interface.discipline));
        seat.advice().iter().for_each(|line| log::warning(format_args!("{line}")));
    }
    router.advice().iter().for_each(|line| log::warning(format_args!("{line}")));
    log::notice(format_args!("router {}: running as process {}", router.name, std::process::id()));
}
