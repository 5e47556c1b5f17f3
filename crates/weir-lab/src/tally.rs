//! The usual cell: times of some kinds and counts of some things, each known to its model by its place.
//!
//! A model that keeps more of a replication than this has a cell of its own ([`crate::gathered::Cell`]). Times are recorded
//! in nanoseconds and reported in seconds. Work O(1) a time; memory that of a histogram for each kind of time, of the job
//! and of the cell, and O(kinds + counts) a replication.

use std::array::from_fn;

use crate::encode::Encode;
use crate::gathered::Cell;
use crate::result::Distribution;
use crate::stats::figure::Title;
use crate::stats::row::{Row, Tails, ratio};
use crate::stats::{Bins, Histogram, QUANTILES, Spread, Times};

/// What a job leaves.
#[derive(Clone, Debug)]
pub struct Tally<const TIMES: usize, const COUNTS: usize> {
    /// The times, in nanoseconds.
    pub times: [Times; TIMES],
    /// The counts.
    pub counts: [u64; COUNTS],
}

/// A cell over the replications that are finished.
#[derive(Clone, Debug)]
pub struct Tallies<const TIMES: usize, const COUNTS: usize> {
    times: [Histogram; TIMES],
    spreads: [Vec<Spread>; TIMES],
    counts: Vec<[u64; COUNTS]>,
}

impl<const TIMES: usize, const COUNTS: usize> Default for Tally<TIMES, COUNTS> {
    fn default() -> Self {
        Self { times: from_fn(|_| Times::default()), counts: [0; COUNTS] }
    }
}

impl<const TIMES: usize, const COUNTS: usize> Default for Tallies<TIMES, COUNTS> {
    fn default() -> Self {
        let (times, spreads) = (from_fn(|_| Histogram::new()), from_fn(|_| Vec::new()));
        Self { times, spreads, counts: Vec::new() }
    }
}

impl<const TIMES: usize, const COUNTS: usize> Cell for Tallies<TIMES, COUNTS> {
    type Left = Tally<TIMES, COUNTS>;
    type Summary = ([Spread; TIMES], [u64; COUNTS]);

    fn merge(&mut self, left: Self::Left, _is_first: bool) -> Self::Summary {
        self.times.iter_mut().zip(&left.times).for_each(|(all, one)| all.merge(&one.histogram));
        (left.times.map(|times| times.spread()), left.counts)
    }

    fn push(&mut self, (spreads, counts): Self::Summary) {
        self.spreads.iter_mut().zip(spreads).for_each(|(all, one)| all.push(one));
        self.counts.push(counts);
    }
}

impl<const TIMES: usize, const COUNTS: usize> Tallies<TIMES, COUNTS> {
    /// The replications that are finished.
    #[must_use]
    pub fn replications(&self) -> usize {
        self.counts.len()
    }

    /// What was counted in all replications.
    #[must_use]
    pub fn sum(&self, count: usize) -> u64 {
        self.counts.iter().map(|counts| counts[count]).sum()
    }

    /// Mean, quantiles and longest of times, in seconds; the statistic of the title is not used.
    #[must_use]
    pub fn spreads(&self, title: Title, times: usize) -> Vec<Row> {
        let tails = Tails { all: Some(&self.times[times]), quantiles: QUANTILES };
        Row::spreads(title, &self.spreads[times], Some(&tails), seconds)
    }

    /// The mean over the replications of one count over another.
    #[must_use]
    pub fn ratio(&self, title: Title, part: usize, whole: usize) -> Row {
        let parts = self.counts.iter().map(|counts| ratio(counts[part], counts[whole])).collect();
        Row::mean(title, parts, self.sum(whole))
    }

    /// The distribution of times, in seconds; statistic and unit of the title are not used.
    #[must_use]
    pub fn distribution(&self, discipline: &str, title: Title, times: usize) -> Distribution {
        Distribution {
            discipline: discipline.to_owned(),
            subject: title.subject,
            metric: title.metric,
            bins: Bins::new(&self.times[times], "s", seconds),
        }
    }
}

fn seconds(nanos: f64) -> f64 {
    nanos / 1e9
}

impl<const TIMES: usize, const COUNTS: usize> Encode for Tally<TIMES, COUNTS> {
    fn encode(&self, into: &mut Vec<u8>) {
        self.times.encode(into);
        self.counts.encode(into);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        Some(Self { times: Encode::decode(from)?, counts: Encode::decode(from)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gathered::Gathered;
    use crate::stats::figure::{Figure, Subject};
    use crate::stats::row::Rows;

    fn tally(waits: &[u64], counts: [u64; 2]) -> Tally<1, 2> {
        let mut tally = Tally { counts, ..Tally::default() };
        waits.iter().for_each(|&wait| tally.times[0].record(wait * 1_000_000_000, true));
        tally
    }

    #[test]
    fn by_hand() {
        let mut gathered = Gathered::new(2, vec![Tallies::<1, 2>::default()]);
        gathered.add(1, 0, tally(&[2], [1, 4]));
        gathered.add(0, 0, tally(&[1, 3, 5], [3, 4]));
        let tallies = gathered.into_cells().remove(0);
        assert_eq!((tallies.replications(), tallies.sum(0), tallies.sum(1)), (2, 4, 8));
        let title = Title::mean(Subject::new("k", "n"), "m", "s");
        let mut rows = tallies.spreads(title.clone(), 0);
        rows.push(tallies.ratio(title.clone(), 0, 1));
        let figures: Vec<Figure> = Rows::new(rows, true).figures("fifo").collect();
        let told: Vec<_> = figures.iter().map(|figure| (figure.statistic, figure.count)).collect();
        let expected =
            [("mean", 4), ("p50", 4), ("p90", 4), ("p99", 4), ("p99.9", 4), ("max", 4), ("mean", 8)];
        assert_eq!(told, expected);
        assert_eq!([0, 5, 6].map(|place| figures[place].value), [Some(2.5), Some(5.0), Some(0.5)]);
        let distribution = tallies.distribution("fifo", title, 0);
        assert_eq!((distribution.subject.name.as_str(), distribution.bins.count), ("n", vec![1; 4]));
    }

    #[test]
    fn nothing_finished_is_told_as_nothing() {
        let none = Tallies::<1, 2>::default();
        let title = Title::mean(Subject::new("k", "n"), "m", "1");
        let rows = Rows::new(vec![none.ratio(title, 0, 1)], true);
        let figures: Vec<Figure> = rows.figures("fifo").collect();
        assert!(figures.iter().all(|figure| figure.value.is_none() && figure.reason.is_some()));
    }
}
