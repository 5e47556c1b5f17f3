//! What is said over the control socket: one JSON object a line each way, a request and its answer.
//!
//! The socket is `/run/weir/NAME/control`, of mode 0660 in a directory of mode 0750. Whoever can open it may read; who
//! is not root and not the daemon's own user may not change anything (SO_PEERCRED). A request longer than
//! [`LONGEST_REQUEST`] or not of this form is answered with an error and the connection is closed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use weir_plane::estate::Estate;
use weir_plane::snapshot::Snapshot;
use weir_plane::subscribers::SubscribersSnapshot;

use super::drops::Drops;
use crate::steer::report::{SteeringStats, SteeringStatus};

/// The longest request, in bytes, which holds a whole configuration.
pub const LONGEST_REQUEST: usize = 1 << 20;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Who is there: [`Answer::Status`].
    Status,
    /// What was counted: [`Answer::Stats`].
    Stats,
    /// The configuration as it is in force: [`Answer::Configuration`].
    Configuration,
    /// What was counted by subscriber: [`Answer::Subscribers`].
    Subscribers,
    /// Takes the configuration of this text, which is of this file.
    Reload {
        /// The file, as errors name it.
        file: String,
        /// Its text.
        text: String,
    },
    /// Changes one interface until the next reload.
    Set {
        /// Which.
        interface: String,
        /// The new rate, such as `20Mbit`, or `none`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<String>,
        /// The new discipline, as a spec string.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        discipline: Option<String>,
        /// The new propagation delay, such as `5ms`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        propagation: Option<String>,
    },
    /// Nothing new is queued at an interface, and what waits leaves; `resume` ends it.
    Drain {
        /// Which; all of them without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interface: Option<String>,
        /// Takes packets again.
        #[serde(default)]
        resume: bool,
    },
    /// Takes another policy, of a daemon that steers.
    Policy {
        /// The policy, as a spec string.
        spec: String,
    },
    /// Spreads requests over other processors, of a daemon that steers.
    Cores {
        /// Which, such as `1-3` or `1,2,5`.
        processors: String,
    },
    /// The packets that a router dropped last: [`Answer::Drops`]. For whoever may change it.
    Drops,
    /// Another process is about to take the place of this router: [`Answer::Links`].
    TakeOver,
    /// The other process has its own programs in place: this one moves no packet any more and leaves what it has,
    /// [`Answer::Estate`]. It goes on if it is not asked to stop soon.
    HandOver,
    /// Ends the daemon, after what waits has left.
    Stop,
}

impl Request {
    /// What it reads, if it changes nothing, so that who may only read may ask it.
    #[must_use]
    pub const fn reading(&self) -> Option<Reading> {
        match self {
            Self::Status => Some(Reading::Status),
            Self::Stats => Some(Reading::Stats),
            Self::Configuration => Some(Reading::Configuration),
            Self::Subscribers => Some(Reading::Subscribers),
            _ => None,
        }
    }
}

/// A request that changes nothing: its answer is the same for all who ask at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Who is there.
    Status,
    /// What was counted.
    Stats,
    /// The configuration in force.
    Configuration,
    /// What was counted by subscriber.
    Subscribers,
}

impl Reading {
    /// All of them, in their order.
    pub const ALL: [Self; 4] = [Self::Status, Self::Stats, Self::Configuration, Self::Subscribers];
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// It was done.
    Done {
        /// What came of it, in words.
        said: String,
    },
    /// Who is there.
    Status(Status),
    /// What was counted.
    Stats(Box<Snapshot>),
    /// What was counted by subscriber, of each interface that has some.
    Subscribers {
        /// The interfaces.
        interfaces: Vec<SubscribersSnapshot>,
    },
    /// Who is there, of a daemon that steers.
    Steering(SteeringStatus),
    /// What was counted, by a daemon that steers.
    Requests(Box<SteeringStats>),
    /// What was dropped last.
    Drops(Box<Drops>),
    /// The links of its programs in the kernel, by interface; none of one that has no program.
    Links {
        /// Their numbers.
        links: BTreeMap<String, Option<u32>>,
    },
    /// What it leaves to the process that takes its place.
    Estate(Box<Estate>),
    /// The configuration in force, as TOML.
    Configuration {
        /// The text.
        text: String,
    },
    /// It was refused, and nothing was changed.
    Refused {
        /// Where, what, which bound and what to do: one line.
        error: String,
        /// Whether it was refused because a permission is missing.
        #[serde(default)]
        permission: bool,
    },
}

impl Answer {
    /// Refused for another reason than permission.
    #[must_use]
    pub fn refused(error: impl Into<String>) -> Self {
        Self::Refused { error: error.into(), permission: false }
    }
}

/// Who is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The router's name.
    pub name: String,
    /// The program's version.
    pub version: String,
    /// The daemon's process.
    pub process: u32,
    /// Nanoseconds since it began.
    pub up_ns: u64,
    /// The file of its configuration.
    pub file: String,
    /// Its interfaces, each with the means by which frames come in and leave, its discipline and its rate.
    pub interfaces: Vec<InterfaceStatus>,
    /// Capabilities that it kept.
    pub capabilities: Vec<String>,
    /// Whether it has real-time priority, and which.
    pub priority: String,
}

/// One interface of a [`Status`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterfaceStatus {
    /// Its name in the kernel.
    pub name: String,
    /// `AF_XDP, copy`, `AF_XDP, zero copy` or `AF_PACKET`.
    pub means: String,
    /// Whether it is up.
    pub up: bool,
    /// Its discipline, as it is written.
    pub discipline: String,
    /// What it holds, and how long that takes on the line.
    #[serde(default)]
    pub holds: String,
    /// Its rate, or `none`.
    pub rate: String,
    /// Packets waiting.
    pub waiting: u64,
    /// Whether it is being drained.
    pub draining: bool,
}
