//! Simulation of scheduling disciplines: engines, workloads, statistics and theory.

#![deny(missing_docs)]

pub mod stats;
pub mod theory;
pub mod workload;
