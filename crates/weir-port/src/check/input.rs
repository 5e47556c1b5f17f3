//! From the document to who arrives when: from outside, from a file, or in a closed loop.

use super::{Check, Serving};
use crate::document::{self, PortDocument, TraceFile};
use crate::model::{Input, Open, Replay};
use crate::ticks::Ticks;
use std::path::PathBuf;
use std::sync::Arc;
use weir_document::quantity::Clock;
use weir_document::{Checked, Located};
use weir_lab::stream::LONGEST_MEAN;
use weir_workload::document::WorkloadChecks;
use weir_workload::{Arrivals, MessageClasses, Thinning, TimeUnit, Trace, TraceFormat};

/// The most applications of a workload.
pub(super) const MAX_APPLICATIONS: u64 = 1_000_000;
/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// Who arrives, with what the checks of the rest need to know of it.
pub(super) struct Arrives {
    pub(super) input: Input,
    pub(super) classes: MessageClasses,
    pub(super) load: Option<f64>,
    /// In nanoseconds; `None` in a closed loop.
    pub(super) mean_gap: Option<f64>,
    /// In the unit of the scenario.
    pub(super) mean_length: f64,
}

impl Check<'_, '_> {
    pub(super) fn input(&mut self, document: &PortDocument, serving: Serving) -> Checked<Arrives> {
        let workload = &document.workload;
        match (&workload.value.trace, &workload.value.closed) {
            (Some(trace), Some(_)) => {
                self.refuse(trace, "cannot be combined with workload.closed", "keep one of the two")
            }
            (Some(trace), None) => self.trace(trace, document, serving),
            (None, Some(closed)) => self.closed(closed, document, serving),
            (None, None) => self.open(workload, document, serving),
        }
    }

    fn open(
        &mut self,
        workload: &Located<document::Workload>,
        document: &PortDocument,
        serving: Serving,
    ) -> Checked<Arrives> {
        let lengths = self.lengths(workload, serving)?;
        let work = lengths.mean() * serving.service.mean_per_unit();
        let curve = workload.value.curve.as_ref();
        let curve = curve.map(|curve| self.curve(curve, serving)).transpose()?;
        let (load, mean_gap) =
            self.offered(workload, curve.as_ref().and_then(|curve| curve.rate), work, serving)?;
        let arrivals = workload.value.arrivals.as_ref();
        let arrivals = arrivals.map_or(Ok(Arrivals::Poisson), |written| self.arrivals(&written.value))?;
        let finest = Ticks::finest(serving.service);
        self.gap(workload, arrivals.drawn_means(mean_gap), finest)?;
        let curve = curve.map(|curve| curve.curve);
        if let (Some(written), Some(curve)) = (&workload.value.curve, &curve) {
            self.highest(written, arrivals.drawn_means(mean_gap / curve.highest()).0, finest)?;
        }
        let flows = workload.value.flows.as_ref();
        let flows = flows.map_or(Ok(1), |flows| self.whole(flows, 1, MAX_APPLICATIONS))? as u32;
        let classes = self.classes_of_sizes(document, &lengths)?;
        let mean_length = lengths.mean();
        let input = Input::Open(Open { arrivals, mean_gap, curve, lengths, flows });
        Ok(Arrives { input, classes, load: Some(load), mean_gap: Some(mean_gap), mean_length })
    }

    /// The load and the mean gap; `own_rate` is that of a curve of rates, in a second, and `work` the mean service of a message.
    fn offered(
        &self,
        workload: &Located<document::Workload>,
        own_rate: Option<f64>,
        work: f64,
        serving: Serving,
    ) -> Checked<(f64, f64)> {
        match (&workload.value.load, &workload.value.gap) {
            (Some(load), None) => {
                let load = self.load(load)?;
                Ok((load, work / load))
            }
            (None, Some(gap)) => {
                let gap = self.on_clock(gap, serving.clock)?.get() as f64;
                Ok((work / gap, gap))
            }
            (Some(load), Some(_)) => {
                self.refuse(load, "cannot be combined with workload.gap", "keep one of the two")
            }
            (None, None) => {
                let gap = own_rate.map(|rate| SECOND / rate);
                let reason = "must have one of `load`, `gap`, `trace`, `closed`";
                gap.map_or_else(
                    || self.refuse(workload, reason, "add, for example, `load = 0.95`"),
                    |gap| Ok((work / gap, gap)),
                )
            }
        }
    }

    /// Refuses gaps that the random streams cannot draw, at the key that asked for them.
    fn gap(
        &self,
        workload: &Located<document::Workload>,
        (shortest, longest): (f64, f64),
        finest: Ticks,
    ) -> Checked<()> {
        if shortest >= finest.shortest_mean() && longest <= LONGEST_MEAN {
            return Ok(());
        }
        let (bound, change) = if longest > LONGEST_MEAN {
            (
                format!("must not ask for mean times above {LONGEST_MEAN:.0} ns of the clock"),
                ["raise", "lower"],
            )
        } else {
            (
                format!("must not ask for mean times below a {} of the clock", finest.name()),
                ["lower", "raise"],
            )
        };
        match (&workload.value.load, &workload.value.gap, &workload.value.curve) {
            (Some(load), _, _) => self.refuse(load, bound, format!("{} the load", change[0])),
            (None, Some(gap), _) => self.refuse(gap, bound, format!("{} the gap", change[1])),
            (None, None, Some(curve)) => self.refuse(curve, bound, format!("{} its rates", change[0])),
            (None, None, None) => Ok(()),
        }
    }

    fn trace(
        &mut self,
        written: &Located<TraceFile>,
        document: &PortDocument,
        serving: Serving,
    ) -> Checked<Arrives> {
        let workload = &document.workload.value;
        self.unused(workload.gap.as_ref(), "workload.trace")?;
        self.unused(workload.arrivals.as_ref(), "workload.trace")?;
        self.unused(workload.curve.as_ref(), "workload.trace, whose messages have times of their own")?;
        self.unused(workload.lengths.as_ref(), "workload.trace")?;
        self.unused(workload.flows.as_ref(), "workload.trace, whose column `flow` names the flow")?;
        let unit = &written.value.length_unit;
        let packet = self.packet_for(unit, unit.value, workload, serving)?;
        let format = self.format(&written.value, serving)?;
        let mut trace = self.trace_file(&written.value.file, &format)?;
        if let Some(packet) = packet {
            trace.divide_into_packets(packet.get());
        }
        let natural = trace.mean_gap().map(|gap| trace.mean_length() * serving.service.mean_per_unit() / gap);
        let (load, time_scale) = match (&workload.load, natural) {
            (Some(load), Some(natural)) => {
                let load = self.load(load)?;
                (Some(load), natural / load)
            }
            (Some(load), None) => {
                let reason = "cannot be reached by a trace whose messages all arrive at one instant";
                return self.refuse(load, reason, "remove it");
            }
            (None, natural) => (natural, 1.0),
        };
        self.scaled_span(document, &trace, time_scale)?;
        let classes = self.classes_of_trace(document, &trace)?;
        let (mean_gap, mean_length) = (trace.mean_gap().map(|gap| gap * time_scale), trace.mean_length());
        let input = Input::Trace(Replay { trace: Arc::new(trace), time_scale });
        Ok(Arrives { input, classes, load, mean_gap, mean_length })
    }

    fn scaled_span(&self, document: &PortDocument, trace: &Trace, scale: f64) -> Checked<()> {
        const LONGEST_SPAN: f64 = 9.2e18;
        match &document.workload.value.load {
            Some(load) if trace.span().get() as f64 * scale > LONGEST_SPAN => {
                self.refuse(load, "stretches the trace beyond the clock, which ends at 9.2e18 ns", "raise it")
            }
            _ => Ok(()),
        }
    }

    fn format(&self, file: &TraceFile, serving: Serving) -> Checked<TraceFormat> {
        let is_abstract = file.time_unit.value == TimeUnit::U;
        if is_abstract != (serving.clock == Clock::PacketServices) {
            let reason = "must be of the clock of the service";
            let remedy = "give the service and the trace either both in seconds or both in `u`";
            return self.refuse(&file.time_unit, reason, remedy);
        }
        Ok(TraceFormat {
            time: file.time.clone(),
            length: file.length.clone(),
            flow: file.flow.clone(),
            class: file.class.clone(),
            alpha: file.alpha.clone(),
            time_unit: file.time_unit.value,
            header: file.header,
            separator: file.separator,
            thinning: Thinning::checked(self, file.thin.as_ref())?,
        })
    }

    fn trace_file(&mut self, file: &Located<PathBuf>, format: &TraceFormat) -> Checked<Trace> {
        let (opened, name) = self.data_file(file)?;
        Trace::read(opened, &name, format)
    }
}
