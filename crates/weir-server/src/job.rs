//! One discipline in one replication of a server, and what it leaves besides what was reported to the sink.

/// One discipline in one replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The replication.
    pub replication: u32,
    /// A place in [`super::model::ServerScenario::specs`].
    pub discipline: usize,
}

/// What a replication leaves: counts up to its end, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Requests that arrived.
    pub offered: u64,
    /// Those that were done.
    pub done: u64,
    /// Those that left unserved.
    pub dropped: u64,
    /// Of them, those that left since their service did not begin in time.
    pub abandoned: u64,
    /// Of those that left unserved, those that did not join.
    pub balked: u64,
    /// Grants.
    pub decisions: u64,
    /// Grants that ended before the request was done.
    pub preemptions: u64,
    /// Requests that went to another core than they were first sent to: stolen, or redirected.
    pub moved: u64,
    /// The time of the last end of a service.
    pub last: u64,
    /// Transitions that were checked; none without verification.
    pub checked: u64,
    /// `accelerated` where the engine without events ran it.
    pub accelerated: bool,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All is done.
    Finished(Left),
    /// It was broken off.
    Interrupted,
}

weir_lab::encode! {
    Left { offered, done, dropped, abandoned, balked, decisions, preemptions, moved, last, checked, accelerated }
}
