//! The message port: one server, packets of messages, any discipline.
//!
//! The unit of time (`u`) is one mean packet service; the engine's clock counts thousand-millionths of it. Where time is
//! in seconds it counts nanoseconds, or picoseconds ([`ticks`]).

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![deny(missing_docs)]

pub mod accelerated;
pub mod application;
pub mod arrivals;
pub mod audit;
pub mod build;
mod by_class;
mod check;
pub mod collector;
pub mod comparison;
mod document;
pub mod engine;
pub mod figures;
pub mod flight;
pub mod fluid;
pub mod gathered;
mod kept;
pub mod lane;
pub mod lindley;
pub mod lockstep_lane;
pub mod model;
pub mod observer;
mod offered;
pub mod outcome;
pub mod over_time;
pub mod plain;
pub mod report;
pub mod rounds;
pub mod run;
pub mod selfcheck;
pub mod service;
pub mod settling;
pub mod shortest;
mod sources;
#[cfg(test)]
mod testing;
pub mod theory;
pub mod ticks;
pub mod timeline;
pub mod warmup;
pub mod whole;

/// Clock counts in one unit of time, the mean service of a packet.
pub const UNIT: u64 = 1_000_000_000;
