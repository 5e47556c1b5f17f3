//! Scenarios of a fabric: from the document to what its engines run.
//!
//! | part | file |
//! |---|---|
//! | the document as it is written | `document` |
//! | who is joined to whom | `topology` |
//! | links, switches, buffers | `hardware` |
//! | channels, their sizes, who sends when | `traffic`, `sizes`, `pareto` |
//! | disciplines, tried with the channels | `trial` |
//!
//! Every bound keeps a scenario that can be written down within some hundred megabytes, and its times within the
//! clock of the engines.

mod hardware;
mod pareto;
mod sizes;
mod topology;
mod traffic;
mod trial;

use crate::build;
use crate::document::{FabricDocument, FabricMeasure, FabricStop};
use crate::figures;
use crate::model::{FabricScenario, Stop};
use crate::over_time;
use crate::source::Offer;
use crate::topology::Wiring;
use std::collections::HashSet;
use weir_core::canonical::canonical;
use weir_core::spec::Spec;
use weir_core::units::Nanos;
use weir_document::{Checked, Checker, Located, MAX_REPLICATIONS};
use weir_lab::scenario::need::{Measured, NeedTable};
use weir_lab::scenario::over_time::{self as scenario, Course};
use weir_lab::scenario::settle::{Longer, Settle};
use weir_lab::scenario::{Compared, Read, Written};
use weir_workload::curve::MEASURED_IN_PART;

/// The most virtual channels.
const MAX_CHANNELS: usize = 16;
/// The longest run: some 16 minutes.
const LONGEST_RUN: Nanos = Nanos::new(1_000_000_000_000);
/// Where the scenario does not say: what is left out at the start, the end of a replication, replications.
const WARM_UP: Nanos = Nanos::new(1_000_000);
const DURATION: Nanos = Nanos::new(5_000_000);
const REPLICATIONS: u64 = 10;
/// The most runs of one discipline at one load in one replication.
const MAX_RUNS: u64 = 1_000_000;

weir_document::checks!(Check);

impl Read for FabricScenario {
    type Document = FabricDocument;

    fn check(document: &mut FabricDocument, checker: &mut Checker<'_>) -> Checked<Self> {
        Check(checker).fabric(document)
    }

    fn needs(document: &FabricDocument) -> &[Located<NeedTable>] {
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

    fn set_seed(document: &mut FabricDocument, model: &mut Self, seed: u64) {
        (document.seed, model.seed) = (seed, seed);
    }

    fn set_replications(document: &mut FabricDocument, model: &mut Self, replications: u32) {
        model.stop.replications = replications;
        let stop = document.stop.get_or_insert_with(|| Located::nowhere(FabricStop::default()));
        stop.value.replications = Some(Located::nowhere(u64::from(replications)));
    }

    fn written(document: &mut FabricDocument) -> Written<'_> {
        Written { disciplines: &mut document.disciplines.value, reference: document.reference.as_mut() }
    }

    fn compared(&self) -> Compared<'_> {
        Compared {
            disciplines: self.disciplines.iter().map(String::as_str).collect(),
            reference: self.reference,
        }
    }
    fn settle(document: &FabricDocument) -> Settle {
        let stop = document.stop.as_ref().map(|stop| &stop.value);
        stop.map_or_else(Settle::default, |stop| Settle::new(stop.settle, stop.settle_limit.as_ref()))
    }

    fn longer(&self, _document: &FabricDocument, times: u64) -> Result<Longer, &'static str> {
        if self.over_time.is_some() {
            return Err(scenario::NOT_LONGER);
        }
        let measured = self.stop.duration.get().saturating_sub(self.stop.warm_up.get());
        if !self.traffic.curve.as_ref().is_none_or(|curve| curve.repeats_in(measured)) {
            return Err(MEASURED_IN_PART);
        }
        let duration =
            self.stop.duration.get().checked_mul(times).ok_or("is more than the clock can hold")?;
        Ok(Longer::lasting(Nanos::new(duration)))
    }
}

impl Check<'_, '_> {
    /// Checks the whole document of a fabric.
    fn fabric(&mut self, document: &FabricDocument) -> Checked<FabricScenario> {
        self.version(&document.weir)?;
        let listed = &document.disciplines;
        let example = "[\"drr:quantum=2048B\", \"scfq\"]";
        let disciplines = self.each_once(listed, example, |written| self.packet_discipline(written))?;
        let reference = document.reference.as_ref().map_or(Ok(0), |written| {
            let spec = written.value.parse::<Spec>().and_then(|spec| canonical(&spec));
            let name = spec.map_or_else(|_| written.value.clone(), |spec| spec.to_string());
            self.listed(written, &name, &disciplines)
        })?;
        self.channel_names(&document.channel)?;
        let written = document.fabric.as_ref().map(|fabric| fabric.value.clone()).unwrap_or_default();
        let topology = self.topology(&written, document.channel.value.len())?;
        let hardware = self.hardware(&written)?;
        self.capacity(&written, topology, &hardware, document.channel.value.len())?;
        let (channels, traffic) = self.fabric_traffic(document, topology, &hardware)?;
        let stop = self.fabric_stop(document.stop.as_ref().map(|stop| &stop.value))?;
        self.runs(document, &traffic.loads, disciplines.len(), &stop)?;
        let over_time =
            self.windows(document, &stop, (channels.len(), traffic.loads.len(), disciplines.len()))?;
        let names: Vec<&str> = channels.iter().map(|channel| channel.name.as_str()).collect();
        for (written, discipline) in listed.value.iter().zip(&disciplines) {
            self.tried(written, &discipline.spec, &names, &hardware)?;
        }
        let fabric = FabricScenario {
            title: document.title.clone(),
            seed: document.seed,
            disciplines: disciplines.iter().map(|discipline| discipline.name.clone()).collect(),
            specs: disciplines.into_iter().map(|discipline| discipline.spec).collect(),
            reference,
            topology,
            routing: written.routing.map_or(crate::model::Routing::Deterministic, Into::into),
            link: hardware.link,
            switch: hardware.switch,
            interface_buffer: hardware.interface_buffer,
            credit: hardware.credit,
            mtu: hardware.mtu,
            channels,
            traffic,
            stop,
            tails: document.measure.tails,
            over_time,
            verify: document.measure.verify,
        };
        self.simulated(document, &fabric)?;
        Ok(fabric)
    }

    /// The length of the windows of which there are figures, for these numbers of channels, loads and disciplines.
    fn windows(
        &self,
        document: &FabricDocument,
        stop: &Stop,
        (channels, loads, disciplines): (usize, usize, usize),
    ) -> Checked<Option<Nanos>> {
        let FabricMeasure { window, over_time: asked, .. } = &document.measure;
        let runs = (disciplines as u64).saturating_mul(u64::from(stop.replications));
        let rows = over_time::rows(channels);
        let course = Course::of_duration(stop.duration, rows, runs);
        let length = scenario::over_time(self, window.as_ref(), asked.as_ref(), course)?;
        match asked {
            Some(asked) if length.is_some() && loads > 1 => {
                let reason = format!("needs one load, and there are {loads}");
                self.refuse(asked, reason, "write `traffic.load`, or remove it")
            }
            _ => Ok(length),
        }
    }

    /// Refuses what the engines refuse, where it was not seen before.
    fn simulated(&self, document: &FabricDocument, fabric: &FabricScenario) -> Checked<()> {
        let offer = |wiring: Wiring| {
            let mut loads = 0..fabric.traffic.loads.len();
            loads.try_for_each(|load| Offer::new(fabric, &wiring, load).map(drop))
        };
        let run = build::check(fabric).and_then(|()| Wiring::new(fabric.topology).map_or(Ok(()), offer));
        run.or_else(|error| {
            let reason = format!("is refused with the rest of the fabric: {error}");
            self.refuse(&document.traffic, reason, error.remedy())
        })
    }

    /// From one channel up, each with a name of its own.
    fn channel_names(&self, list: &Located<Vec<Located<crate::document::Channel>>>) -> Checked<()> {
        if list.value.is_empty() || list.value.len() > MAX_CHANNELS {
            let reason = format!("must have from 1 to {MAX_CHANNELS} channels");
            return self.refuse(list, reason, "add tables `[[channel]]`, each with a `name`, or remove some");
        }
        let mut names = HashSet::new();
        for written in &list.value {
            let name = self.name(&written.value.name)?;
            if name == "all" {
                let reason = "is reserved: results use it for all channels together";
                return self.refuse(&written.value.name, reason, "give the channel another name");
            }
            if !names.insert(name) {
                let reason = "is the name of another channel";
                return self.refuse(&written.value.name, reason, "give each its own name");
            }
        }
        Ok(())
    }

    fn fabric_stop(&self, written: Option<&FabricStop>) -> Checked<Stop> {
        let own = FabricStop::default();
        let written = written.unwrap_or(&own);
        let times = (written.warm_up.as_ref(), written.duration.as_ref());
        let (warm_up, duration) = self.run_time(times, (WARM_UP, DURATION), LONGEST_RUN)?;
        let replications = written.replications.as_ref();
        let replications = replications.map_or(Ok(REPLICATIONS), |n| self.whole(n, 1, MAX_REPLICATIONS))?;
        Ok(Stop { warm_up, duration, replications: replications as u32 })
    }

    /// Refuses more runs than a result can hold.
    fn runs(&self, document: &FabricDocument, loads: &[f64], disciplines: usize, stop: &Stop) -> Checked<()> {
        let runs = (loads.len() * disciplines) as u64 * u64::from(stop.replications);
        if runs <= MAX_RUNS {
            return Ok(());
        }
        let reason =
            format!("makes {runs} runs with all disciplines, loads and replications, at most {MAX_RUNS}");
        let remedy = "lower stop.replications, or compare fewer disciplines or loads";
        match document.stop.as_ref().and_then(|stop| stop.value.replications.as_ref()) {
            Some(written) => self.refuse(written, reason, remedy),
            None => self.refuse(&document.disciplines, reason, remedy),
        }
    }
}

#[cfg(test)]
mod tests;
