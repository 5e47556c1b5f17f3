//! What the executor does, seen from outside.

mod asking;
mod events;
mod faults;
mod metrics;
#[cfg(target_os = "linux")]
mod real_time;
mod recorded;
mod sampled;
mod suspended;
#[cfg(feature = "tokio")]
mod tokio_tasks;
