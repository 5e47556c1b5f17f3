//! How fast a core is at a moment, and how long a service takes there: reckoned piece by piece, and searched.

use super::Naive;
use crate::model::Fault;
use weir_core::pool::ServerId;

impl Naive<'_> {
    /// The speed of a core at a moment, in millionths.
    pub(super) fn speed(&self, core: u32, at: u64) -> u128 {
        let fault = |fault: &&Fault| {
            let from = fault.at.get();
            fault.core == core && (from..from + fault.lasts.get()).contains(&at)
        };
        let own = self.scenario.site.speed(ServerId(core)).millionths();
        let slower =
            self.scenario.faults.iter().find(fault).map_or(1_000_000, |fault| fault.speed.millionths());
        // As the model has it, a speed is a whole number of millionths.
        u128::from(own) * u128::from(slower) / 1_000_000
    }

    /// From when on a core may have another speed, after this moment.
    pub(super) fn next_speed(&self, core: u32, at: u64) -> u64 {
        let own = self.scenario.faults.iter().filter(|fault| fault.core == core);
        let changes = own.flat_map(|fault| [fault.at.get(), fault.at.get() + fault.lasts.get()]);
        changes.filter(|change| *change > at).min().unwrap_or(u64::MAX)
    }

    /// How much service is done between two moments, to the nanosecond below.
    pub(super) fn done_within(&self, core: u32, from: u64, until: u64) -> u64 {
        let (mut at, mut done) = (from, 0);
        while at < until {
            let next = self.next_speed(core, at).min(until);
            done += self.speed(core, at) * u128::from(next - at);
            at = next;
        }
        (done / 1_000_000) as u64
    }

    /// How long this much service takes: the first time by which it is done, searched.
    pub(super) fn takes(&self, core: u32, begins: u64, service: u64) -> u64 {
        let (mut low, mut high) = (0, 1);
        while self.done_within(core, begins, begins + high) < service {
            (low, high) = (high, 2 * high);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            match self.done_within(core, begins, begins + middle) < service {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}
