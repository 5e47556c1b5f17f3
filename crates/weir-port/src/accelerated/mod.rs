//! The accelerated port: ticks instead of time, whole grants, strategies in lockstep.
//!
//! All strategies share one timeline (see [`super::timeline`]): between two arrivals each serves the same
//! number of packets, so none needs a clock. FIFO is a matter of cumulative lengths; the strategies ordered
//! by key do work per arrival and per completion, side by side; only the round robins handle each packet.
//! What comes out is what the plain engine gives, decision by decision and latency by latency.
//!
//! | | |
//! |-|-|
//! | Limits | at most 64 classes, each of one length (and one alpha) below 2^32; alpha below 2^32 |
//! | Memory | the backlog of the slowest strategy, plus blocks of 512 messages |
//! | Results | exact integers, the same on every machine and at every [`Level`] |

mod error;
mod fifo;
mod flow;
mod heads;
mod key;
mod keyed;
mod lockstep;
mod players;
mod queues;
mod robin;
mod strategy;
mod tally;
#[cfg(test)]
mod tests;

pub use error::{LockstepError, MOST_CLASSES};
pub use lockstep::{Limit, Lockstep, Options, Stopped};
pub use strategy::{Alpha, FRACTION_BITS, Strategy};
pub use tally::{Batch, BatchObserver, Probe};
pub use weir_lab::dispatch::Level;
