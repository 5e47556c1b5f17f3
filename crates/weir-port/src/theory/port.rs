//! The message port: exact means of FIFO, shortest first and both round robins, packet by packet.
//!
//! Messages of `L` packets arrive in a Poisson stream of rate `λ = ρ / E[L]`; each packet takes one service,
//! independent of all others, of mean 1. The latency of a message runs from its arrival to the *acceptance*
//! of its last packet, the start of that packet's service. With `c` the squared coefficient of variation
//! of a service, `e = 1 + c` its second moment, `S2(n) = n² + c n` that of `n` services, `p_L` the
//! probability of length `L`, `G(i) = P(L > i)`:
//!
//! - FIFO: `W = λ E[S2(L)] / (2 (1 - ρ))`, latency `W + k - 1`. (Pollaczek-Khinchine)
//! - Shortest first: `R(k) = λ Σ_{L<=k} L p_L`,
//!   `Y_k = λ [Σ_{L<=k} p_L S2(L) + Σ_{L>k} p_L (S2(k+1) + e (L-k-1))] / (2 (1 - R(k)))`, latency
//!   `Y_k / (1 - R(k-1)) + Σ_{j=1}^{k-1} 1 / (1 - R(j-1))`. (Schrage-Miller, on packets)
//! - Round robins: `D_j`, the mean time from the acceptance of packet `j - 1` to that of packet `j`, solve a
//!   linear system; see `round_robin`.
//! - The mean number of packets not yet accepted is `ρ (W + E[L(L-1)] / (2 E[L]))` whatever the order.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, *Alpha Message Scheduling*, for the model and its published figures |
//! | Units | lengths in packets, times in mean packet services |
//! | Work | FIFO, shortest first: O(lengths); round robins: O(longest x lengths) per sweep |
//! | Accuracy | FIFO, shortest first: to rounding; round robins: relative error about 1e-11 |
//! | Bounds | 2^20 different lengths; round robins: longest x lengths up to 2^24 |

use super::round_robin::{self, Newcomers, System};
use weir_theory::{NoForm, TheoryError, check_load};
use weir_workload::Sizes;

/// The most lengths that are listed one by one.
const MAX_LENGTHS: u64 = 1 << 20;
/// The largest product of longest message and number of lengths of a round robin.
const MAX_SYSTEM: u64 = 1 << 24;

/// The mean latency of each length.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    rows: Vec<LengthLatency>,
}

/// The mean latency of the messages of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthLatency {
    /// The length in packets.
    pub length: u64,
    /// The probability of that length.
    pub share: f64,
    /// Arrival to acceptance of the last packet, in mean packet services.
    pub latency: f64,
}

impl LengthLatency {
    /// The effective packet period `(latency + 1) / length`, in mean packet services (section 12).
    #[must_use]
    pub fn packet_period(&self) -> f64 {
        (self.latency + 1.0) / self.length as f64
    }
}

impl Latencies {
    /// One row for each length that occurs, in increasing order.
    #[must_use]
    pub fn rows(&self) -> &[LengthLatency] {
        &self.rows
    }

    /// The mean latency of messages of `length` packets; `None` where there are none.
    #[must_use]
    pub fn of(&self, length: u64) -> Option<f64> {
        let index = self.rows.binary_search_by_key(&length, |row| row.length).ok()?;
        Some(self.rows[index].latency)
    }

    /// The mean over all messages.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.rows.iter().map(|row| row.share * row.latency).sum()
    }
}

/// A message port with Poisson arrivals at a load below 1.
///
/// ```
/// use weir_port::theory::Port;
/// use weir_workload::Sizes;
/// let port = Port::new(&Sizes::alpha_report(), 0.95, 0.25)?;
/// assert_eq!(format!("{:.6}", port.fifo().mean()), "106.936702");
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Port {
    /// Each length with its probability, in increasing order.
    lengths: Vec<(u64, f64)>,
    load: f64,
    /// Messages per mean packet service.
    rate: f64,
    /// The squared coefficient of variation of a service.
    scv: f64,
}

impl Port {
    /// The port of these lengths at this load, with services of this squared coefficient of variation:
    /// 0 for constant services, 1/4 for `0.5 + Exp(0.5)`, 1 for exponential ones.
    ///
    /// # Errors
    /// [`TheoryError::Unstable`] at a load of 1 or more, [`TheoryError::Load`] or [`TheoryError::Scv`] if a
    /// number is out of range, [`TheoryError::NoForm`] if there are more than 2^20 lengths.
    pub fn new(lengths: &Sizes, load: f64, scv: f64) -> Result<Self, TheoryError> {
        check_load(load)?;
        if !(scv >= 0.0 && scv.is_finite()) {
            return Err(TheoryError::Scv(scv));
        }
        let rate = load / lengths.mean();
        let lengths = lengths.atoms(MAX_LENGTHS).ok_or(NoForm::TooManyLengths)?;
        Ok(Self { lengths, load, rate, scv })
    }

    /// Messages per mean packet service.
    #[must_use]
    pub fn arrival_rate(&self) -> f64 {
        self.rate
    }

    /// The mean number of packets that wait for their acceptance, whatever the order of service.
    #[must_use]
    pub fn queue_length(&self) -> f64 {
        let pairs = self.expectation(|length| length * (length - 1.0));
        self.load * (self.fifo_wait() + pairs * self.rate / (2.0 * self.load))
    }

    /// First in first out.
    #[must_use]
    pub fn fifo(&self) -> Latencies {
        let wait = self.fifo_wait();
        self.latencies(|length| wait + (length - 1) as f64)
    }

    /// Shortest remaining message first, with preemption between packets.
    #[must_use]
    pub fn shortest_first(&self) -> Latencies {
        let rows = ShortestFirst::new(self);
        Latencies { rows: self.lengths.iter().scan(rows, |rows, &next| Some(rows.row(next))).collect() }
    }

    /// Round robin over messages, a newcomer at the end of the list.
    ///
    /// # Errors
    /// [`NoForm::SystemTooLarge`] if the longest message times the number of lengths is above 2^24,
    /// [`NoForm::NotConverged`] if rounding hides the solution of the system.
    pub fn round_robin(&self) -> Result<Latencies, NoForm> {
        self.cyclic(Newcomers::Last)
    }

    /// Round robin over messages, a newcomer before all messages that have sent something.
    ///
    /// # Errors
    /// As [`Port::round_robin`].
    pub fn round_robin_head(&self) -> Result<Latencies, NoForm> {
        self.cyclic(Newcomers::First)
    }

    fn cyclic(&self, newcomers: Newcomers) -> Result<Latencies, NoForm> {
        let times = self.acceptance_times(newcomers)?;
        Ok(self.latencies(|length| times[length as usize - 1]))
    }

    /// The mean time from the arrival of a long enough message to the acceptance of each packet.
    fn acceptance_times(&self, newcomers: Newcomers) -> Result<Vec<f64>, NoForm> {
        let longest = self.lengths.last().map_or(0, |last| last.0);
        if longest.saturating_mul(self.lengths.len() as u64) > MAX_SYSTEM {
            return Err(NoForm::SystemTooLarge);
        }
        round_robin::acceptance_times(&self.system(newcomers), self.queue_length())
            .ok_or(NoForm::NotConverged)
    }

    fn system(&self, newcomers: Newcomers) -> System<'_> {
        let residual = 0.5 * self.load * (1.0 + self.scv);
        System { lengths: &self.lengths, rate: self.rate, residual, newcomers }
    }

    fn fifo_wait(&self) -> f64 {
        self.rate * self.expectation(|length| self.services(length)) / (2.0 * (1.0 - self.load))
    }

    /// The second moment of `n` services.
    fn services(&self, n: f64) -> f64 {
        n * n + self.scv * n
    }

    fn expectation(&self, f: impl Fn(f64) -> f64) -> f64 {
        self.lengths.iter().map(|&(length, share)| share * f(length as f64)).sum()
    }

    fn latencies(&self, latency: impl Fn(u64) -> f64) -> Latencies {
        let row = |&(length, share)| LengthLatency { length, share, latency: latency(length) };
        Latencies { rows: self.lengths.iter().map(row).collect() }
    }
}

/// The sums of the formula of shortest first, carried from one length to the next.
struct ShortestFirst<'a> {
    port: &'a Port,
    /// The length before, and `1 - R` of it.
    length: u64,
    slack: f64,
    /// `Σ p_L S2(L)` up to that length; `P(L > …)` and `Σ L p_L` above it.
    own: f64,
    longer: f64,
    packets_of_longer: f64,
    /// `Σ 1 / (1 - R(j - 1))`, `j` from 1 to that length.
    residence: f64,
}

impl<'a> ShortestFirst<'a> {
    fn new(port: &'a Port) -> Self {
        let packets_of_longer = port.load / port.rate;
        Self { port, length: 0, slack: 1.0, own: 0.0, longer: 1.0, packets_of_longer, residence: 0.0 }
    }

    fn row(&mut self, (length, share): (u64, f64)) -> LengthLatency {
        let (k, port) = (length as f64, self.port);
        let shorter = self.slack;
        let gap = (length - self.length) as f64;
        let before_last = self.residence + (gap - 1.0) / shorter;
        self.residence += gap / shorter;
        self.own += share * port.services(k);
        self.longer = (self.longer - share).max(0.0);
        self.packets_of_longer = (self.packets_of_longer - share * k).max(0.0);
        self.slack -= port.rate * share * k;
        self.length = length;
        let single = 1.0 + port.scv;
        let longer =
            self.longer * (port.services(k + 1.0) - single * (k + 1.0)) + single * self.packets_of_longer;
        let wait = port.rate * (self.own + longer) / (2.0 * self.slack * shorter);
        LengthLatency { length, share, latency: wait + before_last }
    }
}

#[cfg(test)]
mod tests;
