//! What is asked of nodes: processes with needs, and where they may be. One TOML file, read strictly.
//!
//! ```toml
//! weir = 1
//! title = "Voice"                 # optional
//!
//! [nodes]
//! count = 4                       # or names = ["a", "b"]; with neither, as few as suffice
//! epoch = "100ms"                 # what needs are promised in; this is the default
//! reserve = "4ms"                 # of each epoch, for the system; default none
//!
//! [[process]]
//! name = "decoder"
//! need = "30ms"                   # in each epoch
//! count = 3                       # alike: decoder.1, decoder.2, decoder.3
//! on = ["node1", "node2"]         # where it may be; default: anywhere
//! apart_from = ["recorder"]       # on no node with these; its own name: each on a node of its own
//! priority = 2                    # from 0 to 3, default 1; for the scenario
//! slice = "20ms"                  # for the scenario; this, or the epoch where that is less, is the default
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use weir_core::nearest::nearest;
use weir_core::task::TOP_PRIORITY;
use weir_core::units::Nanos;
use weir_document::{Located, Source};

use crate::PlanError;
use crate::quantity;
use crate::read::{self, Checked, Checks};

/// The most nodes.
pub const MAX_NODES: usize = 1_000;
/// The most processes, all that are alike counted.
pub const MAX_PROCESSES: usize = 10_000;
/// The most counters of who is on which node, for processes that are apart from others.
const MAX_COUNTERS: usize = 4_000_000;
/// The shortest and the longest epoch: a microsecond and a day.
const EPOCHS: (u64, u64) = (1_000, 86_400_000_000_000);
/// The shortest slice.
const SHORTEST_SLICE: u64 = 1_000;
/// The epoch where none is written.
const EPOCH: Nanos = Nanos::new(100_000_000);
/// What results call everything together, and a processor that runs nothing.
const RESERVED: [&str; 2] = ["all", "idle"];

/// What is asked, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRequest {
    /// What the plan is headed with.
    pub title: String,
    /// The nodes by name; `None`: as few as suffice.
    pub nodes: Option<Vec<String>>,
    /// What needs are promised in.
    pub epoch: Nanos,
    /// What of an epoch is the system's.
    pub reserve: Nanos,
    /// The processes, those that are alike together.
    pub groups: Vec<Group>,
}

/// Processes that are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The names of its processes.
    pub members: Vec<String>,
    /// The name as it is written.
    pub name: String,
    /// What each is promised in an epoch.
    pub need: Nanos,
    /// The nodes where they may be, in ascending order; `None`: anywhere.
    pub on: Option<Vec<usize>>,
    /// The groups that they are apart from, and those apart from them, in ascending order; maybe their own.
    pub apart_from: Vec<usize>,
    /// Their priority.
    pub priority: u32,
    /// Their slice.
    pub slice: Option<Nanos>,
    /// Where they stand in the document.
    pub line: usize,
}

impl NodeRequest {
    /// Reads a request; errors speak of `name`.
    ///
    /// # Errors
    /// The text is refused; the error says where and why.
    pub fn from_toml(text: &str, name: &str) -> Result<Self, PlanError> {
        let source = Source { name, text };
        let document: Document = read::document(&source)?;
        Checker { source }.request(&document)
    }

    /// What of an epoch can be promised on one node.
    #[must_use]
    pub fn capacity(&self) -> Nanos {
        Nanos::new(self.epoch.get().saturating_sub(self.reserve.get()))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    weir: Located<u64>,
    #[serde(default)]
    title: String,
    nodes: NodesDocument,
    process: Located<Vec<Located<ProcessDocument>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodesDocument {
    count: Option<Located<u64>>,
    names: Option<Located<Vec<Located<String>>>>,
    epoch: Option<Located<String>>,
    reserve: Option<Located<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProcessDocument {
    name: Located<String>,
    need: Located<String>,
    count: Option<Located<u64>>,
    on: Option<Located<Vec<Located<String>>>>,
    #[serde(default)]
    apart_from: Vec<Located<String>>,
    priority: Option<Located<u64>>,
    slice: Option<Located<String>>,
}

struct Checker<'a> {
    source: Source<'a>,
}

impl<'a> Checks<'a> for Checker<'a> {
    fn source(&self) -> &Source<'a> {
        &self.source
    }
}

impl Checker<'_> {
    fn request(self, document: &Document) -> Checked<NodeRequest> {
        self.version(&document.weir)?;
        let written = &document.nodes;
        let nodes = self.nodes(written)?;
        let epoch = written.epoch.as_ref().map_or(Ok(EPOCH), |time| self.epoch(time))?;
        let reserve = written.reserve.as_ref().map_or(Ok(Nanos::new(0)), |time| self.reserve(time, epoch))?;
        let groups = self.groups(&document.process, nodes.as_deref(), epoch)?;
        Ok(NodeRequest { title: document.title.clone(), nodes, epoch, reserve, groups })
    }

    fn nodes(&self, written: &NodesDocument) -> Checked<Option<Vec<String>>> {
        match (&written.count, &written.names) {
            (None, None) => Ok(None),
            (Some(_), Some(names)) => {
                self.refuse(names, "cannot be combined with `count`", "keep one of the two")
            }
            (Some(count), None) => {
                let count = self.whole(count, 1, MAX_NODES as u64)?;
                Ok(Some((1..=count as usize).map(node_name).collect()))
            }
            (None, Some(names)) => self.node_names(names).map(Some),
        }
    }

    fn node_names(&self, written: &Located<Vec<Located<String>>>) -> Checked<Vec<String>> {
        let list = &written.value;
        if list.is_empty() || list.len() > MAX_NODES {
            let reason = format!("must name from 1 to {MAX_NODES} nodes");
            return self.refuse(written, reason, "write a list such as [\"a\", \"b\"]");
        }
        let mut names = Vec::with_capacity(list.len());
        let mut known = BTreeSet::new();
        for written in list {
            let name = self.own_name(written, "node1")?;
            if !known.insert(name.clone()) {
                return self.refuse(written, "is the name of another node", "give each its own name");
            }
            names.push(name);
        }
        Ok(names)
    }

    /// A name that the scenario takes too.
    fn own_name(&self, written: &Located<String>, example: &str) -> Checked<String> {
        let name = self.name(written, example)?;
        if name.trim() != name {
            return self.refuse(written, "begins or ends with a blank", "remove it");
        }
        if RESERVED.contains(&name.as_str()) {
            let reason = "is reserved: results use it for everything together, or for nothing";
            return self.refuse(written, reason, "give it another name");
        }
        Ok(name)
    }

    fn epoch(&self, written: &Located<String>) -> Checked<Nanos> {
        let epoch = self.time(written)?;
        if !(EPOCHS.0..=EPOCHS.1).contains(&epoch.get()) {
            return self.refuse(written, "must be from 1us to 86400s", "write a time within");
        }
        Ok(epoch)
    }

    fn reserve(&self, written: &Located<String>, epoch: Nanos) -> Checked<Nanos> {
        match quantity::time(&written.value) {
            Some(time) if time < epoch => Ok(time),
            Some(_) => {
                let reason = format!("must be less than the epoch, {}", quantity::millis(epoch));
                self.refuse(written, reason, "lower it, or lengthen nodes.epoch")
            }
            None => self.refuse(written, "must be a time with its unit", "write it as in \"4ms\""),
        }
    }

    fn groups(
        &self,
        written: &Located<Vec<Located<ProcessDocument>>>,
        nodes: Option<&[String]>,
        epoch: Nanos,
    ) -> Checked<Vec<Group>> {
        let tables = &written.value;
        if tables.is_empty() {
            let reason = format!("has 0 tables, must have from 1 to {MAX_PROCESSES}");
            return self.refuse(written, reason, "write one `[[process]]` for each process");
        }
        let mut places = BTreeMap::new();
        let mut members = BTreeSet::new();
        let mut groups = Vec::with_capacity(tables.len());
        for table in tables {
            let group = self.group(table, nodes, epoch)?;
            self.distinct(&group, &table.value, &mut members)?;
            if places.insert(group.name.clone(), groups.len()).is_some() {
                let reason = "is the name of another table of processes";
                return self.refuse(&table.value.name, reason, "choose another");
            }
            groups.push(group);
        }
        self.apart(tables, &places, &mut groups)?;
        let restricted = groups.iter().filter(|group| !group.apart_from.is_empty()).count();
        let nodes = nodes.map_or(members.len().min(MAX_NODES), <[String]>::len);
        if restricted * nodes > MAX_COUNTERS {
            let reason = format!(
                "has {restricted} tables that are apart from others, and nodes: {nodes}; at most {MAX_COUNTERS} pairs"
            );
            return self.refuse(written, reason, "write processes that are alike once, with `count`");
        }
        Ok(groups)
    }

    fn group(
        &self,
        written: &Located<ProcessDocument>,
        nodes: Option<&[String]>,
        epoch: Nanos,
    ) -> Checked<Group> {
        let process = &written.value;
        let name = self.own_name(&process.name, "decoder")?;
        let need = self.within_the_epoch(&process.need, epoch)?;
        let slice = process.slice.as_ref().map(|time| self.slice(time, epoch)).transpose()?;
        let priority = process.priority.as_ref();
        let priority = priority.map_or(Ok(1), |number| self.whole(number, 0, u64::from(TOP_PRIORITY)))?;
        let members = match &process.count {
            None => vec![name.clone()],
            Some(count) => {
                let count = self.whole(count, 1, MAX_PROCESSES as u64)?;
                (1..=count).map(|number| format!("{name}.{number}")).collect()
            }
        };
        let on = process.on.as_ref().map(|on| self.on(on, nodes)).transpose()?;
        let line = self.source.line_and_column(written.span.start).0;
        Ok(Group { members, name, need, on, apart_from: Vec::new(), priority, slice, line })
    }

    fn within_the_epoch(&self, written: &Located<String>, epoch: Nanos) -> Checked<Nanos> {
        let time = self.time(written)?;
        if time > epoch {
            let reason = format!("must be at most the epoch, {}", quantity::millis(epoch));
            return self.refuse(written, reason, "lower it, or lengthen nodes.epoch");
        }
        Ok(time)
    }

    fn slice(&self, written: &Located<String>, epoch: Nanos) -> Checked<Nanos> {
        let slice = self.within_the_epoch(written, epoch)?;
        if slice.get() < SHORTEST_SLICE {
            return self.refuse(written, "must be at least 1us", "raise it");
        }
        Ok(slice)
    }

    /// The places of the nodes that are named, in ascending order.
    fn on(&self, written: &Located<Vec<Located<String>>>, nodes: Option<&[String]>) -> Checked<Vec<usize>> {
        let Some(nodes) = nodes else {
            let reason = "names nodes, and the request does not say how many there are";
            return self.refuse(written, reason, "write nodes.count or nodes.names");
        };
        if written.value.is_empty() {
            return self.refuse(written, "names no node", "name one, or leave `on` out");
        }
        let mut on = BTreeSet::new();
        for name in &written.value {
            let Some(place) = nodes.iter().position(|node| node == &name.value) else {
                let remedy = known(&name.value, nodes.iter().map(String::as_str), "a node of nodes.names");
                return self.refuse(name, "is not the name of a node", &remedy);
            };
            on.insert(place);
        }
        Ok(on.into_iter().collect())
    }

    /// Names belong to one process each, and there are not too many.
    fn distinct(
        &self,
        group: &Group,
        written: &ProcessDocument,
        members: &mut BTreeSet<String>,
    ) -> Checked<()> {
        if members.len() + group.members.len() > MAX_PROCESSES {
            let reason = format!("makes more than {MAX_PROCESSES} processes of all tables");
            return match &written.count {
                Some(count) => self.refuse(count, reason, "lower it"),
                None => self.refuse(&written.name, reason, "remove some"),
            };
        }
        for name in &group.members {
            if !members.insert(name.clone()) {
                let reason = format!("makes a second process called `{name}`");
                return self.refuse(&written.name, reason, "give each its own name");
            }
        }
        Ok(())
    }

    /// Who is apart from whom, both ways.
    fn apart(
        &self,
        tables: &[Located<ProcessDocument>],
        places: &BTreeMap<String, usize>,
        groups: &mut [Group],
    ) -> Checked<()> {
        for (place, table) in tables.iter().enumerate() {
            for name in &table.value.apart_from {
                let Some(&other) = places.get(&name.value) else {
                    let remedy = known(&name.value, places.keys().map(String::as_str), "a process.name");
                    return self.refuse(name, "is not the name of a table of processes", &remedy);
                };
                groups[place].apart_from.push(other);
                groups[other].apart_from.push(place);
            }
        }
        for group in groups {
            group.apart_from.sort_unstable();
            group.apart_from.dedup();
        }
        Ok(())
    }
}

/// The name of a node that has none, counted from 1.
pub(crate) fn node_name(number: usize) -> String {
    format!("node{number}")
}

fn known<'n>(name: &str, known: impl Iterator<Item = &'n str>, otherwise: &str) -> String {
    match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write {otherwise}"),
    }
}
