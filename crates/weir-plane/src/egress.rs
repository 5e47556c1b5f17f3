//! The queue of an interface and the line behind it: who leaves next, and when.
//!
//! The line takes one packet at a time: as in the simulation with a ring of one, the discipline decides when a
//! transmission has ended, or at an arrival at an idle line. Order at one instant: the end of the transmission, the
//! discipline's event, the arrival. Who comes late decides for the instants that have passed, each at its own, so that
//! lateness costs no bandwidth; of more than [`CATCH_UP`] the rest is lost to the line, or a daemon that was stopped
//! would send it all at once. What is granted is on the delay line until its propagation is over. While the device has
//! no room for what is due, the line grants nothing more: what waits, waits where the discipline sees it.
//!
//! Without a rate there is no line: packets are granted when the device has room for them.
//!
//! | | |
//! |-|-|
//! | Source | the project's network model |
//! | Work per packet | that of the discipline, O(1) besides |
//! | Memory | that of the discipline; the delay line is a chain through the table of frames |
//! | Units | nanoseconds since the daemon began; bytes of IP |

use weir_core::discipline::{Discipline, DropReason, Drops, Grant, Open};
use weir_core::units::{Instant, Nanos};
use weir_gauge::spans::Spans;

use super::line::{Line, NEVER};
use super::parked::{Handle, List, Parked, Place};
use super::succession::{Boxed, Succession, handle_event};
use super::tally::{Tallies, reason};
use crate::arena::Arena;
use crate::config::Interface;

/// How much lateness the line makes up for, in nanoseconds: 50 ms.
pub(super) const CATCH_UP: u64 = 50_000_000;

/// The frames of the router.
pub(super) struct Frames<'a> {
    /// Those that wait.
    pub(super) parked: &'a mut Parked,
    /// The memory of all.
    pub(super) arena: &'a mut Arena,
}

/// Takes what the discipline drops.
struct Lost<'a, 'b> {
    tallies: &'a mut Tallies,
    frames: &'a mut Frames<'b>,
}

impl Drops<Handle> for Lost<'_, '_> {
    fn dropped(&mut self, handle: Handle, why: DropReason) {
        let entry = self.frames.parked.entry(handle.frame);
        let (reason, egress) = (reason(why), usize::from(entry.egress));
        self.tallies.lose(entry.whose, reason, entry.size);
        if let Some(buffer) = self.frames.parked.take(handle.frame) {
            self.frames.arena.note(&buffer, egress, reason);
            self.frames.arena.give(buffer);
        }
    }
}

/// The queue of an interface and the line behind it.
pub(super) struct Egress {
    /// Who is next.
    pub(super) queue: Succession<Handle>,
    /// Nothing where there is no rate.
    line: Option<Line>,
    propagation: u64,
    /// What was granted, in the order in which it is due.
    flight: List,
    /// When the last of it is due.
    last: u64,
    /// The discipline's next event, or [`NEVER`].
    event: u64,
    /// The latest instant that was passed to the discipline.
    told: u64,
    /// Whether what is due found no room.
    pub(super) is_stuck: bool,
    /// Whether the discipline had nothing to grant when it was last asked: nothing changes without an event.
    is_dry: bool,
    /// How long after they were due packets were sent; nothing where there is no rate.
    pub(super) lateness: Spans,
    /// What was counted.
    pub(super) tallies: Tallies,
}

impl Egress {
    /// An empty queue before an idle line.
    pub(super) fn new(interface: &Interface, discipline: Boxed<Handle>, classes: usize) -> Self {
        let mut egress = Self {
            queue: Succession::new(discipline),
            line: None,
            propagation: 0,
            flight: List::default(),
            last: 0,
            event: NEVER,
            told: 0,
            is_stuck: false,
            is_dry: false,
            lateness: Spans::default(),
            tallies: Tallies::new(classes),
        };
        egress.set(interface);
        egress
    }

    /// Takes rate, framing and propagation; they hold from the next transmission on.
    pub(super) fn set(&mut self, interface: &Interface) {
        match (&mut self.line, interface.rate) {
            (Some(line), Some(rate)) => line.set(rate, interface.framing),
            (line, rate) => *line = rate.map(|rate| Line::new(rate, interface.framing)),
        }
        self.propagation = interface.propagation.get();
        self.is_dry = false;
    }

    /// Packets with the discipline.
    #[inline]
    pub(super) fn queued(&self) -> u64 {
        self.queue.backlog().items
    }

    /// Whether packets would be granted if the device had room.
    pub(super) fn wants_room(&self) -> bool {
        self.is_stuck || (self.line.is_none() && !self.is_dry && self.queued() > 0)
    }

    /// When something happens without an arrival, or [`NEVER`].
    pub(super) fn wake(&self, parked: &Parked) -> u64 {
        if self.is_stuck {
            return self.event;
        }
        let due = self.flight.first().map_or(NEVER, |frame| parked.entry(frame).release);
        let end = self.line.as_ref().map_or(NEVER, Line::end);
        // Over an empty queue an end changes nothing that could not wait for the next call.
        due.min(self.event).min(if self.queued() > 0 { end } else { NEVER })
    }

    /// Tells the discipline of a moment, which never decreases.
    #[inline]
    fn tell(&mut self, now: u64) -> Instant {
        self.told = self.told.max(now);
        Instant::new(self.told)
    }

    /// Reads the next event; one that is still due after it was handled waits for the next call.
    #[inline]
    fn read_event(&mut self) {
        let event = self.queue.next_event().map_or(NEVER, Instant::get);
        self.event = if event <= self.told { NEVER } else { event };
    }

    /// Whether a packet could begin on the line.
    #[inline]
    fn is_free(&self) -> bool {
        !self.is_stuck && self.line.as_ref().is_some_and(Line::is_idle)
    }

    /// Does all that the line and the discipline do up to `now`.
    #[inline]
    pub(super) fn advance(&mut self, now: u64, frames: &mut Frames<'_>) {
        let earliest = now.saturating_sub(CATCH_UP);
        loop {
            let end = self.line.as_ref().map_or(NEVER, Line::end);
            let end = if end == NEVER { NEVER } else { end.max(earliest) };
            let next = end.min(self.event);
            if next > now {
                return;
            }
            if let Some(line) = self.line.as_mut().filter(|_| end <= next) {
                line.finish();
            }
            if self.is_free() {
                self.serve(next, frames);
            } else if self.event <= next {
                self.settle_event(next, frames);
            }
        }
    }

    /// An event falls due while nothing can be sent.
    #[cold]
    fn settle_event(&mut self, now: u64, frames: &mut Frames<'_>) {
        let now = self.tell(now);
        handle_event(&mut self.queue, now, &mut Lost { tallies: &mut self.tallies, frames });
        self.is_dry = false;
        self.read_event();
    }

    /// The device has room again for all that is due.
    pub(super) fn unstick(&mut self, now: u64, frames: &mut Frames<'_>) {
        self.is_stuck = false;
        self.resume(now, frames);
    }

    /// The discipline, the line or what it waited for is another: who was waited for may be granted now.
    pub(super) fn resume(&mut self, now: u64, frames: &mut Frames<'_>) {
        self.is_dry = false;
        if self.is_free() { self.serve(now, frames) } else { self.read_event() }
    }

    /// The line is free since `begin`: the discipline decides. The moment it gets is never earlier than the one before.
    #[inline]
    fn serve(&mut self, begin: u64, frames: &mut Frames<'_>) {
        if let Some(handle) = self.ask(begin, frames) {
            let size = frames.parked.entry(handle.frame).size;
            let end = self.line.as_mut().map_or(begin, |line| line.start(begin, size));
            self.launch(handle, end, frames);
        }
    }

    /// Asks the discipline who is next.
    #[inline]
    fn ask(&mut self, now: u64, frames: &mut Frames<'_>) -> Option<Handle> {
        let now = self.tell(now);
        let grant = self.queue.dequeue(now, &Open, &mut Lost { tallies: &mut self.tallies, frames });
        if let Some(Grant { item, quantum }) = &grant {
            self.queue.finish(now, item, *quantum);
        }
        self.is_dry = grant.is_none();
        self.read_event();
        grant.map(|grant| grant.item)
    }

    /// The transmission of a packet ends at `end`.
    #[inline]
    fn launch(&mut self, handle: Handle, end: u64, frames: &mut Frames<'_>) {
        let release = end.saturating_add(self.propagation).max(self.last);
        self.last = release;
        let entry = frames.parked.entry_mut(handle.frame);
        (entry.release, entry.place) = (release, Place::Granted);
        let tally = self.tallies.class(entry.whose);
        tally.sojourn.add(Nanos::new(end.saturating_sub(entry.arrived)));
        if handle.is_marked() {
            tally.marked.add(entry.size.into());
            if let Some(buffer) = frames.parked.buffer_mut(handle.frame) {
                super::checksum::mark(frames.arena.bytes_mut(buffer));
            }
        }
        frames.parked.push(&mut self.flight, handle.frame);
    }

    /// A packet arrives at the queue; it may have come as early as `since`, and was not seen.
    #[inline]
    pub(super) fn arrive(&mut self, now: u64, since: u64, handle: Handle, frames: &mut Frames<'_>) {
        self.advance(now, frames);
        let told = self.tell(now);
        // The line cannot be interrupted, so there is nobody to preempt.
        let _ = self.queue.enqueue(told, handle, &mut Lost { tallies: &mut self.tallies, frames });
        self.is_dry = false;
        if self.is_free() {
            let free = self.line.as_ref().map_or(now, Line::free);
            self.serve(since.max(free).min(now), frames);
            // What it has made up for may have ended already, and others be next.
            self.advance(now, frames);
        } else {
            self.read_event();
        }
    }

    /// Without a rate: grants at most `most` packets.
    pub(super) fn grant(&mut self, now: u64, most: u32, frames: &mut Frames<'_>) {
        if self.line.is_some() || self.is_dry {
            return;
        }
        for _ in 0..most {
            let Some(handle) = self.ask(now, frames) else { return };
            let told = self.told;
            self.launch(handle, told, frames);
        }
    }

    /// The next packet that is due at `now`.
    #[inline]
    pub(super) fn due(&mut self, now: u64, parked: &mut Parked) -> Option<u32> {
        let first = self.flight.first()?;
        let late = now.checked_sub(parked.entry(first).release)?;
        if self.line.is_some() {
            self.lateness.add(Nanos::new(late));
        }
        parked.pop(&mut self.flight)
    }

    /// Whether a packet is due at `now`.
    #[inline]
    pub(super) fn is_due(&self, now: u64, parked: &Parked) -> bool {
        self.flight.first().is_some_and(|first| parked.entry(first).release <= now)
    }
}
