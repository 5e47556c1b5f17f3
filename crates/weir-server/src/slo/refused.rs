//! Why a load is not searched: the question, the scenario, or a run.
//!
//! What is wrong with a question names the option; what is wrong with a scenario names its key, so that whoever has the
//! text can say where it stands. Work O(classes), where something is refused.

use super::Asked;
use crate::collector::{LEAST_SLOWDOWN, SLOWDOWN_STEP};
use crate::model::{ServerScenario, Workload};
use weir_core::nearest::nearest;
use weir_lab::error::RunError;
use weir_lab::stats::FAR_QUANTILES;
use weir_lab::stats::figure::ALL;

/// Why nothing is searched.
#[derive(Clone, Debug, PartialEq)]
pub enum SloError {
    /// What is asked is no question to this scenario.
    Asked {
        /// What of the question is wrong.
        option: &'static str,
        /// What was given for it.
        value: String,
        /// Why, with the bound; continues the sentence "`option` is `value`, ...".
        reason: String,
        /// What to ask instead.
        remedy: String,
    },
    /// The scenario has no load that could be changed, or no intervals.
    Scenario(Unsearchable),
    /// A run gave no result.
    Run(RunError),
}

/// A key of a scenario for which no load can be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsearchable {
    /// The key, with the tables that it is in.
    pub key: [&'static str; 2],
    /// Why; continues a sentence on the key.
    pub reason: &'static str,
    /// What to write instead.
    pub remedy: &'static str,
}

impl core::fmt::Display for SloError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Asked { option, value, reason, .. } if reason.starts_with("is ") => {
                write!(f, "{option} {value} {reason}")
            }
            Self::Asked { option, value, reason, .. } => write!(f, "{option} is {value}, {reason}"),
            Self::Scenario(wrong) => write!(f, "{} {}", wrong.key.join("."), wrong.reason),
            Self::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SloError {}

impl From<RunError> for SloError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

fn not_asked(
    option: &'static str,
    value: impl ToString,
    reason: impl Into<String>,
    remedy: impl Into<String>,
) -> SloError {
    SloError::Asked { option, value: value.to_string(), reason: reason.into(), remedy: remedy.into() }
}

impl Asked {
    /// A question with the quantile under its own name.
    ///
    /// # Errors
    /// The quantile is none that is kept.
    pub fn new(class: Option<String>, quantile: &str, bound: f64) -> Result<Self, SloError> {
        let names = FAR_QUANTILES.iter().map(|(name, _)| *name);
        let wrong = || {
            let reason = format!("must be one of {}", names.clone().collect::<Vec<_>>().join(", "));
            not_asked("quantile", format!("`{quantile}`"), reason, "write one such as p99.9")
        };
        let quantile = names.clone().find(|name| *name == quantile).ok_or_else(wrong)?;
        Ok(Self { class, quantile, bound })
    }
}

/// Refuses what cannot be searched.
pub(super) fn check(
    server: &ServerScenario,
    discipline: usize,
    asked: &Asked,
    precision: f64,
) -> Result<(), SloError> {
    let known = server.specs.len();
    if discipline >= known {
        let value = format!("the one at place {discipline}");
        return Err(not_asked(
            "discipline",
            value,
            format!("must be below {known}"),
            "name one of the scenario",
        ));
    }
    if let Some(wrong) = unsearchable(server) {
        return Err(SloError::Scenario(wrong));
    }
    check_asked(server, asked)?;
    if !(1e-4..=0.5).contains(&precision) {
        let reason = "must be from 0.0001 to 0.5";
        return Err(not_asked("precision", precision, reason, "write one such as 0.01"));
    }
    Ok(())
}

/// Why no load of this scenario can be searched, whatever is asked, where that is so.
#[must_use]
pub fn unsearchable(server: &ServerScenario) -> Option<Unsearchable> {
    let instead = "write a `load` in its place: a search needs arrivals from outside at one rate";
    let of = |key, reason, remedy| Some(Unsearchable { key, reason, remedy });
    match &server.workload {
        Workload::Trace(_) => of(
            ["workload", "trace"],
            "has its own times, and it is the load that a search changes",
            "write a `load` in its place, and a `share` and a `service` for each class",
        ),
        Workload::Closed(_) => of(
            ["workload", "closed"],
            "offers what is served, so it has no load that a search could change",
            instead,
        ),
        Workload::Open(open) if open.levels.is_some_and(|levels| levels.count > 1) => {
            of(["workload", "levels"], "has several loads, and a search changes one", "leave the levels out")
        }
        Workload::Open(_) if server.stop.replications < 2 => of(
            ["stop", "replications"],
            "must be at least 2: an interval decides whether a bound is met",
            "raise it, or leave it out",
        ),
        Workload::Open(_) => None,
    }
}

/// Refuses a question that this scenario cannot answer.
fn check_asked(server: &ServerScenario, asked: &Asked) -> Result<(), SloError> {
    check_bound(asked.bound)?;
    let Some(name) = asked.class.as_deref().filter(|name| *name != ALL) else { return Ok(()) };
    match server.classes.iter().find(|class| class.name == name) {
        Some(class) if class.share > 0.0 => Ok(()),
        Some(_) => {
            let reason = "has a share of 0 in the scenario, must have requests";
            Err(not_asked("class", format!("`{name}`"), reason, "name another class, or give it a share"))
        }
        None => Err(unknown_class(server, name)),
    }
}

/// Refuses a bound that is none, or that no reading of a slowdown can tell from 1.
fn check_bound(bound: f64) -> Result<(), SloError> {
    let nearest = LEAST_SLOWDOWN + SLOWDOWN_STEP;
    if !(bound > LEAST_SLOWDOWN && bound.is_finite()) {
        let reason = "must be above 1: a request that never waits has slowdown 1";
        return Err(not_asked("bound", bound, reason, "write one such as 10.0"));
    }
    if bound < nearest - SLOWDOWN_STEP * 1e-6 {
        let reason = format!(
            "finer than the measurement: slowdowns are known to the nearest {SLOWDOWN_STEP}, so it must be \
             at least {nearest}"
        );
        return Err(not_asked("bound", bound, reason, "raise it"));
    }
    Ok(())
}

/// The name is of no class.
fn unknown_class(server: &ServerScenario, name: &str) -> SloError {
    let names: Vec<&str> = server.classes.iter().map(|class| class.name.as_str()).collect();
    let hint = nearest(name, names.iter().copied().chain([ALL]));
    let hint = hint.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let remedy = format!("{hint}choose one of `{}`, and `{ALL}` of them together", names.join("`, `"));
    not_asked("class", format!("`{name}`"), "is not a class of the scenario", remedy)
}
