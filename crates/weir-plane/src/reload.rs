//! Another configuration for a running router, without a packet lost.
//!
//! Everything new is built before anything is changed ([`Successor`]), by whoever has time for it. Routes, classes, rates and addresses hold at once. What waits
//! moves to a new discipline in the order in which it arrived; a discipline that nothing has changed for is kept as it
//! is. Where the new one would drop any of it, the old one is served until it is empty, and the new one after it. If
//! that is not over when the next change comes, and the next one would drop any as well, all that waits is served in
//! the order of arrival first.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(frames log frames + subscribers) for each interface whose discipline changes; allocates |
//! | Units | none |
//! | Departs from the source | what a discipline remembers of the past, such as since when a queue has stood, begins anew; a class that is gone is counted with the last one from then on |

use weir_core::item::ClassId;
use weir_core::message::fifo::Fifo;
use weir_core::packet::hash::Keyed;
use weir_core::units::Instant;
use weir_document::Refused;

use super::classify::Label;
use super::egress::Frames;
use super::frame::{self, Frame, Packet};
use super::parked::{Handle, Place};
use super::port::{Most, Port};
use super::subscribers::Subscribed;
use super::succession::{Boxed, Succession};
use super::successor::{Queues, Remains, Successor};
use super::tally::{ClassTally, Whose};
use super::vlan::Origin;
use super::{DeviceFacts, Plane, waiting};
use crate::arena::Arena;
use crate::config::{Interface, Router};

impl Plane {
    /// Takes a configuration that was built. What it leaves comes back.
    ///
    /// # Errors
    /// The interfaces are others; then nothing is changed.
    pub fn replace(&mut self, now: Instant, new: Successor, arena: &mut Arena) -> Result<Remains, Refused> {
        self.compare(&new.router)?;
        // What is past is decided by what was in force.
        for port in &mut self.ports {
            port.egress.advance(now.get(), &mut Frames { parked: &mut self.parked, arena });
        }
        let places = 0..new.router.interfaces.len();
        let kept: Vec<bool> = places.clone().map(|at| self.is_kept(at, &new)).collect();
        let Successor { router, classifier, routes, trunks, holds, queues, subscribed } = new;
        self.renumber(&self.classes_of(&router), router.classes.len());
        self.post.part.set_devices(router.device_places());
        places.for_each(|at| self.place(&router, at));
        let classifier = core::mem::replace(&mut self.classifier, classifier);
        let routes = core::mem::replace(&mut self.routes, routes);
        let trunks = core::mem::replace(&mut self.trunks, trunks);
        self.holds = holds;
        let router = core::mem::replace(&mut self.router, router);
        let mut remains = Remains::default();
        remains.keep((classifier, routes, trunks, router));
        let parts = queues.into_iter().zip(subscribed).zip(kept);
        for (at, ((mut queues, subscribed), is_kept)) in parts.enumerate() {
            let (interface, most) = (&self.router.interfaces[at], self.router.most_neighbours);
            self.ports[at].set(interface);
            self.ports[at].set_most_neighbours(interface, most, &mut self.parked);
            if !is_kept {
                self.resubscribe(at, subscribed, &mut remains);
                self.succeed(now, at, &mut queues, arena, &mut remains);
            }
            let frames = &mut Frames { parked: &mut self.parked, arena };
            self.ports[at].egress.resume(now.get(), frames);
            remains.keep(queues);
        }
        self.reloads += 1;
        Ok(remains)
    }

    /// Refuses a list of interfaces that does not begin with those that there are.
    fn compare(&self, router: &Router) -> Result<(), Refused> {
        let names = |router: &Router| {
            let name = |it: &Interface| (it.name.clone(), it.device.clone(), it.vlan);
            router.interfaces.iter().map(name).collect::<Vec<_>>()
        };
        let (before, after) = (names(&self.router), names(router));
        if after.starts_with(&before) && router.devices() == self.router.devices() {
            return Ok(());
        }
        let [before, after] =
            [before, after].map(|all| all.into_iter().map(|(name, ..)| name).collect::<Vec<_>>());
        let reason =
            format!("has the interfaces `{}`, must have `{}`", after.join("`, `"), before.join("`, `"));
        let remedy = "keep them in their places, or restart the router";
        Err(Refused::of_file(&router.name, reason, remedy))
    }

    /// An interface is new, there again, or there no longer: then what waits there is dropped as of one that is down.
    fn place(&mut self, router: &Router, at: usize) {
        let (interface, count) = (&router.interfaces[at], router.classes.len());
        let facts = self.devices[router.device_places()[at]];
        let Some(was) = self.router.interfaces.get(at) else {
            let waiting = waiting::share(self.parked.frames(), router.interfaces.len());
            let most = Most { neighbours: router.most_neighbours, waiting };
            let hash = Keyed::new(self.seed);
            self.ports.push(Port::new(interface, facts, Box::new(Fifo::new()), count, hash, most));
            return;
        };
        match (was.is_removed, interface.is_removed) {
            (false, true) => self.ports[at].set_device(DeviceFacts::default(), &mut self.parked),
            (true, false) => self.ports[at].set_device(facts, &mut self.parked),
            _ => {}
        }
    }

    /// Whether the queue of an interface would be the same.
    fn is_kept(&self, at: usize, new: &Successor) -> bool {
        let mut part = self.part().clone();
        part.set_devices(new.router.device_places());
        let after = &new.router.interfaces[at];
        let Some(before) = self.router.interfaces.get(at) else { return !part.serves(at) };
        let same_shares = match (&before.subscribers, &after.subscribers) {
            (None, None) => true,
            (before_it, after_it) => before_it == after_it && before.rate == after.rate,
        };
        !part.serves(at)
            || new.classifier == self.classifier
                && same_shares
                && new.router.discipline_at(at) == self.router.discipline_at(at)
    }

    /// For each class in force the new one of its name, or the last.
    fn classes_of(&self, router: &Router) -> Vec<usize> {
        let last = router.classes.len() - 1;
        let place = |name: &str| router.classes.iter().position(|class| class.name == name).unwrap_or(last);
        self.router.classes.iter().map(|class| place(&class.name)).collect()
    }

    /// Counters and packets of subscribers are of those of the same name from now on.
    fn resubscribe(&mut self, at: usize, new: Option<Subscribed>, remains: &mut Remains) {
        let port = &mut self.ports[at];
        let numbers = match (&port.subscribed, &new) {
            (Some(before), Some(after)) => after.successors_of(before),
            _ => Vec::new(),
        };
        let (subscribed, before) = port.subscribe(new);
        let after = &mut port.egress.tallies.subscribers;
        for (counts, &to) in before.iter().zip(&numbers) {
            after[usize::from(to)].add(*counts);
        }
        // What waits and was of none so far is of all others.
        let others = port.subscribed.as_ref().map_or(0, Subscribed::others);
        let is_first = before.is_empty();
        for entry in self.parked.all_mut().filter(|entry| usize::from(entry.egress) == at) {
            let was = usize::from(entry.whose.subscriber);
            entry.whose.subscriber = numbers.get(was).copied().unwrap_or(others);
            if is_first
                && matches!(entry.place, Place::Queued | Place::Granted)
                && let Some(counts) = after.get_mut(usize::from(others))
            {
                counts.waiting.add(entry.size.into());
            }
        }
        remains.keep((subscribed, before));
    }

    /// Counters and packets take the numbers of the new classes.
    fn renumber(&mut self, new: &[usize], count: usize) {
        for port in &mut self.ports {
            let mut classes = vec![ClassTally::default(); count];
            for (tally, &at) in port.egress.tallies.classes.iter().zip(new) {
                classes[at].merge(tally);
            }
            port.egress.tallies.classes = classes;
        }
        // Those that have left too: the device may still fail to take them.
        for entry in self.parked.all_mut() {
            entry.whose.class = new.get(usize::from(entry.whose.class)).map_or(0, |&at| at as u16);
        }
    }

    /// What waits at an interface, labelled anew, in the order of arrival.
    fn waiting_at(&self, at: usize, arena: &Arena) -> Vec<Handle> {
        let here = |frame: &u32| {
            let entry = self.parked.entry(*frame);
            entry.place == Place::Queued && usize::from(entry.egress) == at
        };
        let mut frames: Vec<u32> = self.parked.present().map(|(frame, _)| frame).filter(here).collect();
        frames.sort_unstable_by_key(|&frame| self.parked.entry(frame).sequence);
        frames.into_iter().filter_map(|frame| self.handle(frame, arena)).collect()
    }

    /// The handle of a packet that waits, under the classes and flows in force.
    fn handle(&self, frame: u32, arena: &Arena) -> Option<Handle> {
        match frame::read(arena.bytes(self.parked.buffer(frame)?)) {
            Ok(Frame::Ip(packet)) => {
                let egress = usize::from(self.parked.entry(frame).egress);
                let origin = Origin::of(arena.tags(self.parked.buffer(frame)?));
                Some(Handle::new(frame, self.label(egress, &packet, origin).0, &packet))
            }
            // It was read when it came in, and its headers have been kept right since.
            _ => None,
        }
    }

    /// What a packet is labelled for the discipline of the interface that it leaves by, and whose it is.
    #[inline]
    pub(super) fn label(&self, egress: usize, packet: &Packet, origin: Origin) -> (Label, Whose) {
        let mut label = self.classifier.label(packet, origin);
        let mut whose = Whose { class: label.class.0, subscriber: 0 };
        if let Some(subscribed) = &self.ports[egress].subscribed {
            whose.subscriber = subscribed.class(&packet.ends);
            label.class = ClassId(whose.subscriber);
        }
        (label, whose)
    }

    /// A new discipline takes the place of that of an interface.
    fn succeed(
        &mut self,
        now: Instant,
        at: usize,
        queues: &mut Queues,
        arena: &Arena,
        remains: &mut Remains,
    ) {
        let waiting = self.waiting_at(at, arena);
        let queue = &mut self.ports[at].egress.queue;
        if let Some(next) = filled(now, queues.next(), &waiting) {
            remains.keep(queue.replace(next));
        } else if queue.has_predecessor() {
            remains.keep(self.refill(now, at, queues, arena));
        } else {
            queue.succeed(queues.next());
        }
    }

    /// What waits at an interface is all put into its queue: into a new discipline, or before it where that would drop any.
    /// What it was in comes back.
    pub(super) fn refill(
        &mut self,
        now: Instant,
        at: usize,
        queues: &mut Queues,
        arena: &Arena,
    ) -> Option<Succession<Handle>> {
        let waiting = self.waiting_at(at, arena);
        let queue = &mut self.ports[at].egress.queue;
        if let Some(next) = filled(now, queues.next(), &waiting) {
            return Some(queue.replace(next));
        }
        let next = filled(now, Box::new(Fifo::new()), &waiting)?;
        let before = queue.replace(next);
        queue.succeed(queues.next());
        Some(before)
    }
}

/// A discipline with all of these packets, unless it drops any.
fn filled(now: Instant, mut discipline: Boxed<Handle>, waiting: &[Handle]) -> Option<Boxed<Handle>> {
    let mut drops = Vec::new();
    for handle in waiting {
        // Nothing is served yet, so there is nobody to preempt.
        let _ = discipline.enqueue(now, *handle, &mut drops);
    }
    drops.is_empty().then_some(discipline)
}

#[cfg(test)]
mod tests;
