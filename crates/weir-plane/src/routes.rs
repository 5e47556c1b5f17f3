//! Where a packet goes: the longest [prefix](super::prefixes) that its destination is in.
//!
//! The router's own addresses are routes to itself, and the broadcast addresses of its prefixes routes to nowhere.
//!
//! | | |
//! |-|-|
//! | Source | RFC 1812, section 5.2.4.3 (longest match) |
//! | Work per packet | O(log(routes)) |
//! | Memory | that of the prefixes, and 32 bytes a route |
//! | Units | none |

use std::net::IpAddr;

use ipnet::IpNet;

use super::frame::Ends;
use super::prefixes::Prefixes;
use crate::config::Router;

/// Where packets to a prefix go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Out by an interface, to the next router or, without one, to the destination itself.
    Out {
        /// The interface.
        interface: usize,
        /// The next router.
        via: Option<IpAddr>,
    },
    /// To this router.
    Here,
    /// To all of a network, which no router forwards (RFC 2644).
    Broadcast,
}

/// All routes.
#[derive(Clone, Debug)]
pub(super) struct Routes {
    prefixes: Prefixes,
    targets: Vec<Target>,
}

impl Routes {
    /// The routes of a router.
    pub(super) fn new(router: &Router) -> Self {
        let mut listed: Vec<(IpNet, Target)> = Vec::new();
        // Of equal prefixes the one that is written first counts, and the router's own addresses before all.
        for route in router.routes.iter().rev() {
            listed.push((route.to, Target::Out { interface: route.interface, via: route.via }));
        }
        let own = || router.interfaces.iter().flat_map(|interface| &interface.addresses);
        listed.extend(own().filter_map(|net| Some((broadcast(net)?.into(), Target::Broadcast))));
        listed.extend(own().map(|net| (net.addr().into(), Target::Here)));
        Self::of(&listed)
    }

    fn of(listed: &[(IpNet, Target)]) -> Self {
        Self {
            prefixes: Prefixes::new(listed.iter().zip(0..).map(|((net, _), at)| (*net, at))),
            targets: listed.iter().map(|&(_, target)| target).collect(),
        }
    }

    /// Where a packet goes; `None` where no prefix holds its destination.
    #[inline]
    pub(super) fn find(&self, ends: &Ends) -> Option<Target> {
        let at = match *ends {
            Ends::V4 { destination, .. } => self.prefixes.find_v4(destination),
            Ends::V6 { destination, .. } => self.prefixes.find_v6(destination),
        };
        self.targets.get(at? as usize).copied()
    }
}

/// The broadcast address of a prefix of IPv4, where it has one (RFC 3021).
fn broadcast(net: &IpNet) -> Option<IpAddr> {
    (net.addr().is_ipv4() && net.prefix_len() < 31).then(|| net.broadcast())
}

#[cfg(test)]
mod tests {
    use weir_core::random::Random;

    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn naive(listed: &[(IpNet, Target)], address: IpAddr) -> Option<Target> {
        let holds = listed.iter().filter(|(net, _)| net.contains(&address));
        holds.max_by_key(|(net, _)| net.prefix_len()).map(|&(_, target)| target)
    }

    fn ends(address: IpAddr) -> Ends {
        match address {
            IpAddr::V4(address) => Ends::V4 { source: 0, destination: address.to_bits() },
            IpAddr::V6(address) => Ends::V6 { source: 0, destination: address.to_bits() },
        }
    }

    /// Addresses of few different bits, so that prefixes lie within each other and at both ends.
    fn address(random: &mut Random, v4: bool) -> IpAddr {
        let few = random.bits() & random.bits() & random.bits();
        let few = if random.one_in(2) { few } else { !few };
        if v4 {
            Ipv4Addr::from_bits(few as u32 & 0xff00_00ff).into()
        } else {
            Ipv6Addr::from_bits(u128::from(few) << 64 | u128::from(few & 0xff)).into()
        }
    }

    #[test]
    fn the_longest_prefix_is_that_of_a_search_through_all() {
        let mut random = Random::new(3);
        for round in 0..300 {
            let listed: Vec<(IpNet, Target)> = (0..random.below(40) as usize)
                .map(|interface| {
                    let v4 = random.one_in(2);
                    let length = random.below(if v4 { 33 } else { 129 }) as u8;
                    let net = IpNet::new(address(&mut random, v4), length).expect("a length");
                    (net.trunc(), Target::Out { interface, via: None })
                })
                .collect();
            let routes = Routes::of(&listed);
            for _ in 0..100 {
                let address = address(&mut random, round % 2 == 0);
                assert_eq!(routes.find(&ends(address)), naive(&listed, address), "{address} in {listed:?}");
            }
        }
    }

    #[test]
    fn ends_of_the_numbers_have_routes_too() {
        let all: Vec<(IpNet, Target)> =
            ["0.0.0.0/0", "::/0"].iter().map(|net| (net.parse().expect("a prefix"), Target::Here)).collect();
        let routes = Routes::of(&all);
        for address in ["0.0.0.0", "255.255.255.255", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"] {
            assert_eq!(routes.find(&ends(address.parse().expect("an address"))), Some(Target::Here));
        }
        let none = Routes::of(&[]);
        assert_eq!(none.find(&ends("1.2.3.4".parse().expect("an address"))), None);
    }
}
