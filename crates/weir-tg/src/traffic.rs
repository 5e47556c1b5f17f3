//! The packets of a script: its bursts, and how large their packets are on the wire.

use weir_core::units::{Bytes, Nanos};

use crate::Distribution;
use crate::error::ScriptError;
use crate::schedule;
use crate::script::{Protocol, Script};

/// The number in front of the data of every UDP packet, in bytes.
pub const PACKET_NUMBER: Bytes = Bytes::new(4);
/// The headers of IP and UDP, in bytes.
pub const UDP_HEADERS: Bytes = Bytes::new(28);
/// The headers of IP and TCP without options, in bytes.
pub const TCP_HEADERS: Bytes = Bytes::new(40);

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
    /// Over which protocol.
    pub protocol: Protocol,
    /// The traffic actions.
    pub bursts: Vec<Burst>,
}

/// When a burst begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this span after the script's start; later where the former burst lasts longer.
    At(Nanos),
    /// At this span after the former burst has ended.
    After(Nanos),
}

/// One traffic action.
#[derive(Clone, Debug, PartialEq)]
pub struct Burst {
    /// When it begins.
    pub from: Start,
    /// How long it lasts, if by time.
    pub time: Option<Nanos>,
    /// When it ends, since the script's start, if by the beginning of the next action.
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
    /// Whether its draws begin anew, where the mode honours it.
    pub reset: bool,
}

impl Traffic {
    /// What a script sends; nothing where it is a server.
    ///
    /// # Errors
    /// As [`crate::parse`], for a script that was not made by it.
    pub fn of(script: &Script) -> Result<Self, ScriptError> {
        Ok(Self { protocol: script.association.protocol, bursts: schedule::bursts(script)? })
    }

    /// The size on the wire, from the header of IP on, of a packet with this much of the user's data.
    #[must_use]
    pub fn wire_size(&self, data: Bytes) -> Bytes {
        match self.protocol {
            Protocol::Udp => data + PACKET_NUMBER + UDP_HEADERS,
            Protocol::Tcp => data + TCP_HEADERS,
            Protocol::Test => data,
        }
    }
}
