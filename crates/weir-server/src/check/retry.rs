//! Clients that try again.

use crate::check::{Check, LONGEST_SERVICE};
use crate::document::{RetryTable, ServerDocument};
use crate::model::Retry;
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

impl Check<'_, '_> {
    /// How clients try again, where something can make them.
    pub(super) fn retry(&self, document: &ServerDocument, is_bounded: bool) -> Checked<Option<Retry>> {
        let workload = &document.workload.value;
        let Some(written) = &workload.retry else { return Ok(None) };
        if workload.closed.is_some() {
            return self.refuse(written, "cannot be combined with workload.closed", "keep one of the two");
        }
        let fails = document.class.value.iter().any(|class| {
            let class = &class.value;
            class.timeout.is_some() || class.patience.is_some()
        });
        if !fails && !is_bounded {
            let reason = "has no effect, since no request fails";
            let remedy = "give a class a `timeout` or a `patience`, or bound server.queue";
            return self.refuse(written, reason, remedy);
        }
        self.retry_table(&written.value).map(Some)
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
