//! Requests one by one: rows that agree with the totals of the result, whatever the number of threads.

use super::nanos;
use crate::generators::{class, scenario};
use crate::model::{After, Cancel, Draws, FanOut, Hedge, Retry, ServerScenario};
use crate::outcome::{ClassTotals, ServerOutcome};
use crate::recorder::OUTCOMES;
use crate::run::run;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use weir_lab::control::{Control, RecordSink};
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::record::{Block, MISSING, Rows, Values};
use weir_workload::duration::Law;

/// A row: the discipline and replication, and the columns in their order, names as places.
type Row = (String, u32, Vec<u64>);

#[derive(Default)]
struct Kept {
    names: Vec<&'static str>,
    rows: Vec<Row>,
    /// The number of rows after which nothing can be written.
    most: Option<usize>,
}

impl RecordSink for Kept {
    fn take(&mut self, _: &Block<'_>) -> Result<(), String> {
        Err("a server has no messages".to_owned())
    }

    fn rows(&mut self, rows: &Rows<'_>) -> Result<(), String> {
        self.names = rows.columns.iter().map(|column| column.name).collect();
        let columns: Vec<Vec<u64>> = rows
            .columns
            .iter()
            .map(|column| match column.values {
                Values::Counts(values) => values.to_vec(),
                Values::Numbers(_) => panic!("a column of numbers"),
                Values::Names(places, _) => places.iter().map(|place| u64::from(*place)).collect(),
            })
            .collect();
        for row in 0..columns[0].len() {
            let values = columns.iter().map(|column| column[row]).collect();
            self.rows.push((rows.discipline.to_owned(), rows.replication, values));
        }
        match self.most {
            Some(most) if self.rows.len() > most => Err("the disk is full".to_owned()),
            _ => Ok(()),
        }
    }
}

fn recorded(server: &ServerScenario, threads: usize, kept: &mut Kept) -> Result<ServerOutcome, RunError> {
    let (cancel, threads) = (AtomicBool::new(false), NonZeroUsize::new(threads).expect("threads"));
    let progress = &mut |_| {};
    run(server, &Frame::default(), &mut Control { threads, cancel: &cancel, progress, records: Some(kept) })
}

/// The totals of a class under a discipline.
fn totals<'o>(outcome: &'o ServerOutcome, discipline: &str, class: &str) -> &'o ClassTotals {
    let is_it = |row: &&ClassTotals| row.discipline == discipline && row.class == class;
    outcome.class_totals.iter().find(is_it).expect("the class has a row")
}

/// Requests that leave, are refused, come again, and are answered too late.
fn troubled() -> ServerScenario {
    let mut hasty = class("hasty", 0.5, Law::Exponential(nanos(10_000)));
    hasty.patience = Some(Law::Exponential(nanos(20_000)).into());
    hasty.timeout = Some(nanos(30_000));
    let calm = class("calm", 0.5, Law::Constant(nanos(10_000)));
    let mut server = scenario(&["cfcfs", "rr"], 2, vec![hasty, calm], 1.1).expect("specs");
    server.site.queue = Some(4);
    server.retry =
        Some(Retry { attempts: 3, backoff: nanos(20_000), factor: 2.0, jitter: 0.5, budget: None });
    (server.stop.warm_up, server.stop.duration) = (nanos(0), nanos(100_000_000));
    server.stop.replications = 3;
    server
}

#[test]
fn rows_add_up_to_the_totals() {
    let server = troubled();
    let mut kept = Kept::default();
    let outcome = recorded(&server, 2, &mut kept).expect("a result");
    let expected = [
        "id",
        "class",
        "flow",
        "attempt",
        "arrival_ns",
        "start_ns",
        "end_ns",
        "service_ns",
        "core",
        "outcome",
    ];
    assert_eq!(kept.names, expected);
    for name in &server.disciplines {
        for class in 0..2_u64 {
            let of = |outcome: Option<u64>| {
                let is_it = |row: &&Row| {
                    &row.0 == name && row.2[1] == class && outcome.is_none_or(|outcome| row.2[9] == outcome)
                };
                kept.rows.iter().filter(is_it).count() as u64
            };
            let totals = totals(&outcome, name, &server.classes[class as usize].name);
            let late = totals.late.unwrap_or(0);
            assert_eq!(of(None), totals.offered);
            assert_eq!((of(Some(0)), of(Some(1))), (totals.done - late, late));
            assert_eq!(of(Some(2)), totals.abandoned.unwrap_or(0));
            assert_eq!(of(Some(2)) + of(Some(3)), totals.dropped);
            assert!(
                of(Some(0)) > 0 && of(Some(3)) > 0 && (class == 1 || (of(Some(1)) > 0 && of(Some(2)) > 0))
            );
        }
    }
}

/// Requests of three sub-requests that need two answers, hedged, with clients that give up and little patience.
fn scattered() -> ServerScenario {
    let mut hasty = class("hasty", 0.5, Law::Exponential(nanos(10_000)));
    hasty.patience = Some(Law::Exponential(nanos(20_000)).into());
    hasty.timeout = Some(nanos(30_000));
    let calm = class("calm", 0.5, Law::Exponential(nanos(10_000)));
    let mut server = scenario(&["jsq", "cfcfs", "work_stealing"], 4, vec![hasty, calm], 0.3).expect("specs");
    server.load = None;
    server.site.queue = Some(3);
    let hedge = Hedge { after: After::Span(nanos(20_000)), cancel: Cancel::All, service: Draws::Own };
    server.fan_out =
        Some(FanOut { to: 3, need: 2, cancel: Cancel::All, service: Draws::Own, hedge: Some(hedge) });
    (server.stop.warm_up, server.stop.duration) = (nanos(0), nanos(20_000_000));
    server.stop.replications = 2;
    server
}

/// A row of a sub-request; `part` and `copy` from 1.
#[derive(Clone, Copy, Debug)]
struct PartRow {
    class: u64,
    part: u64,
    copy: u64,
    /// When its request came, it was sent, it began and it ended.
    times: [u64; 4],
    service: u64,
    outcome: &'static str,
}

impl PartRow {
    fn new(row: &[u64]) -> Self {
        let [_, class, _, _, part, copy, sent, arrival, start, end, service, _, outcome] = row[..] else {
            panic!("{row:?}")
        };
        let outcome = OUTCOMES[outcome as usize];
        Self { class, part, copy, times: [arrival, sent, start, end], service, outcome }
    }

    /// Whether its request is over by it.
    fn decides(&self) -> bool {
        ["served", "late", "abandoned", "dropped"].contains(&self.outcome)
    }
}

/// The rows of each request of a discipline, by replication and number.
fn requests_of(kept: &Kept, discipline: &str) -> BTreeMap<(u32, u64), Vec<PartRow>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (_, replication, row) in kept.rows.iter().filter(|(name, ..)| name == discipline) {
        all.entry((*replication, row[0])).or_default().push(PartRow::new(row));
    }
    all
}

#[test]
fn rows_of_sub_requests_add_up_to_the_totals() {
    let server = scattered();
    let mut kept = Kept::default();
    let outcome = recorded(&server, 1, &mut kept).expect("a result");
    assert_eq!(kept.names[3..8], ["attempt", "part", "copy", "sent_ns", "arrival_ns"]);
    for name in &server.disciplines {
        let requests = requests_of(&kept, name);
        for (class, its) in server.classes.iter().enumerate() {
            let rows = requests.values().flatten().filter(|row| row.class == class as u64);
            let of = |is_it: &dyn Fn(&PartRow) -> bool| rows.clone().filter(|row| is_it(row)).count() as u64;
            let totals = totals(&outcome, name, &its.name);
            assert_eq!(of(&PartRow::decides), totals.offered);
            assert_eq!(of(&|row| row.outcome == "served" || row.outcome == "late"), totals.done);
            assert_eq!(of(&|row| row.outcome == "late"), totals.late.unwrap_or(0));
            assert_eq!(of(&|row| row.outcome == "abandoned"), totals.abandoned.unwrap_or(0));
            assert_eq!(Some(of(&|row| row.part != MISSING)), totals.sent);
            assert_eq!(Some(of(&|row| row.copy == 2)), totals.copies);
            assert_eq!(Some(of(&|row| row.outcome == "cancelled")), totals.cancelled);
            assert!(totals.done > 0 && totals.dropped > 0 && totals.copies > Some(0));
        }
    }
}

#[test]
fn rows_of_a_request_are_its_sub_requests_and_copies() {
    let server = scattered();
    let mut kept = Kept::default();
    recorded(&server, 1, &mut kept).expect("a result");
    let mut seen = BTreeSet::new();
    for (id, rows) in server.disciplines.iter().flat_map(|name| requests_of(&kept, name)) {
        let first: BTreeSet<u64> = rows.iter().filter(|row| row.copy == 1).map(|row| row.part).collect();
        assert_eq!(first, BTreeSet::from([1, 2, 3]), "{id:?}");
        assert_eq!(rows.iter().filter(|row| row.decides()).count(), 1, "{rows:?}");
        for row in &rows {
            let [arrival, sent, start, end] = row.times;
            seen.insert(row.outcome);
            assert_eq!(sent > arrival, row.copy == 2, "{row:?}");
            assert!(end >= sent, "{row:?}");
            if ["served", "late", "answered", "spare"].contains(&row.outcome) {
                // Nobody is preempted here but where a service is stopped.
                assert!(start >= sent && start + row.service <= end, "{row:?}");
            }
            if row.outcome == "served" || row.outcome == "late" {
                let answers = rows.iter().filter(|row| row.outcome == "answered");
                assert!(answers.clone().count() == 1 && answers.into_iter().all(|row| row.times[3] <= end));
                assert_eq!(row.class == 0 && end - arrival > 30_000, row.outcome == "late");
            }
        }
    }
    let expected = ["abandoned", "answered", "cancelled", "dropped", "late", "lost", "served"];
    assert!(expected.iter().all(|outcome| seen.contains(outcome)), "{seen:?}");
}

#[test]
fn records_of_sub_requests_change_no_figure() {
    let server = scattered();
    let estimates = |outcome: &ServerOutcome| serde_json::to_value(&outcome.estimates).expect("JSON");
    let outcome = recorded(&server, 1, &mut Kept::default()).expect("a result");
    assert_eq!(estimates(&outcome), estimates(&super::played(&server, 1).expect("a result")));
}

/// The second request finds no place in the ring of its receiver, so that nothing of it is sent.
#[test]
fn a_request_that_its_receiver_drops_has_a_row_without_a_part() {
    let mut server = scattered();
    (server.ring, server.costs.dispatch) = (Some(0), nanos(1_000_000));
    let mut kept = Kept::default();
    recorded(&server, 1, &mut kept).expect("a result");
    let (_, _, row) = kept.rows.iter().find(|(_, _, row)| row[4] == MISSING).expect("one is dropped");
    let row = PartRow::new(row);
    assert_eq!((row.outcome, row.copy, row.times[1], row.times[2]), ("dropped", MISSING, MISSING, MISSING));
}

#[test]
fn a_row_says_what_became_of_a_request() {
    let mut kept = Kept::default();
    let server = troubled();
    recorded(&server, 1, &mut kept).expect("a result");
    let mut ids: Vec<u64> = Vec::new();
    for (discipline, replication, row) in &kept.rows {
        let [id, _, _, attempt, arrival, start, end, service, core, outcome] = row[..] else {
            panic!("{row:?}")
        };
        assert!((1..=3).contains(&attempt) && arrival <= end);
        match outcome {
            0 | 1 => assert!(core < 2 && arrival <= start && start + service == end, "{row:?}"),
            _ => assert!(core == MISSING && start == MISSING, "{row:?}"),
        }
        if (discipline.as_str(), *replication) == ("cfcfs", 0) {
            ids.push(id);
        }
    }
    ids.sort_unstable();
    assert!(ids.iter().enumerate().all(|(place, id)| place as u64 == *id));
    assert!(kept.rows.iter().any(|row| row.2[3] == 3));
}

#[test]
fn rows_are_the_same_for_any_number_of_threads_and_change_no_figure() {
    let server = troubled();
    let of = |threads| {
        let mut kept = Kept::default();
        let outcome = recorded(&server, threads, &mut kept).expect("a result");
        (kept.rows, serde_json::to_string(&outcome).expect("text"))
    };
    let one = of(1);
    assert_eq!(one, of(2));
    assert_eq!(one, of(8));
    let plain = super::played(&server, 2).expect("a result");
    let figures = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        value["estimates"].clone()
    };
    assert_eq!(figures(&one.1), figures(&serde_json::to_string(&plain).expect("text")));
}

#[test]
fn what_cannot_be_written_ends_the_run() {
    let mut kept = Kept { most: Some(100), ..Kept::default() };
    let error = recorded(&troubled(), 1, &mut kept).expect_err("it is full");
    assert_eq!(error, RunError::Records("the disk is full".to_owned()));
}
