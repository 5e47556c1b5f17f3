//! From the document to the applications of a closed loop, one law for all or one for each group.

use super::input::{Arrives, MAX_APPLICATIONS};
use super::lengths::MAX_LENGTH_CLASSES;
use super::{Check, Serving};
use crate::document::{self, ClassesBy, PortDocument};
use crate::model::{Closed, Group, Input, Think};
use weir_core::units::Nanos;
use weir_document::{Checked, Located};
use weir_workload::{MessageClasses, Sizes};

/// The most groups of applications.
const MAX_GROUPS: usize = 64;

impl Check<'_, '_> {
    pub(super) fn closed(
        &mut self,
        closed: &Located<document::Closed>,
        document: &PortDocument,
        serving: Serving,
    ) -> Checked<Arrives> {
        let workload = &document.workload.value;
        self.unused(workload.load.as_ref(), "workload.closed, which offers what is served")?;
        self.unused(workload.gap.as_ref(), "workload.closed")?;
        self.unused(workload.arrivals.as_ref(), "workload.closed")?;
        self.unused(workload.curve.as_ref(), "workload.closed")?;
        self.unused(workload.flows.as_ref(), "workload.closed, where each application is a flow")?;
        let think = self.think(closed.value.think.as_ref(), serving)?;
        let (closed, classes) = match (&closed.value.group, &closed.value.applications) {
            (Some(groups), None) => self.groups(groups, document, serving, think)?,
            (Some(_), Some(applications)) => {
                let remedy = "remove it, and give each group its `applications`";
                return self.refuse(applications, "cannot be combined with workload.closed.group", remedy);
            }
            (None, Some(applications)) => {
                let applications = self.whole(applications, 1, MAX_APPLICATIONS)? as u32;
                let lengths = self.lengths(&document.workload, serving)?;
                let classes = self.classes_of_sizes(document, &lengths)?;
                let alone = Group { name: String::new(), applications, think, lengths };
                (Closed { groups: vec![alone] }, classes)
            }
            (None, None) => {
                let reason = "must have `applications`, or groups of them";
                return self.refuse(closed, reason, "add, for example, `applications = 8`");
            }
        };
        let mean_length = closed.mean_length();
        Ok(Arrives { input: Input::Closed(closed), classes, load: None, mean_gap: None, mean_length })
    }

    fn think(&self, written: Option<&Located<document::Think>>, serving: Serving) -> Checked<Think> {
        Ok(match written.map(|think| &think.value) {
            None => Think::Constant(Nanos::new(0)),
            Some(document::Think::Constant(time)) => Think::Constant(self.on_clock(time, serving.clock)?),
            Some(document::Think::Exponential(mean)) => {
                self.on_clock(mean, serving.clock)?;
                Think::Exponential(self.exponential(mean)?)
            }
        })
    }

    fn groups(
        &mut self,
        written: &Located<Vec<Located<document::Group>>>,
        document: &PortDocument,
        serving: Serving,
        think: Think,
    ) -> Checked<(Closed, MessageClasses)> {
        self.unused(
            document.workload.value.lengths.as_ref(),
            "workload.closed.group, whose groups have lengths",
        )?;
        let mut groups: Vec<Group> = Vec::new();
        for (place, group) in written.value.iter().enumerate() {
            groups.push(self.group(group, place, document, serving, think)?);
        }
        let count: u64 = groups.iter().map(|group| u64::from(group.applications)).sum();
        if groups.is_empty() || groups.len() > MAX_GROUPS || count > MAX_APPLICATIONS {
            let reason = format!(
                "has {} groups of {count} applications, must have from 1 to {MAX_GROUPS}, of at most \
                 {MAX_APPLICATIONS} together",
                groups.len()
            );
            return self.refuse(written, reason, "give as many as fit");
        }
        self.names_differ(written, &groups)?;
        let closed = Closed { groups };
        let classes = self.classes_of_groups(document, &closed)?;
        Ok((closed, classes))
    }

    fn group(
        &mut self,
        written: &Located<document::Group>,
        place: usize,
        document: &PortDocument,
        serving: Serving,
        think: Think,
    ) -> Checked<Group> {
        let document::Group { name, applications, lengths, think: own } = &written.value;
        let applications = applications.as_ref();
        Ok(Group {
            name: name.as_ref().map_or_else(|| format!("group {}", place + 1), |name| name.value.clone()),
            applications: applications.map_or(Ok(1), |count| self.whole(count, 1, MAX_APPLICATIONS))? as u32,
            think: if own.is_some() { self.think(own.as_ref(), serving)? } else { think },
            lengths: self.lengths_in(lengths, &document.workload.value, serving)?,
        })
    }

    fn names_differ(
        &self,
        written: &Located<Vec<Located<document::Group>>>,
        groups: &[Group],
    ) -> Checked<()> {
        for (place, group) in groups.iter().enumerate() {
            let is_taken = groups[..place].iter().any(|other| other.name == group.name);
            if is_taken || group.name.is_empty() || group.name == "all" {
                let reason = format!("must have a name of its own, is called `{}`", group.name);
                return self.refuse(
                    &written.value[place],
                    reason,
                    "give each group another `name`, and none `all`",
                );
            }
        }
        Ok(())
    }

    /// By length where there are not too many; else the groups are the classes, as where that is asked for.
    fn classes_of_groups(&self, document: &PortDocument, closed: &Closed) -> Checked<MessageClasses> {
        let names = closed.groups.iter().map(|group| group.name.clone()).collect();
        let groups = MessageClasses::Named { names, alphas: None };
        let by_length = by_length(closed);
        let written = document.measure.classes.as_ref();
        match (written.map(|written| (written, written.value)), by_length) {
            (None, by_length) => Ok(by_length.unwrap_or(groups)),
            (Some((_, ClassesBy::Group)), _) => Ok(groups),
            (Some((_, ClassesBy::Length)), Some(by_length)) => Ok(by_length),
            (Some((written, ClassesBy::Length)), None) => {
                let reason = format!("needs at most {MAX_LENGTH_CLASSES} different lengths");
                self.refuse(written, reason, "write `classes = \"group\"`")
            }
            (Some((written, _)), _) => {
                let reason =
                    "has no meaning for groups of applications, whose lengths have no one distribution";
                self.refuse(written, reason, "write `classes = \"group\"` or \"length\"")
            }
        }
    }
}

/// One class for each length of any group; `None` where there are too many.
fn by_length(closed: &Closed) -> Option<MessageClasses> {
    let atoms = closed.groups.iter().map(|group| group.lengths.atoms(MAX_LENGTH_CLASSES));
    let atoms: Vec<Vec<(u64, f64)>> = atoms.collect::<Option<_>>()?;
    let mut lengths: Vec<u64> = atoms.iter().flatten().map(|&(length, _)| length).collect();
    lengths.sort_unstable();
    lengths.dedup();
    MessageClasses::by_length(&Sizes::observed(&lengths).ok()?, MAX_LENGTH_CLASSES)
}
