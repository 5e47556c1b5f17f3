//! Interfaces: their names, addresses, lines and disciplines.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;
use weir_core::spec::Spec;
use weir_core::units::{Bytes, Nanos, Rate};
use weir_document::Located;
use weir_document::quantity::{ByteSize, Speed};

use super::super::address::{HostAddress, MacAddress, Prefix};
use super::super::document::{InterfaceTable, RouterDocument};
use super::super::{Interface, MOST_INTERFACES, Neighbour, Vlan};
use super::{Checked, Checker, DISCIPLINE, OF_SUBSCRIBERS, discipline};
use crate::arena;

/// The longest name of an interface, in bytes, as the kernel bounds it.
const LONGEST_NAME: usize = 15;
/// The most addresses of one interface.
const MOST_ADDRESSES: usize = 16;
/// The least and the highest rate of a line.
const RATES: (Rate, Rate) = (Rate::new(1_000), Rate::new(1_000_000_000_000));
/// The header of an Ethernet frame.
const HEADER: Bytes = Bytes::new(14);
/// The most that a packet takes on the line besides its bytes.
const MOST_FRAMING: Bytes = Bytes::new(1024);
/// The longest propagation, during which frames lie in memory.
const LONGEST_PROPAGATION: Nanos = Nanos::new(10_000_000_000);
/// The least size that every link of IPv4 takes, and that of IPv6.
const LEAST_MTU: (u64, u64) = (68, 1280);
/// The largest packet that a frame of the arena holds behind its header.
const MOST_MTU: u64 = arena::MOST_MTU as u64;

impl Checker<'_> {
    pub(super) fn interfaces(&self, document: &RouterDocument) -> Checked<Vec<Interface>> {
        let written = &document.interface;
        if written.value.is_empty() || written.value.len() > MOST_INTERFACES {
            let reason = format!("must be from 1 to {MOST_INTERFACES} interfaces");
            return self.refuse(written, reason, "write a table `[[interface]]` for each, with its `name`");
        }
        let default = document.router.value.discipline.as_ref().map(|it| self.discipline(it)).transpose()?;
        let mut interfaces: Vec<Interface> = Vec::with_capacity(written.value.len());
        for table in &written.value {
            let interface = self.interface(&table.value, default.as_ref(), &interfaces)?;
            interfaces.push(interface);
        }
        Ok(interfaces)
    }

    fn interface(
        &self,
        table: &InterfaceTable,
        default: Option<&Spec>,
        before: &[Interface],
    ) -> Checked<Interface> {
        let name = self.interface_name(&table.name)?;
        if before.iter().any(|other| other.name == name) {
            return self.refuse(&table.name, "is the name of another table", "give each one table");
        }
        let (device, vlan) = self.device(table, &name, before)?;
        let mut addresses: Vec<IpNet> = Vec::with_capacity(table.addresses.len());
        for written in &table.addresses {
            if addresses.len() == MOST_ADDRESSES {
                let reason = format!("is beyond the limit of {MOST_ADDRESSES} addresses of `{name}`");
                return self.refuse(written, reason, "remove some");
            }
            addresses.push(self.own_address(written, &addresses, before)?);
        }
        Ok(Interface {
            rate: table.rate.as_ref().map(|rate| self.rate(rate)).transpose()?,
            framing: table.framing.as_ref().map_or(Ok(HEADER), |framing| self.framing(framing))?,
            propagation: table.propagation.as_ref().map_or(Ok(Nanos::new(0)), |written| {
                let remedy = "lower it: what propagates lies in memory";
                self.span(written, LONGEST_PROPAGATION, remedy)
            })?,
            discipline: match (&table.discipline, default) {
                (Some(written), _) => self.discipline(written)?,
                (None, Some(default)) => default.clone(),
                (None, None) => standard(table.subscribers.is_some()),
            },
            mtu: table.mtu.as_ref().map(|mtu| self.mtu(mtu, &addresses, vlan)).transpose()?,
            neighbours: self.neighbours(table, &addresses)?,
            subscribers: self.subscribers(table)?,
            priority_from: Self::priority_from(table),
            is_removed: false,
            name,
            device,
            vlan,
            addresses,
        })
    }

    /// The name of an interface in the kernel.
    ///
    /// # Errors
    /// It is refused.
    pub fn interface_name(&self, written: &Located<String>) -> Checked<String> {
        let name = &written.value;
        let known = |each: u8| each.is_ascii_graphic() && each != b'/' && each != b':';
        let is_folder = name == "." || name == "..";
        if name.is_empty() || name.len() > LONGEST_NAME || is_folder || !name.bytes().all(known) {
            let reason = format!("must be from 1 to {LONGEST_NAME} characters without blanks, `/` and `:`");
            return self.refuse(written, reason, "write a name that `ip link` shows, such as \"eth0\"");
        }
        Ok(name.clone())
    }

    fn discipline(&self, written: &Located<String>) -> Checked<Spec> {
        discipline(&written.value).or_else(|(reason, remedy)| self.refuse(written, reason, remedy))
    }

    fn rate(&self, written: &Located<Speed>) -> Checked<Rate> {
        rate_within(written.value.0)
            .or_else(|reason| self.refuse(written, reason, "write a rate such as \"10Mbit\""))
    }

    fn framing(&self, written: &Located<ByteSize>) -> Checked<Bytes> {
        if written.value.0 > MOST_FRAMING {
            let remedy = "write a size such as \"38B\", Ethernet with preamble, check sequence and gap";
            return self.refuse(written, format!("must be at most {MOST_FRAMING}"), remedy);
        }
        Ok(written.value.0)
    }

    fn mtu(&self, written: &Located<ByteSize>, addresses: &[IpNet], vlan: Option<Vlan>) -> Checked<Bytes> {
        let mtu = written.value.0;
        let has_six = addresses.iter().any(|address| matches!(address, IpNet::V6(_)));
        let (least, why) = match has_six {
            true => (LEAST_MTU.1, "the least of a link of IPv6"),
            false => (LEAST_MTU.0, "the least of a link of IPv4"),
        };
        if mtu.get() < least {
            let reason = format!("must be at least {least}B, {why}");
            return self.refuse(written, reason, "raise it, or leave it to the device");
        }
        let most = MOST_MTU - vlan.map_or(0, |vlan| vlan.length() as u64);
        if mtu.get() > most {
            let reason = format!("must be at most {most}B, which one frame of memory holds");
            return self.refuse(written, reason, "lower it, such as to \"1500B\"");
        }
        Ok(mtu)
    }

    /// An address of the router with the prefix it is in.
    fn own_address(&self, written: &Located<Prefix>, own: &[IpNet], before: &[Interface]) -> Checked<IpNet> {
        let address = written.value.0;
        if let Some(reason) = no_host(address.addr()).or_else(|| no_host_of(address)) {
            let remedy = "write an address of a host with the length of its prefix, such as \"10.0.1.1/24\"";
            return self.refuse(written, reason, remedy);
        }
        let others = before.iter().flat_map(|other| other.addresses.iter().map(move |it| (Some(other), it)));
        for (interface, other) in others.chain(own.iter().map(|it| (None, it))) {
            let at = interface.map_or("this interface".to_owned(), |other| format!("`{}`", other.name));
            if other.addr() == address.addr() && (interface.is_none() || !is_link_local(address.addr())) {
                return self.refuse(
                    written,
                    format!("is an address of {at} already"),
                    "remove one of the two",
                );
            }
            if interface.is_some() && overlap(&address, other) && !is_link_local(address.addr()) {
                let reason = format!("is in the prefix of {other}, an address of {at}");
                let remedy = "give each interface prefixes of its own: a packet leaves by one of them";
                return self.refuse(written, reason, remedy);
            }
        }
        Ok(address)
    }

    fn neighbours(&self, table: &InterfaceTable, own: &[IpNet]) -> Checked<Vec<Neighbour>> {
        let mut known = BTreeMap::new();
        for (HostAddress(address), device) in &table.neighbours.0 {
            let mac = self.neighbour(*address, device, table, own)?;
            if known.insert(*address, mac).is_some() {
                let reason = format!("is the device of {address}, which has one already in another spelling");
                return self.refuse(device, reason, "remove one of the two");
            }
        }
        Ok(known.into_iter().map(|(address, mac)| Neighbour { address, mac }).collect())
    }

    fn neighbour(
        &self,
        address: IpAddr,
        device: &Located<MacAddress>,
        table: &InterfaceTable,
        own: &[IpNet],
    ) -> Checked<MacAddress> {
        let remedy = "write a neighbour such as { \"10.0.1.2\" = \"02:00:00:00:00:02\" }";
        if let Some(reason) = no_host(address) {
            return self.refuse(device, format!("is the device of {address}, which {reason}"), remedy);
        }
        if own.iter().any(|it| it.addr() == address) {
            let reason = format!("is the device of {address}, which is the router's own address");
            return self.refuse(device, reason, remedy);
        }
        if !is_link_local(address) && !own.iter().any(|prefix| prefix.contains(&address)) {
            let reason =
                format!("is the device of {address}, which is in no prefix of `{}`", table.name.value);
            return self.refuse(device, reason, "add an address of that prefix to `addresses`");
        }
        let [first, ..] = device.value.0;
        if first & 1 == 1 || device.value == MacAddress::default() {
            let reason = format!("cannot be the device of {address}: it is that of a group, or of nobody");
            return self.refuse(device, reason, remedy);
        }
        Ok(device.value)
    }
}

/// The discipline of an interface where nobody says another.
fn standard(has_subscribers: bool) -> Spec {
    let name = if has_subscribers { OF_SUBSCRIBERS } else { DISCIPLINE };
    discipline(name).expect("a discipline of packets")
}

/// Whether a line can have this rate; otherwise why not.
pub(in crate::config) fn rate_within(rate: Rate) -> Result<Rate, String> {
    let (low, high) = RATES;
    let fits = (low.get()..=high.get()).contains(&rate.get());
    fits.then_some(rate).ok_or_else(|| format!("must be from {low} to {high}"))
}

/// Whether a line can have this propagation; otherwise why not.
pub(in crate::config) fn propagation_within(span: Nanos) -> Result<Nanos, String> {
    (span <= LONGEST_PROPAGATION)
        .then_some(span)
        .ok_or_else(|| format!("must be at most {LONGEST_PROPAGATION}"))
}

/// Why this is not the address of one host, if it is not.
pub(super) fn no_host(address: IpAddr) -> Option<&'static str> {
    match address {
        _ if address.is_unspecified() => Some("is the address of no host"),
        _ if address.is_loopback() => Some("is an address of loopback"),
        _ if address.is_multicast() => Some("is the address of a group"),
        IpAddr::V4(four) if four.octets()[0] == 0 => Some("is an address of this network, which none has"),
        IpAddr::V4(Ipv4Addr::BROADCAST) => Some("is the address of all hosts"),
        IpAddr::V4(four) if four.octets()[0] >= 240 => Some("is an address of no use yet"),
        IpAddr::V6(six) if six.to_ipv4_mapped().is_some() => {
            Some("is an address of IPv4 written as one of IPv6")
        }
        _ => None,
    }
}

/// Why this is not the address of a host in its prefix, if it is not.
fn no_host_of(address: IpNet) -> Option<&'static str> {
    match address {
        IpNet::V4(four) if four.prefix_len() == 0 => Some("has a prefix that is all addresses"),
        IpNet::V6(six) if six.prefix_len() == 0 => Some("has a prefix that is all addresses"),
        IpNet::V4(four) if four.prefix_len() < 31 && four.addr() == four.network() => {
            Some("is the prefix itself, not a host in it")
        }
        IpNet::V4(four) if four.prefix_len() < 31 && four.addr() == four.broadcast() => {
            Some("is the address of all hosts of its prefix")
        }
        IpNet::V6(six) if six.prefix_len() < 127 && six.addr() == six.network() => {
            Some("is the prefix itself, not a host in it")
        }
        _ => None,
    }
}

/// Whether an address is of one link alone, so that each interface may have it.
pub(in crate::config) fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.is_link_local(),
        IpAddr::V6(six) => six.is_unicast_link_local(),
    }
}

fn overlap(one: &IpNet, other: &IpNet) -> bool {
    one.contains(&other.network()) || other.contains(&one.network())
}
