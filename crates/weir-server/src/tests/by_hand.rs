//! Small runs whose course was found by hand.

use std::sync::Arc;

use super::{delay, run, run_stepwise};
use crate::generators::{class, scenario};
use crate::job::Job;
use crate::model::{
    After, Balk, Breaker, Cancel, Closed, Costs, Deadline, Draws, FanOut, Hedge, Hopeless, Retry,
    ServerScenario, Workload,
};
use crate::record::{Done, Ends, Unserved};
use weir_core::discipline::DropReason;
use weir_core::units::Nanos;
use weir_lab::error::RunError;
use weir_workload::duration::Law;
use weir_workload::requests::Requests;

/// A trace of arrival, flow and service, in nanoseconds.
pub(super) fn trace(spec: &str, cores: u32, rows: &[(u64, u32, u64)]) -> ServerScenario {
    let one = vec![class("request", 1.0, Law::Constant(Nanos::new(10)))];
    let mut made = scenario(&[spec], cores, one, 0.5).expect("a spec");
    made.workload = Workload::Trace(Arc::new(Requests {
        at: rows.iter().map(|row| row.0).collect(),
        class: vec![0; rows.len()],
        flow: rows.iter().map(|row| row.1).collect(),
        service: rows.iter().map(|row| row.2).collect(),
        patience: Vec::new(),
    }));
    made.measure.verify = true;
    made.measure.order = true;
    made
}

/// Arrival, begin, end and core of all that are done, by arrival and begin.
pub(super) fn course(scenario: &ServerScenario) -> Vec<(u64, u64, u64, u32)> {
    let (told, _) = run(scenario);
    let mut course: Vec<_> = told
        .done
        .iter()
        .map(|one| (one.arrived.get(), one.began.get(), one.ended.get(), one.server))
        .collect();
    course.sort_unstable();
    course
}

#[test]
fn two_cores_share_a_queue() {
    let made = trace("cfcfs", 2, &[(0, 0, 10), (1, 0, 3), (2, 0, 5), (9, 0, 1)]);
    assert_eq!(course(&made), [(0, 0, 10, 0), (1, 1, 4, 1), (2, 4, 9, 1), (9, 9, 10, 1)]);
}

/// Requests of a trace that go to several cores, each with the same service.
fn apart(spec: &str, cores: u32, rows: &[(u64, u32, u64)], fan_out: FanOut) -> ServerScenario {
    let mut made = trace(spec, cores, rows);
    made.fan_out = Some(FanOut { service: Draws::Shared, ..fan_out });
    made
}

/// Arrival, begin, answer and core.
type Answered = (u64, u64, u64, u32);

/// All that are answered, and how parts ended.
fn answers(scenario: &ServerScenario) -> (Vec<Answered>, Vec<Ends>) {
    let (told, _) = run(scenario);
    let of = |one: &Done| (one.arrived.get(), one.began.get(), one.ended.get(), one.server);
    (told.answered.iter().map(of).collect(), told.parts.iter().map(|part| part.ends).collect())
}

const TWO: FanOut = FanOut { to: 2, need: 2, cancel: Cancel::Waiting, service: Draws::Own, hedge: None };

#[test]
fn a_request_is_answered_by_the_last_part_that_it_needs() {
    use Ends::{Answer, Cancelled, Spare};
    // Round robin over three cores: 0 and 1, then 2 and 0, then 1 and 2.
    let rows = [(0, 0, 10), (1, 0, 4), (2, 0, 2)];
    let (all, ends) = answers(&apart("rr", 3, &rows, TWO));
    assert_eq!(all, [(0, 0, 10, 1), (2, 10, 12, 1), (1, 10, 14, 0)]);
    assert_eq!(ends, [Answer; 6]);
    // The first of both: what waits behind is not served when its turn comes.
    let first = FanOut { need: 1, ..TWO };
    let (all, ends) = answers(&apart("rr", 3, &rows, first));
    assert_eq!(all, [(1, 1, 5, 2), (2, 5, 7, 2), (0, 0, 10, 0)]);
    assert_eq!(ends, [Answer, Answer, Answer, Cancelled, Spare, Cancelled]);
    let (all, ends) = answers(&apart("rr", 3, &rows, FanOut { cancel: Cancel::None, ..first }));
    assert_eq!(all, [(1, 1, 5, 2), (2, 5, 7, 2), (0, 0, 10, 0)]);
    assert_eq!(ends, [Answer, Answer, Answer, Spare, Spare, Spare]);
    let (_, ends) = answers(&apart("rr", 3, &rows, FanOut { cancel: Cancel::All, ..first }));
    assert_eq!(ends, [Answer, Answer, Answer, Cancelled, Cancelled, Cancelled]);
}

#[test]
fn a_service_that_is_not_needed_any_more_is_stopped() {
    let mut made = apart("rr", 2, &[(0, 0, 10), (1, 0, 3)], FanOut { need: 1, cancel: Cancel::All, ..TWO });
    let (told, left) = run(&made);
    // Both cores end at 10: the lower is first, the other is stopped at its end. Then both serve the second until 13.
    assert_eq!(told.busy, [(0, 0, 10, 0), (1, 0, 10, 0), (0, 10, 13, 0), (1, 10, 13, 0)]);
    assert_eq!((left.done, left.decisions, left.preemptions), (2, 4, 0));
    // A second copy after 4 goes to the other core, and the first is stopped by it, or it by the first.
    let after = After::Span(Nanos::new(4));
    let hedge = Some(Hedge { after, cancel: Cancel::All, service: Draws::Shared });
    made.fan_out = Some(FanOut { to: 1, need: 1, cancel: Cancel::All, service: Draws::Shared, hedge });
    let (told, _) = run(&made);
    assert_eq!(told.busy, [(1, 1, 4, 0), (0, 0, 10, 0), (1, 4, 10, 0)]);
    assert_eq!(told.answered.iter().map(|one| one.ended.get()).collect::<Vec<_>>(), [4, 10]);
    let copies: Vec<_> = told.parts.iter().map(|part| (part.is_copy, part.served.get(), part.ends)).collect();
    assert_eq!(copies, [(false, 3, Ends::Answer), (false, 10, Ends::Answer), (true, 6, Ends::Cancelled)]);
}

#[test]
fn a_request_is_lost_where_too_few_parts_are_left() {
    let mut made = apart("rr", 2, &[(0, 0, 10), (1, 0, 5), (2, 0, 5)], TWO);
    made.site.queue = Some(1);
    let (told, left) = run(&made);
    assert_eq!(told.dropped, [(0, 2, 2, DropReason::QueueFull)]);
    assert_eq!((left.offered, left.done, left.dropped), (3, 2, 1));
    let ends: Vec<_> = told.parts.iter().map(|part| part.ends).collect();
    assert_eq!(ends[..2], [Ends::Dropped; 2]);
    assert_eq!(ends[2..], [Ends::Answer; 4]);
    // One answer is enough where one core is free of it.
    made.fan_out = Some(FanOut { need: 1, service: Draws::Shared, ..TWO });
    made.classes[0].patience = Some(Law::Constant(Nanos::new(3)).into());
    let (told, left) = run(&made);
    assert_eq!((told.abandoned.len(), told.dropped.len(), left.abandoned), (1, 1, 1));
}

#[test]
fn who_has_left_is_not_served_when_its_turn_comes() {
    for spec in ["cfcfs", "rr", "per_server(rr,discipline=sjf)"] {
        let mut made = trace(spec, 1, &[(0, 0, 10), (1, 0, 3), (2, 0, 5), (12, 0, 1)]);
        made.classes[0].patience = Some(Law::Constant(Nanos::new(9)).into());
        let (told, left) = run(&made);
        // The second begins with the last of its patience; the third has left at 11.
        assert_eq!(course(&made), [(0, 0, 10, 0), (1, 10, 13, 0), (12, 13, 14, 0)], "{spec}");
        assert_eq!(told.abandoned, [(0, 2, 11, 5)], "{spec}");
        assert_eq!((left.offered, left.done, left.dropped, left.abandoned), (4, 3, 1, 1), "{spec}");
    }
}

/// The second would end at 13, the third at 12: one too late for a deadline of 11 from 1, the other in time from 2.
#[test]
fn who_would_end_late_is_not_begun() {
    for spec in ["cfcfs", "rr", "per_server(rr,discipline=sjf)"] {
        let mut made = trace(spec, 1, &[(0, 0, 10), (1, 0, 3), (2, 0, 2), (40, 0, 12)]);
        made.classes[0].deadline = Some(Deadline { within: Nanos::new(11), drop: Hopeless::Before });
        let (told, left) = run(&made);
        assert_eq!(course(&made), [(0, 0, 10, 0), (2, 10, 12, 0)], "{spec}");
        let mut missed: Vec<_> =
            told.lost.iter().map(|one| (one.arrived.get(), one.now.get(), one.left.get())).collect();
        missed.sort_unstable();
        // The last needs more than its deadline, and is not begun though a core is idle.
        let expected = match spec {
            "cfcfs" | "rr" => [(1, 10, 3), (40, 40, 12)],
            _ => [(1, 12, 3), (40, 40, 12)],
        };
        assert_eq!(missed, expected, "{spec}");
        assert_eq!((left.offered, left.done, left.dropped, left.abandoned), (4, 2, 2, 0), "{spec}");
    }
}

/// Where it is served a request is cut off, where it waits it is dropped when its turn comes.
#[test]
fn at_its_deadline_a_request_is_cut_off() {
    for spec in ["cfcfs", "rr", "per_server(rr,discipline=psjf)"] {
        let mut made = trace(spec, 1, &[(0, 0, 20), (1, 0, 30), (2, 0, 40), (14, 0, 1)]);
        made.classes[0].deadline = Some(Deadline { within: Nanos::new(12), drop: Hopeless::During });
        let (told, left) = run(&made);
        let lost: Vec<_> =
            told.lost.iter().map(|one| (one.arrived.get(), one.now.get(), one.left.get())).collect();
        // The first is served from 0 to 12, the second the one nanosecond that is left of it, and so the third.
        let expected: &[(u64, u64, u64)] = &[(0, 12, 8), (1, 13, 29), (2, 14, 39)];
        assert_eq!(lost, expected, "{spec}");
        assert_eq!(course(&made), [(14, 14, 15, 0)], "{spec}");
        assert_eq!(told.busy, [(0, 0, 12, 0), (0, 12, 13, 0), (0, 13, 14, 0), (0, 14, 15, 0)], "{spec}");
        assert_eq!((left.done, left.dropped, left.preemptions), (1, 3, 0), "{spec}");
    }
}

#[test]
fn who_finds_too_many_waiting_does_not_join() {
    let mut made = trace("cfcfs", 1, &[(0, 0, 10), (1, 0, 3), (2, 0, 5), (3, 0, 5), (11, 0, 1)]);
    made.classes[0].balk = Some(Balk { at: 2, probability: 1.0 });
    let (told, left) = run(&made);
    assert_eq!(course(&made), [(0, 0, 10, 0), (1, 10, 13, 0), (2, 13, 18, 0), (11, 18, 19, 0)]);
    let lost: Vec<_> = told.lost.iter().map(|one| (one.why, one.arrived.get(), one.now.get())).collect();
    assert_eq!(lost, [(Unserved::Balked, 3, 3)]);
    assert_eq!((left.offered, left.done, left.dropped, left.balked), (5, 4, 1, 1));
}

/// One attempt is served in vain, and so is the next, which comes when the client has given up and backed off.
#[test]
fn who_gives_up_tries_again_and_the_work_is_done_all_the_same() {
    let mut made = trace("cfcfs", 1, &[(0, 0, 10), (50, 0, 3)]);
    made.classes[0].timeout = Some(Nanos::new(5));
    made.retry = Some(Retry { attempts: 2, backoff: Nanos::new(2), factor: 2.0, jitter: 0.0, budget: None });
    let (told, left) = run(&made);
    assert_eq!(course(&made), [(0, 0, 10, 0), (7, 10, 20, 0), (50, 50, 53, 0)]);
    assert_eq!(told.retried, [(0, 7, 10)]);
    assert_eq!((left.offered, left.done, left.dropped), (3, 3, 0));
    // A request saves up two fifths of an attempt; after three there is one.
    let mut made = trace("cfcfs", 1, &[(0, 0, 10), (100, 0, 10), (200, 0, 10), (300, 0, 10)]);
    made.classes[0].timeout = Some(Nanos::new(5));
    made.retry =
        Some(Retry { attempts: 9, backoff: Nanos::new(2), factor: 2.0, jitter: 0.0, budget: Some(0.4) });
    assert_eq!(run(&made).0.retried, [(0, 207, 10)]);
}

#[test]
fn services_end_before_others_arrive_and_of_equal_ends_the_lower_core_is_asked_first() {
    let made = trace("cfcfs", 2, &[(0, 0, 10), (0, 0, 10), (1, 0, 4), (2, 0, 4), (10, 0, 1)]);
    assert_eq!(
        course(&made),
        [(0, 0, 10, 0), (0, 0, 10, 1), (1, 10, 14, 0), (2, 10, 14, 1), (10, 14, 15, 0)]
    );
}

#[test]
fn receivers_see_to_one_after_the_other() {
    let mut made = trace("cfcfs", 8, &[(0, 0, 10), (0, 2, 10), (0, 1, 10), (1, 0, 10)]);
    made.site.receivers = 2;
    made.costs = Costs { dispatch: Nanos::new(3), hand_over: Nanos::new(2), ..Costs::default() };
    // Flows 0 and 2 come to receiver 0, flow 1 to receiver 1.
    assert_eq!(course(&made), [(0, 5, 15, 0), (0, 5, 15, 1), (0, 8, 18, 2), (1, 11, 21, 3)]);
}

#[test]
fn a_flow_that_changes_its_core_is_cold_and_may_overtake_itself() {
    let mut made = trace("rr", 2, &[(0, 7, 20), (1, 7, 3), (2, 8, 1)]);
    made.costs.cold = Nanos::new(4);
    let (told, left) = run(&made);
    let flags: Vec<_> =
        told.done.iter().map(|one| (one.arrived.get(), one.ended.get(), one.cold, one.reordered)).collect();
    assert_eq!(flags, [(1, 8, true, false), (0, 20, false, true), (2, 21, false, false)]);
    assert_eq!(told.busy, [(1, 1, 8, 4), (0, 0, 20, 0), (0, 20, 21, 0)]);
    assert_eq!((left.decisions, left.last, left.preemptions), (3, 21, 0));
    assert!(left.checked > 5);
}

#[test]
fn who_finds_the_queue_full_is_dropped() {
    let mut made = trace("rr", 1, &[(0, 0, 10), (1, 0, 10), (2, 0, 10), (11, 0, 10)]);
    made.site.queue = Some(1);
    let (told, left) = run(&made);
    assert_eq!(told.dropped, [(0, 2, 2, DropReason::QueueFull)]);
    assert_eq!((left.offered, left.done, left.dropped), (4, 3, 1));
    assert_eq!(course(&made).last(), Some(&(11, 20, 30, 0)));
}

#[test]
fn a_shorter_request_preempts_at_its_core() {
    let made = trace("per_server(rr,discipline=psjf)", 1, &[(0, 0, 10), (4, 0, 2)]);
    assert_eq!(course(&made), [(0, 0, 12, 0), (4, 4, 6, 0)]);
    assert_eq!(run(&made).1.preemptions, 1);
}

/// One core of 10 ns, whose client gives up after 6 and thinks for 5 from a nanosecond later on; the server does all the work.
#[test]
fn a_client_that_gives_up_thinks_on() {
    let one = vec![class("request", 1.0, Law::Constant(Nanos::new(10)))];
    let mut made = scenario(&["cfcfs"], 1, one, 0.5).expect("a spec");
    made.workload = Workload::Closed(Closed { clients: 1, think: Law::Constant(Nanos::new(5)).into() });
    made.classes[0].timeout = Some(Nanos::new(6));
    made.stop.duration = Nanos::new(40);
    assert_eq!(course(&made), [(5, 5, 15, 0), (17, 17, 27, 0), (29, 29, 39, 0)]);
    // It tries once more, 3 later: what came first is under way until 15.
    made.retry = Some(Retry { attempts: 2, backoff: Nanos::new(3), factor: 2.0, jitter: 0.0, budget: None });
    assert_eq!(course(&made), [(5, 5, 15, 0), (14, 15, 25, 0), (26, 26, 36, 0), (35, 36, 46, 0)]);
    // Without patience for it the second is not served: it would begin at 15, after its client has left.
    (made.retry, made.classes[0].timeout) = (None, None);
    made.workload = Workload::Closed(Closed { clients: 2, think: Law::Constant(Nanos::new(5)).into() });
    made.classes[0].patience = Some(Law::Constant(Nanos::new(4)).into());
    // The second client leaves at 10, thinks from 11 on, and comes at 16, and leaves at 21 once more.
    let (told, _) = run(&made);
    assert_eq!(course(&made)[..2], [(5, 5, 15, 0), (16, 16, 26, 0)]);
    assert_eq!(told.abandoned[0], (0, 5, 9, 10));
}

/// Two of two attempts fail; those at 20 and 30 are refused, that at 41 is sent, is answered in time, and closes the breaker.
#[test]
fn a_breaker_refuses_while_it_is_open() {
    let rows = [(0, 0, 10), (1, 0, 10), (20, 0, 1), (30, 0, 1), (41, 0, 1), (50, 0, 1)];
    let mut made = trace("cfcfs", 1, &rows);
    made.classes[0].timeout = Some(Nanos::new(5));
    let (window, open) = (Nanos::new(100), Nanos::new(25));
    made.breaker = Some(Breaker { failures: 0.5, window, least: 2, open, probes: 1 });
    let (told, left) = run(&made);
    // It opens when the second client gives up, at 6, until 31.
    assert_eq!(course(&made), [(0, 0, 10, 0), (1, 10, 20, 0), (41, 41, 42, 0), (50, 50, 51, 0)]);
    let refused: Vec<_> = told.lost.iter().map(|one| (one.why, one.arrived.get())).collect();
    assert_eq!(refused, [(Unserved::Refused, 20), (Unserved::Refused, 30)]);
    assert_eq!((left.offered, left.done, left.dropped), (6, 4, 2));
}

#[test]
fn clients_think_between_an_end_and_the_next_request() {
    let one = vec![class("request", 1.0, Law::Constant(Nanos::new(10)))];
    let mut made = scenario(&["cfcfs"], 1, one, 0.5).expect("a spec");
    made.workload = Workload::Closed(Closed { clients: 2, think: Law::Constant(Nanos::new(5)).into() });
    made.stop.duration = Nanos::new(40);
    assert_eq!(course(&made), [(5, 5, 15, 0), (5, 15, 25, 0), (20, 25, 35, 0), (30, 35, 45, 0)]);
}

#[test]
fn nobody_arrives_at_the_end_and_all_who_are_there_are_served() {
    let mut made = trace("cfcfs", 1, &[(0, 0, 50), (9, 0, 50), (10, 0, 50)]);
    made.stop.duration = Nanos::new(10);
    assert_eq!(course(&made), [(0, 0, 50, 0), (9, 50, 100, 0)]);
}

#[test]
fn replications_differ_and_are_repeated() {
    let one = vec![class("request", 1.0, Law::Exponential(Nanos::new(10_000)))];
    let made = scenario(&["random"], 2, one, 0.5).expect("a spec");
    let of = |replication| run_stepwise(&made, Job { replication, discipline: 0 }).expect("goes well").0;
    assert_eq!(of(3), of(3));
    assert_ne!(of(3).mean(delay), of(4).mean(delay));
}

#[test]
fn what_is_senseless_is_refused() {
    let refused = |change: &dyn Fn(&mut ServerScenario)| {
        let mut made = trace("cfcfs", 2, &[(0, 0, 10), (4, 0, 2)]);
        change(&mut made);
        let error = run_stepwise(&made, Job { replication: 0, discipline: 0 }).expect_err("refused");
        assert!(matches!(
            error,
            RunError::Refused { .. } | RunError::TooLarge { .. } | RunError::Overloaded { .. }
        ));
        error.to_string()
    };
    assert!(refused(&|made| made.site.servers = 0).contains("1 to 1024"));
    assert!(refused(&|made| made.specs.clear()).contains("there is no discipline 0"));
    assert!(refused(&|made| made.classes.clear()).contains("must be equal"));
    assert!(refused(&|made| made.stop.duration = Nanos::new(u64::MAX)).contains("must be at most"));
    let rows = |at: Vec<u64>, flow: Vec<u32>, service: Vec<u64>| {
        let class = vec![0; at.len()];
        Workload::Trace(Arc::new(Requests { at, class, flow, service, patience: Vec::new() }))
    };
    let set = |workload: Workload| move |made: &mut ServerScenario| made.workload = workload.clone();
    assert!(refused(&set(rows(vec![5, 4], vec![0; 2], vec![1; 2]))).contains("sort by time"));
    assert!(refused(&set(rows(vec![5, 6], vec![0], vec![1; 2]))).contains("must be equal"));
    assert!(refused(&set(rows(vec![5], vec![u32::MAX], vec![1]))).contains("must be at most"));
    assert!(refused(&set(rows(vec![5], vec![0], vec![u64::MAX]))).contains("clock ends"));
}
