//! Small schedules by hand.

use super::trace::Who;
use super::{MS, ms, played, traced, us};
use crate::generators::{Writer, add_event, add_queue, process, scenario};
use crate::model::{Balance, Costs, NodeScenario, Operation, Program};
use crate::record::Forget;
use weir_core::units::Nanos;
use weir_workload::duration::Run;

fn empty() -> NodeScenario {
    let mut one = scenario(&["epoch"]).expect("a spec");
    one.stop.warm_up = ms(0);
    one.stop.duration = ms(200);
    one.measure.verify = true;
    one
}

fn replayed(runs: &[Run]) -> Program {
    Writer::new().then(Operation::Replay(runs.into())).done()
}

/// Who had the first node, up to `until`, in microseconds.
fn had(one: &NodeScenario, until: u64) -> Vec<(Who, u64, u64)> {
    let all = traced(one).had.remove(0);
    let all = all.into_iter().filter(|(_, from, _)| *from < until * MS);
    all.map(|(who, from, end)| (who, from / 1000, end / 1000)).collect()
}

#[test]
fn a_post_wakes_its_owner_and_a_second_one_has_no_effect() {
    let mut one = empty();
    let event = add_event(&mut one, "event", 1);
    let program = Writer::new().compute(ms(1)).post(event).post(event).compute(ms(2)).post(event);
    one.processes.push(process("poster", ms(10), None, program.done()));
    let program = Writer::new().begin(None).wait(event).compute(ms(3)).done();
    one.processes.push(process("waiter", ms(10), None, program));
    one.processes.push(process("other", ms(1), None, Writer::new().begin(None).sleep(ms(90)).done()));
    // The waiter waits at once; the first post wakes it, the second finds it posted, the third, at 3 ms, too.
    use Who::{Idle, Process};
    assert_eq!(had(&one, 80), [(Process(0), 0, 3000), (Process(1), 3000, 6000), (Idle, 6000, 200_000)]);
}

/// Finding B12: the timer's routine posts all that is due before the scheduler is asked for.
#[test]
fn b12_who_wakes_at_the_end_of_an_epoch_is_posted_before_the_turn() {
    // `low` is on its low queue at 100 ms and returns behind `wakes`, which was posted to its normal one; `other`, over
    // the switch, is posted before the turn too.
    let mut one = empty();
    one.nodes.push("second".to_owned());
    one.switch_delay = ms(1);
    let event = add_event(&mut one, "event", 2);
    let hog = Writer::new().begin(None).compute(ms(1)).done();
    one.processes.push(process("low", ms(20), Some(ms(20)), hog));
    let mut wakes = process("wakes", ms(40), Some(ms(20)), Writer::new().compute(ms(5)).done());
    wakes.starts = ms(100);
    one.processes.push(wakes);
    let program = Writer::new().wait(event).compute(ms(5)).done();
    one.processes.push(process("other", ms(40), Some(ms(20)), program));
    let mut remote = process("remote", ms(10), None, Writer::new().sleep(ms(99)).post(event).done());
    remote.node = 1;
    one.processes.push(remote);
    let after: Vec<_> = had(&one, 111).into_iter().filter(|(_, _, until)| *until > 100_000).collect();
    use Who::Process;
    let expected =
        [(Process(1), 100_000, 105_000), (Process(2), 105_000, 110_000), (Process(0), 110_000, 200_000)];
    assert_eq!(after, expected);
}

#[test]
fn a_higher_process_that_is_woken_preempts_and_its_poster_pays() {
    let mut one = empty();
    one.costs = Costs { restart: us(29), timer: us(100), swap: us(119), post: us(16), remote: us(60) };
    let queue = add_queue(&mut one, "queue", 0);
    let program = Writer::new().compute(ms(1)).enqueue(queue).compute(ms(1)).then(Operation::WaitAny);
    one.processes.push(process("low", ms(10), None, program.done()));
    let mut high =
        process("high", ms(10), None, Writer::new().begin(None).dequeue(queue).compute(ms(2)).done());
    high.declared.priority = 2;
    one.processes.push(high);
    one.processes.push(process("other", ms(1), None, Writer::new().begin(None).sleep(ms(90)).done()));
    let trace = traced(&one);
    // At 0 all three are woken: the timer, and half of a swap from idle, 174 us, paid by `high`, which waits at once and pays 119 us;
    // then `low` runs 1 ms and posts in 16 us; the swap is its own.
    let begins = 100 + 74 + 119;
    use Who::Process;
    assert_eq!(
        had(&one, 5)[..4],
        [
            (Process(1), 0, begins),
            (Process(0), begins, begins + 1000 + 16 + 119),
            (Process(1), begins + 1135, begins + 1135 + 2000 + 119),
            (Process(0), begins + 3254, begins + 3254 + 1000 + 119),
        ]
    );
    assert_eq!(trace.dequeued[0].0 / 1000, begins + 1016);
    let paths: Vec<u8> = trace.paths.iter().take(4).map(|path| path.2).collect();
    assert_eq!(paths, [4, 1, 1, 1], "from idle, then three swaps");
}

#[test]
fn posts_over_the_switch_come_later() {
    let mut one = empty();
    one.nodes.push("second".to_owned());
    one.switch_delay = us(500);
    one.costs.remote = us(60);
    let event = add_event(&mut one, "event", 1);
    let program = Writer::new().begin(None).compute(ms(1)).post(event).sleep(ms(50)).done();
    one.processes.push(process("poster", ms(10), None, program));
    let mut waiter =
        process("waiter", ms(10), None, Writer::new().begin(None).wait(event).compute(ms(1)).done());
    waiter.node = 1;
    one.processes.push(waiter);
    let trace = traced(&one);
    let woke: Vec<u64> = trace.woke.iter().filter(|woke| woke.1 == 1).map(|woke| woke.0 / 1000).collect();
    assert_eq!(woke[..3], [0, 1560, 52_620]);
}

#[test]
fn a_process_moves_to_the_idle_node_when_it_waits_with_its_events() {
    let mut one = empty();
    one.nodes.push("second".to_owned());
    one.balance = Some(Balance { every: ms(20), cost: ms(1) });
    let event = add_event(&mut one, "event", 0);
    for (name, need) in [("a", 2), ("b", 4)] {
        let program = Writer::new().begin(None).compute(ms(need)).sleep(ms(6));
        one.processes.push(process(name, ms(30), None, program.done()));
    }
    let after = Operation::PostAfter(event, weir_workload::duration::Law::Constant(ms(30)).into());
    one.processes[0].program.operations.insert(0, after);
    if let Operation::Loop { after, .. } = &mut one.processes[0].program.operations[1] {
        *after += 1;
    }
    let last = one.processes[0].program.operations.len() - 1;
    one.processes[0].program.operations[last] = Operation::End(1);
    let trace = traced(&one);
    assert_eq!(trace.moved.len(), 1, "{:?}", trace.moved);
    let (at, process, node) = trace.moved[0];
    assert_eq!((at, process, node), (20 * MS, 0, 1), "{:?}", trace.had);
    assert!(trace.had[1].iter().any(|(who, _, _)| *who == Who::Process(0)));
}

#[test]
fn each_run_of_a_replay_is_a_response_from_when_it_was_due() {
    let mut one = empty();
    let run = |wake| Run { wake: ms(wake), run: ms(if wake == 45 { 3 } else { 12 }) };
    let runs = [10, 20, 30, 45, 60, 61, 62, 190, 195, 198, 300].map(run);
    one.processes.push(process("replayed", ms(10), None, replayed(&runs)));
    let trace = traced(&one);
    // Times in milliseconds: when it was over, and when it was due.
    let pairs =
        |list: &[(u64, usize, u64)]| list.iter().map(|one| (one.0 / MS, one.2 / MS)).collect::<Vec<_>>();
    assert_eq!(pairs(&trace.responded), [(22, 10), (34, 20), (46, 30), (72, 60), (84, 61)]);
    assert_eq!(pairs(&trace.waits), [(0, 0), (49, 45), (96, 62)]);
    // The first of these has begun, the others are due; the one at 300 ms is not.
    assert_eq!(pairs(&trace.unfinished), [(200, 190), (200, 195), (200, 198)]);
}

#[test]
fn who_is_ready_at_the_end_is_told_with_since_when() {
    let mut one = empty();
    let hog = Writer::new().begin(None).compute(ms(1)).done();
    one.processes.push(process("hog", ms(10), None, hog));
    one.processes.push(process("sleeper", ms(10), None, Writer::new().begin(None).sleep(ms(300)).done()));
    one.processes[0].declared.priority = 3;
    assert_eq!(traced(&one).unfinished, [(200 * MS, 0, 0)]);
}

#[test]
fn a_start_is_told_where_the_program_goes_on_whoever_pays() {
    let mut one = empty();
    one.costs = Costs { restart: us(20), timer: us(100), swap: us(40), ..Costs::default() };
    for name in ["first", "second"] {
        one.processes.push(process(name, ms(10), None, Writer::new().sleep(ms(50)).compute(ms(1)).done()));
    }
    let started = traced(&one).started;
    let after_sleep = started.iter().filter(|one| one.0 > MS && one.3.is_some());
    let waits: Vec<u64> = after_sleep.map(|one| (one.0 - one.3.unwrap_or_default()) / 1000).collect();
    // From idle, which the first pays for itself: 100 and 30; the second slept 40 us longer, waits for 1 ms, and a swap.
    assert_eq!(waits[0], 130);
    assert!(waits[1] >= 1000 + 40, "{waits:?}");
}

/// Two that could move from the first node to the second, where one of them fits, and are chosen while they run.
#[test]
fn who_is_to_move_counts_where_it_will_be() {
    let mut one = scenario(&["epoch"]).expect("a spec");
    one.nodes.push("second".to_owned());
    one.stop.warm_up = ms(0);
    one.stop.duration = ms(400);
    one.balance = Some(Balance { every: ms(10), cost: ms(0) });
    one.measure.verify = true;
    for name in ["a", "b"] {
        let program = Writer::new().compute(ms(30)).sleep(ms(1)).begin(None).compute(ms(1)).done();
        one.processes.push(process(name, ms(50), Some(ms(5)), program));
    }
    let mut there = process("there", ms(40), Some(ms(5)), Writer::new().begin(None).compute(ms(1)).done());
    (there.node, there.starts, there.movable) = (1, ms(100), false);
    one.processes.push(there);
    let trace = traced(&one);
    assert_eq!(trace.moved.len(), 1, "{:?}", trace.moved);
}

#[test]
fn a_move_that_promises_more_than_there_is_is_told() {
    // Who ends at 60 ms has run all that it is promised until 100, and `a` comes at 80.
    let mut one = scenario(&["cbs"]).expect("a spec");
    one.nodes.push("second".to_owned());
    one.stop.warm_up = ms(0);
    one.stop.duration = ms(100);
    one.balance = Some(Balance { every: ms(40), cost: ms(0) });
    one.measure.verify = true;
    let program = Writer::new().compute(ms(50)).sleep(ms(500)).done();
    one.processes.push(process("a", ms(50), None, program));
    let mut stays = process("b", ms(50), None, Writer::new().begin(None).compute(ms(1)).done());
    stays.movable = false;
    one.processes.push(stays);
    let mut ends = process("ends", ms(60), None, Writer::new().compute(ms(60)).done());
    ends.node = 1;
    one.processes.push(ends);
    let over = played(&one, &mut Forget).expect("it plays").overcommitted;
    let told: Vec<(usize, Nanos)> = over.iter().map(|(node, over)| (*node, over.committed)).collect();
    assert_eq!(told, [(1, ms(110))]);
}

#[test]
fn a_move_leaves_the_time_before_it_as_it_was() {
    // `a` has three fifths of its 40 ms by 39 ms at most; while `b` runs on it goes to another node. Half of the
    // processor is `b`'s alone from the zero-lag time of `a` on, not before.
    let mut one = scenario(&["cbs:reclaim=grub"]).expect("a spec");
    one.nodes.push("second".to_owned());
    one.stop.warm_up = ms(0);
    one.stop.duration = ms(100);
    one.balance = Some(Balance { every: ms(70), cost: ms(0) });
    one.measure.verify = true;
    let program = Writer::new().compute(ms(39)).sleep(ms(500)).done();
    one.processes.push(process("a", ms(40), None, program));
    let mut stays = process("b", ms(50), None, Writer::new().begin(None).compute(ms(1)).done());
    stays.movable = false;
    one.processes.push(stays);
    let mut still = one.clone();
    still.balance = None;
    let (moved, stayed) = (traced(&one), traced(&still));
    assert_eq!(moved.moved.len(), 1, "{:?}", moved.moved);
    assert_eq!(moved.had[0], stayed.had[0]);
}

/// One that never waits, and one that stays; the first is to move when the nodes are compared, at 40 ms.
fn never_waits(program: Program) -> NodeScenario {
    let mut one = scenario(&["epoch"]).expect("a spec");
    one.nodes.push("second".to_owned());
    one.stop.warm_up = ms(0);
    one.stop.duration = ms(80);
    one.balance = Some(Balance { every: ms(40), cost: ms(0) });
    one.measure.verify = true;
    one.processes.push(process("moves", ms(50), Some(ms(5)), program));
    let stays = Writer::new().begin(None).compute(ms(1)).done();
    one.processes.push(process("stays", ms(50), Some(ms(5)), stays));
    one.processes[1].movable = false;
    one
}

#[test]
fn who_is_always_late_for_its_turn_waits_for_a_nanosecond_to_move() {
    // A turn every 4 ms takes 6 ms.
    let turn = Operation::SleepUntil { every: ms(4), offset: ms(0) };
    let one = never_waits(Writer::new().begin(None).then(turn).compute(ms(6)).done());
    let trace = traced(&one);
    assert_eq!(trace.moved.len(), 1, "{:?}", trace.moved);
    let (moved, begun) = (trace.moved[0].0, trace.started.iter().find(|one| one.1 == 1).expect("it goes on"));
    assert_eq!((begun.0, begun.2), (moved + 1, 0));
    // Each turn is reported once, from when it was due, the one before the move by the wait.
    let mut turns: Vec<u64> = trace.responded.iter().map(|one| one.2 / MS).collect();
    turns.extend(trace.waits.iter().filter(|one| one.0 > 0).map(|one| one.2 / MS));
    turns.extend(trace.unfinished.iter().filter(|one| one.1 == 0).map(|one| one.2 / MS));
    turns.sort_unstable();
    let expected: Vec<u64> = (0..turns.len() as u64).map(|turn| 4 * turn).collect();
    assert_eq!(turns, expected);
    assert!(trace.responded.iter().any(|one| one.0 > moved), "it goes on with its turns there");
}

/// Finding B12: behind a hog of 25 ms all turns run, the first at 0, and those that are late count from when they were due.
#[test]
fn b12_no_turn_of_a_periodic_sleep_is_lost_before_the_first_dispatch() {
    let turn = Operation::SleepUntil { every: ms(10), offset: ms(0) };
    for spec in ["priority_rr", "epoch"] {
        let mut one = scenario(&[spec]).expect("a spec");
        (one.stop.warm_up, one.stop.duration) = (ms(0), ms(100));
        let mut hog = process("hog", ms(25), None, Writer::new().compute(ms(25)).done());
        hog.declared.priority = 2;
        one.processes.push(hog);
        let program = Writer::new().begin(None).then(turn.clone()).compute(ms(1)).done();
        one.processes.push(process("job", ms(15), None, program));
        let trace = traced(&one);
        let over = trace.responded.iter().chain(&trace.waits).filter(|over| over.1 == 1);
        let mut over: Vec<(u64, u64)> = over.map(|over| (over.2 / MS, over.0 / MS)).collect();
        over.sort_unstable();
        let late = [(0, 26), (10, 27), (20, 28)];
        let expected: Vec<_> = late.into_iter().chain((3..10).map(|job| (10 * job, 10 * job + 1))).collect();
        assert_eq!(over, expected, "{spec}");
    }
}

#[test]
fn b12_the_same_instants_named_twice_are_taken_once_each() {
    let turn = || Operation::SleepUntil { every: ms(6), offset: ms(0) };
    let mut one = empty();
    let event = add_event(&mut one, "event", 0);
    let program = Writer::new().begin(None).post(event).then(turn()).begin(Some(4)).then(turn()).end().done();
    one.processes.push(process("tick", ms(10), None, program));
    let woke: Vec<u64> = traced(&one).woke.iter().map(|woke| woke.0 / MS).take(8).collect();
    assert_eq!(woke, [0, 6, 12, 18, 24, 30, 36, 42]);
}

#[test]
fn who_never_has_to_wait_moves_at_what_it_takes() {
    let runs: Vec<Run> = (1..100).map(|wake| Run { wake: ms(wake / 10), run: ms(3) }).collect();
    let mut all = vec![never_waits(replayed(&runs)), never_waits(Writer::new().begin(None).done())];
    let event = add_event(&mut all[1], "event", 0);
    all[1].processes[0].program = Writer::new().begin(None).post(event).compute(ms(3)).wait(event).done();
    let mut queued = never_waits(Writer::new().done());
    let queue = add_queue(&mut queued, "queue", 0);
    queued.processes[0].program =
        Writer::new().begin(None).enqueue(queue).compute(ms(3)).dequeue(queue).done();
    all.push(queued);
    all.push(never_waits(Writer::new().begin(None).compute(ms(3)).sleep(ms(0)).done()));
    for one in &all {
        let trace = traced(one);
        assert_eq!(trace.moved.len(), 1, "{:?}", one.processes[0].program);
        // At the first such operation after the nodes were compared.
        assert!((40 * MS..49 * MS).contains(&trace.moved[0].0), "{:?}", trace.moved);
        let there = trace.had[1].iter().find(|had| matches!(had.0, Who::Process(0))).expect("it goes on");
        assert_eq!(there.1, trace.moved[0].0 + 1);
    }
}
