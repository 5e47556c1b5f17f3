//! How an interface finds its neighbours, and what waits for them meanwhile.
//!
//! | | |
//! |-|-|
//! | Source | this project; RFC 1122, section 2.3.2.2 (the latest packets are kept) |
//! | Work | O(1) a packet; O(packets that wait) where a neighbour answers or is given up |
//! | Units | nanoseconds since the daemon began |

use std::net::IpAddr;

use super::{DeviceFacts, Frames, List, Neighbours, Parked, Port, Reason};
use crate::arena::Arena;
use crate::config::{Interface, MacAddress};
use crate::discovery::{Speaker, ask};
use crate::neighbours::{Due, Freed, Look, MOST_WAITING};

impl Port {
    /// Looks for a neighbour, and asks for it where it is not known.
    #[inline]
    pub(in super::super) fn look(
        &mut self,
        now: u64,
        hop: IpAddr,
        slot: Option<u32>,
        frames: &mut Frames<'_>,
    ) -> Look {
        let look = self.neighbours.look(now, hop, slot);
        self.lose_all(look.displaced, Reason::NoNeighbour, frames);
        if look.ask {
            self.ask(now, hop, None, frames.arena);
        }
        look
    }

    /// Asks all for a neighbour, or the one device that had its address. Of the latter there are no more than entries, so
    /// that a scan of addresses cannot use up what is allowed of them.
    #[cold]
    fn ask(&mut self, now: u64, hop: IpAddr, at: Option<MacAddress>, arena: &mut Arena) {
        if at.is_none() && !self.questions.admits(now) {
            return;
        }
        let from = self.address_for(hop);
        if let Some(question) = ask(arena, self.facts.mac, from, hop, at) {
            self.say(question, arena);
        }
    }

    /// Takes what is known of the device now. Where it is another one, or its line was down, so may be its neighbours:
    /// what was learned is forgotten, and what waited looks for them anew.
    pub(in super::super) fn set_device(&mut self, facts: DeviceFacts, parked: &mut Parked) {
        let is_same = DeviceFacts { mtu: self.facts.mtu, ..facts } == self.facts;
        self.facts = facts;
        if is_same {
            return;
        }
        self.forget(parked);
    }

    /// Forgets what was learned of neighbours; what waits for them looks for them anew.
    fn forget(&mut self, parked: &mut Parked) {
        let mut from = 0;
        while let Some(mut waiting) = self.neighbours.forget(&mut from) {
            self.make_ready(&mut waiting, parked);
        }
    }

    /// Makes room for a number of neighbours: where it was for another number, all are looked for anew.
    pub(in super::super) fn set_most_neighbours(
        &mut self,
        interface: &Interface,
        most: u32,
        parked: &mut Parked,
    ) {
        if self.neighbours.most() != most as usize {
            self.forget(parked);
            self.neighbours = Neighbours::new(&interface.neighbours, most, self.hash);
        }
    }

    /// The first of those who wait with a neighbour does so no longer.
    fn release_one(&mut self, list: &mut List, parked: &mut Parked) -> Option<u32> {
        let frame = parked.pop(list)?;
        self.waiting.leave(parked, frame);
        Some(frame)
    }

    fn make_ready(&mut self, list: &mut List, parked: &mut Parked) {
        while let Some(frame) = self.release_one(list, parked) {
            parked.push(&mut self.ready, frame);
        }
    }

    /// A neighbour said its address: what waited for it is ready.
    pub(in super::super) fn heard(
        &mut self,
        now: u64,
        speaker: Speaker,
        learn: bool,
        frames: &mut Frames<'_>,
    ) {
        self.now = self.now.max(now);
        if self.is_own(speaker.address) {
            return;
        }
        let learn = learn && self.is_near(speaker.address);
        let Freed { mut waiting, displaced } = self.neighbours.heard(now, speaker, learn);
        self.make_ready(&mut waiting, frames.parked);
        self.lose_all(displaced, Reason::NoNeighbour, frames);
    }

    fn lose_all(&mut self, mut list: List, reason: Reason, frames: &mut Frames<'_>) {
        while let Some(frame) = self.release_one(&mut list, frames.parked) {
            self.lose(frame, reason, frames);
        }
    }

    /// A packet waits for a neighbour that was asked for. Where too many do, with this neighbour or at this interface, the
    /// oldest of them goes.
    #[cold]
    pub(super) fn wait(&mut self, frame: u32, slot: u32, frames: &mut Frames<'_>) {
        if self.neighbours.waiting(slot).is_some_and(|list| list.count >= MOST_WAITING) {
            self.lose_first(slot, frames);
        } else if let Some(oldest) = self.waiting.surplus() {
            self.lose_first(frames.parked.entry(oldest).slot, frames);
        }
        frames.parked.entry_mut(frame).slot = slot;
        match self.neighbours.waiting(slot) {
            Some(list) => {
                frames.parked.push(list, frame);
                self.waiting.join(frames.parked, frame);
            }
            None => self.lose(frame, Reason::NeighbourQueueFull, frames),
        }
    }

    /// Drops the packet that has waited longest with a neighbour.
    fn lose_first(&mut self, slot: u32, frames: &mut Frames<'_>) {
        let first = self.neighbours.waiting(slot).and_then(|list| frames.parked.pop(list));
        if let Some(first) = first {
            self.waiting.leave(frames.parked, first);
            self.lose(first, Reason::NeighbourQueueFull, frames);
        }
    }

    /// Asks again for neighbours that have not answered, and gives up those that will not. Those for whose question there
    /// is no room yet have their turn when there is: a question that was not sent says nothing of who does not answer.
    pub(super) fn expire(&mut self, now: u64, frames: &mut Frames<'_>) {
        while self.has_room_to_say()
            && let Some((address, due, given_up)) = self.neighbours.expire(now)
        {
            match due {
                Due::Ask => self.ask(now, address, None, frames.arena),
                Due::Probe(mac) => self.ask(now, address, Some(mac), frames.arena),
                Due::GaveUp => self.lose_all(given_up, Reason::NoNeighbour, frames),
            }
        }
    }
}
