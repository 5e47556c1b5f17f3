//! Scripts that are damaged, and the departures of those of the SFQ report.

mod mutated;
mod vectors;
