//! The packets that a router dropped last, for whoever may change it: packets are not for all who may read figures.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | the loop copies what is kept; the rest is done by the thread that was asked |
//! | Units | nanoseconds since 1970, bytes |

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use weir_core::units::Instant;
use weir_plane::dropped::{Dropped, Record};
use weir_plane::estate::{bytes, hexadecimal};
use weir_plane::snapshot::Reason;

use super::protocol::Answer;

/// What was dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drops {
    /// How many packets, since the daemon began.
    pub dropped: u64,
    /// The last of them, the oldest first.
    pub packets: Vec<DroppedPacket>,
}

/// A packet that was dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DroppedPacket {
    /// When, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The interface that counts it.
    pub interface: String,
    /// Why.
    pub reason: Reason,
    /// How many bytes the frame had.
    pub bytes: u32,
    /// Its first bytes, in hexadecimal digits.
    pub head: String,
}

/// What was noted in all of these records: how many packets, and those that are kept.
pub(super) fn gathered<'a>(records: impl Iterator<Item = &'a Record>) -> (u64, Vec<Dropped>) {
    let (mut dropped, mut last) = (0, Vec::new());
    for record in records {
        dropped += record.count();
        last.extend(record.last());
    }
    (dropped, last)
}

/// The answer of a daemon whose clock says `now`; made later, by another thread.
pub(super) fn answer(
    (dropped, mut last): (u64, Vec<Dropped>),
    now: Instant,
    interfaces: Vec<String>,
) -> impl FnOnce() -> Answer + Send + 'static {
    move || {
        last.sort_by_key(|one| one.at);
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        let began = began.saturating_sub(now.get());
        let packet = |one: &Dropped| DroppedPacket {
            at_ns: began + one.at.get(),
            interface: interfaces.get(usize::from(one.interface)).cloned().unwrap_or_default(),
            reason: one.reason,
            bytes: one.length,
            head: hexadecimal(one.head()),
        };
        Answer::Drops(Box::new(Drops { dropped, packets: last.iter().map(packet).collect() }))
    }
}

impl DroppedPacket {
    /// Its first bytes; none where they are no hexadecimal digits.
    #[must_use]
    pub fn head(&self) -> Vec<u8> {
        bytes(&self.head).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_back() {
        let mut one = DroppedPacket {
            at_ns: 0,
            interface: String::new(),
            reason: Reason::Loop,
            bytes: 3,
            head: String::new(),
        };
        for head in [vec![], vec![0, 255, 16]] {
            one.head = hexadecimal(&head);
            assert_eq!(one.head(), head);
        }
        one.head = "0g".to_owned();
        assert!(one.head().is_empty());
    }
}
