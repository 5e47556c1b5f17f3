//! One stream of packets of a script.

use weir_core::units::{Bytes, Nanos};

use crate::Distribution;

/// Where the random numbers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RandomMode {
    /// 4.3BSD `random()` with its default seed, as version 2.0 of TG has it: every stream draws one sequence.
    Compatible,
    /// Streams of the caller; the seeds of the script are honoured.
    #[default]
    Independent,
}

/// What a script sends on one association: bursts of traffic, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The traffic actions.
    pub bursts: Vec<Burst>,
}

/// One traffic action.
#[derive(Clone, Debug, PartialEq)]
pub struct Burst {
    /// When it begins, since the script's start.
    pub from: Nanos,
    /// When it ends, if by time.
    pub until: Option<Nanos>,
    /// Gaps, in seconds.
    pub arrival: Distribution,
    /// Lengths of the user's data, in bytes.
    pub length: Distribution,
    /// It ends before the packet that would exceed this number.
    pub packets: Option<u64>,
    /// It ends before the packet that would exceed this amount of data.
    pub data: Option<Bytes>,
    /// The seed of its draws, where the mode honours it.
    pub seed: Option<u64>,
}
