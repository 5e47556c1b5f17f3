//! M/G/1 with priorities that preempt: a customer of a higher class interrupts, and what it interrupts resumes where it was.
//!
//! | | |
//! |-|-|
//! | Response of class `i` | `E[S_i] / (1 - σ_{i-1}) + Σ_{j<=i} λ_j E[S_j²] / (2 (1 - σ_{i-1}) (1 - σ_i))`, `σ_i` the load of the first `i` classes |
//! | Source | Cobham 1954 for the order; Jaiswal, *Priority Queues*, 1968, chapter 4; Kleinrock, *Queueing Systems* II, 1976, section 3.6 |
//! | Units | those of [`PriorityClass`] |
//! | Work | O(classes) |
//!
//! Without preemption they are [`crate::priority_waits`].

use super::{PriorityClass, TheoryError, check_load};

/// The mean time from arrival to departure of each class of M/G/1 with preemptive-resume priorities, the first class before all
/// others, in the unit of time of the classes.
///
/// ```
/// use weir_theory::{PriorityClass, preemptive_responses};
/// let class = PriorityClass { rate: 0.25, mean: 1.0, square: 2.0 };
/// let responses = preemptive_responses(&[class, class])?;
/// // The first class is alone: M/M/1 at a load of 1/4.
/// assert!((responses[0] - 4.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
///
/// # Errors
/// As [`crate::erlang_c`], for all classes together.
pub fn preemptive_responses(classes: &[PriorityClass]) -> Result<Vec<f64>, TheoryError> {
    check_load(classes.iter().map(|class| class.rate * class.mean).sum())?;
    let response = |above: &mut (f64, f64), class: &PriorityClass| {
        let (load, residual) = (above.0 + class.rate * class.mean, above.1 + class.rate * class.square / 2.0);
        let before = 1.0 - above.0;
        *above = (load, residual);
        Some(class.mean / before + residual / (before * (1.0 - load)))
    };
    Ok(classes.iter().scan((0.0, 0.0), response).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean numbers present of two exponential classes, from the chain of both, up to `MOST` of each.
    fn present(rates: [f64; 2], services: [f64; 2]) -> [f64; 2] {
        const MOST: usize = 60;
        let fastest = rates[0] + rates[1] + services[0].max(services[1]);
        let mut now = vec![[0.0; MOST + 1]; MOST + 1];
        now[0][0] = 1.0;
        for _ in 0..12_000 {
            let mut next = now.clone();
            for first in 0..=MOST {
                for second in 0..=MOST {
                    let mut flow = |rate: f64, to: (usize, usize)| {
                        let moved = now[first][second] * rate / fastest;
                        next[first][second] -= moved;
                        next[to.0][to.1] += moved;
                    };
                    flow(rates[0], ((first + 1).min(MOST), second));
                    flow(rates[1], (first, (second + 1).min(MOST)));
                    match (first, second) {
                        (0, 0) => {}
                        (0, _) => flow(services[1], (first, second - 1)),
                        _ => flow(services[0], (first - 1, second)),
                    }
                }
            }
            now = next;
        }
        let mean = |of: &dyn Fn(usize, usize) -> usize| {
            let rows = now.iter().enumerate();
            let each = rows.flat_map(|(i, row)| row.iter().enumerate().map(move |(j, p)| (i, j, p)));
            each.map(|(i, j, p)| of(i, j) as f64 * p).sum()
        };
        [mean(&|i, _| i), mean(&|_, j| j)]
    }

    #[test]
    fn two_exponential_classes_agree_with_their_chain() {
        let (rates, services) = ([0.3, 0.2], [1.0, 0.6]);
        let class = |i: usize| PriorityClass {
            rate: rates[i],
            mean: 1.0 / services[i],
            square: 2.0 / (services[i] * services[i]),
        };
        let responses = preemptive_responses(&[class(0), class(1)]).expect("a load");
        for (i, number) in present(rates, services).into_iter().enumerate() {
            let expected = number / rates[i];
            assert!((responses[i] / expected - 1.0).abs() < 1e-6, "{i}: {} {expected}", responses[i]);
        }
    }

    #[test]
    fn too_much_for_all_classes_together_is_refused() {
        let class = PriorityClass { rate: 0.5, mean: 1.0, square: 2.0 };
        assert_eq!(preemptive_responses(&[class, class]), Err(TheoryError::Unstable(1.0)));
        assert_eq!(preemptive_responses(&[]), Err(TheoryError::Load(0.0)));
    }
}
