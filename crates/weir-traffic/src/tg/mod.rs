//! The TG traffic language with real sockets: sources, sinks, their logs, and the report on two of them.
//!
//! ```text
//! script -> plan::Plan -> source::Source -> outlet::Outlet ~~ network ~~> sink::Sink
//!                              |                                             |
//!                          log::Writer                                  log::Writer
//!                              \------------------> report <-----------------/
//! ```
//!
//! | | |
//! |-|-|
//! | Source | TG 2.0 (McKenney, Lee, Denny, *Traffic Generator Software Release Notes*, 2002) |
//! | Work | a packet: O(1), and its share of a system call for at most 64 |
//! | Units | nanoseconds; bytes of the user's data, to which the report adds the headers |
//! | Departs from the source | responses (`interactive`) are refused; the log is another format; a sink without `setup` listens before the start; `--scale` divides times |

pub mod datagrams;
pub mod lateness;
pub mod log;
#[cfg(test)]
mod loopback;
pub mod outlet;
pub mod plan;
pub mod random;
pub mod report;
pub mod run;
pub mod sink;
pub mod socket;
pub mod source;
pub mod summary;
#[cfg(test)]
pub(crate) mod testing;
