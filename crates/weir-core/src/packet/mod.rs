//! Disciplines over packets at a link: each is served whole. One algorithm a file.

pub mod drr;
mod slots;
pub mod tbf;

/// First in, first out knows no difference between messages and packets.
pub use crate::message::fifo;
