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
    /// From arrival to the acceptance of the last packet, where that is asked for.
    latency: Vec<u64>,
    /// From arrival to the end of service.
    response: Vec<u64>,
    /// What the service takes alone.
    alone: Vec<u64>,
    /// Response without what the service takes alone, where that is asked for.
    wait: Vec<u64>,
    /// Response over what the service takes alone, where that is asked for.
    slowdown: Vec<u64>,
}

impl ByClass {
    /// Takes departures in place of those before, works out the metrics, and adds to the counts and lengths of each class.
    pub(crate) fn sort(&mut self, departures: &[Departure], metrics: &[Metric], lengths: &mut [(u64, u64)]) {
        let Self { latency, response, alone, wait, slowdown, .. } = self;
        for column in [latency, response, alone, wait, slowdown] {
            column.resize(departures.len(), 0);
        }
        let has_latency = metrics.contains(&Metric::Latency);
        match lengths {
            [only] => self.keep(departures, has_latency, only),
            _ => self.distribute(departures, has_latency, lengths),
        }
        metrics.iter().for_each(|&metric| self.measure(metric));
    }

    /// All of them are of one class.
    fn keep(&mut self, departures: &[Departure], has_latency: bool, (count, length): &mut (u64, u64)) {
        self.ends.clear();
        self.ends.push(departures.len());
        *count += departures.len() as u64;
        let columns = self.response.iter_mut().zip(&mut self.alone);
        for (departure, (response, alone)) in departures.iter().zip(columns) {
            *length += u64::from(departure.length);
            *response = (departure.completion - departure.arrival).get();
            *alone = departure.alone.get();
        }
        if has_latency {
            for (departure, latency) in departures.iter().zip(&mut self.latency) {
                *latency = (departure.last - departure.arrival).get();
            }
        }
    }

    fn distribute(&mut self, departures: &[Departure], has_latency: bool, lengths: &mut [(u64, u64)]) {
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
            if has_latency {
                self.latency[*end] = (departure.last - departure.arrival).get();
            }
            self.response[*end] = (departure.completion - departure.arrival).get();
            self.alone[*end] = departure.alone.get();
            *end += 1;
        }
    }

    /// Works out a metric that follows from the response and what the service takes alone.
    fn measure(&mut self, metric: Metric) {
        let both = self.response.iter().zip(&self.alone);
        match metric {
            Metric::Latency | Metric::Response => {}
            Metric::Wait => {
                let all = self.wait.iter_mut().zip(both);
                all.for_each(|(wait, (response, alone))| *wait = response.saturating_sub(*alone));
            }
            Metric::Slowdown => {
                let all = self.slowdown.iter_mut().zip(both);
                all.for_each(|(value, (response, alone))| *value = slowdown(*response, *alone));
            }
        }
    }

    /// The values of a class, of a metric that was asked for.
    pub(crate) fn values(&self, metric: Metric, class: usize) -> &[u64] {
        let column = match metric {
            Metric::Latency => &self.latency,
            Metric::Response => &self.response,
            Metric::Wait => &self.wait,
            Metric::Slowdown => &self.slowdown,
        };
        let begin = class.checked_sub(1).map_or(0, |before| self.ends[before]);
        &column[begin..self.ends[class]]
    }
}
