//! What moves packets: a plane with its part of the memory and the interfaces that it serves.
//!
//! A turn takes at most `BATCH` frames from each interface, hands them to the plane, and lets each interface send what its
//! line and its device have room for. Where a turn finds nothing to do, the worker sleeps until the plane's next event less
//! the time that is spent spinning, or until a frame comes: sleeping ends some tens of microseconds late, spinning does
//! not, and a fast line needs that.
//!
//! Where there are several, the interfaces of device `n` are served by worker `n` modulo their number, and so are the receive queues of that from
//! there on: a flow, which the device gives one queue, is always with one worker, and what they hand to each other keeps
//! its order.
//!
//! | | |
//! |-|-|
//! | Work per turn | O(interfaces + frames); no allocation |
//! | Units | nanoseconds since the daemon began |

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use smallvec::SmallVec;
use weir_core::units::{Instant, Nanos};
use weir_plane::arena::{Arena, Buffer};
use weir_plane::snapshot::{KernelCounts, Snapshot};
use weir_plane::{Plane, Received};

use super::clock::Clock;
use super::passage::Passage;
use super::seat::Seat;
use crate::io::xdp::Satellite;

/// Frames that one turn takes from one interface.
const BATCH: usize = 64;
/// How long it sleeps in nanoseconds where nothing says when it is to go on: a device has not taken all frames, or the last
/// ones of a makeshift are waited for.
const RETRY: u64 = 50_000;

/// See above.
pub struct Worker {
    /// What decides.
    pub plane: Plane,
    /// Its part of the memory.
    pub arena: Arena,
    /// The devices that it serves, in their order.
    pub seats: Vec<Seat>,
    /// Queues of devices that others serve, with the places of those.
    satellites: Vec<(usize, Satellite)>,
    passage: Passage,
    clock: Clock,
    spin: Nanos,
    /// When the plane had something to do when it was last left alone.
    due: Option<Instant>,
    received: Vec<Received>,
    leaving: Vec<Buffer>,
    /// Which interface of a device is the first to send.
    first: usize,
}

impl Worker {
    /// A worker that has not begun.
    #[must_use]
    pub fn new(
        plane: Plane,
        arena: Arena,
        seats: Vec<Seat>,
        passage: Passage,
        clock: Clock,
        spin: Nanos,
    ) -> Self {
        Self {
            plane,
            arena,
            seats,
            satellites: Vec::new(),
            passage,
            clock,
            spin,
            due: None,
            // Twice: the sockets of an interface are read one after the other.
            received: Vec::with_capacity(2 * BATCH),
            leaving: Vec::with_capacity(BATCH),
            first: 0,
        }
    }

    /// The place of a device that it serves.
    fn place(&self, seat: usize) -> usize {
        let part = self.plane.part();
        part.this + seat * part.of
    }

    /// Whether a program of its interfaces is behind a dispatcher.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.seats.iter().any(Seat::is_behind)
    }

    /// The device at a place, which it serves.
    #[must_use]
    pub fn seat(&self, place: usize) -> &Seat {
        &self.seats[place / self.plane.part().of]
    }

    /// The same, to be changed.
    pub fn seat_mut(&mut self, place: usize) -> &mut Seat {
        self.seat_with_memory(place).0
    }

    /// The same with the memory that it takes frames from.
    pub fn seat_with_memory(&mut self, place: usize) -> (&mut Seat, &mut Arena) {
        let of = self.plane.part().of;
        (&mut self.seats[place / of], &mut self.arena)
    }

    /// What wakes it.
    #[must_use]
    pub fn door(&self) -> std::sync::Arc<super::passage::Door> {
        std::sync::Arc::clone(&self.passage.door)
    }

    /// Takes what has come in, and sends what is to leave; whether there was anything.
    ///
    /// It reads the clock once, before: whichever frame came first, they are all here by then or a little later.
    pub fn turn(&mut self, now: Instant) -> bool {
        if let Some(due) = self.due.take().filter(|due| *due < now) {
            self.plane.woken(now, due);
        }
        let mut worked = self.take_in(now);
        for seat in 0..self.seats.len() {
            worked |= self.send(now, seat);
        }
        worked
    }

    fn receive(&mut self, now: Instant, seat: usize) -> bool {
        let place = self.place(seat);
        let Self { plane, arena, seats, received, .. } = self;
        if !seats[seat].receive(arena, received, BATCH) {
            return false;
        }
        received.drain(..).for_each(|received| plane.arrive(now, place, received, arena));
        true
    }

    /// Takes what has come in, and sends nothing; whether there was anything.
    pub fn take_in(&mut self, now: Instant) -> bool {
        let mut any = false;
        for seat in 0..self.seats.len() {
            any |= self.receive(now, seat);
        }
        any | (self.plane.part().of > 1 && self.exchange(now))
    }

    /// Gives its devices what they have not taken yet; whether there is more.
    pub fn flush(&mut self) -> bool {
        let Self { seats, arena, .. } = self;
        let unsent = |seat: &mut Seat| {
            seat.flush(arena);
            seat.has_unsent()
        };
        seats.iter_mut().map(unsent).fold(false, |any, unsent| any | unsent)
    }

    /// Receives for others, takes what they have for this one, and sends what this one has for them.
    fn exchange(&mut self, now: Instant) -> bool {
        let Self { plane, arena, satellites, passage, received, .. } = self;
        let (mut any, all_taken) = passage.receive(now, plane, arena, BATCH);
        for (place, satellite) in satellites {
            any |= satellite.receive(arena, received, BATCH, all_taken) > 0;
            received.drain(..).for_each(|received| plane.arrive(now, *place, received, arena));
        }
        passage.send(plane, arena);
        any
    }

    fn send(&mut self, now: Instant, seat: usize) -> bool {
        let place = self.place(seat);
        let Self { plane, arena, seats, leaving, first, .. } = self;
        let seat = &mut seats[seat];
        let mut room = seat.room(arena).min(BATCH as u32);
        let (count, mut any) = (plane.interfaces_of(place).len(), false);
        // Each in turn is first to have the room of the device that they share.
        *first = first.wrapping_add(1);
        for turn in 0..count {
            let interface = plane.interfaces_of(place)[(*first + turn) % count];
            plane.depart(now, interface, room, arena, leaving);
            any |= !leaving.is_empty();
            room = room.saturating_sub(leaving.len() as u32);
            for buffer in leaving.drain(..) {
                if let Err(back) = seat.send(buffer) {
                    plane.failed(interface, back, arena);
                }
            }
        }
        if any || seat.has_unsent() {
            seat.flush(arena);
        }
        any
    }

    /// Sleeps until something happens or `latest`, or until it is time to spin. `others` are more to be woken by; whoever
    /// rings the bell has changed what `stays` says before.
    ///
    /// # Errors
    /// The system can no longer tell when frames come in.
    pub fn rest(
        &mut self,
        now: Instant,
        latest: Instant,
        others: &[BorrowedFd<'_>],
        stays: impl FnOnce() -> bool,
    ) -> io::Result<()> {
        self.due = self.plane.next_event();
        let event = self.due.map_or(latest, |event| event.min(latest));
        let mut until = event.get().saturating_sub(self.spin.get());
        // Room comes by the kernel's own work, of which only some tells; nothing tells that no frame comes by a makeshift
        // any more, for which the queues that others serve are waiting.
        let wants_room = |place| self.plane.interfaces_of(place).iter().any(|&at| self.plane.wants_room(at));
        let waits = |seat: &Seat| seat.has_unsent() || seat.has_former();
        let short = |seat: usize| waits(&self.seats[seat]) || wants_room(self.place(seat));
        if (0..self.seats.len()).any(short) {
            until = until.min(now.get() + RETRY);
        }
        let Some(span) = until.checked_sub(now.get()).filter(|&span| span > 0) else { return Ok(()) };
        let alone = self.plane.part().of == 1;
        if alone {
            return self.poll(span, others);
        }
        let door = self.door();
        door.bell.lie_down();
        let sleeps = stays() && self.passage.is_empty(&self.arena);
        let slept = if sleeps { self.poll(span, others) } else { Ok(()) };
        door.bell.get_up();
        slept
    }

    fn poll(&self, span: u64, others: &[BorrowedFd<'_>]) -> io::Result<()> {
        let span = Timespec { tv_sec: (span / 1_000_000_000) as i64, tv_nsec: (span % 1_000_000_000) as i64 };
        let bell = [self.passage.door.bell.as_fd()];
        let sockets = self.seats.iter().flat_map(Seat::descriptors);
        let satellites = self.satellites.iter().map(|(_, satellite)| satellite.as_fd());
        let all = others.iter().copied().chain(bell).chain(sockets).chain(satellites);
        let mut polled: SmallVec<[PollFd<'_>; 24]> =
            all.map(|each| PollFd::from_borrowed_fd(each, PollFlags::IN)).collect();
        match poll(&mut polled, Some(&span)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Serves a queue of an interface of another worker from now on.
    pub fn adopt(&mut self, place: usize, satellite: Satellite) {
        self.satellites.push((place, satellite));
    }

    /// Serves no queue of this interface of another worker any more; what the kernel had counted of them.
    pub fn dismiss(&mut self, place: usize) -> KernelCounts {
        let counted = self.satellite_counts(place);
        let (gone, stay) = self.satellites.drain(..).partition(|(at, _)| *at == place);
        self.satellites = stay;
        let gone: Vec<(usize, Satellite)> = gone;
        gone.into_iter().for_each(|(_, satellite)| satellite.close(&mut self.arena));
        counted
    }

    /// What the kernel has counted of the queues of this interface that are served here for another worker.
    #[must_use]
    pub fn satellite_counts(&self, place: usize) -> KernelCounts {
        let here = self.satellites.iter().filter(|(at, _)| *at == place);
        here.map(|(_, satellite)| satellite.counts()).sum()
    }

    /// What was counted so far, with what the sockets know.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.plane.snapshot(self.clock.now(), &self.arena);
        // What the kernel counts of a device is with the first of its interfaces.
        let first = |place| self.plane.interfaces_of(place).first();
        for place in self.satellites.iter().map(|(place, _)| *place).collect::<BTreeSet<_>>() {
            if let Some(&at) = first(place) {
                snapshot.interfaces[at].kernel = self.satellite_counts(place);
            }
        }
        for (seat, place) in self.seats.iter().zip(0..).map(|(seat, at)| (seat, self.place(at))) {
            for &at in self.plane.interfaces_of(place) {
                seat.means().clone_into(&mut snapshot.interfaces[at].means);
            }
            if let Some(&at) = first(place) {
                snapshot.interfaces[at].kernel += seat.counts();
                snapshot.interfaces[at].left_to_kernel = seat.left_to_kernel();
            }
        }
        snapshot
    }

    /// It gives its interfaces up to another process, whose programs are in place.
    pub fn leave(self) {
        let Self { seats, satellites, mut arena, .. } = self;
        satellites.into_iter().for_each(|(_, satellite)| satellite.close(&mut arena));
        seats.into_iter().for_each(|seat| seat.leave(&mut arena));
    }

    /// What it has done is over: its sockets are closed in order, and nothing of them stays in the kernel.
    ///
    /// # Errors
    /// A program cannot be taken off its interface.
    pub fn end(self) -> io::Result<()> {
        let Self { seats, satellites, mut arena, .. } = self;
        satellites.into_iter().for_each(|(_, satellite)| satellite.close(&mut arena));
        let ended: Vec<_> = seats.into_iter().map(|seat| seat.end(&mut arena)).collect();
        ended.into_iter().collect::<Result<(), _>>().map_err(io::Error::other)
    }
}
