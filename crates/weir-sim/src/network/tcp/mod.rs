//! Transfers that adapt to the network: a simple TCP, enough to see what a queue does to it.
//!
//! Sans-IO: a [`Sender`] says which packet leaves now and when it wants to be woken, a [`Receiver`] answers
//! each packet with an acknowledgement; whoever runs the network carries both. Packets are numbered from 0,
//! all of one size, and windows are in packets.
//!
//! | | |
//! |-|-|
//! | Source | RFC 5681 (congestion control), RFC 6582 (NewReno), RFC 9438 (CUBIC), RFC 6298 (timer), RFC 3168 (marks), RFC 3042 (limited transmit), RFC 6928 (first window) |
//! | Work per packet | O(1); O(log n) at the receiver where n gaps are open |
//! | Memory | a sender: 200 bytes; a receiver: 16 bytes a gap, at most half a window of gaps |
//! | Left out | opening and closing, selective acknowledgements, delayed acknowledgements, flow control below the fixed window, pacing, HyStart++, the ends of idle times |

pub mod control;
pub mod cubic;
pub mod receiver;
pub mod sender;
pub mod timeout;

#[cfg(test)]
mod harness;
#[cfg(test)]
mod tests;

pub use receiver::{Ack, Receiver};
pub use sender::{Config, Sender};

use weir_core::units::Bytes;

/// The size of an acknowledgement: the headers of IP and TCP without options.
pub const ACKNOWLEDGEMENT: Bytes = Bytes::new(40);
