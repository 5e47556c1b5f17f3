//! Another configuration for a running router, without a packet lost.
//!
//! Everything new is built before anything is changed. Routes, classes, rates and addresses hold at once. What waits
//! moves to a new discipline in the order in which it arrived; a discipline that nothing has changed for is kept as it
//! is. Where the new one would drop any of it, the old one is served until it is empty, and the new one after it. If
//! that is not over when the next change comes, and the next one would drop any as well, all that waits is served in
//! the order of arrival first.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(frames log frames) for each interface whose discipline changes; allocates |
//! | Units | none |
//! | Departs from the source | what a discipline remembers of the past, such as since when a queue has stood, begins anew; a class that is gone is counted with the last one from then on |

use weir_core::message::fifo::Fifo;
use weir_core::packet::hash::Keyed;
use weir_core::registry::{PacketFactory, packet_factory};
use weir_core::units::Instant;
use weir_document::Refused;

use super::classify::Classifier;
use super::egress::Frames;
use super::frame::{self, Frame};
use super::parked::{Handle, Place};
use super::port::{Most, Port};
use super::routes::Routes;
use super::succession::Boxed;
use super::tally::ClassTally;
use super::vlan::{Origin, Trunks};
use super::{DeviceFacts, Plane, waiting};
use crate::arena::Arena;
use crate::config::{Interface, Router};

/// What is built before anything is changed.
struct Prepared {
    classifier: Classifier,
    routes: Routes,
    /// Of each interface, what makes its new discipline; nothing where it is kept.
    disciplines: Vec<Option<PacketFactory<Handle>>>,
    /// For each old class the new one of its name, or the last.
    classes: Vec<usize>,
}

impl Plane {
    /// Takes another configuration that follows this one (`Router::following`): it is built first, and nothing is changed where that fails.
    /// What waits moves over in order; nothing is lost, nothing is reordered within a flow, counters go on.
    ///
    /// # Errors
    /// A discipline refuses its arguments, or the interfaces are not those that there are and more behind them.
    pub fn reload(&mut self, now: Instant, router: Router, arena: &mut Arena) -> Result<(), Refused> {
        let prepared = self.prepare(&router)?;
        // What is past is decided by what was in force.
        for port in &mut self.ports {
            port.egress.advance(now.get(), &mut Frames { parked: &mut self.parked, arena });
        }
        self.classifier = prepared.classifier;
        self.routes = prepared.routes;
        self.renumber(&prepared.classes, router.classes.len());
        self.trunks = Trunks::new(&router);
        self.post.part.set_devices(router.device_places());
        for (at, make) in prepared.disciplines.into_iter().enumerate() {
            self.place(&router, at);
            self.ports[at].set(&router.interfaces[at]);
            self.ports[at].set_most_neighbours(
                &router.interfaces[at],
                router.most_neighbours,
                &mut self.parked,
            );
            if let Some(make) = make {
                self.succeed(now, at, &make, arena);
            }
            let frames = &mut Frames { parked: &mut self.parked, arena };
            self.ports[at].egress.resume(now.get(), frames);
        }
        self.holds = router.bounds();
        self.router = router;
        self.reloads += 1;
        Ok(())
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

    fn prepare(&self, router: &Router) -> Result<Prepared, Refused> {
        let names = |router: &Router| {
            let name = |it: &Interface| (it.name.clone(), it.device.clone(), it.vlan);
            router.interfaces.iter().map(name).collect::<Vec<_>>()
        };
        let (before, after) = (names(&self.router), names(router));
        if !after.starts_with(&before) || router.devices() != self.router.devices() {
            let [before, after] =
                [before, after].map(|all| all.into_iter().map(|(name, ..)| name).collect::<Vec<_>>());
            let reason =
                format!("has the interfaces `{}`, must have `{}`", after.join("`, `"), before.join("`, `"));
            let remedy = "keep them in their places, or restart the router";
            return Err(Refused::of_file(&router.name, reason, remedy));
        }
        let classifier = Classifier::new(router, self.seed);
        let is_relabelled = classifier != self.classifier;
        let mut disciplines = Vec::new();
        let mut part = self.part().clone();
        part.set_devices(router.device_places());
        for at in 0..router.interfaces.len() {
            let make = build(router, at, self.seed)?;
            let is_new = at >= self.ports.len();
            let is_kept = !part.serves(at)
                || !is_new && !is_relabelled && router.discipline_at(at) == self.router.discipline_at(at);
            disciplines.push((!is_kept).then_some(make));
        }
        let last = router.classes.len() - 1;
        let place = |name: &str| router.classes.iter().position(|class| class.name == name).unwrap_or(last);
        let classes = self.router.classes.iter().map(|class| place(&class.name)).collect();
        Ok(Prepared { classifier, routes: Routes::new(router), disciplines, classes })
    }

    /// Counters and packets take the numbers of the new classes.
    fn renumber(&mut self, new: &[usize], count: usize) {
        for port in &mut self.ports {
            let mut classes = vec![ClassTally::default(); count];
            for (tally, &at) in port.egress.classes.iter().zip(new) {
                classes[at].merge(tally);
            }
            port.egress.classes = classes;
        }
        // Those that have left too: the device may still fail to take them.
        for entry in self.parked.all_mut() {
            entry.class = new.get(usize::from(entry.class)).map_or(0, |&at| at as u16);
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
                let origin = Origin::of(arena.tags(self.parked.buffer(frame)?));
                Some(Handle::new(frame, self.classifier.label(&packet, origin), &packet))
            }
            // It was read when it came in, and its headers have been kept right since.
            _ => None,
        }
    }

    /// A new discipline takes the place of that of an interface.
    fn succeed(&mut self, now: Instant, at: usize, make: &PacketFactory<Handle>, arena: &Arena) {
        let waiting = self.waiting_at(at, arena);
        let queue = &mut self.ports[at].egress.queue;
        if let Some(next) = filled(now, make(), &waiting) {
            queue.replace(next);
        } else if queue.has_predecessor() {
            self.refill(now, at, make, arena);
        } else {
            queue.succeed(make());
        }
    }

    /// What waits at an interface is all put into its queue: into a new discipline, or before it where that would drop any.
    pub(super) fn refill(&mut self, now: Instant, at: usize, make: &PacketFactory<Handle>, arena: &Arena) {
        let waiting = self.waiting_at(at, arena);
        let queue = &mut self.ports[at].egress.queue;
        if let Some(next) = filled(now, make(), &waiting) {
            queue.replace(next);
        } else {
            queue.replace(filled(now, Box::new(Fifo::new()), &waiting).unwrap_or_else(make));
            queue.succeed(make());
        }
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

/// What makes the discipline of an interface.
pub(super) fn build(router: &Router, at: usize, seed: u64) -> Result<PacketFactory<Handle>, Refused> {
    let interface = &router.interfaces[at];
    let mut random = weir_core::random::Random::new(seed ^ (at as u64 + 1) << 32);
    let seeded = weir_core::registry::with_seeds(&router.discipline_at(at), &mut || random.bits());
    packet_factory(&seeded).map_err(|error| {
        Refused::of_file(&router.name, error.to_string(), "name a discipline of packets with such arguments")
            .key(format!("interface.{}.discipline", interface.name))
            .value(interface.discipline.to_string())
    })
}

#[cfg(test)]
mod tests;
