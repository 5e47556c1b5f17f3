//! Requests one by one: what became of each, as rows of a table, besides what another sink counts.
//!
//! | column | |
//! |---|---|
//! | `id` | the place among all attempts of the replication, by their arrival, from 0 |
//! | `class`, `flow` | whose it is; flows by their number |
//! | `attempt` | from 1 |
//! | `arrival_ns`, `start_ns`, `end_ns` | when it came, when its service began first, when it was done or left |
//! | `service_ns` | what it needed |
//! | `core` | the core that served it last |
//! | `outcome` | `served`; `late`, served after its client had given up; `abandoned`, its service did not begin in time; `dropped` |
//!
//! Rows come in the order in which requests go, warm-up included. Where there is no number, as of the core of a request that was
//! dropped, there is none.
//!
//! Work: O(1) a request. Memory: a block of rows, and 12 bytes for each request present at a time.

use crate::model::ServerScenario;
use crate::record::{Batch, Done, Fate, Gone, Lost, Part, Sink, Unserved};
use weir_core::discipline::DropReason;
use weir_core::units::{Instant, Nanos};
use weir_lab::recorded::{Heading, Table, Value};

/// What may become of a request, by the number of an outcome.
const OUTCOMES: [&str; 7] = ["served", "late", "abandoned", "dropped", "balked", "missed", "refused"];

/// The columns.
pub(crate) fn headings(server: &ServerScenario) -> Vec<Heading<'_>> {
    vec![
        Heading::counts("id"),
        Heading::names("class", server.classes.iter().map(|class| class.name.as_str())),
        Heading::counts("flow"),
        Heading::counts("attempt"),
        Heading::counts("arrival_ns"),
        Heading::counts("start_ns"),
        Heading::counts("end_ns"),
        Heading::counts("service_ns"),
        Heading::counts("core"),
        Heading::names("outcome", OUTCOMES),
    ]
}

/// A sink that also records each request.
pub(crate) struct Recorder<'r, 't, 's> {
    inner: &'r mut dyn Sink,
    table: &'r mut Table<'t, 's>,
    /// When clients give up, by class.
    timeouts: Vec<Option<Nanos>>,
    /// The number and the attempt of the request in each slot.
    slots: Vec<(u64, u32)>,
    came: u64,
}

impl<'r, 't, 's> Recorder<'r, 't, 's> {
    pub(crate) fn new(
        server: &ServerScenario,
        inner: &'r mut dyn Sink,
        table: &'r mut Table<'t, 's>,
    ) -> Self {
        let timeouts = server.classes.iter().map(|class| class.timeout).collect();
        Self { inner, table, timeouts, slots: Vec::new(), came: 0 }
    }

    /// The number of a request that comes.
    fn number(&mut self) -> u64 {
        self.came += 1;
        self.came - 1
    }

    fn outcome(&self, gone: &Gone) -> u32 {
        let timeout = self.timeouts.get(usize::from(gone.class)).copied().flatten();
        match gone.fate {
            Fate::Served if timeout.is_some_and(|timeout| gone.ended - gone.arrived > timeout) => 1,
            Fate::Served => 0,
            Fate::Abandoned => 2,
            Fate::Dropped => 3,
            Fate::Unserved(Unserved::Balked) => 4,
            Fate::Unserved(Unserved::Missed) => 5,
            Fate::Unserved(Unserved::Refused) => 6,
        }
    }

    /// A row.
    fn record(&mut self, id: u64, attempt: u32, gone: &Gone) {
        let outcome = self.outcome(gone);
        self.table.push([
            Value::Count(id),
            Value::Name(u32::from(gone.class)),
            Value::Count(u64::from(gone.flow)),
            Value::Count(u64::from(attempt)),
            Value::Count(gone.arrived.get()),
            gone.began.map(Instant::get).into(),
            Value::Count(gone.ended.get()),
            Value::Count(gone.service.get()),
            gone.server.map(u64::from).into(),
            Value::Name(outcome),
        ]);
    }
}

impl Sink for Recorder<'_, '_, '_> {
    fn follows(&self) -> bool {
        true
    }

    fn came(&mut self, slot: u32, attempt: u32) {
        let (place, number) = (slot as usize, self.number());
        if place >= self.slots.len() {
            self.slots.resize(place + 1, (0, 0));
        }
        self.slots[place] = (number, attempt);
    }

    fn gone(&mut self, slot: u32, gone: &Gone) {
        let (id, attempt) = self.slots.get(slot as usize).copied().unwrap_or_default();
        self.record(id, attempt, gone);
    }

    fn turned_away(&mut self, attempt: u32, gone: &Gone) {
        let id = self.number();
        self.record(id, attempt, gone);
    }

    fn done(&mut self, done: &Done) {
        self.inner.done(done);
    }

    fn all_done(&mut self, batch: Batch<'_>) {
        self.inner.all_done(batch);
    }

    fn answered(&mut self, done: &Done) {
        self.inner.answered(done);
    }

    fn part(&mut self, part: &Part) {
        self.inner.part(part);
    }

    fn dropped(&mut self, class: u16, arrived: Instant, now: Instant, reason: DropReason) {
        self.inner.dropped(class, arrived, now, reason);
    }

    fn abandoned(&mut self, class: u16, arrived: Instant, now: Instant, service: Nanos) {
        self.inner.abandoned(class, arrived, now, service);
    }

    fn lost(&mut self, lost: &Lost) {
        self.inner.lost(lost);
    }

    fn retried(&mut self, class: u16, arrived: Instant, service: Nanos) {
        self.inner.retried(class, arrived, service);
    }

    fn busy(&mut self, server: u32, from: Instant, until: Instant, overhead: Nanos) {
        self.inner.busy(server, from, until, overhead);
    }

    fn in_use(&mut self, now: Instant, servers: u32) {
        self.inner.in_use(now, servers);
    }
}
