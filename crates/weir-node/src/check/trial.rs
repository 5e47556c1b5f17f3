//! What processes ask for is declared to every discipline before anything runs: what one refuses is refused here.
//!
//! The trial needs the registry alone, and no knowledge of any discipline.

use super::processes::Instances;
use crate::check::Check;
use crate::document::NodeDocument;
use crate::model::Process;
use weir_core::item::FlowId;
use weir_core::registry;
use weir_core::spec::Spec;
use weir_core::task::{DeclarationError, Task};
use weir_core::units::Instant;
use weir_document::{Checked, Located};

impl Check<'_, '_> {
    /// Refuses what the discipline does not admit on the nodes where the processes begin.
    pub(super) fn declarations(
        &self,
        document: &NodeDocument,
        (written, spec): (&Located<String>, &Spec),
        instances: &Instances<'_>,
        processes: &[Process],
        nodes: &[String],
    ) -> Checked<()> {
        let mut on_node: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (place, process) in processes.iter().enumerate() {
            on_node[process.node].push(place);
        }
        for members in on_node {
            // That it can be built was seen when it was read.
            let Ok(mut discipline) = registry::task_discipline::<Task>(spec) else { continue };
            for (number, &place) in members.iter().enumerate() {
                let (process, flow) = (&processes[place], FlowId(number as u32));
                if let Err(error) = discipline.declare(Instant::ZERO, flow, process.declared) {
                    let node = (nodes.len() > 1).then(|| nodes[process.node].as_str());
                    return self.undeclared(document, written, instances, (place, process), node, error);
                }
            }
        }
        Ok(())
    }

    /// Refuses a process where it asks for what `written` does not admit.
    fn undeclared(
        &self,
        document: &NodeDocument,
        written: &Located<String>,
        instances: &Instances<'_>,
        (place, process): (usize, &Process),
        node: Option<&str>,
        error: DeclarationError,
    ) -> Checked<()> {
        let node = node.map_or(String::new(), |node| format!(" on node `{node}`"));
        let (reason, remedy) = explain(error);
        let reason =
            format!("is refused by `{}` for process `{}`{node}: {reason}", written.value, process.name);
        let kind = instances.all.get(place).and_then(|(_, kind)| instances.kinds.get(*kind));
        let Some(kind) = kind else {
            return match document.node.as_ref().and_then(|node| node.value.system.as_ref()) {
                Some(system) => self.refuse(system, reason, remedy),
                None => self.refuse(written, reason, remedy),
            };
        };
        let at = match error {
            DeclarationError::Slice { .. } => kind.asks.slice,
            DeclarationError::Period => kind.asks.period,
            DeclarationError::Need { .. }
            | DeclarationError::Long { .. }
            | DeclarationError::Overcommitted(_) => kind.asks.need,
            _ => None,
        };
        match at {
            Some(at) => self.refuse(at, reason, remedy),
            None => self.refuse(kind.name(), reason, remedy),
        }
    }
}

/// What is wrong with a declaration, and what to do.
fn explain(error: DeclarationError) -> (String, &'static str) {
    match error {
        DeclarationError::Overcommitted(over) => (
            format!("all needs together would be {} in an epoch of {}", over.committed, over.epoch),
            "lower a need, or admit more, with `admit=warn` where the discipline has it",
        ),
        DeclarationError::Need { need, epoch } => (
            format!("{need} must be at most the epoch, which is {epoch}"),
            "lower the need, or lengthen node.epoch",
        ),
        DeclarationError::Long { need, most } => {
            (format!("{need} must be at most {most}, a day"), "lower the need")
        }
        DeclarationError::Slice { least, .. } => {
            (format!("it must be at least {least}, to be useful"), "lengthen the slice")
        }
        DeclarationError::Period => ("it must be above 0".to_owned(), "lengthen the period"),
        other => (other.to_string(), "ask for less, or write another discipline"),
    }
}
