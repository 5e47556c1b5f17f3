//! What a frame carries: an IP packet with all that the router must know of it, or ARP.
//!
//! Everything is read once, within bounds, from the bytes as they came in; lengths that do not agree are a reason to
//! let the frame go. What lies behind the end of the IP packet is Ethernet's padding. Fragments have no ports, not
//! even the first: all fragments of a datagram are to be of one flow. Of a tunnel the outer header counts.
//!
//! | | |
//! |-|-|
//! | Source | RFC 791, RFC 8200 (extension headers in section 4), RFC 1812 sections 5.2.2 and 5.3.7, RFC 6890 |
//! | Work per frame | O(1); at most [`MOST_EXTENSIONS`] extension headers |
//! | Units | bytes from the beginning of the IP header, unless said otherwise |
//! | Departs from the source | jumbograms are not read, nor VLAN tags that are left ([`vlan`](super::vlan) takes those of interfaces off); a packet with more extension headers is let go |

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::checksum;
use super::snapshot::Reason;

/// The bytes of an Ethernet header.
pub(super) const ETHERNET: usize = 14;
/// The most extension headers of IPv6 that are read.
pub(super) const MOST_EXTENSIONS: usize = 8;

/// EtherTypes.
pub(super) const IPV4: u16 = 0x0800;
pub(super) const ARP: u16 = 0x0806;
pub(super) const IPV6: u16 = 0x86dd;

/// Protocols above IP.
pub(super) const ICMP: u8 = 1;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const ICMPV6: u8 = 58;

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// An IP packet.
    Ip(Packet),
    /// ARP, to be read by who answers it.
    Arp,
}

/// Where a packet comes from and goes to, in the byte order of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// By IPv4.
    V4 { source: u32, destination: u32 },
    /// By IPv6.
    V6 { source: u128, destination: u128 },
}

/// Which part of its datagram a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// The first fragment.
    First,
    /// Another fragment.
    Later,
}

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    /// Its addresses.
    pub(super) ends: Ends,
    /// Its length.
    pub(super) size: u16,
    /// Where its payload begins, behind the extension headers.
    pub(super) payload: u16,
    /// The protocol of the payload.
    pub(super) protocol: u8,
    /// Source and destination port, or zeros.
    pub(super) ports: (u16, u16),
    /// The differentiated services code point.
    pub(super) dscp: u8,
    /// Explicit congestion notification: zero where it cannot be marked.
    pub(super) ecn: u8,
    /// How many more routers it may pass.
    pub(super) ttl: u8,
    /// Which part of its datagram it is.
    pub(super) part: Part,
    /// Whether its sender wants to know where it is too large; always so of IPv6.
    pub(super) whole_or_nothing: bool,
}

impl Ends {
    /// The address it comes from.
    pub(super) fn source(&self) -> IpAddr {
        match *self {
            Self::V4 { source, .. } => Ipv4Addr::from_bits(source).into(),
            Self::V6 { source, .. } => Ipv6Addr::from_bits(source).into(),
        }
    }

    /// The address it goes to.
    pub(super) fn destination(&self) -> IpAddr {
        match *self {
            Self::V4 { destination, .. } => Ipv4Addr::from_bits(destination).into(),
            Self::V6 { destination, .. } => Ipv6Addr::from_bits(destination).into(),
        }
    }

    /// Whether no router may forward it (RFC 1812, 5.3.7; RFC 6890).
    #[inline]
    pub(super) fn is_martian(&self) -> bool {
        match *self {
            Self::V4 { source, destination } => is_martian_v4(source) || is_martian_v4(destination),
            Self::V6 { source, destination } => is_martian_v6(source) || is_martian_v6(destination),
        }
    }
}

/// Of this network, loopback, link-local, multicast, reserved, broadcast.
#[inline]
const fn is_martian_v4(address: u32) -> bool {
    matches!(address >> 24, 0 | 127 | 224..) || address >> 16 == 0xa9fe
}

/// Unspecified, loopback, IPv4-mapped, link-local, multicast.
#[inline]
const fn is_martian_v6(address: u128) -> bool {
    address <= 1 || address >> 32 == 0xffff || address >> 118 == 0xfe80 >> 6 || address >> 120 == 0xff
}

impl Packet {
    /// Whether it carries an error message of ICMP: none is sent about those.
    pub(super) fn is_error(&self, bytes: &[u8]) -> bool {
        let kind = bytes.get(ETHERNET + usize::from(self.payload)).copied();
        match (self.ends, self.protocol) {
            // All but echo, timestamp, and their kind; a message whose type is missing counts as an error.
            (Ends::V4 { .. }, ICMP) => !matches!(kind, Some(0 | 8 | 9 | 10 | 13..=18)),
            (Ends::V6 { .. }, ICMPV6) => kind.is_none_or(|kind| kind < 128),
            _ => false,
        }
    }
}

/// Two bytes of a header, which are there.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Reads a frame, from its Ethernet header on.
///
/// # Errors
/// Why the router lets it go.
#[inline]
pub(super) fn read(bytes: &[u8]) -> Result<Frame, Reason> {
    let Some((ethernet, ip)) = bytes.split_first_chunk::<ETHERNET>() else { return Err(Reason::Malformed) };
    match u16::from_be_bytes([ethernet[12], ethernet[13]]) {
        IPV4 => read_v4(ip).map(Frame::Ip),
        IPV6 => read_v6(ip).map(Frame::Ip),
        ARP => Ok(Frame::Arp),
        0x8100 | 0x88a8 | 0x9100 => Err(Reason::Vlan),
        _ => Err(Reason::NotIp),
    }
}

#[inline]
fn read_v4(ip: &[u8]) -> Result<Packet, Reason> {
    let Some(header) = ip.first_chunk::<20>() else { return Err(Reason::Malformed) };
    let length = usize::from(header[0] & 15) * 4;
    let size = word(header, 2);
    let fits =
        header[0] >> 4 == 4 && length >= 20 && usize::from(size) >= length && usize::from(size) <= ip.len();
    if !fits || checksum::fold(checksum::sum(&ip[..length])) != 0xffff {
        return Err(Reason::Malformed);
    }
    let fragment = word(header, 6);
    let part = part(fragment & 0x1fff != 0, fragment & 0x2000 != 0);
    let address =
        |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    Ok(Packet {
        ends: Ends::V4 { source: address(12), destination: address(16) },
        size,
        payload: length as u16,
        protocol: header[9],
        ports: ports(header[9], part, &ip[length..usize::from(size)]),
        dscp: header[1] >> 2,
        ecn: header[1] & 3,
        ttl: header[8],
        part,
        whole_or_nothing: fragment & 0x4000 != 0,
    })
}

fn read_v6(ip: &[u8]) -> Result<Packet, Reason> {
    let Some(header) = ip.first_chunk::<40>() else { return Err(Reason::Malformed) };
    let (payload, size) = (usize::from(word(header, 4)), 40 + usize::from(word(header, 4)));
    // Where hop-by-hop options give the length, the header gives zero: a jumbogram.
    let is_jumbo = payload == 0 && header[6] == 0;
    if header[0] >> 4 != 6 || size > ip.len() || size > usize::from(u16::MAX) || is_jumbo {
        return Err(Reason::Malformed);
    }
    let (payload, protocol, part) = extensions(&ip[..size], header[6])?;
    let address = |at: usize| {
        let bytes = header[at..at + 16].first_chunk::<16>();
        bytes.map_or(0, |bytes| u128::from_be_bytes(*bytes))
    };
    let class = header[0] << 4 | header[1] >> 4;
    Ok(Packet {
        ends: Ends::V6 { source: address(8), destination: address(24) },
        size: size as u16,
        payload: payload as u16,
        protocol,
        ports: ports(protocol, part, &ip[payload..size]),
        dscp: class >> 2,
        ecn: class & 3,
        ttl: header[7],
        part,
        whole_or_nothing: true,
    })
}

/// Where the payload of an IPv6 packet begins, its protocol, and which part of the datagram it is.
fn extensions(ip: &[u8], mut next: u8) -> Result<(usize, u8, Part), Reason> {
    let (mut at, mut whole) = (40, Part::Whole);
    for _ in 0..=MOST_EXTENSIONS {
        // Hop-by-hop options, routing, destination options, mobility, host identity, shim6; fragment; authentication.
        if !matches!(next, 0 | 43 | 44 | 51 | 60 | 135 | 139 | 140) {
            return Ok((at, next, whole));
        }
        let Some(extension) = ip.get(at..at + 8) else { return Err(Reason::Malformed) };
        let length = usize::from(extension[1]);
        let length = match next {
            44 => 8,
            51 => (length + 2) * 4,
            _ => (length + 1) * 8,
        };
        if at + length > ip.len() {
            return Err(Reason::Malformed);
        }
        if next == 44 {
            let fragment = word(extension, 2);
            whole = part(fragment >> 3 != 0, fragment & 1 != 0);
        }
        (next, at) = (extension[0], at + length);
        if whole == Part::Later {
            // What follows is the middle of something.
            return Ok((at, next, whole));
        }
    }
    Err(Reason::Malformed)
}

const fn part(is_behind: bool, has_more: bool) -> Part {
    match (is_behind, has_more) {
        (false, false) => Part::Whole,
        (false, true) => Part::First,
        (true, _) => Part::Later,
    }
}

/// These protocols all begin with their ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
#[inline]
fn ports(protocol: u8, part: Part, payload: &[u8]) -> (u16, u16) {
    match (part, protocol, payload) {
        (Part::Whole, TCP | UDP | 33 | 132 | 136, [a, b, c, d, ..]) => {
            (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]))
        }
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests;
