//! Scenarios of the node: from the document to what its engine runs.
//!
//! | part | file |
//! |---|---|
//! | the document as it is written | `document`, `preset` |
//! | nodes, costs, processes of the system | `nodes` |
//! | disciplines, with the epoch as their length or period | `disciplines` |
//! | templates and processes | `processes` |
//! | laws with names | `laws` |
//! | queues and events | `objects` |
//! | what processes do | `does`, `program`, `replay` |
//! | what processes ask for, tried with the disciplines | `trial` |
//! | when a run ends, what is measured | `measure` |
//!
//! Every bound keeps a scenario that can be written down within some hundred megabytes, and its times within the
//! clock of the engine.

mod disciplines;
mod does;
mod laws;
mod measure;
mod nodes;
mod objects;
mod processes;
mod program;
mod replay;
mod trial;

use crate::document::{BalanceTable, NodeDocument, NodeStop};
use crate::figures;
use crate::model::{Balance, NodeScenario, Process};
use crate::over_time;
use weir_core::units::Nanos;
use weir_document::{Checked, Checker, Located};
use weir_lab::scenario::need::{Measured, NeedTable};
use weir_lab::scenario::over_time::{Course, NOT_LONGER};
use weir_lab::scenario::settle::{Longer, Settle};
use weir_lab::scenario::{Compared, Read, Written};

use nodes::Nodes;
use processes::Named;

/// The longest run: some 11 days.
const LONGEST_RUN: Nanos = Nanos::new(1_000_000_000_000_000);
/// The longest slice, period, deadline and span of a program.
const LONGEST: Nanos = LONGEST_RUN;
/// The longest cost and delay: some 16 minutes.
const LONGEST_COST: Nanos = Nanos::new(1_000_000_000_000);
/// The shortest and the longest epoch: a microsecond and a day. No need is longer, so that a sum of needs is within the
/// clock.
const EPOCHS: (Nanos, Nanos) = (Nanos::new(1_000), Nanos::new(86_400_000_000_000));
/// The most processes of a scenario, those of the system included; a discipline takes more.
const MAX_PROCESSES: u32 = 65_536;
const _: () = assert!(MAX_PROCESSES <= weir_core::task::MAX_PROCESSES);
/// How often nodes are compared at most.
const OFTENEST: Nanos = Nanos::new(1_000);

weir_document::checks!(Check);

impl Read for NodeScenario {
    type Document = NodeDocument;

    fn check(document: &mut NodeDocument, checker: &mut Checker<'_>) -> Checked<Self> {
        Check(checker).node_scenario(document)
    }

    fn needs(document: &NodeDocument) -> &[Located<NeedTable>] {
        &document.need
    }

    fn measured(&self) -> Measured {
        figures::measured(self)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn replication_count(&self) -> u32 {
        self.stop.replications
    }

    fn set_seed(document: &mut NodeDocument, model: &mut Self, seed: u64) {
        (document.seed, model.seed) = (seed, seed);
    }

    fn set_replications(document: &mut NodeDocument, model: &mut Self, replications: u32) {
        if !figures::is_random(model) {
            return;
        }
        model.stop.replications = replications;
        let stop = document.stop.get_or_insert_with(|| Located::nowhere(NodeStop::default()));
        stop.value.replications = Some(Located::nowhere(u64::from(replications)));
    }

    fn written(document: &mut NodeDocument) -> Written<'_> {
        Written { disciplines: &mut document.disciplines.value, reference: document.reference.as_mut() }
    }

    fn compared(&self) -> Compared<'_> {
        Compared {
            disciplines: self.disciplines.iter().map(String::as_str).collect(),
            reference: self.reference,
        }
    }
    fn settle(document: &NodeDocument) -> Settle {
        let stop = document.stop.as_ref().map(|stop| &stop.value);
        stop.map_or_else(Settle::default, |stop| Settle::new(stop.settle, stop.settle_limit.as_ref()))
    }

    fn longer(&self, _document: &NodeDocument, times: u64) -> Result<Longer, &'static str> {
        if self.measure.over_time.is_some() {
            return Err(NOT_LONGER);
        }
        let duration =
            self.stop.duration.get().checked_mul(times).ok_or("is more than the clock can hold")?;
        Ok(Longer::lasting(Nanos::new(duration)))
    }
}

impl Check<'_, '_> {
    /// Checks the whole document of the node.
    fn node_scenario(&mut self, document: &NodeDocument) -> Checked<NodeScenario> {
        self.version(&document.weir)?;
        let nodes = self.node_table(document.node.as_ref())?;
        let disciplines = self.task_disciplines(&document.disciplines, nodes.epoch)?;
        let reference = self.task_reference(document.reference.as_ref(), &disciplines)?;
        let instances = self.instances(document)?;
        let objects = self.objects(document, &nodes.names, &instances)?;
        let names = Named { objects: &objects, laws: &self.laws(&document.law)? };
        let mut processes = self.processes(&instances, names, &nodes.names, nodes.costs)?;
        self.add_system(document, &nodes, &mut processes)?;
        for (written, discipline) in document.disciplines.value.iter().zip(&disciplines) {
            self.declarations(document, (written, &discipline.spec), &instances, &processes, &nodes.names)?;
        }
        let balance = self.balance(document.balance.as_ref(), nodes.names.len())?;
        let stop = self.node_stop(document.stop.as_ref(), &epoch_of(document, nodes.epoch), &processes)?;
        let runs = (disciplines.len() as u64).saturating_mul(u64::from(stop.replications));
        let rows = over_time::rows(processes.len(), objects.all_queues.len(), nodes.names.len());
        let course = Course::of_duration(stop.duration, rows, runs);
        let measure = self.node_measure(&document.measure, nodes.epoch, &stop, course)?;
        let (names, specs) =
            disciplines.into_iter().map(|discipline| (discipline.name, discipline.spec)).unzip();
        Ok(NodeScenario {
            title: document.title.clone(),
            seed: document.seed,
            disciplines: names,
            specs,
            reference,
            epoch: nodes.epoch,
            nodes: nodes.names,
            costs: nodes.costs,
            uncharged: nodes.system.uncharged,
            switch_delay: nodes.switch_delay,
            queues: objects.all_queues,
            events: objects.all_events,
            processes,
            balance,
            stop,
            measure,
        })
    }

    /// Puts the processes of the system behind the others.
    fn add_system(
        &self,
        document: &NodeDocument,
        nodes: &Nodes,
        processes: &mut Vec<Process>,
    ) -> Checked<()> {
        let most = MAX_PROCESSES as usize;
        let count = nodes.system.count() * nodes.names.len();
        if processes.len() + count > most {
            let reason = format!("makes, with the {count} of the system, more than {most} processes");
            return self.refuse(&document.process, reason, "remove some");
        }
        for process in nodes.system.processes(&nodes.names, nodes.epoch) {
            let taken = processes.iter().position(|other| other.name == process.name);
            if let Some(table) = taken.and_then(|_| named(document, &process.name)) {
                let reason = "is the name of a process of the system";
                return self.refuse(table, reason, "give the process another name");
            }
            processes.push(process);
        }
        Ok(())
    }

    fn balance(&self, written: Option<&Located<BalanceTable>>, nodes: usize) -> Checked<Option<Balance>> {
        let Some(written) = written else { return Ok(None) };
        if nodes < 2 {
            let reason = "has no effect with one node";
            return self.refuse(written, reason, "remove the table, or name several in node.names");
        }
        let every = self.some_span(&written.value.every, LONGEST_RUN)?;
        if every < OFTENEST {
            return self.refuse(&written.value.every, format!("must be at least {OFTENEST}"), "raise it");
        }
        let cost = written.value.cost.as_ref();
        let cost = cost.map_or(Ok(Nanos::new(0)), |time| self.span(time, LONGEST_COST))?;
        Ok(Some(Balance { every, cost }))
    }
}

/// The epoch, where it is written; the beginning of the file where it is not.
fn epoch_of(document: &NodeDocument, epoch: Nanos) -> Located<Nanos> {
    let written = document.node.as_ref().and_then(|node| node.value.epoch.as_ref());
    Located { value: epoch, span: written.map_or(0..0, |written| written.span.clone()) }
}

/// Where a process of this name stands in the document; one of several by the name of all.
fn named<'d>(document: &'d NodeDocument, name: &str) -> Option<&'d Located<String>> {
    let names = document.process.value.iter().map(|table| &table.value.name);
    names.filter(|written| name.starts_with(&written.value)).max_by_key(|written| written.value.len())
}

#[cfg(test)]
mod tests;
