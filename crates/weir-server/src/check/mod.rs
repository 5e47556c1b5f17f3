//! Scenarios of the server: from the document to what its engines run.
//!
//! | part | file |
//! |---|---|
//! | the document as it is written | `document`, `span` |
//! | cores, queues, costs, what is known | here |
//! | classes and their service | `classes` |
//! | arrivals from outside, clients | `workload` |
//! | requests of a file | `requests` |
//! | clients that try again, and their circuit breaker | `retry` |
//! | deadlines, and where requests do not join | `leaving` |
//! | requests that go to several cores | `fan_out` |
//! | speeds of cores, and faults | `speeds` |
//! | when a run ends, what is measured | `measure` |
//! | disciplines, built for the site | `disciplines` |
//!
//! A load of 1 or more is no error of form: bounded queues drop. Only what would fill the memory is refused.

mod classes;
mod disciplines;
mod fan_out;
mod leaving;
mod measure;
mod requests;
mod retry;
mod speeds;
mod workload;

use crate::document::span::Bound;
use crate::document::{KnownService, ServerDocument, ServerTable};
use crate::figures;
use crate::floor;
use crate::model::{Costs, Fault, Known, Open, ServerScenario, Workload};
use weir_core::pool::{MAX_SERVERS, Site};
use weir_core::units::{Nanos, Speed};
use weir_document::quantity::{Clock, Time};
use weir_document::{Checked, Checker, Located, Wording};
use weir_lab::scenario::need::{Measured, Need, NeedTable};
use weir_lab::scenario::settle::{Longer, Settle};
use weir_lab::scenario::{Compared, IN_SERVICES, Read, Written};
use weir_workload::curve::MEASURED_IN_PART;

use classes::profiles;

/// The longest run: some three years.
const LONGEST_RUN: Nanos = Nanos::new(100_000_000_000_000_000);
/// The longest service and the longest thinking.
const LONGEST_SERVICE: Nanos = Nanos::new(60_000_000_000_000);
/// The longest cost of a request besides its service.
const LONGEST_COST: Nanos = Nanos::new(1_000_000_000);
/// How many requests may wait in one queue: by default, and at most.
const QUEUE: u64 = 4096;
const LONGEST_QUEUE: u64 = 1_000_000;
/// By how much an estimate may be wrong.
const WRONGEST: f64 = 1000.0;

/// What the table `[server]` comes to.
struct Cores {
    cores: u32,
    receivers: u32,
    queue: Option<u32>,
    costs: Costs,
    ring: Option<u32>,
    known: Known,
    speeds: Vec<Speed>,
    faults: Vec<Fault>,
    /// How many sub-requests a request has.
    parts: u32,
}

weir_document::checks!(Check);

impl Read for ServerScenario {
    type Document = ServerDocument;

    const WORDING: Wording = IN_SERVICES;

    fn check(document: &mut ServerDocument, checker: &mut Checker<'_>) -> Checked<Self> {
        Check(checker).server_scenario(document)
    }

    fn needs(document: &ServerDocument) -> &[Located<NeedTable>] {
        &document.need
    }

    fn measured(&self) -> Measured {
        figures::measured_of(self)
    }

    fn floor(&self, need: &Need) -> Option<f64> {
        floor::floor(self, need)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn replication_count(&self) -> u32 {
        self.stop.replications
    }

    fn set_seed(document: &mut ServerDocument, model: &mut Self, seed: u64) {
        (document.seed, model.seed) = (seed, seed);
    }

    fn set_replications(document: &mut ServerDocument, model: &mut Self, replications: u32) {
        if !model.is_random() {
            return;
        }
        let stop = &mut document.stop;
        if matches!(model.workload, Workload::Open(_)) {
            // A number of requests would be shared out anew.
            let lasting = Time { span: model.stop.duration, clock: Clock::Seconds };
            (stop.requests, stop.duration) = (None, Some(Located::nowhere(lasting)));
        }
        model.stop.replications = replications;
        stop.replications = Some(Located::nowhere(u64::from(replications)));
    }

    fn written(document: &mut ServerDocument) -> Written<'_> {
        Written { disciplines: &mut document.disciplines.value, reference: document.reference.as_mut() }
    }

    fn compared(&self) -> Compared<'_> {
        Compared {
            disciplines: self.disciplines.iter().map(String::as_str).collect(),
            reference: self.reference,
        }
    }
    fn settle(document: &ServerDocument) -> Settle {
        Settle::new(document.stop.settle, document.stop.settle_limit.as_ref())
    }

    fn longer(&self, document: &ServerDocument, times: u64) -> Result<Longer, &'static str> {
        match &self.workload {
            Workload::Trace(_) => return Err("has no effect with workload.trace, which ends by itself"),
            Workload::Open(Open { levels: Some(_), .. }) => {
                return Err("cannot be combined with levels of the load, which end by themselves");
            }
            Workload::Open(Open { curve: Some(_), .. }) if !self.measures_whole_periods() => {
                return Err(MEASURED_IN_PART);
            }
            Workload::Open(_) | Workload::Closed(_) => {}
        }
        let is_curve_once = document.stop.requests.is_none() && document.workload.value.curve.is_some();
        if document.stop.duration.is_none() && !is_curve_once {
            let requests =
                document.stop.requests.as_ref().map_or(measure::REQUESTS, |requests| requests.value);
            return Ok(Longer::counted("requests", requests.saturating_mul(times)));
        }
        let duration =
            self.stop.duration.get().checked_mul(times).ok_or("is more than the clock can hold")?;
        Ok(Longer::lasting(Nanos::new(duration)))
    }
}

impl Check<'_, '_> {
    /// Checks the whole document of the server.
    fn server_scenario(&mut self, document: &ServerDocument) -> Checked<ServerScenario> {
        self.version(&document.weir)?;
        let mut cores = self.cores(&document.server.value)?;
        let fan_out = self.fan_out(document, cores.cores)?;
        cores.parts = fan_out.map_or(1, |fan_out| fan_out.to);
        let names = self.class_names(&document.class)?;
        let (mut classes, arrives) = match &document.workload.value.trace {
            Some(trace) => self.traced(trace, document, &names, &cores)?,
            None => {
                let classes = self.request_classes(&document.class, names)?;
                let arrives = self.arrives(document, &classes, &cores)?;
                (classes, arrives)
            }
        };
        self.leaving(document, cores.known, &cores, &mut classes)?;
        let stop = self.server_stop(document, &arrives)?;
        self.all_parts(document, &arrives, &stop)?;
        self.memory(document, &cores, &arrives, &stop)?;
        let is_bounded = cores.queue.is_some() || cores.ring.is_some();
        let retry = self.retry(document, is_bounded)?;
        let breaker = self.breaker(document, is_bounded)?;
        let measure =
            self.server_measure(&document.measure, &stop, classes.len(), document.disciplines.value.len())?;
        let site = Site {
            servers: cores.cores,
            receivers: cores.receivers,
            classes: profiles(&classes),
            queue: cores.queue,
            speeds: cores.speeds,
        };
        let disciplines = self.pool_disciplines(&document.disciplines, &site)?;
        let reference = self.pool_reference(document.reference.as_ref(), &disciplines)?;
        let (names, specs): (_, Vec<_>) =
            disciplines.into_iter().map(|discipline| (discipline.name, discipline.spec)).unzip();
        self.sends_apart(document, &specs)?;
        let mut server = ServerScenario {
            title: document.title.clone(),
            seed: document.seed,
            disciplines: names,
            specs,
            reference,
            site,
            classes,
            workload: arrives.workload,
            retry,
            breaker,
            fan_out,
            known: cores.known,
            costs: cores.costs,
            ring: cores.ring,
            faults: cores.faults,
            load: arrives.load,
            stop,
            measure,
        };
        self.thinks(document, &server)?;
        // All others would be the same.
        if !server.is_random() {
            server.stop.replications = 1;
        }
        Ok(server)
    }

    fn cores(&self, table: &ServerTable) -> Checked<Cores> {
        let most = u64::from(MAX_SERVERS);
        let cores = self.whole(&table.cores, 1, most)? as u32;
        let receivers = table.receivers.as_ref().map_or(Ok(1), |count| self.whole(count, 1, most))? as u32;
        let cost = |time: Option<&Located<Time>>| {
            time.map_or(Ok(Nanos::new(0)), |time| self.span(time, LONGEST_COST))
        };
        Ok(Cores {
            cores,
            receivers,
            queue: self.bound(table.queue.as_ref(), "queue")?.unwrap_or(Some(QUEUE as u32)),
            ring: self.ring(table)?,
            costs: Costs {
                dispatch: cost(table.dispatch.as_ref())?,
                hand_over: cost(table.hand_over.as_ref())?,
                cold: cost(table.cold.as_ref())?,
            },
            known: self.known(table.known.as_ref())?,
            speeds: self.speeds(table.speeds.as_ref(), cores)?,
            faults: self.faults(&table.fault, cores)?,
            parts: 1,
        })
    }

    /// A bound that is written, or `None`.
    fn bound(&self, written: Option<&Located<Bound>>, what: &str) -> Checked<Option<Option<u32>>> {
        match written.map(|written| (written, written.value)) {
            None => Ok(None),
            Some((_, Bound::Unbounded)) => Ok(Some(None)),
            Some((_, Bound::Requests(count @ 1..=LONGEST_QUEUE))) => Ok(Some(Some(count as u32))),
            Some((written, Bound::Requests(count))) => {
                let reason = format!("must be from 1 to {LONGEST_QUEUE}");
                let change = if count == 0 { "raise it" } else { "lower it" };
                let remedy = format!("{change}, or write \"unbounded\" for a {what} without bound");
                self.refuse(written, reason, remedy)
            }
        }
    }

    /// The bound of what waits for a receiver, which must take time for anybody to wait.
    fn ring(&self, table: &ServerTable) -> Checked<Option<u32>> {
        let ring = self.bound(table.ring.as_ref(), "ring")?.flatten();
        let takes_time = table.dispatch.as_ref().is_some_and(|time| time.value.span.get() > 0);
        match table.ring.as_ref().filter(|_| ring.is_some() && !takes_time) {
            Some(written) => {
                let reason = "has no effect, since receivers take no time and nobody waits for them";
                self.refuse(written, reason, "give server.dispatch, or remove it")
            }
            None => Ok(ring),
        }
    }

    fn known(&self, written: Option<&Located<KnownService>>) -> Checked<Known> {
        match written.map(|written| &written.value) {
            None | Some(KnownService::Exact) => Ok(Known::Exact),
            Some(KnownService::Class) => Ok(Known::ClassMean),
            Some(KnownService::Within(factor)) => {
                self.within(factor, 1.0, WRONGEST, "write a factor such as 2.0").map(Known::Within)
            }
        }
    }
}

#[cfg(test)]
mod tests;
