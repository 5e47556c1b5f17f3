//! Disciplines over tasks: processes that are ready to run, served in time. One algorithm a file.
//!
//! An item is one readiness of a process: it is enqueued when the process becomes ready, requeued when its slice is
//! over or another preempts it, and finished when it waits. What a process keeps over a wait stands in the discipline,
//! by its flow. What it asks for it declares once, before it is first ready ([`TaskDiscipline::declare`]).

pub mod cbs;
pub mod eevdf;
pub mod epoch;
mod path;
pub mod priority_rr;
mod processes;
pub mod share;
pub mod stride;
mod terms;
#[cfg(test)]
mod testing;
mod virtual_time;

use crate::discipline::Discipline;
use crate::item::{FlowId, Item};
use crate::registry::register;
use crate::units::{Instant, Nanos, Weight};
use core::fmt;

pub use path::Path;
pub use processes::MAX_PROCESSES;

/// The highest priority of a process; the lowest is 0.
pub const TOP_PRIORITY: u8 = 3;

/// One readiness of a process. What is still to be served of it nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The process.
    pub process: FlowId,
}

impl Item for Task {
    type Cost = Nanos;
    #[inline]
    fn flow(&self) -> FlowId {
        self.process
    }
    #[inline]
    fn cost(&self) -> Nanos {
        Nanos::new(0)
    }
}

/// What a process asks for. Each discipline uses of it what it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// From 0, in no hurry, to [`TOP_PRIORITY`], vital; 1 is ordinary.
    pub priority: u8,
    /// What it is promised in every epoch.
    pub need: Nanos,
    /// How long it runs at most before others of its standing do; `None`: as the discipline has it.
    pub slice: Option<Nanos>,
    /// A period of its own, in which a discipline that knows periods promises it the same part; `None`: the epoch.
    pub period: Option<Nanos>,
    /// Its share relative to others'; `None`: its need in microseconds, at least 1,000.
    pub weight: Option<Weight>,
}

impl Default for Declared {
    fn default() -> Self {
        Self { priority: 1, need: Nanos::new(0), slice: None, period: None, weight: None }
    }
}

impl Declared {
    /// Its share relative to others': the weight, at least 1; or the need in microseconds, at least 1,000, so that who is
    /// promised nothing is not starved.
    #[must_use]
    pub fn share(&self) -> u64 {
        self.weight.map_or((self.need.get() / 1_000).max(1_000), |weight| weight.get().max(1))
    }
}

/// More is promised than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overcommitted {
    /// What all processes need together in each epoch.
    pub committed: Nanos,
    /// The length of the epoch, or period.
    pub epoch: Nanos,
}

/// Why a declaration is refused; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeclarationError {
    /// More would be promised than there is, and the discipline admits no more than that.
    Overcommitted(Overcommitted),
    /// The priority is above [`TOP_PRIORITY`].
    Priority(u8),
    /// A need of one process that is longer than the epoch.
    Need {
        /// What it needs.
        need: Nanos,
        /// The epoch.
        epoch: Nanos,
    },
    /// A need of one process that is longer than any epoch can be.
    Long {
        /// What it needs.
        need: Nanos,
        /// The most.
        most: Nanos,
    },
    /// A slice that is too small to be useful.
    Slice {
        /// The slice.
        slice: Nanos,
        /// The least.
        least: Nanos,
    },
    /// A period of nothing.
    Period,
    /// The number of the process is not below [`MAX_PROCESSES`].
    Process(FlowId),
}

impl fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overcommitted(Overcommitted { committed, epoch }) => write!(
                f,
                "all needs together would be {committed} in {epoch}: lower a need, or admit more with `admit=warn`"
            ),
            Self::Priority(priority) => write!(f, "priority is {priority}, must be from 0 to {TOP_PRIORITY}"),
            Self::Need { need, epoch } => {
                write!(f, "need is {need}, must be at most the epoch, which is {epoch}")
            }
            Self::Long { need, most } => write!(f, "need is {need}, must be at most {most}, a day"),
            Self::Slice { slice, least } => write!(f, "slice is {slice}, must be at least {least}"),
            Self::Period => f.write_str("period is 0ns, must be above 0ns"),
            Self::Process(process) => write!(f, "process is {}, must be below {MAX_PROCESSES}", process.0),
        }
    }
}

impl core::error::Error for DeclarationError {}

/// What a process has used of each kind of time, since it was declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Out of its need.
    pub need: Nanos,
    /// Out of what is promised to nobody: allocated, in excess of what was allocated, or reclaimed.
    pub uncommitted: Nanos,
    /// Out of what others were promised and did not claim.
    pub windfall: Nanos,
}

/// What must hold in a discipline, and does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

/// A discipline of tasks: it knows what its processes ask for.
pub trait TaskDiscipline<I: Item<Cost = Nanos>>: Discipline<I> {
    /// A process asks for this from now on. Before anything runs it has effect at once; later a need from the next
    /// epoch on, anything else with its next slice. What is never declared runs as [`Declared::default`] says.
    ///
    /// The open grant was charged up to `now` before: by what processes ask for together its time may count differently
    /// from then on.
    ///
    /// Returns what is promised where that is more than there is, and somebody should be warned.
    ///
    /// # Errors
    /// The declaration is refused.
    fn declare(
        &mut self,
        now: Instant,
        process: FlowId,
        declared: Declared,
    ) -> Result<Option<Overcommitted>, DeclarationError>;

    /// A process that waits, and is not ready, asks for nothing any more. The open grant was charged up to `now` before.
    fn exit(&mut self, now: Instant, process: FlowId);

    /// What a process has used of each kind of time; `None` where all time is alike.
    fn used(&self, process: FlowId) -> Option<Used> {
        let _ = process;
        None
    }

    /// The level of the queue that a process is assigned to, higher levels first; `None` where there are no levels.
    fn level(&self, process: FlowId) -> Option<i8> {
        let _ = process;
        None
    }

    /// When the critical scheduling period begins, from which on all time is owed; `None` where there is none.
    fn critical(&self) -> Option<Instant> {
        None
    }

    /// Checks what must always hold; the engine calls it, where it verifies, after every call.
    ///
    /// # Errors
    /// What does not hold, with its values.
    fn verify(&self) -> Result<(), Violation> {
        Ok(())
    }
}

impl<I: Item<Cost = Nanos>, D: TaskDiscipline<I> + ?Sized> TaskDiscipline<I> for Box<D> {
    fn declare(
        &mut self,
        now: Instant,
        process: FlowId,
        declared: Declared,
    ) -> Result<Option<Overcommitted>, DeclarationError> {
        (**self).declare(now, process, declared)
    }
    fn exit(&mut self, now: Instant, process: FlowId) {
        (**self).exit(now, process);
    }
    fn used(&self, process: FlowId) -> Option<Used> {
        (**self).used(process)
    }
    fn level(&self, process: FlowId) -> Option<i8> {
        (**self).level(process)
    }
    fn critical(&self) -> Option<Instant> {
        (**self).critical()
    }
    fn verify(&self) -> Result<(), Violation> {
        (**self).verify()
    }
}

/// Receives, under its own type, a discipline of tasks of which it can make as many as it needs.
pub trait TaskVisitor<I: Item<Cost = Nanos>> {
    /// What the visit yields.
    type Output;
    /// Takes what makes the discipline that the spec names; all that it makes are alike.
    fn visit<D: TaskDiscipline<I> + Send + 'static>(self, make: impl Fn() -> D) -> Self::Output;
}

register!(
    TASK,
    visit_task,
    TaskVisitor,
    [Item<Cost = Nanos>],
    epoch::Epoch,
    priority_rr::PriorityRr,
    share::Share,
    stride::Stride,
    cbs::Cbs,
    eevdf::Eevdf,
);
