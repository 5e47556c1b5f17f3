//! The loop of a router: what has come in, what leaves, what is asked; then sleep until the next of them.
//!
//! One thread moves all packets. A turn takes at most [`BATCH`] frames from each interface, hands them to the plane,
//! and lets each interface send what its line and its device have room for. Where a turn finds nothing to do, the loop
//! sleeps until the plane's next event less the time that is spent spinning, or until a frame or a request comes:
//! sleeping ends some tens of microseconds late, spinning does not (the pacing of a fast line needs that).
//!
//! Each interface is looked at once a second, and when a socket reports that it is down: one that is gone is closed
//! and opened again when it is back, while the others go on.
//!
//! | | |
//! |-|-|
//! | Work per turn | O(interfaces + frames); no allocation but where an interface comes back or a request is answered |
//! | Units | nanoseconds since the daemon began |

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use weir_core::units::{Instant, Nanos};

use super::clock::Clock;
use super::control::Inbox;
use super::requests;
use super::seat::Seat;
use crate::arena::{Arena, Buffer};
use crate::config::Router;
use crate::io::Received;
use crate::plane::Plane;

/// Frames that one turn takes from one interface.
const BATCH: usize = 64;
/// How often interfaces are looked at.
const LOOK: u64 = 1_000_000_000;
/// How long what waits is given to leave when the daemon is to end.
const GRACE: u64 = 10_000_000_000;

/// A router that runs.
pub struct Daemon {
    pub(super) plane: Plane,
    pub(super) arena: Arena,
    pub(super) seats: Vec<Seat>,
    pub(super) clock: Clock,
    /// The configuration in force, and the file it is of.
    pub(super) router: Router,
    pub(super) file: String,
    pub(super) reloads: u64,
    inbox: Inbox,
    /// Set by a signal that asks it to end.
    ended: Arc<AtomicBool>,
    /// When it ends at the latest, once it was asked to.
    last: Option<Instant>,
    next_look: Instant,
    received: Vec<Received>,
    leaving: Vec<Buffer>,
}

/// Why a turn ended without anything being done.
enum Turn {
    Worked,
    Idle,
}

impl Daemon {
    /// A router of these parts, with empty queues.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let Parts { plane, arena, seats, clock, router, file, inbox, ended } = parts;
        Self {
            plane,
            arena,
            seats,
            clock,
            router,
            file,
            reloads: 0,
            inbox,
            ended,
            last: None,
            next_look: clock.now(),
            received: Vec::with_capacity(BATCH),
            leaving: Vec::with_capacity(BATCH),
        }
    }

    /// Moves packets until it is asked to end and nothing waits any more.
    ///
    /// # Errors
    /// The system can no longer tell when frames come in.
    pub fn run(&mut self) -> io::Result<()> {
        loop {
            let turn = self.turn();
            self.answer();
            let now = self.clock.now();
            if now >= self.next_look {
                self.look(now);
            }
            if self.ends(now) {
                return Ok(());
            }
            if let Turn::Idle = turn {
                self.rest(now)?;
            }
        }
    }

    /// Takes what has come in, and sends what is to leave.
    fn turn(&mut self) -> Turn {
        let mut worked = false;
        for place in 0..self.seats.len() {
            worked |= self.receive(place);
        }
        for place in 0..self.seats.len() {
            worked |= self.send(place);
        }
        if worked { Turn::Worked } else { Turn::Idle }
    }

    fn receive(&mut self, place: usize) -> bool {
        let seat = &mut self.seats[place];
        let taken = seat.receive(&mut self.arena, &mut self.received, BATCH);
        if self.received.is_empty() {
            return taken;
        }
        // One look at the clock for all of them: they are here now, whichever came first.
        let now = self.clock.now();
        for received in self.received.drain(..) {
            self.plane.arrive(now, place, received, &mut self.arena);
        }
        true
    }

    fn send(&mut self, place: usize) -> bool {
        let seat = &mut self.seats[place];
        let room = seat.room(&mut self.arena).min(BATCH as u32);
        let now = self.clock.now();
        self.plane.depart(now, place, room, &mut self.arena, &mut self.leaving);
        let worked = !self.leaving.is_empty();
        for buffer in self.leaving.drain(..) {
            if let Err(back) = seat.send(buffer) {
                self.plane.failed(place, back, &mut self.arena);
            }
        }
        if worked {
            seat.flush(&mut self.arena);
        }
        worked
    }

    /// Does what was asked over the control socket.
    fn answer(&mut self) {
        while let Some(command) = self.inbox.try_next() {
            let answer = requests::answer(self, &command.request);
            command.reply(answer);
        }
    }

    /// Looks at every interface: whether it is up, gone, or back; and what neighbours have said.
    fn look(&mut self, now: Instant) {
        self.next_look = now + Nanos::new(LOOK);
        for seat in &mut self.seats {
            seat.look(&self.router, &mut self.plane, &mut self.arena);
        }
    }

    /// Asks it to end, once what waits has left.
    pub(super) fn end(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Whether it ends now: it was asked to, and nothing waits, or what waits has had its time.
    fn ends(&mut self, now: Instant) -> bool {
        if !self.ended.load(Ordering::Relaxed) {
            return false;
        }
        let last = *self.last.get_or_insert_with(|| {
            (0..self.seats.len()).for_each(|place| self.plane.drain(place));
            now + Nanos::new(GRACE)
        });
        self.plane.waiting() == 0 || now >= last
    }

    /// Sleeps until something happens, or until it is time to spin.
    fn rest(&mut self, now: Instant) -> io::Result<()> {
        let event = self.plane.next_event().map_or(self.next_look, |event| event.min(self.next_look));
        let early = event.get().saturating_sub(self.router.spin.get());
        let Some(span) = early.checked_sub(now.get()).filter(|&span| span > 0) else { return Ok(()) };
        let span = Timespec { tv_sec: (span / 1_000_000_000) as i64, tv_nsec: (span % 1_000_000_000) as i64 };
        let mut polled: Vec<PollFd<'_>> = Vec::with_capacity(1 + 2 * self.seats.len());
        polled.push(PollFd::from_borrowed_fd(self.inbox.as_fd(), PollFlags::IN));
        for (place, seat) in self.seats.iter().enumerate() {
            seat.polled(self.plane.wants_room(place), &mut polled);
        }
        match poll(&mut polled, Some(&span)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
