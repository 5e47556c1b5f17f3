//! Hosts and routers, with the time that packets take in them, and the addresses of hosts.

use std::collections::HashMap;

use super::{LONGEST_DELAY, known_names};
use crate::check::Check;
use crate::document::{self, Network};
use crate::model::{Delay, Jitter, Node, NodeKind};
use weir_core::units::Nanos;
use weir_document::quantity::Time;
use weir_document::{Brief, Checked, Located};

/// The most hosts and routers.
const MAX_NODES: usize = 100_000;

/// The nodes, by place and by name.
pub(super) struct Nodes {
    pub(super) all: Vec<Node>,
    /// The address of each, where it has one of its own.
    pub(super) addresses: Vec<Option<u32>>,
    places: HashMap<String, usize>,
}

impl Nodes {
    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.all.iter().map(|node| node.name.as_str())
    }

    fn hosts(&self) -> impl Iterator<Item = &str> + Clone {
        let hosts = self.all.iter().filter(|node| node.kind == NodeKind::Host);
        hosts.map(|node| node.name.as_str())
    }
}

impl Check<'_, '_> {
    pub(super) fn nodes(&self, written: &Located<Network>) -> Checked<Nodes> {
        let network = &written.value;
        let mut nodes = Nodes { all: Vec::new(), addresses: Vec::new(), places: HashMap::new() };
        if network.hosts.value.is_empty() {
            let remedy = "name the hosts that send and receive, such as [\"client\", \"server\"]";
            return self.refuse(&network.hosts, "must name hosts", remedy);
        }
        let host = self.delay(network.host_processing.as_ref())?;
        for name in &network.hosts.value {
            self.node_of(name, NodeKind::Host, host, &mut nodes)?;
        }
        let router = self.delay(network.forwarding.as_ref())?;
        for name in network.routers.iter().flat_map(|routers| &routers.value) {
            self.node_of(name, NodeKind::Router, router, &mut nodes)?;
        }
        nodes.addresses = vec![None; nodes.all.len()];
        for (name, address) in network.addresses.iter().flatten() {
            let place = nodes.places.get(name).filter(|place| nodes.all[**place].kind == NodeKind::Host);
            match place {
                Some(&place) => nodes.addresses[place] = Some(u32::from(address.value.0)),
                None => {
                    let remedy = known_names(name, nodes.hosts());
                    return self.refuse(address, format!("is of `{name}`, which is not a host"), remedy);
                }
            }
        }
        Ok(nodes)
    }

    fn node_of(
        &self,
        written: &Located<String>,
        kind: NodeKind,
        processing: Delay,
        nodes: &mut Nodes,
    ) -> Checked<()> {
        if nodes.all.len() == MAX_NODES {
            let reason = format!("is beyond the limit of {MAX_NODES} hosts and routers");
            return self.refuse(written, reason, "name fewer");
        }
        let name = self.name(written)?;
        if nodes.places.insert(name.clone(), nodes.all.len()).is_some() {
            return self.refuse(written, "is the name of another host or router", "give each its own name");
        }
        nodes.all.push(Node { name, kind, processing });
        Ok(())
    }

    /// The place of a node.
    pub(super) fn node(&self, written: &Located<String>, nodes: &Nodes) -> Checked<usize> {
        nodes.places.get(&written.value).copied().map_or_else(
            || {
                let remedy = known_names(&written.value, nodes.names());
                self.refuse(written, "is not a host or a router of [network]", remedy)
            },
            Ok,
        )
    }

    /// The place of a host.
    pub(super) fn host(&self, written: &Located<String>, nodes: &Nodes) -> Checked<usize> {
        let place = self.node(written, nodes)?;
        if nodes.all[place].kind == NodeKind::Router {
            let remedy = "name one of network.hosts, or make a host next to the router with a fast link";
            return self.refuse(written, "is a router, which neither sends nor receives", remedy);
        }
        Ok(place)
    }

    fn delay(&self, written: Option<&Located<Brief<Time, document::Delay>>>) -> Checked<Delay> {
        let Some(written) = written else { return Ok(Delay::default()) };
        let parts = match &written.value {
            Brief::Alone(time) => {
                let time = Located { value: *time, span: written.span.clone() };
                return Ok(Delay { constant: self.span(&time, LONGEST_DELAY)?, jitter: Jitter::None });
            }
            Brief::Table(parts) => parts,
        };
        let part = |time: &Option<Located<Time>>| {
            time.as_ref().map_or(Ok(Nanos::new(0)), |time| self.span(time, LONGEST_DELAY))
        };
        let (constant, exponential) = (part(&parts.constant)?, part(&parts.exponential)?);
        let jitter = match (&parts.exponential, &parts.uniform) {
            (Some(_), Some(uniform)) => {
                return self.refuse(uniform, "cannot be combined with `exponential`", "keep one of the two");
            }
            (None, None) => Jitter::None,
            (Some(_), None) if exponential.get() == 0 => Jitter::None,
            (Some(_), None) => Jitter::Exponential(exponential),
            (None, Some(_)) => match part(&parts.uniform)? {
                longest if longest.get() == 0 => Jitter::None,
                longest => Jitter::Uniform(longest),
            },
        };
        Ok(Delay { constant, jitter })
    }
}
