//! What a dispatcher would decide by, for a program that cannot call it: one that runs in the kernel.
//!
//! A rule says all that the next decisions depend on but the turns, which each receiver counts by itself, and what is at
//! the servers. It holds until the next `control`.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(1), borrowed from the dispatcher |
//! | Units | places of a list of servers; entries of a table |

use super::ServerId;

/// Some places of a list, side by side, that are taken in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first of them.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// Which of the two turns of a receiver counts them, 0 or 1.
    pub turn: u32,
}

/// How a dispatcher decides until its next `control`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule<'a> {
    /// The places of a part of a list in turn. A turn that was left beyond its part is taken modulo its count.
    Cycle {
        /// The list; a place may lead to no server.
        places: &'a [Option<ServerId>],
        /// A request whose place leads to none is dropped; otherwise the part's next place that leads to one is taken,
        /// and the turn goes on behind it.
        strict: bool,
        /// What class 0 takes, and what all others do.
        parts: [Part; 2],
    },
    /// The entry of a request's flow, by [`Hash::Keyed`](crate::packet::hash::Hash::Keyed) among `entries`; entry i is
    /// server i modulo the number of servers.
    Hash {
        /// What the hash is made of.
        seed: u64,
        /// How many entries there are, at least one.
        entries: u32,
    },
    /// The server with the fewest requests, of several the lowest.
    Shortest,
}
