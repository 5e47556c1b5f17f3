//! Replications that survive their process: logs of what was played, an index over them, and who plays what.
//!
//! What is kept is bytes under a key; what they mean is the caller's. A folder of a sweep holds
//!
//! ```text
//! FOLDER/log/0001.log ...   what was played: one writer a log, which holds a lock on it while it lives
//! FOLDER/claims             one byte for each share of the work; who plays from a share holds its lock
//! ```
//!
//! | part | module |
//! |-|-|
//! | a record, and reading a file of them, whatever became of it | [`record`] |
//! | the log that a process writes | [`log`] |
//! | where each replication is kept | [`index`] |
//! | shares of the work, so that two processes do not play the same | [`claims`] |
//! | playing what is missing, on threads | [`sweep`] |
//!
//! Nothing that was handed to the system is lost when the process is killed, at whatever instant; what was synchronised with
//! the disk, about every second, outlives the machine's power too. A record that is cut or damaged is played again, and no
//! other. Two processes that play the same replication keep the same bytes, so that a claim saves work and nothing else.

#![deny(missing_docs)]

pub mod claims;
pub mod error;
pub mod index;
pub mod log;
pub mod record;
pub mod sweep;

pub use error::Error;
pub use index::{Index, Key, Kind, Version};
pub use sweep::{Play, Progress, Source, Sweep};
