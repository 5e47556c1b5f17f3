//! What is refused, and in which words.

use super::{ms, played};
use crate::generators::{Writer, add_event, add_queue, process, scenario};
use crate::model::{NodeScenario, Operation, Program};
use crate::record::Forget;
use weir_core::units::Nanos;
use weir_lab::error::RunError;

fn with(programs: Vec<Program>) -> NodeScenario {
    let mut one = scenario(&["epoch"]).expect("a spec");
    add_queue(&mut one, "messages", 0);
    for (number, program) in programs.into_iter().enumerate() {
        one.processes.push(process(&format!("p{number}"), ms(1), None, program));
        add_event(&mut one, &format!("e{number}"), number);
    }
    one
}

fn refusal(one: &NodeScenario) -> String {
    match played(one, &mut Forget) {
        Err(RunError::Refused { place, reason } | RunError::Stuck { place, reason, .. }) => {
            format!("{place}: {reason}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let one = with(vec![
        Writer::new().compute(ms(1)).wait(0).post(1).done(),
        Writer::new().compute(ms(2)).wait(1).post(0).done(),
        Writer::new().dequeue(0).done(),
        Writer::new().then(Operation::WaitAny).done(),
        Writer::new().compute(ms(1)).done(),
    ]);
    let text = refusal(&one);
    assert!(text.starts_with("deadlock at 4ms: nothing moves any more: "), "{text}");
    let first = "`p0` waits for event `e0` in `wait e0`, its operation 2, `p1` waits for event `e1` in `wait e1`, its";
    assert!(text.contains(first), "{text}");
    let third = "`p2` waits for data of queue `messages` in `dequeue messages`, its operation 1, `p3` waits for any of";
    assert!(text.contains(third), "{text}");
    let error = played(&one, &mut Forget).expect_err("a deadlock");
    let remedy = "let somebody `post e0`, or wait with a timer: `post e0 after 10ms` before the `wait`";
    assert_eq!(error.remedy(), remedy);
}

#[test]
fn of_many_in_a_deadlock_ten_are_named() {
    let text = refusal(&with(vec![Writer::new().dequeue(0).done(); 13]));
    assert!(
        text.contains("`p9` waits") && !text.contains("`p10`") && text.contains("3 more wait too"),
        "{text}"
    );
}

#[test]
fn who_has_ended_waits_for_nothing() {
    let mut one = with(vec![Writer::new().compute(ms(1)).done()]);
    one.measure.verify = true;
    let left = played(&one, &mut Forget).expect("it plays");
    assert_eq!(left.tally.decisions, 2);
}

#[test]
fn a_program_without_end_is_refused() {
    let text = refusal(&with(vec![Writer::new().begin(None).post(0).done()]));
    assert!(
        text.starts_with("process `p0` at 0ns: more than 1000000 operations without time passing"),
        "{text}"
    );
    let text = refusal(&with(vec![Writer::new().begin(None).sleep(Nanos::new(0)).done()]));
    assert!(text.contains("without time passing"), "{text}");
}

#[test]
fn two_that_post_each_other_for_ever_are_refused() {
    let text = refusal(&with(vec![
        Writer::new().begin(None).post(1).wait(0).done(),
        Writer::new().begin(None).wait(1).post(0).done(),
    ]));
    assert!(text.contains("operations without time passing"), "{text}");
}

#[test]
fn senseless_scenarios_are_refused() {
    let fine = || with(vec![Writer::new().begin(None).compute(ms(1)).done()]);
    let changed = |change: &dyn Fn(&mut NodeScenario)| {
        let mut one = fine();
        change(&mut one);
        refusal(&one)
    };
    let program = |operations: Vec<Operation>| {
        changed(&move |one| one.processes[0].program = Program { operations: operations.clone() })
    };
    for (text, expected) in [
        (changed(&|one| one.nodes.clear()), "node.names: there is no node"),
        (changed(&|one| one.epoch = Nanos::new(0)), "node.epoch: it is 0ns"),
        (changed(&|one| one.processes[0].node = 3), "process `p0`: it is on node 3, must be below 1"),
        (changed(&|one| one.queues[0].node = 1), "queue `messages`: it is on node 1"),
        (changed(&|one| one.events[0].owner = 7), "event `e0`: nobody owns it"),
        (
            changed(&|one| one.processes[0].declared.priority = 9),
            "process `p0`: priority is 9, must be from 0 to 3",
        ),
        (
            changed(&|one| one.processes[0].declared.slice = Some(Nanos::new(5))),
            "process `p0`: slice is 5ns, must",
        ),
        (changed(&|one| one.specs[0].name = "cfs".to_owned()), "disciplines: no discipline is named `cfs`"),
        (program(vec![Operation::Post(9)]), "process `p0`, operation 1: there is no event 9"),
        (program(vec![Operation::Enqueue(9)]), "process `p0`, operation 1: there is no queue 9"),
        (program(vec![Operation::Wait(vec![])]), "process `p0`, operation 1: it waits for one of no events"),
        (program(vec![Operation::End(0)]), "process `p0`, operation 1: a loop ends that has not begun"),
        (
            program(vec![Operation::Loop { times: None, after: 1 }]),
            "process `p0`, operation 1: a loop begins that has no end",
        ),
        (
            program(vec![Operation::SleepUntil { every: ms(1), offset: ms(1) }]),
            "process `p0`, operation 1: it sleeps until 1ms after a multiple of 1ms",
        ),
    ] {
        assert!(text.starts_with(expected), "{text}\nexpected {expected}");
    }
}

#[test]
fn another_s_event_is_not_waited_for() {
    let text = refusal(&with(vec![Writer::new().wait(1).done(), Writer::new().compute(ms(1)).done()]));
    assert!(text.starts_with("process `p0`, operation 1: event `e1` is another's"), "{text}");
}
