//! Scheduling disciplines: who is served next at a point of contention, and for how much at most.
//!
//! A discipline is written once, against one contract ([`discipline::Discipline`]), and runs unchanged in
//! the simulator, in an in-process queue, in a router and in an executor of tasks. Nothing here reads a
//! clock, locks, logs, does I/O, or allocates in the steady state.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod added;
pub mod alarms;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod discipline;
pub mod excerpt;
pub mod info;
pub mod item;
pub mod message;
pub mod packet;
pub mod pool;
pub mod priority;
pub mod random;
pub mod registry;
pub mod spec;
pub mod task;
pub mod textbook;
pub mod units;

mod ranked;
mod scanner;

// For the other crates of weir, and no part of what this one promises.
#[doc(hidden)]
pub mod canonical;
#[doc(hidden)]
pub mod heap;
#[doc(hidden)]
pub mod nearest;
#[doc(hidden)]
pub mod role;

// The example of the README is a test of its own.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
