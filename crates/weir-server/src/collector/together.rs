//! Requests that are reported together: counted column by column, as one by one.
//!
//! | | |
//! |-|-|
//! | Work | O(1) a request, without a branch for each but for its class |
//! | Memory | three columns on the stack |
//! | Units | nanoseconds; slowdowns as [`slowed`] |

use super::{Collector, METRICS, slowed};
use crate::record::{Batch, Sink};
use weir_core::units::Nanos;
use weir_lab::dispatch::{Level, Work};
use weir_lab::stats::total;

/// The number of requests that are counted together.
const TOGETHER: usize = 256;

/// Delays, responses, slowdowns.
type Columns = [[u64; TOGETHER]; METRICS];

/// Works out what is kept of each request.
struct Times<'b> {
    batch: Batch<'b>,
    columns: &'b mut Columns,
}

impl Work for Times<'_> {
    /// The first arrival and the last end.
    type Output = (u64, u64);

    #[inline(always)]
    fn run(self) -> Self::Output {
        let [delays, responses, slowdowns] = self.columns;
        let Batch { arrived, began, service, .. } = self.batch;
        let (mut first, mut last) = (u64::MAX, 0);
        let rows = arrived.iter().zip(began).zip(service);
        let columns = delays.iter_mut().zip(responses).zip(slowdowns);
        for (((&arrived, &began), &service), ((to_delay, to_response), to_slowdown)) in rows.zip(columns) {
            let delay = began - arrived;
            *to_delay = delay;
            *to_response = delay + service;
            *to_slowdown = slowed(delay + service, service);
            first = first.min(arrived);
            last = last.max(began + service);
        }
        (first, last)
    }
}

impl Collector {
    /// Counts requests that are reported together.
    pub(super) fn count_together(&mut self, batch: Batch<'_>) {
        for begin in (0..batch.len()).step_by(TOGETHER) {
            self.count_few(batch.part(begin..(begin + TOGETHER).min(batch.len())));
        }
    }

    /// Counts at most [`TOGETHER`] requests.
    fn count_few(&mut self, batch: Batch<'_>) {
        let mut columns = [[0; TOGETHER]; METRICS];
        let (first, last) = Level::detect().run(Times { batch, columns: &mut columns });
        if first < self.window.from.get() || last > self.window.until.get() {
            return self.count_apart(batch);
        }
        let columns = columns.each_ref().map(|column| &column[..batch.len()]);
        self.count_work(batch);
        self.over_time.record_all(batch.arrived, batch.class, columns[0]);
        if let Some(windows) = &mut self.windows {
            let rows = batch.began.iter().zip(batch.class).zip(columns[0]);
            rows.for_each(|((&began, &class), &delay)| windows.record(began, usize::from(class), delay));
        }
        if !self.timeouts.is_empty() {
            let rows = batch.class.iter().zip(columns[1]).zip(batch.service);
            for ((&class, &response), &service) in rows {
                let is_late = self.is_late(usize::from(class), response);
                self.classes[usize::from(class)].late += u64::from(is_late);
                self.told.late += u128::from(if is_late { service } else { 0 });
            }
        }
        match self.classes.as_mut_slice() {
            [only] => only.count_times(columns, self.has_tails),
            _ => self.sort_by_class(batch, columns),
        }
    }

    /// Where not all of them lies in the measured time.
    #[cold]
    fn count_apart(&mut self, batch: Batch<'_>) {
        for done in batch.iter() {
            self.done(&done);
            self.busy(done.server, done.began, done.ended, Nanos::ZERO);
        }
    }

    /// Counts what cores did, all of it in the measured time.
    fn count_work(&mut self, batch: Batch<'_>) {
        let together = total(batch.service);
        self.told.done += batch.len() as u64;
        self.told.service += together;
        self.told.counted += together;
        self.told.busy += together;
        for (&server, &service) in batch.server.iter().zip(batch.service) {
            self.cores[server as usize].busy += service;
        }
    }

    fn sort_by_class(&mut self, batch: Batch<'_>, [delays, responses, slowdowns]: [&[u64]; METRICS]) {
        let rows = delays.iter().zip(responses).zip(slowdowns).zip(batch.class);
        for (((&delay, &response), &slowdown), &class) in rows {
            let class = usize::from(class);
            let aside = &mut self.aside[class];
            if aside.put([delay, response, slowdown]) {
                self.classes[class].count(aside, self.has_tails);
            }
        }
    }
}
