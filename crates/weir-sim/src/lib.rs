//! Simulation of scheduling disciplines: engines, workloads, statistics and theory.

#![deny(missing_docs)]

pub mod theory;
pub mod workload;
