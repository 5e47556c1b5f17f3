//! A run over time, window by window, where `measure.over_time` asks for it.
//!
//! | metric | statistic | of a window |
//! |---|---|---|
//! | `outside` | mean | packets that wait for the buffers of their interfaces, over time |
//! | `inside` | mean | packets from the buffers of their interfaces to their delivery, over time |
//! | `throughput` | share | what is delivered in it, of what the links of all end-points carry |
//! | `delivered` | count | packets that are delivered in it |
//! | `latency` | mean, p50, p99 | of these, from the buffer of the interface; quantiles of at least 10 and 100 packets |
//!
//! Of each channel, and of all. Windows go from the beginning to the end of the run, warm-up included.
//!
//! | | |
//! |-|-|
//! | Work | O(1) for each report |
//! | Memory | a histogram and 48 bytes a window and channel |
//! | Units | ticks |

use crate::figures;
use crate::model::FabricScenario;
use crate::record::{Delivery, Generation, Injection};
use crate::time::{TICKS_PER_SECOND, Ticks, ticks};
use weir_lab::stats::windows::{self, FEWEST, Figures};
use weir_lab::stats::{Areas, Histogram};

/// Rows of a channel, or of all.
const ROWS: u64 = 7;

/// What is delivered in one window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Came {
    packets: u64,
    bytes: u64,
    /// The sum of the latencies.
    latency: u128,
    latencies: Histogram,
}

/// A channel over time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ChannelWindows {
    outside: Areas,
    inside: Areas,
    came: Vec<Came>,
}

/// Collects windows of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    length: Ticks,
    end: Ticks,
    /// Of all channels together, then of each.
    subjects: Vec<ChannelWindows>,
}

/// How many rows of figures a fabric of `channels` channels has.
#[must_use]
pub fn rows(channels: usize) -> u64 {
    (channels as u64 + 1) * ROWS
}

impl Windows {
    /// Nothing yet; none where a scenario does not ask for it.
    #[must_use]
    pub fn new(fabric: &FabricScenario) -> Option<Self> {
        let (length, end) = (fabric.over_time?, fabric.stop.duration);
        let areas = Areas::new(ticks(length), ticks(end));
        let came = vec![Came::default(); windows::count(length, end) as usize];
        let subject = ChannelWindows { outside: areas.clone(), inside: areas, came };
        let subjects = vec![subject; fabric.channels.len() + 1];
        Some(Self { length: ticks(length).max(1), end: ticks(end), subjects })
    }

    fn of(&mut self, channel: u8) -> impl Iterator<Item = &mut ChannelWindows> {
        let own = usize::from(channel) + 1;
        self.subjects
            .iter_mut()
            .enumerate()
            .filter(move |(place, _)| *place == 0 || *place == own)
            .map(|it| it.1)
    }

    /// A packet was generated.
    pub fn generated(&mut self, generation: &Generation) {
        self.of(generation.channel).for_each(|of| of.outside.change(generation.at, 1));
    }

    /// A packet entered the buffer of its interface.
    pub fn injected(&mut self, injection: &Injection) {
        for of in self.of(injection.channel) {
            of.outside.change(injection.at, -1);
            of.inside.change(injection.at, 1);
        }
    }

    /// A packet's tail came to its end-point.
    pub fn delivered(&mut self, delivery: &Delivery) {
        let (place, latency) =
            ((delivery.delivered / self.length) as usize, delivery.delivered - delivery.injected);
        for of in self.of(delivery.channel) {
            of.inside.change(delivery.delivered, -1);
            if let Some(came) = of.came.get_mut(place) {
                came.packets += 1;
                came.bytes += u64::from(delivery.size);
                came.latency += u128::from(latency);
                came.latencies.record(latency);
            }
        }
    }

    /// What was collected: of all, then of each channel.
    #[must_use]
    pub fn figures(&self, fabric: &FabricScenario) -> Vec<Figures> {
        let names =
            std::iter::once(None).chain(fabric.channels.iter().map(|channel| Some(channel.name.as_str())));
        let carried = figures::carried(fabric);
        let of = |(name, windows): (Option<&str>, &ChannelWindows)| {
            self.subject(windows, carried).map(|figures| match name {
                Some(name) => figures.of(name),
                None => figures,
            })
        };
        names.zip(&self.subjects).flat_map(of).collect()
    }

    /// `carried` is what the links of all end-points carry, in bytes a second.
    fn subject(&self, of: &ChannelWindows, carried: f64) -> [Figures; ROWS as usize] {
        let some = |values: Vec<f64>| values.into_iter().map(Some).collect();
        let seconds = |ticks: f64| ticks / TICKS_PER_SECOND as f64;
        let each = |value: &dyn Fn(&Came) -> Option<f64>| of.came.iter().map(value).collect();
        let quantile = |p: f64, least: u64| {
            each(&|came| came.latencies.quantile(p).filter(|_| came.packets >= least).map(seconds))
        };
        let mean =
            |came: &Came| (came.packets > 0).then(|| seconds(came.latency as f64 / came.packets as f64));
        let throughput = |(place, came): (usize, &Came)| {
            let length = self.length.min(self.end - place as u64 * self.length);
            Some(came.bytes as f64 / (carried * seconds(length as f64)))
        };
        [
            Figures::new("outside", "mean", "pkt", some(of.outside.means())),
            Figures::new("inside", "mean", "pkt", some(of.inside.means())),
            Figures::new("throughput", "share", "1", of.came.iter().enumerate().map(throughput).collect()),
            Figures::new("delivered", "count", "pkt", each(&|came| Some(came.packets as f64))),
            Figures::new("latency", "mean", "s", each(&mean)),
            Figures::new("latency", "p50", "s", quantile(0.5, FEWEST[0])),
            Figures::new("latency", "p99", "s", quantile(0.99, FEWEST[1])),
        ]
    }
}

#[cfg(test)]
mod tests;
