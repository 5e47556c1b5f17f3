//! Simulation of scheduling disciplines: engines, workloads, statistics and theory.

#![deny(missing_docs)]

pub mod bench;
pub mod engine;
pub mod fabric;
pub mod network;
pub mod node;
pub mod port;
pub mod scenario;
pub mod server;
pub mod stats;
pub mod theory;
pub mod workload;

use serde::Serialize;

pub use fabric::outcome::FabricOutcome;
pub use network::outcome::NetworkOutcome;
pub use node::outcome::NodeOutcome;
pub use port::outcome::Outcome;
pub use port::run::{Control, Progress, RecordSink, RunError};
pub use scenario::{Model, Scenario, ScenarioError};
pub use server::outcome::ServerOutcome;

/// The result of a run, of whichever model; `model` in it says of which.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum AnyOutcome {
    /// Of a scenario of the port.
    Port(Box<Outcome>),
    /// Of a scenario of a network.
    Network(Box<NetworkOutcome>),
    /// Of a scenario of a fabric.
    Fabric(Box<FabricOutcome>),
    /// Of a scenario of the node.
    Node(Box<NodeOutcome>),
    /// Of a scenario of the server.
    Server(Box<ServerOutcome>),
}

impl AnyOutcome {
    /// The result of a port, if it is one.
    #[must_use]
    pub fn port(self) -> Option<Outcome> {
        match self {
            Self::Port(outcome) => Some(*outcome),
            _ => None,
        }
    }

    /// The result of a network, if it is one.
    #[must_use]
    pub fn network(self) -> Option<NetworkOutcome> {
        match self {
            Self::Network(outcome) => Some(*outcome),
            _ => None,
        }
    }

    /// The result of a fabric, if it is one.
    #[must_use]
    pub fn fabric(self) -> Option<FabricOutcome> {
        match self {
            Self::Fabric(outcome) => Some(*outcome),
            _ => None,
        }
    }

    /// The result of a node, if it is one.
    #[must_use]
    pub fn node(self) -> Option<NodeOutcome> {
        match self {
            Self::Node(outcome) => Some(*outcome),
            _ => None,
        }
    }

    /// The result of a server, if it is one.
    #[must_use]
    pub fn server(self) -> Option<ServerOutcome> {
        match self {
            Self::Server(outcome) => Some(*outcome),
            _ => None,
        }
    }
}

/// Runs a scenario by the engines of its model.
///
/// # Errors
/// [`RunError`]; a port whose load is 1 or more is no error, its result says so in place of means.
pub fn run(scenario: &Scenario, control: &mut Control<'_>) -> Result<AnyOutcome, RunError> {
    let frame = &scenario.frame;
    match &scenario.model {
        Model::Port(port) => {
            port::run::run(port, frame, control).map(|outcome| AnyOutcome::Port(Box::new(outcome)))
        }
        Model::Network(network) => {
            network::run::run(network, frame, control).map(|outcome| AnyOutcome::Network(Box::new(outcome)))
        }
        Model::Fabric(fabric) => {
            fabric::run::run(fabric, frame, control).map(|outcome| AnyOutcome::Fabric(Box::new(outcome)))
        }
        Model::Node(node) => {
            node::run::run(node, frame, control).map(|outcome| AnyOutcome::Node(Box::new(outcome)))
        }
        Model::Server(server) => {
            server::run::run(server, frame, control).map(|outcome| AnyOutcome::Server(Box::new(outcome)))
        }
    }
}
