//! The queues and the events, by name.

use std::collections::{HashMap, HashSet};

use super::processes::Instances;
use super::program::MARKS;
use crate::check::Check;
use crate::document::{EventTable, NodeDocument, QueueTable};
use crate::model::{DualQueue, Event};
use weir_document::words::known_names;
use weir_document::{Checked, Located};

/// The most queues.
pub(super) const MAX_QUEUES: usize = 65_536;
/// The most events.
pub(super) const MAX_EVENTS: usize = 65_536;

/// The queues and events that programs name.
#[derive(Default)]
pub(super) struct Objects {
    pub(super) all_queues: Vec<DualQueue>,
    pub(super) all_events: Vec<Event>,
    queue_places: HashMap<String, usize>,
    event_places: HashMap<String, usize>,
    /// Processes that own events.
    owners: HashSet<usize>,
}

impl Objects {
    /// These queues, and events with their owners.
    #[cfg(test)]
    pub(super) fn for_tests(queues: &[&str], events: &[(&str, usize)]) -> Self {
        let mut objects = Self::default();
        for (place, name) in queues.iter().enumerate() {
            objects.queue_places.insert((*name).to_owned(), place);
            objects.all_queues.push(DualQueue { name: (*name).to_owned(), node: 0 });
        }
        for (place, (name, owner)) in events.iter().enumerate() {
            objects.event_places.insert((*name).to_owned(), place);
            objects.all_events.push(Event { name: (*name).to_owned(), owner: *owner });
            objects.owners.insert(*owner);
        }
        objects
    }

    /// The place of a queue.
    pub(super) fn queue(&self, name: &str) -> Option<usize> {
        self.queue_places.get(name).copied()
    }

    /// The place of an event.
    pub(super) fn event(&self, name: &str) -> Option<usize> {
        self.event_places.get(name).copied()
    }

    /// The names of the queues.
    pub(super) fn queues(&self) -> impl Iterator<Item = &str> + Clone {
        self.all_queues.iter().map(|queue| queue.name.as_str())
    }

    /// The names of the events.
    pub(super) fn events(&self) -> impl Iterator<Item = &str> + Clone {
        self.all_events.iter().map(|event| event.name.as_str())
    }

    /// The process that waits for an event.
    pub(super) fn owner(&self, event: usize) -> Option<usize> {
        self.all_events.get(event).map(|event| event.owner)
    }

    /// Whether a process owns an event.
    pub(super) fn has_events(&self, process: usize) -> bool {
        self.owners.contains(&process)
    }
}

impl Check<'_, '_> {
    pub(super) fn objects(
        &self,
        document: &NodeDocument,
        nodes: &[String],
        instances: &Instances<'_>,
    ) -> Checked<Objects> {
        let mut objects = Objects::default();
        for written in &document.queue {
            self.queue_table(&written.value, nodes, &mut objects)?;
        }
        for written in &document.event {
            self.event_table(&written.value, instances, &mut objects)?;
        }
        Ok(objects)
    }

    fn queue_table(&self, written: &QueueTable, nodes: &[String], objects: &mut Objects) -> Checked<()> {
        let place = objects.all_queues.len();
        if place == MAX_QUEUES {
            let reason = format!("is beyond the limit of {MAX_QUEUES} queues");
            return self.refuse(&written.name, reason, "remove some");
        }
        let name = self.word(&written.name)?;
        if objects.queue_places.insert(name.clone(), place).is_some() {
            return self.refuse(&written.name, "is the name of another queue", "give each its own name");
        }
        let node = self.node_called(written.node.as_ref(), nodes)?;
        objects.all_queues.push(DualQueue { name, node });
        Ok(())
    }

    fn event_table(
        &self,
        written: &EventTable,
        instances: &Instances<'_>,
        objects: &mut Objects,
    ) -> Checked<()> {
        let place = objects.all_events.len();
        if place == MAX_EVENTS {
            let reason = format!("is beyond the limit of {MAX_EVENTS} events");
            return self.refuse(&written.name, reason, "remove some");
        }
        let name = self.word(&written.name)?;
        if name == "any" {
            let reason = "is reserved: programs use it for all events of a process";
            return self.refuse(&written.name, reason, "give the event another name");
        }
        if objects.event_places.insert(name.clone(), place).is_some() {
            return self.refuse(&written.name, "is the name of another event", "give each its own name");
        }
        let Some(owner) = instances.place(&written.owner.value) else {
            let remedy = known_names(&written.owner.value, instances.names());
            return self.refuse(&written.owner, "is not a process", remedy);
        };
        objects.owners.insert(owner);
        objects.all_events.push(Event { name, owner });
        Ok(())
    }

    /// A name that programs can say: one word.
    fn word(&self, written: &Located<String>) -> Checked<String> {
        let name = self.own_name(written)?;
        let is_apart = |c: char| c.is_whitespace() || c == '#' || MARKS.contains(&c);
        if name.starts_with('$') || name.contains(is_apart) {
            let reason =
                "must be one word, without `$` at its beginning and without `#`, `,`, `;` and brackets";
            return self.refuse(written, reason, "write a name such as \"messages\"");
        }
        Ok(name)
    }

    /// The place of a node; the first where none is named.
    pub(super) fn node_called(&self, written: Option<&Located<String>>, nodes: &[String]) -> Checked<usize> {
        let Some(written) = written else { return Ok(0) };
        let place = nodes.iter().position(|name| *name == written.value);
        place.map_or_else(
            || {
                let remedy = known_names(&written.value, nodes.iter().map(String::as_str));
                self.refuse(written, "is not one of node.names", remedy)
            },
            Ok,
        )
    }
}
