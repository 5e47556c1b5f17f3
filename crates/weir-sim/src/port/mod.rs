//! The message port: one server, packets of messages, any discipline.
//!
//! The unit of time (`u`) is one mean packet service; the engine's clock counts thousand-millionths of it.

pub mod accelerated;
pub mod source;
pub mod timeline;

/// Clock counts in one unit of time, the mean service of a packet.
pub const UNIT: u64 = 1_000_000_000;
