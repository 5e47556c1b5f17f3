//! A replication over time, window by window, where `measure.over_time` asks for it.
//!
//! | metric | statistic | of a window |
//! |---|---|---|
//! | `queue` | mean | requests that wait for their service to begin, over time; sub-requests and second copies, where a request goes to several cores |
//! | `utilisation` | mean | the share of the time of all cores in which they are busy, overheads included |
//! | `arrivals` | count | attempts that arrive |
//! | `abandoned`, `dropped`, `late` | share | of those that arrive: leave unserved since their service does not begin in time; leave unserved at all, these included; are answered when their client has given up |
//! | `delay` | p50, p99 | of those whose service begins in it, of at least 10 and 100 requests |
//!
//! All classes together. A request that waits again, since it was preempted, does not count as waiting. A sub-request that is not
//! needed any more waits until its turn comes, when it is dropped. The delay of a request that goes to several cores is that of the
//! sub-request which was answered last, as in the result.
//!
//! | | |
//! |-|-|
//! | Work | O(1) for each report |
//! | Memory | a histogram and some numbers a window |

use crate::collector::Collector;
use crate::model::ServerScenario;
use crate::record::{Done, Lost, Part, Sink};
use weir_core::discipline::DropReason;
use weir_core::units::{Instant, Nanos};
use weir_lab::stats::windows::{self, FEWEST, Figures};
use weir_lab::stats::{Areas, Histogram};

/// The most rows of figures of a discipline.
pub const MOST_ROWS: u64 = 8;

/// What came in one window.
#[derive(Clone, Debug, Default)]
struct Came {
    arrived: u64,
    abandoned: u64,
    dropped: u64,
    late: u64,
    /// Of services that began.
    delays: Histogram,
}

/// Collects figures over time besides what another sink keeps.
pub(crate) struct OverTimeSink<'c> {
    collector: &'c mut Collector,
    length: u64,
    waiting: Areas,
    busy: Areas,
    windows: Vec<Came>,
    cores: u32,
    timeouts: Vec<Option<Nanos>>,
    may_leave: bool,
    /// Whether what waits are sub-requests.
    has_parts: bool,
}

impl<'c> OverTimeSink<'c> {
    /// Nothing yet.
    pub(crate) fn new(server: &ServerScenario, collector: &'c mut Collector) -> Self {
        let length = server.measure.window.map_or(u64::MAX, Nanos::get).max(1);
        let end = server.stop.duration.get();
        let windows = windows::count(Nanos::new(length), server.stop.duration) as usize;
        Self {
            collector,
            length,
            waiting: Areas::new(length, end),
            busy: Areas::new(length, end),
            windows: vec![Came::default(); windows],
            cores: server.site.servers,
            timeouts: server.classes.iter().map(|class| class.timeout).collect(),
            may_leave: server.has_patience(),
            has_parts: server.fan_out.is_some(),
        }
    }

    fn window(&mut self, at: Instant) -> Option<&mut Came> {
        self.windows.get_mut((at.get() / self.length) as usize)
    }

    fn arrived(&mut self, at: Instant) {
        if let Some(window) = self.window(at) {
            window.arrived += 1;
        }
    }

    /// A request has waited; one that goes to several cores waits as its sub-requests do.
    fn waited(&mut self, from: Instant, until: Instant) {
        if !self.has_parts {
            self.waiting.add(from.get(), until.get());
        }
    }

    /// A request is served.
    fn served(&mut self, done: &Done) {
        let delay = done.began - done.arrived;
        if let Some(window) = self.window(done.began) {
            window.delays.record(delay.get());
        }
        let timeout = self.timeouts.get(usize::from(done.class)).copied().flatten();
        let late = timeout.is_some_and(|timeout| done.ended - done.arrived > timeout);
        if let Some(window) = self.window(done.arrived) {
            window.arrived += 1;
            window.late += u64::from(late);
        }
    }

    /// What was collected.
    pub(crate) fn finish(self) -> Vec<Figures> {
        let figures = Figures::new;
        let cores = f64::from(self.cores);
        let waits = if self.has_parts { "sub-requests" } else { "requests" };
        let share = |of: fn(&Came) -> u64| {
            let of = |came: &Came| (came.arrived > 0).then(|| of(came) as f64 / came.arrived as f64);
            self.windows.iter().map(of).collect()
        };
        let quantile = |p: f64, least: u64| {
            let of = |came: &Came| {
                let delay = came.delays.quantile(p).filter(|_| came.delays.count() >= least);
                delay.map(|nanoseconds| nanoseconds / 1e9)
            };
            self.windows.iter().map(of).collect()
        };
        let mut all = vec![
            figures("queue", "mean", waits, self.waiting.means().into_iter().map(Some).collect()),
            figures(
                "utilisation",
                "mean",
                "1",
                self.busy.means().iter().map(|busy| Some(busy / cores)).collect(),
            ),
            figures(
                "arrivals",
                "count",
                "requests",
                self.windows.iter().map(|came| Some(came.arrived as f64)).collect(),
            ),
            figures("delay", "p50", "s", quantile(0.5, FEWEST[0])),
            figures("delay", "p99", "s", quantile(0.99, FEWEST[1])),
            figures("dropped", "share", "1", share(|came| came.dropped)),
        ];
        if self.may_leave {
            all.push(figures("abandoned", "share", "1", share(|came| came.abandoned)));
        }
        if self.timeouts.iter().any(Option::is_some) {
            all.push(figures("late", "share", "1", share(|came| came.late)));
        }
        all
    }
}

impl Sink for OverTimeSink<'_> {
    fn done(&mut self, done: &Done) {
        self.collector.done(done);
        self.waited(done.arrived, done.began);
        self.served(done);
    }

    fn answered(&mut self, done: &Done) {
        self.collector.answered(done);
        self.served(done);
    }

    fn part(&mut self, part: &Part) {
        self.collector.part(part);
        self.waiting.add(part.sent.get(), part.began.get());
    }

    fn dropped(&mut self, class: u16, arrived: Instant, now: Instant, reason: DropReason) {
        self.collector.dropped(class, arrived, now, reason);
        self.waited(arrived, now);
        self.arrived(arrived);
        if let Some(window) = self.window(arrived) {
            window.dropped += 1;
        }
    }

    fn abandoned(&mut self, class: u16, arrived: Instant, now: Instant, service: Nanos) {
        self.collector.abandoned(class, arrived, now, service);
        self.waited(arrived, now);
        self.arrived(arrived);
        if let Some(window) = self.window(arrived) {
            (window.dropped, window.abandoned) = (window.dropped + 1, window.abandoned + 1);
        }
    }

    fn lost(&mut self, lost: &Lost) {
        self.collector.lost(lost);
        // Cut off where it was served, it had waited until then; all of the time before, where it was preempted meanwhile.
        let began = lost.now.get().saturating_sub((lost.service - lost.left).get());
        self.waiting.add(lost.arrived.get(), began.max(lost.arrived.get()));
        self.arrived(lost.arrived);
        if let Some(window) = self.window(lost.arrived) {
            window.dropped += 1;
        }
    }

    fn retried(&mut self, class: u16, arrived: Instant, service: Nanos) {
        self.collector.retried(class, arrived, service);
    }

    fn busy(&mut self, server: u32, from: Instant, until: Instant, overhead: Nanos) {
        self.collector.busy(server, from, until, overhead);
        self.busy.add(from.get(), until.get());
    }

    fn in_use(&mut self, now: Instant, servers: u32) {
        self.collector.in_use(now, servers);
    }
}
