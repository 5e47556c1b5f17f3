//! The fabric: end-points and switches joined by links with credits, where nothing is ever dropped, and at every output
//! and interface a scheduler of virtual channels that a discipline is.
//!
//! | | |
//! |-|-|
//! | Source | Martínez, Alfaro and Sánchez, *Comparing the latency performance of the DTable and DRR schedulers*, 2007, section 3; where it is silent, the choices that `reproduce/dtable` lists |
//! | Time | sixths of a nanosecond, so that half of 145 ns and a byte at 1.5 times 2 Gb/s are whole numbers; what is not whole is rounded up |
//! | Units | sizes: bytes on the wire; buffers and flow control: credits, to which every packet is rounded up; costs before disciplines: the bytes of these credits |
//!
//! **A packet** is generated in the application queue of its interface and channel, which has no bound. It enters the
//! interface's buffer, in order, as soon as the buffer has room for the whole of it.
//!
//! **A link**, from an interface or from an output of a switch: when it is free, the discipline is asked for a packet
//! among those in the buffer before it, where the gate permits a packet whose credits the channel has. The start takes
//! the credits; for `size` bytes at the data rate the link is occupied, and the space before it is released at the
//! end. The head is known at the next input after the propagation and the time of the header; the tail comes when
//! the propagation after the end is over. An end-point consumes at once and is never short of credits.
//!
//! **A switch** lets a head bid half of its latency after the head is known. From an input (first in, first out in
//! each channel) to an output a transfer starts when the input is idle, the output's writing side is idle, and
//! the buffer of the output and channel has room for the whole packet, which is reserved. It takes `size` bytes at
//! the crossbar's rate, but ends no earlier than the tail has come; then the space in the input is released, and
//! its credit is at the sender after the credit's return. Half of the switch's latency after the start of the
//! transfer the packet is before the scheduler of the output.
//!
//! **At one instant** first everything happens that is due, in any order: links and sides become free, space is
//! released, credits return, heads may bid, packets come before schedulers. Then each interface takes in what has
//! been generated, channel by channel in their order, each until there is no more or no room. Then each switch fills
//! its crossbar, output by output in the order of the ports: an idle output takes the next of the inputs in turn,
//! after the one it took last, that is idle and has a head that may go to it; of several channels of this input the
//! next in turn, after the one that this input sent last. Turns begin with input 0 and channel 0. Then each free link
//! for which something has become due at this instant (it became free, a packet came before its scheduler, a credit
//! returned, its discipline had an event) asks its discipline, over an empty buffer too. What starts has its first
//! effect later than this instant, for every span is at least a tick; so the order among interfaces, switches and
//! links does not matter.
//!
//! **Disciplines** see the whole nanoseconds that have passed. A grant is finished at once: a packet that starts is
//! committed. What a discipline does in between (`next_event`) is due at that nanosecond.
//!
//! **Adaptive routing.** A head that may go down goes down. Another bids, at each filling anew, for the upper output
//! that is idle and has the most room for its channel, among those with room for the whole packet; of equals for the
//! first in turn from the one that deterministic routing would take. A switch then fills until nothing more starts, so
//! that heads which chose alike spread.
//!
//! **The end.** What happens at the end of the replication or later is neither reported nor counted. With
//! verification the sources stop there, and everything that was generated must arrive.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![deny(missing_docs)]

pub mod accelerated;
pub mod build;
mod check;
pub mod collector;
mod crossbar;
mod document;
pub mod figures;
pub mod job;
pub mod law;
pub mod model;
pub mod offered;
pub mod outcome;
pub mod over_time;
pub mod packet;
pub mod plain;
pub mod record;
pub mod recorder;
pub mod report;
pub mod route;
pub mod run;
pub mod source;
#[cfg(test)]
mod statistics_tests;
pub mod summary;
#[cfg(test)]
pub(crate) mod testing;
pub mod time;
pub mod topology;
mod verify;
