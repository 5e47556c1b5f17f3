//! ARP and neighbour discovery: what they say, and what is said to them.
//!
//! The router answers for its own addresses, and for the link-local address that its device's address makes; it asks
//! for those of its neighbours. Answers are written over the questions.
//!
//! | | |
//! |-|-|
//! | Source | RFC 826; RFC 4861, sections 4.3, 4.4, 7.1 and 7.2; RFC 4291, sections 2.5.1 and 2.7.1 |
//! | Work per message | O(its length) |
//! | Units | bytes |

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::checksum::{self, fold, pseudo, sum};
use super::frame::{ARP, ETHERNET, Ends, ICMPV6, IPV6, Packet, Part, word};
use crate::arena::{Arena, Buffer};
use crate::config::MacAddress;

/// What is kept free before a frame that the router makes, as the kernel does before those that come in.
pub(super) const HEADROOM: u16 = 256;

/// The bytes of an ARP message of Ethernet and IPv4.
const ARP_LENGTH: usize = 28;
/// What an ARP message is sent in: the shortest Ethernet frame without its check sequence.
const ARP_FRAME: usize = 60;
/// A neighbour message with one option of a device address.
const MESSAGE: usize = 32;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// Flags of an advertisement.
const SOLICITED: u8 = 0x40;
const OVERRIDE: u8 = 0x20;

/// A question or an answer about who has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    /// Whether it asks.
    pub(super) asks: bool,
    /// Who speaks, where it says so.
    pub(super) speaker: Option<Speaker>,
    /// Who is asked for.
    pub(super) target: IpAddr,
}

/// Who has spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Speaker {
    /// Its address.
    pub(super) address: IpAddr,
    /// Its device, where it says so.
    pub(super) mac: Option<MacAddress>,
    /// Whether it answers a question of the router, and so has heard it.
    pub(super) answers: bool,
    /// Whether its device takes the place of another that was known.
    pub(super) overrides: bool,
}

/// Six bytes of a frame, which are there.
pub(super) fn mac(bytes: &[u8], at: usize) -> MacAddress {
    let mut address = MacAddress::default();
    address.0.copy_from_slice(&bytes[at..at + 6]);
    address
}

/// Writes the Ethernet header.
pub(super) fn write_ethernet(frame: &mut [u8], to: MacAddress, from: MacAddress, kind: u16) {
    frame[..6].copy_from_slice(&to.0);
    frame[6..12].copy_from_slice(&from.0);
    checksum::write(frame, 12, kind);
}

/// Writes an IPv6 header without class and label.
pub(super) fn write_ipv6(frame: &mut [u8], from: Ipv6Addr, to: Ipv6Addr, payload: usize, hops: u8) {
    let ip = &mut frame[ETHERNET..ETHERNET + 40];
    ip[..4].copy_from_slice(&[0x60, 0, 0, 0]);
    checksum::write(ip, 4, payload as u16);
    (ip[6], ip[7]) = (ICMPV6, hops);
    ip[8..24].copy_from_slice(&from.octets());
    ip[24..40].copy_from_slice(&to.octets());
}

/// Writes the checksum of a message of ICMPv6 that fills the frame behind its IPv6 header of 40 bytes.
pub(super) fn write_icmpv6_checksum(frame: &mut [u8]) {
    let at = ETHERNET + 40;
    checksum::write(frame, at + 2, 0);
    let ends = Ends::V6 { source: 0, destination: 0 };
    let sum = pseudo(frame, ends, ICMPV6, frame.len() - at) + sum(&frame[at..]);
    checksum::write(frame, at + 2, !fold(sum));
}

/// Reads an ARP message of Ethernet and IPv4; `None` where it is none.
pub(super) fn read_arp(frame: &[u8]) -> Option<Heard> {
    let arp = frame.get(ETHERNET..ETHERNET + ARP_LENGTH)?;
    let is_known = arp[..6] == [0, 1, 8, 0, 6, 4] && matches!(word(arp, 6), 1 | 2);
    let address = |at: usize| Ipv4Addr::new(arp[at], arp[at + 1], arp[at + 2], arp[at + 3]);
    let asks = word(arp, 6) == 1;
    let speaker = (!address(14).is_unspecified()).then(|| Speaker {
        address: address(14).into(),
        mac: Some(mac(arp, 8)),
        // An answer to the router is sent to its device alone; to all goes what nobody asked for.
        answers: !asks && frame[0] & 1 == 0,
        overrides: true,
    });
    is_known.then(|| Heard { asks, speaker, target: address(24).into() })
}

/// Reads a neighbour solicitation or advertisement; `None` where it is none, or not one to be believed.
pub(super) fn read_neighbour(frame: &[u8], packet: &Packet) -> Option<Heard> {
    let Ends::V6 { source, .. } = packet.ends else { return None };
    let message = frame.get(ETHERNET + usize::from(packet.payload)..ETHERNET + usize::from(packet.size))?;
    let is_neighbour = packet.protocol == ICMPV6 && packet.part == Part::Whole && packet.ttl == 255;
    let (head, options) = message.split_first_chunk::<24>()?;
    let (kind, code) = (head[0], head[1]);
    if !is_neighbour || !matches!(kind, SOLICITATION | ADVERTISEMENT) || code != 0 {
        return None;
    }
    let sum = pseudo(frame, packet.ends, ICMPV6, message.len()) + sum(message);
    let target = Ipv6Addr::from(*head.last_chunk::<16>()?);
    if fold(sum) != 0xffff || target.is_multicast() {
        return None;
    }
    let source = Ipv6Addr::from_bits(source);
    let asks = kind == SOLICITATION;
    let (wanted, address) = if asks { (1, source) } else { (2, target) };
    let mac = device_option(options, wanted);
    // One that was asked for is sent to who asked (RFC 4861, 7.1.2).
    let answers = !asks && head[4] & SOLICITED != 0 && frame[0] & 1 == 0;
    let overrides = asks || head[4] & OVERRIDE != 0;
    // Without its device only an answer says anything.
    let says = !address.is_unspecified() && (mac.is_some() || answers);
    let speaker = says.then(|| Speaker { address: address.into(), mac, answers, overrides });
    Some(Heard { asks, speaker, target: target.into() })
}

/// The option of this kind with the address of a device.
fn device_option(mut options: &[u8], wanted: u8) -> Option<MacAddress> {
    loop {
        let (&kind, &length) = (options.first()?, options.get(1)?);
        let (option, rest) = options.split_at_checked(usize::from(length) * 8).filter(|_| length > 0)?;
        if kind == wanted && length == 1 {
            return Some(mac(option, 2));
        }
        options = rest;
    }
}

/// The link-local address that a device's address makes.
pub(super) fn link_local(mac: MacAddress) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac.0;
    Ipv6Addr::from([0xfe, 0x80, 0, 0, 0, 0, 0, 0, a ^ 2, b, c, 0xff, 0xfe, d, e, f])
}

/// Writes the answer to an ARP question over it.
fn answer_arp(frame: &mut [u8], own: MacAddress) {
    let (asker, question) = (mac(frame, ETHERNET + 8), ETHERNET + 8..ETHERNET + 18);
    let target = [24, 25, 26, 27].map(|at| frame[ETHERNET + at]);
    frame.copy_within(question, ETHERNET + 18);
    checksum::write(frame, ETHERNET + 6, 2);
    frame[ETHERNET + 8..ETHERNET + 14].copy_from_slice(&own.0);
    frame[ETHERNET + 14..ETHERNET + 18].copy_from_slice(&target);
    write_ethernet(frame, asker, own, ARP);
}

/// Writes the answer to a neighbour solicitation over it; it is sent to all nodes where the asker has no address.
fn answer_solicitation(frame: &mut [u8], packet: &Packet, target: Ipv6Addr, own: MacAddress) {
    let Ends::V6 { source, .. } = packet.ends else { return };
    let asker = Ipv6Addr::from_bits(source);
    let all = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
    // Router, override, and solicited unless it goes to all.
    let (to, device, flags) = if asker.is_unspecified() {
        (all, MacAddress([0x33, 0x33, 0, 0, 0, 1]), 0xa0)
    } else {
        (asker, mac(frame, 6), 0xe0)
    };
    Message { kind: ADVERTISEMENT, flags, target, from: target, own, to, device }.write(frame);
}

/// A neighbour message.
struct Message {
    kind: u8,
    flags: u8,
    target: Ipv6Addr,
    from: Ipv6Addr,
    own: MacAddress,
    to: Ipv6Addr,
    device: MacAddress,
}

impl Message {
    /// Writes it with an option of the sender's device.
    fn write(&self, frame: &mut [u8]) {
        write_ethernet(frame, self.device, self.own, IPV6);
        write_ipv6(frame, self.from, self.to, MESSAGE, 255);
        let message = &mut frame[ETHERNET + 40..];
        message[..8].copy_from_slice(&[self.kind, 0, 0, 0, self.flags, 0, 0, 0]);
        message[8..24].copy_from_slice(&self.target.octets());
        message[24..26].copy_from_slice(&[if self.kind == SOLICITATION { 1 } else { 2 }, 1]);
        message[26..32].copy_from_slice(&self.own.0);
        write_icmpv6_checksum(frame);
    }
}

/// Turns a question about one of the router's addresses into its answer; `false` where there is no room for it.
pub(super) fn answer(
    buffer: &mut Buffer,
    arena: &mut Arena,
    packet: Option<&Packet>,
    heard: &Heard,
    own: MacAddress,
) -> bool {
    match (packet, heard.target) {
        (Some(packet), IpAddr::V6(target)) => {
            let resized = buffer.resize((ETHERNET + 40 + MESSAGE) as u32);
            if resized {
                answer_solicitation(arena.bytes_mut(buffer), packet, target, own);
            }
            resized
        }
        (None, IpAddr::V4(_)) => {
            answer_arp(arena.bytes_mut(buffer), own);
            true
        }
        _ => false,
    }
}

/// A question about an address, from one of the router's: to all, or to one device that had it. `None` where no frame
/// is free.
pub(super) fn ask(
    arena: &mut Arena,
    own: MacAddress,
    from: Option<IpAddr>,
    target: IpAddr,
    at: Option<MacAddress>,
) -> Option<Buffer> {
    let mut buffer = arena.take(HEADROOM)?;
    let length = if target.is_ipv4() { ARP_FRAME } else { ETHERNET + 40 + MESSAGE };
    if !buffer.resize(length as u32) {
        arena.give(buffer);
        return None;
    }
    let frame = arena.bytes_mut(&mut buffer);
    match (target, from) {
        (IpAddr::V4(target), from) => {
            let from = if let Some(IpAddr::V4(from)) = from { from } else { Ipv4Addr::UNSPECIFIED };
            ask_arp(frame, own, from, target);
            if let Some(at) = at {
                frame[..6].copy_from_slice(&at.0);
            }
        }
        (IpAddr::V6(target), from) => {
            let from = if let Some(IpAddr::V6(from)) = from { from } else { link_local(own) };
            solicit(frame, own, from, target, at);
        }
    }
    Some(buffer)
}

fn ask_arp(frame: &mut [u8], own: MacAddress, from: Ipv4Addr, target: Ipv4Addr) {
    write_ethernet(frame, MacAddress::BROADCAST, own, ARP);
    let arp = &mut frame[ETHERNET..];
    arp.fill(0);
    arp[..8].copy_from_slice(&[0, 1, 8, 0, 6, 4, 0, 1]);
    arp[8..14].copy_from_slice(&own.0);
    arp[14..18].copy_from_slice(&from.octets());
    arp[24..28].copy_from_slice(&target.octets());
}

/// To the target where its device is known, or to its solicited-node address.
fn solicit(frame: &mut [u8], own: MacAddress, from: Ipv6Addr, target: Ipv6Addr, at: Option<MacAddress>) {
    let [.., a, b, c] = target.octets();
    let group = Ipv6Addr::from([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, a, b, c]);
    let to = if at.is_some() { target } else { group };
    let device = at.unwrap_or(MacAddress([0x33, 0x33, 0xff, a, b, c]));
    Message { kind: SOLICITATION, flags: 0, target, from, own, to, device }.write(frame);
}

#[cfg(test)]
mod tests;
