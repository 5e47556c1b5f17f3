//! Requests that go to several cores, at once or one after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::units::Nanos;

/// To how many cores a request goes, and what of it is needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FanOut {
    /// How many sub-requests it has.
    pub to: u32,
    /// How many of them must be answered.
    pub need: u32,
    /// What is cancelled of those that are not needed any more.
    pub cancel: Cancel,
    /// What they need.
    pub service: Draws,
    /// When a second copy of a sub-request goes; `None`: never.
    pub hedge: Option<Hedge>,
}

impl FanOut {
    /// Whether there may be answers that are not needed.
    #[must_use]
    pub fn has_spares(&self) -> bool {
        self.need < self.to || self.hedge.is_some()
    }

    /// Whether anything may be cancelled that would be served otherwise.
    #[must_use]
    pub fn cancels(&self) -> bool {
        let of_copies = self.hedge.is_some_and(|hedge| hedge.cancel != Cancel::None);
        of_copies || (self.need < self.to && self.cancel != Cancel::None)
    }
}

/// A second copy of what is not answered in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hedge {
    /// When it goes.
    pub after: After,
    /// What is cancelled of the copy that is answered second.
    pub cancel: Cancel,
    /// What it needs.
    pub service: Draws,
}

/// How long the first copy has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum After {
    /// So long.
    Span(Nanos),
    /// As long as this part of the responses of its class so far.
    Quantile(f64),
}

/// What is cancelled of what is not needed any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cancel {
    /// Nothing: all are served.
    None,
    /// What waits, when its turn comes; what is in service is served to its end.
    #[default]
    Waiting,
    /// What waits, when its turn comes, and what is in service, when the answer is there.
    All,
}

/// Whose service a sub-request has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Draws {
    /// Each draws its own.
    #[default]
    Own,
    /// All have that of the request.
    Shared,
}
