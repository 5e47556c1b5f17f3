//! What tests of engines share: arrivals given beforehand, and what an engine does with them.

use crate::engine::{Engine, State, Stopped};
use crate::observer::Observer;
use weir_lab::record::Departure;
use weir_workload::source::{ArrivalBlock, ArrivalSource};

/// Arrivals given beforehand, in blocks of an uneven size.
#[derive(Clone)]
pub(crate) struct Given(std::vec::IntoIter<(u64, u32)>);

impl Given {
    pub(crate) fn new(gaps: &[(u64, u32)]) -> Self {
        let sums = gaps.iter().scan(0, |at, &(gap, length)| {
            *at += gap;
            Some((*at, length))
        });
        Self(sums.collect::<Vec<_>>().into_iter())
    }
}

impl ArrivalSource for Given {
    fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize {
        block.clear();
        for (at, length) in self.0.by_ref().take(n.min(7)) {
            block.push(at, length, (length % 3) as u16, length % 2);
        }
        block.len()
    }
}

#[derive(Default)]
pub(crate) struct Seen(pub(crate) Vec<Departure>);

impl Observer for Seen {
    fn departed(&mut self, departure: &Departure) {
        self.0.push(*departure);
    }
}

/// What an engine does up to each of `stops`.
pub(crate) fn course(mut engine: impl Engine, stops: &[u64]) -> Vec<(Stopped, State, Vec<Departure>)> {
    let course = stops.iter().map(|&until| {
        let mut seen = Seen::default();
        (engine.advance(until, &mut seen), engine.state(), seen.0)
    });
    course.collect()
}
