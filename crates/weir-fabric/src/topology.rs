//! Who is joined to whom: end-points, switches and their ports.
//!
//! A switch has `ports` ports, as many as the one with the most; a port of all switches has the number
//! `switch * ports + port`. What is not used is joined to nothing.
//!
//! | topology | switches | ports of a switch |
//! |-|-|-|
//! | tree of arity k with n levels | stage s, row r: `s * k^(n-1) + r` | `0..k` down, `k..2k` up |
//! | single | 0 | end-points |
//! | leaf and spine | leaves, then spines | leaf: end-points, then spines; spine: leaves |
//!
//! **Tree.** With digits of base k, end-point `(d[n-1] .. d[1] d[0])` is joined to stage 0, row `(d[n-1] .. d[1])`, port
//! `d[0]`. Of the upper port u of row r the label is `x = k r + u = (x[n-1] .. x[0])`; the perfect shuffle of it,
//! `(x[n-2] .. x[0] x[n-1])`, names the lower port `x[n-1]` of row `(x[n-2] .. x[0])` in the next stage. So row
//! `(d[n-1-s] .. d[1] u[0] .. u[s-1])` of stage s is reached by the upper ports u, and its lower ports are digit `n-s`
//! of end-points. The upper ports of the last stage are joined to nothing.
//!
//! | | |
//! |-|-|
//! | Source | Martínez, Alfaro and Sánchez 2007, section 3.1 (64 end-points, 48 switches, 3 stages); the wiring follows from it |
//! | Memory | 4 bytes a port and an end-point |
//! | Bounds | [`MOST_HOSTS`], [`MOST_PORTS`], [`MOST_SWITCHES`] |

use core::fmt;

use crate::model::Topology;

/// The most end-points.
pub const MOST_HOSTS: u32 = 1 << 16;
/// The most ports of a switch.
pub const MOST_PORTS: u32 = 128;
/// The most switches.
pub const MOST_SWITCHES: u32 = 1 << 16;

/// What a port or an interface is joined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end-point of this number.
    Host(u32),
    /// The port of this number, of all switches.
    Port(u32),
    /// Nothing.
    Nothing,
}

/// Why there is no such topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopologyError {
    /// What is out of its bounds: `arity`, `levels`, ...
    pub key: &'static str,
    /// What it is.
    pub value: u64,
    /// The least that it may be.
    pub least: u64,
    /// The most that it may be; where several numbers make up one, the others as they are.
    pub most: u64,
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, value, least, most } = self;
        if most < least {
            return write!(f, "{key} is {value}: there is none that fits the rest, lower the other numbers");
        }
        write!(f, "{key} is {value}, must be from {least} to {most}")
    }
}

impl std::error::Error for TopologyError {}

/// A topology, wired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    topology: Topology,
    ports: u32,
    /// The port that each end-point is joined to.
    hosts: Vec<u32>,
    /// What each port of all switches is joined to.
    ends: Vec<End>,
}

fn bounded(key: &'static str, value: u32, least: u32, most: u64) -> Result<(), TopologyError> {
    let (value, least) = (u64::from(value), u64::from(least));
    if (least..=most).contains(&value) { Ok(()) } else { Err(TopologyError { key, value, least, most }) }
}

/// Refuses a topology that is too small or too large.
///
/// # Errors
/// A number is out of its bounds; the error says of which it may be at most, the others as they are.
pub fn check(topology: Topology) -> Result<(), TopologyError> {
    let most_ports = u64::from(MOST_PORTS);
    match topology {
        Topology::Tree { arity, levels } => {
            bounded("arity", arity, 2, most_ports / 2)?;
            let fits = |&levels: &u32| {
                let hosts = u64::from(arity).checked_pow(levels);
                let switches = hosts.map(|hosts| u64::from(levels) * hosts / u64::from(arity));
                hosts.is_some_and(|hosts| hosts <= u64::from(MOST_HOSTS))
                    && switches.is_some_and(|switches| switches <= u64::from(MOST_SWITCHES))
            };
            bounded("levels", levels, 1, u64::from((1..32).take_while(fits).last().unwrap_or(0)))
        }
        Topology::Single { ports } => bounded("ports", ports, 2, most_ports),
        Topology::LeafSpine { leaves, spines, hosts } => {
            bounded("leaves", leaves, 2, most_ports)?;
            bounded("spines", spines, 1, most_ports - 1)?;
            bounded("hosts", hosts, 1, most_ports - u64::from(spines))
        }
    }
}

impl Wiring {
    /// The wiring of a topology.
    ///
    /// # Errors
    /// As [`check`].
    pub fn new(topology: Topology) -> Result<Self, TopologyError> {
        check(topology)?;
        let (hosts, switches, ports) = match topology {
            Topology::Tree { arity, levels } => {
                (arity.pow(levels), levels * arity.pow(levels - 1), 2 * arity)
            }
            Topology::Single { ports } => (ports, 1, ports),
            Topology::LeafSpine { leaves, spines, hosts } => {
                (leaves * hosts, leaves + spines, leaves.max(spines + hosts))
            }
        };
        let ends = vec![End::Nothing; (switches * ports) as usize];
        let mut wiring = Self { topology, ports, hosts: vec![0; hosts as usize], ends };
        match topology {
            Topology::Tree { arity, levels } => wiring.wire_tree(arity, levels),
            Topology::Single { .. } => (0..hosts).for_each(|host| wiring.join_host(host, 0, host)),
            Topology::LeafSpine { leaves, spines, hosts } => wiring.wire_leaves(leaves, spines, hosts),
        }
        Ok(wiring)
    }

    fn wire_tree(&mut self, arity: u32, levels: u32) {
        let rows = arity.pow(levels - 1);
        for host in 0..self.hosts() {
            self.join_host(host, host / arity, host % arity);
        }
        for stage in 1..levels {
            for label in 0..rows * arity {
                let (row, upper) = (label / arity, label % arity);
                let (above, lower) = (label % rows, label / rows);
                let below = self.port((stage - 1) * rows + row, arity + upper);
                self.join(below, self.port(stage * rows + above, lower));
            }
        }
    }

    fn wire_leaves(&mut self, leaves: u32, spines: u32, hosts: u32) {
        for leaf in 0..leaves {
            (0..hosts).for_each(|port| self.join_host(leaf * hosts + port, leaf, port));
            for spine in 0..spines {
                self.join(self.port(leaf, hosts + spine), self.port(leaves + spine, leaf));
            }
        }
    }

    fn join_host(&mut self, host: u32, switch: u32, port: u32) {
        let port = self.port(switch, port);
        self.hosts[host as usize] = port;
        self.ends[port as usize] = End::Host(host);
    }

    fn join(&mut self, one: u32, other: u32) {
        self.ends[one as usize] = End::Port(other);
        self.ends[other as usize] = End::Port(one);
    }

    /// What is wired.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// End-points.
    #[must_use]
    pub fn hosts(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// Switches.
    #[must_use]
    pub fn switches(&self) -> u32 {
        self.ends.len() as u32 / self.ports
    }

    /// Ports of each switch, joined or not.
    #[must_use]
    pub fn ports(&self) -> u32 {
        self.ports
    }

    /// Links, one for each direction.
    #[must_use]
    pub fn links(&self) -> u32 {
        let joined = self.ends.iter().filter(|&&end| end != End::Nothing).count();
        self.hosts() + joined as u32
    }

    /// The number of a switch's port among those of all switches.
    #[must_use]
    #[inline]
    pub fn port(&self, switch: u32, port: u32) -> u32 {
        switch * self.ports + port
    }

    /// The switch and its port of this number.
    #[must_use]
    #[inline]
    pub fn switch_and_port(&self, port: u32) -> (u32, u32) {
        (port / self.ports, port % self.ports)
    }

    /// The port, of all switches, that an end-point is joined to.
    #[must_use]
    #[inline]
    pub fn port_of_host(&self, host: u32) -> u32 {
        self.hosts[host as usize]
    }

    /// What a port, of all switches, is joined to.
    #[must_use]
    #[inline]
    pub fn end(&self, port: u32) -> End {
        self.ends[port as usize]
    }

    /// A port of all switches, in words.
    #[must_use]
    pub fn name(&self, port: u32) -> String {
        let (switch, port) = self.switch_and_port(port);
        match self.topology {
            Topology::Tree { arity, levels } => {
                let rows = arity.pow(levels - 1);
                format!("port {port} of switch {switch} (stage {}, row {})", switch / rows, switch % rows)
            }
            Topology::Single { .. } => format!("port {port} of the switch"),
            Topology::LeafSpine { leaves, .. } if switch < leaves => format!("port {port} of leaf {switch}"),
            Topology::LeafSpine { leaves, .. } => format!("port {port} of spine {}", switch - leaves),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPOLOGIES: [Topology; 9] = [
        Topology::Tree { arity: 4, levels: 3 },
        Topology::Tree { arity: 2, levels: 1 },
        Topology::Tree { arity: 2, levels: 5 },
        Topology::Tree { arity: 3, levels: 4 },
        Topology::Tree { arity: 4, levels: 5 },
        Topology::Tree { arity: 64, levels: 2 },
        Topology::Single { ports: 8 },
        Topology::LeafSpine { leaves: 4, spines: 3, hosts: 5 },
        Topology::LeafSpine { leaves: 9, spines: 1, hosts: 1 },
    ];

    /// Claim C14, its sizes.
    #[test]
    fn the_fabric_of_the_document_has_64_end_points_and_48_switches_of_8_ports() {
        let wiring = Wiring::new(Topology::Tree { arity: 4, levels: 3 }).expect("fits");
        assert_eq!((wiring.hosts(), wiring.switches(), wiring.ports()), (64, 48, 8));
        // 64 to and from end-points, and 64 between two stages each way.
        assert_eq!(wiring.links(), 2 * 64 + 2 * 128);
        let unused = (0..48 * 8).filter(|&port| wiring.end(port) == End::Nothing);
        assert!(unused.eq((32..48).flat_map(|switch| (4..8).map(move |port| 8 * switch + port))));
    }

    #[test]
    fn the_shuffle_of_the_document() {
        let wiring = Wiring::new(Topology::Tree { arity: 4, levels: 3 }).expect("fits");
        // Row (2 1), upper port 3: label (2 1 3), shuffled (1 3 2).
        assert_eq!(wiring.end(wiring.port(9, 4 + 3)), End::Port(wiring.port(16 + 4 + 3, 2)));
        assert_eq!(wiring.end(wiring.port(16 + 9, 4 + 3)), End::Port(wiring.port(32 + 4 + 3, 2)));
        // End-point (2 1 3).
        assert_eq!(wiring.port_of_host(39), wiring.port(9, 3));
    }

    #[test]
    fn joints_are_mutual_and_every_end_point_has_one() {
        for topology in TOPOLOGIES {
            let wiring = Wiring::new(topology).expect("fits");
            for port in 0..wiring.switches() * wiring.ports() {
                match wiring.end(port) {
                    End::Host(host) => assert_eq!(wiring.port_of_host(host), port, "{topology:?}"),
                    End::Port(other) => {
                        assert_eq!(wiring.end(other), End::Port(port), "{topology:?}");
                        assert_ne!(wiring.switch_and_port(port).0, wiring.switch_and_port(other).0);
                    }
                    End::Nothing => {}
                }
            }
            for host in 0..wiring.hosts() {
                assert_eq!(wiring.end(wiring.port_of_host(host)), End::Host(host), "{topology:?}");
            }
        }
    }

    #[test]
    fn the_stages_of_a_tree_have_full_degree() {
        for (arity, levels) in [(2, 5), (3, 4), (4, 5), (64, 2)] {
            let wiring = Wiring::new(Topology::Tree { arity, levels }).expect("fits");
            let rows = arity.pow(levels - 1);
            assert_eq!((wiring.hosts(), wiring.switches()), (arity * rows, levels * rows));
            for port in 0..wiring.switches() * wiring.ports() {
                let (switch, local) = wiring.switch_and_port(port);
                let expected = match (switch / rows, local < arity) {
                    (0, true) => None,
                    (stage, true) => Some(stage - 1),
                    (stage, false) if stage + 1 < levels => Some(stage + 1),
                    _ => {
                        assert_eq!(wiring.end(port), End::Nothing);
                        continue;
                    }
                };
                let found = match wiring.end(port) {
                    End::Port(other) => Some(wiring.switch_and_port(other).0 / rows),
                    _ => None,
                };
                assert_eq!(found, expected, "{arity}-ary {levels}-tree, {}", wiring.name(port));
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        for (topology, expected) in [
            (Topology::Tree { arity: 1, levels: 3 }, "arity is 1, must be from 2 to 64"),
            (Topology::Tree { arity: 65, levels: 1 }, "arity is 65, must be from 2 to 64"),
            (Topology::Tree { arity: 4, levels: 0 }, "levels is 0, must be from 1 to 7"),
            (Topology::Tree { arity: 4, levels: 9 }, "levels is 9, must be from 1 to 7"),
            (
                Topology::Tree { arity: 64, levels: 4_000_000_000 },
                "levels is 4000000000, must be from 1 to 2",
            ),
            (Topology::Single { ports: 1 }, "ports is 1, must be from 2 to 128"),
            (Topology::LeafSpine { leaves: 1, spines: 1, hosts: 1 }, "leaves is 1, must be from 2 to 128"),
            (Topology::LeafSpine { leaves: 2, spines: 0, hosts: 1 }, "spines is 0, must be from 1 to 127"),
            (Topology::LeafSpine { leaves: 2, spines: 100, hosts: 29 }, "hosts is 29, must be from 1 to 28"),
        ] {
            assert_eq!(Wiring::new(topology).expect_err("refused").to_string(), expected);
        }
    }
}
