//! Whoever runs a scene, each configured as its documentation has it for such work, all on one and the same processor.

mod clockworkers;
#[cfg(target_os = "linux")]
mod glommios;
mod threads;
mod tokios;
pub mod weirs;

use std::sync::Arc;

use crate::env::Scene;
use crate::machine::{Rank, permits};

/// See above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Weir,
    /// In slices that are little longer than what is to be done.
    WeirShort,
    /// And who waits keeps nothing of them.
    WeirAtDispatch,
    WeirPriority,
    WeirPriorityOverTokio,
    WeirOverTokio,
    Tokio,
    /// Tokio that looks at timers and other threads after every poll, and not after 61 and 31.
    TokioTuned,
    TwoTokios,
    TwoTokiosNice,
    Clockworker,
    Glommio,
    Threads,
    ThreadsNice,
    ThreadsFifo,
}

/// The nicest and the least nice that the system knows.
const FIRST: Rank = Rank::Nice(-20);
const LAST: Rank = Rank::Nice(19);
const FIFO: Rank = Rank::Fifo(50);

impl Peer {
    pub const ALL: [Self; 15] = [
        Self::Weir,
        Self::WeirShort,
        Self::WeirAtDispatch,
        Self::WeirPriority,
        Self::WeirPriorityOverTokio,
        Self::WeirOverTokio,
        Self::Tokio,
        Self::TokioTuned,
        Self::TwoTokios,
        Self::TwoTokiosNice,
        Self::Clockworker,
        Self::Glommio,
        Self::Threads,
        Self::ThreadsNice,
        Self::ThreadsFifo,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Weir => "weir-exec",
            Self::WeirShort => "weir-exec, slices of 500 us",
            Self::WeirAtDispatch => "weir-exec, slices of 500 us, at_dispatch",
            Self::WeirPriority => "weir-exec, priority_rr",
            Self::WeirPriorityOverTokio => "weir-exec over Tokio, priority_rr",
            Self::WeirOverTokio => "weir-exec over Tokio",
            Self::Tokio => "Tokio",
            Self::TokioTuned => "Tokio, intervals 1",
            Self::TwoTokios => "two Tokios",
            Self::TwoTokiosNice => "two Tokios, nice -20 and 19",
            Self::Clockworker => "clockworker 99:1",
            Self::Glommio => "Glommio 990:10",
            Self::Threads => "threads",
            Self::ThreadsNice => "threads, nice -20 and 19",
            Self::ThreadsFifo => "threads, SCHED_FIFO",
        }
    }

    /// # Errors
    /// Why it does not run here.
    pub fn runs(self) -> Result<(), String> {
        let ranked = |rank| permits(rank).map_err(|error| format!("{rank:?}: {error}"));
        match self {
            Self::TwoTokiosNice | Self::ThreadsNice => ranked(FIRST),
            Self::ThreadsFifo => ranked(FIFO),
            #[cfg(target_os = "linux")]
            Self::Glommio => glommios::runs(),
            #[cfg(not(target_os = "linux"))]
            Self::Glommio => Err("is for Linux only".to_owned()),
            _ => Ok(()),
        }
    }

    /// Runs the tasks of a scene to their end.
    pub fn run<S: Scene>(self, scene: &Arc<S>) {
        match self {
            Self::Weir => weirs::run(scene, "epoch(100ms)", false),
            Self::WeirShort => weirs::run(scene, "epoch(100ms,slice=500us)", false),
            Self::WeirAtDispatch => weirs::run(scene, "epoch(100ms,slice=500us,allocate=at_dispatch)", false),
            Self::WeirPriority => weirs::run(scene, "priority_rr", false),
            Self::WeirPriorityOverTokio => weirs::run(scene, "priority_rr", true),
            Self::WeirOverTokio => weirs::run(scene, "epoch(100ms)", true),
            Self::Tokio => tokios::run(scene, false),
            Self::TokioTuned => tokios::run(scene, true),
            Self::TwoTokios => tokios::run_two(scene, Rank::Ordinary, Rank::Ordinary),
            Self::TwoTokiosNice => tokios::run_two(scene, FIRST, LAST),
            Self::Clockworker => clockworkers::run(scene),
            #[cfg(target_os = "linux")]
            Self::Glommio => glommios::run(scene),
            #[cfg(not(target_os = "linux"))]
            Self::Glommio => {}
            Self::Threads => threads::run(scene, Rank::Ordinary, Rank::Ordinary),
            Self::ThreadsNice => threads::run(scene, FIRST, LAST),
            Self::ThreadsFifo => threads::run(scene, FIFO, Rank::Ordinary),
        }
    }
}
