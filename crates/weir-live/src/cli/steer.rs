//! `weird steer`: spreads the requests of an interface over processors until it is asked to end.

use std::sync::Arc;

use weir_plane::config::Xdp;

use super::Failure;
use super::daemon::{Configured, ended, ended_early, metrics, random, system};
use crate::daemon::clock::Clock;
use crate::daemon::control::Socket;
use crate::daemon::directory::{RunDirectory, base};
use crate::daemon::inbox::inbox;
use crate::daemon::readings::Readings;
use crate::daemon::reload::Hangups;
use crate::daemon::{log, privileges};
use crate::io::attach::Mode;
use crate::io::dispatcher;
use crate::io::link::{Claim, Facts, Watch};
use crate::steer::config::{Processors, Steering, read};
use crate::steer::control::Control;
use crate::steer::daemon::{Daemon, Parts};
use crate::steer::kernel::Kernel;
use crate::steer::policy;
use crate::steer::processors::{Usable, present, usable};
use crate::steer::requests::Order;

/// The arguments of `weird steer`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    configured: Configured,
}

/// Steers.
///
/// # Errors
/// The configuration is refused, no processor of it is there, a privilege is missing, or the kernel refuses.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (file, steering) = arguments.configured.read(read)?;
    if arguments.configured.print {
        return super::print(&steering.to_toml());
    }
    let machine = system(present())?;
    let usable = fitting(&steering, &machine).map_err(|error| Failure::Input(format!("{file}: {error}")))?;
    if !arguments.configured.check {
        arguments.configured.begin_log();
    }
    usable.notices.iter().for_each(|notice| log::warning(format_args!("{notice}")));
    if arguments.configured.check {
        let line = format!("{file} spreads requests of {} over {}\n", steering.interface, usable.processors);
        return super::print(&line);
    }
    let Served { daemon, _control, _claim } =
        set_up(&arguments.configured, steering, file, usable.processors, machine)?;
    Ok(daemon.run().map_err(ended_early("steering"))?.detach()?)
}

/// Those processors of the file that are here, if the policy can have them.
fn fitting(steering: &Steering, machine: &Processors) -> Result<Usable, String> {
    let usable = usable(&steering.processors, machine)?;
    policy::build(&steering.policy.to_string(), &steering.site(usable.processors.0.len()))?;
    Ok(usable)
}

/// A daemon, and what serves it as long as it lives.
struct Served {
    daemon: Daemon<Kernel>,
    _control: crate::daemon::control::Control,
    _claim: Claim,
}

/// All that needs privileges, then without them the rest.
fn set_up(
    configured: &Configured,
    steering: Steering,
    file: String,
    servers: Processors,
    present: Processors,
) -> Result<Served, Failure> {
    let sets_priority = steering.priority.0.is_some();
    privileges::require(system(privileges::effective())?, privileges::steering(sets_priority))?;
    let user = configured.user(steering.user.as_deref(), pins(&steering))?;
    let ended = ended()?;
    let hangups = system(Hangups::take())?;
    let directory = RunDirectory::claim_after(&base(), &steering.name, user)?;
    let socket = Socket::bind(directory, steering.group.as_deref())?;
    let metrics = metrics(steering.metrics)?;
    let claim = Claim::new(&steering.interface)?;
    let facts = Facts::of(&steering.interface)?;
    let kernel = Kernel::attach(
        &steering.name,
        &facts,
        &steering.setup(random()?),
        steering.queue,
        steering.pin,
        steering.sharing,
    )?;
    let behind = kernel.is_behind();
    let mode = told(kernel.mode());
    let counts_overflow = kernel.counts_overflow();
    let watch = system(Watch::new())?;
    user.map_or(Ok(()), |user| socket.hand_over(user))?;
    let kept = privileges::steering_kept(sets_priority) | privileges::for_dispatcher(behind);
    let capabilities = system(privileges::drop_to(kept, user))?;
    configured.restrict(socket.directory(), steering.pin || behind);
    system(log::serve())?;
    let (caller, inbox) = system(inbox())?;
    let readings = Readings::new(caller);
    let served = system(socket.serve(Arc::clone(&readings), steering.clone()))?;
    if let Some(metrics) = metrics {
        system(metrics.serve(Arc::clone(&readings), Order::Stats, None))?;
    }
    system(hangups.serve(file.clone().into(), readings, steering.clone()))?;
    let clock = Clock::start();
    announce(&steering, &servers, mode, counts_overflow);
    let control = system(Control::start(kernel, steering, servers, clock.now()))?;
    let mode = mode.to_owned();
    let parts =
        Parts { clock, file, present, facts, mode, counts_overflow, inbox, watch, ended, capabilities };
    Ok(Served { daemon: Daemon::new(control, parts), _control: served, _claim: claim })
}

/// Why programs outlive a daemon that is killed, where they do.
fn pins(steering: &Steering) -> Option<&'static str> {
    let is_there = || Facts::of(&steering.interface).is_ok_and(|facts| dispatcher::is_there(&facts));
    match steering.sharing.xdp {
        _ if steering.pin => Some("pin = true"),
        Xdp::Dispatcher => Some("xdp = \"dispatcher\""),
        Xdp::Auto => is_there().then_some("the dispatcher of the interface"),
    }
}

const fn told(mode: Mode) -> &'static str {
    match mode {
        Mode::Driver => "in the driver",
        Mode::Generic => "generic",
    }
}

/// Says what runs.
fn announce(steering: &Steering, servers: &Processors, mode: &str, counts_overflow: bool) {
    let Steering { name, interface, policy, .. } = steering;
    log::info(format_args!("interface {interface}: XDP, {mode}; {policy} over processors {servers}"));
    if !counts_overflow {
        log::notice(format_args!(
            "this kernel does not report requests that find a queue full: they are counted once it is idle"
        ));
    }
    log::notice(format_args!("steering {name}: running as process {}", std::process::id()));
}
