//! Runs a scenario of the node: from the checked model to the result.

use crate::network::run::Frame;
use crate::node::model::NodeScenario;
use crate::node::outcome::NodeOutcome;
use crate::port::run::{Control, RunError};

/// Runs a scenario. Progress counts simulated nanoseconds over all jobs.
///
/// # Errors
/// [`RunError`].
pub fn run(node: &NodeScenario, _frame: &Frame, _control: &mut Control<'_>) -> Result<NodeOutcome, RunError> {
    Err(RunError::Refused { place: node.title.clone(), reason: "the node is not simulated yet".to_owned() })
}
