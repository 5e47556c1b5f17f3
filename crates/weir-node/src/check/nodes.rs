//! The nodes: their names, what interrupts cost there, and the processes of the system.

use std::collections::HashSet;

use super::{EPOCHS, LONGEST_COST};
use crate::check::Check;
use crate::document::preset::{Preset, PresetName};
use crate::document::{CostTable, NodeTable, SystemProcess, SystemTable};
use crate::model::{Costs, Operation, Process, Program};
use weir_core::task::Declared;
use weir_core::units::Nanos;
use weir_document::quantity::Time;
use weir_document::{Checked, Located};
use weir_workload::duration::Law;

/// The most nodes.
pub(super) const MAX_NODES: usize = 64;
/// The epoch where the scenario does not say.
const EPOCH: Nanos = Nanos::new(100_000_000);

/// What the table of the nodes comes to.
pub(super) struct Nodes {
    pub(super) epoch: Nanos,
    pub(super) names: Vec<String>,
    pub(super) costs: Costs,
    pub(super) system: System,
    pub(super) switch_delay: Nanos,
}

/// The processes of the system, and what nobody is charged for.
#[derive(Default)]
pub(super) struct System {
    epoch_scheduler: Option<Periodic>,
    remote_demon: Option<Periodic>,
    pub(super) uncharged: Nanos,
}

/// What a process of the system does in each epoch.
#[derive(Clone, Copy)]
struct Periodic {
    run: Nanos,
    need: Nanos,
}

impl System {
    /// As measured on the Chrysalis system.
    const CHRYSALIS: Self = Self {
        epoch_scheduler: Some(Periodic { run: Nanos::new(300_000), need: Nanos::new(1_000_000) }),
        remote_demon: Some(Periodic { run: Nanos::new(2_560_000), need: Nanos::new(3_000_000) }),
        uncharged: Nanos::new(800_000),
    };

    /// How many processes there are on each node.
    pub(super) fn count(&self) -> usize {
        usize::from(self.epoch_scheduler.is_some()) + usize::from(self.remote_demon.is_some())
    }

    /// The processes of all nodes, node by node.
    pub(super) fn processes(&self, nodes: &[String], epoch: Nanos) -> Vec<Process> {
        let half = Nanos::new(epoch.get() / 2);
        let kinds = [
            ("epoch_scheduler", self.epoch_scheduler, 3, Nanos::new(0)),
            ("remote_demon", self.remote_demon, 2, half),
        ];
        let mut processes = Vec::new();
        for (node, node_name) in nodes.iter().enumerate() {
            for (name, periodic, priority, offset) in kinds {
                let Some(Periodic { run, need }) = periodic else { continue };
                let name = if nodes.len() > 1 { format!("{name}@{node_name}") } else { name.to_owned() };
                processes.push(Process {
                    name,
                    node,
                    declared: Declared { priority, need, ..Declared::default() },
                    deadline: None,
                    system: true,
                    movable: false,
                    starts: offset,
                    program: once_an_epoch(run, epoch, offset),
                });
            }
        }
        processes
    }
}

/// The program of a process of the system, which is first ready at `offset`.
fn once_an_epoch(run: Nanos, epoch: Nanos, offset: Nanos) -> Program {
    let operations = vec![
        Operation::Loop { times: None, after: 4 },
        Operation::Compute(Law::Constant(run).into()),
        Operation::SleepUntil { every: epoch, offset },
        Operation::End(0),
    ];
    Program { operations }
}

impl Check<'_, '_> {
    pub(super) fn node_table(&self, written: Option<&Located<NodeTable>>) -> Checked<Nodes> {
        let own = NodeTable::default();
        let written = written.map_or(&own, |written| &written.value);
        let epoch = self.epoch(written.epoch.as_ref())?;
        let delay = written.switch_delay.as_ref();
        Ok(Nodes {
            epoch,
            names: self.node_names(written.names.as_ref())?,
            costs: self.costs(written.costs.as_ref())?,
            system: self.system(written.system.as_ref(), epoch)?,
            switch_delay: delay.map_or(Ok(Nanos::new(0)), |time| self.span(time, LONGEST_COST))?,
        })
    }

    fn epoch(&self, written: Option<&Located<Time>>) -> Checked<Nanos> {
        let Some(written) = written else { return Ok(EPOCH) };
        let (shortest, longest) = EPOCHS;
        let epoch = self.some_span(written, longest)?;
        if epoch < shortest {
            return self.refuse(written, format!("must be at least {shortest}"), "raise it");
        }
        Ok(epoch)
    }

    fn node_names(&self, written: Option<&Located<Vec<Located<String>>>>) -> Checked<Vec<String>> {
        let Some(written) = written else { return Ok(vec!["node".to_owned()]) };
        if written.value.is_empty() || written.value.len() > MAX_NODES {
            let reason = format!("must name from 1 to {MAX_NODES} nodes");
            return self.refuse(written, reason, "write a list such as [\"a\", \"b\"]");
        }
        let mut names = HashSet::new();
        for name in &written.value {
            if !names.insert(self.own_name(name)?) {
                return self.refuse(name, "is the name of another node", "give each its own name");
            }
        }
        Ok(written.value.iter().map(|name| name.value.clone()).collect())
    }

    fn costs(&self, written: Option<&Located<Preset<CostTable>>>) -> Checked<Costs> {
        let table = match written.map(|written| &written.value) {
            None | Some(Preset::Named(PresetName::None)) => return Ok(Costs::default()),
            Some(Preset::Named(PresetName::Chrysalis)) => return Ok(Costs::chrysalis()),
            Some(Preset::Table(table)) => table,
        };
        let cost = |time: Option<&Located<Time>>| {
            time.map_or(Ok(Nanos::new(0)), |time| self.span(time, LONGEST_COST))
        };
        let costs = Costs {
            restart: cost(table.restart.as_ref())?,
            timer: cost(table.timer.as_ref())?,
            swap: cost(table.swap.as_ref())?,
            post: cost(table.post.as_ref())?,
            remote: cost(table.remote.as_ref())?,
        };
        match &table.restart {
            Some(restart) if costs.restart > costs.swap => {
                let reason = format!("must be at most node.costs.swap, which is {}", costs.swap);
                self.refuse(restart, reason, "lower it, or give a longer `swap`")
            }
            _ => Ok(costs),
        }
    }

    fn system(&self, written: Option<&Located<Preset<SystemTable>>>, epoch: Nanos) -> Checked<System> {
        let Some(written) = written else { return Ok(System::default()) };
        let table = match &written.value {
            Preset::Named(PresetName::None) => return Ok(System::default()),
            Preset::Named(PresetName::Chrysalis) if epoch < System::CHRYSALIS.least_epoch() => {
                let reason = format!("takes {} of every epoch", System::CHRYSALIS.least_epoch());
                return self.refuse(written, reason, format!("lengthen node.epoch, which is {epoch}"));
            }
            Preset::Named(PresetName::Chrysalis) => return Ok(System::CHRYSALIS),
            Preset::Table(table) => table,
        };
        let uncharged = table.uncharged.as_ref();
        Ok(System {
            epoch_scheduler: self.periodic(table.epoch_scheduler.as_ref(), epoch)?,
            remote_demon: self.periodic(table.remote_demon.as_ref(), epoch)?,
            uncharged: uncharged.map_or(Ok(Nanos::new(0)), |time| self.span(time, epoch))?,
        })
    }

    /// A process of the system, which has its time in every epoch.
    fn periodic(&self, written: Option<&Located<SystemProcess>>, epoch: Nanos) -> Checked<Option<Periodic>> {
        let Some(written) = written.map(|written| &written.value) else { return Ok(None) };
        let run = self.some_span(&written.run, epoch)?;
        let need = written.need.as_ref().map_or(Ok(run), |need| self.span(need, epoch))?;
        Ok(Some(Periodic { run, need }))
    }
}

impl System {
    /// What of each epoch is taken.
    fn least_epoch(&self) -> Nanos {
        let runs = [self.epoch_scheduler, self.remote_demon].into_iter().flatten();
        Nanos::new(runs.map(|periodic| periodic.run.get()).sum::<u64>() + self.uncharged.get())
    }
}
