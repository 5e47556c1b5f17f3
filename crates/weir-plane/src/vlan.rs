//! VLAN tags: which interface of a device a frame is of, what its tags say, and the tags that it leaves with.
//!
//! Tags are taken off where a frame comes in and put on where it leaves, so that nothing in between knows of them: the
//! addresses are moved over the tags, which stay before them in the frame's memory ([`Arena::tags`]). A frame is of the
//! interface that has all of its tags, with their types, and no others; frames of no interface keep theirs.
//!
//! Of two tags the outer one's priority and drop eligibility count, and both tags leave with the same.
//!
//! | | |
//! |-|-|
//! | Source | IEEE 802.1Q-2018, sections 6.9 and 9.6: tag control information of 3 bits of priority, 1 of drop eligibility, 12 of VLAN |
//! | Work per frame | without a tag O(1); else O(log interfaces of the device), and 12 bytes are moved |
//! | Units | bytes |
//! | Departs from the source | a tag without a VLAN (0) is of no interface; DSCP becomes a priority by its upper three bits (RFC 2474, section 4.2.2) |

use weir_core::units::Instant;

use super::checksum;
use super::frame::{ETHERNET, word};
use super::snapshot::Reason;
use super::{Plane, Received};
use crate::arena::{Arena, Buffer, Tags};
use crate::config::vlan::TAG;
use crate::config::{Interface, Mark, Outer, PriorityFrom, Router, TagType, Vlan};

/// Where the type of a frame, or its first tag, stands.
const ADDRESSES: usize = 12;
/// The bits of tag control information.
const ELIGIBLE: u16 = 0x1000;
const ID: u16 = 0x0fff;

/// What the tags say with which a packet came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// The VLAN of the tag before the packet; 0 without a tag.
    pub(super) vlan: u16,
    /// The VLAN of the tag before that; 0 where there is none.
    pub(super) outer: u16,
    /// The priority code point.
    pub(super) priority: Option<u8>,
}

impl Origin {
    /// Of these tags.
    #[inline]
    pub(super) fn of(tags: &[u8]) -> Self {
        if tags.is_empty() {
            return Self::default();
        }
        let control = |at: usize| word(tags, at + 2);
        let priority = Some((control(0) >> 13) as u8);
        match tags.len() {
            TAG => Self { vlan: control(0) & ID, outer: 0, priority },
            _ => Self { vlan: control(TAG) & ID, outer: control(0) & ID, priority },
        }
    }
}

/// The interfaces of one device.
#[derive(Clone, Debug, Default)]
struct Trunk {
    untagged: Option<usize>,
    /// In order.
    tagged: Vec<(Vlan, usize)>,
    /// All of them, also those that are removed; the first counts what is of none.
    all: Vec<usize>,
}

/// The interfaces of each device.
#[derive(Clone, Debug)]
pub(super) struct Trunks(Vec<Trunk>);

impl Trunks {
    /// Those of a router.
    pub(super) fn new(router: &Router) -> Self {
        let mut trunks = vec![Trunk::default(); router.devices().len()];
        for (at, (interface, device)) in router.interfaces.iter().zip(router.device_places()).enumerate() {
            let trunk = &mut trunks[device];
            trunk.all.push(at);
            match interface.vlan.filter(|_| !interface.is_removed) {
                Some(vlan) => trunk.tagged.push((vlan, at)),
                None if interface.is_removed => {}
                None => trunk.untagged = Some(at),
            }
        }
        trunks.iter_mut().for_each(|trunk| trunk.tagged.sort_unstable());
        Self(trunks)
    }

    /// The interfaces of a device.
    pub(super) fn of(&self, device: usize) -> &[usize] {
        self.0.get(device).map_or(&[], |trunk| &trunk.all)
    }

    /// The interface that a frame is of which came in by a device, and takes its tags off. Otherwise who counts it, and
    /// why it is let go; nothing where there is no such device.
    #[inline]
    pub(super) fn enter(
        &self,
        device: usize,
        buffer: &mut Buffer,
        arena: &mut Arena,
    ) -> Option<Result<usize, (usize, Reason)>> {
        let trunk = self.0.get(device)?;
        let bytes = arena.bytes(buffer);
        let is_tagged = bytes.len() >= ETHERNET && TagType::of(word(bytes, ADDRESSES)).is_some();
        let base = *trunk.all.first()?;
        if !is_tagged {
            let short = if bytes.len() < ETHERNET { Reason::Malformed } else { Reason::Vlan };
            return Some(trunk.untagged.ok_or((base, short)));
        }
        let found = read(bytes).and_then(|vlan| {
            let place =
                trunk.tagged.binary_search_by_key(&vlan, |&(vlan, _)| vlan).map_err(|_| Reason::Vlan)?;
            Ok((trunk.tagged[place].1, vlan))
        });
        Some(match found {
            Ok((at, vlan)) => {
                arena.take_tags_off(buffer, Tags::of(vlan));
                Ok(at)
            }
            Err(reason) => Err((base, reason)),
        })
    }
}

impl Plane {
    /// A frame came in by a device, with the VLAN tags that it had. What is dropped goes back to the arena; what is to be answered, as ARP requests
    /// and echo requests are, is kept to be sent by the next [`Self::depart`] of the interface that
    /// it came in by.
    pub fn arrive(&mut self, now: Instant, device: usize, mut received: Received, arena: &mut Arena) {
        arena.set_now(now);
        match self.trunks.enter(device, &mut received.buffer, arena) {
            Some(Ok(interface)) => self.enter(now.get(), interface, received, arena),
            Some(Err((interface, reason))) => {
                let size = (received.buffer.length() as usize).saturating_sub(ETHERNET) as u16;
                self.ports[interface].tally.received.add(size.into());
                self.refuse(interface, reason, size, received.buffer, arena);
            }
            None => arena.give(received.buffer),
        }
    }
}

/// Reads the tags of a frame that has a first one.
///
/// # Errors
/// It ends within them, or they are of no interface: a third, or an inner one of another type than 0x8100.
pub(super) fn read(frame: &[u8]) -> Result<Vlan, Reason> {
    let tag = |at: usize| {
        let tag = frame.get(at..at + TAG + 2).ok_or(Reason::Malformed)?;
        let kind = TagType::of(word(tag, 0)).ok_or(Reason::Vlan)?;
        Ok((kind, word(tag, 2) & ID, TagType::of(word(tag, TAG)).is_some()))
    };
    let (kind, id, more) = tag(ADDRESSES)?;
    if !more {
        return if kind == TagType::Customer { Ok(Vlan { id, outer: None }) } else { Err(Reason::Vlan) };
    }
    match tag(ADDRESSES + TAG)? {
        (TagType::Customer, inner, false) => Ok(Vlan { id: inner, outer: Some(Outer { id, kind }) }),
        _ => Err(Reason::Vlan),
    }
}

/// The tags that frames leave with by an interface.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Exit {
    /// Type and VLAN of each, without priority.
    tags: [u8; 2 * TAG],
    length: usize,
    from_dscp: bool,
}

impl Exit {
    /// Those of an interface.
    pub(super) fn new(interface: &Interface) -> Self {
        let mut exit = Self { from_dscp: interface.priority_from == PriorityFrom::Dscp, ..Self::default() };
        let Some(vlan) = interface.vlan else { return exit };
        let inner = Some((TagType::Customer, vlan.id));
        let outer = vlan.outer.map(|outer| (outer.kind, outer.id));
        for (kind, id) in [outer, inner].into_iter().flatten() {
            checksum::write(&mut exit.tags, exit.length, kind.ethertype());
            checksum::write(&mut exit.tags, exit.length + 2, id);
            exit.length += TAG;
        }
        exit
    }

    /// By how much packets are smaller that are sent with two tags: devices take one in addition to their MTU.
    pub(super) fn beyond_mtu(&self) -> u32 {
        if self.length > TAG { self.length as u32 } else { 0 }
    }

    /// Marks a packet, and puts the tags on its frame; `false` where there is no room for them.
    #[inline]
    pub(super) fn dress(&self, buffer: &mut Buffer, arena: &mut Arena, mark: Mark) -> bool {
        if let Some(dscp) = mark.dscp {
            checksum::set_dscp(arena.bytes_mut(buffer), dscp);
        }
        if self.length == 0 {
            return true;
        }
        let received = arena.tags(buffer).get(2..TAG).map_or(0, |control| word(control, 0));
        let priority = match mark.priority {
            Some(priority) => priority,
            None if self.from_dscp => checksum::dscp(arena.bytes(buffer)) >> 3,
            None => (received >> 13) as u8,
        };
        let control = u16::from(priority) << 13 | received & ELIGIBLE;
        let mut tags = self.tags;
        for at in (0..self.length).step_by(TAG) {
            let id = word(&tags, at + 2);
            checksum::write(&mut tags, at + 2, id | control);
        }
        arena.put_tags_on(buffer, &tags[..self.length])
    }
}

#[cfg(test)]
mod tests;
