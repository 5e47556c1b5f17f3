//! The node: processes on processors, the events and queues by which they wait for each other, and at every processor a
//! scheduler that a discipline of tasks is.
//!
//! | | |
//! |-|-|
//! | Source | Rettberg, *Development of a Voice Funnel System, Quarterly Technical Report No. 18*, BBN Report 5285, 1983, sections 2 to 4; where it is silent, the choices that `reproduce/epoch` lists |
//! | Time | whole nanoseconds |
//!
//! **A node** has one processor and one instance of the discipline; several nodes are joined by a switch, over which a
//! post takes `switch_delay`. **A process** runs its program on its node. An item before the discipline is one
//! readiness of a process: it is enqueued when the process wakes, finished when it waits.
//!
//! **Programs.** `compute` uses processor time. `post` marks an event and, if its owner waits for it, wakes the owner;
//! a second post before the owner has waited has no effect. `wait` for any event, or for one of a set, takes the first
//! match in the order of the posts and goes on without entering the scheduler, or waits. `enqueue` gives data to the
//! first process that waits at a queue, by posting it, or leaves it there; `dequeue` takes data or waits; a queue never
//! holds both. `sleep` waits for the timer demon. A post, and an enqueue that posts, uses `costs.post` of processor
//! time before it takes effect; to another node it uses `costs.remote` instead, whether anybody waits or not, and takes
//! effect at the other node `switch_delay` later. All the rest takes no time.
//!
//! **The scheduler** is entered when a slice is over, when the running process waits, when an event wakes a process of
//! a higher level than the running one's (the discipline says so), or any while the processor is idle, and when the
//! discipline has an event of its own: the turn of an epoch. It asks the discipline; what it costs depends on its path
//! ([`record::Path`]): `costs.swap` where one process is left and another started, `costs.restart` where the same goes
//! on or nobody does, half way between them where a process is only saved or only restored. The timer's interrupt costs
//! `costs.timer` more, once for all that is due at an instant: the end of a slice and wake-ups of the timer demon. It
//! costs nothing at the turn of an epoch alone; `system.uncharged` is spent there. Interrupts take the processor for
//! the sum; what falls due meanwhile is seen to at the end.
//!
//! **A start** (`starts`) is a wake-up of the timer demon, for which the processes ask in their order before anything
//! runs.
//!
//! **Who pays.** The timer's interrupt and the path are charged to the process that is left, or interrupted, and count
//! inside a slice of it: where it goes on, of that slice, whether it is the rest of the old one or a new one;
//! otherwise of the slice in which it runs next, in whole, also where it was moved and runs elsewhere before the
//! interrupt is over. From an idle processor the process that is started pays. What nobody can be charged for (an idle
//! processor that stays idle, `system.uncharged`) is counted as uncharged. So run time + idle + uncharged = elapsed,
//! on every node.
//!
//! **At one instant**, on each node in the order of their numbers: first the running process comes to the end of what
//! it computes, and runs on to where it next uses time or waits; then the wake-ups of the timer demon that are due, in
//! the order in which they were asked for; then the posts that have come over the switch; then the discipline's own
//! event (the turn of the epoch), since the timer's routine posts all that is due before it asks for the scheduler;
//! then, if the slice is over, its end: of a slice that the discipline's own event has ended at this instant too. The scheduler is entered once, after all of these. If something is due at the same instant then (who was started
//! uses no time before it waits), all this is gone through again, before the next node is seen. A post to another node
//! whose `switch_delay` is zero is seen there at the same instant, and who moves does so once this node is through.
//!
//! **A response** begins where a process becomes ready and is over where it waits or ends. Each run of a replay, and each
//! turn of a periodic sleep, is one of its own: from when it is due to its end, also where the next is due by then and
//! the process does not wait. The turns of a periodic sleep begin where the process became ready, and with that itself if
//! it has neither computed, posted nor taken data since: what passes before it is given the processor is not lost. Who
//! starts with a periodic sleep has no response before its first turn. The start of a process is ready at `starts`, also
//! where an interrupt holds it up.
//!
//! **Random numbers** are drawn from a stream for each process (`Purpose::Services`, by the number of the process), in
//! the order in which its program comes to them; so they do not depend on the discipline.
//!
//! **Nothing moves any more** where every process that has not ended, but for the system's, waits and neither the timer
//! nor the switch holds anything that could wake one: that is a deadlock, and refused with who waits for what. A
//! program that comes to no end without using time or waiting is refused too.
//!
//! **System processes**, one of each on every node if the scenario has them: the Epoch Scheduler (priority 3), which
//! wakes at each epoch's beginning, and the Remote Demon (priority 2), which wakes half an epoch later. They compute
//! their time and sleep.
//!
//! **Rebalancing.** Every `balance.every` the node that was busiest since the last time, with the processes that are
//! there now but for the system's, and the least busy one are compared. Of the movable processes of the first, whose
//! need fits on the second together with those of its processes and of those that are to move there (no need at all
//! always does), that one moves whose run time is nearest to half of their difference, more than nothing and less than
//! the difference; of equals the first. It moves, with its events and what the timer demon holds of it, at once if it
//! waits, else when it next waits, unless the other node's discipline refuses it; `balance.cost` of processor time is
//! used there before it goes on. Who is to move and comes to an operation at which it could wait, but need not, does it
//! and waits for a nanosecond, so that it moves: a `wait` for what is posted, a `dequeue` of data at hand, a turn
//! of a periodic sleep or a run of a replay that is due, a `sleep` for no time. Its response ends there; the next one
//! of a turn or a run begins, as always, when that was due. Posts find it where it is, those under way too; queues
//! stay. Who waits at a queue of another node is given data `switch_delay` after it came there.
//!
//! **Measured** is from the warm-up to the end. An interrupt that is cut by the end is reported up to there.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![deny(missing_docs)]

mod check;
pub mod collector;
mod document;
mod engine;
pub mod figures;
pub mod generators;
pub mod job;
pub mod model;
pub mod outcome;
pub mod over_time;
pub mod record;
pub mod recorder;
pub mod report;
pub mod responses;
pub mod run;
pub mod sampler;
pub mod summary;
pub mod tally;
pub mod timeline;

#[cfg(test)]
mod statistics_tests;
#[cfg(test)]
mod tests;
