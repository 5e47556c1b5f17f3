//! Disciplines over messages: items of several units, served in parts or whole. One algorithm a file.

pub mod alpha;
pub mod alpha_tracking;
pub mod fifo;
mod flows;
pub mod in_order;
pub mod outstanding;
pub mod rr;
pub mod rr_head;
pub mod sf;

#[cfg(test)]
mod schedule;
