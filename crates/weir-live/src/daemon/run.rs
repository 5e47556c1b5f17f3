//! The loop of a router: packets move, and now and then there is something else to do.
//!
//! A [`Worker`] moves the packets; the one of this thread is the first of a [`Crew`]. What is ordered waits: a turn does one
//! order, and while there are packets there is one such turn every `CHECK`.
//!
//! Interfaces are checked when the kernel says that one has changed, and once a second: one that is gone is closed,
//! and opened again when it is back, while the others go on.
//!
//! | | |
//! |-|-|
//! | Work per turn | O(interfaces + frames); no allocation but where an interface comes back or a request is answered |
//! | Units | nanoseconds since the daemon began |

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_core::units::{Instant, Nanos};
use weir_plane::Notice;
use weir_plane::config::Router;
use weir_plane::snapshot::Snapshot;
use weir_plane::subscribers::Reading;

use super::clock::Clock;
use super::crew::Crew;
use super::inbox::Inbox;
use super::log;
use super::requests::{self, InForce, Order};
use super::seat::Seat;
use super::succession::Succession;
use super::worker::Worker;
use crate::io::link::Watch;

/// How often it asks whether something was ordered or has changed, where it does not sleep, in nanoseconds.
const CHECK: u64 = 1_000_000;
/// How often interfaces are checked, in nanoseconds.
const LOOK: u64 = 1_000_000_000;
/// How often queues are tried that another process has had, in nanoseconds.
const TRY: u64 = 10_000_000;
/// How long what waits is given to leave when the daemon is to end, in nanoseconds.
const GRACE: u64 = 10_000_000_000;

/// What a daemon knows besides what moves packets.
pub struct Parts {
    /// The clock, which began before anything came in.
    pub clock: Clock,
    /// The configuration.
    pub router: Arc<Router>,
    /// The same, where those see it who build the next.
    pub in_force: InForce,
    /// The file it is of.
    pub file: String,
    /// Where orders come from.
    pub inbox: Inbox<Order>,
    /// What says that interfaces have changed.
    pub watch: Watch,
    /// Set by a signal that asks it to end.
    pub ended: Arc<AtomicBool>,
    /// What the process may still do.
    pub standing: Standing,
    /// What a process had counted whose place this one has taken.
    pub past: Option<Snapshot>,
    /// Whether another process is about to take its place.
    pub succession: Succession,
}

/// What the process may do, and how it is scheduled, in words.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Capabilities that it kept.
    pub capabilities: Vec<String>,
    /// Its priority.
    pub priority: String,
}

/// A router that runs.
pub struct Daemon {
    parts: Parts,
    first: Worker,
    crew: Crew,
    /// When it ends at the latest, once it was asked to.
    last: Option<Instant>,
    next_look: Instant,
    next_check: Instant,
    /// Whether an interface waits for its queues, which another process has had, and when it is tried again.
    makeshift: bool,
    next_try: Instant,
}

/// A daemon whose workers stand still.
pub(super) struct Still<'a> {
    /// What it knows.
    pub(super) parts: &'a mut Parts,
    /// All its workers, in their order; at least one.
    pub(super) workers: Vec<&'a mut Worker>,
}

impl Daemon {
    /// A router of these parts and workers.
    #[must_use]
    pub fn new(parts: Parts, (first, crew): (Worker, Crew)) -> Self {
        let next_look = parts.clock.now();
        Self {
            parts,
            first,
            crew,
            last: None,
            next_look,
            next_check: next_look,
            makeshift: true,
            next_try: next_look,
        }
    }

    /// Moves packets until it is asked to end and nothing waits any more; then nothing of it stays in the kernel. Where another
    /// process has taken its place, the workers come back, with what is still to be closed.
    ///
    /// # Errors
    /// The system can no longer tell when frames come in, or a program cannot be taken off its interface.
    pub fn run(mut self) -> io::Result<Vec<Worker>> {
        let moved = self.go_on();
        let Self { parts, first, crew, .. } = self;
        let others = crew.end()?;
        moved?;
        let workers = core::iter::once(first).chain(others);
        if parts.succession == Succession::Done {
            let released = |mut worker: Worker| {
                worker.seats.iter_mut().for_each(Seat::release);
                worker
            };
            return Ok(workers.map(released).collect());
        }
        let ended: Vec<_> = workers.map(Worker::end).collect();
        ended.into_iter().collect::<io::Result<()>>().map(|()| Vec::new())
    }

    fn go_on(&mut self) -> io::Result<()> {
        loop {
            let now = self.parts.clock.now();
            let worked = self.first.turn(now);
            if now >= self.next_check {
                self.next_check = now + Nanos::new(CHECK);
                self.answer()?;
                self.go_on_with_succession(now)?;
                if now >= self.next_look || self.parts.watch.changed() {
                    self.next_look = now + Nanos::new(LOOK);
                    self.still(|mut daemon| daemon.look())?;
                }
                if self.ends(now)? {
                    return Ok(());
                }
            }
            if !worked {
                self.rest(now)?;
            }
        }
    }

    /// Has all workers stand still, and does something with them.
    fn still<R>(&mut self, act: impl FnOnce(Still<'_>) -> R) -> io::Result<R> {
        let Self { parts, first, crew, .. } = self;
        let mut halted = crew.halt()?;
        let workers = core::iter::once(first).chain(halted.workers()).collect();
        Ok(act(Still { parts, workers }))
    }

    /// Does one thing that was ordered: others wait for the next turn, and packets do not wait for them.
    fn answer(&mut self) -> io::Result<()> {
        match self.parts.inbox.try_next() {
            Some(command) => self.still(|mut daemon| {
                requests::answer(&mut daemon, command);
                daemon.stand_by();
            }),
            None => Ok(()),
        }
    }

    /// Opens what another process has let go, and returns to what another one has not taken.
    fn go_on_with_succession(&mut self, now: Instant) -> io::Result<()> {
        if let Succession::Announced(until) = self.parts.succession
            && now >= until
        {
            self.still(|mut daemon| daemon.return_to_links())?;
        }
        if self.makeshift && now >= self.next_try {
            self.next_try = now + Nanos::new(TRY);
            self.makeshift = self.still(|mut daemon| daemon.promote())?;
        }
        Ok(())
    }

    /// Whether it ends now: it was asked to, and nothing waits, or what waits has had its time.
    fn ends(&mut self, now: Instant) -> io::Result<bool> {
        if !self.parts.ended.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let begins = self.last.is_none();
        let last = *self.last.get_or_insert(now + Nanos::new(GRACE));
        if self.parts.succession == Succession::Done {
            return Ok(true);
        }
        self.still(|mut daemon| {
            if begins {
                (0..daemon.parts.router.interfaces.len()).for_each(|at| daemon.set_draining(at, true));
            }
            daemon.waiting() == 0 || now >= last
        })
    }

    /// Sleeps until something happens, or until it is time to spin.
    fn rest(&mut self, now: Instant) -> io::Result<()> {
        let Self { parts, first, .. } = self;
        let others = [parts.inbox.as_fd(), parts.watch.as_fd()];
        let latest = if self.makeshift { self.next_look.min(self.next_try) } else { self.next_look };
        let slept = first.rest(now, latest, &others, || true);
        // It may have been an order or a signal that woke it.
        self.next_check = now;
        slept
    }
}

impl Still<'_> {
    /// Asks it to end, once what waits has left.
    pub(super) fn end(&self) {
        self.parts.ended.store(true, Ordering::Relaxed);
    }

    /// How many devices there are.
    pub(super) fn devices(&self) -> usize {
        self.parts.router.devices().len()
    }

    /// The worker that serves a device.
    pub(super) fn server(&mut self, place: usize) -> &mut Worker {
        let of = self.workers.len();
        self.workers[place % of]
    }

    /// How many packets wait.
    pub(super) fn waiting(&self) -> u64 {
        self.workers.iter().map(|worker| worker.plane.waiting()).sum()
    }

    /// An interface takes nothing new, or does so again.
    pub(super) fn set_draining(&mut self, place: usize, draining: bool) {
        for worker in &mut self.workers {
            if draining { worker.plane.drain(place) } else { worker.plane.resume(place) }
        }
    }

    /// What was counted so far, with what the sockets know.
    pub(super) fn snapshot(&self) -> Snapshot {
        let (of, devices) = (self.workers.len(), self.parts.router.device_places());
        let parts = self.workers.iter().map(|worker| worker.snapshot()).collect();
        let mut all = Snapshot::of_all(parts, |at| devices[at] % of);
        if let Some(past) = &self.parts.past {
            all.add_past(past);
        }
        all
    }

    /// What was counted of the subscribers of each interface that has some.
    pub(super) fn subscribers(&self) -> Vec<Reading> {
        let (now, of) = (self.parts.clock.now(), self.workers.len());
        let places = 0..self.parts.router.interfaces.len();
        places.filter_map(|place| self.workers[place % of].plane.subscribers(now, place)).collect()
    }

    /// Checks every interface, and says what the operator should know.
    fn look(&mut self) {
        for place in 0..self.devices() {
            self.look_at(place);
        }
        for worker in &mut self.workers {
            while let Some(notice) = worker.plane.notice() {
                log::warning(format_args!("{}", told(notice, &self.parts.router)));
            }
        }
    }

    /// Opens the queues of interfaces that come in by a makeshift; whether there are more of them.
    fn promote(&mut self) -> bool {
        let mut more = false;
        for place in 0..self.devices() {
            let (seat, arena) = self.server(place).seat_with_memory(place);
            if seat.is_makeshift() {
                seat.promote(arena);
                more |= seat.is_makeshift();
                spread(&mut self.workers, place);
            }
        }
        more
    }

    /// Looks whether a device is up, gone, or back, and tells the planes where that has changed.
    fn look_at(&mut self, place: usize) {
        let seat = self.server(place).seat(place);
        let now = seat.now();
        if seat.is_stale(now.as_ref()) {
            let elsewhere = self.workers.iter_mut().map(|worker| worker.dismiss(place)).sum();
            let (seat, arena) = self.server(place).seat_with_memory(place);
            seat.close(elsewhere, arena);
        }
        let (seat, arena) = self.server(place).seat_with_memory(place);
        seat.follow(now, arena);
        let facts = seat.facts().unwrap_or_default();
        self.workers.iter_mut().for_each(|worker| worker.plane.device(place, facts));
        spread(&mut self.workers, place);
    }
}

/// Shares the queues of all devices among these workers; all but the first begin, in threads of their own with the priority
/// of this one.
///
/// # Errors
/// There is no worker, or no thread for one.
pub fn begin(mut workers: Vec<Worker>, devices: usize, clock: Clock) -> io::Result<(Worker, Crew)> {
    let mut all: Vec<&mut Worker> = workers.iter_mut().collect();
    (0..devices).for_each(|place| spread(&mut all, place));
    let others = workers.split_off(workers.len().min(1));
    let first = workers.pop().ok_or_else(|| io::Error::other("a router has a worker"))?;
    Ok((first, Crew::start(others, clock)?))
}

/// Queues of an interface that was opened are given to the workers that are to serve them.
fn spread(workers: &mut [&mut Worker], place: usize) {
    let of = workers.len();
    let (satellites, gate) = {
        let seat = workers[place % of].seat_mut(place);
        (seat.satellites(), seat.gate())
    };
    for (behind, mut satellite) in satellites {
        let other = (place + behind) % of;
        satellite.fill(gate.clone(), &mut workers[other].arena);
        workers[place % of].seat_mut(place).begin(&satellite);
        workers[other].adopt(place, satellite);
    }
}

/// A notice in words.
fn told(notice: Notice, router: &Router) -> String {
    match notice {
        Notice::PartialChecksums { interface } => {
            let name = &router.interfaces[interface].name;
            format!(
                "interface {name}: packets come in whose checksums their sender left to its device, and are refused; run \
                 `ethtool -K DEV tx off` at the sender, or set `checksums = \"complete\"`"
            )
        }
    }
}
