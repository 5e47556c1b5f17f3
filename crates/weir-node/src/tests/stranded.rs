//! Who waits for ever while others still run, and who never runs: as reported in the result.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use super::{ms, played};
use crate::generators::{Writer, add_event, add_queue, process, scenario};
use crate::model::{NodeScenario, Operation, Program};
use crate::outcome::Warning;
use crate::record::Forget;
use crate::run::run;
use weir_lab::control::Control;
use weir_lab::provenance::Frame;
use weir_workload::duration::Law;

/// Processes `p0`, `p1`, ... with their programs, one event `e0`, `e1`, ... each, one queue, and `hog`, who computes.
fn beside_a_hog(programs: Vec<Program>) -> NodeScenario {
    let mut one = scenario(&["epoch"]).expect("a spec");
    add_queue(&mut one, "messages", 0);
    for (number, program) in programs.into_iter().enumerate() {
        one.processes.push(process(&format!("p{number}"), ms(1), None, program));
        add_event(&mut one, &format!("e{number}"), number);
    }
    let hog = Writer::new().begin(None).compute(ms(1)).done();
    one.processes.push(process("hog", ms(0), None, hog));
    one.stop.duration = ms(1_000);
    one.stop.warm_up = ms(100);
    one
}

fn stranded(programs: Vec<Program>) -> Vec<String> {
    let left = played(&beside_a_hog(programs), &mut Forget).expect("it plays");
    left.stranded.into_iter().map(|(_, text)| text).collect()
}

fn warnings(node: &NodeScenario, threads: usize) -> Vec<Warning> {
    let cancel = AtomicBool::new(false);
    let threads = NonZeroUsize::new(threads).expect("threads");
    let mut control = Control { threads, cancel: &cancel, progress: &mut |_| (), records: None };
    run(node, &Frame::default(), &mut control).expect("a result").warnings
}

#[test]
fn two_that_wait_for_each_other_are_told_of_while_a_third_runs() {
    let told = stranded(vec![
        Writer::new().begin(None).wait(0).post(1).compute(ms(1)).done(),
        Writer::new().begin(None).wait(1).post(0).compute(ms(1)).done(),
    ]);
    assert_eq!(
        told,
        [
            "`p0` waits for event `e0`, which no process that can still run posts (`p1` would, but waits \
             for ever too)",
            "`p1` waits for event `e1`, which no process that can still run posts (`p0` would, but waits \
             for ever too)",
        ]
    );
}

#[test]
fn every_way_to_wait_is_told() {
    let told = stranded(vec![
        Writer::new().dequeue(0).done(),
        Writer::new().then(Operation::WaitAny).done(),
        Writer::new().wait(2).post(2).done(),
        // Nobody comes by the post that stands before the wait again.
        Writer::new().post(4).wait(3).done(),
        Writer::new().wait(4).wait(4).done(),
    ]);
    assert_eq!(
        told,
        [
            "`p0` waits for data of queue `messages`, which no process that can still run puts there",
            "`p1` waits for any of its events, none of which is posted by a process that can still run",
            "`p2` waits for event `e2`, which no process that can still run posts (it would itself, but \
             later)",
            "`p3` waits for event `e3`, which no process that can still run posts",
            "`p4` waits for event `e4`, which no process that can still run posts",
        ]
    );
}

#[test]
fn who_may_still_be_woken_is_not_told_of() {
    // The last wakes the third, who wakes the second, who wakes the first: all beyond the end of the run.
    let told = stranded(vec![
        Writer::new().begin(None).wait(0).done(),
        Writer::new().begin(None).dequeue(0).post(0).done(),
        Writer::new().then(Operation::WaitAny).begin(Some(3)).compute(ms(1)).enqueue(0).done(),
        Writer::new().sleep(ms(5_000)).post(2).done(),
        // And a timer holds what wakes this one.
        Writer::new().then(Operation::PostAfter(4, Law::Constant(ms(5_000)).into())).wait(4).done(),
    ]);
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn who_never_starts_in_time_is_not_told_of_nor_who_waits_for_it() {
    let mut one = beside_a_hog(vec![Writer::new().wait(0).done(), Writer::new().post(0).done()]);
    one.processes[1].starts = ms(2_000);
    assert_eq!(played(&one, &mut Forget).expect("it plays").stranded, []);
}

#[test]
fn what_the_switch_holds_still_comes() {
    let mut one = beside_a_hog(vec![Writer::new().dequeue(0).done(), Writer::new().enqueue(0).done()]);
    one.nodes.push("n2".to_owned());
    one.processes[1].node = 1;
    one.switch_delay = ms(5_000);
    assert_eq!(played(&one, &mut Forget).expect("it plays").stranded, []);
    one.switch_delay = ms(1);
    one.processes[1].program = Writer::new().enqueue(0).done();
    one.processes[0].program = Writer::new().dequeue(0).dequeue(0).done();
    assert_eq!(played(&one, &mut Forget).expect("it plays").stranded.len(), 1);
}

#[test]
fn of_many_ten_are_named() {
    let told = stranded(vec![Writer::new().dequeue(0).done(); 13]);
    assert_eq!(told.len(), 11);
    assert_eq!(told[10], "3 more wait for something that no process able to run can bring");
}

#[test]
fn warnings_are_told_once_a_discipline_for_any_number_of_threads() {
    let mut one = beside_a_hog(vec![Writer::new().compute(ms(1)).wait(0).done()]);
    let mut two = scenario(&["epoch", "eevdf"]).expect("specs");
    (two.processes, two.events, two.queues) = (one.processes.clone(), one.events.clone(), one.queues.clone());
    two.stop = one.stop;
    two.stop.replications = 3;
    let told = warnings(&two, 1);
    let of: Vec<&str> = told.iter().map(|warning| warning.discipline.as_str()).collect();
    assert_eq!(of, [two.disciplines[0].as_str(), two.disciplines[1].as_str()]);
    assert_eq!(told[0].text, "`p0` waits for event `e0`, which no process that can still run posts");
    assert_eq!(told, warnings(&two, 2));
    one.processes[0].program = Writer::new().begin(None).compute(ms(1)).done();
    assert_eq!(warnings(&one, 1), []);
}

#[test]
fn who_never_runs_though_it_is_ready_is_told() {
    let mut one = beside_a_hog(Vec::new());
    for number in 0..13 {
        let program = Writer::new().begin(None).compute(ms(1)).done();
        let mut log = process(&format!("log.{number}"), ms(0), None, program);
        log.declared.priority = 0;
        one.processes.push(log);
    }
    let mut strict = scenario(&["priority_rr"]).expect("a spec");
    (strict.processes, strict.stop) = (one.processes.clone(), one.stop);
    strict.processes[0].declared.priority = 3;
    let told = warnings(&strict, 1);
    assert_eq!(told.len(), 11, "{told:?}");
    assert_eq!(told[0].text, "`log.0` was ready for all of the measured time and never ran");
    assert_eq!(told[10].text, "3 more were ready for all of the measured time and never ran");
    // Who ran before the measured time alone did not run in it either; who became ready in it is another matter.
    strict.processes.truncate(2);
    strict.processes[0].starts = ms(50);
    assert_eq!(warnings(&strict, 1).len(), 1);
    strict.processes[0].starts = ms(0);
    strict.processes[1].starts = ms(101);
    assert_eq!(warnings(&strict, 1), []);
}
