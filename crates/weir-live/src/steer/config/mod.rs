//! The configuration of a daemon that steers, read from a file and checked once.
//!
//! The file is TOML (`document`), read and refused as that of a router is. What comes out is a [`Steering`], of which
//! only the machine can say more: which of its processors there are, and whether its kernel runs the programs.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(length of the file) |
//! | Units | those of the scenarios: `100ms`, `1.95us`, `4096pkt` |

mod check;
pub mod document;
mod print;
pub mod written;

use std::net::SocketAddr;

use weir_core::pool::{Profile, Site};
use weir_core::spec::Spec;
use weir_core::units::Nanos;

use crate::io::attach::Sharing;

use super::kernel::{ClassRule, Service, Setup, Traffic};

pub use check::read;
pub use written::{Priority, Processors};

/// How many classes requests are of at most: `STEER_CLASSES` of `bpf/steer/intf.h`.
pub const MOST_CLASSES: usize = 2;
/// The most processors that requests are spread over: `STEER_PLACES` there.
pub const MOST_PROCESSORS: usize = 256;
/// The numbers of processors end below this: `STEER_CPUS` there.
pub const PROCESSORS_END: u32 = 1024;

/// A daemon that steers.
#[derive(Clone, Debug, PartialEq)]
pub struct Steering {
    /// Its name.
    pub name: String,
    /// The interface whose requests are spread.
    pub interface: String,
    /// Which frames are requests.
    pub traffic: Traffic,
    /// The ports of requests over UDP.
    pub ports: Vec<u16>,
    /// The policy, which weir-core builds.
    pub policy: Spec,
    /// The processors that requests are spread over, in the order in which they are taken.
    pub processors: Processors,
    /// How many frames wait for one processor at most.
    pub queue: u32,
    /// The real-time priority of the kernel threads that serve the queues; `None` leaves it.
    pub priority: Priority,
    /// Delays are judged by their mean over this span, or the policy's period where that is longer.
    pub window: Nanos,
    /// Whether the programs go on when the daemon has died.
    pub pin: bool,
    /// How its program shares the interface with those of others.
    pub sharing: Sharing,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
    /// The group that may read over the control socket.
    pub group: Option<String>,
    /// The user that the daemon becomes.
    pub user: Option<String>,
    /// The classes of requests.
    pub classes: Classes,
    /// The service in the kernel, for measurements.
    pub service: Option<Service>,
}

/// The classes of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    /// Their names: the short requests first; one where all are alike.
    pub names: Vec<String>,
    /// What makes a request one of the long ones.
    pub rule: ClassRule,
    /// What is known of each beforehand, where the file says.
    pub profiles: Option<Vec<Profile>>,
}

impl Steering {
    /// The pool that a policy is built for, where `processors` processors serve.
    #[must_use]
    pub fn site(&self, processors: usize) -> Site {
        // Where nobody says what the classes need, they need the same.
        let alike = |count: usize| {
            let one = Profile { share: 1.0 / count as f64, service: Nanos::new(1_000) };
            vec![one; count]
        };
        let classes = self.classes.profiles.clone().unwrap_or_else(|| alike(self.classes.names.len()));
        Site {
            servers: processors as u32,
            receivers: 1,
            classes,
            queue: Some(self.queue),
            speeds: Vec::new(),
        }
    }

    /// The set-up of the programs; `flow_seed` makes the hash that flows are numbered by.
    #[must_use]
    pub fn setup(&self, flow_seed: u64) -> Setup {
        Setup {
            traffic: self.traffic,
            class_rule: self.classes.rule.clone(),
            ports: self.ports.clone(),
            flow_seed,
            service: self.service,
        }
    }
}
