//! What the executor does, seen from outside.

mod differential;
mod faults;
mod recorded;
mod suspended;
