//! What the programs and the daemon share, as it lies in memory: the structures of `bpf/steer/intf.h`.
//!
//! The counters are read while the programs write them; each is read at once.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(1) each |
//! | Units | nanoseconds, requests, frames |

use core::sync::atomic::{AtomicU32, AtomicU64};

use weir_gauge::spans::BUCKETS;

use super::decision::Decision;

/// `STEER_CPUS`: the largest number that a processor may have, and one more.
pub(super) const PROCESSORS: usize = 1024;
/// `STEER_CLASSES`.
pub(super) const CLASSES: usize = 2;
/// `STEER_PORTS`: the most ports and service code points of a rule.
pub(super) const PORTS: usize = 16;

/// `struct steer_setup`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Setup {
    pub(super) traffic: u32,
    pub(super) class_rule: u32,
    pub(super) offset: u32,
    pub(super) at_least: u32,
    pub(super) ports_used: u32,
    pub(super) values_used: u32,
    pub(super) ports: [u16; PORTS],
    pub(super) values: [u16; PORTS],
    pub(super) flow_key: [u64; 2],
    pub(super) serve: u32,
    pub(super) reflect: u32,
    pub(super) field: u32,
    pub(super) iterations: u32,
}

/// `struct steer_rules`.
#[repr(C)]
pub(super) struct Rules {
    pub(super) decisions: [Decision; 2],
    pub(super) active: AtomicU32,
    pub(super) generic: AtomicU32,
    unused: [u32; 14],
}

/// `struct steer_receiver`.
#[repr(C)]
pub(super) struct Receiver {
    pub(super) frames: [AtomicU64; 7],
    turns: [AtomicU32; 2],
}

/// `struct steer_queue`.
#[repr(C)]
pub(super) struct Queue {
    pub(super) steered: AtomicU64,
    pub(super) dropped: AtomicU64,
    unused: [u64; 6],
}

/// `struct steer_served`.
#[repr(C)]
pub(super) struct Served {
    pub(super) requests: AtomicU64,
    done: AtomicU64,
    pub(super) completed: AtomicU64,
    unused: [u64; 5],
}

/// `struct steer_counts`.
#[repr(C)]
pub(super) struct Counted {
    pub(super) receivers: [Receiver; PROCESSORS],
    pub(super) queues: [Queue; PROCESSORS],
    pub(super) served: [Served; PROCESSORS],
}

/// `struct steer_delays`.
#[repr(C)]
pub(super) struct Delays {
    pub(super) requests: AtomicU64,
    pub(super) sum: AtomicU64,
    pub(super) longest: AtomicU64,
    unused: u64,
    pub(super) spans: [AtomicU64; BUCKETS],
}
