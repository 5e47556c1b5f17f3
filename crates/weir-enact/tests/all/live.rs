//! A scenario run for real: what it records is what its programs say.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use weir_core::units::Nanos;
use weir_enact::{EnactError, Live, enact};
use weir_node::generators::{Writer, add_event, process, scenario};
use weir_node::model::{Balance, NodeScenario};
use weir_recording::{Bursts, Facts, read};

fn ms(count: u64) -> Nanos {
    Nanos::new(count * 1_000_000)
}

/// A task that posts every 5 ms, one that waits for it and computes 1 ms, and one that computes for ever.
fn three() -> NodeScenario {
    let mut node = scenario(&["epoch(20ms)"]).unwrap();
    node.epoch = ms(20);
    add_event(&mut node, "tick", 1);
    let ticks = Writer::new().begin(None).sleep(ms(5)).post(0).done();
    let handler = Writer::new().begin(None).wait(0).compute(ms(1)).done();
    let greedy = Writer::new().begin(None).compute(ms(50)).done();
    node.processes.push(process("ticks", ms(1), Some(ms(1)), ticks));
    node.processes.push(process("handler", ms(6), Some(ms(1)), handler));
    node.processes.push(process("greedy", ms(0), Some(ms(1)), greedy));
    node
}

fn live(name: &str, millis: u64) -> Live {
    let record = std::env::temp_dir().join(format!("weir-enact-{}-{name}", std::process::id()));
    Live { discipline: 0, span: Duration::from_millis(millis), record, pinned: false, real_time: None }
}

fn recorded(path: &PathBuf) -> (Facts, Bursts) {
    let mut bursts = Bursts::up_to(1_000_000);
    let source = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let facts = read(source, &mut |worker, event, _| bursts.hear(worker, event)).unwrap();
    bursts.finish(facts.tasks.len());
    std::fs::remove_file(path).unwrap();
    (facts, bursts)
}

#[test]
fn a_live_run_does_what_the_programs_say() {
    let live = live("three", 1_000);
    let enacted = enact(&three(), &live, |_| {}, &|| false).unwrap();
    assert_eq!(enacted.counts[0].spawned, 3);
    let (facts, mut bursts) = recorded(&live.record);
    assert!(facts.is_whole && facts.damage.is_none(), "{facts:?}");
    let names: Vec<_> = facts.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["ticks", "handler", "greedy"]);
    let handled = &bursts.tasks[1].bursts;
    assert!(handled.len() > 20, "{} of about 200", handled.len());
    // The first burst only begins to wait, and the end of the run may cut one short; each of the others computes a
    // millisecond at least.
    let whole = handled[1..].iter().filter(|burst| u128::from(burst.done) < live.span.as_nanos());
    let short = whole.filter(|burst| burst.run < 1_000_000).count();
    assert_eq!(short, 0, "{handled:?}");
    assert!(bursts.costs.medians()[0].is_some(), "one poll in 64 is measured");
}

#[test]
fn a_run_is_broken_off_where_it_is_to_be() {
    let live = live("off", 3_600_000);
    let began = std::time::Instant::now();
    enact(&three(), &live, |_| {}, &|| began.elapsed() > Duration::from_millis(50)).unwrap();
    recorded(&live.record);
}

#[test]
fn what_cannot_be_enacted_is_refused() {
    let mut moves = three();
    moves.balance = Some(Balance { every: ms(10), cost: ms(0) });
    let refused = enact(&moves, &live("moves", 10), |_| {}, &|| false);
    assert!(matches!(refused, Err(EnactError::Moves)), "{refused:?}");

    let mut greedy = scenario(&["epoch(20ms,admit=refuse)"]).unwrap();
    greedy.processes = three().processes;
    greedy.events = three().events;
    greedy.processes[1].declared.need = ms(21);
    let heard = Arc::new(Mutex::new(0));
    let hear = Arc::clone(&heard);
    let live = live("greedy", 10);
    let refused = enact(&greedy, &live, move |_| *hear.lock().unwrap() += 1, &|| false);
    let Err(error @ EnactError::Refused { .. }) = refused else { panic!("must be refused: {refused:?}") };
    assert!(error.to_string().starts_with("process `handler`: "), "{error}");
    assert!(*heard.lock().unwrap() >= 1);
    recorded(&live.record);
}
