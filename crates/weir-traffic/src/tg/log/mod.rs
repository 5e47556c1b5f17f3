//! The log of a generator: a header, records of fixed size, and a last record that says how many.
//!
//! ```text
//! WEIRTGLG  version (4 bytes)  length of the header (4 bytes)  header: JSON, filled with spaces to a multiple of 8
//! record (32 bytes) ...  record of kind end, with the number of records before it
//! ```
//!
//! Without its last record a log was cut: by `kill -9`, a full disk, or because it is still being written. It is
//! readable up to the last whole record, and its reader says that it was cut.
//!
//! | | |
//! |-|-|
//! | Source | the records are those of TG 2.0 (release notes, 2002); the format is this project's |
//! | Work | O(1) a record; 32 bytes on disk |
//! | Memory | writing: at most 8 MiB wait for the disk; then the generator waits too, which its lateness shows |
//! | Units | nanoseconds from the start of the script on the wall clock; bytes; numbers are little-endian |
//! | Departs from the source | one header of JSON; nanoseconds; when a packet was due cannot be combined with when it left |

pub mod name;
pub mod reader;
pub mod record;
#[cfg(test)]
mod tests;
pub mod writer;

use serde::{Deserialize, Serialize};

use crate::generator::wall::WallTime;

pub use reader::{Ending, Reader};
pub use record::{Kind, Record};
pub use writer::Writer;

/// What a log begins with.
pub const MAGIC: [u8; 8] = *b"WEIRTGLG";
/// The version of the format.
pub const VERSION: u32 = 1;
/// The longest header, in bytes: a script may have 1 MiB, and JSON writes a character in up to six.
pub const MAX_HEADER: u32 = 8 << 20;

/// What a host did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It sent.
    Source,
    /// It received.
    Sink,
}

/// Over which protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// UDP: packets with numbers.
    Udp,
    /// TCP: bytes.
    Tcp,
}

/// Where the times of packets were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stamps {
    /// By the process, before the packet is handed to the kernel or after it came from it.
    Process,
    /// By the kernel, when the packet reached it.
    Kernel,
}

/// What a log says of its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of `weird` that wrote it.
    pub weird: String,
    /// The host.
    pub host: String,
    /// What it did.
    pub role: Role,
    /// Over which protocol.
    pub transport: Transport,
    /// Which clock the times are of: `CLOCK_REALTIME`.
    pub clock: String,
    /// Where they were taken.
    pub stamps: Stamps,
    /// The start of the script, in nanoseconds since 1970.
    pub start: WallTime,
    /// By how much durations and gaps were divided.
    pub scale: u32,
    /// Where random numbers came from: `compatible`, or `independent` with a seed.
    pub random: String,
    /// The seed of `independent`.
    pub seed: u64,
    /// The lateness that 99 % of the packets were promised to stay below, in nanoseconds.
    pub promised_ns: u64,
    /// The script, as the parser prints it.
    pub script: String,
}
