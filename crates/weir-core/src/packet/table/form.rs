//! The text form of tables, and the parameters that the disciplines of tables share.

use super::{Entry, MAX_ENTRIES, Table, TableError};
use crate::info::{Arguments, Parameter, Takes};
use crate::spec::SpecError;
use crate::units::Credits;

/// The parameter that lists the entries.
pub(in crate::packet) const TABLE: Parameter = Parameter::new("table", Takes::Text, NONE)
    .or(&[NONE])
    .listed("entries as in `0@32cr/1@64cr/-`, a flow and its weight each, `-` where one is free; or `none`")
    .refused(Form::WEIGHTS)
    .meaning("the table, entry by entry; either this or `distances` must be given");

/// The parameter that places the entries.
pub(in crate::packet) const DISTANCES: Parameter = Parameter::new("distances", Takes::Text, NONE)
    .or(&[NONE])
    .listed("powers of two up to `entries`, as in `2/4/8/8`, or `none`")
    .refused("powers of two as in 2/4/8/8")
    .meaning("how far apart the entries of flows 0, 1, ... are");

/// The parameter of weights, where distances place the entries.
pub(in crate::packet) const WEIGHTS: Parameter = Parameter::new("weights", Takes::Text, NONE)
    .or(&[NONE])
    .listed("credits as in `32cr/64cr`, or one for all flows; or `none`")
    .refused("credits as in 32cr/64cr, up to 65535cr")
    .meaning("the weight of each entry of flows 0, 1, ...; used with `distances`");

/// The parameter of the table's size, where distances place the entries.
pub(in crate::packet) const ENTRIES: Parameter =
    Parameter::new("entries", Takes::Whole(1..=MAX_ENTRIES as u64), "64")
        .listed("a power of two {}")
        .meaning("the size of the table that `distances` fill");

/// The parameter of how many entries hardware reads at once.
pub(in crate::packet) const READ_AHEAD: Parameter =
    Parameter::new("read_ahead", Takes::Whole(1..=MAX_ENTRIES as u64), "1")
        .meaning("how many entries are read in one step; it changes the count of steps, and no decision");

const NONE: &str = "none";

/// What stands in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::packet) enum Form {
    /// A flow.
    Flows,
    /// A flow and its weight.
    Weights,
}

impl Form {
    /// What a refusal says of it.
    pub(in crate::packet) const FLOWS: &str =
        "entries as in `0/1/0/-`: flows from 0 to 1023, `-` where one is free";
    /// The same, with weights.
    pub(in crate::packet) const WEIGHTS: &str =
        "entries as in `0@32cr/1@64cr/-`: flows from 0 to 1023 and weights up to 65535cr";

    fn entry(self, text: &str) -> Option<Option<Entry>> {
        if text == "-" {
            return Some(None);
        }
        let (flow, weight) = match self {
            Self::Flows => (text, Credits::new(1)),
            Self::Weights => {
                let (flow, weight) = text.split_once('@')?;
                (flow, parse_credits(weight)?)
            }
        };
        let flow = flow.parse().ok().filter(|&flow: &u16| usize::from(flow) < MAX_ENTRIES)?;
        Some(Some(Entry { flow, weight }))
    }
}

impl Table {
    /// As it stands in a spec.
    pub(in crate::packet) fn text(&self, form: Form) -> String {
        let entry = |entry: &Option<Entry>| match (entry, form) {
            (None, _) => "-".to_owned(),
            (Some(entry), Form::Flows) => entry.flow.to_string(),
            (Some(entry), Form::Weights) => format!("{}@{}", entry.flow, entry.weight),
        };
        self.entries().iter().map(entry).collect::<Vec<_>>().join("/")
    }

    /// The table of one parameter; `None` where it says `none`.
    pub(in crate::packet) fn of(
        arguments: &Arguments<'_>,
        name: &'static str,
        form: Form,
    ) -> Result<Option<Self>, SpecError> {
        if arguments.word(name)?.is_some() {
            return Ok(None);
        }
        let text = arguments.text(name)?;
        // Counted before they are read: a spec of any length costs no more than its text.
        let length = text.split('/').count();
        if length > MAX_ENTRIES {
            return Err(refused(arguments, name, TableError::Length(length)));
        }
        let entries = |text: &str| text.split('/').map(|entry| form.entry(entry)).collect::<Option<Vec<_>>>();
        let entries = arguments.read(name, entries)?;
        Self::new(entries).map(Some).map_err(|error| refused(arguments, name, error))
    }

    /// The table that a spec lists, or places by distances: exactly one of them.
    pub(in crate::packet) fn from_spec(arguments: &Arguments<'_>, form: Form) -> Result<Self, SpecError> {
        let placed = arguments.word(DISTANCES.name)?.is_none();
        let error = |reason: &str| Err(arguments.error(TABLE.name, reason.to_owned()));
        match (Self::of(arguments, TABLE.name, form)?, placed) {
            (Some(_), true) => error("is given together with `distances`, give one of them"),
            (None, false) => error("is missing, give `table` or `distances`"),
            (Some(table), false) => {
                let lone = [WEIGHTS.name, ENTRIES.name].into_iter();
                let lone = lone.filter(|&name| name != WEIGHTS.name || form == Form::Weights);
                match lone.into_iter().find(|name| arguments.optional(name).is_some()) {
                    Some(name) => {
                        Err(arguments.error(name, "is used only with `distances`, remove it".to_owned()))
                    }
                    None => Ok(table),
                }
            }
            (None, true) => Self::placed_by(arguments, form),
        }
    }

    fn placed_by(arguments: &Arguments<'_>, form: Form) -> Result<Self, SpecError> {
        let read = |text: &str| text.split('/').map(|text| text.parse().ok()).collect::<Option<Vec<usize>>>();
        let distances = arguments.read(DISTANCES.name, read)?;
        let entries = arguments.whole(ENTRIES.name)?;
        let weights = match form {
            Form::Flows => vec![Credits::new(1)],
            Form::Weights if arguments.word(WEIGHTS.name)?.is_some() => {
                let reason =
                    "is missing, give the weight of each flow's entries as in 32cr/64cr, or one for all";
                return Err(arguments.error(WEIGHTS.name, reason.to_owned()));
            }
            Form::Weights => {
                let read = |text: &str| text.split('/').map(parse_credits).collect::<Option<Vec<_>>>();
                arguments.read(WEIGHTS.name, read)?
            }
        };
        Self::placed(&distances, &weights, entries).map_err(|error| {
            let name = match error {
                TableError::Weights { .. } => WEIGHTS.name,
                TableError::Entries(_) => ENTRIES.name,
                _ => DISTANCES.name,
            };
            refused(arguments, name, error)
        })
    }
}

/// The error of an argument that was read, but makes no table.
fn refused(arguments: &Arguments<'_>, name: &'static str, error: TableError) -> SpecError {
    arguments.error(name, format!("is refused: {error}"))
}

/// Reads `32cr`.
fn parse_credits(text: &str) -> Option<Credits> {
    text.strip_suffix("cr")?.parse::<u16>().ok().map(|count| Credits::new(count.into()))
}
