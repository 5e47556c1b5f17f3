//! Runs the programs of a scenario of the node for real: each process is a task of `weir-exec`, and computes on a processor
//! of this machine for as long as its program says.
//!
//! | | |
//! |-|-|
//! | Programs | those of `weir-node`, with the same random numbers; nodes are workers |
//! | Time | that of the executor, which begins when the first task is spawned |
//! | Computing | a loop that asks at every turn whether it should give way, and counts the time it had the processor; where the system gives the processor to somebody else meanwhile, that counts too |
//! | Departs from the model | costs are those of this machine, so `costs`, `system` and `switch_delay` have no effect; processes do not move |

#![deny(missing_docs)]

mod program;
mod run;

pub use program::{Late, World, interpret};
pub use run::{EnactError, Enacted, Live, enact};
