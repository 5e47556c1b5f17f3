//! What an operator should hear of: tasks that were refused, panicked or ran over their slice, and needs that exceed
//! the epoch.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use weir_core::task::{DeclarationError, Overcommitted};

/// Something that an operator should hear of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Report {
    /// More is promised on a worker than there is; the discipline admits it (`admit=warn`).
    Overcommitted {
        /// The worker.
        worker: usize,
        /// What is promised, of how much.
        over: Overcommitted,
    },
    /// A task was not admitted.
    Refused {
        /// Its name.
        task: String,
        /// Why.
        why: DeclarationError,
    },
    /// A task panicked; what it needed is returned.
    Panicked {
        /// Its name.
        task: String,
        /// What the panic said.
        said: String,
    },
    /// A poll has run over the slice of its task, and still runs: for as long, no other task of the worker can.
    OverSlice {
        /// The worker.
        worker: usize,
        /// The name of the task.
        task: String,
        /// How long the poll has run.
        runs: Duration,
        /// Where it is, innermost call first, if the platform can tell.
        stack: Vec<String>,
    },
    /// The file of a recording cannot be written any more; the program goes on.
    NotRecorded {
        /// The file.
        path: PathBuf,
        /// Why.
        error: String,
    },
    /// The program was suspended; its clock stood still meanwhile.
    Suspended {
        /// For how long.
        span: Duration,
    },
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overcommitted { worker, over } => write!(
                f,
                "worker {worker}: all needs together are {} in {}: not all can be met",
                over.committed, over.epoch
            ),
            Self::Refused { task, why } => write!(f, "task `{task}` is not admitted: {why}"),
            Self::Panicked { task, said } => write!(f, "task `{task}` panicked: {said}"),
            Self::OverSlice { worker, task, runs, stack } => {
                write!(
                    f,
                    "worker {worker}: a poll of task `{task}` has run over its slice, for {runs:.1?} so far"
                )?;
                stack.iter().try_for_each(|frame| write!(f, "\n    at {frame}"))
            }
            Self::NotRecorded { path, error } => {
                write!(f, "the recording `{}` ends here: {error}", path.display())
            }
            Self::Suspended { span } => write!(f, "the program was suspended for {span:.1?}"),
        }
    }
}

/// Who hears reports. Called on the thread that has something to report, a worker's among them: it should be short.
#[derive(Clone)]
pub(crate) struct Reports(Arc<dyn Fn(Report) + Send + Sync>);

impl Reports {
    pub(crate) fn to(hear: impl Fn(Report) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    pub(crate) fn tell(&self, report: Report) {
        (self.0)(report);
    }
}

impl fmt::Debug for Reports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reports")
    }
}
