//! Which port a packet leaves a switch by, without a division: destinations and ways in digits of whole bits.
//!
//! A switch compares some of the destination's digits with its own place. If they agree the destination is below, and a
//! digit of it is the port; otherwise a digit of the way up is. Equal to [`Router`], which it is made from.

use crate::model::Topology;
use crate::route::Router;
use crate::topology::Wiring;

/// How a switch finds ports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hop {
    /// Of the destination: what is compared with the place of the switch.
    place_shift: u32,
    place_mask: u32,
    place: u32,
    /// Of the destination: the port down.
    down_shift: u32,
    down_mask: u32,
    /// Of the way: the port up, above the first of them.
    up_shift: u32,
    up_mask: u32,
    up: u32,
}

impl Hop {
    /// The port by which a packet leaves.
    #[inline]
    pub(super) fn port(&self, code: u32, way: u32) -> u32 {
        if (code >> self.place_shift) & self.place_mask == self.place {
            (code >> self.down_shift) & self.down_mask
        } else {
            self.up + ((way >> self.up_shift) & self.up_mask)
        }
    }
}

/// The ports of all switches, and the digits of all destinations and ways.
#[derive(Clone, Debug, Default)]
pub(super) struct Hops {
    /// Of each switch.
    pub(super) switches: Vec<Hop>,
    pub(super) codes: Codes,
}

/// Destinations and ways in digits.
#[derive(Clone, Debug, Default)]
pub(super) struct Codes {
    /// Of each end-point.
    pub(super) hosts: Vec<u32>,
    /// Of each way.
    pub(super) ways: Vec<u32>,
}

/// The bits of a digit to this base.
fn bits(base: u32) -> u32 {
    u32::BITS - (base - 1).leading_zeros()
}

/// A number of `count` ones.
fn ones(count: u32) -> u32 {
    1_u32.checked_shl(count).map_or(u32::MAX, |bit| bit - 1)
}

/// The digits of a number to a base, each in its own bits.
fn packed(number: u32, base: u32, digits: u32) -> u32 {
    let (mut rest, mut code) = (number, 0);
    for digit in 0..digits {
        code |= (rest % base) << (digit * bits(base));
        rest /= base;
    }
    code
}

impl Hops {
    /// Of a wiring; `None` where the digits do not fit.
    pub(super) fn new(wiring: &Wiring) -> Option<Self> {
        let (hosts, switches) = (wiring.hosts(), wiring.switches());
        let ways = Router::new(wiring).ways();
        match wiring.topology() {
            Topology::Tree { arity, levels } => {
                let width = bits(arity);
                (width * levels <= u32::BITS).then(|| Self {
                    switches: (0..switches).map(|switch| tree(switch, arity, levels)).collect(),
                    codes: Codes {
                        hosts: (0..hosts).map(|host| packed(host, arity, levels)).collect(),
                        ways: (0..ways).map(|way| packed(way, arity, levels - 1)).collect(),
                    },
                })
            }
            Topology::Single { .. } => Some(Self {
                switches: vec![Hop { down_mask: u32::MAX, ..Hop::default() }],
                codes: Codes { hosts: (0..hosts).collect(), ways: vec![0] },
            }),
            Topology::LeafSpine { leaves, hosts: each, .. } => {
                let width = bits(each).max(1);
                let hop = |switch: u32| match switch.checked_sub(leaves) {
                    None => Hop {
                        place_shift: width,
                        place_mask: u32::MAX,
                        place: switch,
                        down_mask: ones(width),
                        up_mask: u32::MAX,
                        up: each,
                        ..Hop::default()
                    },
                    Some(_) => Hop { down_shift: width, down_mask: u32::MAX, ..Hop::default() },
                };
                Some(Self {
                    switches: (0..switches).map(hop).collect(),
                    codes: Codes {
                        hosts: (0..hosts).map(|host| ((host / each) << width) | (host % each)).collect(),
                        ways: (0..ways).collect(),
                    },
                })
            }
        }
    }
}

/// A switch of a tree: row `(d[n-1-s] .. d[1] u[0] .. u[s-1])` of stage s is above what has those digits.
fn tree(switch: u32, arity: u32, levels: u32) -> Hop {
    let (width, rows) = (bits(arity), arity.pow(levels - 1));
    let (stage, row) = (switch / rows, switch % rows);
    let common = levels - 1 - stage;
    Hop {
        // Digits 1 to n-1-s of the destination are the upper ones of the row.
        place_shift: width.min(u32::BITS - 1),
        place_mask: if common == 0 { 0 } else { ones(common * width) },
        place: if common == 0 { 0 } else { packed(row, arity, levels - 1) >> (stage * width) },
        down_shift: (levels - stage) % levels * width,
        down_mask: ones(width),
        up_shift: stage * width,
        up_mask: ones(width),
        up: arity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_those_of_the_router() {
        for topology in [
            Topology::Tree { arity: 4, levels: 3 },
            Topology::Tree { arity: 2, levels: 1 },
            Topology::Tree { arity: 2, levels: 6 },
            Topology::Tree { arity: 3, levels: 4 },
            Topology::Tree { arity: 5, levels: 2 },
            Topology::Single { ports: 8 },
            Topology::LeafSpine { leaves: 4, spines: 3, hosts: 5 },
            Topology::LeafSpine { leaves: 3, spines: 1, hosts: 1 },
        ] {
            let wiring = Wiring::new(topology).expect("fits");
            let (router, hops) = (Router::new(&wiring), Hops::new(&wiring).expect("fits"));
            for switch in 0..wiring.switches() {
                for destination in 0..wiring.hosts() {
                    for way in 0..router.ways() {
                        let found = hops.switches[switch as usize]
                            .port(hops.codes.hosts[destination as usize], hops.codes.ways[way as usize]);
                        let expected = router.port(switch, destination, way);
                        assert_eq!(found, expected, "{topology:?} {switch} {destination} {way}");
                    }
                }
            }
        }
    }
}
