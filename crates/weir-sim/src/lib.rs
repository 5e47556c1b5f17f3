//! Simulation of scheduling disciplines: one facade over the models.
//!
//! | floor | crate |
//! |-|-|
//! | disciplines, their registry, units | `weir-core` |
//! | documents and their refusals | `weir-document` |
//! | streams, runner, statistics, results | `weir-lab` |
//! | arrivals, sizes, traces; closed forms of queues | `weir-workload`, `weir-theory` |
//! | the models, none of which knows another | `weir-port`, `weir-network`, `weir-fabric`, `weir-node`, `weir-server` |
//! | this one: what a scenario names is found, read and run | `weir-sim` |
//!
//! ```toml
//! weir = 1
//! model = "port"
//! disciplines = ["fifo", "rr", "sf", "alpha:10"]
//! reference = "sf"
//!
//! [workload]
//! load = 0.95
//! lengths = "report"
//!
//! [stop]
//! packets = 100_000_000
//! ```
//!
//! `model` comes first: it says of which document the rest is read, each strict by itself.

#![deny(missing_docs)]

pub mod bench;
pub mod cell;
pub mod listing;
mod models;
pub mod table;

pub use cell::Cell;
pub use models::{AnyOutcome, NAMES, Scenario, run, schema, theory_only};
pub use weir_document::Refused as ScenarioError;
pub use weir_lab::control::{Control, Progress, RecordSink};
pub use weir_lab::error::RunError;
pub use weir_lab::{parallel, stats, stream};
pub use weir_port::outcome::Outcome;
pub use {
    weir_fabric as fabric, weir_network as network, weir_node as node, weir_port as port,
    weir_server as server,
};
pub use {weir_theory as theory, weir_workload as workload};

// The example of the README is a test of its own.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
