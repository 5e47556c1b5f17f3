//! Epoch scheduling, held against its specification.

mod accounts;
mod admission;
mod hostile;
mod load;
mod lockstep;
mod node;
mod oracle;
mod properties;
mod readings;
mod schedules;
mod script;

use super::Epoch;
use crate::info::Arguments;
use crate::spec::Spec;
use crate::task::Task;

/// The discipline that a spec names.
fn make(spec: &str) -> Epoch<Task> {
    let spec: Spec = spec.parse().unwrap();
    Epoch::from_spec(&Arguments::new(&spec, &super::INFO).unwrap()).unwrap()
}
