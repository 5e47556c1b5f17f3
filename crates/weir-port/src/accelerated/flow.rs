//! What flows through the port: the same for every strategy.

use crate::timeline::Segment;

const LOW_HALF: u64 = 0xFFFF_FFFF;

/// Packets, and the waits of all of them together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    /// Packets of all messages handed to the strategies.
    pub(super) arrived: u64,
    /// Acceptance instants of all packets served, less arrival instants of all packets handed out.
    pub(super) waits: i128,
    /// The last of these acceptance instants.
    pub(super) last_accepted: u64,
}

impl Flow {
    #[inline(always)]
    pub(super) fn count(&mut self, segment: &Segment<'_>) {
        for (&at, &length) in segment.at.iter().zip(segment.length) {
            self.arrived += u64::from(length);
            self.waits -= i128::from(at) * i128::from(length);
        }
        // By halves, so that sums of instants far apart hold in 64 bits and the loop runs side by side.
        let (mut high, mut low) = (0, 0);
        for &at in segment.accepted {
            high += at >> 32;
            low += at & LOW_HALF;
        }
        self.waits += (i128::from(high) << 32) + i128::from(low);
        self.last_accepted = segment.accepted.last().copied().unwrap_or(self.last_accepted);
    }
}

#[cfg(test)]
mod tests {
    use crate::accelerated::{Limit, Lockstep, Options, Strategy};
    use weir_workload::source::{LengthTable, PoissonArrivals, RandomServices};

    /// At a load of a ten-thousandth instants are far apart, and hardly a packet waits.
    #[test]
    fn waits_of_distant_packets_do_not_overflow() {
        let table = || LengthTable::new(&[(1, 1.0)]).expect("a table");
        for (mean_gap, queue) in [(1e13, 6.25e-9), (2e9, 0.3125)] {
            let options = Options { batch: 1 << 16, ..Options::default() };
            let mut engine = Lockstep::new(&[Strategy::Fifo], &[1], options).expect("an engine");
            let mut arrivals = PoissonArrivals::new(table(), mean_gap, 3, 0).expect("arrivals");
            let mut services = RandomServices::shifted_exponential(500_000_000, 5e8, 3, 0).expect("services");
            let mut batches = Vec::new();
            let limit = Limit::Packets(400_000);
            engine.run(&mut arrivals, &mut services, limit, &mut batches, &mut ()).expect("a run");
            let waiting = engine.waiting_time();
            // Pollaczek and Khinchine: rho^2 1.25 / 2 (1 - rho) packets wait.
            let found = waiting.integral as f64 / waiting.time.get() as f64;
            assert!((found / queue - 1.0).abs() < 0.4, "{found} packets wait, {queue} expected");
        }
    }
}
