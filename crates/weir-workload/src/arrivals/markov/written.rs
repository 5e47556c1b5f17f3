//! What documents say of Markovian arrivals, and how it is checked.

use std::sync::Arc;

use super::{MarkovArrivals, MarkovError, MarkovPart, Rates};
use crate::Arrivals;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_document::{Checked, Checker, Located};

/// Rates as they are written, row by row.
pub type WrittenRates = Vec<Located<Vec<Located<f64>>>>;

/// A Markovian arrival process. Its rates are in any unit of time, the same for all: the load or the rate sets it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapTable {
    /// Rates from each phase, a row, into each, without an arrival; the diagonal is the negative sum of all other rates of
    /// the row, those of `d1` included.
    pub d0: WrittenRates,
    /// Rates from each phase into each, with an arrival.
    pub d1: WrittenRates,
}

/// A Poisson process whose rate is that of the state of a chain. Its rates are in any unit of time, the same for all: the
/// load or the rate sets it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MmppTable {
    /// Rates from each state, a row, into each; the diagonal is the negative sum of the others.
    pub changes: WrittenRates,
    /// The rate of arrivals in each state.
    pub rates: Vec<Located<f64>>,
}

fn values(written: &WrittenRates) -> Rates {
    written.iter().map(|row| row.value.iter().map(|rate| rate.value).collect()).collect()
}

/// A process of two matrices.
///
/// # Errors
/// What [`MarkovArrivals::new`] refuses, at its place.
pub fn of_map(checker: &Checker<'_>, written: &Located<MapTable>) -> Checked<Arrivals> {
    let MapTable { d0, d1 } = &written.value;
    let made = MarkovArrivals::new(&values(d0), &values(d1));
    made.map(|process| Arrivals::Markov(Arc::new(process))).or_else(|MarkovError { part, reason, remedy }| {
        match part {
            MarkovPart::Hidden(row, column) => checker.refuse(&d0[row].value[column], reason, remedy),
            MarkovPart::Arriving(row, column) => checker.refuse(&d1[row].value[column], reason, remedy),
            MarkovPart::Row(row) => checker.refuse(&d0[row], reason, remedy),
            MarkovPart::All => checker.refuse(written, reason, remedy),
        }
    })
}

/// A process of a chain and its rates.
///
/// # Errors
/// What [`MarkovArrivals::modulated`] refuses, at its place.
pub fn of_mmpp(checker: &Checker<'_>, written: &Located<MmppTable>) -> Checked<Arrivals> {
    let MmppTable { changes, rates } = &written.value;
    let all: Vec<f64> = rates.iter().map(|rate| rate.value).collect();
    let made = MarkovArrivals::modulated(&values(changes), &all);
    made.map(|process| Arrivals::Markov(Arc::new(process))).or_else(|MarkovError { part, reason, remedy }| {
        match part {
            MarkovPart::Hidden(row, column) => checker.refuse(&changes[row].value[column], reason, remedy),
            MarkovPart::Arriving(row, _) => checker.refuse(&rates[row], reason, remedy),
            MarkovPart::Row(row) => checker.refuse(&changes[row], reason, remedy),
            MarkovPart::All => checker.refuse(written, reason, remedy),
        }
    })
}
