//! One interface of the router: what came in by it was counted here, what leaves by it waits here.
//!
//! Each frame that is due finds its neighbour now, not when it was queued. Answers of the router itself pass by the
//! queue: they are few, and not what the discipline is to share the line among.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work per packet | O(1) besides the discipline's |
//! | Memory | the discipline's, the neighbours', counters by class, [`MOST_ANSWERS`] answers; of the frames a share waits for neighbours ([`Waiting`]) |
//! | Units | nanoseconds since the daemon began; bytes of IP |

use std::collections::VecDeque;
use std::net::IpAddr;

use ipnet::IpNet;
use weir_core::packet::hash::Keyed;

use super::DeviceFacts;
use super::answers::Limit;
use super::discovery::link_local;
use super::egress::{Egress, Frames};
use super::frame::Packet;
use super::line::NEVER;
use super::neighbours::{Found, Neighbours};
use super::parked::{Handle, List, Parked};
use super::snapshot::{Count, Reason};
use super::subscribers::{Subscribed, SubscriberCounts};
use super::succession::Boxed;
use super::tally::Reasons;
use super::vlan::Exit;
use super::waiting::Waiting;
use crate::arena::{Arena, Buffer};
use crate::config::{Class, Interface, MacAddress, Mark};

mod resolve;

/// The most answers and questions of the router that wait to be sent.
const MOST_ANSWERS: usize = 128;

/// What came in by an interface, and what the router said there.
#[derive(Clone, Debug, Default)]
pub(super) struct IngressTally {
    /// Came in.
    pub(super) received: Count,
    /// For the router itself.
    pub(super) to_router: Count,
    /// Dropped before it joined a queue.
    pub(super) refused: Reasons,
    /// Said by the router.
    pub(super) originated: Count,
    /// Cut, and so no longer there.
    pub(super) fragmented: Count,
    /// What they were cut into.
    pub(super) fragments: Count,
}

/// What is reported once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Once {
    /// It has not happened.
    Never,
    /// It has, and is to be reported.
    Due,
    /// It was reported.
    Told,
}

impl Once {
    /// It happens.
    pub(super) fn happen(&mut self) {
        if *self == Self::Never {
            *self = Self::Due;
        }
    }
}

/// Packets that left, to be given to the device.
pub(super) struct Outlet<'a> {
    /// How many more it takes.
    pub(super) room: u32,
    /// What is changed about their packets.
    pub(super) classes: &'a [Class],
    /// Where they go.
    pub(super) into: &'a mut Vec<Buffer>,
}

/// How much an interface keeps of its neighbours.
#[derive(Clone, Copy)]
pub(super) struct Most {
    /// Those that are learned.
    pub(super) neighbours: u32,
    /// Packets that wait for them.
    pub(super) waiting: u32,
}

/// One interface.
pub(super) struct Port {
    /// Its device.
    pub(super) facts: DeviceFacts,
    /// The largest packet that the configuration lets leave here.
    mtu: Option<u32>,
    /// The tags of what leaves.
    exit: Exit,
    /// The router's addresses here.
    addresses: Vec<IpNet>,
    /// What waits to leave.
    pub(super) egress: Egress,
    /// Who is next.
    pub(super) neighbours: Neighbours,
    /// How neighbours are found in their table.
    hash: Keyed,
    /// Packets that wait for a neighbour.
    waiting: Waiting,
    /// Packets whose neighbour has answered.
    ready: List,
    /// What the router itself says.
    answers: VecDeque<Buffer>,
    /// The last instant that was passed to it.
    now: u64,
    /// How many errors it sends.
    pub(super) errors: Limit,
    /// How many echoes it sends.
    pub(super) echoes: Limit,
    /// How often it asks for neighbours.
    questions: Limit,
    /// Whether nothing new is queued.
    pub(super) is_draining: bool,
    /// Whose packets they are that leave here; nothing where there are no subscribers.
    pub(super) subscribed: Option<Subscribed>,
    /// What came in.
    pub(super) tally: IngressTally,
    /// Whether packets with partial checksums are to be reported to the operator.
    pub(super) partial: Once,
}

impl Port {
    /// An interface with empty queues.
    pub(super) fn new(
        interface: &Interface,
        facts: DeviceFacts,
        discipline: Boxed<Handle>,
        classes: usize,
        hash: Keyed,
        most: Most,
    ) -> Self {
        let mut port = Self {
            facts,
            mtu: None,
            exit: Exit::default(),
            addresses: Vec::new(),
            egress: Egress::new(interface, discipline, classes),
            neighbours: Neighbours::new(&interface.neighbours, most.neighbours, hash),
            hash,
            waiting: Waiting::new(most.waiting),
            ready: List::default(),
            answers: VecDeque::with_capacity(MOST_ANSWERS),
            now: 0,
            errors: Limit::new(1_000, 50),
            echoes: Limit::new(10_000, 100),
            questions: Limit::new(1_000, 100),
            is_draining: false,
            subscribed: None,
            tally: IngressTally::default(),
            partial: Once::Never,
        };
        port.set(interface);
        port
    }

    /// Takes what a configuration says, all but the discipline.
    pub(super) fn set(&mut self, interface: &Interface) {
        self.mtu = interface.mtu.map(|mtu| u32::try_from(mtu.get()).unwrap_or(u32::MAX));
        self.exit = Exit::new(interface);
        self.addresses.clone_from(&interface.addresses);
        self.egress.set(interface);
        self.neighbours.set_fixed(&interface.neighbours);
    }

    /// Takes subscribers, none of which has been counted; those of before, with their counts.
    pub(super) fn subscribe(
        &mut self,
        to: Option<Subscribed>,
    ) -> (Option<Subscribed>, Vec<SubscriberCounts>) {
        let counts = to.as_ref().map_or(Vec::new(), Subscribed::counts);
        let before = core::mem::replace(&mut self.egress.tallies.subscribers, counts);
        (core::mem::replace(&mut self.subscribed, to), before)
    }

    /// The time is `now`.
    pub(super) fn tell(&mut self, now: u64) {
        self.now = self.now.max(now);
    }

    /// The largest packet that leaves here.
    #[inline]
    pub(super) fn mtu(&self) -> u32 {
        let whole = self.facts.mtu.saturating_sub(self.exit.beyond_mtu());
        self.mtu.map_or(whole, |mtu| mtu.min(self.facts.mtu))
    }

    /// The router's address from which to speak with another.
    pub(super) fn address_for(&self, other: IpAddr) -> Option<IpAddr> {
        let same_kind = || self.addresses.iter().filter(|net| net.addr().is_ipv4() == other.is_ipv4());
        let near = same_kind().find(|net| net.contains(&other));
        near.or_else(|| same_kind().next()).map(IpNet::addr)
    }

    /// Whether an address is the router's, here.
    pub(super) fn is_own(&self, address: IpAddr) -> bool {
        let is_link_local = || address == IpAddr::V6(link_local(self.facts.mac));
        self.addresses.iter().any(|net| net.addr() == address) || is_link_local()
    }

    /// Whether a packet comes from a link-local address, and goes to the router's here.
    #[cold]
    pub(super) fn is_between_links(&self, packet: &Packet) -> bool {
        let is_link_local =
            |address| matches!(address, IpAddr::V6(address) if address.is_unicast_link_local());
        let (source, destination) = (packet.ends.source(), packet.ends.destination());
        is_link_local(source) && is_link_local(destination) && self.is_own(destination)
    }

    /// Whether an address is in a prefix of this interface, or reaches no further than its link.
    pub(super) fn is_near(&self, address: IpAddr) -> bool {
        let link_local = matches!(address, IpAddr::V6(address) if address.is_unicast_link_local());
        link_local || self.addresses.iter().any(|net| net.contains(&address))
    }

    /// Something of the router itself is to be sent; it is given up where too much waits already.
    pub(super) fn say(&mut self, buffer: Buffer, arena: &mut Arena) {
        if self.has_room_to_say() && self.facts.up {
            self.answers.push_back(buffer);
        } else {
            arena.give(buffer);
        }
    }

    /// Whether something more of the router itself may wait to be sent.
    fn has_room_to_say(&self) -> bool {
        self.answers.len() < MOST_ANSWERS
    }

    /// Drops a packet that waited here.
    fn lose(&mut self, frame: u32, reason: Reason, frames: &mut Frames<'_>) {
        let entry = frames.parked.entry(frame);
        let egress = usize::from(entry.egress);
        self.egress.tallies.lose(entry.whose, reason, entry.size);
        if let Some(buffer) = frames.parked.take(frame) {
            frames.arena.note(&buffer, egress, reason);
            frames.arena.give(buffer);
        }
    }

    /// Sends what is to be sent at `now`.
    pub(super) fn depart(&mut self, now: u64, frames: &mut Frames<'_>, outlet: &mut Outlet<'_>) {
        self.now = self.now.max(now);
        self.expire(now, frames);
        if !self.facts.up {
            // Nothing is waited for that will not be sent.
            outlet.room = u32::MAX;
        }
        self.send_answers(frames, outlet);
        self.release(now, frames, outlet);
        self.egress.advance(now, frames);
        if self.egress.is_stuck && !self.has_due(now, frames) {
            self.egress.unstick(now, frames);
            self.egress.advance(now, frames);
        }
        self.release(now, frames, outlet);
        self.egress.grant(now, outlet.room, frames);
        self.release(now, frames, outlet);
        // Who is looked for only now is asked for now.
        self.send_answers(frames, outlet);
        self.egress.is_stuck = self.has_due(now, frames);
    }

    fn has_due(&self, now: u64, frames: &Frames<'_>) -> bool {
        self.ready.count > 0 || !self.answers.is_empty() || self.egress.is_due(now, frames.parked)
    }

    fn send_answers(&mut self, frames: &mut Frames<'_>, outlet: &mut Outlet<'_>) {
        while outlet.room > 0 {
            let Some(mut answer) = self.answers.pop_front() else { return };
            if !self.facts.up {
                frames.arena.give(answer);
                continue;
            }
            self.tally.originated.add(answer.length().saturating_sub(super::frame::ETHERNET as u32));
            frames.parked.forget(answer.frame());
            if !self.exit.dress(&mut answer, frames.arena, Mark::default()) {
                frames.arena.give(answer);
                continue;
            }
            outlet.into.push(answer);
            outlet.room -= 1;
        }
    }

    /// Sends those that are due, those first whose neighbour has just answered.
    fn release(&mut self, now: u64, frames: &mut Frames<'_>, outlet: &mut Outlet<'_>) {
        while outlet.room > 0 {
            let ready = frames.parked.pop(&mut self.ready);
            let Some(frame) = ready.or_else(|| self.egress.due(now, frames.parked)) else { return };
            self.send(now, frame, frames, outlet);
        }
    }

    /// Writes the header of a packet that is due, if its neighbour is known.
    #[inline]
    fn send(&mut self, now: u64, frame: u32, frames: &mut Frames<'_>, outlet: &mut Outlet<'_>) {
        if !self.facts.up {
            return self.lose(frame, Reason::InterfaceDown, frames);
        }
        let entry = frames.parked.entry(frame);
        let (hop, slot) = (entry.hop, entry.slot);
        let look = self.look(now, hop, Some(slot), frames);
        match look.found {
            Found::Known(mac) => self.forward(frame, mac, frames, outlet),
            Found::Asked => self.wait(frame, look.slot, frames),
            Found::Silent => self.lose(frame, Reason::NoNeighbour, frames),
        }
    }

    #[inline]
    fn forward(&mut self, frame: u32, to: MacAddress, frames: &mut Frames<'_>, outlet: &mut Outlet<'_>) {
        let entry = frames.parked.entry(frame);
        self.egress.tallies.forward(entry.whose, entry.size);
        let class = usize::from(entry.whose.class);
        if let Some(mut buffer) = frames.parked.leave(frame) {
            let header = frames.arena.bytes_mut(&mut buffer);
            header[..6].copy_from_slice(&to.0);
            header[6..12].copy_from_slice(&self.facts.mac.0);
            let mark = outlet.classes.get(class).map_or(Mark::default(), |class| class.mark);
            if self.exit.dress(&mut buffer, frames.arena, mark) {
                outlet.into.push(buffer);
                outlet.room -= 1;
            } else {
                self.give_up(frame, buffer, frames);
            }
        }
    }

    /// A frame that cannot be given its tags, as no device makes them.
    #[cold]
    fn give_up(&mut self, frame: u32, buffer: Buffer, frames: &mut Frames<'_>) {
        let egress = usize::from(frames.parked.entry(frame).egress);
        if self.failed(frames.parked, &buffer) {
            frames.arena.note(&buffer, egress, Reason::InterfaceDown);
        }
        frames.arena.give(buffer);
    }

    /// A frame that had left was not taken by the device; whether it was a packet of somebody else.
    pub(super) fn failed(&mut self, parked: &mut Parked, buffer: &Buffer) -> bool {
        // What the router itself says is forgotten as it leaves.
        let Some(entry) = parked.forget(buffer.frame()) else { return false };
        self.egress.tallies.fail(entry.whose, entry.size);
        true
    }

    /// When [`Self::depart`] has something to do without an arrival, or [`NEVER`].
    pub(super) fn wake(&self, parked: &Parked) -> u64 {
        if !self.facts.up && self.egress.wants_room() {
            // Nobody will have room: what waits for it is to be dropped.
            return self.now;
        }
        let said = self.ready.count > 0 || !self.answers.is_empty();
        let said = if said && !self.egress.is_stuck { self.now } else { NEVER };
        let timer = if self.has_room_to_say() { self.neighbours.timer() } else { NEVER };
        said.min(self.egress.wake(parked)).min(timer)
    }
}
