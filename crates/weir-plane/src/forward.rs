//! The way of a frame that came in: to a queue, to the router itself, or nowhere.
//!
//! | | |
//! |-|-|
//! | Source | RFC 1812, sections 5.2 and 5.3; RFC 2644; RFC 8200 |
//! | Work per packet | as the parts say |
//! | Units | nanoseconds since the daemon began; bytes of IP |
//! | Departs from the source | options are not read except where a packet is fragmented, and no redirects are sent |

use std::net::IpAddr;

use super::answers::{self, Trouble};
use super::checksum::{self, Transport};
use super::discovery::{self, Heard, mac};
use super::egress::Frames;
use super::fragment;
use super::frame::{self, ETHERNET, Frame, ICMPV6, Packet};
use super::hand_over::Transit;
use super::neighbours::{Found, Look};
use super::parked::{Handle, Newcomer};
use super::port::Once;
use super::routes::Target;
use super::snapshot::Reason;
use super::vlan::Origin;
use super::{Notice, Plane};
use crate::Received;
use crate::arena::{Arena, Buffer};
use crate::config::{Checksums, Neighbour};

/// An interface, and the neighbour behind it that was looked for.
#[derive(Clone, Copy)]
struct Way {
    egress: usize,
    hop: IpAddr,
    look: Look,
    arrived: u64,
}

/// What becomes of a packet.
enum Fate {
    /// It is for the router.
    Stays,
    /// It is let go.
    Goes(Reason),
    /// It is larger than the interface it would leave by takes, and not to be fragmented.
    TooLarge(u32),
}

impl Plane {
    /// A frame came in by an interface, and has no tags any more.
    pub(super) fn enter(&mut self, now: u64, interface: usize, received: Received, arena: &mut Arena) {
        match frame::read(arena.bytes(&received.buffer)) {
            Ok(Frame::Ip(packet)) => self.ip(now, interface, received, &packet, arena),
            _ if !self.post.part.serves(interface) => self.post.frame(interface, received, arena),
            other => self.not_ip(now, interface, received.buffer, other.err(), arena),
        }
    }

    /// ARP, or what cannot be read.
    #[cold]
    fn not_ip(&mut self, now: u64, at: usize, mut buffer: Buffer, why: Option<Reason>, arena: &mut Arena) {
        let size = (buffer.length() as usize).saturating_sub(ETHERNET) as u16;
        let port = &mut self.ports[at];
        port.tally.received.add(size.into());
        let heard = discovery::read_arp(arena.bytes(&buffer));
        match (why, heard) {
            (Some(reason), _) => self.refuse(at, reason, size, buffer, arena),
            (None, None) => self.refuse(at, Reason::Malformed, size, buffer, arena),
            (None, Some(heard)) => {
                port.tally.to_router.add(size.into());
                let answers = self.learn(now, at, &heard, arena)
                    && discovery::answer(&mut buffer, arena, None, &heard, self.ports[at].facts.mac);
                self.answer(now, at, answers, buffer, arena);
            }
        }
    }

    /// Takes what was heard of a neighbour; whether it is asked for the router itself.
    fn learn(&mut self, now: u64, at: usize, heard: &Heard, arena: &mut Arena) -> bool {
        let port = &mut self.ports[at];
        let mine = port.is_own(heard.target);
        if let Some(speaker) = heard.speaker {
            port.heard(now, speaker, mine && heard.asks, &mut Frames { parked: &mut self.parked, arena });
        }
        mine && heard.asks
    }

    /// Sends back what has become an answer, or gives it up.
    fn answer(&mut self, now: u64, at: usize, answers: bool, buffer: Buffer, arena: &mut Arena) {
        let port = &mut self.ports[at];
        port.tell(now);
        if answers { port.say(buffer, arena) } else { arena.give(buffer) }
    }

    /// Lets a frame go.
    #[cold]
    pub(super) fn refuse(&mut self, at: usize, reason: Reason, size: u16, buffer: Buffer, arena: &mut Arena) {
        self.ports[at].tally.refused.add(reason, size);
        arena.note(&buffer, at, reason);
        arena.give(buffer);
    }

    #[inline]
    fn ip(&mut self, now: u64, at: usize, received: Received, packet: &Packet, arena: &mut Arena) {
        // What lies behind the packet is Ethernet's.
        let length = ETHERNET + usize::from(packet.size);
        let routed = self.route(at, packet, &arena.bytes(&received.buffer)[..length]);
        if routed.is_err() && !self.post.part.serves(at) {
            return self.post.frame(at, received, arena);
        }
        let Received { mut buffer, partial } = received;
        self.ports[at].tally.received.add(packet.size.into());
        let trimmed = buffer.resize(length as u32);
        debug_assert!(trimmed, "a packet is not longer than its frame");
        match routed {
            Ok((egress, hop)) => {
                let transit = Transit { egress: egress as u16, hop, arrived: now, partial };
                if self.post.part.serves(egress) {
                    self.forward(now, at, buffer, packet, transit, arena);
                } else {
                    self.post.transit(at, buffer, *packet, transit, arena);
                }
            }
            Err(fate) => self.meet(now, at, buffer, packet, fate, arena),
        }
    }

    /// A packet goes to the queue of the interface that it leaves by, if that takes it.
    #[inline]
    pub(super) fn forward(
        &mut self,
        now: u64,
        at: usize,
        mut buffer: Buffer,
        packet: &Packet,
        transit: Transit,
        arena: &mut Arena,
    ) {
        match self.decide(now, at, &mut buffer, packet, transit, arena) {
            Ok(way) if u32::from(packet.size) > self.ports[way.egress].mtu() => {
                self.fragment(now, at, buffer, packet, way, arena);
            }
            Ok(way) => self.enqueue(now, buffer, packet, way, arena),
            Err(fate) => self.meet(now, at, buffer, packet, fate, arena),
        }
    }

    /// What becomes of a packet that is not queued.
    #[cold]
    fn meet(&mut self, now: u64, at: usize, buffer: Buffer, packet: &Packet, fate: Fate, arena: &mut Arena) {
        let (reason, trouble) = match fate {
            Fate::Stays => return self.keep(now, at, buffer, packet, arena),
            Fate::Goes(reason) => (reason, Trouble::Refused(reason)),
            Fate::TooLarge(mtu) => (Reason::TooLarge, Trouble::TooLarge(mtu)),
        };
        self.ports[at].tally.refused.add(reason, packet.size);
        arena.note(&buffer, at, reason);
        self.tell(now, at, buffer, packet, trouble, arena);
    }

    /// The interface that a packet leaves by, and the next router or its destination; what becomes of it where it is not
    /// to be forwarded.
    #[inline]
    fn route(&self, at: usize, packet: &Packet, bytes: &[u8]) -> Result<(usize, IpAddr), Fate> {
        if packet.protocol == ICMPV6
            && packet.ttl == 255
            && discovery::read_neighbour(bytes, packet).is_some()
        {
            return Err(Fate::Stays);
        }
        if bytes[..6] != self.ports[at].facts.mac.0 {
            return Err(Fate::Goes(Reason::NotForUs));
        }
        if packet.ends.is_martian() {
            let stays = self.ports[at].is_between_links(packet);
            return Err(if stays { Fate::Stays } else { Fate::Goes(Reason::Martian) });
        }
        match self.routes.find(&packet.ends) {
            Some(Target::Here) => Err(Fate::Stays),
            Some(Target::Broadcast) => Err(Fate::Goes(Reason::Martian)),
            _ if packet.ttl <= 1 => Err(Fate::Goes(Reason::Expired)),
            None => Err(Fate::Goes(Reason::NoRoute)),
            Some(Target::Out { interface, via }) => {
                Ok((interface, via.unwrap_or_else(|| packet.ends.destination())))
            }
        }
    }

    #[inline]
    fn decide(
        &mut self,
        now: u64,
        at: usize,
        buffer: &mut Buffer,
        packet: &Packet,
        transit: Transit,
        arena: &mut Arena,
    ) -> Result<Way, Fate> {
        let Transit { egress, hop, arrived, partial } = transit;
        let egress = usize::from(egress);
        if let Some(fate) = self.admit(at, egress, buffer, packet, partial, arena) {
            return Err(fate);
        }
        let source = mac(arena.bytes(buffer), 6);
        let look = self.ports[egress].look(now, hop, None, &mut Frames { parked: &mut self.parked, arena });
        match look.found {
            Found::Known(next) if at == egress && next == source => Err(Fate::Goes(Reason::Loop)),
            Found::Silent => Err(Fate::Goes(Reason::NoNeighbour)),
            Found::Known(_) | Found::Asked => Ok(Way { egress, hop, look, arrived }),
        }
    }

    /// Whether an interface takes a packet; why not, if it does not.
    #[inline]
    fn admit(
        &mut self,
        at: usize,
        egress: usize,
        buffer: &mut Buffer,
        packet: &Packet,
        partial: Option<bool>,
        arena: &mut Arena,
    ) -> Option<Fate> {
        let port = &self.ports[egress];
        if !port.facts.up {
            return Some(Fate::Goes(Reason::InterfaceDown));
        }
        if port.is_draining {
            return Some(Fate::Goes(Reason::Draining));
        }
        if packet.whole_or_nothing && u32::from(packet.size) > port.mtu() {
            return Some(Fate::TooLarge(port.mtu()));
        }
        match checksum::transport(arena.bytes(buffer), packet, partial) {
            Transport::Complete => None,
            left => {
                self.complete(at, buffer, packet, left, arena).then_some(Fate::Goes(Reason::PartialChecksum))
            }
        }
    }

    /// Completes a transport checksum, where it may; whether the packet is to be refused.
    #[cold]
    fn complete(
        &mut self,
        at: usize,
        buffer: &mut Buffer,
        packet: &Packet,
        left: Transport,
        arena: &mut Arena,
    ) -> bool {
        let frame = arena.bytes_mut(buffer);
        let Transport::Partial(place) = left else {
            self.ports[at].partial.happen();
            return true;
        };
        if checksum::is_right(frame, packet, place) {
            return false;
        }
        if self.router.checksums == Checksums::Complete {
            checksum::complete(frame, packet, place);
            return false;
        }
        self.ports[at].partial.happen();
        true
    }

    /// A packet is cut into fragments, which join the queue in their order as packets of its class and flow.
    #[cold]
    fn fragment(
        &mut self,
        now: u64,
        at: usize,
        mut buffer: Buffer,
        packet: &Packet,
        way: Way,
        arena: &mut Arena,
    ) {
        let mut pieces = core::mem::take(&mut self.pieces);
        let mtu = self.ports[way.egress].mtu();
        match fragment::cut(&mut buffer, arena, packet, mtu, &mut pieces) {
            Err(reason) => self.refuse(at, reason, packet.size, buffer, arena),
            Ok(()) => {
                self.ports[at].tally.fragmented.add(packet.size.into());
                for piece in core::iter::once(buffer).chain(pieces.drain(..)) {
                    let size = (piece.length() as usize).saturating_sub(ETHERNET) as u16;
                    self.ports[at].tally.fragments.add(size.into());
                    self.enqueue(now, piece, &Packet { size, ..*packet }, way, arena);
                }
            }
        }
        self.pieces = pieces;
    }

    /// A packet joins the queue of the interface that it leaves by.
    #[inline]
    fn enqueue(&mut self, now: u64, mut buffer: Buffer, packet: &Packet, way: Way, arena: &mut Arena) {
        let Way { egress, hop, look, arrived } = way;
        let (label, whose) = self.label(egress, packet, Origin::of(arena.tags(&buffer)));
        checksum::decrement_ttl(arena.bytes_mut(&mut buffer), packet);
        let port = &mut self.ports[egress];
        let size = packet.size;
        port.egress.tallies.offer(whose, size);
        let newcomer = Newcomer { arrived, hop, slot: look.slot, size, whose, egress: egress as u16 };
        match self.parked.put(buffer, newcomer) {
            Ok(frame) => {
                let handle = Handle::new(frame, label, packet);
                let since = self.oversleep.since(now);
                port.egress.arrive(now, since, handle, &mut Frames { parked: &mut self.parked, arena });
            }
            Err(buffer) => {
                port.egress.tallies.lose(whose, Reason::NoMemory, size);
                arena.note(&buffer, egress, Reason::NoMemory);
                arena.give(buffer);
            }
        }
    }

    /// A neighbour solicitation or advertisement.
    #[cold]
    fn discover(
        &mut self,
        now: u64,
        at: usize,
        mut buffer: Buffer,
        packet: &Packet,
        heard: &Heard,
        arena: &mut Arena,
    ) {
        self.ports[at].tally.to_router.add(packet.size.into());
        let own = self.ports[at].facts.mac;
        let answers = self.learn(now, at, heard, arena)
            && discovery::answer(&mut buffer, arena, Some(packet), heard, own);
        self.answer(now, at, answers, buffer, arena);
    }

    /// A packet to the router itself.
    #[cold]
    fn keep(&mut self, now: u64, at: usize, mut buffer: Buffer, packet: &Packet, arena: &mut Arena) {
        let is_heard = packet.protocol == ICMPV6 && packet.ttl == 255;
        if let Some(heard) =
            is_heard.then(|| discovery::read_neighbour(arena.bytes(&buffer), packet)).flatten()
        {
            return self.discover(now, at, buffer, packet, &heard, arena);
        }
        let port = &mut self.ports[at];
        port.tally.to_router.add(packet.size.into());
        if answers::is_for_a_port(packet) {
            return self.tell(now, at, buffer, packet, Trouble::NoPort, arena);
        }
        let answers = answers::is_echo(arena.bytes(&buffer), packet) && port.echoes.admits(now);
        if answers {
            answers::echo(arena.bytes_mut(&mut buffer), packet, port.facts.mac);
        }
        self.answer(now, at, answers, buffer, arena);
    }

    /// Tells the sender of a packet why it did not get through, where that is usual, in the frame of the packet.
    #[cold]
    pub(super) fn tell(
        &mut self,
        now: u64,
        at: usize,
        mut buffer: Buffer,
        packet: &Packet,
        trouble: Trouble,
        arena: &mut Arena,
    ) {
        if !self.post.part.serves(at) {
            return self.post.dropped(at, buffer, *packet, trouble, arena);
        }
        let port = &mut self.ports[at];
        let answers = match port.address_for(packet.ends.source()) {
            Some(from) if trouble.is_told() && port.errors.admits(now) => answers::error(
                &mut buffer,
                arena,
                packet,
                trouble,
                Neighbour { address: from, mac: port.facts.mac },
            ),
            _ => false,
        };
        self.answer(now, at, answers, buffer, arena);
    }

    /// What is to be reported to the operator, each once.
    pub fn notice(&mut self) -> Option<Notice> {
        let interface = self.ports.iter().position(|port| port.partial == Once::Due)?;
        self.ports[interface].partial = Once::Told;
        Some(Notice::PartialChecksums { interface })
    }
}
