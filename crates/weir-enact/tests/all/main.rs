//! The programs of the node as tasks: the schedule under a simulated clock, and what a live run records.

mod differential;
mod live;
mod properties;
