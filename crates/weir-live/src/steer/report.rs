//! What a daemon that steers tells over its control socket: who is there, and what was counted.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Units | nanoseconds, requests, frames; everything counted only grows, and windows are differences |

use serde::{Deserialize, Serialize};
use weir_gauge::spans::Sojourn;

use super::counts::FrameCounts;

/// Who is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteeringStatus {
    /// The daemon's name.
    pub name: String,
    /// The program's version.
    pub version: String,
    /// The daemon's process.
    pub process: u32,
    /// Nanoseconds since it began.
    pub up_ns: u64,
    /// The file of its configuration.
    pub file: String,
    /// The interface.
    pub interface: String,
    /// Where the programs run: in the driver, or in the kernel's generic path.
    pub mode: String,
    /// Whether they go on when the daemon has died.
    pub pinned: bool,
    /// Whether the kernel reports requests that found a queue full; otherwise they are counted once the queue is idle.
    pub counts_overflow: bool,
    /// The policy.
    pub policy: String,
    /// The processors, those that are being drained included.
    pub processors: Vec<ProcessorStatus>,
    /// Capabilities that the daemon kept.
    pub capabilities: Vec<String>,
}

/// One processor of a [`SteeringStatus`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessorStatus {
    /// Its number.
    pub processor: u32,
    /// How it stands with it.
    pub state: State,
    /// The kernel thread that serves its queue, once it is known.
    pub thread: Option<u32>,
    /// How that is scheduled.
    pub priority: String,
    /// Requests that wait for it.
    pub waiting: u64,
}

/// How it stands with a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// New requests are sent to it.
    InUse,
    /// The policy sends it none at present.
    Free,
    /// It was taken away, and serves what it has.
    Draining,
    /// It is offline: its requests go to others.
    Offline,
    /// It has no queue any more.
    Closed,
}

impl State {
    /// The state in words.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::InUse => "in use",
            Self::Free => "free",
            Self::Draining => "draining",
            Self::Offline => "offline",
            Self::Closed => "closed",
        }
    }
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteeringStats {
    /// The daemon's name.
    pub name: String,
    /// The interface.
    pub interface: String,
    /// Nanoseconds since the daemon began.
    pub at_ns: u64,
    /// The policy.
    pub policy: String,
    /// How many processors new requests are sent to.
    pub in_use: u32,
    /// What the short and all other requests take of the list: the first place and how many.
    pub parts: [[u32; 2]; 2],
    /// How often another decision came into force.
    pub changes: u64,
    /// Frames by what became of them.
    pub frames: FrameCounts,
    /// By processor.
    pub processors: Vec<ProcessorStats>,
    /// By class.
    pub classes: Vec<ClassStats>,
    /// The loop.
    pub control: LoopStats,
}

/// Requests at one processor: steered = served + dropped + waiting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessorStats {
    /// Its number.
    pub processor: u32,
    /// The kernel thread that serves its queue, once it is known.
    pub thread: Option<u32>,
    /// How that is scheduled.
    pub priority: String,
    /// Whether it is online.
    pub online: bool,
    /// Whether new requests are sent to it.
    pub in_use: bool,
    /// Whether it was taken away and serves what it has.
    pub draining: bool,
    /// Sent to it.
    pub steered: u64,
    /// Those whose service has begun.
    pub served: u64,
    /// Those that found its queue full.
    pub dropped: u64,
    /// Those that wait.
    pub waiting: u64,
}

/// One class: how long its requests waited from the interface to the begin of service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassStats {
    /// Its name.
    pub name: String,
    /// How many.
    pub requests: u64,
    /// How long they waited.
    #[serde(flatten)]
    pub delay: Sojourn,
}

/// The loop itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopStats {
    /// How often the policy received a measurement.
    pub calls: u64,
    /// The processor time that the loop's thread has taken.
    pub busy_ns: u64,
    /// How often the policy is called.
    pub period_ns: u64,
}
