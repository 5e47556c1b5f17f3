//! Identities that hold for any order of service; simulations are checked against them.

/// Little's law: the mean number present is the arrival rate times the mean time spent (Little 1961).
#[must_use]
pub fn number_present(arrival_rate: f64, mean_time: f64) -> f64 {
    arrival_rate * mean_time
}

/// How far two measurements of one quantity are apart, relative to the larger; 0 where both are 0.
///
/// Used on the two sides of an identity: `number_present(rate, time)` and the number counted, the work that
/// came in and the work that was served.
#[must_use]
pub fn relative_gap(one: f64, other: f64) -> f64 {
    let scale = one.abs().max(other.abs());
    if scale == 0.0 { 0.0 } else { (one - other).abs() / scale }
}

/// Kleinrock's conservation law: `Σ ρ_k W_k` over the classes, for orders of service without preemption.
///
/// Each class is its load and its mean wait. With Poisson arrivals the sum is `ρ` times the wait under FCFS,
/// whatever the order, if it does not depend on what a message still holds in service (Kleinrock 1965).
#[must_use]
pub fn conserved_wait(classes: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    classes.into_iter().map(|(load, wait)| load * wait).sum()
}
