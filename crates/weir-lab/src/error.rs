//! Why a run gave no result, in the words of its user.

use weir_core::spec::SpecError;

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunError {
    /// An engine could not be built: why.
    Build(String),
    /// A discipline's queue grew beyond what is simulated, or the clock ended.
    Overloaded {
        /// The disciplines of the lane.
        disciplines: String,
        /// Why.
        reason: String,
    },
    /// The warm-up is as long as the run.
    WarmUp {
        /// As the scenario has it.
        written: String,
        /// Its ticks.
        warm_up: u64,
        /// The ticks of a replication.
        ticks: u64,
    },
    /// Records could not be written.
    Records(String),
    /// More is asked for than what is simulated.
    TooLarge {
        /// What is too large.
        place: String,
        /// How large it is, and the bound.
        reason: String,
    },
    /// Something of the scenario cannot be simulated.
    Refused {
        /// What: a key, or a discipline.
        place: String,
        /// Why, and what could be.
        reason: String,
    },
    /// Programs wait for what never comes, or come to no end.
    Stuck {
        /// Who, and when.
        place: String,
        /// What they do, and in which operations.
        reason: String,
        /// What to do about it.
        remedy: String,
    },
    /// Verification found what must never be.
    Violated {
        /// Where and when.
        place: String,
        /// What, and the values.
        reason: String,
    },
    /// What was kept of a replication is not of this scenario.
    Stranger {
        /// The replication.
        replication: u32,
    },
}

impl core::fmt::Display for RunError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Build(reason) => f.write_str(reason),
            Self::Overloaded { disciplines, reason } => write!(f, "`{disciplines}`: {reason}"),
            Self::WarmUp { written, warm_up, ticks } => write!(
                f,
                "stop.warm_up is {written}, about {warm_up} ticks, must be shorter than a replication, which has {ticks}"
            ),
            Self::Records(reason) => write!(f, "records cannot be written: {reason}"),
            Self::Stranger { replication } => {
                write!(f, "what was kept of replication {replication} is not of this scenario")
            }
            Self::TooLarge { place, reason }
            | Self::Refused { place, reason }
            | Self::Stuck { place, reason, .. }
            | Self::Violated { place, reason } => write!(f, "{place}: {reason}"),
        }
    }
}

impl RunError {
    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> &str {
        match self {
            Self::Build(_) => "change the discipline or the workload as the message says",
            Self::Overloaded { .. } => "lower the load, or shorten the run",
            Self::WarmUp { .. } => "shorten stop.warm_up, or lengthen the run",
            Self::Records(_) => "check the path and its permissions",
            Self::TooLarge { .. } => "shorten the run, or ask for less of it",
            Self::Refused { .. } => "change the scenario as the message says",
            Self::Stuck { remedy, .. } => remedy,
            Self::Stranger { .. } => "remove what was kept, and play it again",
            Self::Violated { .. } => "report this as a defect, with the scenario and its seed",
        }
    }
}

impl std::error::Error for RunError {}

impl From<SpecError> for RunError {
    fn from(error: SpecError) -> Self {
        Self::Build(error.to_string())
    }
}
