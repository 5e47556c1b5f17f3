//! Which port a packet leaves a switch by: up until it can turn, then down.
//!
//! A packet turns at the first switch from which its destination is below. The way down is determined; the way up is a
//! number, the *way*, whose digits name the upper ports stage by stage. The ways of a topology are
//! `0..ways()`: `k^(n-1)` of a tree, as many as spines, or one.
//!
//! | routing | way |
//! |-|-|
//! | deterministic | that of the destination |
//! | random for each flow | drawn with the flow |
//! | adaptive | none: any upper port |
//!
//! **Deterministic.** In a tree the upper port of stage 0 is digit 0 of the destination, that of stage s > 0 its digit
//! `n-s`. Then the switches that a destination is reached through are its own: every downward link of the tree
//! carries what goes to one destination, in order, and there is no contention on the way down. Under spines it is
//! the place of the destination at its leaf, modulo the spines.
//!
//! | | |
//! |-|-|
//! | Source | turn-around routing (up*/down*); the choice of the way up as in the fat trees of InfiniBand |
//! | Work | two divisions a switch |

use core::ops::Range;

use crate::model::Topology;
use crate::topology::Wiring;

/// Finds ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Router {
    topology: Topology,
    /// Rows of a stage of a tree.
    rows: u32,
    /// Powers of the arity of a tree, from the zeroth on.
    powers: Vec<u32>,
}

impl Router {
    /// Of a wiring.
    #[must_use]
    pub fn new(wiring: &Wiring) -> Self {
        let topology = wiring.topology();
        let powers: Vec<u32> = match topology {
            Topology::Tree { arity, levels } => (0..levels).map(|level| arity.pow(level)).collect(),
            _ => vec![1],
        };
        Self { topology, rows: powers.last().copied().unwrap_or(1), powers }
    }

    /// How many ways up there are.
    #[must_use]
    pub fn ways(&self) -> u32 {
        match self.topology {
            Topology::Tree { .. } => self.rows,
            Topology::Single { .. } => 1,
            Topology::LeafSpine { spines, .. } => spines,
        }
    }

    /// The way up to this destination under deterministic routing.
    #[must_use]
    pub fn way(&self, destination: u32) -> u32 {
        match self.topology {
            Topology::Tree { arity, levels } => {
                let digit = |stage: usize| self.digit(destination, arity, levels, stage as u32);
                (0..self.powers.len() - 1).map(|stage| digit(stage) * self.powers[stage]).sum()
            }
            Topology::Single { .. } => 0,
            Topology::LeafSpine { spines, hosts, .. } => destination % hosts % spines,
        }
    }

    /// The digit of a destination that a stage of a tree goes by, down as up: 0 in stage 0, `n-s` in stage s.
    fn digit(&self, destination: u32, arity: u32, levels: u32, stage: u32) -> u32 {
        destination / self.powers[((levels - stage) % levels) as usize] % arity
    }

    /// The port down to a destination; `None` where it is not below this switch.
    #[must_use]
    pub fn down(&self, switch: u32, destination: u32) -> Option<u32> {
        match self.topology {
            Topology::Tree { arity, levels } => {
                let (stage, row) = (switch / self.rows, switch % self.rows);
                let fixed = (levels - 1 - stage) as usize;
                let below = row / self.powers[stage as usize] == destination / arity % self.powers[fixed];
                below.then(|| self.digit(destination, arity, levels, stage))
            }
            Topology::Single { .. } => Some(destination),
            Topology::LeafSpine { leaves, .. } if switch >= leaves => Some(destination / self.hosts()),
            Topology::LeafSpine { .. } => {
                (destination / self.hosts() == switch).then(|| destination % self.hosts())
            }
        }
    }

    /// End-points of a leaf.
    fn hosts(&self) -> u32 {
        if let Topology::LeafSpine { hosts, .. } = self.topology { hosts } else { 1 }
    }

    /// The ports up of a switch from which a destination is not below.
    #[must_use]
    pub fn up(&self) -> Range<u32> {
        match self.topology {
            Topology::Tree { arity, .. } => arity..2 * arity,
            Topology::Single { .. } => 0..0,
            Topology::LeafSpine { spines, hosts, .. } => hosts..hosts + spines,
        }
    }

    /// The port by which a packet leaves a switch, on this way up.
    #[must_use]
    pub fn port(&self, switch: u32, destination: u32, way: u32) -> u32 {
        if let Some(port) = self.down(switch, destination) {
            return port;
        }
        match self.topology {
            Topology::Tree { arity, .. } => arity + way / self.powers[(switch / self.rows) as usize] % arity,
            Topology::Single { .. } => destination,
            Topology::LeafSpine { hosts, .. } => hosts + way,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::End;

    const TOPOLOGIES: [Topology; 6] = [
        Topology::Tree { arity: 4, levels: 3 },
        Topology::Tree { arity: 2, levels: 5 },
        Topology::Tree { arity: 3, levels: 4 },
        Topology::Tree { arity: 5, levels: 1 },
        Topology::Single { ports: 8 },
        Topology::LeafSpine { leaves: 4, spines: 3, hosts: 5 },
    ];

    /// The ports, of all switches, that a packet leaves by.
    fn path(wiring: &Wiring, router: &Router, source: u32, destination: u32, way: u32) -> Vec<u32> {
        let (mut at, mut path) = (wiring.port_of_host(source), Vec::new());
        loop {
            let (switch, _) = wiring.switch_and_port(at);
            path.push(wiring.port(switch, router.port(switch, destination, way)));
            match wiring.end(path[path.len() - 1]) {
                End::Host(host) => {
                    assert_eq!(host, destination);
                    return path;
                }
                End::Port(next) => at = next,
                End::Nothing => panic!("{source} to {destination} by {way} ends nowhere"),
            }
            assert!(path.len() < 20, "{source} to {destination} by {way} does not end");
        }
    }

    /// Claim C14: every pair is reachable, over 1, 3 or 5 switches for 4, 12 and 48 of the 64.
    #[test]
    fn paths_of_the_document_are_of_1_3_and_5_switches() {
        let wiring = Wiring::new(TOPOLOGIES[0]).expect("fits");
        let router = Router::new(&wiring);
        for source in 0..64 {
            let mut lengths = [0; 6];
            for destination in 0..64 {
                let way = router.way(destination);
                lengths[path(&wiring, &router, source, destination, way).len()] += 1;
            }
            assert_eq!(lengths, [0, 4, 0, 12, 0, 48]);
        }
    }

    #[test]
    fn every_way_leads_there_and_as_short() {
        for topology in TOPOLOGIES {
            let wiring = Wiring::new(topology).expect("fits");
            let router = Router::new(&wiring);
            let pairs = (0..wiring.hosts()).flat_map(|a| (0..wiring.hosts()).map(move |b| (a, b)));
            for (source, destination) in pairs {
                let own = path(&wiring, &router, source, destination, router.way(destination));
                let mut tops = Vec::new();
                for way in 0..router.ways() {
                    let path = path(&wiring, &router, source, destination, way);
                    assert_eq!(path.len(), own.len(), "{topology:?}");
                    tops.push(path[path.len() / 2]);
                }
                tops.sort_unstable();
                tops.dedup();
                // A path over t stages turns at one of k^(t-1) switches.
                let turns = match topology {
                    Topology::Tree { arity, .. } => arity.pow(own.len() as u32 / 2),
                    _ if own.len() == 3 => router.ways(),
                    _ => 1,
                };
                assert_eq!(tops.len() as u32, turns, "{topology:?}");
            }
        }
    }

    /// Which destinations use each port under deterministic routing.
    fn users(wiring: &Wiring, router: &Router) -> Vec<Vec<u32>> {
        let mut users = vec![Vec::new(); (wiring.switches() * wiring.ports()) as usize];
        for source in 0..wiring.hosts() {
            for destination in 0..wiring.hosts() {
                for port in path(wiring, router, source, destination, router.way(destination)) {
                    users[port as usize].push(destination);
                }
            }
        }
        users.iter_mut().for_each(|users| {
            users.sort_unstable();
            users.dedup();
        });
        users
    }

    #[test]
    fn each_downward_link_of_a_tree_carries_what_goes_to_one_destination() {
        for topology in &TOPOLOGIES[..4] {
            let wiring = Wiring::new(*topology).expect("fits");
            let router = Router::new(&wiring);
            let Topology::Tree { arity, .. } = *topology else { continue };
            for (port, users) in users(&wiring, &router).iter().enumerate() {
                let (switch, local) = wiring.switch_and_port(port as u32);
                if local < arity {
                    assert_eq!(users.len(), 1, "{topology:?}, port {local} of switch {switch}");
                }
            }
        }
    }

    #[test]
    fn upper_ports_are_used_evenly() {
        let wiring = Wiring::new(TOPOLOGIES[0]).expect("fits");
        let users = users(&wiring, &Router::new(&wiring));
        let upper =
            |stage: usize| (16 * stage..16 * (stage + 1)).flat_map(|switch| 8 * switch + 4..8 * switch + 8);
        // 60 destinations are not below a switch of stage 0, 48 not below one of stage 1 but of 16 each
        // that have come there.
        assert!(upper(0).all(|port| users[port].len() == 15));
        assert!(
            upper(1).all(|port| users[port].len() == 3),
            "{:?}",
            upper(1).map(|port| users[port].len()).collect::<Vec<_>>()
        );
    }

    #[test]
    fn ports_up_are_those_of_all_ways() {
        for topology in TOPOLOGIES {
            let wiring = Wiring::new(topology).expect("fits");
            let router = Router::new(&wiring);
            let Some(far) = (0..wiring.hosts()).find(|&host| router.down(0, host).is_none()) else {
                continue;
            };
            let mut ports: Vec<u32> = (0..router.ways()).map(|way| router.port(0, far, way)).collect();
            ports.sort_unstable();
            ports.dedup();
            assert!(router.up().eq(ports), "{topology:?}");
        }
    }
}
