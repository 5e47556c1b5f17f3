//! Whose packet it is and of what kind: the class by the first rule that fits, the flow by a keyed hash.
//!
//! Flows are as many as `flow_buckets`, whatever comes in, so that nothing that is kept for each flow can be made to
//! grow; who does not know the key cannot choose which flows share a number. What disciplines hash by themselves are
//! the addresses, with the flow or alone: those of IPv4 as they are, those of IPv6 folded by the same keyed hash, and
//! none that `flows` does not tell apart.
//!
//! | | |
//! |-|-|
//! | Source | RFC 2475, section 2.3.1 (multi-field classifiers); SipHash-1-3, as `weir_core::packet::hash` has it |
//! | Work per packet | O(rules) until one fits, and one hash, of IPv6 three |
//! | Units | none |

use std::ops::RangeInclusive;

use ipnet::IpNet;
use weir_core::item::{Addresses, ClassId, FlowId};
use weir_core::packet::hash::Keyed;

use super::frame::{Ends, Packet};
use super::vlan::Origin;
use crate::config::{Defaults, FlowKey, Router, Rule};

/// Prefixes as networks and masks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Prefixes {
    v4: Vec<(u32, u32)>,
    v6: Vec<(u128, u128)>,
}

impl Prefixes {
    fn new(nets: &[IpNet]) -> Self {
        let mut prefixes = Self::default();
        for net in nets {
            match net {
                IpNet::V4(net) => prefixes.v4.push((net.network().to_bits(), net.netmask().to_bits())),
                IpNet::V6(net) => prefixes.v6.push((net.network().to_bits(), net.netmask().to_bits())),
            }
        }
        prefixes
    }

    /// Whether there are none, of either kind: then all fit.
    fn is_empty(&self) -> bool {
        self.v4.is_empty() && self.v6.is_empty()
    }
}

/// A rule, made for the search.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Compiled {
    from: Prefixes,
    to: Prefixes,
    protocol: Option<u8>,
    ports: Vec<RangeInclusive<u16>>,
    /// A bit for each code point; `None`: any.
    dscp: Option<u64>,
    /// In order.
    vlan: Vec<u16>,
    outer: Vec<u16>,
    /// As of DSCP.
    priority: Option<u8>,
}

impl Compiled {
    fn new(rule: &Rule) -> Self {
        let dscp = rule.dscp.iter().fold(0, |all, &point| all | 1_u64 << (point & 63));
        let priority = rule.priority.iter().fold(0, |all, &point| all | 1_u8 << (point & 7));
        let in_order = |vlans: &[u16]| {
            let mut vlans = vlans.to_vec();
            vlans.sort_unstable();
            vlans
        };
        Self {
            from: Prefixes::new(&rule.from),
            to: Prefixes::new(&rule.to),
            protocol: rule.protocol,
            ports: rule.ports.clone(),
            dscp: (!rule.dscp.is_empty()).then_some(dscp),
            vlan: in_order(&rule.vlan),
            outer: in_order(&rule.outer),
            priority: (!rule.priority.is_empty()).then_some(priority),
        }
    }

    fn fits_tags(&self, origin: Origin) -> bool {
        let within = |vlans: &[u16], vlan| vlans.is_empty() || vlans.binary_search(&vlan).is_ok();
        within(&self.vlan, origin.vlan)
            && within(&self.outer, origin.outer)
            && self
                .priority
                .is_none_or(|points| origin.priority.is_some_and(|point| points >> point & 1 == 1))
    }

    fn fits(&self, packet: &Packet, origin: Origin) -> bool {
        let (source, destination) = packet.ports;
        self.protocol.is_none_or(|protocol| protocol == packet.protocol)
            && self.dscp.is_none_or(|points| points >> packet.dscp & 1 == 1)
            && (self.ports.is_empty()
                || self.ports.iter().any(|range| {
                    // A packet without ports has zeros there, which are not ports.
                    packet.ports != (0, 0) && (range.contains(&source) || range.contains(&destination))
                }))
            && self.fits_tags(origin)
            && self.fits_addresses(&packet.ends)
    }

    fn fits_addresses(&self, ends: &Ends) -> bool {
        let (from, to) = (&self.from, &self.to);
        let within = |all: &Prefixes, found: bool| all.is_empty() || found;
        match *ends {
            Ends::V4 { source, destination } => {
                within(from, from.v4.iter().any(|&(net, mask)| source & mask == net))
                    && within(to, to.v4.iter().any(|&(net, mask)| destination & mask == net))
            }
            Ends::V6 { source, destination } => {
                within(from, from.v6.iter().any(|&(net, mask)| source & mask == net))
                    && within(to, to.v6.iter().any(|&(net, mask)| destination & mask == net))
            }
        }
    }
}

/// What a discipline sees of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label {
    /// Its class.
    pub(super) class: ClassId,
    /// Its flow.
    pub(super) flow: FlowId,
    /// What disciplines hash.
    pub(super) addresses: Addresses,
}

/// The rules and the hash; two that are equal label every packet alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Classifier {
    /// Those before the last class, which takes what fits none.
    rules: Vec<Compiled>,
    key: FlowKey,
    buckets: u32,
    /// Whether disciplines see all addresses, as in a simulation.
    shows_all: bool,
    hash: Keyed,
}

impl Classifier {
    /// The classes and flows of a router; `seed` is the key of the hash where the router has none.
    pub(super) fn new(router: &Router, seed: u64) -> Self {
        let last = router.classes.len().saturating_sub(1);
        Self {
            rules: router.classes[..last].iter().map(|class| Compiled::new(&class.rule)).collect(),
            key: router.flow_key,
            buckets: router.flow_buckets.max(1),
            shows_all: router.defaults == Defaults::Simulation,
            hash: Keyed::new(router.hash_key.unwrap_or(seed)),
        }
    }

    /// The label of a packet that came in with tags of this origin.
    #[inline]
    pub(super) fn label(&self, packet: &Packet, origin: Origin) -> Label {
        let class = self.rules.iter().position(|rule| rule.fits(packet, origin)).unwrap_or(self.rules.len());
        let addresses = self.addresses(&packet.ends);
        let flow = match self.key {
            FlowKey::Class => class as u32,
            _ => self.bucket(packet),
        };
        Label { class: ClassId(class as u16), flow: FlowId(flow), addresses }
    }

    #[inline]
    fn addresses(&self, ends: &Ends) -> Addresses {
        let (source, destination) = match *ends {
            Ends::V4 { source, destination } => (source, destination),
            Ends::V6 { source, destination } => {
                let fold = |address: u128| self.hash.hash(&address.to_be_bytes()) as u32;
                (fold(source), fold(destination))
            }
        };
        match self.key {
            FlowKey::Source if !self.shows_all => Addresses { source, destination: 0 },
            FlowKey::Destination if !self.shows_all => Addresses { source: 0, destination },
            FlowKey::Class if !self.shows_all => Addresses { source: 0, destination: 0 },
            _ => Addresses { source, destination },
        }
    }

    #[inline]
    fn bucket(&self, packet: &Packet) -> u32 {
        let mut key = Key { bytes: [0; 37], length: 0 };
        let (source, destination) = (self.key != FlowKey::Destination, self.key != FlowKey::Source);
        match packet.ends {
            Ends::V4 { source: from, destination: to } => {
                key.push(source, from.to_be_bytes());
                key.push(destination, to.to_be_bytes());
            }
            Ends::V6 { source: from, destination: to } => {
                key.push(source, from.to_be_bytes());
                key.push(destination, to.to_be_bytes());
            }
        }
        if self.key == FlowKey::FiveTuple {
            key.push(true, packet.ports.0.to_be_bytes());
            key.push(true, packet.ports.1.to_be_bytes());
            key.push(true, [packet.protocol]);
        }
        let hash = self.hash.hash(&key.bytes[..key.length]);
        ((u128::from(hash) * u128::from(self.buckets)) >> 64) as u32
    }
}

/// What the hash is taken over: at most two addresses, two ports and a protocol.
struct Key {
    bytes: [u8; 37],
    length: usize,
}

impl Key {
    #[inline]
    fn push<const N: usize>(&mut self, counts: bool, part: [u8; N]) {
        if counts {
            self.bytes[self.length..self.length + N].copy_from_slice(&part);
            self.length += N;
        }
    }
}

#[cfg(test)]
mod tests;
