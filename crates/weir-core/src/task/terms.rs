//! What a process may ask for: the parameters and checks that disciplines of tasks share.

use core::ops::RangeInclusive;

use super::{DeclarationError, Declared, MAX_PROCESSES, Overcommitted, TOP_PRIORITY};
use crate::info::{Arguments, Parameter, Takes};
use crate::item::FlowId;
use crate::spec::SpecError;
use crate::units::Nanos;

/// The longest slice, period, epoch and need: a day, so that all needs together fit the clock. Longer slices count as
/// that.
pub(super) const LONGEST: Nanos = Nanos::new(86_400_000_000_000);
/// The shortest slice.
const SHORTEST: Nanos = Nanos::new(1_000);

/// How long an epoch is, or a period.
pub(super) const EPOCH: RangeInclusive<Nanos> = Nanos::new(1_000)..=LONGEST;

/// The slice of a process that declares none.
pub(super) const SLICE: Parameter = Parameter::new("slice", Takes::Span(SHORTEST..=LONGEST), "20ms")
    .meaning("how long a process without a slice of its own runs at most before others do");

/// Refuses what no discipline can do; `epoch` is in which processes are promised their needs, where they are.
pub(super) fn check(
    process: FlowId,
    declared: &Declared,
    epoch: Option<Nanos>,
) -> Result<(), DeclarationError> {
    if process.0 >= MAX_PROCESSES {
        return Err(DeclarationError::Process(process));
    }
    if declared.priority > TOP_PRIORITY {
        return Err(DeclarationError::Priority(declared.priority));
    }
    if let Some(slice) = declared.slice.filter(|slice| *slice < SHORTEST) {
        return Err(DeclarationError::Slice { slice, least: SHORTEST });
    }
    if declared.period == Some(Nanos::ZERO) {
        return Err(DeclarationError::Period);
    }
    match epoch {
        Some(epoch) if declared.need > epoch => Err(DeclarationError::Need { need: declared.need, epoch }),
        _ => Ok(()),
    }
}

/// What becomes of a need with which more is promised than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admit {
    Warn,
    Refuse,
    Allow,
}

impl Admit {
    pub(super) const PARAMETER: Parameter =
        Parameter::new("admit", Takes::Words(&["warn", "refuse", "allow"]), "warn")
            .meaning("what happens to a need that would promise more than there is");

    pub(super) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        arguments.choice(Self::PARAMETER.name, [Self::Warn, Self::Refuse, Self::Allow])
    }

    /// Judges what would be promised.
    pub(super) fn judge(self, promised: Overcommitted) -> Result<Option<Overcommitted>, DeclarationError> {
        match (self, promised.committed > promised.epoch) {
            (Self::Refuse, true) => Err(DeclarationError::Overcommitted(promised)),
            (Self::Warn, true) => Ok(Some(promised)),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_done_is_refused_with_the_remedy() {
        let (usual, ms) = (Declared::default(), |count: u64| Nanos::new(count * 1_000_000));
        let refused = |process, declared: Declared, expected: &str| {
            let error = check(FlowId(process), &declared, Some(ms(5))).expect_err(expected);
            assert_eq!(error.to_string(), expected);
        };
        refused(262_144, usual, "process is 262144, must be below 262144");
        refused(0, Declared { priority: 4, ..usual }, "priority is 4, must be from 0 to 3");
        refused(
            0,
            Declared { slice: Some(Nanos::new(999)), ..usual },
            "slice is 999ns, must be at least 1us",
        );
        refused(0, Declared { period: Some(Nanos::ZERO), ..usual }, "period is 0ns, must be above 0ns");
        refused(
            0,
            Declared { need: ms(6), period: Some(ms(9)), ..usual },
            "need is 6ms, must be at most the epoch, which is 5ms",
        );
        assert_eq!(check(FlowId(65_535), &Declared { slice: Some(SHORTEST), ..usual }, None), Ok(()));
    }
}
