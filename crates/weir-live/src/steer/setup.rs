//! The set-up of the programs, given once, when they are loaded: which frames are ours, their classes, and what is done to them.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(ports), once |
//! | Units | bytes from the start of a payload |

use serde::{Deserialize, Serialize};
use weir_core::packet::hash::Keyed;

use super::layout::{self, PORTS};

/// Which frames are ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// UDP to one of the ports.
    Udp,
    /// All of IP; of what is encapsulated the flow is that inside.
    Ip,
    /// What is encapsulated, and nothing else.
    Encapsulated,
}

/// What makes a request a long one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassRule {
    /// Nothing: all are short.
    One,
    /// A byte of the payload is at least a given value.
    Byte {
        /// Which, from 0.
        offset: u32,
        /// The least.
        at_least: u8,
    },
    /// The destination port is one of these.
    Ports(Vec<u16>),
    /// The differentiated services code point is one of these.
    Dscp(Vec<u8>),
}

/// Requests are served by the program itself, for measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// Where in the payload there is a number of 32 bits, most significant byte first.
    pub field: u32,
    /// How often a loop is run for each unit of it.
    pub iterations: u32,
    /// Whether the frame is then sent back; otherwise it goes on to the kernel.
    pub reflect: bool,
}

/// The set-up of the programs, given once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Which frames are ours.
    pub traffic: Traffic,
    /// What makes a request a long one.
    pub class_rule: ClassRule,
    /// The ports of ours, for UDP; at most [`Self::MOST`] count.
    pub ports: Vec<u16>,
    /// Makes the hash that flows are numbered by.
    pub flow_seed: u64,
    /// Whether requests are served by the program.
    pub service: Option<Service>,
}

impl Setup {
    /// The most ports, and the most service code points of a rule.
    pub const MOST: usize = PORTS;
    /// The largest offset of a byte or a field in a payload.
    pub const FARTHEST: u32 = 1024;

    /// `struct steer_setup`.
    pub(super) fn layout(&self) -> layout::Setup {
        let traffic = match self.traffic {
            Traffic::Udp => 0,
            Traffic::Ip => 1,
            Traffic::Encapsulated => 2,
        };
        let (ports_used, ports) = filled(&self.ports);
        let mut setup = layout::Setup {
            traffic,
            ports_used,
            ports,
            flow_key: Keyed::new(self.flow_seed).key(),
            ..layout::Setup::default()
        };
        self.classes(&mut setup);
        if let Some(Service { field, iterations, reflect }) = self.service {
            (setup.serve, setup.reflect) = (1, reflect.into());
            (setup.field, setup.iterations) = (field.min(Self::FARTHEST), iterations);
        }
        setup
    }

    fn classes(&self, setup: &mut layout::Setup) {
        match &self.class_rule {
            ClassRule::One => {}
            ClassRule::Byte { offset, at_least } => {
                setup.class_rule = 1;
                (setup.offset, setup.at_least) = ((*offset).min(Self::FARTHEST), (*at_least).into());
            }
            ClassRule::Ports(ports) => {
                setup.class_rule = 2;
                (setup.values_used, setup.values) = filled(ports);
            }
            ClassRule::Dscp(points) => {
                let points: Vec<u16> = points.iter().map(|&point| point.into()).collect();
                setup.class_rule = 3;
                (setup.values_used, setup.values) = filled(&points);
            }
        }
    }
}

/// The first values, and how many they are.
fn filled(values: &[u16]) -> (u32, [u16; PORTS]) {
    let mut all = [0; PORTS];
    all.iter_mut().zip(values).for_each(|(to, value)| *to = *value);
    (values.len().min(PORTS) as u32, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_place() {
        let service = Service { field: 4, iterations: 10, reflect: true };
        let class_rule = ClassRule::Byte { offset: 3, at_least: 10 };
        let setup = Setup {
            traffic: Traffic::Udp,
            class_rule,
            ports: vec![9000],
            flow_seed: 1,
            service: Some(service),
        };
        let layout = setup.layout();
        assert_eq!((layout.traffic, layout.ports_used, layout.ports[..2].to_vec()), (0, 1, vec![9000, 0]));
        assert_eq!((layout.class_rule, layout.offset, layout.at_least), (1, 3, 10));
        assert_eq!((layout.serve, layout.reflect, layout.field, layout.iterations), (1, 1, 4, 10));
        assert_eq!(layout.flow_key, Keyed::new(1).key());
    }

    #[test]
    fn only_the_first_values_count() {
        let class_rule = ClassRule::Dscp((0..40).collect());
        let setup = Setup { traffic: Traffic::Ip, class_rule, ports: vec![], flow_seed: 1, service: None };
        let layout = setup.layout();
        assert_eq!((layout.class_rule, layout.values_used, layout.values[15]), (3, 16, 15));
        assert_eq!((layout.traffic, layout.serve), (1, 0));
    }
}
