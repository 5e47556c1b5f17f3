//! The fabric: end-points and switches joined by links with credits, where nothing is ever dropped, and at every output
//! and interface a scheduler of virtual channels that a discipline is.
//!
//! | | |
//! |-|-|
//! | Source | Martínez, Alfaro and Sánchez, *Comparing the latency performance of the DTable and DRR schedulers*, 2007, section 3; where it is silent, the choices that `reproduce/dtable` lists |
//! | Time | sixths of a nanosecond, so that half of 145 ns and a byte at 1.5 times 2 Gb/s are whole numbers; what is not whole is rounded up |
//! | Units | sizes: bytes on the wire; buffers and flow control: credits, to which every packet is rounded up |
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
//! **At one instant** first everything happens that is due: packets are generated and enter, links and sides
//! become free, space is released, credits return, heads may bid, packets come before schedulers. Then each
//! switch fills its crossbar, output by output in the order of the ports: an idle output takes the next of the inputs
//! in turn, after the one it took last, that is idle and has a head that may go to it; of several channels of this
//! input the next in turn, after the one that this input sent last. Then each free link for which something has
//! become due at this instant asks its discipline. What starts has its first effect later than this instant, so
//! the order among switches and links does not matter.

pub mod law;
pub mod model;
pub mod outcome;
pub mod packet;
pub mod record;
pub mod route;
pub mod source;
#[cfg(test)]
pub(crate) mod testing;
pub mod time;
pub mod topology;
