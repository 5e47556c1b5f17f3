//! Several servers that share one Poisson stream: Erlang's formulas, and Crommelin's for constant service.
//!
//! With `k` servers, `ρ` the load of each, `a = k ρ`; times in mean services:
//!
//! | queue | mean wait | source |
//! |-|-|-|
//! | M/M/k | `C / (k (1 - ρ))`, `C = B / (1 - ρ (1 - B))`, `B` by `B(0) = 1`, `B(n) = a B(n-1) / (n + a B(n-1))` | Erlang 1917 |
//! | M/D/k | `Q / a`, `Q = (a² - k (k - 1)) / (2 (k - a)) + Σ 1 / (1 - z_j)`, over the `k - 1` zeros `z_j` other than 1 of `z^k = e^{a (z - 1)}` in the unit disc | Crommelin 1932 |
//! | M/D/1/N, lost | `1 - 1 / (π_0 + ρ)`, `π_j` what a departure leaves of `N - 1` at most, by the cuts `π_{j+1} a_0 = π_0 P(A > j) + Σ_{i=1..j} π_i P(A > j + 1 - i)`, `A` Poisson of mean `ρ` | Cooper 1981, section 5.9 |
//! | M/G/1, priority `i` | `λ E[S²] / (2 (1 - σ_{i-1}) (1 - σ_i))`, `σ_i` the load of the first `i` classes | Cobham 1954 |
//!
//! **M/D/k** from the numbers `Q` that wait one service apart: `Q' = max(Q + A - k, 0)`, with `A` Poisson of mean `a`, for
//! who is in service now is done one service later, and who came meanwhile is not. The mean of such a queue is that of its
//! generating function `(k - a) (z - 1) / (z^k - e^{a (z - 1)}) Π (z - z_j) / (1 - z_j)`, differentiated at 1.
//!
//! **E_k/D/1** is the same queue: where all services are equal and servers take turns, requests come to the servers in
//! the order in which those are free, so that round robin and one common queue let each request begin at the same instant.
//!
//! | | |
//! |-|-|
//! | Work | O(k), O(N²); M/D/k some ten Newton steps for each zero |
//! | Accuracy | M/M/k to rounding; M/D/k relative error below 1e-9 for waits above 1e-6 services, for smaller ones absolute error below 1e-12 times `k` |

use core::f64::consts::PI;

use super::{TheoryError, check_load};

/// A load from which one server with a waiting place is never idle, as far as numbers tell.
const FULL: f64 = 100.0;
/// Newton's method ends where a step is shorter than this.
const STEP: f64 = 1e-15;
/// And after this many steps.
const MOST_STEPS: usize = 200;

/// Erlang's B: the part of requests that are lost where `servers` have no queue and are offered `offered` of work, in
/// servers.
///
/// ```
/// use weir_theory::erlang_b;
/// assert!((erlang_b(5, 3.0) - 0.1101).abs() < 5e-5);
/// ```
#[must_use]
pub fn erlang_b(servers: u32, offered: f64) -> f64 {
    (1..=servers).fold(1.0, |lost, n| offered * lost / (f64::from(n) + offered * lost))
}

/// Erlang's C: the part of requests that wait in M/M/k, at this load of each server.
///
/// # Errors
/// [`TheoryError::Unstable`] at a load of 1 or more, [`TheoryError::Load`] if it is no load.
pub fn erlang_c(servers: u32, load: f64) -> Result<f64, TheoryError> {
    check_load(load)?;
    let lost = erlang_b(servers, load * f64::from(servers));
    Ok(lost / (1.0 - load * (1.0 - lost)))
}

/// The mean wait in M/M/k, in mean services.
///
/// # Errors
/// As [`erlang_c`].
pub fn mmk_wait(servers: u32, load: f64) -> Result<f64, TheoryError> {
    Ok(erlang_c(servers, load)? / (f64::from(servers) * (1.0 - load)))
}

/// The mean wait in M/D/k, and in E_k/D/1 of each of `k` servers that take turns, in services.
///
/// # Errors
/// As [`erlang_c`].
pub fn mdk_wait(servers: u32, load: f64) -> Result<f64, TheoryError> {
    check_load(load)?;
    let k = f64::from(servers);
    let offered = k * load;
    // Zeros come in conjugate pairs; for an even number of servers one is real and negative.
    let half = (1..=(servers - 1) / 2).map(|j| 2.0 * reciprocal(zero(servers, load, j)));
    let alone = servers.is_multiple_of(2).then(|| reciprocal(zero(servers, load, servers / 2)));
    let zeros: f64 = half.chain(alone).sum();
    let waiting = (offered * offered - k * (k - 1.0)) / (2.0 * (k - offered)) + zeros;
    Ok((waiting / offered).max(0.0))
}

/// The part of requests that are lost in M/D/1 where at most `places` are there, the one in service with them, at this load,
/// which may be 1 or more.
///
/// # Errors
/// [`TheoryError::Load`] if it is no load.
pub fn md1n_loss(places: u32, load: f64) -> Result<f64, TheoryError> {
    if !(load > 0.0 && load.is_finite()) {
        return Err(TheoryError::Load(load));
    }
    let places = places.max(1) as usize;
    // A departure then leaves nobody behind with a probability below any rounding.
    if load > FULL && places > 1 {
        return Ok(1.0 - 1.0 / load);
    }
    let more = arrivals_beyond(places, load);
    let mut left = vec![1.0];
    for j in 0..places - 1 {
        let behind = left[1..].iter().enumerate().map(|(before, share)| share * more[j - before]);
        left.push((more[j] + behind.sum::<f64>()) * libm::exp(load));
    }
    let nobody = 1.0 / left.iter().sum::<f64>();
    // Rounding may take it below.
    Ok((1.0 - 1.0 / (nobody + load)).max(0.0))
}

/// The probability that more than `n` requests arrive in a service, of each `n` below `count`.
fn arrivals_beyond(count: usize, load: f64) -> Vec<f64> {
    let far = count + 64 + (4.0 * load) as usize;
    let terms = (1..=far).scan(libm::exp(-load), |term, n| {
        *term *= load / n as f64;
        Some(*term)
    });
    let mut beyond: Vec<f64> = terms.collect();
    for n in (0..far - 1).rev() {
        beyond[n] += beyond[n + 1];
    }
    beyond.truncate(count);
    beyond
}

/// A class of M/G/1, in some unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriorityClass {
    /// Arrivals in a unit of time.
    pub rate: f64,
    /// The mean of its service.
    pub mean: f64,
    /// The mean of the square of its service.
    pub square: f64,
}

/// The mean wait of each class of M/G/1 without preemption, the first class before all others, in the unit of time of
/// the classes.
///
/// # Errors
/// As [`erlang_c`], for all classes together.
pub fn priority_waits(classes: &[PriorityClass]) -> Result<Vec<f64>, TheoryError> {
    let load: f64 = classes.iter().map(|class| class.rate * class.mean).sum();
    check_load(load)?;
    let residual: f64 = classes.iter().map(|class| class.rate * class.square / 2.0).sum();
    let wait = |before: &mut f64, &PriorityClass { rate, mean, .. }: &PriorityClass| {
        let slack = (1.0 - *before) * (1.0 - *before - rate * mean);
        *before += rate * mean;
        Some(residual / slack)
    };
    Ok(classes.iter().scan(0.0, wait).collect())
}

/// A complex number.
type Complex = (f64, f64);

/// The real part of `1 / (1 - z)`.
fn reciprocal((x, y): Complex) -> f64 {
    let real = 1.0 - x;
    real / (real * real + y * y)
}

/// The `j`-th zero: of `z = w exp(ρ (z - 1))`, `w` the `j`-th root of unity, by Newton's method from the fixed point's
/// first steps, which contract by `ρ |z|`.
fn zero(servers: u32, load: f64, j: u32) -> Complex {
    let angle = 2.0 * PI * f64::from(j) / f64::from(servers);
    let map = |(x, y): Complex| {
        let (size, turn) = (libm::exp(load * (x - 1.0)), load * y + angle);
        (size * libm::cos(turn), size * libm::sin(turn))
    };
    let mut z = (0..8).fold((0.0, 0.0), |z, _| map(z));
    for _ in 0..MOST_STEPS {
        let image = map(z);
        let (gap, slope) = ((z.0 - image.0, z.1 - image.1), (1.0 - load * image.0, -load * image.1));
        let size = slope.0 * slope.0 + slope.1 * slope.1;
        let step = ((gap.0 * slope.0 + gap.1 * slope.1) / size, (gap.1 * slope.0 - gap.0 * slope.1) / size);
        z = (z.0 - step.0, z.1 - step.1);
        if step.0.abs().max(step.1.abs()) < STEP {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mg1, Policy, SizeLaw};
    use weir_lab::stats::testing::Noise;

    #[test]
    fn what_is_lost_with_few_places_by_hand_and_by_another_formula() {
        for load in [0.1_f64, 0.5, 0.9, 1.0, 1.7, 20.0] {
            let near = |places, expected: f64| {
                let lost = md1n_loss(places, load).expect("a load");
                assert!((lost - expected).abs() < 1e-12, "{places} {load}: {lost} {expected}");
            };
            near(1, load / (1.0 + load));
            near(2, 1.0 - 1.0 / ((-load).exp() + load));
            // Brun and Garcia, Journal of Applied Probability 37, 2000.
            let b = |n: i32| {
                let term = |k: i32| {
                    let left = f64::from(n - k);
                    let over: f64 = (1..=k).map(f64::from).product();
                    (-left * load).powi(k) / over * (left * load).exp()
                };
                (0..=n).map(term).sum::<f64>()
            };
            if load < 2.0 {
                near(6, 1.0 - b(5) / (1.0 + load * b(5)));
            }
        }
        assert_eq!(md1n_loss(3, 0.0), Err(TheoryError::Load(0.0)));
        assert!((md1n_loss(2, 1e3).expect("a load") - 0.999).abs() < 1e-12);
        assert!(md1n_loss(400, 0.5).expect("a load").abs() < 1e-15);
    }

    #[test]
    fn erlangs_tables() {
        // Loss and delay probabilities as tabulated, to four digits.
        for (servers, offered, lost) in [(1, 1.0, 0.5), (5, 3.0, 0.1101), (10, 5.0, 0.0184), (2, 1.0, 0.2)] {
            assert!((erlang_b(servers, offered) - lost).abs() < 5e-5, "B({servers}, {offered})");
        }
        for (servers, offered, waits) in [(2, 1.0, 1.0 / 3.0), (5, 4.0, 0.5541), (10, 8.0, 0.4092)] {
            let found = erlang_c(servers, offered / f64::from(servers)).expect("a load");
            assert!((found - waits).abs() < 5e-5, "C({servers}, {offered}) = {found}");
        }
    }

    #[test]
    fn one_server_is_pollaczek_khinchine() {
        for load in [0.01, 0.5, 0.9, 0.999] {
            assert!((mmk_wait(1, load).expect("a load") / (load / (1.0 - load)) - 1.0).abs() < 1e-12);
            let constant = load / (2.0 * (1.0 - load));
            assert!((mdk_wait(1, load).expect("a load") / constant - 1.0).abs() < 1e-9);
        }
        assert!(mmk_wait(4, 1.0).is_err() && mdk_wait(4, f64::NAN).is_err() && erlang_c(4, 0.0).is_err());
    }

    /// The mean of `Q' = max(Q + A - k, 0)`, over `a`, from its distribution, step by step.
    fn by_iteration(servers: u32, load: f64) -> f64 {
        let (k, offered) = (servers as usize, f64::from(servers) * load);
        let poisson = |n: usize| {
            let log = (1..=n).map(|i| (offered / i as f64).ln()).sum::<f64>() - offered;
            log.exp()
        };
        let arrivals: Vec<f64> = (0..8 * k + 60).map(poisson).collect();
        let mut waiting = vec![0.0; 400];
        waiting[0] = 1.0;
        for _ in 0..1_500 {
            let mut next = vec![0.0; waiting.len()];
            for (queue, share) in waiting.iter().enumerate().filter(|(_, share)| **share > 1e-18) {
                for (came, chance) in arrivals.iter().enumerate() {
                    let left = (queue + came).saturating_sub(k);
                    if left < next.len() {
                        next[left] += share * chance;
                    }
                }
            }
            waiting = next;
        }
        waiting.iter().enumerate().map(|(n, share)| n as f64 * share).sum::<f64>() / offered
    }

    #[test]
    fn constant_service_agrees_with_its_chain() {
        for (servers, load) in [(2, 0.5), (3, 0.8), (7, 0.7), (4, 0.9)] {
            let (found, chain) = (mdk_wait(servers, load).expect("a load"), by_iteration(servers, load));
            assert!((found / chain - 1.0).abs() < 1e-6, "{servers} at {load}: {found}, {chain}");
        }
    }

    #[test]
    fn constant_service_waits_near_half_as_long_as_exponential() {
        // Cosmetatos, Operational Research Quarterly 1975: his approximation is within 2 % at these loads.
        for servers in [2, 14, 100, 1000] {
            for load in [0.8, 0.95, 0.99] {
                let k = f64::from(servers);
                let more = (1.0 - load) * (k - 1.0) * ((4.0 + 5.0 * k).sqrt() - 2.0) / (16.0 * k * load);
                let near = 0.5 * (1.0 + more) * mmk_wait(servers, load).expect("a load");
                let found = mdk_wait(servers, load).expect("a load");
                let is_seldom = near < 1e-3;
                assert!(
                    is_seldom || (found / near - 1.0).abs() < 0.02,
                    "{servers} at {load}: {found}, {near}"
                );
            }
        }
    }

    #[test]
    fn servers_in_turn_wait_as_in_one_queue() {
        let (servers, load, batches) = (3, 0.8, 200);
        let mut noise = Noise::new(5);
        // Lindley's recursion: gaps are sums of three exponential times.
        let gap = 1.0 / (load * f64::from(servers));
        let mut wait = 0.0_f64;
        let mut batch = || {
            let waits = (0..5_000).map(|_| {
                let between: f64 = (0..servers).map(|_| noise.exponential() * gap).sum();
                wait = (wait + 1.0 - between).max(0.0);
                wait
            });
            waits.sum::<f64>() / 5_000.0
        };
        let means: Vec<f64> = (0..batches).map(|_| batch()).collect();
        let mean = means.iter().sum::<f64>() / f64::from(batches);
        let variance = means.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / f64::from(batches - 1);
        let error = (variance / f64::from(batches)).sqrt();
        let exact = mdk_wait(servers, load).expect("a load");
        assert!((mean - exact).abs() < 4.0 * error && error < 0.02 * exact, "{mean} +- {error}, {exact}");
    }

    #[test]
    fn priorities_agree_with_shortest_first() {
        let sizes = weir_workload::Sizes::list(&[(1, 0.9), (10, 0.1)]).expect("sizes");
        let queue = Mg1::new(&SizeLaw::from(&sizes), 0.8).expect("a load");
        let rate = queue.arrival_rate();
        let waits = priority_waits(&[
            PriorityClass { rate: 0.9 * rate, mean: 1.0, square: 1.0 },
            PriorityClass { rate: 0.1 * rate, mean: 10.0, square: 100.0 },
        ])
        .expect("a load");
        for (wait, size) in waits.into_iter().zip([1.0, 10.0]) {
            let exact = queue.response(Policy::Sjf, size) - size;
            assert!((wait / exact - 1.0).abs() < 1e-12, "{wait}, {exact}");
        }
    }
}
