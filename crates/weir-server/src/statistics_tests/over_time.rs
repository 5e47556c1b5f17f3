//! Figures over time: by hand, against the totals, and against the closed form.

use super::{done, nanos, played};
use crate::collector::Collector;
use crate::generators::{class, scenario};
use crate::model::{After, Cancel, Draws, FanOut, Hedge};
use crate::outcome::ServerOutcome;
use crate::over_time::OverTimeSink;
use crate::record::{Ends, Part, Sink};
use weir_core::discipline::DropReason;
use weir_core::units::Instant;
use weir_lab::stats::windows::{OverTimeRow, over_replications};
use weir_workload::duration::Law;

fn row<'r>(all: &'r [OverTimeRow], discipline: &str, metric: &str, statistic: &str) -> &'r OverTimeRow {
    let is_it = |row: &&OverTimeRow| {
        row.discipline == discipline && row.metric == metric && row.statistic == statistic
    };
    all.iter().find(is_it).unwrap_or_else(|| panic!("{metric} {statistic}"))
}

#[test]
fn windows_by_hand() {
    let mut hasty = class("a", 1.0, Law::Constant(nanos(10)));
    hasty.patience = Some(Law::Constant(nanos(50)).into());
    hasty.timeout = Some(nanos(60));
    let mut server = scenario(&["cfcfs"], 2, vec![hasty], 0.5).expect("specs");
    (server.stop.warm_up, server.stop.duration) = (nanos(0), nanos(250));
    (server.measure.window, server.measure.over_time) = (Some(nanos(100)), true);
    let mut collector = Collector::new(&server, 0);
    let mut sink = OverTimeSink::new(&server, &mut collector);
    let at = Instant::new;
    // Waits for 40 in the first window and 20 in the second; answered after 70, too late.
    sink.done(&done(0, 60, 120, 10));
    sink.busy(0, at(120), at(130), nanos(0));
    sink.busy(1, at(50), at(250), nanos(0));
    sink.abandoned(0, at(190), at(240), nanos(10));
    sink.dropped(0, at(100), at(100), DropReason::QueueFull);
    let told = over_replications("cfcfs", nanos(100), &[&sink.finish()]);
    let values = |metric, statistic| row(&told, "cfcfs", metric, statistic).values.clone();
    assert_eq!(values("queue", "mean"), [Some(0.4), Some(0.3), Some(0.8)]);
    assert_eq!(values("utilisation", "mean"), [Some(0.25), Some(0.55), Some(0.5)]);
    assert_eq!(values("arrivals", "count"), [Some(1.0), Some(2.0), Some(0.0)]);
    assert_eq!(values("dropped", "share"), [Some(0.0), Some(1.0), None]);
    assert_eq!(values("abandoned", "share"), [Some(0.0), Some(0.5), None]);
    assert_eq!(values("late", "share"), [Some(1.0), Some(0.0), None]);
    assert_eq!(values("delay", "p50"), [None; 3]);
}

/// Requests of two sub-requests: what waits are these, until their turn comes where they are dropped.
#[test]
fn windows_of_sub_requests_by_hand() {
    let mut server =
        scenario(&["cfcfs"], 2, vec![class("a", 1.0, Law::Constant(nanos(10)))], 0.5).expect("specs");
    let hedge = Hedge { after: After::Span(nanos(30)), cancel: Cancel::Waiting, service: Draws::Own };
    server.fan_out =
        Some(FanOut { to: 2, need: 2, cancel: Cancel::Waiting, service: Draws::Own, hedge: Some(hedge) });
    (server.stop.warm_up, server.stop.duration) = (nanos(0), nanos(200));
    (server.measure.window, server.measure.over_time) = (Some(nanos(100)), true);
    let mut collector = Collector::new(&server, 0);
    let mut sink = OverTimeSink::new(&server, &mut collector);
    let at = Instant::new;
    let part = |sent: u64, began: u64, ends: Ends| Part {
        class: 0,
        arrived: at(20),
        sent: at(sent),
        began: at(began),
        ended: at(began + 10),
        served: nanos(10),
        is_copy: sent > 20,
        ends,
    };
    // Waits for 10, and for 90 of which 80 lie in the first window; the copy for 70, of which 50 do.
    sink.part(&part(20, 30, Ends::Answer));
    sink.part(&part(20, 110, Ends::Answer));
    sink.part(&part(50, 120, Ends::Spare));
    sink.answered(&done(0, 20, 110, 10));
    sink.dropped(0, at(90), at(190), DropReason::QueueFull);
    let told = over_replications("cfcfs", nanos(100), &[&sink.finish()]);
    let of = |metric, statistic| row(&told, "cfcfs", metric, statistic);
    assert_eq!(of("queue", "mean").values, [Some(1.4), Some(0.3)]);
    assert_eq!(of("queue", "mean").unit, "sub-requests");
    assert_eq!(of("arrivals", "count").values, [Some(2.0), Some(0.0)]);
    assert_eq!(of("dropped", "share").values, [Some(0.5), None]);
}

/// Each of two cores is an M/M/1 queue where every request sends a sub-request to both: `Lq = rho^2 / (1 - rho)` wait for each
/// (Kleinrock, *Queueing Systems* 1, section 3.2).
#[test]
fn the_queues_of_sub_requests_are_those_of_the_closed_form() {
    let classes = vec![class("all", 1.0, Law::Exponential(nanos(1_000)))];
    let rho: f64 = 0.6;
    let mut server = scenario(&["rr", "jsq"], 2, classes, rho / 2.0).expect("specs");
    server.load = None;
    server.fan_out =
        Some(FanOut { to: 2, need: 2, cancel: Cancel::Waiting, service: Draws::Own, hedge: None });
    (server.stop.warm_up, server.stop.duration) = (nanos(0), nanos(400_000_000));
    server.stop.replications = 10;
    (server.measure.window, server.measure.over_time) = (Some(nanos(2_000_000)), true);
    let outcome = played(&server, 2).expect("a result");
    for discipline in ["rr", "jsq"] {
        holds(&outcome, discipline, "queue", 2.0 * rho * rho / (1.0 - rho));
        holds(&outcome, discipline, "utilisation", rho);
    }
}

/// Windows of an M/M/2 queue at a load of 0.7, means over ten replications.
fn of_two_cores() -> ServerOutcome {
    let classes = vec![class("all", 1.0, Law::Exponential(nanos(1_000)))];
    let mut server = scenario(&["cfcfs", "rr"], 2, classes, 0.7).expect("specs");
    (server.stop.warm_up, server.stop.duration) = (nanos(0), nanos(400_000_000));
    server.stop.replications = 10;
    (server.measure.window, server.measure.over_time) = (Some(nanos(2_000_000)), true);
    played(&server, 2).expect("a result")
}

/// The mean of windows lies within a 99 % interval of the closed form: M/M/2 has `Lq = 2 rho^3 / (1 - rho^2)` waiting (Kleinrock,
/// *Queueing Systems* 1, section 3.5). Windows are of 2,800 requests each, some thousand times the relaxation time of the queue.
#[test]
fn the_queue_of_two_cores_is_that_of_the_closed_form() {
    let outcome = of_two_cores();
    let rho: f64 = 0.7;
    holds(&outcome, "cfcfs", "queue", 2.0 * rho.powi(3) / (1.0 - rho * rho));
    holds(&outcome, "cfcfs", "utilisation", rho);
}

/// The mean of 200 windows lies within its 99 % interval of what is expected.
fn holds(outcome: &ServerOutcome, discipline: &str, metric: &str, expected: f64) {
    let row = row(&outcome.over_time, discipline, metric, "mean");
    let values: Vec<f64> = row.values.iter().flatten().copied().collect();
    let n = values.len() as f64;
    assert!(values.len() == 200);
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // The 99.5 % point of Student's distribution of 199 degrees of freedom.
    let half = 2.601 * (variance / n).sqrt();
    assert!((mean - expected).abs() < half, "{metric}: {mean} ± {half}, not {expected}");
}

#[test]
fn what_arrives_in_windows_is_what_arrives() {
    let outcome = of_two_cores();
    let arrived: f64 = row(&outcome.over_time, "rr", "arrivals", "count").values.iter().flatten().sum();
    // The mean of ten replications.
    let all =
        outcome.class_totals.iter().find(|totals| totals.discipline == "rr").expect("a row").offered as f64;
    assert!((arrived / all - 0.1).abs() < 1e-9, "{arrived} of {all}");
    let delays = row(&outcome.over_time, "cfcfs", "delay", "p99");
    let medians = row(&outcome.over_time, "cfcfs", "delay", "p50");
    assert!(delays.values.iter().zip(&medians.values).all(|(p99, p50)| p99 > p50));
    assert_eq!((delays.interval, delays.unit.as_str()), (0.002, "s"));
}
