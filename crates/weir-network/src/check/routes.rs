//! Paths through the network: as a flow says, or of the fewest links.
//!
//! Breadth first from the source over the links in the order of the file, so that of several shortest paths one
//! is always taken; O(nodes + links) for each pair of hosts. Only the source may be a host: hosts do not pass on.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use super::links::Links;
use super::nodes::Nodes;
use crate::check::Check;
use crate::document::Flow;
use crate::model::NodeKind;
use weir_document::{Checked, Located};

/// A path, as places of links.
pub(super) type Path = Rc<[usize]>;

/// Finds shortest paths, each pair of nodes once.
pub(super) struct Routes<'n> {
    nodes: &'n Nodes,
    links: &'n Links,
    found: HashMap<(usize, usize), Option<Path>>,
    /// The search that reached a node last, and the link by which it did.
    reached: Vec<(usize, usize)>,
    searches: usize,
}

impl<'n> Routes<'n> {
    pub(super) fn new(nodes: &'n Nodes, links: &'n Links) -> Self {
        let reached = vec![(0, 0); nodes.all.len()];
        Self { nodes, links, found: HashMap::new(), reached, searches: 0 }
    }

    /// A path of the fewest links.
    fn shortest(&mut self, from: usize, to: usize) -> Option<Path> {
        if let Some(found) = self.found.get(&(from, to)) {
            return found.clone();
        }
        let found = self.search(from, to).then(|| self.traced(from, to));
        self.found.insert((from, to), found.clone());
        found
    }

    fn search(&mut self, from: usize, to: usize) -> bool {
        self.searches += 1;
        self.reached[from].0 = self.searches;
        let mut next = VecDeque::from([from]);
        while let Some(node) = next.pop_front() {
            if node != from && self.nodes.all[node].kind == NodeKind::Host {
                continue;
            }
            for &link in &self.links.out[node] {
                let end = self.links.all[link].to;
                if self.reached[end].0 == self.searches {
                    continue;
                }
                self.reached[end] = (self.searches, link);
                if end == to {
                    return true;
                }
                next.push_back(end);
            }
        }
        false
    }

    /// The path of the last search, from its end.
    fn traced(&self, from: usize, to: usize) -> Path {
        let (mut path, mut at) = (Vec::new(), to);
        while at != from {
            let (_, link) = self.reached[at];
            path.push(link);
            at = self.links.all[link].from;
        }
        path.reverse();
        path.into()
    }

    /// The first link of the file from one node to another.
    fn link(&self, from: usize, to: usize) -> Option<usize> {
        self.links.out[from].iter().copied().find(|&link| self.links.all[link].to == to)
    }
}

impl Check<'_, '_> {
    /// The path of a flow and, where acknowledgements need one, its path back.
    pub(super) fn paths(
        &self,
        flow: &Located<Flow>,
        ends: (usize, usize),
        routes: &mut Routes<'_>,
    ) -> Checked<(Path, Path)> {
        let has_back = flow.value.tcp.is_some();
        let none = || Path::from([]);
        if let Some(via) = &flow.value.via {
            let nodes = self.via(via, ends, routes)?;
            let path = self.along(via, &nodes, routes)?;
            if !has_back {
                return Ok((path, none()));
            }
            let back: Vec<usize> = nodes.into_iter().rev().collect();
            return Ok((path, self.along(via, &back, routes)?));
        }
        let path = self.shortest(flow, ends, routes)?;
        let back = if has_back { self.shortest(flow, (ends.1, ends.0), routes)? } else { none() };
        Ok((path, back))
    }

    fn shortest(
        &self,
        flow: &Located<Flow>,
        (from, to): (usize, usize),
        routes: &mut Routes<'_>,
    ) -> Checked<Path> {
        if let Some(path) = routes.shortest(from, to) {
            return Ok(path);
        }
        let name = |node: usize| &routes.nodes.all[node].name;
        let acknowledgements =
            if name(from) == &flow.value.from.value { "" } else { ", for acknowledgements" };
        let reason = format!(
            "cannot be reached: there is no path through routers from `{}` to `{}`{acknowledgements}",
            name(from),
            name(to)
        );
        self.refuse(&flow.value.to, reason, "add the link that is missing; hosts do not pass on")
    }

    /// All nodes of a path that is given.
    fn via(
        &self,
        via: &Located<Vec<Located<String>>>,
        (from, to): (usize, usize),
        routes: &Routes<'_>,
    ) -> Checked<Vec<usize>> {
        let mut nodes = vec![from];
        let mut passed = HashSet::from([from, to]);
        for written in &via.value {
            let node = self.node(written, routes.nodes)?;
            if !passed.insert(node) {
                return self.refuse(written, "is on the path twice, which is a loop", "name each node once");
            }
            if routes.nodes.all[node].kind == NodeKind::Host {
                return self.refuse(written, "is a host, which does not pass on", "name routers only");
            }
            nodes.push(node);
        }
        nodes.push(to);
        Ok(nodes)
    }

    /// The links along these nodes.
    fn along(
        &self,
        via: &Located<Vec<Located<String>>>,
        nodes: &[usize],
        routes: &Routes<'_>,
    ) -> Checked<Path> {
        let step = |pair: &[usize]| {
            routes.link(pair[0], pair[1]).map_or_else(
                || {
                    let name = |node: usize| &routes.nodes.all[node].name;
                    let reason = format!(
                        "needs a link from `{}` to `{}`, and there is none",
                        name(pair[0]),
                        name(pair[1])
                    );
                    self.refuse(via, reason, "add the link, or name the nodes between them")
                },
                Ok,
            )
        };
        nodes.windows(2).map(step).collect::<Checked<Vec<usize>>>().map(Path::from)
    }
}
