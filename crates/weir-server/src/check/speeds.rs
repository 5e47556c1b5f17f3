//! How fast cores are, and when they are slower.

use super::{Cores, LONGEST_RUN};
use crate::check::Check;
use crate::document::FaultTable;
use crate::model::{Fault, capacity};
use weir_core::units::{Nanos, Speed};
use weir_document::{Checked, Located};

/// The slowest that a core may be, other than standing still.
pub(super) const SLOWEST: f64 = 0.001;
/// The most faults.
pub(super) const MOST_FAULTS: usize = 10_000;

impl Cores {
    /// How many cores of a speed of 1 would do as much.
    pub(super) fn capacity(&self) -> f64 {
        capacity(self.cores, &self.speeds)
    }
}

/// A speed that is written; what is meant is to the nearest millionth.
fn speed(written: f64) -> Speed {
    Speed::new((written * f64::from(Speed::ONE.millionths())).round() as u32)
}

impl Check<'_, '_> {
    /// The speed of each core; none where all are 1.
    pub(super) fn speeds(
        &self,
        written: Option<&Located<Vec<Located<f64>>>>,
        cores: u32,
    ) -> Checked<Vec<Speed>> {
        let Some(list) = written else { return Ok(Vec::new()) };
        if list.value.is_empty() || list.value.len() > cores as usize {
            let reason = format!(
                "has {} speeds, must have from 1 to as many as server.cores, {cores}",
                list.value.len()
            );
            return self.refuse(list, reason, "write one for each core, or those of the first, taken again");
        }
        let remedy = "write the fastest as 1, and all others as parts of it";
        let one = |number| self.within(number, SLOWEST, 1.0, remedy).map(speed);
        let speeds: Vec<Speed> = list.value.iter().map(one).collect::<Checked<_>>()?;
        if speeds.iter().all(|speed| *speed == Speed::ONE) {
            return Ok(Vec::new());
        }
        Ok(speeds.into_iter().cycle().take(cores as usize).collect())
    }

    /// The faults, which do not overlap on one core.
    pub(super) fn faults(&self, written: &[Located<FaultTable>], cores: u32) -> Checked<Vec<Fault>> {
        if let Some(beyond) = written.get(MOST_FAULTS) {
            let reason = format!("is one of {} faults, there may be at most {MOST_FAULTS}", written.len());
            return self.refuse(beyond, reason, "leave some out");
        }
        let mut faults: Vec<Fault> = Vec::with_capacity(written.len());
        for one in written {
            let fault = self.fault(&one.value, cores)?;
            let end = |fault: &Fault| fault.at + fault.lasts;
            let overlaps =
                |other: &&Fault| other.core == fault.core && other.at < end(&fault) && fault.at < end(other);
            if let Some(other) = faults.iter().find(overlaps) {
                let reason = format!("overlaps one of the same core, from {} to {}", other.at, end(other));
                return self.refuse(&one.value.at, reason, "let one begin where the other has ended");
            }
            faults.push(fault);
        }
        Ok(faults)
    }

    fn fault(&self, table: &FaultTable, cores: u32) -> Checked<Fault> {
        let core = self.whole(&table.core, 0, u64::from(cores) - 1)? as u32;
        let factor = match &table.speed {
            Some(number) if number.value != 0.0 => self.within(
                number,
                SLOWEST,
                1.0,
                "write a part of the core's speed, or 0 where it stands still",
            )?,
            _ => 0.0,
        };
        let (at, lasts): (Nanos, Nanos) =
            (self.span(&table.at, LONGEST_RUN)?, self.some_span(&table.lasts, LONGEST_RUN)?);
        Ok(Fault { core, at, lasts, speed: speed(factor) })
    }
}
