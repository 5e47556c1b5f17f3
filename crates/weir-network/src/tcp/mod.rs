//! Transfers that adapt to the network: a simple TCP, enough to see what a queue does to it.
//!
//! Sans-IO: a [`Sender`] says which packet leaves now and when it wants to be woken, a [`Receiver`] answers
//! each packet with an acknowledgement; whoever runs the network carries both. Packets are numbered from 0,
//! all of one size, and windows are in packets.
//!
//! | | |
//! |-|-|
//! | Source | RFC 5681 (congestion control), RFC 2018 and RFC 6675 (selective acknowledgements), RFC 9438 (CUBIC), RFC 9406 (the end of its slow start), RFC 6298 (timer), RFC 3168 (marks), RFC 6928 (first window) |
//! | Work per packet | O(1), amortized; O(log n) at the receiver where n gaps are open |
//! | Memory | a sender: 16 bytes a packet of the window; a receiver: 16 bytes a gap, at most half a window of gaps |
//! | Left out | opening and closing, delayed acknowledgements, flow control below the fixed window, pacing, losses detected by time (RFC 8985), the ends of idle times |

pub mod control;
pub mod cubic;
pub mod receiver;
pub mod scoreboard;
pub mod sender;
pub mod slow_start;
pub mod timeout;

#[cfg(test)]
mod harness;
#[cfg(test)]
mod tests;

pub use receiver::{Ack, Receiver};
pub use sender::{Config, Sender};
