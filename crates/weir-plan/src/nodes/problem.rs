//! The problem in numbers, and a placement that is built and taken back process by process.
//!
//! Units: needs and loads are in nanoseconds of an epoch.

use std::collections::BTreeMap;

use super::request::NodeRequest;

/// Not placed.
pub(super) const NOWHERE: u32 = u32::MAX;

/// What is to be placed.
pub(super) struct Problem {
    /// What a node can promise.
    pub(super) capacity: u64,
    /// How many nodes there are.
    pub(super) nodes: usize,
    /// The processes, the longest need first, of equals in the order of the request.
    pub(super) items: Vec<Item>,
    rules: Vec<Rules>,
    /// The next lower node where the same processes may be, and no others.
    alike: Vec<Option<u32>>,
    /// How many groups are apart from others.
    counted: usize,
}

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) need: u64,
    pub(super) group: u32,
    pub(super) member: u32,
}

/// Where a group may be.
struct Rules {
    on: Option<Vec<u32>>,
    /// Its counter on each node, of those that it is apart from; `None` if there are none.
    counter: Option<usize>,
    /// The counters of the same.
    apart_from: Vec<usize>,
}

impl Problem {
    /// The processes of a request that fit a node at all, on `nodes` nodes.
    pub(super) fn new(request: &NodeRequest, nodes: usize) -> Self {
        let capacity = request.capacity().get();
        let groups = &request.groups;
        let mut counted = 0;
        let counters: Vec<Option<usize>> = groups
            .iter()
            .map(|group| {
                let is_counted = !group.apart_from.is_empty();
                counted += usize::from(is_counted);
                is_counted.then(|| counted - 1)
            })
            .collect();
        let rules = groups.iter().zip(&counters).map(|(group, &counter)| Rules {
            on: group.on.as_ref().map(|on| on.iter().map(|&node| node as u32).collect()),
            counter,
            apart_from: group.apart_from.iter().filter_map(|&other| counters[other]).collect(),
        });
        let rules: Vec<Rules> = rules.collect();
        let mut items: Vec<Item> = Vec::new();
        for (place, group) in groups.iter().enumerate().filter(|(_, group)| group.need.get() <= capacity) {
            let members = 0..group.members.len() as u32;
            items.extend(members.map(|member| Item { need: group.need.get(), group: place as u32, member }));
        }
        items.sort_by_key(|item| (core::cmp::Reverse(item.need), item.group, item.member));
        Self { capacity, nodes, items, alike: alike(&rules, nodes), rules, counted }
    }

    /// Whether a process may be on a node at all.
    pub(super) fn allows(&self, item: Item, node: usize) -> bool {
        let on = self.rules[item.group as usize].on.as_ref();
        on.is_none_or(|on| on.binary_search(&(node as u32)).is_ok())
    }

    /// From how many groups a process is apart.
    pub(super) fn foes(&self, item: Item) -> usize {
        self.rules[item.group as usize].apart_from.len()
    }

    /// The nodes to which a process is confined.
    pub(super) fn confined(&self, item: Item) -> Option<&[u32]> {
        self.rules[item.group as usize].on.as_deref()
    }

    /// The next lower node of the same kind.
    pub(super) fn alike(&self, node: usize) -> Option<usize> {
        self.alike[node].map(|node| node as usize)
    }

    /// Whether nobody is apart from anybody.
    pub(super) fn is_sociable(&self) -> bool {
        self.counted == 0
    }

    /// The needs, longest first.
    pub(super) fn needs(&self) -> Vec<u64> {
        self.items.iter().map(|item| item.need).collect()
    }
}

/// For each node the next lower one that stands in the same lists.
fn alike(rules: &[Rules], nodes: usize) -> Vec<Option<u32>> {
    let mut listed: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (group, rule) in rules.iter().enumerate() {
        for &node in rule.on.iter().flatten() {
            listed[node as usize].push(group as u32);
        }
    }
    let mut last = BTreeMap::new();
    let nodes = listed.into_iter().enumerate();
    nodes.map(|(node, lists)| last.insert(lists, node as u32)).collect()
}

/// A placement, whole or in part.
#[derive(Clone)]
pub(super) struct Board<'p> {
    problem: &'p Problem,
    /// The load of each node.
    pub(super) loads: Vec<u64>,
    /// How many processes each node has.
    members: Vec<u32>,
    /// How many nodes have any.
    pub(super) used: usize,
    /// The node of each item, or [`NOWHERE`].
    pub(super) at: Vec<u32>,
    /// How many each node has from whom each counted group is apart.
    counts: Vec<u16>,
}

impl<'p> Board<'p> {
    pub(super) fn new(problem: &'p Problem) -> Self {
        Self {
            problem,
            loads: vec![0; problem.nodes],
            members: vec![0; problem.nodes],
            used: 0,
            at: vec![NOWHERE; problem.items.len()],
            counts: vec![0; problem.nodes * problem.counted],
        }
    }

    pub(super) fn is_empty(&self, node: usize) -> bool {
        self.members[node] == 0
    }

    /// Whether an item may go to a node that then has at most `limit`.
    pub(super) fn fits(&self, item: Item, node: usize, limit: u64) -> bool {
        self.loads[node] + item.need <= limit && self.problem.allows(item, node) && self.is_apart(item, node)
    }

    /// Whether nobody is on the node from whom the item is apart.
    pub(super) fn is_apart(&self, item: Item, node: usize) -> bool {
        let counter = self.problem.rules[item.group as usize].counter;
        counter.is_none_or(|counter| self.counts[node * self.problem.counted + counter] == 0)
    }

    pub(super) fn put(&mut self, place: usize, node: usize) {
        let item = self.problem.items[place];
        self.used += usize::from(self.members[node] == 0);
        self.members[node] += 1;
        self.loads[node] += item.need;
        self.at[place] = node as u32;
        for &other in &self.problem.rules[item.group as usize].apart_from {
            self.counts[node * self.problem.counted + other] += 1;
        }
    }

    /// Takes an item back, and says where it was.
    pub(super) fn take(&mut self, place: usize) -> usize {
        let item = self.problem.items[place];
        let node = core::mem::replace(&mut self.at[place], NOWHERE) as usize;
        self.members[node] -= 1;
        self.loads[node] -= item.need;
        self.used -= usize::from(self.members[node] == 0);
        for &other in &self.problem.rules[item.group as usize].apart_from {
            self.counts[node * self.problem.counted + other] -= 1;
        }
        node
    }

    /// The largest load.
    pub(super) fn largest(&self) -> u64 {
        self.loads.iter().copied().max().unwrap_or(0)
    }

    /// Whether every item has its place.
    pub(super) fn is_whole(&self) -> bool {
        !self.at.contains(&NOWHERE)
    }

    /// The needs that have no place.
    pub(super) fn missing(&self) -> u64 {
        let items = self.problem.items.iter().zip(&self.at);
        items.filter(|(_, node)| **node == NOWHERE).map(|(item, _)| item.need).sum()
    }
}
