//! Requests that go to several cores, at once or one after the other.

use super::workload::Arrives;
use crate::check::{Check, LONGEST_SERVICE};
use crate::document::fan_out::{FanOutTable, HedgeAfter, HedgeTable};
use crate::document::{ClassTable, ServerDocument, ServerWorkload};
use crate::model::{After, Cancel, Draws, FanOut, Hedge, Stop, Workload};
use weir_core::pool::MAX_SERVERS;
use weir_core::spec::Spec;
use weir_document::{Checked, Located, MAX_WORK};

/// Which quantiles of the responses a copy may wait for.
pub(super) const QUANTILES: (f64, f64) = (0.01, 0.9999);

/// Dispatchers that send requests which are whole alone: they keep books of what each server has or how soon it answers, which
/// a sub-request that is cancelled would falsify, or have servers that a request may not go beyond.
pub(super) const ALONE: [&str; 8] =
    ["bounded_hash", "health", "jiq", "least_requests", "local", "peak_ewma", "stale", "subset"];

/// Such a dispatcher, in a discipline or its arguments.
fn alone(spec: &Spec) -> Option<&'static str> {
    let own = ALONE.into_iter().find(|name| *name == spec.name);
    own.or_else(|| spec.arguments.iter().find_map(|argument| alone(&argument.value)))
}

impl Check<'_, '_> {
    /// To how many of the cores requests go.
    pub(super) fn fan_out(&self, document: &ServerDocument, cores: u32) -> Checked<Option<FanOut>> {
        let workload = &document.workload.value;
        let hedge = workload.hedge.as_ref().map(|hedge| self.hedge(hedge, document, cores)).transpose()?;
        let Some(written) = &workload.fan_out else {
            let alone = |hedge: Hedge| FanOut {
                to: 1,
                need: 1,
                cancel: hedge.cancel,
                service: Draws::Own,
                hedge: Some(hedge),
            };
            return Ok(hedge.map(alone));
        };
        self.goes_with(written, document)?;
        let FanOutTable { to, need, cancel, service } = &written.value;
        let wide = self.whole(to, 1, u64::from(MAX_SERVERS))? as u32;
        if wide > cores {
            let reason = format!("is wider than the {cores} of server.cores, must be at most as many");
            return self.refuse(to, reason, "lower it, or raise server.cores");
        }
        let needed = match need {
            None => wide,
            Some(need) if need.value == 0 || need.value > u64::from(wide) => {
                let reason = format!("must be from 1 to the {wide} of workload.fan_out.to");
                let change = if need.value == 0 { "raise it" } else { "lower it" };
                return self.refuse(need, reason, format!("{change}, or leave it out for all of them"));
            }
            Some(need) => need.value as u32,
        };
        let service = self.draws(service.as_ref(), written, document)?;
        Ok(Some(FanOut { to: wide, need: needed, cancel: cancel.unwrap_or_default(), service, hedge }))
    }

    fn hedge(&self, written: &Located<HedgeTable>, document: &ServerDocument, cores: u32) -> Checked<Hedge> {
        self.goes_with(written, document)?;
        if cores < 2 {
            let reason = "has no effect, since server.cores leaves no other core";
            return self.refuse(written, reason, "raise server.cores, or remove it");
        }
        let HedgeTable { after, cancel, service } = &written.value;
        let after = match &after.value {
            HedgeAfter::Span(time) => {
                let time = Located { value: *time, span: after.span.clone() };
                After::Span(self.some_span(&time, LONGEST_SERVICE)?)
            }
            HedgeAfter::Seen(seen) => {
                let (low, high) = QUANTILES;
                After::Quantile(self.within(&seen.quantile, low, high, "write one such as 0.95")?)
            }
        };
        let service = self.draws(service.as_ref(), written, document)?;
        Ok(Hedge { after, cancel: cancel.unwrap_or(Cancel::Waiting), service })
    }

    /// Refuses what has no meaning with requests that go to several cores.
    fn goes_with<T>(&self, written: &Located<T>, document: &ServerDocument) -> Checked<()> {
        let ServerWorkload { retry, breaker, closed, .. } = &document.workload.value;
        let has = |key: fn(&ClassTable) -> bool| document.class.value.iter().any(|class| key(&class.value));
        let is_closed = closed.is_some();
        let others = [
            ("workload.retry", retry.is_some()),
            ("workload.breaker", breaker.is_some()),
            ("class.deadline", has(|class| class.deadline.is_some())),
            ("class.balk", has(|class| class.balk.is_some())),
            (
                "class.patience of clients of a closed loop",
                is_closed && has(|class| class.patience.is_some()),
            ),
            ("class.timeout of clients of a closed loop", is_closed && has(|class| class.timeout.is_some())),
        ];
        if let Some((key, _)) = others.into_iter().find(|(_, is_there)| *is_there) {
            return self.refuse(written, format!("cannot be combined with {key}"), "keep one of the two");
        }
        match &document.server.value.cold {
            Some(cold) if cold.value.span.get() > 0 => {
                let reason = "has no meaning where requests of a flow go to several cores";
                self.refuse(cold, reason, "remove it, or remove workload.fan_out and workload.hedge")
            }
            _ => Ok(()),
        }
    }

    /// Refuses dispatchers that would send sub-requests by another rule than their own.
    pub(super) fn sends_apart(&self, document: &ServerDocument, specs: &[Spec]) -> Checked<()> {
        let workload = &document.workload.value;
        if workload.fan_out.is_none() && workload.hedge.is_none() {
            return Ok(());
        }
        let key = if workload.fan_out.is_some() { "fan_out" } else { "hedge" };
        for (written, spec) in document.disciplines.value.iter().zip(specs) {
            if let Some(name) = alone(spec) {
                let reason = format!("has `{name}`, which cannot be combined with workload.{key}");
                let remedy = "take another dispatcher, such as `jsq` or `power_of_two`";
                return self.refuse(written, reason, remedy);
            }
        }
        Ok(())
    }

    /// Whose service it is; a trace has one for each request.
    fn draws<T>(
        &self,
        service: Option<&Located<Draws>>,
        written: &Located<T>,
        document: &ServerDocument,
    ) -> Checked<Draws> {
        let draws = service.map_or(Draws::Own, |service| service.value);
        if draws == Draws::Shared || document.workload.value.trace.is_none() {
            return Ok(draws);
        }
        let (reason, remedy) = (
            "draws services, and workload.trace has one for each request",
            "write `service = \"shared\"` there",
        );
        match service {
            Some(service) => self.refuse(service, reason, remedy),
            None => self.refuse(written, reason, remedy),
        }
    }

    /// Refuses more sub-requests than a run may have.
    pub(super) fn all_parts(&self, document: &ServerDocument, arrives: &Arrives, stop: &Stop) -> Checked<()> {
        let (Some(written), Workload::Open(open)) = (&document.workload.value.fan_out, &arrives.workload)
        else {
            return Ok(());
        };
        let to = &written.value.to;
        let all = open.requests_before(stop.duration) * f64::from(stop.replications) * to.value as f64;
        if all <= MAX_WORK as f64 {
            return Ok(());
        }
        let reason = format!(
            "makes some {all:.1e} sub-requests in all replications together, must be at most {MAX_WORK}"
        );
        self.refuse(to, reason, "lower it, shorten the run, or run fewer replications")
    }
}
