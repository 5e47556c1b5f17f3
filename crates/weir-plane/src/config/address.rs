//! What is written of addresses: of hosts, of devices, prefixes, ranges of ports, protocols.

use core::fmt;
use core::ops::RangeInclusive;
use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The address of a device on an Ethernet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// All devices.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Reads `02:00:00:00:00:0a`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let mut address = [0; 6];
        for byte in &mut address {
            let part = parts.next().filter(|part| (1..=2).contains(&part.len()))?;
            // `from_str_radix` takes a sign.
            *byte =
                part.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u8::from_str_radix(part, 16).ok())??;
        }
        parts.next().is_none().then_some(Self(address))
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// A range of ports, both ends inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRange(pub RangeInclusive<u16>);

impl PortRange {
    fn parse(text: &str) -> Option<Self> {
        let (low, high) = text.split_once('-').unwrap_or((text, text));
        let port = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?;
        let (low, high): (u16, u16) = (port(low)?, port(high)?);
        (low <= high).then_some(Self(low..=high))
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.start())?;
        if self.0.start() < self.0.end() { write!(f, "-{}", self.0.end()) } else { Ok(()) }
    }
}

/// A protocol above IP, by name or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol(pub u8);

impl Protocol {
    const NAMES: [(&'static str, u8); 5] =
        [("icmp", 1), ("tcp", 6), ("udp", 17), ("ipv6-icmp", 58), ("sctp", 132)];

    fn parse(text: &str) -> Option<Self> {
        let named = Self::NAMES.iter().find(|(name, _)| *name == text).map(|&(_, number)| Self(number));
        named.or_else(|| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok().map(Self))?)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMES.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

/// A prefix, or an address with the length of the prefix it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix(pub IpNet);

/// The address of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostAddress(pub IpAddr);

/// An address with a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint(pub SocketAddr);

macro_rules! of_std {
    ($($type:ident),*) => {$(
        impl $type {
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok().map(Self)
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}
of_std!(Prefix, HostAddress, Endpoint);

/// Reads what is written as text, and where that is usual as a number; writes it as text.
macro_rules! written {
    ($type:ident, $expected:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Written;
                impl Visitor<'_> for Written {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: Error>(self, text: &str) -> Result<$type, E> {
                        $type::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
                    }
                    fn visit_i64<E: Error>(self, number: i64) -> Result<$type, E> {
                        let unread = || E::invalid_value(Unexpected::Signed(number), &self);
                        $type::parse(&number.to_string()).ok_or_else(unread)
                    }
                }
                deserializer.deserialize_any(Written)
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

written!(MacAddress, "the address of a device, such as \"02:00:00:00:00:01\"");
written!(Prefix, "an address with the length of its prefix, such as \"10.0.1.1/24\" or \"fd00:1::1/64\"");
written!(HostAddress, "an address, such as \"10.0.1.2\" or \"fd00:1::2\"");
written!(Endpoint, "an address with a port, such as \"127.0.0.1:9100\"");
written!(PortRange, "a port or a range of ports, such as 5060 or \"5000-5999\"");
written!(Protocol, "a protocol: \"udp\", \"tcp\", \"icmp\", \"ipv6-icmp\", \"sctp\", or its number");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_addresses_are_read_and_written() {
        let address = MacAddress::parse("02:0:00:00:fF:1a").expect("an address");
        assert_eq!(address.to_string(), "02:00:00:00:ff:1a");
        for bad in
            ["", "02", "02:00:00:00:00", "02:00:00:00:00:00:00", "02:00:00:00:00:+1", "02:00:00:00:00:123"]
        {
            assert_eq!(MacAddress::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn ports_and_protocols_are_read_and_written() {
        assert_eq!(PortRange::parse("5060").map(|r| r.to_string()), Some("5060".into()));
        assert_eq!(PortRange::parse("10-20").map(|r| r.to_string()), Some("10-20".into()));
        for bad in ["", "-", "20-10", "65536", "1-", "-1", "+1", "1-2-3"] {
            assert_eq!(PortRange::parse(bad), None, "{bad}");
        }
        assert_eq!(Protocol::parse("udp"), Some(Protocol(17)));
        assert_eq!(Protocol::parse("47").map(|p| p.to_string()), Some("47".into()));
        for bad in ["", "UDP", "256", "-1"] {
            assert_eq!(Protocol::parse(bad), None, "{bad}");
        }
    }
}
