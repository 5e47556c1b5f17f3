//! The parameters of epoch scheduling.

use super::super::terms::{self, Admit, LONGEST};
use super::signed;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::spec::SpecError;
use crate::units::Nanos;

/// What the listings say.
pub const INFO: Info = Info {
    name: "epoch",
    kind: Kind::Task,
    title: "epoch scheduling",
    rule: "promises each process a need in every epoch; time that is promised to nobody goes to whoever \
        asks first, and promised time that is not claimed to whoever is left",
    source: "Rettberg, Development of a Voice Funnel System, Quarterly Technical Report No. 18, BBN Report 5285, 1983",
    work: "O(1) over an epoch",
    parameters: &[
        Parameter::new("length", Takes::Epoch(terms::EPOCH), "100ms")
            .meaning("the epoch, in which every process is promised its need"),
        Parameter::new("slice", Takes::Span(Nanos::ONE..=LONGEST), "20ms")
            .listed("a span from min_slice to 86400s")
            .meaning("the slice of a process that declares none"),
        Parameter::new("allocate", Takes::Words(&["at_wait", "at_dispatch"]), "at_wait")
            .meaning("whether a process that waits keeps uncommitted time allocated, as in the report"),
        Admit::PARAMETER,
        Parameter::new("min_slice", Takes::Span(Nanos::ONE..=LONGEST), "300us")
            .listed("a span from 1ns to length")
            .meaning(
                "the shortest run that is useful: a process that could not run so long goes to its low \
                 queue",
            ),
        Parameter::new("preempt_left", Takes::Span(Nanos::ZERO..=LONGEST), "300us")
            .listed("a span to 86400s")
            .meaning(
                "a process that is preempted with more than this of its slice left keeps it, at the head of \
                 its queue",
            ),
        Parameter::new("returning", Takes::Words(&["behind", "ahead"]), "behind")
            .meaning("where members of low queues return to their normal queues at the end of an epoch"),
        Parameter::new("leftover", Takes::Words(&["void", "keep"]), "void").meaning(
            "what happens to a slice that is left at the end of an epoch; a process that keeps one can use \
             up what others need",
        ),
    ],
    example: "epoch:100ms",
};

/// When uncommitted time is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allocate {
    AtWait,
    AtDispatch,
}

/// Where members of low queues return among those that are normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returning {
    Behind,
    Ahead,
}

/// What becomes of a slice that is left at the end of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leftover {
    Void,
    Keep,
}

/// The parameters, checked. Spans are signed, as are those of the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    pub(super) length: i64,
    pub(super) slice: i64,
    pub(super) min_slice: i64,
    pub(super) preempt_left: i64,
    pub(super) allocate: Allocate,
    pub(super) admit: Admit,
    pub(super) returning: Returning,
    pub(super) leftover: Leftover,
}

impl Config {
    pub(super) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let length = arguments.span("length")?;
        let min_slice = arguments.span_in("min_slice", Nanos::ONE..=length)?;
        let allocate = arguments.choice("allocate", [Allocate::AtWait, Allocate::AtDispatch])?;
        let returning = arguments.choice("returning", [Returning::Behind, Returning::Ahead])?;
        let leftover = arguments.choice("leftover", [Leftover::Void, Leftover::Keep])?;
        Ok(Self {
            length: signed(length),
            slice: signed(arguments.span_in("slice", min_slice..=LONGEST)?),
            min_slice: signed(min_slice),
            preempt_left: signed(arguments.span("preempt_left")?),
            allocate,
            admit: Admit::from_spec(arguments)?,
            returning,
            leftover,
        })
    }
}
