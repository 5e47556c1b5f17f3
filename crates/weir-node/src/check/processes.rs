//! The processes: templates and what is made of them, and what each asks for.

use std::collections::HashMap;
use std::path::PathBuf;

use super::does::{Does, Shared};
use super::laws::Laws;
use super::objects::Objects;
use super::program::Scope;
use super::{EPOCHS, LONGEST, LONGEST_RUN, MAX_PROCESSES};
use crate::check::Check;
use crate::document::{NodeDocument, ProcessTable, Template};
use crate::model::{Costs, Process, Program};
use weir_core::task::{Declared, TOP_PRIORITY};
use weir_core::units::{Nanos, Weight};
use weir_document::quantity::Time;
use weir_document::words::known_names;
use weir_document::{Checked, Located};

/// The largest weight.
pub(super) const MAX_WEIGHT: u64 = 1_000_000;

/// Says once which keys the tables of processes and of templates have in common.
macro_rules! asks {
    ($($key:ident: $value:ty),* $(,)?) => {
        /// What a process and its template say of it.
        #[derive(Clone, Default)]
        pub(super) struct Asks<'d> {
            $(pub(super) $key: Option<&'d $value>,)*
        }

        impl Asks<'_> {
            /// The same, where it says nothing as `other` says.
            fn or(self, other: Self) -> Self {
                Self { $($key: self.$key.or(other.$key),)* }
            }
        }

        impl<'d> From<&'d ProcessTable> for Asks<'d> {
            fn from(table: &'d ProcessTable) -> Self {
                Self { $($key: table.$key.as_ref(),)* }
            }
        }

        impl<'d> From<&'d Template> for Asks<'d> {
            fn from(table: &'d Template) -> Self {
                Self { $($key: table.$key.as_ref(),)* }
            }
        }
    };
}

asks! {
    priority: Located<u64>,
    need: Located<Time>,
    slice: Located<Time>,
    period: Located<Time>,
    weight: Located<u64>,
    deadline: Located<Time>,
    starts: Located<Time>,
    movable: bool,
    program: Located<String>,
    replay: Located<PathBuf>,
}

/// A table of processes, with what its template says.
pub(super) struct Kind<'d> {
    pub(super) written: &'d ProcessTable,
    pub(super) asks: Asks<'d>,
}

impl<'d> Kind<'d> {
    /// Where its name stands.
    pub(super) fn name(&self) -> &'d Located<String> {
        &self.written.name
    }
}

/// The processes of the scenario by name, those of the system excluded.
pub(super) struct Instances<'d> {
    pub(super) kinds: Vec<Kind<'d>>,
    /// Of each process, its name and a place in `kinds`.
    pub(super) all: Vec<(String, usize)>,
    places: HashMap<String, usize>,
}

impl Instances<'_> {
    /// The place of a process.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.all.iter().map(|(name, _)| name.as_str())
    }
}

/// What programs may name.
#[derive(Clone, Copy)]
pub(super) struct Named<'n> {
    pub(super) objects: &'n Objects,
    pub(super) laws: &'n Laws,
}

/// What a table of processes comes to, but for names in programs.
struct Common<'d> {
    node: usize,
    declared: Declared,
    deadline: Option<Nanos>,
    starts: Nanos,
    movable: bool,
    does: Does<'d>,
}

impl Check<'_, '_> {
    /// The names of the processes, with what each is.
    pub(super) fn instances<'d>(&self, document: &'d NodeDocument) -> Checked<Instances<'d>> {
        let templates = self.templates(document)?;
        let mut instances = Instances { kinds: Vec::new(), all: Vec::new(), places: HashMap::new() };
        if document.process.value.is_empty() {
            let remedy = "add a table `[[process]]` with a `name` and a `program`";
            return self.refuse(&document.process, "must have a process", remedy);
        }
        for table in &document.process.value {
            let written = &table.value;
            let asks = self.asks(table, &templates)?;
            self.add_names(written, &mut instances)?;
            instances.kinds.push(Kind { written, asks });
        }
        Ok(instances)
    }

    fn templates<'d>(&self, document: &'d NodeDocument) -> Checked<HashMap<&'d str, &'d Template>> {
        let mut templates = HashMap::new();
        for Located { value: template, .. } in &document.template {
            self.name(&template.name)?;
            if templates.insert(template.name.value.as_str(), template).is_some() {
                let reason = "is the name of another template";
                return self.refuse(&template.name, reason, "give each its own name");
            }
            if let (Some(replay), Some(_)) = (&template.replay, &template.program) {
                return self.refuse(
                    replay,
                    "cannot be combined with template.program",
                    "keep one of the two",
                );
            }
        }
        Ok(templates)
    }

    /// What a table of processes says, with its template.
    fn asks<'d>(
        &self,
        table: &'d Located<ProcessTable>,
        templates: &HashMap<&'d str, &'d Template>,
    ) -> Checked<Asks<'d>> {
        let written = &table.value;
        let template = match &written.template {
            None => None,
            Some(name) => match templates.get(name.value.as_str()) {
                Some(template) => Some(*template),
                None => return self.unknown_template(name, templates),
            },
        };
        let of_template = template.map(Asks::from).unwrap_or_default();
        let own = Asks::from(written);
        let has_own = own.program.is_some() || own.replay.is_some();
        let has_theirs = of_template.program.is_some() || of_template.replay.is_some();
        if let (Some(name), true, true) = (&written.template, has_own, has_theirs) {
            let reason = "says what the process does, and so does the process itself";
            return self.refuse(name, reason, "keep one of the two");
        }
        if let (Some(replay), Some(_)) = (own.replay, own.program) {
            return self.refuse(replay, "cannot be combined with process.program", "keep one of the two");
        }
        if !has_own && !has_theirs {
            let reason = "must have a `program` or a `replay`, or a template that has one";
            return self.refuse(
                table,
                reason,
                "add, for example, `program = \"loop { compute 5ms; sleep 10ms }\"`",
            );
        }
        Ok(own.or(of_template))
    }

    fn unknown_template<V>(
        &self,
        name: &Located<String>,
        templates: &HashMap<&str, &Template>,
    ) -> Checked<V> {
        if templates.is_empty() {
            let remedy = "add a table `[[template]]` with this `name`, or remove the key";
            return self.refuse(name, "is not a template", remedy);
        }
        let mut names: Vec<&str> = templates.keys().copied().collect();
        names.sort_unstable();
        self.refuse(name, "is not a template", known_names(&name.value, names.into_iter()))
    }

    /// The names of the processes of a table.
    fn add_names(&self, written: &ProcessTable, instances: &mut Instances<'_>) -> Checked<()> {
        let name = self.own_name(&written.name)?;
        if name == "idle" {
            let reason = "is reserved: results use it for a processor that runs nothing";
            return self.refuse(&written.name, reason, "give the process another name");
        }
        let most = MAX_PROCESSES as usize - instances.all.len();
        let count =
            written.count.as_ref().map_or(Ok(1), |n| self.whole(n, 1, MAX_PROCESSES.into()))? as usize;
        if count > most {
            let reason = format!("makes more than {MAX_PROCESSES} processes of all tables");
            return match &written.count {
                Some(count) => self.refuse(count, reason, "lower it"),
                None => self.refuse(&written.name, reason, "remove some"),
            };
        }
        let kind = instances.kinds.len();
        for number in 1..=count {
            let name = if written.count.is_some() { format!("{name}.{number}") } else { name.clone() };
            if instances.places.insert(name.clone(), instances.all.len()).is_some() {
                let reason = format!("makes a second process called `{name}`");
                return self.refuse(&written.name, reason, "give each its own name");
            }
            instances.all.push((name, kind));
        }
        Ok(())
    }

    /// The processes with their programs.
    pub(super) fn processes(
        &mut self,
        instances: &Instances<'_>,
        Named { objects, laws }: Named<'_>,
        nodes: &[String],
        costs: Costs,
    ) -> Checked<Vec<Process>> {
        let mut shared = Shared::default();
        let mut kinds = Vec::with_capacity(instances.kinds.len());
        for kind in &instances.kinds {
            kinds.push(self.common(kind, nodes, &mut shared)?);
        }
        let mut processes = Vec::with_capacity(instances.all.len());
        let mut size = 0;
        for (place, (name, kind)) in instances.all.iter().enumerate() {
            let (common, written) = (&kinds[*kind], instances.kinds[*kind].written);
            let scope = Scope { process: place, name, set: &written.set, objects, laws, costs };
            let operations = self.operations(&common.does, &scope, &mut size)?;
            processes.push(Process {
                name: name.clone(),
                node: common.node,
                declared: common.declared,
                deadline: common.deadline,
                system: false,
                movable: common.movable,
                starts: common.starts,
                program: Program { operations },
            });
        }
        Ok(processes)
    }

    /// What the processes of a table have in common.
    fn common<'d>(
        &mut self,
        kind: &Kind<'d>,
        nodes: &[String],
        shared: &mut Shared<'d>,
    ) -> Checked<Common<'d>> {
        let Kind { written, asks } = kind;
        let some_span =
            |time: Option<&Located<Time>>| time.map(|time| self.some_span(time, LONGEST)).transpose();
        let (slice, period, deadline) =
            (some_span(asks.slice)?, some_span(asks.period)?, some_span(asks.deadline)?);
        let or_nothing = |time: Option<&Located<Time>>, longest| {
            time.map_or(Ok(Nanos::new(0)), |time| self.span(time, longest))
        };
        let (need, starts) = (or_nothing(asks.need, EPOCHS.1)?, or_nothing(asks.starts, LONGEST_RUN)?);
        let default = u64::from(Declared::default().priority);
        let priority = asks.priority.map_or(Ok(default), |n| self.whole(n, 0, TOP_PRIORITY.into()))? as u8;
        let weight = asks.weight.map(|n| self.whole(n, 1, MAX_WEIGHT)).transpose()?.map(Weight::new);
        Ok(Common {
            node: self.node_called(written.node.as_ref(), nodes)?,
            declared: Declared { priority, need, slice, period, weight },
            deadline,
            starts,
            movable: asks.movable.is_none_or(|&movable| movable),
            does: self.does(kind, shared)?,
        })
    }
}
