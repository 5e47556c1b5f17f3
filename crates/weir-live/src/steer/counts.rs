//! What the programs have counted, as the daemon reads it.

use serde::{Deserialize, Serialize};

use weir_gauge::spans::Spans;

/// Everything that the programs have counted since they were loaded; nothing is ever reset.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Frames by what became of them.
    pub frames: FrameCounts,
    /// By processor, those that have or had a queue, in order.
    pub processors: Vec<ProcessorCounts>,
    /// What the requests of each class waited, all processors together: 0 the short ones, 1 all others.
    pub delays: [Spans; 2],
}

/// Frames by what became of them: `enum steer_frame` of `bpf/steer/intf.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameCounts {
    /// To the queue of a processor.
    pub steered: u64,
    /// Not ours: to the kernel.
    pub passed: u64,
    /// Shorter than their headers: to the kernel.
    pub short: u64,
    /// Fragments: to the kernel.
    pub fragment: u64,
    /// Dropped, as no place led to a processor.
    pub no_server: u64,
    /// Sent on from a place that led to none.
    pub redirected: u64,
    /// With a checksum that was left to a device and that the programs cannot complete: to the kernel.
    pub left_out: u64,
    /// Steered, with a checksum that was left to a device and that was completed.
    pub completed: u64,
}

/// Requests at one processor. `steered = served + dropped + waiting`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorCounts {
    /// Its number.
    pub processor: u32,
    /// Sent to it.
    pub steered: u64,
    /// Those whose service has begun there.
    pub served: u64,
    /// Those that found its queue full.
    pub dropped: u64,
}

impl ProcessorCounts {
    /// Those that wait.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.steered.saturating_sub(self.served).saturating_sub(self.dropped)
    }
}
