//! The switches of the plain engine: crossbars are filled, transfers start and end.

use super::Plain;
use super::calendar::Event;
use crate::crossbar::{Transfer, Waiting};
use crate::model::Routing;
use crate::packet::Handle;
use crate::record::Sink;
use crate::route::Router;
use crate::time::Ticks;
use crate::verify::Busy;

impl<S: Sink + ?Sized> Plain<'_, S> {
    /// A switch fills its crossbar; where heads choose anew, until nothing more starts.
    pub(super) fn fill(&mut self, now: Ticks, switch: u32) {
        while self.fill_once(now, switch) && self.fabric.routing == Routing::AdaptiveUp {}
    }

    /// A switch goes through its outputs; whether anything started.
    pub(super) fn fill_once(&mut self, now: Ticks, switch: u32) -> bool {
        let outputs = self.wiring.hosts() + switch * self.wiring.ports();
        let (router, store, senders) = (&self.router, &self.store, &self.senders);
        let fixed = self.fabric.routing != Routing::AdaptiveUp;
        self.crossbars.route(switch, fixed, |waiting, idle| {
            let (packet, handle) = (store.get(waiting.handle.id), waiting.handle);
            if fixed {
                return router.port(switch, packet.destination, packet.way);
            }
            let room = |port: u32| {
                let room = senders[(outputs + port) as usize].room[usize::from(handle.channel)];
                let goes = idle >> port & 1 == 1 && room >= u32::from(handle.credits);
                goes.then_some(room)
            };
            most_room(router, switch, packet.destination, room)
        });
        let mut started = false;
        for output in 0..self.wiring.ports() {
            let link = outputs + output;
            let room = |handle: Handle| {
                self.senders[link as usize].room[usize::from(handle.channel)] >= u32::from(handle.credits)
            };
            if let Some((input, waiting)) = self.crossbars.next(switch, output, room) {
                self.transfer(now, input, link, &waiting);
                started = true;
            }
        }
        started
    }

    /// A transfer starts, from an input to the buffer before a link.
    pub(super) fn transfer(&mut self, now: Ticks, input: u32, link: u32, waiting: &Waiting) {
        let handle = waiting.handle;
        let size = self.store.get(handle.id).size;
        let end = (now + self.timing.crossbar.of(size)).max(waiting.tail);
        let sender = &mut self.senders[link as usize];
        sender.room[usize::from(handle.channel)] -= u32::from(handle.credits);
        if let Some(audit) = &mut self.audit {
            audit.entered(link, handle);
            audit.transferred(Busy { from: now, until: end }, link, size, waiting);
            audit.check_link(now, link, handle.channel, sender);
        }
        let output = link - self.wiring.hosts();
        self.calendar.note(end, Event::Through(Transfer { input, output, handle }));
        self.calendar.note(now + self.timing.behind, Event::Visible { link, handle });
    }

    /// A transfer has ended.
    pub(super) fn through(&mut self, now: Ticks, transfer: Transfer) {
        let Transfer { input, handle, .. } = transfer;
        self.crossbars.end(transfer);
        self.switches.mark(self.wiring.switch_and_port(input).0);
        let link = self.link_into(input);
        let (channel, credits) = (handle.channel, handle.credits);
        self.calendar.note(now + self.timing.credit_return, Event::Credit { link, channel, credits });
        if let Some(audit) = &mut self.audit {
            audit.released(link, handle);
            audit.check_link(now, link, channel, &self.senders[link as usize]);
            audit.check_input(now, link, channel, self.crossbars.held(input, channel));
        }
    }
}

/// The port down, or the upper one with the most room, of those that have any; of equals the first from that of
/// deterministic routing on.
fn most_room(router: &Router, switch: u32, destination: u32, room: impl Fn(u32) -> Option<u32>) -> u32 {
    if let Some(port) = router.down(switch, destination) {
        return port;
    }
    let (up, own) = (router.up(), router.port(switch, destination, router.way(destination)));
    let mut best = own;
    for port in (own..up.end).chain(up.start..own) {
        if room(port) > room(best) {
            best = port;
        }
    }
    best
}
