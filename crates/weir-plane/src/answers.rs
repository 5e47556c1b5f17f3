//! What the router says in ICMP: echo replies, and why a packet did not get through.
//!
//! Answers are written over the packets that they answer, and go back where those came from. Errors are limited in
//! rate, and none is sent about other fragments than the first, about errors, or about what came from or went to no
//! single host; such packets do not get that far.
//!
//! | | |
//! |-|-|
//! | Source | RFC 792; RFC 4443; RFC 1812, section 4.3.2; RFC 1191, section 4; the limit is that of Linux, `icmp_msgs_per_sec` |
//! | Work per answer | O(its length) |
//! | Units | bytes, nanoseconds |

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::checksum::{self, fold, sum, update};
use super::discovery::{mac, write_ethernet, write_icmpv6_checksum, write_ipv6};
use super::frame::{ETHERNET, Ends, ICMP, ICMPV6, IPV4, IPV6, Packet, Part, UDP, word};
use super::snapshot::Reason;
use crate::arena::{Arena, Buffer};
use crate::config::{MacAddress, Neighbour};

/// How much of a packet is repeated, so that the answer is of 576 bytes at most.
const QUOTED_V4: usize = 576 - 20 - 8;
/// The same of IPv6, whose every link takes 1280 bytes.
const QUOTED_V6: usize = 1280 - 40 - 8;
/// The time to live of what the router sends.
const TTL: u8 = 64;

/// A limit: so much in a second, and so much at once.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    /// Between two of them, in nanoseconds.
    interval: u64,
    /// How far ahead of its time one may come.
    ahead: u64,
    /// When the next would come if they came evenly.
    next: u64,
}

impl Limit {
    /// A limit of `per_second` in a second, and `at_once` at once.
    pub(super) const fn new(per_second: u64, at_once: u64) -> Self {
        let interval = 1_000_000_000 / per_second;
        Self { interval, ahead: interval * (at_once - 1), next: 0 }
    }

    /// Whether one more may come now.
    pub(super) fn admits(&mut self, now: u64) -> bool {
        let admitted = self.next <= now.saturating_add(self.ahead);
        if admitted {
            self.next = self.next.max(now).saturating_add(self.interval);
        }
        admitted
    }
}

/// What is said about a packet that did not get through: type and code, and the last word of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Message {
    kind: u8,
    code: u8,
    rest: u32,
}

/// Why a packet did not get through, as reported to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The router let it go for this reason.
    Refused(Reason),
    /// It is larger than this.
    TooLarge(u32),
    /// Nobody listens here.
    NoPort,
}

impl Trouble {
    /// Whether it is reported to senders at all.
    pub(super) fn is_told(self) -> bool {
        !matches!(self, Self::Refused(reason) if !matches!(reason, Reason::Expired | Reason::NoRoute | Reason::NoNeighbour))
    }

    fn message(self, packet: &Packet) -> Option<Message> {
        let v4 = matches!(packet.ends, Ends::V4 { .. });
        let (kind, code, rest) = match (self, v4) {
            (Self::Refused(Reason::Expired), true) => (11, 0, 0),
            (Self::Refused(Reason::Expired), false) => (3, 0, 0),
            (Self::Refused(Reason::NoRoute), true) => (3, 0, 0),
            (Self::Refused(Reason::NoRoute), false) => (1, 0, 0),
            (Self::Refused(Reason::NoNeighbour), true) => (3, 1, 0),
            (Self::Refused(Reason::NoNeighbour), false) => (1, 3, 0),
            (Self::NoPort, true) => (3, 3, 0),
            (Self::NoPort, false) => (1, 4, 0),
            (Self::TooLarge(mtu), true) if packet.whole_or_nothing => (3, 4, mtu & 0xffff),
            (Self::TooLarge(mtu), false) => (2, 0, mtu),
            _ => return None,
        };
        Some(Message { kind, code, rest })
    }
}

/// Turns a packet into the error about it, from one of the router's addresses; `false` and unchanged where there is
/// none to be sent.
pub(super) fn error(
    buffer: &mut Buffer,
    arena: &mut Arena,
    packet: &Packet,
    trouble: Trouble,
    from: Neighbour,
) -> bool {
    let Some(message) = trouble.message(packet) else { return false };
    if packet.part == Part::Later || packet.is_error(arena.bytes(buffer)) {
        return false;
    }
    let Neighbour { address: from, mac: own } = from;
    let (header, most) = if from.is_ipv4() { (20, QUOTED_V4) } else { (40, QUOTED_V6) };
    let quoted = usize::from(packet.size).min(most);
    let behind = ETHERNET + header + 8;
    // The frame may begin late: then there is no room for two headers more.
    if !buffer.resize((behind + quoted) as u32) {
        return false;
    }
    let frame = arena.bytes_mut(buffer);
    frame.copy_within(ETHERNET..ETHERNET + quoted, behind);
    let asker = mac(frame, 6);
    match (from, packet.ends) {
        (IpAddr::V4(from), Ends::V4 { source, .. }) => {
            write_ethernet(frame, asker, own, IPV4);
            write_ipv4(frame, from, Ipv4Addr::from_bits(source));
            write_message(&mut frame[ETHERNET + header..], message);
            let sum = sum(&frame[ETHERNET + header..]);
            checksum::write(frame, ETHERNET + header + 2, !fold(sum));
        }
        (IpAddr::V6(from), Ends::V6 { source, .. }) => {
            write_ethernet(frame, asker, own, IPV6);
            write_ipv6(frame, from, Ipv6Addr::from_bits(source), 8 + quoted, TTL);
            write_message(&mut frame[ETHERNET + header..], message);
            write_icmpv6_checksum(frame);
        }
        _ => return false,
    }
    true
}

fn write_message(icmp: &mut [u8], message: Message) {
    icmp[..4].copy_from_slice(&[message.kind, message.code, 0, 0]);
    icmp[4..8].copy_from_slice(&message.rest.to_be_bytes());
}

/// Writes the IPv4 header of a message of ICMP that fills the frame.
fn write_ipv4(frame: &mut [u8], from: Ipv4Addr, to: Ipv4Addr) {
    let length = frame.len() - ETHERNET;
    let ip = &mut frame[ETHERNET..ETHERNET + 20];
    ip.fill(0);
    (ip[0], ip[8], ip[9]) = (0x45, TTL, ICMP);
    // Never to be fragmented, so that it needs no identification (RFC 6864).
    checksum::write(ip, 2, length as u16);
    checksum::write(ip, 6, 0x4000);
    ip[12..16].copy_from_slice(&from.octets());
    ip[16..20].copy_from_slice(&to.octets());
    let sum = sum(ip);
    checksum::write(ip, 10, !fold(sum));
}

/// Whether a packet to the router asks for an echo.
pub(super) fn is_echo(frame: &[u8], packet: &Packet) -> bool {
    let at = ETHERNET + usize::from(packet.payload);
    let kind = match packet.ends {
        Ends::V4 { .. } => (ICMP, 8),
        Ends::V6 { .. } => (ICMPV6, 128),
    };
    let is_whole = packet.part == Part::Whole && packet.size >= packet.payload + 8;
    is_whole && packet.protocol == kind.0 && frame[at] == kind.1 && frame[at + 1] == 0
}

/// Whether a packet to the router is for a port, where nobody listens.
pub(super) fn is_for_a_port(packet: &Packet) -> bool {
    packet.protocol == UDP && packet.part != Part::Later
}

/// Turns a request for an echo into the echo: addresses change places, which no sum notices.
pub(super) fn echo(frame: &mut [u8], packet: &Packet, own: MacAddress) {
    let at = ETHERNET + usize::from(packet.payload);
    let asker = mac(frame, 6);
    frame[..6].copy_from_slice(&asker.0);
    frame[6..12].copy_from_slice(&own.0);
    let (before, sum) = (word(frame, at), word(frame, at + 2));
    frame[at] = if packet.protocol == ICMP { 0 } else { 129 };
    checksum::write(frame, at + 2, update(sum, before, word(frame, at)));
    match packet.ends {
        Ends::V4 { .. } => {
            swap(frame, ETHERNET + 12, 4);
            let (before, sum) = (word(frame, ETHERNET + 8), word(frame, ETHERNET + 10));
            frame[ETHERNET + 8] = TTL;
            checksum::write(frame, ETHERNET + 10, update(sum, before, word(frame, ETHERNET + 8)));
        }
        Ends::V6 { .. } => {
            swap(frame, ETHERNET + 8, 16);
            frame[ETHERNET + 7] = TTL;
        }
    }
}

/// Two addresses that lie behind each other change places.
fn swap(frame: &mut [u8], at: usize, length: usize) {
    let (first, second) = frame[at..at + 2 * length].split_at_mut(length);
    first.swap_with_slice(second);
}

#[cfg(test)]
mod tests;
