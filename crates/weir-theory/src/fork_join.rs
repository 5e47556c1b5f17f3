//! Fork–join: a job splits into a part for each of `n` servers, and is done when its last part is.
//!
//! Jobs arrive by a Poisson process, each server has its own queue, first come first served, and parts take exponential times.
//! With `ρ` the load of a server and `M = 1 / (μ - λ)` the mean response of M/M/1:
//!
//! | servers | mean response | status | source |
//! |-|-|-|-|
//! | 2 | `(12 - ρ) / 8 M` | exact | Flatto and Hahn 1984; Nelson and Tantawi, *IEEE Transactions on Computers* 37, 1988 |
//! | `n` | `(H(n) / H(2) + 4/11 (1 - H(n) / H(2)) ρ) (12 - ρ) / 8 M` | approximation | Nelson and Tantawi 1988, within 5 % of simulation up to 32 servers |
//!
//! `H(n) = 1 + 1/2 + … + 1/n`, which is what `n` parts take at a load near 0.
//!
//! | | |
//! |-|-|
//! | Units | rates per unit of time, times in it |
//! | Work | O(n) |

use super::{TheoryError, check_load};

/// The mean time from arrival until the last part is done, of jobs that fork to two servers: exact.
///
/// ```
/// use weir_theory::fork_join_pair;
/// assert_eq!(fork_join_pair(0.5, 1.0)?, 11.5 / 8.0 * 2.0);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
///
/// # Errors
/// [`TheoryError::Unstable`] at a load of 1 or more, [`TheoryError::Load`] if it is no load, [`TheoryError::Parameter`] for a rate of service out of bounds.
pub fn fork_join_pair(arrival: f64, service: f64) -> Result<f64, TheoryError> {
    let load = load(arrival, service)?;
    Ok((12.0 - load) / 8.0 / (service - arrival))
}

/// About the mean time from arrival until the last part is done, of jobs that fork to `servers`: an approximation, exact for one and two.
///
/// ```
/// use weir_theory::fork_join;
/// // Alone, a job takes as long as the longest of four parts.
/// let alone = fork_join(4, 1e-9, 1.0)?;
/// assert!((alone - (1.0 + 0.5 + 1.0 / 3.0 + 0.25)).abs() < 1e-8);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
///
/// # Errors
/// As [`fork_join_pair`], and [`TheoryError::Parameter`] for no servers.
pub fn fork_join(servers: u32, arrival: f64, service: f64) -> Result<f64, TheoryError> {
    if servers == 0 {
        return Err(TheoryError::Parameter { name: "number of servers", value: 0.0, bound: "at least 1" });
    }
    let (load, pair) = (load(arrival, service)?, fork_join_pair(arrival, service)?);
    if servers == 1 {
        return Ok(1.0 / (service - arrival));
    }
    let longest: f64 = (1..=servers).map(|n| 1.0 / f64::from(n)).sum();
    let more = longest / 1.5;
    Ok((more + 4.0 / 11.0 * (1.0 - more) * load) * pair)
}

fn load(arrival: f64, service: f64) -> Result<f64, TheoryError> {
    if !(service > 0.0 && service.is_finite()) {
        let bound = "positive and finite";
        return Err(TheoryError::Parameter { name: "rate of service", value: service, bound });
    }
    check_load(arrival / service)?;
    Ok(arrival / service)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean response of `servers`, from Lindley's recursion at each.
    fn simulated(servers: usize, arrival: f64, jobs: u32) -> f64 {
        let mut noise = weir_lab::stats::testing::Noise::new(11);
        let (mut work, mut sum) = (vec![0.0_f64; servers], 0.0);
        for _ in 0..jobs {
            let gap = noise.exponential() / arrival;
            for queue in &mut work {
                *queue = (*queue - gap).max(0.0) + noise.exponential();
            }
            sum += work.iter().copied().fold(0.0, f64::max);
        }
        sum / f64::from(jobs)
    }

    /// The mean response of two servers from the chain of both queues, by Little's law on jobs that are not done: the longer queue.
    fn from_chain(arrival: f64) -> f64 {
        const MOST: usize = 60;
        let fastest = arrival + 2.0;
        let mut now = vec![[0.0; MOST + 1]; MOST + 1];
        now[0][0] = 1.0;
        for _ in 0..4_000 {
            let mut next = now.clone();
            for a in 0..=MOST {
                for b in 0..=MOST {
                    let mut flow = |rate: f64, to: (usize, usize)| {
                        let moved = now[a][b] * rate / fastest;
                        next[a][b] -= moved;
                        next[to.0][to.1] += moved;
                    };
                    if a.max(b) < MOST {
                        flow(arrival, (a + 1, b + 1));
                    }
                    flow(if a > 0 { 1.0 } else { 0.0 }, (a.saturating_sub(1), b));
                    flow(if b > 0 { 1.0 } else { 0.0 }, (a, b.saturating_sub(1)));
                }
            }
            now = next;
        }
        let rows = now.iter().enumerate();
        let each = rows.flat_map(|(a, row)| row.iter().enumerate().map(move |(b, p)| (a.max(b), p)));
        each.map(|(present, p)| present as f64 * p).sum::<f64>() / arrival
    }

    #[test]
    fn two_servers_agree_with_their_chain() {
        for arrival in [0.2, 0.5, 0.6] {
            let (found, chain) = (fork_join_pair(arrival, 1.0).expect("a load"), from_chain(arrival));
            assert!((found / chain - 1.0).abs() < 1e-6, "{arrival}: {found} {chain}");
            assert!((fork_join(2, arrival, 1.0).expect("a load") / found - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn more_servers_are_within_five_per_cent_of_a_simulation() {
        for (servers, arrival) in [(4, 0.5), (8, 0.8), (32, 0.7)] {
            let about = fork_join(servers, arrival, 1.0).expect("a load");
            let found = simulated(servers as usize, arrival, 200_000);
            assert!((about / found - 1.0).abs() < 0.05, "{servers}: {about} {found}");
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        assert_eq!(fork_join_pair(2.0, 1.0), Err(TheoryError::Unstable(2.0)));
        assert!(fork_join(0, 0.5, 1.0).is_err() && fork_join(3, 0.5, f64::NAN).is_err());
        assert_eq!(fork_join(1, 0.5, 1.0), Ok(2.0));
    }
}
