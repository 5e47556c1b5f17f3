//! Arbitration tables: what `table_basic`, `table_weighted` and `dtable` have in common.
//!
//! A table is a ring of entries. Each names a flow and a weight, or is free; a position goes around. Weights, and the
//! packets charged to them, are counted in flow-control credits of 64 bytes: a packet takes as many as it has begun,
//! and at least one.
//!
//! Tables are written `table=0@32cr/1@64cr/-`: for each entry its flow and its weight, `-` where it is free; `0/1/-`
//! where there are no weights. Or `distances=2/4/4,weights=32cr/64cr/64cr,entries=64` places the flows 0, 1 and 2, the
//! entries of each exactly as far apart as its distance says ([`Table::placed`]).
//!
//! **Which entry is next.** The serial form examines entry after entry behind the position until one is active: its
//! flow has a packet, and the gate permits it. What decides here is the whole table at once: one bit for each
//! entry whose flow has a packet, kept as queues fill and empty, and the first of them behind the position. Only its
//! flow is asked of the gate; if that refuses, all entries of the flow fall away, and the next is found. Both forms
//! decide alike, which the tests of the three disciplines hold; the effort reported is that of the serial form.

mod config;
mod form;
mod place;
mod queues;
#[cfg(test)]
pub(super) mod serial;
mod wheel;

pub use config::Config;
pub use place::place;

pub(super) use form::{DISTANCES, ENTRIES, Form, READ_AHEAD, TABLE, WEIGHTS};
pub(super) use queues::Queues;
pub(super) use wheel::Wheel;

use core::fmt;

use crate::units::{Bytes, Credits};

/// The most entries a table has; flows are numbered below it.
pub const MAX_ENTRIES: usize = 1024;
/// The largest weight of an entry, where no standard has a smaller one.
pub const MAX_WEIGHT: Credits = Credits::new(65_535);
/// The bytes of a flow-control credit.
pub const CREDIT: Bytes = Bytes::new(64);

/// What a packet of this size takes: the credits it has begun, and at least one.
#[must_use]
#[inline]
pub const fn credits(size: Bytes) -> Credits {
    let begun = size.get().div_ceil(CREDIT.get());
    Credits::new(if begun == 0 { 1 } else { begun })
}

/// An entry that is not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whose turn it is.
    pub flow: u16,
    /// How much it may send.
    pub weight: Credits,
}

/// A table whose length and flows have been checked; what a weight must be is for the discipline to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table(Vec<Option<Entry>>);

/// Why a table was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// It has no entry, or more than [`MAX_ENTRIES`].
    Length(usize),
    /// The number of a flow is not below [`MAX_ENTRIES`].
    Flow {
        /// Where the flow is named.
        entry: usize,
        /// The flow.
        flow: u16,
    },
    /// No entry serves anybody.
    Empty,
    /// The weight of an entry is out of its bounds.
    Weight {
        /// The entry.
        entry: usize,
        /// What it has.
        is: Entry,
        /// The least it must be.
        low: Credits,
        /// The most it can be.
        high: Credits,
    },
    /// Distances place entries only in a table of a power of two of them.
    Entries(usize),
    /// A distance is no power of two, or larger than the table.
    Distance {
        /// The flow.
        flow: usize,
        /// Its distance.
        distance: usize,
        /// The entries of the table.
        entries: usize,
    },
    /// The distances take more entries than the table has.
    Full {
        /// What they take.
        needed: usize,
        /// What the table has.
        entries: usize,
    },
    /// There are neither as many weights as distances, nor one for all.
    Weights {
        /// The weights.
        weights: usize,
        /// The distances.
        distances: usize,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length(length) => write!(f, "the table has {length} entries, must have 1 to {MAX_ENTRIES}"),
            Self::Flow { entry, flow } => {
                write!(f, "entry {entry} names flow {flow}, must be below {MAX_ENTRIES}")
            }
            Self::Empty => f.write_str("no entry of the table serves a flow, give one a weight"),
            Self::Weight { entry, is: Entry { flow, weight }, low, high } => write!(
                f,
                "entry {entry}, of flow {flow}, has the weight {weight}, must be from {low} to {high}"
            ),
            Self::Entries(entries) => write!(
                f,
                "entries is {entries}, must be a power of two from 1 to {MAX_ENTRIES} for distances to place \
                 them; give any other number as `table`"
            ),
            Self::Distance { flow, distance, entries } => {
                let nearest = 1 << distance.clamp(1, entries.max(1)).ilog2();
                write!(
                    f,
                    "the distance of flow {flow} is {distance}, must be a power of two from 1 to {entries}; \
                     take {nearest}"
                )
            }
            Self::Full { needed, entries } => {
                write!(f, "the distances take {needed} entries, the table has {entries}; double one of them")
            }
            Self::Weights { weights, distances } => {
                write!(
                    f,
                    "there are {weights} weights for {distances} distances; give one for each, or one for all"
                )
            }
        }
    }
}

impl core::error::Error for TableError {}

impl Table {
    /// These entries, in the order in which they are examined.
    ///
    /// # Errors
    /// There are none or too many, or a flow's number is too large.
    pub fn new(entries: Vec<Option<Entry>>) -> Result<Self, TableError> {
        if !(1..=MAX_ENTRIES).contains(&entries.len()) {
            return Err(TableError::Length(entries.len()));
        }
        let outside = |entry: &Option<Entry>| entry.is_some_and(|entry| entry.flow as usize >= MAX_ENTRIES);
        match entries.iter().position(outside) {
            Some(at) => {
                let flow = entries[at].map_or(0, |entry| entry.flow);
                Err(TableError::Flow { entry: at, flow })
            }
            None => Ok(Self(entries)),
        }
    }

    /// A table of `entries` entries, of which the flows 0, 1, ... have some exactly their distances apart, each of
    /// the weight of its flow; a single weight is that of all.
    ///
    /// # Errors
    /// What [`place`] refuses, or the weights do not go with the distances.
    pub fn placed(distances: &[usize], weights: &[Credits], entries: usize) -> Result<Self, TableError> {
        if weights.len() != distances.len() && weights.len() != 1 {
            return Err(TableError::Weights { weights: weights.len(), distances: distances.len() });
        }
        let weight = |flow: u16| *weights.get(flow as usize).unwrap_or(&weights[0]);
        let entry = |flow: u16| Entry { flow, weight: weight(flow) };
        Self::new(place(distances, entries)?.into_iter().map(|flow| flow.map(entry)).collect())
    }

    /// The entries; `None` where one is free.
    #[must_use]
    pub fn entries(&self) -> &[Option<Entry>] {
        &self.0
    }

    /// Whether an entry of some weight names this flow.
    #[must_use]
    pub fn serves(&self, flow: u32) -> bool {
        self.served().any(|served| u32::from(served) == flow)
    }

    /// The flow of every entry that has a weight.
    fn served(&self) -> impl Iterator<Item = u16> {
        let weighty = |entry: &&Entry| entry.weight > Credits::new(0);
        self.0.iter().flatten().filter(weighty).map(|entry| entry.flow)
    }

    /// Refuses weights out of `low..=high`, and a table that serves nobody.
    pub(super) fn check(&self, low: Credits, high: Credits) -> Result<(), TableError> {
        let outside = |entry: &Option<Entry>| entry.filter(|entry| !(low..=high).contains(&entry.weight));
        if let Some((entry, is)) = self.0.iter().map(outside).enumerate().find_map(|(at, is)| Some((at, is?)))
        {
            return Err(TableError::Weight { entry, is, low, high });
        }
        self.served().next().map(drop).ok_or(TableError::Empty)
    }

    /// Which flows it serves, up to the highest.
    pub(super) fn flows(&self) -> Vec<bool> {
        let mut flows = vec![false; self.served().max().map_or(0, |flow| flow as usize + 1)];
        self.served().for_each(|flow| flows[flow as usize] = true);
        flows
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Form::Weights))
    }
}

#[cfg(test)]
mod tests;
