//! Arrivals from outside, with their levels, bursts and curves, and clients.

use super::classes::mean_of_all;
use super::{Cores, LONGEST_RUN};
use crate::check::Check;
use crate::document::{
    BurstTable, Clients, LevelTable, ServerArrivals, ServerDocument, ServerWorkload, Trains,
};
use crate::model::{Burst, Class, Closed, Levels, Open, Process, Stop, Workload};
use weir_core::units::Nanos;
use weir_document::quantity::RequestRate;
use weir_document::{Checked, Located};
use weir_lab::stream::LONGEST_MEAN;
use weir_workload::curve::{self, CurveTable, WrittenCurve};
use weir_workload::document::WorkloadChecks;
use weir_workload::duration::Law;
use weir_workload::{Arrivals, Curve};

/// The most flows, and the most clients.
pub(super) const MAX_FLOWS: u64 = 1_000_000;
/// The most requests in a second.
pub(super) const HIGHEST_RATE: f64 = 1e9;
/// The most levels, and the most by which the rate is multiplied from one to the next.
pub(super) const MAX_LEVELS: u64 = 64;
pub(super) const MAX_FACTOR: f64 = 1000.0;
/// By what the rate of the last level may differ from that of the first.
pub(super) const MAX_GROWTH: f64 = 1e12;
/// The most requests of a train.
pub(super) const LONGEST_TRAIN: f64 = 1e6;
/// The most requests that a queue without bound may come to hold.
pub(super) const MOST_WAITING: f64 = 5e7;

/// Who arrives, with what the checks of the rest need to know of it.
pub(super) struct Arrives {
    pub(super) workload: Workload,
    pub(super) load: Option<f64>,
    /// The load of the highest level.
    pub(super) peak: Option<f64>,
}

impl Levels {
    /// The requests that arrive before `time`, in the mean, at a mean time between arrivals of `gap` in the first level.
    fn before(&self, time: f64, gap: f64) -> f64 {
        let every = self.every.get() as f64;
        let (mut sum, mut rate, mut left) = (0.0, 1.0 / gap, time);
        for _ in 1..self.count {
            let part = left.min(every);
            (sum, left) = (sum + part * rate, left - part);
            rate *= self.factor;
        }
        sum + left * rate
    }

    /// When `requests` requests have arrived, in the mean.
    fn time_of(&self, requests: f64, gap: f64) -> f64 {
        let every = self.every.get() as f64;
        let (mut at, mut rate, mut left) = (0.0, 1.0 / gap, requests);
        for _ in 1..self.count {
            if left <= every * rate {
                break;
            }
            (at, left) = (at + every, left - every * rate);
            rate *= self.factor;
        }
        at + left / rate
    }

    /// By what the rate is multiplied at most.
    fn highest(&self) -> f64 {
        self.factor.powi(self.count as i32 - 1).max(1.0)
    }
}

impl Burst {
    /// As [`Levels::before`].
    fn before(&self, time: f64, gap: f64) -> f64 {
        let (at, lasts) = (self.at.get() as f64, self.lasts.get() as f64);
        let within = (time - at).clamp(0.0, lasts);
        (time + within * (self.factor - 1.0)) / gap
    }

    /// As [`Levels::time_of`].
    fn time_of(&self, requests: f64, gap: f64) -> f64 {
        let (at, lasts) = (self.at.get() as f64, self.lasts.get() as f64);
        let (work, before, burst) = (requests * gap, at, lasts * self.factor);
        match work {
            _ if work <= before => work,
            _ if work <= before + burst => at + (work - before) / self.factor,
            _ => at + lasts + (work - before - burst),
        }
    }
}

impl Open {
    /// The requests that arrive before `time`, in the mean.
    pub(super) fn requests_before(&self, time: Nanos) -> f64 {
        let time = time.get() as f64;
        match (self.levels, self.burst, &self.curve) {
            (Some(levels), _, _) => levels.before(time, self.mean_gap),
            (None, Some(burst), _) => burst.before(time, self.mean_gap),
            (None, None, Some(curve)) => curve.before(time) / self.mean_gap,
            (None, None, None) => time / self.mean_gap,
        }
    }

    /// When `requests` requests have arrived, in the mean, in nanoseconds.
    pub(super) fn time_of(&self, requests: f64) -> f64 {
        match (self.levels, self.burst, &self.curve) {
            (Some(levels), _, _) => levels.time_of(requests, self.mean_gap),
            (None, Some(burst), _) => burst.time_of(requests, self.mean_gap),
            (None, None, Some(curve)) => curve.time_of(requests * self.mean_gap),
            (None, None, None) => requests * self.mean_gap,
        }
    }
}

impl Check<'_, '_> {
    /// Arrivals from outside or clients.
    pub(super) fn arrives(
        &mut self,
        document: &ServerDocument,
        classes: &[Class],
        cores: &Cores,
    ) -> Checked<Arrives> {
        let workload = &document.workload;
        match &workload.value.closed {
            Some(closed) => self.clients(closed, &workload.value, cores),
            None => self.open_arrivals(workload, classes, cores),
        }
    }

    fn open_arrivals(
        &mut self,
        workload: &Located<ServerWorkload>,
        classes: &[Class],
        cores: &Cores,
    ) -> Checked<Arrives> {
        let curve = workload.value.curve.as_ref();
        let curve = curve.map(|curve| self.curve(curve, &workload.value)).transpose()?;
        let (curve, own_rate) = curve.map_or((None, None), |curve| (Some(curve.curve), curve.rate));
        let work = mean_of_all(classes) * f64::from(cores.parts) / cores.capacity();
        let (load, mean_gap) = self.offered(workload, own_rate, work)?;
        let levels = workload.value.levels.as_ref().map(|levels| self.levels(&levels.value)).transpose()?;
        let burst = workload.value.burst.as_ref().map(|burst| self.burst(burst, levels)).transpose()?;
        let swells = burst.map_or(1.0, |burst| burst.factor);
        let peak = curve.as_ref().map_or(swells.max(1.0), Curve::highest);
        let highest = levels.map_or(peak, |levels| levels.highest());
        let last = levels.map_or(swells, |levels| levels.factor.powi(levels.count as i32 - 1));
        let lowest = last.min(1.0);
        let process = self.process(workload.value.arrivals.as_ref(), mean_gap / highest)?;
        self.drawn_gaps(workload, &process, (mean_gap / highest, mean_gap / lowest))?;
        let flows = self.request_flows(workload.value.flows.as_ref(), cores.receivers)?;
        let workload = Workload::Open(Open { process, mean_gap, levels, burst, curve, flows });
        Ok(Arrives { workload, load: Some(load), peak: Some(load * highest) })
    }

    /// The load, and the mean time between arrivals; `own_rate` is that of a curve of rates, and `work` the mean service of a
    /// request over all cores.
    fn offered(
        &self,
        workload: &Located<ServerWorkload>,
        own_rate: Option<f64>,
        work: f64,
    ) -> Checked<(f64, f64)> {
        let of_rate = |rate: f64| (work / (1e9 / rate), 1e9 / rate);
        match (&workload.value.load, &workload.value.rate, &workload.value.curve) {
            (Some(load), None, _) => {
                let load = self.load(load)?;
                Ok((load, work / load))
            }
            (None, Some(rate), _) => Ok(of_rate(self.request_rate(rate)?)),
            (Some(load), Some(_), _) => {
                self.refuse(load, "cannot be combined with workload.rate", "keep one of the two")
            }
            (None, None, Some(curve)) if own_rate.is_some_and(|rate| rate > HIGHEST_RATE) => {
                let reason = format!("must have a mean rate of at most {}", RequestRate(HIGHEST_RATE));
                self.refuse(curve, reason, "lower its rates, or add a `rate`")
            }
            (None, None, _) => {
                let reason = "must have one of `load`, `rate`, `trace`, `closed`";
                own_rate.map_or_else(
                    || self.refuse(workload, reason, "add, for example, `load = 0.8`"),
                    |rate| Ok(of_rate(rate)),
                )
            }
        }
    }

    fn curve(&mut self, written: &Located<CurveTable>, workload: &ServerWorkload) -> Checked<WrittenCurve> {
        for (key, is_there) in [("levels", workload.levels.is_some()), ("burst", workload.burst.is_some())] {
            if is_there {
                let reason = format!("cannot be combined with workload.{key}");
                return self.refuse(written, reason, "keep one of the two");
            }
        }
        curve::checked(self, written, LONGEST_RUN)
    }

    fn request_rate(&self, written: &Located<RequestRate>) -> Checked<f64> {
        let rate = written.value.0;
        if rate > 0.0 && rate <= HIGHEST_RATE {
            return Ok(rate);
        }
        let reason = format!("must be above 0/s and at most {}", RequestRate(HIGHEST_RATE));
        self.refuse(written, reason, "write a rate such as \"2M/s\"")
    }

    fn burst(&self, written: &Located<BurstTable>, levels: Option<Levels>) -> Checked<Burst> {
        if levels.is_some() {
            return self.refuse(written, "cannot be combined with workload.levels", "keep one of the two");
        }
        let BurstTable { at, lasts, factor } = &written.value;
        let factor = self.within(factor, 1.0 / MAX_FACTOR, MAX_FACTOR, "write a factor such as 3.0")?;
        let (at, lasts) = (self.span(at, LONGEST_RUN)?, self.some_span(lasts, LONGEST_RUN)?);
        Ok(Burst { at, lasts, factor })
    }

    fn levels(&self, written: &LevelTable) -> Checked<Levels> {
        let every = self.some_span(&written.every, LONGEST_RUN)?;
        let count = self.whole(&written.count, 1, MAX_LEVELS)? as u32;
        let factor = written.factor.as_ref().map_or(Ok(2.0), |factor| {
            self.within(factor, 1.0 / MAX_FACTOR, MAX_FACTOR, "write a factor such as 2.0")
        })?;
        if !(1.0 / MAX_GROWTH..=MAX_GROWTH).contains(&factor.powi(count as i32 - 1)) {
            let reason =
                format!("changes the rate more than {MAX_GROWTH}-fold from the first level to the last");
            return self.refuse(&written.count, reason, "lower it, or take a factor nearer to 1");
        }
        Ok(Levels { every, count, factor })
    }

    /// The process of arrivals; `gap` is the shortest mean time between two of them.
    fn process(&self, written: Option<&Located<ServerArrivals>>, gap: f64) -> Checked<Process> {
        let Some(written) = written else { return Ok(Process::Arrivals(Arrivals::Poisson)) };
        match (written.value.shared(), &written.value) {
            (Some(process), _) => self.arrivals(&process).map(Process::Arrivals),
            (None, ServerArrivals::Trains(trains)) => self.trains(trains, gap),
            (None, _) => unreachable!("all others are shared"),
        }
    }

    fn trains(&self, written: &Trains, gap: f64) -> Checked<Process> {
        let every = self.some_span(&written.every, LONGEST_RUN)?;
        let spacing = written.spacing.as_ref();
        let spacing = spacing.map_or(Ok(Nanos::new(0)), |time| self.span(time, LONGEST_RUN))?;
        let requests = (every.get() as f64 / gap).ceil();
        if requests > LONGEST_TRAIN {
            let reason =
                format!("makes trains of {requests:.0} requests, must make ones of at most {LONGEST_TRAIN}");
            return self.refuse(&written.every, reason, "shorten it, or lower the rate or its levels");
        }
        match &written.spacing {
            Some(time) if requests * spacing.get() as f64 > every.get() as f64 => {
                let reason =
                    format!("makes trains of {requests:.0} requests longer than their period, {every}");
                self.refuse(time, reason, "lower it, or lower the rate or its levels")
            }
            _ => Ok(Process::Trains { every, spacing }),
        }
    }

    /// Refuses gaps that the random streams cannot draw, at the key that asked for them.
    fn drawn_gaps(
        &self,
        workload: &Located<ServerWorkload>,
        process: &Process,
        (shortest, longest): (f64, f64),
    ) -> Checked<()> {
        let Process::Arrivals(arrivals) = process else { return Ok(()) };
        let reason = if arrivals.drawn_means(shortest).0 < 1.0 {
            "must not ask for mean times below a nanosecond between arrivals".to_owned()
        } else if arrivals.drawn_means(longest).1 > LONGEST_MEAN {
            format!("must not ask for mean times above {LONGEST_MEAN:.0} ns between arrivals")
        } else {
            return Ok(());
        };
        let remedy = "change it, or its levels or bursts";
        match (&workload.value.load, &workload.value.rate) {
            (Some(load), _) => self.refuse(load, reason, remedy),
            (None, Some(rate)) => self.refuse(rate, reason, remedy),
            (None, None) => Ok(()),
        }
    }

    fn request_flows(&self, written: Option<&Located<u64>>, receivers: u32) -> Checked<u32> {
        let Some(written) = written else { return Ok(receivers) };
        let flows = self.whole(written, 1, MAX_FLOWS)? as u32;
        if flows < receivers {
            let reason = format!("leaves some of the {receivers} of server.receivers without a flow");
            return self.refuse(written, reason, "raise it, or lower server.receivers");
        }
        Ok(flows)
    }

    fn clients(
        &self,
        closed: &Located<Clients>,
        workload: &ServerWorkload,
        cores: &Cores,
    ) -> Checked<Arrives> {
        self.unused(workload.load.as_ref(), "workload.closed, which offers what is served")?;
        self.unused(workload.rate.as_ref(), "workload.closed")?;
        self.unused(workload.arrivals.as_ref(), "workload.closed")?;
        self.unused(workload.levels.as_ref(), "workload.closed")?;
        self.unused(workload.burst.as_ref(), "workload.closed")?;
        self.unused(workload.curve.as_ref(), "workload.closed")?;
        self.unused(workload.flows.as_ref(), "workload.closed, where each client is a flow")?;
        let clients = self.request_flows(Some(&closed.value.clients), cores.receivers)?;
        let think = closed.value.think.as_ref();
        let think = think.map_or(Ok(Law::Constant(Nanos::new(0)).into()), |think| self.think(think))?;
        let workload = Workload::Closed(Closed { clients, think });
        Ok(Arrives { workload, load: None, peak: None })
    }

    /// Refuses a queue without bound that would come to hold more than the memory, as a rate grows. At one rate a load of
    /// 1 or more has no means, and is not run.
    pub(super) fn memory(
        &self,
        document: &ServerDocument,
        cores: &Cores,
        arrives: &Arrives,
        stop: &Stop,
    ) -> Checked<()> {
        let (Workload::Open(open), Some(peak), None) = (&arrives.workload, arrives.peak, cores.queue) else {
            return Ok(());
        };
        let waiting = match (open.levels, &open.curve) {
            (Some(_), _) => open.requests_before(stop.duration) * (1.0 - 1.0 / peak).max(0.0),
            (None, Some(curve)) => {
                curve.waiting(curve.highest() / peak, stop.duration.get() as f64) / open.mean_gap
            }
            (None, None) => return Ok(()),
        };
        let waiting = waiting * f64::from(cores.parts);
        match &document.server.value.queue {
            Some(written) if waiting > MOST_WAITING => {
                let reason = format!(
                    "lets some {waiting:.0} requests wait at a load of {peak}, must not be more than {MOST_WAITING:.0}"
                );
                self.refuse(written, reason, "write a bound such as 4096, or lower the load or the duration")
            }
            _ => Ok(()),
        }
    }
}
