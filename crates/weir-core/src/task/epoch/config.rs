//! The parameters of epoch scheduling.

use super::super::terms::{Admit, LONGEST};
use super::signed;
use crate::info::{Arguments, Info, Kind, Parameter, parse_nanos};
use crate::spec::SpecError;
use crate::units::Nanos;

/// The shortest epoch.
const SHORTEST: Nanos = Nanos::new(1_000);

/// What the listings say.
pub const INFO: Info = Info {
    name: "epoch",
    kind: Kind::Task,
    title: "epoch scheduling",
    rule: "promises each process a need in every epoch, gives what nobody is promised to whoever asks first, and what is promised and not claimed to whoever is left",
    source: "Rettberg, Development of a Voice Funnel System, Quarterly Technical Report No. 18, BBN Report 5285, 1983",
    work: "O(1) over an epoch",
    parameters: &[
        Parameter {
            name: "length",
            values: "a span from 1us to 86400s",
            default: Some("100ms"),
            meaning: "the epoch, in which every process is promised its need",
        },
        Parameter {
            name: "slice",
            values: "a span from min_slice to 86400s",
            default: Some("20ms"),
            meaning: "the slice of a process that declares none",
        },
        Parameter {
            name: "allocate",
            values: "`at_wait` or `at_dispatch`",
            default: Some("at_wait"),
            meaning: "whether a process that waits keeps uncommitted time allocated, as in the report",
        },
        Admit::PARAMETER,
        Parameter {
            name: "min_slice",
            values: "a span from 1ns to length",
            default: Some("300us"),
            meaning: "less than this is too small to be useful: who could run no longer goes to its low queue",
        },
        Parameter {
            name: "preempt_left",
            values: "a span to 86400s",
            default: Some("300us"),
            meaning: "who is preempted with more than this of its slice left keeps it, at the head of its queue",
        },
        Parameter {
            name: "returning",
            values: "`behind` or `ahead`",
            default: Some("behind"),
            meaning: "where members of low queues return, at the end of an epoch, among those that are normal",
        },
        Parameter {
            name: "leftover",
            values: "`void` or `keep`",
            default: Some("void"),
            meaning: "what becomes of a slice that is left at the end of an epoch; who keeps one can use up what others need",
        },
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
        let span = |name, low: Nanos, high: Nanos| {
            let expected = format!("a span from {low} to {high}");
            arguments
                .parsed(name, &expected, |text| parse_nanos(text).filter(|span| (low..=high).contains(span)))
        };
        let length = span("length", SHORTEST, LONGEST)?;
        let min_slice = span("min_slice", Nanos::new(1), length)?;
        let allocate = arguments.choice("allocate", &["at_wait", "at_dispatch"])?;
        let returning = arguments.choice("returning", &["behind", "ahead"])?;
        let leftover = arguments.choice("leftover", &["void", "keep"])?;
        Ok(Self {
            length: signed(length),
            slice: signed(span("slice", min_slice, LONGEST)?),
            min_slice: signed(min_slice),
            preempt_left: signed(span("preempt_left", Nanos::new(0), LONGEST)?),
            allocate: [Allocate::AtWait, Allocate::AtDispatch][allocate],
            admit: Admit::from_spec(arguments)?,
            returning: [Returning::Behind, Returning::Ahead][returning],
            leftover: [Leftover::Void, Leftover::Keep][leftover],
        })
    }
}
