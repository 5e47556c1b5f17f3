//! Requests one by one: what became of each, as rows of a table, besides what another sink counts.
//!
//! | column | |
//! |---|---|
//! | `id` | the place among all attempts of the replication, by their arrival, from 0 |
//! | `class`, `flow` | whose it is; flows by their number |
//! | `attempt` | from 1 |
//! | `part`, `copy` | which sub-request it is and which copy of it, from 1; only where a request goes to several cores |
//! | `arrival_ns`, `start_ns`, `end_ns` | when it came, when its service began first, when it was done or left |
//! | `sent_ns` | when the copy was sent; only with `part` and `copy` |
//! | `service_ns` | what it needed |
//! | `core` | the core that served it last |
//! | `outcome` | `served`; `late`, served after its client had given up; `abandoned`, its service did not begin in time; `dropped` |
//!
//! A request that goes to several cores has a row for each sub-request and each second copy, with the arrival of the request. The
//! one that decides what becomes of the request has the outcome of the request, so that `served` is the sub-request that was
//! answered last of those that were needed; the others were `answered`, `spare` (served and not needed), `cancelled` or `lost`. One
//! that its receiver had no place for has a row without `part` and `copy`.
//!
//! Rows come in the order in which requests go, warm-up included. Where there is no number, as of the core of a request that was
//! dropped, there is none.
//!
//! Work: O(1) a row. Memory: a block of rows, and 24 bytes for each request or sub-request present at a time.

use crate::model::ServerScenario;
use crate::record::{Batch, Came, Done, Ends, Fate, Gone, Lost, Part, Sink, Unserved};
use weir_core::discipline::DropReason;
use weir_core::units::{Instant, Nanos};
use weir_lab::recorded::{Heading, Table, Value};

/// What may become of a request, by the number of an outcome.
pub(crate) const OUTCOMES: [&str; 11] = [
    "served",
    "late",
    "abandoned",
    "dropped",
    "balked",
    "missed",
    "refused",
    "answered",
    "spare",
    "cancelled",
    "lost",
];
/// How many of them there are for requests that go to one core.
const OF_WHOLE: usize = 7;

/// The columns.
pub(crate) fn headings(server: &ServerScenario) -> Vec<Heading<'_>> {
    let classes = server.classes.iter().map(|class| class.name.as_str());
    let mut all = vec![
        Heading::counts("id"),
        Heading::names("class", classes),
        Heading::counts("flow"),
        Heading::counts("attempt"),
    ];
    if server.fan_out.is_some() {
        all.extend(["part", "copy", "sent_ns"].map(Heading::counts));
    }
    all.extend(["arrival_ns", "start_ns", "end_ns", "service_ns", "core"].map(Heading::counts));
    let outcomes = if server.fan_out.is_some() { &OUTCOMES[..] } else { &OUTCOMES[..OF_WHOLE] };
    all.push(Heading::names("outcome", outcomes.iter().copied()));
    all
}

/// A sink that also records each request.
pub(crate) struct Recorder<'r, 't, 's> {
    inner: &'r mut dyn Sink,
    table: &'r mut Table<'t, 's>,
    /// When clients give up, by class.
    timeouts: Vec<Option<Nanos>>,
    /// What came in each slot.
    slots: Vec<Came>,
    has_parts: bool,
}

impl<'r, 't, 's> Recorder<'r, 't, 's> {
    pub(crate) fn new(
        server: &ServerScenario,
        inner: &'r mut dyn Sink,
        table: &'r mut Table<'t, 's>,
    ) -> Self {
        let timeouts = server.classes.iter().map(|class| class.timeout).collect();
        Self { inner, table, timeouts, slots: Vec::new(), has_parts: server.fan_out.is_some() }
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
            Fate::Part(Ends::Answer) => 7,
            Fate::Part(Ends::Spare) => 8,
            Fate::Part(Ends::Cancelled) => 9,
            Fate::Part(Ends::Dropped) => 10,
        }
    }

    /// A row of a request that goes to one core.
    fn record(&mut self, came: Came, gone: &Gone) {
        let [id, class, flow, attempt] = whose(came, gone);
        let [arrival, start, end, service, core] = times(gone);
        let outcome = Value::Name(self.outcome(gone));
        self.table.push([id, class, flow, attempt, arrival, start, end, service, core, outcome]);
    }

    /// A row of a sub-request, or of a request without any.
    fn record_part(&mut self, came: Came, part: Option<u32>, gone: &Gone) {
        let [id, class, flow, attempt] = whose(came, gone);
        let [arrival, start, end, service, core] = times(gone);
        let outcome = Value::Name(self.outcome(gone));
        let copy = part.map(|_| 1 + u64::from(came.is_copy));
        let (part, sent) = (part.map(|part| u64::from(part) + 1), part.map(|_| gone.sent.get()));
        let (part, copy, sent) = (part.into(), copy.into(), sent.into());
        let row = [id, class, flow, attempt, part, copy, sent, arrival, start, end, service, core, outcome];
        self.table.push(row);
    }
}

/// From its number to the attempt.
fn whose(came: Came, gone: &Gone) -> [Value; 4] {
    [
        Value::Count(came.id),
        Value::Name(u32::from(gone.class)),
        Value::Count(u64::from(gone.flow)),
        Value::Count(u64::from(came.attempt)),
    ]
}

/// From its arrival to its core.
fn times(gone: &Gone) -> [Value; 5] {
    [
        Value::Count(gone.arrived.get()),
        gone.began.map(Instant::get).into(),
        Value::Count(gone.ended.get()),
        Value::Count(gone.service.get()),
        gone.server.map(u64::from).into(),
    ]
}

impl Sink for Recorder<'_, '_, '_> {
    fn follows(&self) -> bool {
        true
    }

    fn came(&mut self, slot: u32, came: Came) {
        let place = slot as usize;
        if place >= self.slots.len() {
            self.slots.resize(place + 1, came);
        }
        self.slots[place] = came;
    }

    fn gone(&mut self, slot: u32, gone: &Gone) {
        let came = self.slots.get(slot as usize).copied().unwrap_or_default();
        match self.has_parts {
            true => self.record_part(came, Some(came.part), gone),
            false => self.record(came, gone),
        }
    }

    fn turned_away(&mut self, came: Came, gone: &Gone) {
        match self.has_parts {
            true => self.record_part(came, None, gone),
            false => self.record(came, gone),
        }
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
