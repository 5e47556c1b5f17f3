//! The configuration of a daemon that steers as it is written: one structure a table, one field a key.
//!
//! The structures are the only definition of the format; what the fields must satisfy together is checked in
//! `check`. Quantities are those of the scenarios.

use serde::{Deserialize, Serialize};
use weir_document::Located;
use weir_document::quantity::{Length, Time};
use weir_plane::config::Xdp;
use weir_plane::config::address::Endpoint;

use super::written::{Priority, Processors};
use crate::steer::kernel::Traffic;

/// Requests of an interface, spread over processors.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteeringDocument {
    /// The version of this format: 1.
    pub weir: Located<u32>,
    /// What holds for the daemon as a whole.
    pub steer: Located<SteerTable>,
    /// The classes of requests; default: all are of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Located<ClassesTable>>,
    /// A service in the kernel, for measurements; default: none, the programs of the host serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Located<ServiceTable>>,
}

/// What holds for the daemon as a whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteerTable {
    /// Its name: that of its control socket, `weird ctl NAME`.
    pub name: Located<String>,
    /// The interface in the kernel.
    pub interface: Located<String>,
    /// Which frames are requests; default: `udp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Located<Traffic>>,
    /// The destination ports of requests, for `udp` and no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<Located<Vec<Located<u32>>>>,
    /// The policy, as a spec string; default: `rr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Located<String>>,
    /// The processors, in the order in which they are taken: `"1-7"`, `"1,3,5-7"` or a list of numbers. More than the
    /// machine has are left out, with a message.
    pub processors: Located<Processors>,
    /// How many frames wait for one processor at most; default: `"4096pkt"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Located<Length>>,
    /// The real-time priority (SCHED_FIFO) of the kernel threads that serve the queues, from 1 to 99, or `"none"`, which
    /// leaves it as it is; default: 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Located<Priority>>,
    /// Delays are judged by their mean over this span, or over the period of the policy where that is longer; default:
    /// `"100ms"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Located<Time>>,
    /// Whether the programs go on as they are when the daemon has died; default: they go with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<Located<bool>>,
    /// How its program shares the interface with those of others; default: `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xdp: Option<Located<Xdp>>,
    /// Where it comes among those of a dispatcher, the least first; default: 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xdp_priority: Option<Located<u32>>,
    /// Where metrics are served, an address of loopback with a port; default: nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Located<Endpoint>>,
    /// The group that may read over the control socket; default: that of the daemon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Located<String>>,
    /// The user that the daemon becomes when all is set up that takes root; default: it stays what it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Located<String>>,
}

/// The classes of requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassesTable {
    /// The names of the short and of the long requests; default: `["short", "long"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Located<Vec<Located<String>>>>,
    /// What makes a request a long one.
    pub long: Located<LongTable>,
    /// The share of all requests that each class is, for policies that must know it; with `services`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<Located<Vec<Located<f64>>>>,
    /// The mean service of each class, for policies that must know it; with `shares`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub services: Option<Located<Vec<Located<Time>>>>,
}

/// What makes a request a long one: one of `byte`, `ports` and `dscp`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongTable {
    /// The byte of the payload, from 0, that is looked at; with `at_least`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte: Option<Located<u32>>,
    /// From which value of that byte on a request is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Located<u32>>,
    /// Destination ports, of which a long request has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<Located<Vec<Located<u32>>>>,
    /// Differentiated services code points, from 0 to 63, of which a long request has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Located<Vec<Located<u8>>>>,
}

/// A service in the kernel: a loop for each unit of a number in the request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceTable {
    /// Where the number stands in the payload, in bytes from its start: 32 bits, most significant byte first; default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<Located<u32>>,
    /// How often the loop runs for each unit; default: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Located<u32>>,
    /// Whether the request is sent back to its sender then; default: it goes on to the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reflect: Option<Located<bool>>,
}
