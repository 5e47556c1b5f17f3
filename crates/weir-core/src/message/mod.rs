//! Disciplines over messages: items of several units, served in parts or whole. One algorithm a file.

pub mod fifo;
pub mod hrrn;
pub mod las;
pub mod ps;
pub mod psjf;
mod ranked;
pub mod sjf;
#[cfg(test)]
mod testing;
mod tournament;
