//! From the document to a checked scenario: service, stop and measure.
//!
//! What can be refused is refused at its own line and column. The disciplines are checked in `disciplines`,
//! who arrives in `input`, what a rate that follows the time needs in `curves`.

use crate::document::{self, PortDocument};
use crate::figures;
use crate::model::{
    Input, Limit, Measure, OverTime, PacketTime, PortScenario, Service, Stop, WarmUp, WholeTime,
};
use crate::over_time;
use crate::run::ticks_per_replication;
use crate::ticks::{LONGEST, Ticks};
use weir_core::units::{Bytes, Nanos};
use weir_document::quantity::{self, Clock, LengthUnit, Time};
use weir_document::{Checked, Checker, Located, MAX_REPLICATIONS, MAX_WORK, Wording};
use weir_lab::scenario::need::{Measured, NeedTable};
use weir_lab::scenario::over_time::{self as scenario, Course};
use weir_lab::scenario::settle::{Longer, Settle};
use weir_lab::scenario::{Compared, IN_SERVICES, Read, Written};
use weir_lab::stream::LONGEST_MEAN;
use weir_workload::MessageClasses;
use weir_workload::arrivals::LATEST;
use weir_workload::curve::MEASURED_IN_PART;
use weir_workload::document::WorkloadChecks;

use self::disciplines::carry_alphas;

mod closed;
mod curves;
mod disciplines;
mod input;
mod lengths;

/// What is run where the scenario does not say, in packets.
const DEFAULT_PACKETS: u64 = 10_000_000;
/// The sampling period of the queue length, in mean services, where the scenario does not say.
const DEFAULT_QUEUE_PERIOD: f64 = 200.0;

/// The service, with the units that it imposes on the rest of the scenario.
#[derive(Clone, Copy)]
pub(super) struct Serving {
    pub(super) service: Service,
    pub(super) clock: Clock,
    pub(super) unit: LengthUnit,
}

weir_document::checks!(Check);

impl Read for PortScenario {
    type Document = PortDocument;

    const WORDING: Wording = IN_SERVICES;

    fn check(document: &mut PortDocument, checker: &mut Checker<'_>) -> Checked<Self> {
        Check(checker).port(document)
    }

    fn needs(document: &PortDocument) -> &[Located<NeedTable>] {
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

    fn set_seed(document: &mut PortDocument, model: &mut Self, seed: u64) {
        (document.seed, model.seed) = (seed, seed);
    }

    fn set_replications(document: &mut PortDocument, model: &mut Self, replications: u32) {
        if matches!(model.input, Input::Trace(_)) {
            return;
        }
        let stop = &mut document.stop;
        let count = ticks_per_replication(model).saturating_mul(u64::from(replications));
        (model.stop.limit, stop.packets, stop.messages) = match model.service {
            Service::Packets(_) => (Limit::Packets(count), Some(Located::nowhere(count)), None),
            Service::Whole(_) => (Limit::Messages(count), None, Some(Located::nowhere(count))),
        };
        model.stop.replications = replications;
        stop.replications = Some(Located::nowhere(u64::from(replications)));
    }

    fn set_whole(document: &mut PortDocument, model: &mut Self) {
        (document.stop.precision, model.stop.precision) = (None, None);
    }

    fn written(document: &mut PortDocument) -> Written<'_> {
        Written { disciplines: &mut document.disciplines.value, reference: document.reference.as_mut() }
    }

    fn compared(&self) -> Compared<'_> {
        Compared {
            disciplines: self.disciplines.iter().map(|discipline| discipline.name.as_str()).collect(),
            reference: self.reference,
        }
    }
    fn settle(document: &PortDocument) -> Settle {
        Settle::new(document.stop.settle, document.stop.settle_limit.as_ref())
    }

    fn longer(&self, _document: &PortDocument, times: u64) -> Result<Longer, &'static str> {
        if matches!(self.input, Input::Trace(_)) {
            return Err("has no effect with workload.trace, which ends by itself");
        }
        if self.stop.precision.is_some() {
            return Err("cannot be combined with stop.precision, which ends a run earlier");
        }
        if self.measure.over_time.is_some() {
            return Err(scenario::NOT_LONGER);
        }
        if self.curve().is_some() && !self.measures_whole_periods() {
            return Err(MEASURED_IN_PART);
        }
        let (key, count) = match self.stop.limit {
            Limit::Packets(count) => ("packets", count),
            Limit::Messages(count) => ("messages", count),
        };
        Ok(Longer::counted(key, count.saturating_mul(times)))
    }
}

impl Check<'_, '_> {
    /// Checks the whole document of a port.
    fn port(&mut self, document: &PortDocument) -> Checked<PortScenario> {
        self.version(&document.weir)?;
        let serving = self.serving(document)?;
        let mut disciplines = self.disciplines(&document.disciplines, serving)?;
        let reference = self.reference(document.reference.as_ref(), &disciplines, serving)?;
        let preemption = self.preemption(document, serving)?;
        let checked = self.input(document, serving)?;
        self.turns(&document.disciplines, serving, checked.mean_length)?;
        if let MessageClasses::Named { alphas: Some(alphas), .. } = &checked.classes {
            disciplines.iter_mut().for_each(|discipline| carry_alphas(&mut discipline.spec, alphas));
        }
        let measure = self.measure(&document.measure, serving, &checked.input)?;
        let stop = self.stop(document, serving, &checked.input)?;
        let (end, reach) = self.horizon(document, &stop, &checked, serving)?;
        let ticks = Ticks::of(serving.service, reach, checked.input.longest_mean());
        let measure =
            Measure { over_time: self.over_time(document, serving, &checked, &stop, end)?, ..measure };
        let statement = checked.load.and_then(|load| statement(load, &checked.input));
        Ok(PortScenario {
            title: document.title.clone(),
            seed: document.seed,
            disciplines,
            reference,
            clock: serving.clock,
            unit: serving.unit,
            input: checked.input,
            classes: checked.classes,
            service: serving.service,
            ticks,
            preemption,
            load: checked.load,
            statement,
            stop,
            measure,
        })
    }

    fn serving(&self, document: &PortDocument) -> Checked<Serving> {
        let packet = document.workload.value.packet.as_ref().map(|packet| self.packet(packet)).transpose()?;
        let report = Serving {
            service: Service::Packets(PacketTime::REPORT),
            clock: Clock::PacketServices,
            unit: LengthUnit::Packets,
        };
        let Some(written) = &document.service else { return Ok(report) };
        match &written.value {
            document::Service { packet: Some(time), rate: None, per_token: None, .. } => {
                self.by_packet(&time.value)
            }
            document::Service { packet: None, rate: Some(rate), per_token: None, .. } => {
                self.by_rate(rate, packet)
            }
            document::Service { packet: None, rate: None, per_token: Some(time), .. } => {
                let service = Service::Whole(WholeTime::PerToken(self.positive(time)?));
                Ok(Serving { service, clock: time.value.clock, unit: LengthUnit::Tokens })
            }
            _ => {
                let reason = "must have exactly one of `packet`, `rate`, `per_token`";
                self.refuse(written, reason, "keep the one that is meant, such as rate = \"10Gbit\"")
            }
        }
    }

    /// Whether service can be interrupted; between packets it always can, within one never.
    fn preemption(&self, document: &PortDocument, serving: Serving) -> Checked<bool> {
        let written = document.service.as_ref().and_then(|service| service.value.preemption.as_ref());
        match (written, serving.service) {
            (Some(written), Service::Packets(_)) => {
                let reason = "has no effect where messages are served by packets";
                self.refuse(written, reason, "remove it, or serve messages whole")
            }
            (written, _) => Ok(written.is_none_or(|written| written.value)),
        }
    }

    fn by_packet(&self, time: &document::PacketTime) -> Checked<Serving> {
        let (time, clock) = match time {
            document::PacketTime::Constant(time) => {
                (PacketTime::Constant(self.positive(time)?), time.value.clock)
            }
            document::PacketTime::Exponential(mean) => {
                (PacketTime::Exponential(self.exponential(mean)?), mean.value.clock)
            }
            document::PacketTime::ShiftedExponential(shift, mean) => {
                let clock = mean.value.clock;
                let shift = self.on_clock(shift, clock)?;
                (PacketTime::ShiftedExponential { shift, mean: self.exponential(mean)? }, clock)
            }
        };
        Ok(Serving { service: Service::Packets(time), clock, unit: LengthUnit::Packets })
    }

    fn by_rate(&self, rate: &Located<quantity::Speed>, packet: Option<Bytes>) -> Checked<Serving> {
        if rate.value.0.get() == 0 {
            return self.refuse(rate, "must be above 0", "write a rate such as \"10Gbit\"");
        }
        let (service, unit) = match packet.map(|packet| rate.value.0.time_of(packet)) {
            None => (Service::Whole(WholeTime::Rate(rate.value.0)), LengthUnit::Bytes),
            Some(Some(time)) => (Service::Packets(PacketTime::Constant(time)), LengthUnit::Packets),
            Some(None) => {
                let reason = "takes longer for a packet than the clock can hold";
                return self.refuse(rate, reason, "raise the rate, or lower workload.packet");
            }
        };
        Ok(Serving { service, clock: Clock::Seconds, unit })
    }

    /// A span of time above zero.
    fn positive(&self, time: &Located<Time>) -> Checked<Nanos> {
        if time.value.span.get() == 0 {
            return self.refuse(time, "must be above 0", "write a time such as \"1u\" or \"5ms\"");
        }
        Ok(time.value.span)
    }

    /// The mean of an exponential time.
    pub(super) fn exponential(&self, mean: &Located<Time>) -> Checked<Nanos> {
        let span = self.positive(mean)?;
        if span.get() as f64 > LONGEST_MEAN {
            let longest = Time { span: Nanos::new(LONGEST_MEAN as u64), clock: mean.value.clock };
            return self.refuse(mean, format!("must be at most {longest}"), "lower the mean");
        }
        Ok(span)
    }

    fn stop(&self, document: &PortDocument, serving: Serving, input: &Input) -> Checked<Stop> {
        let (stop, curved) = (&document.stop, input.curved());
        let default = if curved.is_some() { curves::REPLICATIONS } else { 1 };
        let replications = stop.replications.as_ref();
        let replications = replications.map_or(Ok(default), |n| self.whole(n, 1, MAX_REPLICATIONS))?;
        let is_trace = matches!(input, Input::Trace(_));
        if let (true, Some(written)) = (is_trace && replications > 1, &stop.replications) {
            let reason = "must be 1 with a trace, whose replications would all see the same messages";
            return self.refuse(written, reason, "remove it");
        }
        if curved.is_some() {
            self.without_steady_state(stop)?;
        }
        let limit = self.limit(document, serving, input, replications)?;
        let warm_up = match &stop.warm_up {
            None if is_trace || curved.is_some() => WarmUp::None,
            None => WarmUp::Detected,
            Some(written) => self.warm_up(written, serving.clock)?,
        };
        let precision = stop.precision.as_ref().map(|share| self.share(share)).transpose()?;
        Ok(Stop { limit, precision, replications: replications as u32, warm_up })
    }

    fn limit(
        &self,
        document: &PortDocument,
        serving: Serving,
        input: &Input,
        replications: u64,
    ) -> Checked<Limit> {
        let stop = &document.stop;
        let written = stop.packets.as_ref().or(stop.messages.as_ref());
        if let (Input::Trace(_), Some(written)) = (input, written) {
            let reason = "has no effect with workload.trace, which ends by itself";
            return self.refuse(written, reason, "remove it");
        }
        match (&stop.packets, &stop.messages) {
            (Some(packets), Some(_)) => {
                self.refuse(packets, "cannot be combined with stop.messages", "keep one of the two")
            }
            (Some(packets), None) if serving.unit != LengthUnit::Packets => self.refuse(
                packets,
                "has no meaning where messages are served whole",
                "write `messages = ...`",
            ),
            (Some(packets), None) => Ok(Limit::Packets(self.whole(packets, 1, MAX_WORK)?)),
            (None, Some(messages)) => Ok(Limit::Messages(self.whole(messages, 1, MAX_WORK)?)),
            (None, None) => Ok(match input {
                Input::Trace(replay) => Limit::Messages(replay.trace.len() as u64),
                Input::Open(open) if open.curve.is_some() => {
                    Limit::Messages(self.once(document, open, replications)?)
                }
                _ if serving.unit == LengthUnit::Packets => Limit::Packets(DEFAULT_PACKETS),
                _ => Limit::Messages(DEFAULT_PACKETS / 10),
            }),
        }
    }

    fn warm_up(&self, written: &Located<quantity::WarmUp>, clock: Clock) -> Checked<WarmUp> {
        match written.value {
            quantity::WarmUp::Detected => Ok(WarmUp::Detected),
            quantity::WarmUp::Given(None) => Ok(WarmUp::None),
            quantity::WarmUp::Given(Some(time)) => {
                let located = Located { value: time, span: written.span.clone() };
                self.on_clock(&located, clock).map(WarmUp::Until)
            }
        }
    }

    /// A share above 0 and up to a half.
    fn share(&self, written: &Located<quantity::Share>) -> Checked<f64> {
        if written.value.0 > 0.0 && written.value.0 <= 0.5 {
            return Ok(written.value.0);
        }
        self.refuse(written, "must be above 0% and at most 50%", "write a share such as \"1%\"")
    }

    fn measure(&self, measure: &document::Measure, serving: Serving, input: &Input) -> Checked<Measure> {
        let by_packet = serving.unit == LengthUnit::Packets;
        let latency = match &measure.latency {
            None if by_packet => document::LatencyEnd::Acceptance,
            None => document::LatencyEnd::Completion,
            Some(Located { value: document::LatencyEnd::Acceptance, .. }) if !by_packet => {
                let written = measure.latency.as_ref().expect("matched as present");
                return self.refuse(written, "needs packets to accept", "write `latency = \"completion\"`");
            }
            Some(written) => written.value,
        };
        let mean = serving.service.mean_per_unit();
        let queue_period = match &measure.queue_period {
            None => Nanos::new((mean * DEFAULT_QUEUE_PERIOD).max(1.0) as u64),
            Some(period) if !by_packet => {
                let reason =
                    "has no effect where messages are served whole, since the queue is counted in packets";
                return self.refuse(period, reason, "remove it, or serve messages by packets");
            }
            Some(period) => {
                self.positive(period)?;
                self.on_clock(period, serving.clock)?
            }
        };
        let queue_period = match input.curved() {
            Some(open) => self.queue_period(measure.queue_period.as_ref(), open, queue_period)?,
            None => queue_period,
        };
        let verify = match &measure.verify {
            Some(written) if written.value && !by_packet => {
                let reason = "has no effect where messages are served whole";
                return self.refuse(written, reason, "remove it");
            }
            written => written.as_ref().is_some_and(|written| written.value),
        };
        Ok(Measure { latency, queue_period, tails: measure.tails, verify, over_time: None })
    }

    /// The windows of which there are figures over time, in a run whose replications end about then.
    fn over_time(
        &self,
        document: &PortDocument,
        serving: Serving,
        checked: &input::Arrives,
        stop: &Stop,
        end: f64,
    ) -> Checked<Option<OverTime>> {
        let measure = &document.measure;
        // Windows are in the scenario's unit of time, and counted in nanoseconds.
        let in_nanoseconds = |written: &Located<Time>| {
            let span = self.on_clock(written, serving.clock)?;
            Ok(Located { value: Time { span, clock: Clock::Seconds }, span: written.span.clone() })
        };
        let window = measure.window.as_ref().map(in_nanoseconds).transpose()?;
        let expected = Nanos::new(end.ceil() as u64);
        let course = Course {
            duration: expected,
            lasts: "the expected length of a replication",
            clock: serving.clock,
            rows: over_time::rows(checked.classes.len()),
            runs: (document.disciplines.value.len() as u64).saturating_mul(u64::from(stop.replications)),
        };
        let window = scenario::over_time(self, window.as_ref(), measure.over_time.as_ref(), course)?;
        Ok(window.map(|window| OverTime { window, expected }))
    }

    /// Where a replication ends in nanoseconds, about, and how far its clock must go; a run that its clock cannot hold is refused.
    fn horizon(
        &self,
        document: &PortDocument,
        stop: &Stop,
        checked: &input::Arrives,
        serving: Serving,
    ) -> Checked<(f64, f64)> {
        let messages = match stop.limit {
            Limit::Packets(packets) => packets as f64 / checked.mean_length,
            Limit::Messages(messages) => messages as f64,
        };
        let messages = messages / f64::from(stop.replications);
        let came = match checked.input.curved() {
            Some(open) => self.all_came(document, open, messages)?,
            None => messages * checked.mean_gap.unwrap_or(0.0),
        };
        let end = came.max(messages * (checked.mean_length * serving.service.mean_per_unit()));
        let (longest, reach) = match checked.input.curved() {
            Some(open) => (LATEST as f64, open.reach(end, messages * open.mean_gap)),
            None => (LONGEST, end),
        };
        if end <= longest {
            return Ok((end, reach));
        }
        let reason =
            format!("takes a replication to {end:.1e} ns of its clock, which ends at {longest:.1e} ns");
        let remedy = "lower stop.packets or stop.messages, or raise stop.replications";
        match document.stop.packets.as_ref().or(document.stop.messages.as_ref()) {
            Some(written) => self.refuse(written, reason, remedy),
            None => self.refuse(&document.workload, reason, remedy),
        }
    }
}

/// Why there is no mean at this load. A trace ends, and so does a curve that is run once, so they have means at any load: those
/// of their burst.
fn statement(load: f64, input: &Input) -> Option<String> {
    let (over, or) = match (input, input.curved().and_then(|open| open.curve.as_ref())) {
        (Input::Trace(_), _) => return None,
        (_, Some(curve)) if curve.period().is_none() => return None,
        (_, Some(_)) => (", the mean over workload.curve,", ", or lower its rates"),
        (_, None) => ("", ""),
    };
    (load >= 1.0).then(|| {
        format!(
            "offered load {load}{over} is not below 1: more work arrives than can be served, the queue grows without \
             end and no mean exists; lower workload.load below 1, or raise workload.gap{or}"
        )
    })
}
