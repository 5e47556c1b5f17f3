//! The server: requests that are spread over cores, by a dispatcher or from a queue that cores share.
//!
//! | | |
//! |-|-|
//! | Source | Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, and the handout of that lab; policies of later systems as their files in `weir_core::pool` say |
//! | Time | whole nanoseconds |
//!
//! **A request** arrives with a class, a flow and a service time, which is what it needs of a core. The disciplines are
//! told what [`model::Known`] says of it, not more.
//!
//! **Receivers.** A request comes to the receiver `flow mod receivers`, which sees to one after the other, `costs.dispatch`
//! each; `costs.hand_over` later it is before the discipline. The times between arrival and there are part of its
//! queueing delay. Of those that come there at one instant, who arrived first comes first. Where `ring` is given, at most
//! so many wait for a receiver, but for the one it sees to: who finds no place when it arrives is dropped. A place is free
//! from the instant on at which the receiver turns to the next.
//!
//! **Cores.** A core serves one request at a time, up to the quantum that the discipline grants. Before it, it spends the
//! overhead that the discipline states, and `costs.cold` more where the request's flow was last served by another core
//! (the flow's data are in another cache). Overheads keep the core busy, delay the request, and are no service.
//!
//! **Control.** A discipline that controls itself is told, period by period, of the requests whose service began in it, of
//! what cores were busy, and how long ago the request arrived that came before the discipline first of those whose service
//! has not begun. Where nothing is left to come, periods end with the last request.
//!
//! **Closed-loop clients** first think, then submit. A request that is dropped is over where it is; its client thinks on from
//! one nanosecond later.
//!
//! **Patience.** A request whose service has not begun by the end of its patience, which counts from its arrival, leaves. That is found where
//! its turn comes: until then it stands in the queue, is counted by the bound of the queue, and is seen by dispatchers. A core that
//! turns to it turns to the next at once.
//!
//! **Timeout.** A client gives up where its request is not answered by then. The server does not know, and does the work all the same.
//!
//! **Retries.** A client whose attempt is dropped, leaves, or is not answered by its timeout sends the request again after a back-off: the same
//! class, flow, service and patience. The back-off grows by `factor` with every attempt, less an even random part; a budget
//! grants a part of a further attempt for each request that comes by itself, and saves up a hundred at the most. An attempt that would arrive after the end of
//! the measured time is not made. Every attempt counts as a request; [`outcome`] has the figures of both.
//!
//! **At one instant**: first the ends of services, in the order of the cores; then the control of the discipline; then
//! clients that give up; then arrivals. Each core that becomes free is asked at once; then those that the discipline wakes.
//!
//! **Queueing delay** is from arrival to where service begins first. **Response** is from arrival to the end of the
//! service. **Slowdown** is response over service. **Waiting**, of all kinds, is response less service.
//!
//! **Reordered** is a request that ends after a later one of its flow has.
//!
//! **Counted** is every request that arrives in the measured time, from the end of the warm-up to before the end; the run
//! goes on without arrivals until all of them are done. So all disciplines are compared over the same requests. What is
//! told of cores (busy, overhead, in use) is of the measured time.
//!
//! **Windows** are of `measure.window`, from the beginning of the run; the delay of a request counts in the window in which
//! its service begins.
//!
//! **Random numbers**: times of arrival, classes, flows and service times have streams of their own, drawn in the order of
//! the arrivals; so they do not depend on the discipline. With closed-loop clients each client has its own.

#![deny(missing_docs)]

pub(crate) mod accelerated;
mod check;
pub mod closed_form;
pub mod collector;
pub mod comparison;
mod document;
pub mod engine;
pub mod figures;
mod floor;
pub mod generators;
pub mod job;
pub mod model;
pub mod offered;
pub mod outcome;
pub mod record;
pub mod report;
pub mod run;
pub mod run_length;
pub mod selfcheck;
pub(crate) mod source;
pub mod summary;

#[cfg(test)]
mod statistics_tests;
#[cfg(test)]
mod tests;
