//! The network: routers joined by links, and at each link a queue that a discipline orders.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![deny(missing_docs)]

pub mod accelerated;
#[cfg(test)]
mod agreement;
pub mod build;
pub mod calendar;
pub mod chance;
mod check;
pub mod collector;
pub mod delay;
mod document;
pub mod drop_tail;
pub mod feed;
pub mod figures;
pub mod flight;
pub mod interface;
pub mod job;
pub mod model;
pub mod outcome;
pub mod over_time;
pub mod packets;
pub mod plain;
pub mod plan;
pub mod report;
pub mod ring;
pub mod route;
pub mod run;
pub mod sampler;
pub mod script;
pub mod source;
pub mod summary;
pub mod tcp;
#[cfg(test)]
mod tests;
pub mod tournament;
pub mod transfer;
pub mod wire;
