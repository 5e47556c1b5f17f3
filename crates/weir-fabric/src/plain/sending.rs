//! The links of the plain engine: packets come before schedulers, links ask them, packets start.

use super::Plain;
use super::calendar::Event;
use super::sender::{Closed, Credits, Sender};
use crate::build;
use crate::crossbar::Waiting;
use crate::packet::Handle;
use crate::record::Sink;
use crate::time::{NEVER, TICKS_PER_NANO, Ticks, instant, nanos};
use crate::topology::End;
use crate::verify::Busy;
use weir_core::discipline::{Discipline, Grant};
use weir_core::units::Bytes;

impl<S: Sink + ?Sized> Plain<'_, S> {
    /// A packet is before the scheduler of a link.
    pub(super) fn queue(&mut self, now: Ticks, link: u32, handle: Handle) {
        let sender = &mut self.senders[link as usize];
        // A link cannot be interrupted, so there is nobody to preempt.
        let _ = sender.scheduler.enqueue(instant(now), handle, &mut self.lost);
        self.links.mark(link);
        self.after_call(now, link);
    }

    /// Sees whether the discipline of a link dropped anything, and when it is woken.
    pub(super) fn after_call(&mut self, now: Ticks, link: u32) {
        if let Some((handle, reason)) = self.lost.0.take() {
            let reason = format!(
                "it drops a packet of channel {} at {} at {} ns, {}: the fabric is lossless, take away its limits",
                handle.channel,
                self.place(link),
                nanos(now),
                build::why(reason),
            );
            self.fail(reason);
        }
        let sender = &mut self.senders[link as usize];
        let event = sender.scheduler.next_event().map_or(NEVER, |at| at.get().saturating_mul(TICKS_PER_NANO));
        if event > now && event < sender.wakes {
            sender.wakes = event;
            self.calendar.note(event, Event::Wake { link });
        }
    }

    /// The discipline of a link changes by itself. Where the link sends it is asked behind a closed gate.
    pub(super) fn wake(&mut self, now: Ticks, link: u32) {
        let sender = &mut self.senders[link as usize];
        if sender.wakes != now {
            return;
        }
        sender.wakes = NEVER;
        self.links.mark(link);
        if sender.busy {
            let at = instant(now);
            if let Some(Grant { item, .. }) = sender.scheduler.dequeue(at, &Closed, &mut self.lost) {
                sender.scheduler.requeue(at, item, Bytes::new(0), &mut self.lost);
            }
            self.after_call(now, link);
        }
    }

    /// A free link asks its discipline, and starts what that grants.
    pub(super) fn ask(&mut self, now: Ticks, link: u32) {
        let Sender { scheduler, busy, credits, .. } = &mut self.senders[link as usize];
        if *busy {
            return;
        }
        let grant = scheduler.dequeue(instant(now), &Credits(credits), &mut self.lost);
        if let Some(Grant { item, quantum }) = grant {
            scheduler.finish(instant(now), &item, quantum);
            self.send(now, link, item);
        }
        self.after_call(now, link);
    }

    /// A packet starts on a link.
    pub(super) fn send(&mut self, now: Ticks, link: u32, handle: Handle) {
        let size = self.store.get(handle.id).size;
        let (end, channel) = (now + self.timing.line.of(size), usize::from(handle.channel));
        let sender = &mut self.senders[link as usize];
        sender.busy = true;
        let to = sender.to;
        self.calendar.note(end, Event::Free { link, handle });
        let tail = end + self.timing.propagation;
        match to {
            End::Port(port) => {
                let credits = &mut self.senders[link as usize].credits[channel];
                let Some(left) = credits.checked_sub(handle.credits.into()) else {
                    let (credits, place) = (*credits, self.place(link));
                    let reason = format!(
                        "it sends a packet of {} credits at {place} at {} ns, where its channel has {credits}: \
                         it asks no gate, take another",
                        handle.credits,
                        nanos(now),
                    );
                    return self.fail(reason);
                };
                *credits = left;
                let waiting = Waiting { handle, tail, output: None };
                self.calendar.note(now + self.timing.head + self.timing.before, Event::Bid { port, waiting });
            }
            End::Host(host) => self.calendar.note(tail, Event::Delivered { host, handle }),
            End::Nothing => self.fail(format!("it sends at {}, which leads nowhere", self.place(link))),
        }
        self.tally.traversals += u64::from(!self.over);
        if let Some(audit) = &mut self.audit {
            audit.started(Busy { from: now, until: end }, link, handle);
            audit.check_link(now, link, handle.channel, &self.senders[link as usize]);
        }
    }

    /// A link has sent a packet.
    pub(super) fn free(&mut self, now: Ticks, link: u32, handle: Handle) {
        let sender = &mut self.senders[link as usize];
        sender.busy = false;
        sender.room[usize::from(handle.channel)] += u32::from(handle.credits);
        if let Some(audit) = &mut self.audit {
            audit.left(link, handle);
            audit.check_link(now, link, handle.channel, sender);
        }
        self.links.mark(link);
        match link.checked_sub(self.wiring.hosts()) {
            None => self.interfaces.mark(link),
            Some(port) => self.switches.mark(self.wiring.switch_and_port(port).0),
        }
    }
}
