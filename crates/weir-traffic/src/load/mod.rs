//! Requests over UDP, sent when they are due and not when an answer has come, and how long the answers took.
//!
//! ```text
//! Plan -> Schedule -> run::Run -> sockets::Sockets ~~ network ~~> a server that answers
//!                        |  ^                                          |
//!             flights::Flights <-- replies, time stamps of the kernel -/
//!                        \-> tally::Tally -> report::Report
//! ```
//!
//! A round trip begins when the request was due, whether or not the generator was late: a server that stalls is seen by
//! every request that was due meanwhile (coordinated omission cannot occur). Next to it stands the round trip from the
//! kernel's time stamp, in which the generator has no part. It ends when the kernel received the answer.
//!
//! | | |
//! |-|-|
//! | Source | Schroeder, Wierman and Harchol-Balter, *Open versus closed: a cautionary tale*, NSDI 2006; Tene, *How not to measure latency*, 2013; RFC 4737 for what is out of order |
//! | Work | a request: O(1), and its share of system calls for at most 64 of a flow |
//! | Units | nanoseconds; bytes of the user's data |
//! | Memory | 40 bytes a request for as long as its answer is waited for, at most 80 MiB; 3 kB a class and window |

use std::io;

use crate::generator::clock::Clock;

pub mod flights;
pub mod payload;
pub mod plan;
pub mod report;
mod run;
pub mod schedule;
pub mod sockets;
mod tally;
#[cfg(test)]
mod tests;
mod walls;

/// Runs a plan that was checked.
///
/// # Errors
/// The sockets cannot be made.
pub fn run(plan: &plan::Plan, clock: &impl Clock) -> io::Result<report::Report> {
    let mut sockets = sockets::Sockets::new(plan.target, plan.flows, plan.size)?;
    Ok(measured(plan, &mut sockets, clock))
}

fn measured(plan: &plan::Plan, line: &mut impl sockets::Line, clock: &impl Clock) -> report::Report {
    report::Report::new(plan, &run::Run::new(plan, line, clock).run())
}
