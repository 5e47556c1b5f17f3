//! Scenarios of a network: from the document to what its engines run.
//!
//! | part | file |
//! |---|---|
//! | the document as it is written | `document`, `brief` |
//! | hosts, routers, delays, addresses | `nodes` |
//! | links and the disciplines of their queues | `links` |
//! | paths | `routes` |
//! | flows: who sends when, and how large | `flows`, `traffic`, `laws`, `files` |
//! | when a run ends, what is measured | `measure` |
//!
//! Names become numbers in the order of the file. Every bound below keeps a scenario that a file of a megabyte
//! can describe within some seconds and some hundred megabytes.

mod brief;
mod document;
mod files;
mod flows;
mod laws;
mod links;
mod measure;
mod nodes;
mod routes;
mod traffic;

use weir_core::canonical::canonical;
use weir_core::spec::Spec;
use weir_core::units::Nanos;
pub(super) use weir_document::words::known_names;

pub use document::NetworkDocument;

use super::check::{Checked, Checker};
use super::document::Located;
use crate::network::model::NetworkScenario;
use weir_document::quantity::{Clock, Time};

/// The longest delay, overhead or transmission: a day and some hours. As many of them as a path has links, and a
/// run before them, stay within the clock.
const LONGEST_DELAY: Nanos = Nanos::new(100_000_000_000_000);
/// The longest run: some 31 years.
const LONGEST_RUN: Nanos = Nanos::new(1_000_000_000_000_000_000);

impl Checker<'_> {
    /// Checks the whole document of a network, and writes the disciplines of its links in canonical form.
    pub(super) fn network(&mut self, document: &mut NetworkDocument) -> Checked<NetworkScenario> {
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
        let measure = self.network_measure(&document.measure, &stop, flows.all.len())?;
        Ok(NetworkScenario {
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
        })
    }

    /// A span of time in seconds, at most `longest`.
    pub(super) fn span(&self, written: &Located<Time>, longest: Nanos) -> Checked<Nanos> {
        if written.value.clock != Clock::Seconds && written.value.span.get() > 0 {
            let remedy = "write it in `ns`, `us`, `ms` or `s`, such as \"5ms\"";
            return self.refuse(written, "must be in seconds, as everything but a port", remedy);
        }
        if written.value.span > longest {
            return self.refuse(written, format!("must be at most {longest}"), "lower it");
        }
        Ok(written.value.span)
    }

    /// A span of time above zero.
    pub(super) fn some_span(&self, written: &Located<Time>, longest: Nanos) -> Checked<Nanos> {
        let span = self.span(written, longest)?;
        if span.get() == 0 {
            return self.refuse(written, "must be above 0", "write a time such as \"5ms\"");
        }
        Ok(span)
    }

    /// A name that is fit for a table of results.
    pub(super) fn name(&self, written: &Located<String>) -> Checked<String> {
        const LONGEST: usize = 100;
        let name = &written.value;
        let is_plain = !name.chars().any(char::is_control) && name.trim() == name && !name.is_empty();
        if is_plain && name.chars().count() <= LONGEST {
            return Ok(name.clone());
        }
        let reason = format!(
            "must be a name of 1 to {LONGEST} characters, without control characters or outer blanks"
        );
        self.refuse(written, reason, "write a name such as \"web\"")
    }
}

#[cfg(test)]
mod tests;
