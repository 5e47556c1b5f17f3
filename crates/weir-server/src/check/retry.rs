//! Clients that try again, or stop sending for a while.

use crate::check::{Check, LONGEST_SERVICE};
use crate::document::{BreakerTable, RetryTable, ServerDocument};
use crate::model::{Breaker, Retry, ServerScenario, Workload};
use weir_document::{Checked, Located};

/// The most attempts, and the default.
pub(super) const MOST_ATTEMPTS: u64 = 100;
const ATTEMPTS: u32 = 3;
/// The largest factor of the back-off, and the default.
pub(super) const LARGEST_FACTOR: f64 = 100.0;
const FACTOR: f64 = 2.0;
const JITTER: f64 = 0.5;
/// The largest budget.
pub(super) const LARGEST_BUDGET: f64 = 100.0;
/// Of a circuit breaker: the most attempts that are counted or sent as probes, and the defaults.
pub(super) const MOST_COUNTED: u64 = 1_000_000;
const FAILURES: f64 = 0.5;
const LEAST: u64 = 100;
const PROBES: u64 = 10;

impl Check<'_, '_> {
    /// How clients try again, where something can make them.
    pub(super) fn retry(&self, document: &ServerDocument, is_bounded: bool) -> Checked<Option<Retry>> {
        let Some(written) = &document.workload.value.retry else { return Ok(None) };
        self.may_fail(document, written, is_bounded)?;
        self.retry_table(&written.value).map(Some)
    }

    /// The circuit breaker of the clients, where something can open it.
    pub(super) fn breaker(&self, document: &ServerDocument, is_bounded: bool) -> Checked<Option<Breaker>> {
        let Some(written) = &document.workload.value.breaker else { return Ok(None) };
        self.may_fail(document, written, is_bounded)?;
        let BreakerTable { failures, window, least, open, probes } = &written.value;
        let failures = failures.as_ref().map_or(Ok(FAILURES), |part| match part.value {
            value if value > 0.0 && value <= 1.0 => Ok(value),
            _ => self.refuse(part, "must be a part above 0 and at most 1", "write one such as 0.5"),
        })?;
        let count = |written: Option<&Located<u64>>, default| {
            written.map_or(Ok(default), |count| self.whole(count, 1, MOST_COUNTED))
        };
        Ok(Some(Breaker {
            failures,
            window: self.some_span(window, LONGEST_SERVICE)?,
            least: count(least.as_ref(), LEAST)?,
            open: self.some_span(open, LONGEST_SERVICE)?,
            probes: count(probes.as_ref(), PROBES)?,
        }))
    }

    /// Clients of a closed loop that give up and think no time would send the next request at once, for ever.
    pub(super) fn thinks(&self, document: &ServerDocument, server: &ServerScenario) -> Checked<()> {
        let (Workload::Closed(closed), Some(written)) = (&server.workload, &document.workload.value.closed)
        else {
            return Ok(());
        };
        if !closed.is_without_thinking() || !(server.tells_clients() || server.has_balking()) {
            return Ok(());
        }
        let reason =
            "has no `think`, so that clients that give up or do not join would send again at once, for ever";
        self.refuse(written, reason, "add, for example, `think = \"10ms\"`")
    }

    /// Refuses what has no effect, since no request fails.
    fn may_fail<T>(&self, document: &ServerDocument, written: &Located<T>, is_bounded: bool) -> Checked<()> {
        let fails = document.class.value.iter().any(|class| {
            let class = &class.value;
            class.timeout.is_some() || class.patience.is_some() || class.deadline.is_some()
        });
        if !fails && !is_bounded {
            let reason = "has no effect, since no request fails";
            let remedy = "give a class a `timeout` or a `patience`, or bound server.queue";
            return self.refuse(written, reason, remedy);
        }
        Ok(())
    }

    fn retry_table(&self, table: &RetryTable) -> Checked<Retry> {
        let attempts =
            table.attempts.as_ref().map(|count| self.whole(count, 2, MOST_ATTEMPTS)).transpose()?;
        let number = |written: Option<&Located<f64>>, low, high| {
            let remedy = "write one within these bounds, or leave it out";
            written.map(|number| self.within(number, low, high, remedy)).transpose()
        };
        Ok(Retry {
            attempts: attempts.map_or(ATTEMPTS, |attempts| attempts as u32),
            backoff: self.span(&table.backoff, LONGEST_SERVICE)?,
            factor: number(table.factor.as_ref(), 1.0, LARGEST_FACTOR)?.unwrap_or(FACTOR),
            jitter: number(table.jitter.as_ref(), 0.0, 1.0)?.unwrap_or(JITTER),
            budget: number(table.budget.as_ref(), 0.0, LARGEST_BUDGET)?,
        })
    }
}
