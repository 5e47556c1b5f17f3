//! The loop of a router: what has come in, what leaves, what is asked; then sleep until the next of them.
//!
//! One thread moves all packets. A turn takes at most `BATCH` frames from each interface, hands them to the plane,
//! and lets each interface send what its line and its device have room for. Where a turn finds nothing to do, the loop
//! sleeps until the plane's next event less the time that is spent spinning, or until a frame or a request comes:
//! sleeping ends some tens of microseconds late, spinning does not, and a fast line needs that. What is ordered waits:
//! a turn does one order, and while there are packets there is one such turn every `CHECK`.
//!
//! Interfaces are looked at when the kernel says that one has changed, and once a second: one that is gone is closed,
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

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use smallvec::SmallVec;
use weir_core::units::{Instant, Nanos};
use weir_plane::Received;
use weir_plane::arena::{Arena, Buffer};
use weir_plane::config::Router;
use weir_plane::snapshot::Snapshot;
use weir_plane::{Notice, Plane};

use super::clock::Clock;
use super::inbox::Inbox;
use super::log;
use super::requests::{self, Order};
use super::seat::Seat;
use crate::io::link::Watch;

/// Frames that one turn takes from one interface.
const BATCH: usize = 64;
/// How often it asks whether something was ordered or has changed, where it does not sleep, in nanoseconds.
const CHECK: u64 = 1_000_000;
/// How often interfaces are looked at, in nanoseconds.
const LOOK: u64 = 1_000_000_000;
/// How long what waits is given to leave when the daemon is to end, in nanoseconds.
const GRACE: u64 = 10_000_000_000;
/// How long it sleeps where a device has not taken all frames, in nanoseconds: nothing says when it would.
const RETRY: u64 = 50_000;

/// What a daemon is made of.
pub struct Parts {
    /// The router.
    pub plane: Plane,
    /// The memory of all frames.
    pub arena: Arena,
    /// The interfaces, in the order of the configuration.
    pub seats: Vec<Seat>,
    /// The clock, which began before anything came in.
    pub clock: Clock,
    /// The configuration.
    pub router: Arc<Router>,
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
    pub(super) parts: Parts,
    /// When it ends at the latest, once it was asked to.
    last: Option<Instant>,
    next_look: Instant,
    next_check: Instant,
    /// When the plane had something to do when it was last left alone.
    due: Option<Instant>,
    received: Vec<Received>,
    leaving: Vec<Buffer>,
}

impl Daemon {
    /// A router of these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let next_look = parts.clock.now();
        // Twice: the sockets of an interface are read one after the other.
        let received = Vec::with_capacity(2 * BATCH);
        Self {
            parts,
            last: None,
            next_look,
            next_check: next_look,
            due: None,
            received,
            leaving: Vec::with_capacity(BATCH),
        }
    }

    /// Moves packets until it is asked to end and nothing waits any more; then nothing of it stays in the kernel.
    ///
    /// # Errors
    /// The system can no longer tell when frames come in, or a program cannot be taken off its interface.
    pub fn run(mut self) -> io::Result<()> {
        loop {
            let now = self.parts.clock.now();
            let worked = self.turn(now);
            if now >= self.next_check {
                self.next_check = now + Nanos::new(CHECK);
                self.answer();
                if now >= self.next_look || self.parts.watch.changed() {
                    self.look(now);
                }
                if self.ends(now) {
                    break;
                }
            }
            if !worked {
                self.rest(now)?;
            }
        }
        let Parts { seats, mut arena, .. } = self.parts;
        let ended: Vec<_> = seats.into_iter().map(|seat| seat.end(&mut arena)).collect();
        ended.into_iter().collect::<Result<(), _>>().map_err(io::Error::other)
    }

    /// Takes what has come in, and sends what is to leave; whether there was anything.
    ///
    /// It looks at the clock once, before: whichever frame came first, they are all here by then or a little later.
    fn turn(&mut self, now: Instant) -> bool {
        if let Some(due) = self.due.take().filter(|due| *due < now) {
            self.parts.plane.woken(now, due);
        }
        let mut worked = false;
        for place in 0..self.parts.seats.len() {
            worked |= self.receive(now, place);
        }
        for place in 0..self.parts.seats.len() {
            worked |= self.send(now, place);
        }
        worked
    }

    fn receive(&mut self, now: Instant, place: usize) -> bool {
        let Parts { plane, arena, seats, .. } = &mut self.parts;
        if !seats[place].receive(arena, &mut self.received, BATCH) {
            return false;
        }
        for received in self.received.drain(..) {
            plane.arrive(now, place, received, arena);
        }
        true
    }

    fn send(&mut self, now: Instant, place: usize) -> bool {
        let Parts { plane, arena, seats, .. } = &mut self.parts;
        let seat = &mut seats[place];
        let room = seat.room(arena).min(BATCH as u32);
        plane.depart(now, place, room, arena, &mut self.leaving);
        let any = !self.leaving.is_empty();
        for buffer in self.leaving.drain(..) {
            if let Err(back) = seat.send(buffer) {
                plane.failed(place, back, arena);
            }
        }
        if any || seat.has_unsent() {
            seat.flush(arena);
        }
        any
    }

    /// Does one thing that was ordered: others wait for the next turn, and packets do not wait for them.
    fn answer(&mut self) {
        if let Some(command) = self.parts.inbox.try_next() {
            requests::answer(self, command);
        }
    }

    /// Looks at every interface, and says what the operator should know.
    fn look(&mut self, now: Instant) {
        self.next_look = now + Nanos::new(LOOK);
        let Parts { plane, arena, seats, router, .. } = &mut self.parts;
        for (place, seat) in seats.iter_mut().enumerate() {
            seat.look(place, plane, arena);
        }
        while let Some(notice) = plane.notice() {
            log::warning(format_args!("{}", told(notice, router)));
        }
    }

    /// Asks it to end, once what waits has left.
    pub(super) fn end(&self) {
        self.parts.ended.store(true, Ordering::Relaxed);
    }

    /// Whether it ends now: it was asked to, and nothing waits, or what waits has had its time.
    fn ends(&mut self, now: Instant) -> bool {
        if !self.parts.ended.load(Ordering::Relaxed) {
            return false;
        }
        let Parts { plane, seats, .. } = &mut self.parts;
        let last = *self.last.get_or_insert_with(|| {
            (0..seats.len()).for_each(|place| plane.drain(place));
            now + Nanos::new(GRACE)
        });
        plane.waiting() == 0 || now >= last
    }

    /// What was counted so far, with what the sockets know.
    pub(super) fn snapshot(&self) -> Snapshot {
        let Parts { plane, arena, seats, clock, .. } = &self.parts;
        let mut snapshot = plane.snapshot(clock.now(), arena);
        for (interface, seat) in snapshot.interfaces.iter_mut().zip(seats) {
            interface.means = seat.means().to_owned();
            interface.kernel = seat.counts();
            interface.left_to_kernel = seat.left_to_kernel();
        }
        snapshot
    }

    /// Sleeps until something happens, or until it is time to spin.
    fn rest(&mut self, now: Instant) -> io::Result<()> {
        let Parts { plane, seats, inbox, watch, router, .. } = &self.parts;
        self.due = plane.next_event();
        let event = self.due.map_or(self.next_look, |event| event.min(self.next_look));
        let mut until = event.get().saturating_sub(router.spin.get());
        // Room comes by the kernel's own work, of which only some tells.
        if seats.iter().enumerate().any(|(place, seat)| seat.has_unsent() || plane.wants_room(place)) {
            until = until.min(now.get() + RETRY);
        }
        let Some(span) = until.checked_sub(now.get()).filter(|&span| span > 0) else { return Ok(()) };
        let span = Timespec { tv_sec: (span / 1_000_000_000) as i64, tv_nsec: (span % 1_000_000_000) as i64 };
        let mut polled: SmallVec<[PollFd<'_>; 20]> = SmallVec::new();
        polled.push(PollFd::from_borrowed_fd(inbox.as_fd(), PollFlags::IN));
        polled.push(PollFd::from_borrowed_fd(watch.as_fd(), PollFlags::IN));
        let sockets = seats.iter().flat_map(Seat::descriptors);
        polled.extend(sockets.map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN)));
        let slept = poll(&mut polled, Some(&span));
        drop(polled);
        // It may have been an order or a signal that woke it.
        self.next_check = now;
        match slept {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
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
