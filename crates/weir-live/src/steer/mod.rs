//! Packets steered to processors: XDP programs that decide as the dispatchers of weir-core do.
//!
//! ```text
//! device -> steer (bpf/steer): ours? class, flow -> the decision in force -> queue of a processor (cpumap)
//!        -> steer_serve on that processor: delay, service, back or on to the kernel
//! daemon -> every period: what was counted -> the dispatcher of weir-core -> another decision
//! ```
//!
//! [`kernel`] holds the programs and their maps, [`decision`] turns the rule of a dispatcher into what the programs
//! read. [`config`] is the definition of the daemon's configuration, [`policy`] builds the dispatcher, [`control`] tells
//! it what was measured and puts its decisions into force, [`daemon`] is the loop around that.
//! [`bare`] is the baseline of the benchmarks.
//!
//! | | |
//! |-|-|
//! | Source | Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024; Linux, `BPF_MAP_TYPE_CPUMAP` |
//! | Units | nanoseconds, requests, frames |

pub mod bare;
pub mod config;
pub mod control;
pub mod counts;
mod cpumap;
pub mod daemon;
pub mod decision;
#[cfg(test)]
mod host;
pub mod kernel;
mod layout;
pub mod policy;
pub mod processors;
mod queue;
pub mod report;
pub mod requests;
mod setup;
mod shared;
mod threads;
mod window;
