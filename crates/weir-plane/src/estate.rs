//! What a router leaves to another process that takes its place: what waits, who its neighbours are, what it has counted.
//!
//! It is as with a new configuration ([`Plane::reload`]): what waits moves over in the order of its arrival, and what a
//! discipline remembers of the past begins anew. What was on the line or behind it waits again.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(frames); once in the life of a process |
//! | Units | nanoseconds, bytes |

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use weir_core::units::Instant;

use super::Plane;
use super::discovery::Speaker;
use super::egress::Frames;
use super::frame::{self, Frame};
use super::parked::{Newcomer, Place};
use super::snapshot::{Reason, Snapshot};
use super::successor::Queues;
use super::vlan::{self, Origin};
use crate::arena::{Arena, Tags};
use crate::config::MacAddress;

/// What is kept free before a frame, as for those that a device receives.
const HEADROOM: u16 = 256;

/// The addresses that a frame begins with, before its tags.
const ADDRESSES: usize = 12;

/// See above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estate {
    /// What was counted.
    pub counted: Snapshot,
    /// What each interface leaves.
    pub interfaces: Vec<InterfaceEstate>,
}

/// What an interface leaves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InterfaceEstate {
    /// Its name in the kernel.
    pub name: String,
    /// Who is behind it, as far as that was learned: addresses and devices.
    pub neighbours: Vec<(IpAddr, MacAddress)>,
    /// Packets that wait to leave by it, in the order of their arrival.
    pub waiting: Vec<WaitingPacket>,
}

/// A packet that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitingPacket {
    /// The next router, or its destination.
    pub hop: IpAddr,
    /// For how long it has waited, in nanoseconds.
    pub waited_ns: u64,
    /// The whole frame with the tags that it came in with, in hexadecimal digits.
    pub frame: String,
}

impl Plane {
    /// What an interface leaves, which this plane serves.
    #[must_use]
    pub fn bequeath(&self, now: Instant, interface: usize, arena: &Arena) -> InterfaceEstate {
        let here = |frame: &u32| usize::from(self.parked.entry(*frame).egress) == interface;
        let mut frames: Vec<u32> = self.parked.present().map(|(frame, _)| frame).filter(here).collect();
        frames.sort_unstable_by_key(|&frame| {
            let entry = self.parked.entry(frame);
            (entry.place == Place::Queued, entry.sequence)
        });
        let packet = |frame: u32| {
            let entry = self.parked.entry(frame);
            let buffer = self.parked.buffer(frame)?;
            let (addresses, rest) = arena.bytes(buffer).split_at_checked(ADDRESSES)?;
            let bytes = [addresses, arena.tags(buffer), rest].concat();
            let waited_ns = now.get().saturating_sub(entry.arrived);
            Some(WaitingPacket { hop: entry.hop, waited_ns, frame: hexadecimal(&bytes) })
        };
        let known = self.ports[interface].neighbours.known();
        InterfaceEstate {
            name: self.router.interfaces[interface].name.clone(),
            neighbours: known.collect(),
            waiting: frames.into_iter().filter_map(packet).collect(),
        }
    }

    /// Takes what an interface has left, which this plane serves; how many packets of it could not be taken, which are
    /// counted as dropped. What was counted of the others is with whom they come from.
    pub fn inherit(
        &mut self,
        now: Instant,
        interface: usize,
        left: &InterfaceEstate,
        arena: &mut Arena,
    ) -> u64 {
        arena.set_now(now);
        for &(address, mac) in &left.neighbours {
            // It has said so to somebody else, and is verified when it is used.
            let speaker = Speaker { address, mac: Some(mac), answers: false, overrides: false };
            self.ports[interface].heard(
                now.get(),
                speaker,
                true,
                &mut Frames { parked: &mut self.parked, arena },
            );
        }
        let taken = left.waiting.iter().filter(|packet| self.take_in(now, interface, packet, arena)).count();
        // The same discipline as it was built with: it was accepted then.
        if let Ok(mut queues) = Queues::new(&self.router, interface, self.seed) {
            drop(self.refill(now, interface, &mut queues, arena));
        }
        let frames = &mut Frames { parked: &mut self.parked, arena };
        self.ports[interface].egress.resume(now.get(), frames);
        (left.waiting.len() - taken) as u64
    }

    /// Takes the frame of a packet that has waited elsewhere, as one that waits here.
    fn take_in(&mut self, now: Instant, interface: usize, packet: &WaitingPacket, arena: &mut Arena) -> bool {
        let Some(bytes) = bytes(&packet.frame) else { return false };
        let vlan = vlan::read(&bytes).ok();
        let tags = ADDRESSES..ADDRESSES + vlan.map_or(0, |vlan| vlan.length());
        let Some(bare) = bytes.get(tags.clone()).map(|_| [&bytes[..tags.start], &bytes[tags.end..]].concat())
        else {
            return false;
        };
        let Ok(Frame::Ip(read)) = frame::read(&bare) else { return false };
        let (size, (_, whose)) = (read.size, self.label(interface, &read, Origin::of(&bytes[tags])));
        let tallies = &mut self.ports[interface].egress.tallies;
        tallies.inherit(whose, size);
        let buffer = arena.take(HEADROOM).and_then(|mut buffer| {
            if buffer.resize(bytes.len() as u32) {
                arena.bytes_mut(&mut buffer).copy_from_slice(&bytes);
                if let Some(vlan) = vlan {
                    arena.take_tags_off(&mut buffer, Tags::of(vlan));
                }
                return Some(buffer);
            }
            arena.give(buffer);
            None
        });
        let arrived = now.get().saturating_sub(packet.waited_ns);
        let egress = interface as u16;
        let newcomer = Newcomer { arrived, hop: packet.hop, slot: u32::MAX, size, whose, egress };
        let put = buffer.map(|buffer| self.parked.put(buffer, newcomer));
        if let Some(Ok(_)) = put {
            return true;
        }
        tallies.lose(whose, Reason::NoMemory, size);
        put.and_then(Result::err).into_iter().for_each(|buffer| arena.give(buffer));
        false
    }
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// What hexadecimal digits stand for; nothing where they are none.
#[must_use]
pub fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    let pairs = digits.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}
