//! Queues without memory, M/M/c/K/N+M: several servers, a limited number of places or sources, customers that lose patience.
//!
//! Of `n` customers `min(n, c)` are served at the rate `μ` each, the others wait in the order of arrival, and each who waits leaves
//! at the rate `θ`. The number present is a [`BirthDeath`] chain; who arrives finds what its births see, `λ(n) π(n) / Σ λ π`.
//!
//! | queue | here | source |
//! |-|-|-|
//! | M/M/c | no bound, no patience: Erlang's C | Erlang 1917 |
//! | M/M/c/K | `places`; who finds none is lost | Kleinrock I, 1975, section 3.6 |
//! | M/M/c/c, M/G/c/c | `places = servers`: Erlang's B, for any law of service | Erlang 1917; Sevastyanov 1957 |
//! | M/M/∞, M/G/∞ | no bound of servers: a Poisson law, for any law of service | Palm 1943 |
//! | M/M/c/c//N | `sources` and `places = servers`: Engset's loss, for any law of service | Engset 1918 |
//! | M/M/c//N | `sources`: machines and those who repair them | Palm 1947; Kleinrock I, section 3.8 |
//! | M/M/c+M, M/M/c/K+M | `patience`: Erlang-A | Palm 1957; Mandelbaum and Zeltyn 2007 |
//!
//! **Patience.** Who finds `k` customers waiting passes through the places `k` to 0, each left at the rate `cμ + (j + 1) θ`: served with
//! probability `cμ / (cμ + (k + 1) θ)`, after `Σ 1 / (cμ + (j + 1) θ)` on average whether served or not, and in the queue for
//! `(k + 1) / (cμ + (k + 1) θ)` on average. What it would wait with endless patience is longer than `t` with the probability
//! `I(e^{-θt}; cμ/θ, k + 1)`, the incomplete beta function, or `P(Poisson(cμt) <= k)` without patience.
//!
//! | | |
//! |-|-|
//! | Units | rates per unit of time, times in it; shares from 0 to 1 |
//! | Work | O(states); a tail of the wait the same, a quantile about 60 tails |
//! | Accuracy | relative error below 1e-11; quantiles 1e-12 |

use super::birth_death::BirthDeath;
use super::{TheoryError, check_load, erlang_c};

/// How often bisection halves an interval.
const HALVINGS: u32 = 60;

/// A queue M/M/c/K/N+M, in some unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Markov {
    /// Arrivals in a unit of time; with `sources`, of each source that has no customer here.
    pub arrival: f64,
    /// Services in a unit of time, of one server that is busy.
    pub service: f64,
    /// Servers, `None` for as many as there are customers.
    pub servers: Option<u32>,
    /// The most customers present, those in service counted, `None` for no bound.
    pub places: Option<u32>,
    /// The number of sources, `None` where arrivals do not depend on who is present.
    pub sources: Option<u32>,
    /// How often a waiting customer leaves, in a unit of time; 0 for endless patience.
    pub patience: f64,
}

/// What the customers of a [`Markov`] queue experience.
///
/// Shares are of all who arrive; times are of those who are let in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkovMeans {
    /// Arrivals in a unit of time, those lost counted.
    pub arrivals: f64,
    /// The mean number of busy servers.
    pub busy: f64,
    /// The share of time that a server is busy, `None` with servers without bound.
    pub utilisation: Option<f64>,
    /// The mean number of customers who wait.
    pub waiting: f64,
    /// The share of arrivals that have to wait.
    pub waits: f64,
    /// The share of arrivals that find no place.
    pub lost: f64,
    /// The share of arrivals that lose patience.
    pub abandoned: f64,
    /// The mean time in the queue, until service or until patience ends.
    pub wait: f64,
    /// The mean wait of those who are served.
    pub wait_of_served: f64,
    /// The mean wait of those who lose patience, `None` where nobody does.
    pub wait_of_abandoned: Option<f64>,
    /// The mean time from arrival to departure, served or not.
    pub response: f64,
}

/// A queue with its distribution.
///
/// ```
/// use weir_theory::{Markov, MarkovQueue};
/// // 50 agents, 48 calls a minute of a minute each, callers who wait two minutes on average.
/// let calls = Markov { arrival: 48.0, service: 1.0, servers: Some(50), places: None, sources: None, patience: 0.5 };
/// let means = MarkovQueue::new(calls)?.means();
/// assert!((means.abandoned - 0.031).abs() < 5e-4);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MarkovQueue {
    queue: Markov,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// M/M/c: the probability of waiting and the load of a server say all.
    Endless { waits: f64, load: f64 },
    /// What is present, and what an arrival finds.
    Chain { present: BirthDeath, found: Vec<f64> },
}

impl MarkovQueue {
    /// Solves the queue.
    ///
    /// # Errors
    /// [`TheoryError::Parameter`] for a rate or a number out of bounds, [`TheoryError::Unstable`] for M/M/c at a load of 1 or
    /// more, [`super::NoForm::TooManyStates`] with more than 2^22 customers.
    pub fn new(queue: Markov) -> Result<Self, TheoryError> {
        queue.check()?;
        let endless = queue.places.is_none() && queue.sources.is_none() && queue.patience == 0.0;
        let state = match queue.servers {
            Some(servers) if endless => {
                let load = queue.arrival / (queue.service * f64::from(servers));
                check_load(load)?;
                State::Endless { waits: erlang_c(servers, load)?, load }
            }
            _ => {
                let present = BirthDeath::new(|n| queue.births(n), |n| queue.deaths(n), queue.last())?;
                let found = found_by_arrivals(&queue, &present);
                State::Chain { present, found }
            }
        };
        Ok(Self { queue, state })
    }

    /// The means of the queue.
    #[must_use]
    pub fn means(&self) -> MarkovMeans {
        match &self.state {
            State::Endless { waits, load } => self.endless_means(*waits, *load),
            State::Chain { present, found } => self.chain_means(present, found),
        }
    }

    /// The share of those let in whose time in the queue is longer than `t`, from 0 to 1.
    #[must_use]
    pub fn wait_tail(&self, t: f64) -> f64 {
        if t < 0.0 {
            return 1.0;
        }
        match &self.state {
            State::Endless { waits, .. } => {
                let slack = self.queue.full_rate() - self.queue.arrival;
                waits * libm::exp(-slack * t)
            }
            State::Chain { found, .. } => self.chain_tail(found, t),
        }
    }

    /// The time in the queue that a share `below` of those let in does not exceed, 0 where that share does not wait.
    ///
    /// # Errors
    /// [`TheoryError::Parameter`] unless `0 < below < 1`.
    pub fn wait_quantile(&self, below: f64) -> Result<f64, TheoryError> {
        if !(below > 0.0 && below < 1.0) {
            let bound = "above 0 and below 1";
            return Err(TheoryError::Parameter { name: "quantile", value: below, bound });
        }
        let beyond = |t: f64| self.wait_tail(t) > 1.0 - below;
        if !beyond(0.0) {
            return Ok(0.0);
        }
        let (mut low, mut high) = (0.0, 1.0 / self.queue.full_rate());
        while beyond(high) {
            (low, high) = (high, 2.0 * high);
        }
        let halve = |(low, high): (f64, f64), _| {
            let middle = 0.5 * (low + high);
            if beyond(middle) { (middle, high) } else { (low, middle) }
        };
        Ok((0..HALVINGS).fold((low, high), halve).1)
    }

    fn endless_means(&self, waits: f64, load: f64) -> MarkovMeans {
        let queue = &self.queue;
        let wait = waits / (queue.full_rate() * (1.0 - load));
        MarkovMeans {
            arrivals: queue.arrival,
            busy: queue.arrival / queue.service,
            utilisation: Some(load),
            waiting: queue.arrival * wait,
            waits,
            lost: 0.0,
            abandoned: 0.0,
            wait,
            wait_of_served: wait,
            wait_of_abandoned: None,
            response: wait + 1.0 / queue.service,
        }
    }

    fn chain_means(&self, present: &BirthDeath, found: &[f64]) -> MarkovMeans {
        let queue = &self.queue;
        let busy = present.mean(|n| queue.busy(n));
        let waiting = present.mean(|n| n as f64 - queue.busy(n));
        let arrivals = present.mean(|n| queue.calls(n));
        let lost = found.iter().enumerate().filter(|(n, _)| queue.is_full(*n)).map(|(_, share)| share).sum();
        let waits = self.waiting_places(found).map(|(_, share)| share).sum();
        let entered = present.mean(|n| queue.births(n));
        let served = queue.service * busy;
        let patient = self.time_of_served(found);
        let wait = waiting / entered;
        let leaves = queue.patience * waiting;
        let wait_of_abandoned = (leaves > 0.0).then(|| (wait * entered - patient * arrivals) / leaves);
        MarkovMeans {
            arrivals,
            busy,
            utilisation: queue.servers.map(|servers| busy / f64::from(servers)),
            waiting,
            waits,
            lost,
            abandoned: leaves / arrivals,
            wait,
            wait_of_served: patient * arrivals / served,
            wait_of_abandoned,
            response: (waiting + busy) / entered,
        }
    }

    /// How many wait already, and the share of arrivals that find that many and join them.
    fn waiting_places<'f>(&self, found: &'f [f64]) -> impl Iterator<Item = (f64, f64)> + use<'f> {
        let queue = self.queue;
        let servers = queue.servers.map_or(usize::MAX, |servers| servers as usize);
        let joined = found.iter().enumerate().skip(servers).filter(move |(n, _)| !queue.is_full(*n));
        joined.map(move |(n, share)| ((n - servers) as f64, *share))
    }

    /// The mean over all arrivals of the wait of those who are served, the others counted as 0.
    fn time_of_served(&self, found: &[f64]) -> f64 {
        let (full, patience) = (self.queue.full_rate(), self.queue.patience);
        let mut passed = 0.0;
        let each = self.waiting_places(found).map(|(before, share)| {
            let leaving = full + (before + 1.0) * patience;
            passed += 1.0 / leaving;
            share * passed * full / leaving
        });
        each.sum()
    }

    fn chain_tail(&self, found: &[f64], t: f64) -> f64 {
        let (full, patience) = (self.queue.full_rate(), self.queue.patience);
        // `1 - e^{-θt}` over θ, which is `t` without patience.
        let horizon = if patience > 0.0 { -libm::expm1(-patience * t) / patience } else { t };
        let (mut log, mut longer) = (-full * t, 0.0);
        let beyond = self.waiting_places(found).map(|(before, share)| {
            if longer >= 1.0 {
                return share;
            }
            longer += libm::exp(log);
            log += libm::log(horizon * (full + before * patience) / (before + 1.0));
            share * f64::min(longer, 1.0)
        });
        let sum: f64 = beyond.sum();
        let let_in: f64 =
            found.iter().enumerate().filter(|(n, _)| !self.queue.is_full(*n)).map(|(_, share)| share).sum();
        sum * libm::exp(-patience * t) / let_in
    }
}

impl Markov {
    fn check(&self) -> Result<(), TheoryError> {
        let positive = |name, value: f64| {
            let is_rate = value > 0.0 && value.is_finite();
            let bound = "positive and finite";
            is_rate.then_some(()).ok_or(TheoryError::Parameter { name, value, bound })
        };
        positive("rate of arrivals", self.arrival)?;
        positive("rate of service", self.service)?;
        if !(self.patience >= 0.0 && self.patience.is_finite()) {
            let bound = "at least 0 and finite";
            return Err(TheoryError::Parameter { name: "rate of patience", value: self.patience, bound });
        }
        if let (Some(servers), Some(places)) = (self.servers, self.places)
            && places < servers
        {
            let bound = "at least the number of servers";
            return Err(TheoryError::Parameter { name: "number of places", value: places.into(), bound });
        }
        for (name, number) in [("number of servers", self.servers), ("number of sources", self.sources)] {
            if number == Some(0) {
                return Err(TheoryError::Parameter { name, value: 0.0, bound: "at least 1" });
            }
        }
        Ok(())
    }

    /// The last state, `None` without bound.
    fn last(&self) -> Option<usize> {
        let bounds = [self.places, self.sources].into_iter().flatten();
        bounds.min().map(|bound| bound as usize)
    }

    fn is_full(&self, n: usize) -> bool {
        self.places.is_some_and(|places| n >= places as usize)
    }

    /// Arrivals in a unit of time with `n` present, those lost counted.
    fn calls(&self, n: usize) -> f64 {
        self.sources.map_or(self.arrival, |all| self.arrival * (all as usize).saturating_sub(n) as f64)
    }

    fn births(&self, n: usize) -> f64 {
        if self.is_full(n) { 0.0 } else { self.calls(n) }
    }

    fn busy(&self, n: usize) -> f64 {
        self.servers.map_or(n, |servers| n.min(servers as usize)) as f64
    }

    fn deaths(&self, n: usize) -> f64 {
        let busy = self.busy(n);
        self.service * busy + self.patience * (n as f64 - busy)
    }

    /// Services in a unit of time with all servers busy; of one where they have no bound, for then nobody waits.
    fn full_rate(&self) -> f64 {
        self.service * f64::from(self.servers.unwrap_or(1))
    }
}

fn found_by_arrivals(queue: &Markov, present: &BirthDeath) -> Vec<f64> {
    let all = present.mean(|n| queue.calls(n));
    present.shares().iter().enumerate().map(|(n, share)| share * queue.calls(n) / all).collect()
}

#[cfg(test)]
mod tests;
