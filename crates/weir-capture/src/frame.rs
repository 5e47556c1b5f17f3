//! A captured frame: which packet it carries between which addresses.
//!
//! | Link type | Number | Is on the line, and so counted |
//! |-|-|-|
//! | Ethernet, with up to three VLAN tags | 1 | all that was captured; without preamble, check sequence and gap |
//! | Raw IP | 12, 14, 101, 228, 229 | the IP packet |
//! | Linux cooked, versions 1 and 2 | 113, 276 | the IP packet: the header of 16 or 20 bytes was never sent |
//! | Loopback (BSD, OpenBSD) | 0, 108 | the IP packet: the family of 4 bytes was never sent |
//!
//! Ports are those of TCP, UDP, UDP-Lite, DCCP and SCTP; other protocols have none. Fragments have none
//! either, not even the first: all fragments of a datagram are to be of one flow, as in a router that does not
//! reassemble. Of a tunnel the outer addresses count. The code point is that of the (outer) IP header.
//!
//! Frames without IP (ARP, spanning tree, LLDP, MPLS, Ethernet with a length) are recognised, and not read:
//! they do not go through a router.

use core::net::IpAddr;

use etherparse::{EtherType, LaxIpPayloadSlice, LaxNetSlice, LaxSlicedPacket};

use crate::error::Fault;

/// What begins a captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// An Ethernet header.
    Ethernet,
    /// An IP header.
    Ip,
    /// The address family, in either byte order.
    Loopback,
    /// What Linux makes of the header of any link: version 1.
    Cooked,
    /// Version 2 of it.
    Cooked2,
}

impl Link {
    /// The link of a number of the list of tcpdump.org.
    pub(crate) const fn new(kind: u32) -> Result<Self, Fault> {
        match kind {
            1 => Ok(Self::Ethernet),
            12 | 14 | 101 | 228 | 229 => Ok(Self::Ip),
            0 | 108 => Ok(Self::Loopback),
            113 => Ok(Self::Cooked),
            276 => Ok(Self::Cooked2),
            kind => Err(Fault::Link(kind)),
        }
    }

    /// The bytes at the beginning that were never on the line.
    const fn invented(self) -> usize {
        match self {
            Self::Ethernet | Self::Ip => 0,
            Self::Loopback => 4,
            Self::Cooked => 16,
            Self::Cooked2 => 20,
        }
    }
}

/// What is known of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// It carries an IP packet.
    Ip(Packet),
    /// It carries something of this EtherType; a smaller number is a length of IEEE 802.3, or the address
    /// family of a loopback.
    Other(u16),
    /// What was captured of it ends before its addresses, or is damaged there.
    Unreadable,
}

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Where it comes from.
    pub source: IpAddr,
    /// Where it goes.
    pub destination: IpAddr,
    /// The protocol of its payload, behind the extensions of IPv6.
    pub protocol: u8,
    /// Source and destination ports; 0 where there are none, or none were captured.
    pub ports: (u16, u16),
    /// The differentiated services code point.
    pub dscp: u8,
    /// Whether it is part of a larger datagram.
    pub fragment: bool,
}

impl Frame {
    /// Reads what begins a frame.
    #[must_use]
    pub fn read(link: Link, bytes: &[u8]) -> Self {
        match link {
            Link::Ethernet => {
                LaxSlicedPacket::from_ethernet(bytes).map_or(Self::Unreadable, |it| Self::of(&it))
            }
            Link::Ip => Self::ip(bytes),
            Link::Loopback => Self::loopback(bytes),
            Link::Cooked => Self::cooked(bytes, 14, link.invented()),
            Link::Cooked2 => Self::cooked(bytes, 0, link.invented()),
        }
    }

    /// The bytes of a frame of `length` captured bytes on the line.
    #[must_use]
    pub const fn on_the_line(link: Link, length: u32) -> u32 {
        length.saturating_sub(link.invented() as u32)
    }

    fn ip(bytes: &[u8]) -> Self {
        LaxSlicedPacket::from_ip(bytes).map_or(Self::Unreadable, |it| Self::of(&it))
    }

    /// The family is in the byte order of the machine that captured: the one in which it is small.
    fn loopback(bytes: &[u8]) -> Self {
        let Some((family, rest)) = bytes.split_first_chunk::<4>() else { return Self::Unreadable };
        match u32::from_be_bytes(*family).min(u32::from_le_bytes(*family)) {
            // IPv4; IPv6 on Linux, NetBSD and OpenBSD, FreeBSD, macOS.
            2 | 10 | 24 | 28 | 30 => Self::ip(rest),
            other => Self::Other(u16::try_from(other).unwrap_or(u16::MAX)),
        }
    }

    /// The EtherType stands at a place of the header.
    fn cooked(bytes: &[u8], place: usize, header: usize) -> Self {
        let Some((header, rest)) = bytes.split_at_checked(header) else { return Self::Unreadable };
        let kind = EtherType(u16::from_be_bytes([header[place], header[place + 1]]));
        Self::of(&LaxSlicedPacket::from_ether_type(kind, rest))
    }

    fn of(sliced: &LaxSlicedPacket<'_>) -> Self {
        match &sliced.net {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header();
                let ends = (header.source_addr().into(), header.destination_addr().into());
                Self::packet(ends, ip.payload(), header.dcp().value())
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let header = ip.header();
                let ends = (header.source_addr().into(), header.destination_addr().into());
                Self::packet(ends, ip.payload(), header.dscp().value())
            }
            Some(LaxNetSlice::Arp(_)) => Self::Other(EtherType::ARP.0),
            None if sliced.stop_err.is_some() => Self::Unreadable,
            None => {
                sliced.ether_payload().map_or(Self::Unreadable, |payload| Self::Other(payload.ether_type.0))
            }
        }
    }

    fn packet((source, destination): (IpAddr, IpAddr), payload: &LaxIpPayloadSlice<'_>, dscp: u8) -> Self {
        let protocol = payload.ip_number.0;
        let fragment = payload.fragmented;
        let ports = if fragment { (0, 0) } else { ports(protocol, payload.payload) };
        Self::Ip(Packet { source, destination, protocol, ports, dscp, fragment })
    }
}

/// These protocols all begin with their ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
fn ports(protocol: u8, payload: &[u8]) -> (u16, u16) {
    match (protocol, payload) {
        (6 | 17 | 33 | 132 | 136, [a, b, c, d, ..]) => {
            (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]))
        }
        _ => (0, 0),
    }
}
