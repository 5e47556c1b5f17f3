//! The configuration of a router, read from a file and checked once.
//!
//! The file is TOML ([`document`]); unknown keys, wrong units and contradictions are refused with file, line, column,
//! value, bound and remedy, as in a scenario. What comes out is a [`Router`] in which every name is a number and every
//! reference exists, so that nothing behind it has to check again.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(length of the file); routes and classes at most as many as [`Router`] says |
//! | Units | those of the scenarios: `10Mbit`, `5ms`, `14B` |

pub mod address;
pub mod change;
pub mod check;
mod defaults;
pub mod document;
mod follow;
pub mod print;
pub mod vlan;

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;

use ipnet::IpNet;
use weir_core::spec::Spec;
use weir_core::units::{Bytes, Nanos, Rate};
use weir_document::subscribers::Table;

use crate::arena::cost;
pub use address::{MacAddress, PortRange, Protocol};
pub use change::Change;
pub use check::{read, read_file, read_successor};
pub use document::{
    Checksums, Defaults, FlowKey, Io, OnFailure, PriorityFrom, SubscriberAddress, TagType, Xdp,
};
pub use vlan::{Outer, Vlan};

/// The most interfaces of a router.
pub const MOST_INTERFACES: usize = 256;
/// The most routes.
pub const MOST_ROUTES: usize = 65_536;
/// The most threads that move packets.
pub const MOST_WORKERS: u32 = 16;
/// The most classes, `default` included.
pub const MOST_CLASSES: usize = 256;

/// The priority of a program behind a dispatcher where the file does not say: that of libxdp.
pub const XDP_PRIORITY: u32 = 50;

/// A router whose parts fit together.
#[derive(Clone, Debug, PartialEq)]
pub struct Router {
    /// Its name.
    pub name: String,
    /// The memory of all frames together.
    pub memory: Bytes,
    /// By which means frames come in and leave.
    pub io: Io,
    /// What becomes of the traffic when the daemon is gone.
    pub on_failure: OnFailure,
    /// How its programs share interfaces with those of others.
    pub xdp: Xdp,
    /// Where they come among those of a dispatcher.
    pub xdp_priority: u32,
    /// What is done with checksums that are not complete.
    pub checksums: Checksums,
    /// What packets of one flow have in common.
    pub flow_key: FlowKey,
    /// What disciplines take for parameters that their specs leave out.
    pub defaults: Defaults,
    /// Into how many flows they are hashed, a power of two.
    pub flow_buckets: u32,
    /// The key of that hash; `None`: random at each start.
    pub hash_key: Option<u64>,
    /// How many neighbours are learned at each interface at most, a power of two.
    pub most_neighbours: u32,
    /// How many threads move packets: the interfaces of device `n` are served by thread `n` modulo this.
    pub workers: u32,
    /// The last part of each wait, which is spent spinning.
    pub spin: Nanos,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
    /// The group that may read over the control socket.
    pub group: Option<String>,
    /// The user that the daemon becomes.
    pub user: Option<String>,
    /// The interfaces; a place in this list is what the other parts mean by an interface.
    pub interfaces: Vec<Interface>,
    /// The routes, those of the interfaces' own prefixes included.
    pub routes: Vec<Route>,
    /// The classes in order of their rank, `default` last.
    pub classes: Vec<Class>,
}

impl Router {
    /// How many frames its memory holds.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.memory.get() / cost(self.workers)
    }
}

/// An interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// The name of its device in the kernel.
    pub device: String,
    /// Which VLAN of it; `None`: frames without a tag.
    pub vlan: Option<Vlan>,
    /// What the priority of frames follows that leave with a tag.
    pub priority_from: PriorityFrom,
    /// A reload has taken it away: its place stays, and what was counted of it.
    pub is_removed: bool,
    /// The router's addresses there.
    pub addresses: Vec<IpNet>,
    /// The rate at which frames leave; `None`: as fast as the device takes them.
    pub rate: Option<Rate>,
    /// What each packet takes on the line besides its IP bytes.
    pub framing: Bytes,
    /// From the end of a transmission to the device.
    pub propagation: Nanos,
    /// The discipline of its queue, as it is written; [`Router::discipline_at`] has what is filled in.
    pub discipline: Spec,
    /// The largest IP packet that leaves here; `None`: that of the device.
    pub mtu: Option<Bytes>,
    /// Neighbours that are known beforehand.
    pub neighbours: Vec<Neighbour>,
    /// Who shares it; `None`: nobody in particular.
    pub subscribers: Option<Subscribers>,
}

/// Those who share an interface, each with the discipline of the interface for its own packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Subscribers {
    /// Their file, as it is written.
    pub file: String,
    /// Which address of a packet is theirs.
    pub address: SubscriberAddress,
    /// Whether metrics are given for each.
    pub metrics: bool,
    /// What the file says.
    pub table: Arc<Table>,
}

/// A host or router on the link of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Neighbour {
    /// Its address.
    pub address: IpAddr,
    /// Its device.
    pub mac: MacAddress,
}

/// Where packets to a prefix go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The prefix.
    pub to: IpNet,
    /// The next router; `None`: the destination itself.
    pub via: Option<IpAddr>,
    /// The interface they leave by.
    pub interface: usize,
}

/// A class and the rule of what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// What must fit; an empty rule fits all.
    pub rule: Rule,
    /// What is changed about its packets.
    pub mark: Mark,
}

/// What is changed about packets that leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The priority code point of their VLAN tags.
    pub priority: Option<u8>,
    /// Their differentiated services code point.
    pub dscp: Option<u8>,
}

/// What must fit; an empty part fits all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Prefixes of the source, one of which must fit.
    pub from: Vec<IpNet>,
    /// Prefixes of the destination, one of which must fit.
    pub to: Vec<IpNet>,
    /// The protocol above IP.
    pub protocol: Option<u8>,
    /// Ranges, one of which must hold the port of the source or of the destination.
    pub ports: Vec<RangeInclusive<u16>>,
    /// Code points, one of which must fit.
    pub dscp: Vec<u8>,
    /// VLANs, one of which must be that of the interface it came in by.
    pub vlan: Vec<u16>,
    /// The same of the outer of two tags.
    pub outer: Vec<u16>,
    /// Priority code points, one of which it must have come in with.
    pub priority: Vec<u8>,
}
