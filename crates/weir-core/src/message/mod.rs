//! Disciplines over messages: items of several units, served in parts or whole. One algorithm a file.

pub mod alpha;
pub mod alpha_tracking;
pub mod fifo;
mod flows;
pub mod hrrn;
pub mod in_order;
pub mod las;
pub mod outstanding;
pub mod ps;
pub mod psjf;
mod ranked;
pub mod rr;
pub mod rr_head;
pub mod sf;
pub mod sjf;
#[cfg(test)]
mod testing;
mod tournament;
