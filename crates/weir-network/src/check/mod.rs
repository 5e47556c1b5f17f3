//! Scenarios of a network: from the document to what its engines run.
//!
//! | part | file |
//! |---|---|
//! | the document as it is written | `document`, `brief` |
//! | hosts, routers, delays, addresses | `nodes` |
//! | links and the disciplines of their queues | `links` |
//! | paths | `routes` |
//! | flows: who sends when, and how large | `flows`, `traffic`, `laws`, `curves`, `files` |
//! | when a run ends, what is measured | `measure` |
//!
//! Names become numbers in the order of the file. Every bound below keeps a scenario that a file of a megabyte
//! can describe within some seconds and some hundred megabytes.

mod curves;
mod files;
mod flows;
mod laws;
mod links;
mod measure;
mod nodes;
mod routes;
mod traffic;

use crate::chance;
use crate::document::NetworkDocument;
use crate::figures;
use crate::model::NetworkScenario;
use weir_core::canonical::canonical;
use weir_core::spec::Spec;
use weir_core::units::Nanos;
pub(super) use weir_document::words::known_names;
use weir_document::{Checked, Checker, Located};
use weir_lab::scenario::need::{Measured, NeedTable};
use weir_lab::scenario::over_time::NOT_LONGER;
use weir_lab::scenario::settle::{Longer, Settle};
use weir_lab::scenario::{Compared, Read, Written};
use weir_workload::curve::MEASURED_IN_PART;

/// The longest delay, overhead or transmission: a day and some hours. As many of them as a path has links, and a
/// run before them, stay within the clock.
const LONGEST_DELAY: Nanos = Nanos::new(100_000_000_000_000);
/// The longest run: some 31 years.
const LONGEST_RUN: Nanos = Nanos::new(1_000_000_000_000_000_000);

weir_document::checks!(Check);

impl Read for NetworkScenario {
    type Document = NetworkDocument;

    fn check(document: &mut NetworkDocument, checker: &mut Checker<'_>) -> Checked<Self> {
        Check(checker).network(document)
    }

    fn needs(document: &NetworkDocument) -> &[Located<NeedTable>] {
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

    fn set_seed(document: &mut NetworkDocument, model: &mut Self, seed: u64) {
        (document.seed, model.seed) = (seed, seed);
    }

    fn set_replications(document: &mut NetworkDocument, model: &mut Self, replications: u32) {
        if !chance::is_random(model) {
            return;
        }
        model.stop.replications = replications;
        document.stop.value.replications = Some(Located::nowhere(u64::from(replications)));
    }

    fn written(document: &mut NetworkDocument) -> Written<'_> {
        Written { disciplines: &mut document.disciplines.value, reference: document.reference.as_mut() }
    }

    fn compared(&self) -> Compared<'_> {
        Compared {
            disciplines: self.disciplines.iter().map(String::as_str).collect(),
            reference: self.reference,
        }
    }
    fn settle(document: &NetworkDocument) -> Settle {
        let stop = &document.stop.value;
        Settle::new(stop.settle, stop.settle_limit.as_ref())
    }

    fn longer(&self, document: &NetworkDocument, times: u64) -> Result<Longer, &'static str> {
        if document.measure.intervals.is_some() {
            return Err("cannot be combined with measure.intervals, whose figures no longer run settles");
        }
        if self.measure.over_time.is_some() {
            return Err(NOT_LONGER);
        }
        let measured = self.stop.duration.get().saturating_sub(self.stop.warm_up.get());
        if !self.curves().all(|curve| curve.repeats_in(measured)) {
            return Err(MEASURED_IN_PART);
        }
        if !self.flows.iter().any(|flow| flow.lasts(self.stop.duration)) {
            return Err("has no effect where every flow ends by itself");
        }
        let duration =
            self.stop.duration.get().checked_mul(times).ok_or("is more than the clock can hold")?;
        Ok(Longer::lasting(Nanos::new(duration)))
    }
}

impl Check<'_, '_> {
    /// Checks the whole document of a network, and writes the disciplines of its links in canonical form.
    fn network(&mut self, document: &mut NetworkDocument) -> Checked<NetworkScenario> {
        self.version(&document.weir)?;
        let example = "[\"fifo:limit=100pkt\", \"drr:quantum=1514B\"]";
        let listed = &document.disciplines;
        let disciplines = self.each_once(listed, example, |written| self.packet_discipline(written))?;
        let reference = document.reference.as_ref().map_or(Ok(0), |written| {
            let spec = written.value.parse::<Spec>().and_then(|spec| canonical(&spec));
            let name = spec.map_or_else(|_| written.value.clone(), |spec| spec.to_string());
            self.listed(written, &name, &disciplines)
        })?;
        let nodes = self.nodes(&document.network)?;
        let links = self.links(&mut document.link, &nodes, &disciplines)?;
        let stop = self.network_stop(&document.stop.value)?;
        let flows = self.flows(document, &nodes, &links, &stop)?;
        let mut measure = self.network_measure(&document.measure, &stop, flows.all.len())?;
        measure.over_time = self.over_time(&document.measure, &stop, links.all.len(), disciplines.len())?;
        let mut network = NetworkScenario {
            title: document.title.clone(),
            seed: document.seed,
            disciplines: disciplines.into_iter().map(|discipline| discipline.name).collect(),
            reference,
            nodes: nodes.all,
            links: links.all,
            flows: flows.all,
            classes: flows.classes,
            stop,
            measure,
        };
        // All others would be the same.
        if !chance::is_random(&network) {
            network.stop.replications = 1;
        }
        Ok(network)
    }
}

#[cfg(test)]
mod tests;
