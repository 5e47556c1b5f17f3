//! An executor that promises each task a part of every period, and gives the rest to whichever asks.
//!
//! | | |
//! |-|-|
//! | Source | the scheduler: Rettberg, *Development of a Voice Funnel System, Quarterly Technical Report No. 18*, BBN Report 5285, 1983, sections 2 and 3; the disciplines: `weir_core::task` |
//! | Time | nanoseconds since the executor began, on a monotonic clock |
//! | Work of a decision | the discipline's, and O(1); of a timer O(log timers) |
//! | Memory | constant a task, besides its future; nothing is allocated per poll |
//! | Departs from the source | tasks give way themselves; a slice ends where they do |
//!
//! A worker is a thread with tasks of its own (`worker`), which asks its dispatcher (`dispatcher`) who is next, and polls
//! that task. The timer thread (`watch`) asks a running task to give way when its slice is over. Other threads wake tasks
//! and spawn them through the inbox of their worker (`inbox`).

#![deny(missing_docs)]
// What only a reactor asks for.
#![cfg_attr(not(feature = "tokio"), allow(dead_code))]

mod clock;
mod counters;
mod dispatcher;
mod dual_queue;
mod error;
mod event;
mod executor;
mod header;
mod inbox;
mod join;
mod local;
mod metrics;
mod notice;
mod observe;
#[cfg(feature = "tokio")]
mod reactor;
mod recorder;
mod recording;
mod report;
mod sampler;
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

pub use counters::{TaskCounts, WorkerCounts};
pub use dual_queue::{Dequeue, DualQueue};
pub use error::BuildError;
pub use event::{Event, Events, Poster, WaitError};
pub use executor::{Builder, Executor, Handle};
pub use join::{JoinError, JoinHandle};
pub use metrics::prometheus;
pub use report::Report;
pub use sampler::Sampler;
pub use signal::should_yield;
pub use spawning::{blocking, is_worker, spawn_local};
pub use terms::{Template, Terms};
pub use time::{Every, Moment, NoPeriod, Sleep, every, now, ready_since, sleep, sleep_until};
/// The paths of the scheduler, and their names in metrics.
pub use weir_core::task::Path;
pub use yields::{YieldNow, preemption_point, steps, yield_now};

/// The example of the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
