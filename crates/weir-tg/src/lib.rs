//! The TG traffic language: scripts that say when packets leave and how large they are.
//!
//! Sans-IO, so that the simulator and the live generator share it.

pub mod distribution;
pub mod traffic;

pub use distribution::Distribution;
pub use traffic::{RandomMode, Traffic};
