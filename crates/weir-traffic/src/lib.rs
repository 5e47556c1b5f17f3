//! Generators of traffic over real sockets.
//!
//! [`tg`] sends and receives what scripts of the TG traffic language say, logs every packet and reports on pairs of
//! logs. [`load`] sends requests when they are due and tells how long the answers took. What both need of a host
//! stands in [`generator`]: clocks, waiting, many packets with one system call, time stamps of the kernel.
//!
//! | | |
//! |-|-|
//! | Source | as the modules say |
//! | Work | a packet: O(1), and its share of a system call for at most 64 |
//! | Units | nanoseconds; bytes of the user's data |

#[cfg(not(target_os = "linux"))]
compile_error!("weir-traffic runs on Linux alone: time stamps of the kernel are its own");

pub mod generator;
pub mod load;
pub mod tg;
