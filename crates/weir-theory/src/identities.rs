//! Identities that hold for any order of service; simulations are checked against them.

/// Little's law: the mean number present is the arrival rate times the mean time spent (Little 1961).
#[must_use]
pub fn number_present(arrival_rate: f64, mean_time: f64) -> f64 {
    arrival_rate * mean_time
}

/// Kleinrock's conservation law: `Σ ρ_k W_k` over the classes, for orders of service without preemption.
///
/// Each class is its load and its mean wait. With Poisson arrivals the sum is `ρ` times the wait under FCFS,
/// whatever the order, if it does not depend on what a message still holds in service (Kleinrock 1965).
#[must_use]
pub fn conserved_wait(classes: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    classes.into_iter().map(|(load, wait)| load * wait).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conserved_sum_weighs_each_wait_with_its_load() {
        assert!((conserved_wait([(0.25, 2.0), (0.5, 3.0)]) - 2.0).abs() < 1e-15);
    }
}
