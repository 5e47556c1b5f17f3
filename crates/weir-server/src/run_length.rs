//! Whether a run is long enough for its load.
//!
//! What is sufficient is the same for every model ([`weir_lab::stats::run_length`]); here is what a server's queues take to
//! forget. With `k` cores that share the work, mean service `s`, squared coefficients of variation `a²` of the gaps and `c²`
//! of the services, the relaxation time is `τ = 2 s (a² + c²) / (k (1 - ρ)²)`, at least `s`, and the relative standard error of
//! the mean delay `√(τ₁ (1 + ρ) / (2 ρ n m))` over `n` replications of a measured time `m`.
//!
//! | | |
//! |-|-|
//! | Source | Whitt, *Planning queueing simulations*, Management Science 35(11), 1989: heavy-traffic estimates; Abate and Whitt, *Transient behavior of regulated Brownian motion I*, Advances in Applied Probability 19, 1987: the mean approaches its limit as a mixture of exponentials none slower than `e^{-t/τ}`, whence the factor of the warm-up |
//! | Accuracy | both are exact for the number in M/M/1; elsewhere near for loads near 1, and of the right order else |
//! | Units | nanoseconds |
//! | Work | O(classes) |
//!
//! **Cores that share.** Where a request is bound to a core without a look at the others (`random`, `flow_hash`, `rr`),
//! each core is a queue of its own: `k` is 1, and of `rr` with one receiver `a²` is one over the cores. Every other
//! discipline is taken to share all cores, which is the shortest `τ` that it can have. `τ₁` is that of cores that share in
//! any case: queues that do not are several samples at a time.
//!
//! **Sub-requests** that come together are a batch of the queues that they share, so that `a²` of these is as many times as
//! large. `ρ` counts each of them once, whether it is cancelled or sent a second time.
//!
//! **Bounded queues** forget sooner: with room for the work `b` of each core, `1/τ` is more by `π² σ² / 2b²`, where
//! `σ² = s (a² + c²) / k` (Harrison, *Brownian Motion and Stochastic Flow Systems*, 1985, section 5.6).

use crate::collector::measured;
use crate::model::{Process, ServerScenario};
use crate::outcome::Warning;
use weir_core::units::Nanos;
use weir_lab::stats::RunLength;
use weir_lab::stats::run_length::{BIAS, ERROR, in_heavy_traffic};
use weir_workload::Arrivals;

/// How the warning begins.
pub const SHORT: &str = "the run is short";

/// How long a run is, and how long it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    run: RunLength,
    mean_gap: f64,
}

impl Length {
    /// Of a discipline by its place; none where arrivals are recorded, wait for others, grow, or are
    /// as much as can be done, where the variance of services is infinite, and where nothing is measured.
    #[must_use]
    pub fn of(server: &ServerScenario, place: usize) -> Option<Self> {
        let span = measured(server).span().get() as f64;
        let open = server.steady().filter(|_| span > 0.0)?;
        let load = server.steady_load().filter(|load| *load > 0.0 && *load < 1.0)?;
        let (cores, receivers) = (server.capacity(), server.site.receivers);
        let gaps = match &open.process {
            // In bursts they vary more: `τ` is at least this.
            Process::Arrivals(Arrivals::Poisson | Arrivals::Bursty { .. }) => 1.0,
            Process::Arrivals(Arrivals::Renewal(renewal)) => renewal.scv()?,
            Process::Arrivals(Arrivals::Deterministic) | Process::Trains { .. } => 0.0,
            // In heavy traffic what counts of gaps that depend on each other is the dispersion of their numbers.
            Process::Arrivals(arrivals) => arrivals.dispersion()?,
        };
        let batched = gaps * f64::from(server.parts());
        let (sharing, own_gaps) = match server.specs[place].name.as_str() {
            "rr" if receivers == 1 => (1.0, batched / cores),
            "rr" | "random" | "flow_hash" => (1.0, gaps),
            _ => (cores, batched),
        };
        let service = server.mean_service();
        let square = Some(server.second_moment()).filter(|square| square.is_finite())?;
        let services = (square / (service * service) - 1.0).max(0.0);
        let room = server.site.queue.map(|queue| f64::from(queue.max(1)) * service);
        let of = |gaps: f64, sharing: f64| {
            relaxation(load, service * (gaps + services) / sharing, room).max(service)
        };
        let run = RunLength {
            load,
            relaxation: of(own_gaps, sharing),
            // Queues that are not shared are several samples at a time.
            clump: of(batched, cores),
            variance: in_heavy_traffic(load, of(batched, cores)),
            warm_up: server.stop.warm_up.get() as f64,
            measured: span,
            replications: f64::from(server.stop.replications),
        };
        Some(Self { run, mean_gap: open.mean_gap })
    }

    /// What is sufficient of it.
    #[must_use]
    pub fn run(&self) -> &RunLength {
        &self.run
    }

    /// Whether means are beyond one of their bounds.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.run.is_short()
    }

    /// `τ`, in whole nanoseconds.
    #[must_use]
    pub fn relaxation_nanos(&self) -> u64 {
        self.run.relaxation.ceil() as u64
    }

    /// How long a replication should last, warm-up included.
    fn needed_time(&self) -> f64 {
        self.run.warm_up + two_digits(self.run.time_for_mean())
    }

    /// How long a replication should last, in words: its time and its requests, warm-up included.
    #[must_use]
    pub fn needed(&self) -> String {
        let time = self.needed_time();
        format!(
            "at least {}, which is some {} requests (`stop.duration` or `stop.requests`)",
            span(time),
            rounded(time / self.mean_gap)
        )
    }

    /// What is warned of, where it is too short.
    #[must_use]
    pub fn warning(&self, discipline: &str) -> Option<Warning> {
        let per_cent = |share: f64| format!("{} %", rounded(100.0 * share));
        let bias = (self.run.bias() > BIAS).then(|| {
            format!(
                "means may be up to {} too small since queues begin empty (at most {} is sound)",
                per_cent(self.run.bias()),
                per_cent(BIAS)
            )
        });
        let error = (self.run.error() > ERROR).then(|| {
            format!(
                "mean delays have a standard error of some {} (at most {} is sound)",
                per_cent(self.run.error()),
                per_cent(ERROR)
            )
        });
        let found: Vec<String> = bias.into_iter().chain(error).collect();
        let text = format!(
            "{SHORT} for load {}: queues take some {} to forget how they began (their relaxation time), and {} x \
             {} are measured after {} of warm-up, so {}; let a replication last {}",
            // Sums of shares and rates end in digits of which none is known.
            (1e12 * self.run.load).round() / 1e12,
            span(self.run.relaxation),
            self.run.replications,
            span(self.run.measured),
            span(self.run.warm_up),
            found.join(", and "),
            self.needed()
        );
        (!found.is_empty()).then(|| Warning { discipline: Some(discipline.to_owned()), text })
    }
}

/// `τ` of a load and a variance of the work that comes in a unit of time, with room for some work where it is bounded.
fn relaxation(load: f64, variance: f64, room: Option<f64>) -> f64 {
    let unbounded = (1.0 - load) * (1.0 - load) / (2.0 * variance);
    let bounded = |room: f64| core::f64::consts::PI.powi(2) * variance / (2.0 * room * room);
    1.0 / (unbounded + room.map_or(0.0, bounded))
}

/// To two digits, upwards.
fn two_digits(value: f64) -> f64 {
    let least = 10_f64.powi(libm::log10(value.max(1e-300)).floor() as i32 - 1);
    (value / least).ceil() * least
}

/// A span of nanoseconds, to two digits.
fn span(nanoseconds: f64) -> String {
    let whole = two_digits(nanoseconds).round();
    if whole < 1.8e19 { Nanos::new(whole as u64).to_string() } else { format!("{:.1e}s", whole / 1e9) }
}

/// A number, to two digits.
fn rounded(value: f64) -> String {
    match two_digits(value) {
        large if large >= 1e15 => format!("{large:.1e}"),
        large if large >= 10.0 => format!("{large:.0}"),
        small => format!("{small:.1}"),
    }
}

#[cfg(test)]
mod tests;
