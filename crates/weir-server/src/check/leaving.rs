//! Requests that do not wait for ever: deadlines, and where they do not join.

use super::classes::mean_of_all;
use super::{Cores, LONGEST_SERVICE};
use crate::check::Check;
use crate::document::{BalkTable, ClassTable, DeadlineDrop, DeadlineTable, ServerDocument};
use crate::model::{Balk, Class, Deadline, Hopeless, Known};
use weir_document::{Checked, Located};

/// The most requests at which others may not join.
pub(super) const MOST_FOUND: u64 = 1_000_000_000;

impl Check<'_, '_> {
    /// Where requests of a class have a deadline, and where they do not join.
    pub(super) fn leaving(
        &self,
        document: &ServerDocument,
        known: Known,
        cores: &Cores,
        classes: &mut [Class],
    ) -> Checked<()> {
        let mean = mean_of_all(classes) / cores.capacity();
        for (table, class) in document.class.value.iter().zip(classes) {
            let ClassTable { deadline, balk, .. } = &table.value;
            class.deadline =
                deadline.as_ref().map(|written| self.deadline(&written.value, known)).transpose()?;
            class.balk = balk.as_ref().map(|written| self.balk(written, mean)).transpose()?;
        }
        Ok(())
    }

    fn deadline(&self, table: &DeadlineTable, known: Known) -> Checked<Deadline> {
        let within = self.some_span(&table.within, LONGEST_SERVICE)?;
        let drop = match table.drop.value {
            DeadlineDrop::Before if known != Known::Exact => {
                let reason = "needs the service of a request to be known, which server.known does not say";
                return self.refuse(&table.drop, reason, "write \"during\", or remove server.known");
            }
            DeadlineDrop::Before => Hopeless::Before,
            DeadlineDrop::During => Hopeless::During,
        };
        Ok(Deadline { within, drop })
    }

    /// `mean` is what one request takes of all cores together, in nanoseconds.
    fn balk(&self, written: &Located<BalkTable>, mean: f64) -> Checked<Balk> {
        let BalkTable { at, wait, probability } = &written.value;
        let at = match (at, wait) {
            (Some(at), None) => self.whole(at, 1, MOST_FOUND)?,
            (None, Some(wait)) => {
                let at = (self.span(wait, LONGEST_SERVICE)?.get() as f64 / mean).floor();
                if at < 1.0 {
                    let reason = format!("is less than a request waits if it is the first, {mean:.0} ns");
                    return self.refuse(wait, reason, "raise it, so that somebody may wait");
                }
                (at as u64).min(MOST_FOUND)
            }
            _ => {
                let reason = "must have either `at` or `wait`";
                return self.refuse(written, reason, "write, for example, `balk = { at = 10 }`");
            }
        };
        let probability = probability.as_ref().map_or(Ok(1.0), |p| match p.value {
            p if p > 0.0 && p <= 1.0 => Ok(p),
            _ => self.refuse(p, "must be a probability above 0 and at most 1", "write one such as 0.5"),
        })?;
        Ok(Balk { at, probability })
    }
}
