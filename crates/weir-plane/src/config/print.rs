//! A router as the text that makes it: what the control socket answers, and `weird route --print`.
//!
//! Everything is written out, defaults too, except what follows by itself: the routes of the interfaces' own prefixes
//! and the class `default`. Reading the text gives the same router.

use weir_document::Located;
use weir_document::quantity::{ByteSize, Clock, Speed, Time};

use super::address::{Endpoint, HostAddress, PortRange, Prefix, Protocol};
use super::check::{DEFAULT_CLASS, own_routes};
use super::document::{ClassTable, InterfaceTable, Neighbours, RouteTable, RouterDocument, RouterTable};
use super::{Class, Interface, Neighbour, Route, Router};

impl Router {
    /// The router as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.document()).expect("every part of a router has a form in TOML")
    }

    fn document(&self) -> RouterDocument {
        let own: Vec<Route> =
            self.interfaces.iter().enumerate().flat_map(|(place, it)| own_routes(place, it)).collect();
        let written = self.routes.iter().filter(|route| !own.contains(route));
        let classes = self.classes.iter().filter(|class| class.name != DEFAULT_CLASS);
        let present = self.interfaces.iter().filter(|it| !it.is_removed);
        RouterDocument {
            weir: here(1),
            router: here(self.table()),
            interface: here(present.map(|it| here(interface(it))).collect()),
            route: written.map(|route| here(self.route(route))).collect(),
            class: classes.map(|it| here(class(it))).collect(),
        }
    }

    fn table(&self) -> RouterTable {
        RouterTable {
            name: here(self.name.clone()),
            discipline: None,
            memory: some(ByteSize(self.memory)),
            io: some(self.io),
            on_failure: some(self.on_failure),
            xdp: some(self.xdp),
            xdp_priority: some(self.xdp_priority),
            checksums: some(self.checksums),
            flows: some(self.flow_key),
            defaults: some(self.defaults),
            flow_buckets: some(self.flow_buckets),
            flow_key: self.hash_key.map(here),
            most_neighbours: some(self.most_neighbours),
            workers: some(self.workers),
            spin: some(Time { span: self.spin, clock: Clock::Seconds }),
            metrics: self.metrics.map(|at| here(Endpoint(at))),
            group: self.group.clone().map(here),
            user: self.user.clone().map(here),
        }
    }

    fn route(&self, route: &Route) -> RouteTable {
        RouteTable {
            to: here(Prefix(route.to)),
            via: route.via.map(|via| here(HostAddress(via))),
            interface: some(self.interfaces[route.interface].name.clone()),
        }
    }
}

fn interface(it: &Interface) -> InterfaceTable {
    let outer = it.vlan.and_then(|vlan| vlan.outer);
    InterfaceTable {
        name: here(it.name.clone()),
        device: (it.device != it.name || it.vlan.is_some()).then(|| here(it.device.clone())),
        vlan: it.vlan.map(|vlan| here(vlan.id.into())),
        outer: outer.map(|outer| here(outer.id.into())),
        outer_type: outer.map(|outer| here(outer.kind)),
        priority_from: it.vlan.map(|_| here(it.priority_from)),
        addresses: it.addresses.iter().map(|address| here(Prefix(*address))).collect(),
        rate: it.rate.map(|rate| here(Speed(rate))),
        framing: some(ByteSize(it.framing)),
        propagation: some(Time { span: it.propagation, clock: Clock::Seconds }),
        discipline: some(it.discipline.to_string()),
        mtu: it.mtu.map(|mtu| here(ByteSize(mtu))),
        subscribers: it.subscribers.as_ref().map(|named| here(named.file.clone())),
        subscriber_address: it.subscribers.as_ref().map(|named| here(named.address)),
        subscriber_metrics: it.subscribers.as_ref().map(|named| here(named.metrics)),
        neighbours: Neighbours(
            it.neighbours
                .iter()
                .map(|&Neighbour { address, mac }| (HostAddress(address), here(mac)))
                .collect(),
        ),
    }
}

fn class(it: &Class) -> ClassTable {
    ClassTable {
        name: here(it.name.clone()),
        from: it.rule.from.iter().map(|prefix| here(Prefix(*prefix))).collect(),
        to: it.rule.to.iter().map(|prefix| here(Prefix(*prefix))).collect(),
        protocol: it.rule.protocol.map(|number| here(Protocol(number))),
        ports: it.rule.ports.iter().map(|range| here(PortRange(range.clone()))).collect(),
        dscp: it.rule.dscp.iter().map(|point| here(*point)).collect(),
        vlan: it.rule.vlan.iter().map(|&vlan| here(vlan.into())).collect(),
        outer: it.rule.outer.iter().map(|&vlan| here(vlan.into())).collect(),
        priority: it.rule.priority.iter().map(|&point| here(point.into())).collect(),
        set_priority: it.mark.priority.map(|point| here(point.into())),
        set_dscp: it.mark.dscp.map(here),
    }
}

/// A value that stands nowhere yet.
#[must_use]
pub fn here<T>(value: T) -> Located<T> {
    Located { value, span: 0..0 }
}

/// A value that stands nowhere yet, where there may be none.
#[must_use]
pub fn some<T>(value: T) -> Option<Located<T>> {
    Some(here(value))
}
