//! A replication over time, window by window, where `measure.over_time` asks for it.
//!
//! | metric | statistic | of a window |
//! |---|---|---|
//! | `queue` | mean | packets in the queue of a link, over time |
//! | `utilisation` | mean | the share of the time in which the line of a link is occupied |
//! | `sent` | count | packets that are sent |
//! | `delay` | mean, p50, p99 | of those sent in it that are delivered; quantiles of at least 10 and 100 packets |
//! | `loss` | share | of those sent in it, those that are dropped |
//!
//! A packet belongs to the window in which it was sent, as to an interval of `measure.intervals`. Queues and lines are those of all
//! packets, acknowledgements too. Windows go from the beginning to the end of the sources, warm-up included.
//!
//! | | |
//! |-|-|
//! | Work | O(1) a packet and hop |
//! | Memory | a histogram a window, 48 bytes a window and link |

use crate::flight::{BACK, Flight};
use crate::model::NetworkScenario;
use crate::wire::Interval;
use weir_core::units::Instant;
use weir_lab::stats::windows::{self, FEWEST, Figures};
use weir_lab::stats::{Areas, Histogram};

/// What was sent in one window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sent {
    count: u64,
    dropped: u64,
    /// The sum of the delays.
    delay: u128,
    delays: Histogram,
}

/// A link over time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LinkWindows {
    queued: Areas,
    busy: Areas,
}

/// Collects windows of one replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    length: u64,
    sent: Vec<Sent>,
    links: Vec<LinkWindows>,
    /// Flow by flow, the links of its path and, behind a place of none, of its way back.
    ways: Vec<Vec<usize>>,
}

impl Windows {
    /// Nothing yet; none where a scenario does not ask for it.
    #[must_use]
    pub fn new(network: &NetworkScenario) -> Option<Self> {
        let (length, end) = (network.measure.over_time?, network.stop.duration);
        let areas = Areas::new(length.get(), end.get());
        let link = LinkWindows { queued: areas.clone(), busy: areas };
        let way = |flow: &crate::model::Flow| {
            let none = [usize::MAX];
            flow.path.iter().chain(&none).chain(&flow.back).copied().collect()
        };
        Some(Self {
            length: length.get().max(1),
            sent: vec![Sent::default(); windows::count(length, end) as usize],
            links: vec![link; network.links.len()],
            ways: network.flows.iter().map(way).collect(),
        })
    }

    fn window(&mut self, sent: Instant) -> Option<&mut Sent> {
        self.sent.get_mut((sent.get() / self.length) as usize)
    }

    fn link(&mut self, flight: &Flight) -> Option<&mut LinkWindows> {
        let link = *self.ways.get(flight.flow as usize)?.get(usize::from(flight.hop))?;
        self.links.get_mut(link)
    }

    /// Packets are sent at these times.
    pub fn sent(&mut self, times: &[Instant]) {
        for &at in times {
            if let Some(window) = self.window(at) {
                window.count += 1;
            }
        }
    }

    /// A packet has come to its destination.
    pub fn delivered(&mut self, flight: &Flight, delay: u64) {
        if let Some(window) = self.window(flight.sent) {
            window.delay += u128::from(delay);
            window.delays.record(delay);
        }
    }

    /// A packet leaves the queue of a link at `now`, and occupies its line.
    pub fn passed(&mut self, flight: &Flight, now: Instant, sending: Interval) {
        if let Some(link) = self.link(flight) {
            link.queued.add(flight.at.get(), now.get());
            link.busy.add(sending.from.get(), sending.to.get());
        }
    }

    /// A packet is dropped from the queue of a link at `now`, or before it.
    pub fn dropped(&mut self, flight: &Flight, now: Instant) {
        if let Some(link) = self.link(flight) {
            link.queued.add(flight.at.get(), now.get());
        }
        if flight.marks & BACK != 0 {
            return;
        }
        if let Some(window) = self.window(flight.sent) {
            window.dropped += 1;
        }
    }

    /// What was collected: of each link, then of all packets.
    #[must_use]
    pub fn figures(&self, network: &NetworkScenario) -> Vec<Figures> {
        let some = |values: Vec<f64>| values.into_iter().map(Some).collect();
        let of_link = |(link, windows): (&crate::model::Link, &LinkWindows)| {
            let queue = Figures::new("queue", "mean", "pkt", some(windows.queued.means()));
            let busy = Figures::new("utilisation", "mean", "1", some(windows.busy.means()));
            [queue.of(&link.name), busy.of(&link.name)]
        };
        let each = |of: &dyn Fn(&Sent) -> Option<f64>| self.sent.iter().map(of).collect();
        let share = |part: f64, count: u64| (count > 0).then(|| part / count as f64);
        let seconds = |nanoseconds: f64| nanoseconds / 1e9;
        let quantile = |p: f64, least: u64| {
            each(&|sent| sent.delays.quantile(p).filter(|_| sent.delays.count() >= least).map(seconds))
        };
        let mean = each(&|sent| share(sent.delay as f64, sent.delays.count()).map(seconds));
        let links = network.links.iter().zip(&self.links).flat_map(of_link);
        let all = [
            Figures::new("sent", "count", "pkt", each(&|sent| Some(sent.count as f64))),
            Figures::new("delay", "mean", "s", mean),
            Figures::new("delay", "p50", "s", quantile(0.5, FEWEST[0])),
            Figures::new("delay", "p99", "s", quantile(0.99, FEWEST[1])),
            Figures::new("loss", "share", "1", each(&|sent| share(sent.dropped as f64, sent.count))),
        ];
        links.chain(all).collect()
    }
}

/// How many rows of figures a network of `links` links has.
#[must_use]
pub fn rows(links: usize) -> u64 {
    2 * links as u64 + 5
}

#[cfg(test)]
mod tests;
