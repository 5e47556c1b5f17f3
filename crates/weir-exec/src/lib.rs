//! An executor of tasks that promises each so much of every period, and gives the rest to whoever asks.

#![deny(missing_docs)]

mod clock;
mod counters;
mod dispatcher;
mod dual_queue;
mod event;
mod executor;
mod header;
mod inbox;
mod join;
mod local;
mod notice;
#[cfg(feature = "tokio")]
mod reactor;
mod report;
mod shared;
mod signal;
pub mod simulation;
mod slots;
mod spawning;
mod stack;
mod start;
mod sync;
mod terms;
mod time;
mod timers;
mod watch;
mod worker;
mod yields;

pub use counters::{PATHS, Path, TaskCounts, WorkerCounts};
pub use dual_queue::{Dequeue, DualQueue};
pub use event::{Event, Events, Poster, WaitError};
pub use executor::{BuildError, Builder, Executor, Handle};
pub use join::{JoinError, JoinHandle};
pub use report::Report;
pub use signal::should_yield;
pub use spawning::{blocking, is_worker, spawn_local};
pub use terms::{Template, Terms};
pub use time::{Every, Moment, NoPeriod, Sleep, every, now, sleep, sleep_until};
pub use yields::{YieldNow, preemption_point, steps, yield_now};
