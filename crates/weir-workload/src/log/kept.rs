//! What is kept of a log: its requests, their classes, and what to know of them.

use super::dispersion::Dispersion;
use serde::Serialize;

/// A request of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedRequest {
    /// When it arrived, in nanoseconds since the first.
    pub at: u64,
    /// How long it was served, in nanoseconds; at least 1.
    pub service: u64,
    pub(super) line: u32,
    /// The place of its class in the names.
    pub class: u16,
}

/// What was left out or put right, and what to know of the times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Noted {
    /// Requests that have no service, as they reached no server behind the one that wrote the log.
    pub without_service: u64,
    /// Lines that came after a later one, and by how much at most, in nanoseconds.
    pub disordered: u64,
    /// The longest of it.
    pub longest_disorder_ns: u64,
    /// Services of 0, which count as half of their resolution.
    pub zero_services: u64,
    /// What times of the log are cut to, in nanoseconds.
    pub time_resolution_ns: u64,
    /// What services are cut to.
    pub service_resolution_ns: u64,
    /// Whether times were spread over their resolution.
    pub spread: bool,
    /// How many requests have a status of one hundred to five hundred, in this order, and another.
    pub statuses: [u64; 6],
    /// How many of them were given up: 408, 499, 504.
    pub given_up: u64,
}

/// The requests of a log, in order of arrival.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// The requests.
    pub requests: Vec<LoggedRequest>,
    /// The names of the classes in the order of their first lines; one without a name where no column has them.
    pub classes: Vec<String>,
    /// What to know of it.
    pub noted: Noted,
}

/// How many requests a class has, and their mean service.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassTotal {
    /// How many.
    pub count: u64,
    /// The mean service, in nanoseconds.
    pub mean_ns: f64,
}

impl Log {
    /// The totals of each class.
    #[must_use]
    pub fn class_totals(&self) -> Vec<ClassTotal> {
        let mut totals = vec![(0_u64, 0_u128); self.classes.len()];
        for request in &self.requests {
            let (count, sum) = &mut totals[usize::from(request.class)];
            (*count, *sum) = (*count + 1, *sum + u128::from(request.service));
        }
        totals
            .iter()
            .map(|(count, sum)| ClassTotal { count: *count, mean_ns: *sum as f64 / (*count).max(1) as f64 })
            .collect()
    }

    /// Services of a class, in nanoseconds: at most `most` of them, evenly from all of the log.
    #[must_use]
    pub fn services_of(&self, class: u16, most: usize) -> Vec<f64> {
        let of = || self.requests.iter().filter(|request| request.class == class);
        let step = of().count().div_ceil(most.max(1)).max(1);
        of().step_by(step).map(|request| request.service as f64).collect()
    }

    /// Times between arrivals that are not 0, in the same way.
    #[must_use]
    pub fn gaps(&self, most: usize) -> Vec<f64> {
        let gaps = || self.requests.windows(2).map(|pair| pair[1].at - pair[0].at).filter(|gap| *gap > 0);
        let step = gaps().count().div_ceil(most.max(1)).max(1);
        gaps().step_by(step).map(|gap| gap as f64).collect()
    }

    /// How the arrivals and services vary.
    #[must_use]
    pub fn dispersion(&self) -> Dispersion {
        Dispersion::of(&self.requests)
    }
}
