//! Requests of a file: their classes with the shares and means they have there, and time scaled to a load.

use super::classes::mean_of_all;
use super::workload::{Arrives, MAX_FLOWS};
use super::{Cores, LONGEST_RUN, LONGEST_SERVICE};
use crate::check::Check;
use crate::document::{RequestFile, ServerDocument, Split};
use crate::model::{Class, Service, Workload};
use std::sync::Arc;
use weir_core::units::Nanos;
use weir_document::quantity::Time;
use weir_document::{Checked, Located};
use weir_workload::document::WorkloadChecks;
use weir_workload::duration::Law;
use weir_workload::requests::Requests;
use weir_workload::{ClassBy, RequestBounds, RequestFormat, Thinning, TimeUnit, read_requests};

/// The most requests of a trace.
pub(super) const MAX_REQUESTS: usize = 50_000_000;
/// The most columns that cost something.
pub(super) const MAX_COSTS: usize = 64;

impl Check<'_, '_> {
    /// The requests of a trace, and the classes as they are there.
    pub(super) fn traced(
        &mut self,
        written: &Located<RequestFile>,
        document: &ServerDocument,
        names: &[String],
        cores: &Cores,
    ) -> Checked<(Vec<Class>, Arrives)> {
        let workload = &document.workload.value;
        if workload.closed.is_some() {
            return self.refuse(written, "cannot be combined with workload.closed", "keep one of the two");
        }
        self.unused(workload.rate.as_ref(), "workload.trace; `load` scales its times")?;
        self.unused(workload.arrivals.as_ref(), "workload.trace")?;
        self.unused(workload.levels.as_ref(), "workload.trace")?;
        self.unused(workload.burst.as_ref(), "workload.trace")?;
        self.unused(workload.curve.as_ref(), "workload.trace")?;
        self.unused(workload.flows.as_ref(), "workload.trace, whose column `flow` says whose a request is")?;
        let mut requests = self.request_file(&written.value, names)?;
        let receivers = document.server.value.receivers.as_ref();
        let flows = requests.flow.iter().max().map_or(1, |last| last + 1);
        match receivers {
            Some(count) if cores.receivers > flows => {
                let reason = format!("leaves some without a flow, for the trace has {flows}");
                return self.refuse(
                    count,
                    reason,
                    "lower it, or name the column of flows as workload.trace.flow",
                );
            }
            _ => {}
        }
        let classes = self.traced_classes(document, names, &requests)?;
        let requested = requests.at.len() as f64 * f64::from(cores.parts);
        let work = mean_of_all(&classes) * requested / cores.capacity();
        let load = self.scaled(document, &mut requests, work)?;
        self.end_within(written, &requests)?;
        let workload = Workload::Trace(Arc::new(requests));
        Ok((classes, Arrives { workload, load, peak: load }))
    }

    fn request_file(&mut self, file: &RequestFile, names: &[String]) -> Checked<Requests> {
        let unit = &file.time_unit;
        if unit.value == TimeUnit::U {
            let remedy = "write `s`, `ms`, `us`, `ns` or `timestamp`";
            return self.refuse(unit, "is of the port alone", remedy);
        }
        let cost = &file.service;
        let base = cost.value.base.as_ref();
        let base = base.map_or(Ok(Nanos::new(0)), |time| self.span(time, LONGEST_SERVICE))?;
        let per_unit = &cost.value.per_unit;
        if base.get() == 0 && per_unit.is_empty() {
            let reason = "must have a `base` or costs `per_unit` of a column";
            return self.refuse(cost, reason, "add, for example, `per_unit = { tokens = \"20ms\" }`");
        }
        if per_unit.len() > MAX_COSTS {
            let reason = format!("has costs of {} columns, must have at most {MAX_COSTS}", per_unit.len());
            return self.refuse(cost, reason, "leave some out");
        }
        let costs = per_unit.iter().map(|(name, cost)| (name.clone(), cost.value.0 as f64 / 1e3));
        let format = RequestFormat {
            time: file.time.clone(),
            flow: file.flow.clone(),
            time_unit: unit.value,
            header: file.header,
            separator: file.separator,
            base,
            costs: costs.collect(),
            class: self.class_by(file, names)?,
            thinning: Thinning::checked(self, file.thin.as_ref())?,
        };
        let bounds =
            RequestBounds { requests: MAX_REQUESTS, service: LONGEST_SERVICE, flows: MAX_FLOWS as usize };
        let (opened, name) = self.data_file(&file.file)?;
        read_requests(opened, &name, &format, bounds)
    }

    /// What tells the classes apart.
    fn class_by(&self, file: &RequestFile, names: &[String]) -> Checked<ClassBy> {
        match (&file.class, &file.split) {
            (Some(class), Some(_)) => {
                self.refuse(class, "cannot be combined with workload.trace.split", "keep one of the two")
            }
            (Some(class), None) => Ok(ClassBy::Name(class.value.clone(), names.to_vec())),
            (None, Some(split)) => self.split(split, names.len()),
            (None, None) if names.len() == 1 => Ok(ClassBy::One),
            (None, None) => {
                let reason = format!("must say which of the {} classes a request is of", names.len());
                let remedy =
                    "name the column as workload.trace.class, or give bounds as workload.trace.split";
                self.refuse(&file.file, reason, remedy)
            }
        }
    }

    fn split(&self, written: &Located<Split>, classes: usize) -> Checked<ClassBy> {
        let Split { service, column, at } = &written.value;
        match (service, column, at) {
            (Some(bounds), None, None) => self.service_bounds(bounds, classes).map(ClassBy::Service),
            (None, Some(column), Some(at)) => {
                self.one_less(at, at.value.len(), classes)?;
                for (place, bound) in at.value.iter().enumerate() {
                    let is_higher = place == 0 || bound.value > at.value[place - 1].value;
                    if !(bound.value.is_finite() && is_higher) {
                        let reason = "must be a number above the previous bound";
                        return self.refuse(bound, reason, "sort the bounds");
                    }
                }
                let bounds = at.value.iter().map(|bound| bound.value).collect();
                Ok(ClassBy::Number(column.value.clone(), bounds))
            }
            _ => {
                let reason = "must have either `service`, or `column` and `at`";
                self.refuse(written, reason, "write, for example, `split = { service = [\"10ms\"] }`")
            }
        }
    }

    fn service_bounds(&self, written: &Located<Vec<Located<Time>>>, classes: usize) -> Checked<Vec<Nanos>> {
        self.one_less(written, written.value.len(), classes)?;
        let mut bounds: Vec<Nanos> = Vec::with_capacity(written.value.len());
        for bound in &written.value {
            let span = self.some_span(bound, LONGEST_SERVICE)?;
            if bounds.last().is_some_and(|last| *last >= span) {
                return self.refuse(bound, "must be above the previous bound", "sort the bounds");
            }
            bounds.push(span);
        }
        Ok(bounds)
    }

    fn one_less<T>(&self, written: &Located<T>, bounds: usize, classes: usize) -> Checked<()> {
        if bounds + 1 == classes {
            return Ok(());
        }
        let reason = format!("has {bounds} bounds for {classes} classes, must have one less than classes");
        self.refuse(written, reason, "add or remove bounds or tables `[[class]]`")
    }

    /// The classes, with the shares and the mean service times of the trace.
    fn traced_classes(
        &self,
        document: &ServerDocument,
        names: &[String],
        requests: &Requests,
    ) -> Checked<Vec<Class>> {
        let mut sums = vec![(0_u64, 0.0_f64); names.len()];
        for (class, service) in requests.class.iter().zip(&requests.service) {
            let (count, sum) = &mut sums[usize::from(*class)];
            (*count, *sum) = (*count + 1, *sum + *service as f64);
        }
        let mut classes = Vec::with_capacity(names.len());
        for ((table, name), (count, sum)) in document.class.value.iter().zip(names).zip(sums) {
            self.unused(table.value.share.as_ref(), "workload.trace, which has its own shares")?;
            self.unused(table.value.service.as_ref(), "workload.trace, whose columns make the service")?;
            if count == 0 {
                let reason = "is a class without a request in the trace";
                return self.refuse(
                    &table.value.name,
                    reason,
                    "remove the class, or correct what selects it",
                );
            }
            let mean = Nanos::new(((sum / count as f64).round() as u64).max(1));
            classes.push(Class {
                name: name.clone(),
                share: count as f64 / requests.at.len() as f64,
                service: Service::Law(Law::Constant(mean)),
                slo: self.slo(table.value.slo.as_ref())?,
                patience: self.patience(&table.value)?,
                timeout: self.timeout(&table.value)?,
                deadline: None,
                balk: None,
            });
        }
        Ok(classes)
    }

    /// Stretches time to the load that is asked for; returns the load, where there is one. `work` is what one core of all
    /// has to do.
    fn scaled(&self, document: &ServerDocument, requests: &mut Requests, work: f64) -> Checked<Option<f64>> {
        // As many gaps as requests, the last as long as the mean.
        let count = requests.at.len() as f64;
        let span = requests.at.last().map_or(0.0, |last| *last as f64) * count / (count - 1.0).max(1.0);
        let Some(written) = &document.workload.value.load else {
            return Ok((span > 0.0).then(|| work / span));
        };
        let load = self.load(written)?;
        if span == 0.0 {
            let reason = "cannot be reached by a trace whose requests all arrive at one instant";
            return self.refuse(written, reason, "remove it");
        }
        let scale = work / load / span;
        if span * scale > LONGEST_RUN.get() as f64 {
            return self.refuse(written, format!("stretches the trace beyond {LONGEST_RUN}"), "raise it");
        }
        requests.at.iter_mut().for_each(|at| *at = (*at as f64 * scale) as u64);
        Ok(Some(load))
    }

    fn end_within(&self, written: &Located<RequestFile>, requests: &Requests) -> Checked<()> {
        match requests.at.last() {
            Some(last) if *last >= LONGEST_RUN.get() => {
                let reason = format!("takes longer than {LONGEST_RUN}");
                self.refuse(&written.value.file, reason, "check workload.trace.time_unit, or cut the file")
            }
            _ => Ok(()),
        }
    }
}
