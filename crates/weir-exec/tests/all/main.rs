//! What the executor does, seen from outside.

mod differential;
mod events;
mod faults;
mod recorded;
mod suspended;
#[cfg(feature = "tokio")]
mod tokio_tasks;
