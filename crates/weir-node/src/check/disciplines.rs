//! The disciplines of tasks, with the epoch of the scenario as their length or period.

use std::collections::HashMap;

use crate::check::Check;
use weir_core::canonical::canonical;
use weir_core::info::{Takes, parse_nanos};
use weir_core::role::Role;
use weir_core::spec::Spec;
use weir_core::units::Nanos;
use weir_document::{Checked, Located, NamedDiscipline};

/// Whether a parameter has the epoch of the scenario where a spec does not say.
fn is_epoch(takes: &Takes) -> bool {
    matches!(takes, Takes::Epoch(_))
}

impl Check<'_, '_> {
    /// The disciplines by their names as written, with specs that know the epoch.
    pub(super) fn task_disciplines(
        &self,
        list: &Located<Vec<Located<String>>>,
        epoch: Nanos,
    ) -> Checked<Vec<NamedDiscipline>> {
        let named = self.each_once(list, "[\"epoch\", \"epoch:allocate=at_dispatch\"]", |written| {
            let discipline = self.task_discipline(written, |spec| spec)?;
            self.same_epoch(written, epoch)?;
            let given = self.task_discipline(written, |spec| with_epoch(&spec, epoch))?;
            Ok(NamedDiscipline { spec: given.spec, ..discipline })
        })?;
        self.no_two_alike(list, &named)?;
        Ok(named)
    }

    /// Refuses a discipline that the epoch of the scenario makes the same as another.
    fn no_two_alike(&self, list: &Located<Vec<Located<String>>>, named: &[NamedDiscipline]) -> Checked<()> {
        let mut seen = HashMap::new();
        for (written, discipline) in list.value.iter().zip(named) {
            let spec = canonical(&discipline.spec).unwrap_or_else(|_| discipline.spec.clone());
            if let Some(other) = seen.insert(spec.to_string(), &discipline.name) {
                let reason = format!("is `{other}` with the epoch of the scenario");
                return self.refuse(written, reason, "remove one of the two");
            }
        }
        Ok(())
    }

    /// Refuses a discipline whose epoch, or period, is not the epoch of the scenario, in which needs are promised.
    fn same_epoch(&self, written: &Located<String>, epoch: Nanos) -> Checked<()> {
        let Ok(spec) = written.value.parse::<Spec>() else { return Ok(()) };
        let Some(parameter) = Role::Discipline.parameter(&spec, is_epoch) else { return Ok(()) };
        let given = Role::Discipline.argument(&spec, parameter).and_then(|given| parse_nanos(&given.name));
        if let Some(given) = given.filter(|given| *given != epoch) {
            let parameter = parameter.name;
            let (what, own) = match parameter {
                "period" => ("periods", ", and give processes a `period` of their own"),
                _ => ("epochs", ""),
            };
            let reason = format!("has {what} of {given}, and the epochs of the scenario are of {epoch}");
            let remedy =
                format!("write `node.epoch = \"{given}\"`, or leave `{parameter}` out of the spec{own}");
            return self.refuse(written, reason, remedy);
        }
        Ok(())
    }

    /// The place of the reference.
    pub(super) fn task_reference(
        &self,
        written: Option<&Located<String>>,
        disciplines: &[NamedDiscipline],
    ) -> Checked<usize> {
        let Some(written) = written else { return Ok(0) };
        let spec = written.value.parse::<Spec>().and_then(|spec| canonical(&spec));
        let name = spec.map_or_else(|_| written.value.clone(), |spec| spec.to_string());
        self.listed(written, &name, disciplines)
    }
}

/// The spec with the epoch as its length or period, if it has one that is not given.
fn with_epoch(spec: &Spec, epoch: Nanos) -> Spec {
    Role::Discipline.with_argument(spec, is_epoch, &epoch.to_string())
}
