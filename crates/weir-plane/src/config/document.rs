//! The configuration of a router as it is written: one structure a table, one field a key.
//!
//! The structures are the only definition of the format; what the fields must satisfy together is checked in
//! `check`. Quantities are those of the scenarios.

use core::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use weir_document::Located;
use weir_document::quantity::{ByteSize, Speed, Time};

use super::address::{Endpoint, HostAddress, MacAddress, PortRange, Prefix, Protocol};

/// A router between interfaces.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterDocument {
    /// The version of this format: 1.
    pub weir: Located<u32>,
    /// What holds for the router as a whole.
    pub router: Located<RouterTable>,
    /// The interfaces between which it forwards.
    pub interface: Located<Vec<Located<InterfaceTable>>>,
    /// Where packets go; the prefixes of the interfaces' own addresses are routes without being written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route: Vec<Located<RouteTable>>,
    /// The classes of packets, in order of their rank; the first rule that fits decides. What fits none is of the
    /// class `default`, which comes last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class: Vec<Located<ClassTable>>,
}

/// What holds for the router as a whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterTable {
    /// Its name: that of its control socket, `weird ctl NAME`.
    pub name: Located<String>,
    /// The discipline of every interface that has none of its own; default: `fifo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discipline: Option<Located<String>>,
    /// The memory of all frames together, at most; default: `"64MiB"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Located<ByteSize>>,
    /// By which means frames come in and leave; default: `auto`, which is AF_XDP where it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io: Option<Located<Io>>,
    /// What becomes of the traffic when the daemon is gone; default: `pass`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<Located<OnFailure>>,
    /// How XDP programs share an interface with those of others; default: `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xdp: Option<Located<Xdp>>,
    /// Where the program comes among those of a dispatcher, the least first; default: 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xdp_priority: Option<Located<u32>>,
    /// What is done with transport checksums that the sender left to its device; default: `complete`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksums: Option<Located<Checksums>>,
    /// What packets of one flow have in common; default: `5-tuple`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Located<FlowKey>>,
    /// What disciplines take for parameters that their specs leave out; default: `live`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defaults: Option<Located<Defaults>>,
    /// How many flows are told apart, a power of two: flows are hashed under a secret key into so many; default:
    /// 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_buckets: Option<Located<u32>>,
    /// The key of the hash of flows, for a run that is to be repeated; default: random at each start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_key: Option<Located<u64>>,
    /// How many neighbours are learned at each interface at most, a power of two from 64 to 65536, of up to 112 bytes
    /// each; default: 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_neighbours: Option<Located<u32>>,
    /// How many threads move packets; default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<Located<u32>>,
    /// The last part of each wait that is spent spinning; default: `"50us"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spin: Option<Located<Time>>,
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

/// By which means frames come in and leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Io {
    /// AF_XDP where it works, else AF_PACKET, with a word about why.
    Auto,
    /// AF_XDP sockets.
    AfXdp,
    /// AF_PACKET sockets.
    AfPacket,
}

/// What becomes of the traffic when the daemon is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The kernel has it, as if the daemon had never been.
    Pass,
    /// It is dropped until the daemon is back.
    Stop,
}

/// How XDP programs share an interface with those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Xdp {
    /// Behind a dispatcher where there is one, else as the only one.
    Auto,
    /// Behind a dispatcher, which is made where there is none.
    Dispatcher,
}

/// What is done with transport checksums that the sender left to its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checksums {
    /// They are completed.
    Complete,
    /// The packets are dropped and counted, and a message says which offload to turn off.
    Refuse,
}

/// What disciplines take for parameters that their specs leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Defaults {
    /// Bounds that follow from the rate of the interface.
    Live,
    /// The same as in a simulation, where queues have no bounds but those that are written.
    Simulation,
}

/// The type of a VLAN tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TagType {
    /// A tag of customers, 0x8100.
    #[serde(rename = "802.1Q")]
    Customer,
    /// A tag of a provider's services, 0x88a8.
    #[serde(rename = "802.1ad")]
    Service,
}

/// What the priority code point of frames that leave with a tag follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorityFrom {
    /// That with which they came in; 0 where they came without a tag.
    Received,
    /// The upper three bits of their differentiated services code point.
    Dscp,
}

/// What packets of one flow have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlowKey {
    /// Addresses, protocol and ports.
    #[serde(rename = "5-tuple")]
    FiveTuple,
    /// Source and destination address.
    #[serde(rename = "addresses")]
    Addresses,
    /// The source address.
    #[serde(rename = "source")]
    Source,
    /// The destination address.
    #[serde(rename = "destination")]
    Destination,
    /// The class alone.
    #[serde(rename = "class")]
    Class,
}

/// An interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceTable {
    /// Its name: that of its device in the kernel, unless `device` says another.
    pub name: Located<String>,
    /// The name of its device in the kernel; default: `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Located<String>>,
    /// The VLAN of `device` that it is, from 1 to 4094; default: none, frames without a tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vlan: Option<Located<u32>>,
    /// The VLAN of the outer of two tags (QinQ), where `vlan` is that of the inner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outer: Option<Located<u32>>,
    /// The type of the outer of two tags; default: `802.1ad`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outer_type: Option<Located<TagType>>,
    /// What the priority code point of frames that leave with a tag follows where their class does not set it; default:
    /// `received`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_from: Option<Located<PriorityFrom>>,
    /// The router's addresses there with the prefixes they are in, such as `["10.0.1.1/24", "fd00:1::1/64"]`: the
    /// daemon answers ARP and neighbour solicitations for them. The kernel needs none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<Located<Prefix>>,
    /// The rate at which frames leave; default: as fast as the device takes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Located<Speed>>,
    /// What each packet takes on the line beside its IP bytes, as `"38B"` of Ethernet with preamble, check sequence and
    /// gap; default: `"14B"`, the header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framing: Option<Located<ByteSize>>,
    /// The time from the end of a transmission to the moment the frame is handed to the device; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation: Option<Located<Time>>,
    /// The discipline of its queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discipline: Option<Located<String>>,
    /// The largest IP packet that leaves here; default: that of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Located<ByteSize>>,
    /// Neighbours that are known beforehand, such as `{ "10.0.1.2" = "02:00:00:00:00:02" }`; the others are asked for.
    #[serde(default, skip_serializing_if = "Neighbours::is_empty")]
    pub neighbours: Neighbours,
    /// A file of subscribers who share this interface, `name,address,rate,ceiling,group` in its first line; a path is
    /// relative to this file. `discipline` is then that of each subscriber.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribers: Option<Located<String>>,
    /// Which address of a packet is that of a subscriber: `destination` towards the subscribers, `source` on the way from
    /// them; default: `destination`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscriber_address: Option<Located<SubscriberAddress>>,
    /// Whether metrics are given for each subscriber; default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscriber_metrics: Option<Located<bool>>,
}

/// Which address of a packet is that of a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubscriberAddress {
    /// Where it goes.
    Destination,
    /// Where it comes from.
    Source,
}

/// Neighbours and their devices, each as often as it is written: one address has many spellings.
#[derive(Clone, Debug, Default)]
pub struct Neighbours(pub Vec<(HostAddress, Located<MacAddress>)>);

impl Neighbours {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Neighbours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(address, device)| (address, device)))
    }
}

impl<'de> Deserialize<'de> for Neighbours {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;
        impl<'de> Visitor<'de> for Written {
            type Value = Neighbours;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of addresses and their devices")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Neighbours, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(Neighbours(all))
            }
        }
        deserializer.deserialize_map(Written)
    }
}

/// Where packets to a prefix go.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteTable {
    /// The prefix; `0.0.0.0/0` and `::/0` are all addresses.
    pub to: Located<Prefix>,
    /// The next router, which is in the prefix of an interface; default: the destination itself, at `interface`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Located<HostAddress>>,
    /// The interface they leave by; default: the one in whose prefix `via` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<Located<String>>,
}

/// A class and the rule of what belongs to it: every key that is written must fit.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassTable {
    /// Its name.
    pub name: Located<String>,
    /// Prefixes of the source address, one of which must fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<Located<Prefix>>,
    /// Prefixes of the destination address, one of which must fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<Located<Prefix>>,
    /// The protocol above IP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Located<Protocol>>,
    /// Ports, one of which must be that of the source or of the destination: `5060` or `"5000-5999"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<Located<PortRange>>,
    /// Differentiated services code points, from 0 to 63, one of which must fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<Located<u8>>,
    /// VLANs, of one of which the interface must be by which the packet came in (`vlan` there).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vlan: Vec<Located<u32>>,
    /// VLANs of an outer tag, one of which must fit in the same way (`outer` there).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outer: Vec<Located<u32>>,
    /// Priority code points, from 0 to 7, one of which the packet must have come in with; without a tag it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priority: Vec<Located<u32>>,
    /// The priority code point of the tags that it leaves with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_priority: Option<Located<u32>>,
    /// The differentiated services code point that it leaves with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_dscp: Option<Located<u8>>,
}
