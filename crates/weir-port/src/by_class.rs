//! Departures class by class, for as long as it takes to count them: columns go through faster than one after the other.
//!
//! | | |
//! |-|-|
//! | Work | O(1) a departure and a metric |
//! | Units | ticks of the engine's clock; slowdowns in units of 2^-20 |
//!
//! Values are those of [`Metric::of`](crate::collector::Metric), bit by bit.

use crate::collector::{Metric, slowdown};
use weir_lab::record::Departure;

/// Departures by class; in the order of departure within one.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByClass {
    /// Where those of each class end.
    ends: Vec<usize>,
    /// From arrival to the acceptance of the last packet.
    latency: Vec<u64>,
    /// From arrival to the end of service.
    response: Vec<u64>,
    /// What the service takes alone.
    alone: Vec<u64>,
    /// The values of a metric that is worked out of both.
    values: Vec<u64>,
}

impl ByClass {
    /// Takes departures in place of those before, and adds to the counts and lengths of each class.
    pub(crate) fn sort(&mut self, departures: &[Departure], lengths: &mut [(u64, u64)]) {
        for column in [&mut self.latency, &mut self.response, &mut self.alone, &mut self.values] {
            column.resize(departures.len(), 0);
        }
        match lengths {
            [only] => self.keep(departures, only),
            _ => self.distribute(departures, lengths),
        }
    }

    /// All of them are of one class.
    fn keep(&mut self, departures: &[Departure], (count, length): &mut (u64, u64)) {
        self.ends.clear();
        self.ends.push(departures.len());
        *count += departures.len() as u64;
        let columns = self.latency.iter_mut().zip(&mut self.response).zip(&mut self.alone);
        for (departure, ((latency, response), alone)) in departures.iter().zip(columns) {
            *length += u64::from(departure.length);
            *latency = (departure.last - departure.arrival).get();
            *response = (departure.completion - departure.arrival).get();
            *alone = departure.alone.get();
        }
    }

    fn distribute(&mut self, departures: &[Departure], lengths: &mut [(u64, u64)]) {
        let last = lengths.len() - 1;
        let class = |departure: &Departure| usize::from(departure.class).min(last);
        self.ends.clear();
        self.ends.resize(lengths.len(), 0);
        for departure in departures {
            self.ends[class(departure)] += 1;
            lengths[class(departure)].1 += u64::from(departure.length);
        }
        let mut before = 0;
        for (end, (count, _)) in self.ends.iter_mut().zip(lengths) {
            *count += *end as u64;
            before += std::mem::replace(end, before);
        }
        for departure in departures {
            let end = &mut self.ends[class(departure)];
            self.latency[*end] = (departure.last - departure.arrival).get();
            self.response[*end] = (departure.completion - departure.arrival).get();
            self.alone[*end] = departure.alone.get();
            *end += 1;
        }
    }

    /// Works out the values of a metric, in place of those of another.
    pub(crate) fn measure(&mut self, metric: Metric) {
        let Self { response, alone, values, .. } = self;
        match metric {
            Metric::Latency | Metric::Response => {}
            Metric::Wait => {
                let both = response.iter().zip(&*alone);
                values
                    .iter_mut()
                    .zip(both)
                    .for_each(|(wait, (all, alone))| *wait = all.saturating_sub(*alone));
            }
            Metric::Slowdown => {
                let both = response.iter().zip(&*alone);
                values.iter_mut().zip(both).for_each(|(value, (all, alone))| *value = slowdown(*all, *alone));
            }
        }
    }

    /// The values of each class, of the metric that was worked out last.
    pub(crate) fn values(&self, metric: Metric) -> impl Iterator<Item = &[u64]> {
        let column = match metric {
            Metric::Latency => &self.latency,
            Metric::Response => &self.response,
            Metric::Wait | Metric::Slowdown => &self.values,
        };
        let begins = std::iter::once(&0).chain(&self.ends);
        begins.zip(&self.ends).map(|(&begin, &end)| &column[begin..end])
    }
}
