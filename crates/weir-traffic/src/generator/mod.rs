//! What the generators of traffic share: clocks, waiting, many packets with one system call, time stamps of the kernel.
//!
//! [`crate::tg`] sends what a script says, [`crate::load`] sends requests and receives what comes back.
//!
//! | | |
//! |-|-|
//! | Source | this project; Linux, Documentation/networking/timestamping.rst |
//! | Work | a packet: O(1), and its share of a system call for at most 64 |
//! | Units | nanoseconds; bytes of the user's data |

pub mod batch;
pub mod clock;
pub mod process;
pub mod socket;
#[cfg(test)]
pub(crate) mod testing;
pub mod wall;
