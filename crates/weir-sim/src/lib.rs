//! Simulation of scheduling disciplines: engines, workloads, statistics and theory.

#![deny(missing_docs)]

pub mod bench;
pub mod engine;
pub mod network;
pub mod port;
pub mod scenario;
pub mod stats;
pub mod theory;
pub mod workload;

pub use port::outcome::Outcome;
pub use port::run::{Control, Progress, RecordSink, RunError, run};
pub use scenario::{Scenario, ScenarioError};
