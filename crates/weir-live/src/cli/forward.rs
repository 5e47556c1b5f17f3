//! `weird bench-forward`: forwards between two interfaces and does nothing else.
//!
//! The baseline of the benchmarks: the same sockets and the same batches as `weird route`, without plane and discipline.
//! Frames leave as they came in.

use std::time::{Duration, Instant};

use clap::ValueEnum;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use smallvec::SmallVec;
use weir_plane::Received;
use weir_plane::arena::Arena;
use weir_plane::config::{Io, OnFailure};

use super::Failure;
use crate::io::attach::Sharing;
use crate::io::fault::{Fault, Kind};
use crate::io::link::{Claim, Facts};
use crate::io::{Device, Means, Share, arena};

/// The memory of all frames: 64 MiB.
const FRAMES: u32 = 16_384;
/// The most frames that are moved at once.
const BATCH: usize = 64;
/// How long it sleeps at most while nothing comes in.
const NAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The arguments of `weird bench-forward`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// One interface.
    first: String,
    /// The other.
    second: String,
    /// By which means frames come in and leave.
    #[arg(long, value_enum, default_value_t = Choice::Auto)]
    io: Choice,
    /// Ends after this many seconds; by default it runs until it is killed.
    #[arg(long)]
    seconds: Option<u64>,
    /// Never sleeps.
    #[arg(long)]
    spin: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Choice {
    Auto,
    AfXdp,
    AfPacket,
}

impl From<Choice> for Io {
    fn from(means: Choice) -> Self {
        match means {
            Choice::Auto => Self::Auto,
            Choice::AfXdp => Self::AfXdp,
            Choice::AfPacket => Self::AfPacket,
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        match fault.kind {
            Kind::Gone => Self::Input(fault.to_string()),
            Kind::Permission | Kind::Unsupported | Kind::Busy | Kind::System => {
                Self::Unsupported(fault.to_string())
            }
        }
    }
}

/// Forwards until the time is over, and says how many frames.
///
/// # Errors
/// An interface cannot be opened, or went away.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut arena =
        arena(FRAMES).map_err(|error| Failure::Unsupported(format!("memory of frames: {error}")))?;
    let (_first, a) = open(&arguments.first, arguments.io.into(), &mut arena)?;
    let (_second, b) = open(&arguments.second, arguments.io.into(), &mut arena)?;
    let mut forwarder = Forwarder { devices: [a, b], arena, batch: Vec::with_capacity(BATCH), moved: [0; 2] };
    let began = Instant::now();
    let until = arguments.seconds.map(|seconds| began + Duration::from_secs(seconds));
    let done = forwarder.run(until, arguments.spin);
    forwarder.report(arguments, began.elapsed());
    done.map_err(|error| Failure::NotMet(format!("an interface went down or away: {error}")))?;
    let Forwarder { devices, mut arena, .. } = forwarder;
    devices.into_iter().try_for_each(|device| device.close(&mut arena)).map_err(Failure::from)
}

fn open(name: &str, io: Io, arena: &mut Arena) -> Result<(Claim, Device), Failure> {
    let claim = Claim::new(name)?;
    let facts = Facts::of(name)?;
    let share = Share::of(arena.frames(), 2);
    let router = "bench-forward".to_owned();
    let sharing = Sharing::default();
    let means =
        Means { router, io, on_failure: OnFailure::Pass, sharing, share, workers: 1, vlans: vec![None] };
    let opened = Device::open(&facts, &means, arena)?;
    if let Some(fault) = opened.fallback {
        eprintln!("note: {fault}; AF_PACKET instead");
    }
    Ok((claim, opened.device))
}

struct Forwarder {
    devices: [Device; 2],
    arena: Arena,
    batch: Vec<Received>,
    moved: [u64; 2],
}

impl Forwarder {
    fn run(&mut self, until: Option<Instant>, spin: bool) -> std::io::Result<()> {
        while until.is_none_or(|until| Instant::now() < until) {
            let moved = self.step(0)? + self.step(1)?;
            let unsent = self.devices.iter().any(|device| device.unsent() > 0);
            if moved == 0 && !unsent && !spin {
                let [a, b] = &self.devices;
                let sockets = a.descriptors().chain(b.descriptors());
                let mut polled: SmallVec<[PollFd<'_>; 8]> =
                    sockets.map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN)).collect();
                poll(&mut polled, Some(&NAP))?;
            }
        }
        Ok(())
    }

    /// Moves what came in by an interface to the other.
    fn step(&mut self, from: usize) -> std::io::Result<usize> {
        let to = 1 - from;
        let room = self.devices[to].room(&mut self.arena) as usize;
        let moved = self.devices[from].receive(&mut self.arena, &mut self.batch, room.min(BATCH))?;
        for received in self.batch.drain(..) {
            if let Err(buffer) = self.devices[to].send(received.buffer) {
                self.arena.give(buffer);
            }
        }
        self.moved[from] += moved as u64;
        self.devices[to].flush(&mut self.arena)?;
        Ok(moved)
    }

    fn report(&self, arguments: &Arguments, passed: Duration) {
        let names = [&arguments.first, &arguments.second];
        for (from, device) in self.devices.iter().enumerate() {
            let rate = self.moved[from] as f64 / passed.as_secs_f64() / 1000.0;
            println!("{} to {}: {} frames, {rate:.1} kpps", names[from], names[1 - from], self.moved[from]);
            if let Ok(counted) = device.counts() {
                let (means, dropped, failed) =
                    (device.means(), counted.receive_dropped, counted.transmit_failed);
                println!("  {} ({means}): {dropped} frames not received, {failed} not sent", names[from]);
            }
        }
    }
}
