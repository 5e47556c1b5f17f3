//! What is kept of the requests and cores of one run: whole numbers, so that it does not depend on the order in which the
//! engine tells.
//!
//! Times are nanoseconds. A request counts where it arrives in the measured time; windows hold all requests. What cores
//! do counts where it lies in the measured time. Of a slowdown is kept what it has above 1, in thousandths, to the nearest:
//! so a slowdown of 1 is read as exactly that, and none is below it. A request of no service is taken as one of a
//! nanosecond.
//!
//! | | |
//! |-|-|
//! | Work | O(1) for each report; of a request little, for its times are put aside and counted `ASIDE` at once |
//! | Memory | three histograms and `ASIDE` requests a class, some numbers a core, [`KEPT_CHANGES`] changes of the cores in use, the windows, and the steps of [`OverTime`] |
//! | Allocates | where a histogram first holds a time of another power of two, and for a later window than before |
//!
//! Changes of the cores in use are reported in order of time; nothing else need be.

mod parts;
mod recovery;
mod together;

use crate::model::ServerScenario;
use crate::record::{Batch, Done, Lost, Part, Served, Sink, Unserved};
pub use parts::PartCounts;
use recovery::Recovery;
use weir_core::discipline::DropReason;
use weir_core::units::{Instant, Nanos};
use weir_lab::stats::window::Window;
use weir_lab::stats::{Histogram, OverTime, Times};

/// The most changes of the cores in use that are kept.
pub const KEPT_CHANGES: usize = 10_000;
/// The number of requests of a class that are put aside before they are counted.
const ASIDE: usize = 128;
/// What is kept of a class: delays, responses, slowdowns.
pub const METRICS: usize = 3;

/// What was counted of the requests of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// Those that were done.
    pub done: u64,
    /// Those that left unserved.
    pub dropped: u64,
    /// Of them, those that left since their service did not begin in time.
    pub abandoned: u64,
    /// Of them, those that left for another reason, by [`Unserved`].
    pub lost: [u64; Unserved::COUNT],
    /// Attempts that were not the first of their request.
    pub retried: u64,
    /// Those that were done when their client had given up.
    pub late: u64,
    /// Those that ended after a later one of their flow.
    pub reordered: u64,
    /// Those that another core served than the request of their flow before.
    pub cold: u64,
    /// Sub-requests, where requests go to several cores.
    pub parts: PartCounts,
    /// Delays, responses, slowdowns.
    pub times: [Times; METRICS],
}

impl ClassCounts {
    /// Counts what `other` has counted too.
    pub fn merge(&mut self, other: &Self) {
        self.done += other.done;
        self.dropped += other.dropped;
        self.abandoned += other.abandoned;
        self.lost.iter_mut().zip(other.lost).for_each(|(own, other)| *own += other);
        self.retried += other.retried;
        self.late += other.late;
        self.reordered += other.reordered;
        self.cold += other.cold;
        self.parts.merge(other.parts);
        self.times.iter_mut().zip(&other.times).for_each(|(own, other)| own.merge(other));
    }
}

impl ClassCounts {
    /// Counts delays, responses and slowdowns, as many of each.
    fn count_times(&mut self, values: [&[u64]; METRICS], has_tails: bool) {
        self.done += values[0].len() as u64;
        if has_tails {
            Histogram::record_together(self.times.each_mut().map(|times| &mut times.histogram), values);
            return;
        }
        for (times, values) in self.times.iter_mut().zip(values) {
            values.iter().for_each(|&value| times.record(value, false));
        }
    }

    /// Counts what was put aside.
    #[inline(never)]
    fn count(&mut self, aside: &mut Aside, has_tails: bool) {
        self.count_times(aside.values.each_ref().map(|values| &values[..aside.held]), has_tails);
        self.reordered += aside.reordered;
        self.cold += aside.cold;
        (aside.held, aside.reordered, aside.cold) = (0, 0, 0);
    }
}

/// Requests of a class that are not counted yet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Aside {
    held: usize,
    reordered: u64,
    cold: u64,
    values: [[u64; ASIDE]; METRICS],
}

impl Default for Aside {
    fn default() -> Self {
        Self { held: 0, reordered: 0, cold: 0, values: [[0; ASIDE]; METRICS] }
    }
}

impl Aside {
    /// Puts the times of a request aside; whether it is full.
    #[inline(always)]
    fn put(&mut self, times: [u64; METRICS]) -> bool {
        // Always below; stated so that it need not be checked.
        let place = self.held % ASIDE;
        for (values, time) in self.values.iter_mut().zip(times) {
            values[place] = time;
        }
        self.held = place + 1;
        self.held == ASIDE
    }
}

/// What a core did in the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreCounts {
    /// Busy, overheads included.
    pub busy: u64,
    /// Overheads.
    pub overhead: u64,
}

/// What was reported from the beginning to the end, and what reaches over the ends of the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Requests that were done.
    pub done: u64,
    /// Requests that left unserved.
    pub dropped: u64,
    /// What those would have needed more that left, but for those that the discipline dropped, of those that count.
    pub abandoned: u128,
    /// What attempts needed that were not the first of their request, of those that count.
    pub retried: u128,
    /// Attempts of the last tenth of the measured time that were answered in time, and those that failed; where clients try
    /// again.
    pub last: [u64; 2],
    /// What cores did in the measured time for those that were done too late, or not to their end, and for sub-requests that
    /// were not needed.
    pub late: u128,
    /// What those that were done needed.
    pub service: u128,
    /// Of it, what those needed that count.
    pub counted: u128,
    /// The longest response of those that were present at an end of the measured time.
    pub longest: u64,
    /// How long cores were busy.
    pub busy: u128,
    /// Of it, overheads.
    pub overhead: u128,
    /// Requests that were present where the measured time begins, and where it ends.
    pub present: [u64; 2],
    /// What these needed, all of it.
    pub reaching: u128,
    /// Their time in the measured time before it began to count, and that of those who count after its end.
    pub before: u128,
    /// See [`Self::before`].
    pub after: u128,
}

/// The cores in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InUseCounts {
    /// Each change: when, and how many from then on.
    pub changes: Vec<(u64, u32)>,
    /// There were more.
    pub truncated: bool,
    /// Cores times nanoseconds in the measured time.
    pub area: u128,
    /// The most at a time in the measured time.
    pub peak: u32,
    now: u32,
    since: u64,
}

impl InUseCounts {
    fn change(&mut self, at: u64, servers: u32, window: Window) {
        let part = window.part(Instant::new(self.since), Instant::new(at));
        self.area += u128::from(part.get()) * u128::from(self.now);
        if part.get() > 0 {
            self.peak = self.peak.max(self.now);
        }
        (self.now, self.since) = (servers, at);
    }

    fn told(&mut self, at: u64, servers: u32, window: Window) {
        self.change(at, servers, window);
        let is_full = self.changes.len() >= KEPT_CHANGES;
        match self.changes.last_mut() {
            Some(last) if last.0 == at => last.1 = servers,
            Some(last) if last.1 == servers => {}
            _ if is_full => self.truncated = true,
            _ => self.changes.push((at, servers)),
        }
    }
}

/// Delays of the services that began in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowSum {
    /// How many.
    pub count: u64,
    /// Their delays together.
    pub sum: u128,
}

/// Sums of successive windows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowSums {
    /// Window by window, class by class.
    pub sums: Vec<WindowSum>,
    length: u64,
    classes: usize,
    most: usize,
    /// The last that was found: where it begins, and its place in the sums.
    last: (u64, usize),
}

impl WindowSums {
    fn new(server: &ServerScenario) -> Option<Self> {
        let length = server.measure.window?.get().max(1);
        let classes = server.classes.len();
        let windows = usize::try_from(server.stop.duration.get().div_ceil(length)).unwrap_or(usize::MAX);
        let most = windows.saturating_mul(classes);
        Some(Self { sums: Vec::new(), length, classes, most, last: (0, 0) })
    }

    /// The place of the window of `at`; neighbours come in the same, so it is seldom looked for.
    #[inline]
    fn place(&mut self, at: u64) -> usize {
        if at.wrapping_sub(self.last.0) >= self.length {
            let window = at / self.length;
            let place = usize::try_from(window).unwrap_or(usize::MAX).saturating_mul(self.classes);
            self.last = (window * self.length, place);
        }
        self.last.1
    }

    #[inline]
    fn record(&mut self, began: u64, class: usize, delay: u64) {
        let place = self.place(began).saturating_add(class);
        if place >= self.sums.len() {
            if place >= self.most {
                return;
            }
            self.sums.resize((place / self.classes + 1) * self.classes, WindowSum::default());
        }
        self.sums[place].count += 1;
        self.sums[place].sum += u128::from(delay);
    }
}

/// Collects one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collector {
    /// Class by class.
    pub classes: Vec<ClassCounts>,
    /// Core by core.
    pub cores: Vec<CoreCounts>,
    /// The cores in use.
    pub in_use: InUseCounts,
    /// Delays over time, by the time of arrival, of the first replication.
    pub over_time: OverTime,
    /// Windows, where they are asked for.
    pub windows: Option<WindowSums>,
    /// What was reported of all.
    pub told: Told,
    aside: Vec<Aside>,
    /// When clients give up, by class; empty where none does.
    timeouts: Vec<u64>,
    /// The last tenth of the measured time, where clients try again; or no time at all.
    last: Window,
    recovery: Option<Box<Recovery>>,
    window: Window,
    has_tails: bool,
}

/// The measured time of a scenario.
#[must_use]
pub fn measured(server: &ServerScenario) -> Window {
    let until = Instant::ZERO + server.stop.duration;
    Window { from: until.min(Instant::ZERO + server.stop.warm_up), until }
}

/// When clients give up, by class, in nanoseconds; empty where none does.
fn timeouts(server: &ServerScenario) -> Vec<u64> {
    let of = |timeout: Option<Nanos>| timeout.map_or(u64::MAX, Nanos::get);
    let each = server.classes.iter().map(|class| of(class.in_time()));
    each.filter(|_| server.has_timeout()).collect()
}

/// The last tenth of the measured time, where clients try again; or no time at all.
fn last(server: &ServerScenario) -> Window {
    let Window { from, until } = measured(server);
    let tenth = server.retry.map_or(0, |_| (until - from).get() / 10);
    Window { from: Instant::new(until.get() - tenth), until }
}

/// Slowdowns are reported to the nearest multiple of this.
pub const SLOWDOWN_STEP: f64 = 1e-3;
/// No slowdown is less.
pub const LEAST_SLOWDOWN: f64 = 1.0;

/// Response over service, what it has above 1, in thousandths, to the nearest; at most `2^52 - 1` of them.
#[inline(always)]
fn slowed(response: u64, service: u64) -> u64 {
    // The last place of such a number is one, so adding it rounds, and the lower digits are the sum. Times are below
    // 2^63, and signed numbers are converted faster.
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let service = service.max(1);
    let more = response.saturating_sub(service);
    let ratio = more as i64 as f64 * 1000.0 / service as i64 as f64;
    (ratio.min(TWO_52 - 1.0) + TWO_52).to_bits() & ((1 << 52) - 1)
}

impl Collector {
    /// Nothing yet, of a replication by its number.
    #[must_use]
    pub fn new(server: &ServerScenario, replication: u32) -> Self {
        let cores = server.site.servers;
        Self {
            classes: vec![ClassCounts::default(); server.classes.len()],
            cores: vec![CoreCounts::default(); cores as usize],
            in_use: InUseCounts { now: cores, ..InUseCounts::default() },
            over_time: if replication == 0 {
                OverTime::new(server.stop.duration, server.classes.len())
            } else {
                OverTime::default()
            },
            windows: WindowSums::new(server),
            told: Told::default(),
            aside: vec![Aside::default(); server.classes.len()],
            timeouts: timeouts(server),
            last: last(server),
            recovery: Recovery::new(server).map(Box::new),
            window: measured(server),
            has_tails: server.measure.tails,
        }
    }

    /// The run is over.
    #[must_use]
    pub fn closed(mut self) -> Self {
        let (now, until) = (self.in_use.now, self.window.until.get());
        self.in_use.change(until.max(self.in_use.since), now, self.window);
        for (counts, aside) in self.classes.iter_mut().zip(&mut self.aside) {
            counts.count(aside, self.has_tails);
        }
        if self.has_tails {
            self.classes.iter_mut().flat_map(|class| &mut class.times).for_each(|times| {
                times.count = times.histogram.count();
                times.sum = times.histogram.sum();
                times.longest = times.histogram.maximum().unwrap_or(0);
            });
        }
        self
    }

    /// Whether a client had given up by the time of the response.
    #[inline(always)]
    fn is_late(&self, class: usize, response: u64) -> bool {
        self.timeouts.get(class).is_some_and(|timeout| response > *timeout)
    }

    /// An attempt that arrived then was answered in time, or failed.
    #[inline(always)]
    fn attempt_ends(&mut self, arrived: Instant, has_failed: bool) {
        self.told.last[usize::from(has_failed)] += u64::from(self.last.holds(arrived));
        if let Some(recovery) = &mut self.recovery {
            recovery.ended(arrived, has_failed);
        }
    }

    /// How long after a burst the clients were served again, in nanoseconds; `None` where there is no such time.
    #[must_use]
    pub fn recovered(&self) -> Option<u64> {
        let has_tipped = self.told.last[1] > self.told.last[0];
        self.recovery.as_ref().filter(|_| !has_tipped)?.took()
    }

    /// A request is done whose client had given up: its service, as far as it lies in the measured time.
    #[cold]
    fn in_vain(&mut self, done: &Done) {
        let spent = self.window.part(done.began, done.ended).min(done.service);
        self.told.late += u128::from(spent.get());
    }

    /// A request that reaches over an end of the measured time; its work is reported with it, or part by part.
    #[cold]
    fn reaches_over(&mut self, done: &Done, has_work: bool) {
        let (from, until) = (self.window.from.get(), self.window.until.get());
        let (arrived, ended) = (done.arrived.get(), done.ended.get());
        let is_before = arrived < from && ended > from;
        let is_after = arrived < until && ended > until;
        self.told.present[0] += u64::from(is_before);
        self.told.present[1] += u64::from(is_after);
        if is_before || is_after {
            self.told.reaching += if has_work { u128::from(done.service.get()) } else { 0 };
            self.told.longest = self.told.longest.max(ended - arrived);
        }
        if is_before {
            self.told.before += u128::from(ended.min(until) - from);
        }
        if is_after && arrived >= from {
            self.told.after += u128::from(ended - until);
        }
    }
}

impl Collector {
    /// Counts a request, and its work, if that is not reported part by part.
    #[inline(always)]
    fn request<const HAS_WORK: bool>(&mut self, done: &Done) {
        self.told.done += 1;
        let service = done.service.get();
        if HAS_WORK {
            self.told.service += u128::from(service);
        }
        let class = usize::from(done.class);
        let delay = (done.began - done.arrived).get();
        self.over_time.record(done.arrived, class, delay);
        if let Some(windows) = &mut self.windows {
            windows.record(done.began.get(), class, delay);
        }
        let is_late = self.is_late(class, (done.ended - done.arrived).get());
        if is_late && HAS_WORK {
            self.in_vain(done);
        }
        self.attempt_ends(done.arrived, is_late);
        if done.arrived < self.window.from || done.ended > self.window.until {
            self.reaches_over(done, HAS_WORK);
            if !self.window.holds(done.arrived) {
                return;
            }
        }
        if HAS_WORK {
            self.told.counted += u128::from(service);
        }
        let response = (done.ended - done.arrived).get();
        self.classes[class].late += u64::from(is_late);
        let aside = &mut self.aside[class];
        aside.reordered += u64::from(done.reordered);
        aside.cold += u64::from(done.cold);
        if aside.put([delay, response, slowed(response, service)]) {
            self.classes[class].count(aside, self.has_tails);
        }
    }
}

impl Sink for Collector {
    #[inline]
    fn done(&mut self, done: &Done) {
        self.request::<true>(done);
    }

    #[inline]
    fn answered(&mut self, done: &Done) {
        self.request::<false>(done);
    }

    #[inline]
    fn part(&mut self, part: &Part) {
        self.count_part(part);
    }

    #[inline]
    fn all_served(&mut self, class: u16, arrived: Instant, served: &[Served], last: Instant) {
        self.count_served(class, arrived, served, last);
    }

    fn all_done(&mut self, batch: Batch<'_>) {
        self.count_together(batch);
    }

    #[inline]
    fn dropped(&mut self, class: u16, arrived: Instant, _now: Instant, _reason: DropReason) {
        self.told.dropped += 1;
        self.attempt_ends(arrived, true);
        self.classes[usize::from(class)].dropped += u64::from(self.window.holds(arrived));
    }

    #[inline]
    fn abandoned(&mut self, class: u16, arrived: Instant, _now: Instant, service: Nanos) {
        self.told.dropped += 1;
        self.attempt_ends(arrived, true);
        if self.window.holds(arrived) {
            let counts = &mut self.classes[usize::from(class)];
            counts.dropped += 1;
            counts.abandoned += 1;
            self.told.abandoned += u128::from(service.get());
        }
    }

    #[cold]
    fn lost(&mut self, lost: &Lost) {
        self.told.dropped += 1;
        self.attempt_ends(lost.arrived, true);
        let served = lost.service - lost.left;
        self.told.service += u128::from(served.get());
        let (from, until) = (self.window.from, self.window.until);
        if served.get() > 0 {
            // Its service ended where it left, though it may have been in pieces.
            self.told.late += u128::from(self.window.part(lost.arrived, lost.now).min(served).get());
            let reaches = lost.arrived < from && lost.now > from || lost.arrived < until && lost.now > until;
            self.told.reaching += u128::from(if reaches { lost.service.get() } else { 0 });
        }
        if self.window.holds(lost.arrived) {
            let counts = &mut self.classes[usize::from(lost.class)];
            counts.dropped += 1;
            counts.lost[lost.why as usize] += 1;
            self.told.counted += u128::from(served.get());
            self.told.abandoned += u128::from(lost.left.get());
        }
    }

    #[inline]
    fn retried(&mut self, class: u16, arrived: Instant, service: Nanos) {
        if self.window.holds(arrived) {
            self.classes[usize::from(class)].retried += 1;
            self.told.retried += u128::from(service.get());
        }
    }

    #[inline]
    fn busy(&mut self, server: u32, from: Instant, until: Instant, overhead: Nanos) {
        self.told.busy += u128::from((until - from).get());
        self.told.overhead += u128::from(overhead.get());
        let part = |until: Instant| self.window.part(from, until).get();
        let (busy, overhead) = (part(until), part(from + overhead));
        let core = &mut self.cores[server as usize];
        core.busy += busy;
        core.overhead += overhead;
    }

    fn in_use(&mut self, now: Instant, servers: u32) {
        self.in_use.told(now.get(), servers, self.window);
    }
}

weir_lab::encode! {
    InUseCounts { changes, truncated, area, peak, now, since }
    WindowSums { sums, length, classes, most, last }
}
