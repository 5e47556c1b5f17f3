//! Disciplines over messages: items of several units, served in parts or whole. One algorithm a file.

pub mod fifo;
