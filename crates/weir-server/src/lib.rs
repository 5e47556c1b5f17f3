//! The server: requests that are spread over cores, by a dispatcher or from a queue that cores share.
//!
//! | | |
//! |-|-|
//! | Source | Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, and the handout of that lab; policies of later systems as their files in `weir_core::pool` say |
//! | Time | whole nanoseconds |
//!
//! **A request** arrives with a class, a flow and a service time, which is what it needs of a core. The disciplines
//! know of it what [`model::Known`] says, not more.
//!
//! **Receivers.** A request comes to the receiver `flow mod receivers`, which sees to one after the other, `costs.dispatch`
//! each; `costs.hand_over` later it is before the discipline. The times between arrival and there are part of its
//! queueing delay. Of those that come there at one instant, who arrived first comes first. Where `ring` is given, at most
//! that many wait for a receiver, but for the one it sees to: who finds no place when it arrives is dropped. A place is
//! free from the instant on at which the receiver turns to the next.
//!
//! **Cores.** A core serves one request at a time, up to the quantum that the discipline grants. Before it, it spends the
//! overhead that the discipline states, and `costs.cold` more where the request's flow was last served by another core
//! (the flow's data are in another cache). Overheads keep the core busy, delay the request, and are no service.
//!
//! **Control.** A discipline that controls itself learns, period by period, of the requests whose service began in it, of
//! what cores were busy, and how long ago the request arrived that came before the discipline first of those whose service
//! has not begun. Where nothing is left to come, periods end with the last request.
//!
//! **Closed-loop clients** first think, then submit. A request that is dropped is over where it is, and so is one on which its client
//! gives up for good; its client thinks on from one nanosecond later.
//!
//! **Patience.** A request whose service has not begun by the end of its patience, which counts from its arrival, leaves. That is found where
//! its turn comes: until then it stands in the queue, is counted by the bound of the queue, and is seen by dispatchers. A core that
//! turns to it turns to the next at once.
//!
//! **Balking.** A request that finds at least a given number waiting when it arrives, in all queues together and those who have
//! left but still stand there with them, does not join, with a probability. Its client does not try again.
//!
//! **Deadline.** The answer must be there by then, and the server knows. With `before`, a request whose turn comes first is not begun if it
//! would end later, were it served from then on in one piece, the overhead of the discipline with it. With `during`, a request is not
//! served from its deadline on: at a core it is cut off, in the queue it is found when its turn comes. Its client gives up then as by a
//! timeout.
//!
//! **Timeout.** A client gives up where its request is not answered by then. The server does not know, and does the work all the same.
//!
//! **Retries.** A client whose attempt is dropped, leaves, or is not answered by its timeout sends the request again after a back-off: the same
//! class, flow, service and patience. The back-off grows by `factor` with every attempt, less an even random part; a budget
//! grants a part of a further attempt for each request that comes by itself, and saves up a hundred at the most. An attempt that would arrive after the end of
//! the measured time is not made. Every attempt counts as a request; [`outcome`] has the figures of both.
//!
//! **Circuit breaker.** One for all clients: attempts that it refuses are not sent, and fail at once. An attempt has ended for it when it
//! is answered or its client gives up.
//!
//! **Fan-out.** A request may be several sub-requests, which come before the discipline together, when the request has passed its
//! receiver as one. Each has its own service, or all that of the request. The request is answered by as many of them as it needs, and lost where
//! fewer are left. What is not needed any more is cancelled as [`model::Cancel`] says: where it waits, when its turn comes, as of those who have left;
//! in service, when an answer comes, while of a request that is lost what is in service is served to its end. Under a dispatcher all sub-requests are at
//! different cores. **A second copy** of a sub-request that is not answered for some time goes to another core; the first answer of the two is
//! that of the sub-request.
//!
//! **At one instant**: first the ends of services, in the order of the cores; then the control of the discipline; then
//! clients that give up, and second copies; then arrivals. Each core that becomes free is asked at once; then those whose service was
//! stopped, in their order; then those that the discipline wakes.
//!
//! **Queueing delay** is from arrival to where service begins first. **Response** is from arrival to the end of the
//! service. **Slowdown** is response over service. **Waiting**, of all kinds, is response less service.
//!
//! **Of a fan-out**, queueing delay is that of the sub-request that was answered last of those that were needed, response is from
//! arrival to that answer, and slowdown is response over what the request takes on idle cores: the service of the sub-request that is the last needed there.
//!
//! **Reordered** is a request that ends after a later one of its flow has.
//!
//! **Counted** is every request that arrives in the measured time, from the end of the warm-up to before the end; the run
//! goes on without arrivals until all of them are done. So all disciplines are compared over the same requests. What is
//! reported of cores (busy, overhead, in use) is of the measured time.
//!
//! **Windows** are of `measure.window`, from the beginning of the run; the delay of a request counts in the window in which
//! its service begins.
//!
//! **Random numbers**: times of arrival, classes, flows and service times have streams of their own, drawn in the order of
//! the arrivals; so they do not depend on the discipline. With closed-loop clients each client has its own.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
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
pub mod over_time;
pub mod record;
mod recorder;
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
