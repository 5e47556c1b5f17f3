//! Requests one by one: rows that agree with the totals of the result, whatever the number of threads.

use super::nanos;
use crate::generators::{class, scenario};
use crate::model::{Cancel, Draws, FanOut, Retry, ServerScenario};
use crate::outcome::{ClassTotals, ServerOutcome};
use crate::run::run;
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
            let of_class = |row: &&ClassTotals| {
                row.discipline == *name && row.class == server.classes[class as usize].name
            };
            let totals = outcome.class_totals.iter().find(of_class).expect("the class has a row");
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

#[test]
fn requests_that_go_to_several_cores_have_no_rows() {
    let calm = class("calm", 1.0, Law::Constant(nanos(10_000)));
    let mut server = scenario(&["rr"], 2, vec![calm], 0.5).expect("specs");
    server.fan_out =
        Some(FanOut { to: 2, need: 2, cancel: Cancel::Waiting, service: Draws::Own, hedge: None });
    let refused = recorded(&server, 1, &mut Kept::default()).expect_err("no records");
    let said = "workload.fan_out: sends a request to several cores, of which records are not kept; leave out the records, or \
                remove it";
    assert_eq!(refused.to_string(), said);
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
