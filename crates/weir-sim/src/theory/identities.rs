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
    use crate::theory::Port;
    use crate::workload::Sizes;

    #[test]
    fn little_relates_the_waits_of_packets_to_the_queue_length() {
        let port = Port::new(&Sizes::alpha_report(), 0.9, 0.25).expect("stable");
        // Under FIFO packet j of a message waits j - 1 services longer than its first.
        let rows = port.fifo();
        let wait = |length: u64, latency: f64| length as f64 * (latency - (length - 1) as f64 / 2.0);
        let waits = rows.rows().iter().map(|row| row.share * wait(row.length, row.latency)).sum::<f64>();
        let found = number_present(port.arrival_rate(), waits);
        assert!((found / port.queue_length() - 1.0).abs() < 1e-12, "{found}");
    }

    #[test]
    fn the_conserved_sum_weighs_each_wait_with_its_load() {
        assert!((conserved_wait([(0.25, 2.0), (0.5, 3.0)]) - 2.0).abs() < 1e-15);
    }
}
