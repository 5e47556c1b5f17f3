//! Where packets go: the prefixes of the interfaces, and the routes that are written.

use std::collections::HashSet;
use std::net::IpAddr;

use ipnet::IpNet;
use weir_document::{Located, words};

use super::super::address::{HostAddress, Prefix};
use super::super::document::{RouteTable, RouterDocument};
use super::super::{Interface, MOST_ROUTES, Route};
use super::interfaces::{is_link_local, no_host};
use super::{Checked, Checker};

/// The routes that the addresses of an interface make; a link's own addresses are forwarded nowhere.
pub(in crate::config) fn own(place: usize, interface: &Interface) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    for address in interface.addresses.iter().filter(|address| !is_link_local(address.addr())) {
        let route = Route { to: address.trunc(), via: None, interface: place };
        if !routes.contains(&route) {
            routes.push(route);
        }
    }
    routes
}

impl Checker<'_> {
    pub(super) fn routes(&self, document: &RouterDocument, interfaces: &[Interface]) -> Checked<Vec<Route>> {
        let mut routes: Vec<Route> =
            interfaces.iter().enumerate().flat_map(|(place, interface)| own(place, interface)).collect();
        let of_interfaces: HashSet<IpNet> = routes.iter().map(|route| route.to).collect();
        let mut written: HashSet<IpNet> = HashSet::new();
        for table in &document.route {
            if routes.len() == MOST_ROUTES {
                let reason = format!("is beyond the limit of {MOST_ROUTES} routes");
                return self.refuse(&table.value.to, reason, "join prefixes to shorter ones");
            }
            let route = self.route(table, interfaces)?;
            if of_interfaces.contains(&route.to) {
                let reason = "is the prefix of an interface, which is a route already";
                return self.refuse(&table.value.to, reason, "remove this table");
            }
            if !written.insert(route.to) {
                return self.refuse(&table.value.to, "is routed twice", "remove one of the two");
            }
            routes.push(route);
        }
        Ok(routes)
    }

    fn route(&self, table: &Located<RouteTable>, interfaces: &[Interface]) -> Checked<Route> {
        let RouteTable { to, via, interface } = &table.value;
        let prefix = self.prefix(to)?;
        let named = interface.as_ref().map(|name| self.place_of(name, interfaces)).transpose()?;
        let place = match (via, named) {
            (Some(via), named) => self.next_router(via, prefix, named, interfaces)?,
            (None, Some(place)) => place,
            (None, None) => {
                let remedy =
                    "add `via = \"10.0.1.2\"`, or `interface` where the destinations are on its link";
                return self.refuse(to, "has neither `via` nor `interface`", remedy);
            }
        };
        Ok(Route { to: prefix, via: via.as_ref().map(|via| via.value.0), interface: place })
    }

    /// A prefix that packets can be sent to, or that they can come from.
    pub(super) fn prefix(&self, written: &Located<Prefix>) -> Checked<IpNet> {
        let prefix = written.value.0;
        if prefix != prefix.trunc() {
            let reason = format!("has bits behind the length {}", prefix.prefix_len());
            return self.refuse(written, reason, format!("write \"{}\"", prefix.trunc()));
        }
        let is_mapped = |it: &IpNet| matches!(it, IpNet::V6(six) if six.prefix_len() >= 96 && six.addr().to_ipv4_mapped().is_some());
        if is_mapped(&prefix) {
            let remedy = "write it as one of IPv4, such as \"10.0.0.0/24\"";
            return self.refuse(written, "is a prefix of IPv4 written as one of IPv6", remedy);
        }
        if prefix.prefix_len() > 0 && (prefix.addr().is_multicast() || prefix.addr().is_loopback()) {
            let remedy = "write a prefix of single hosts";
            return self.refuse(written, "is of groups or of loopback, which no router forwards", remedy);
        }
        Ok(prefix)
    }

    fn place_of(&self, name: &Located<String>, interfaces: &[Interface]) -> Checked<usize> {
        let place = interfaces.iter().position(|interface| interface.name == name.value);
        place.map_or_else(
            || {
                let known = interfaces.iter().map(|interface| interface.name.as_str());
                self.refuse(name, "is not an interface here", words::known_names(&name.value, known))
            },
            Ok,
        )
    }

    /// The interface in whose prefix the next router is.
    fn next_router(
        &self,
        via: &Located<HostAddress>,
        to: IpNet,
        named: Option<usize>,
        interfaces: &[Interface],
    ) -> Checked<usize> {
        let address = via.value.0;
        if let Some(reason) = no_host(address) {
            return self.refuse(via, reason, "write the address of a router such as \"10.0.1.2\"");
        }
        if address.is_ipv4() != matches!(to, IpNet::V4(_)) {
            let reason = format!("is of another family of addresses than {to}");
            return self.refuse(via, reason, "write a router of the same family");
        }
        if let (true, Some(place)) = (is_link_local(address), named) {
            return Ok(place);
        }
        match holder(address, interfaces) {
            Some((place, own)) if own.addr() == address => {
                let reason = format!("is this router's own address at `{}`", interfaces[place].name);
                self.refuse(via, reason, "write the address of the next router")
            }
            Some((place, _)) if named.is_none_or(|named| named == place) => Ok(place),
            Some((place, own)) => {
                let reason = format!("is in the prefix of {own}, an address of `{}`", interfaces[place].name);
                self.refuse(via, reason, "remove `interface`, or write a router of its prefix")
            }
            None if is_link_local(address) => {
                self.refuse(via, "is an address of one link", "add `interface`, which says of which")
            }
            None => {
                let remedy =
                    "write a router that an interface reaches, or add an address of its prefix there";
                self.refuse(via, "is in no prefix of an interface", remedy)
            }
        }
    }
}

/// The interface in whose prefix an address is, and that prefix: the address itself rather than another.
fn holder(address: IpAddr, interfaces: &[Interface]) -> Option<(usize, IpNet)> {
    let prefixes = interfaces
        .iter()
        .enumerate()
        .flat_map(|(place, interface)| interface.addresses.iter().map(move |prefix| (place, *prefix)));
    let within = prefixes.filter(|(_, prefix)| prefix.contains(&address));
    within.max_by_key(|(_, prefix)| (prefix.addr() == address, prefix.prefix_len()))
}
