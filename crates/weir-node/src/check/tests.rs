//! Refusals, word by word, and what accepted scenarios become.

use std::sync::Arc;

use crate::model::{Balance, Costs, DualQueue, Event, Measure, NodeScenario, Operation, Process, Stop};
use weir_core::registry::TASK;
use weir_core::task::Declared;
use weir_core::units::{Nanos, Weight};
use weir_document::testing::{Folder, assert_bounds, grouped, names};
use weir_lab::scenario::Scenario;
use weir_lab::scenario::testing::Texts;
use weir_workload::ContinuousLaw;
use weir_workload::duration::{AnyLaw, Law, Run};

/// With what the blocks of `refusals.txt` have in common.
const TEXTS: Texts<NodeScenario> = Texts::new(&[
    ("...", "weir = 1\nmodel = \"node\"\ndisciplines = [\"epoch\"]"),
    ("{process}", "[[process]]\nname = \"a\"\nprogram = \"loop { compute 5ms; sleep 10ms }\""),
]);

fn millis(count: u64) -> Nanos {
    Nanos::new(count * 1_000_000)
}

#[test]
fn refusals_name_line_column_key_value_and_remedy() {
    TEXTS.assert_refusals(include_str!("refusals.txt"), &names(TASK));
}

#[test]
fn what_is_not_said_is_one_node_where_nothing_costs_anything() {
    let node = TEXTS.model("...\n{process}");
    assert_eq!((node.nodes.as_slice(), node.epoch), (&["node".to_owned()][..], millis(100)));
    assert_eq!((node.costs, node.uncharged, node.switch_delay), (Costs::default(), millis(0), millis(0)));
    assert_eq!((node.seed, node.reference, node.balance), (1, 0, None));
    assert_eq!(node.disciplines, ["epoch"]);
    assert_eq!(node.specs[0].to_string(), "epoch:length=100ms");
    assert_eq!(node.stop, Stop { warm_up: millis(1_000), duration: millis(11_000), replications: 1 });
    let timeline = Some((millis(1_000), millis(1_500)));
    assert_eq!(node.measure, Measure { tails: true, verify: false, over_time: None, sample: None, timeline });
    let [process] = node.processes.as_slice() else { panic!("{:?}", node.processes) };
    assert_eq!((process.name.as_str(), process.node, process.declared), ("a", 0, Declared::default()));
    assert_eq!((process.deadline, process.starts), (None, millis(0)));
    assert!(process.movable && !process.system);
    assert!(node.queues.is_empty() && node.events.is_empty());
}

#[test]
fn what_is_random_is_replicated() {
    let replications = |program: &str| {
        TEXTS.model(&format!("...\n[[process]]\nname = \"a\"\nprogram = \"{program}\"")).stop.replications
    };
    assert_eq!(replications("loop { sleep 5ms }"), 1);
    assert_eq!(replications("loop { sleep exponential(5ms) }"), 10);
    assert_eq!(replications("loop { compute uniform(1ms, 2ms) }"), 10);
}

#[test]
fn programs_name_laws_of_the_table() {
    let node = TEXTS.model(
        "...\nlaw = { work = { lognormal = { mean = \"5ms\", cv = 2.0 } }, pause = { exponential = \"9ms\" } }\n\
         [[process]]\nname = \"a\"\nprogram = \"loop { compute work; sleep $gap }\"\nset = { gap = \"pause\" }",
    );
    let lognormal = ContinuousLaw::lognormal(5e6, 2.0).expect("a law");
    let operations = &node.processes[0].program.operations;
    assert_eq!(operations[1], Operation::Compute(AnyLaw::Textbook(Arc::new(lognormal))));
    assert_eq!(operations[2], Operation::Sleep(Law::Exponential(millis(9)).into()));
    assert_eq!(node.stop.replications, 10);
}

/// Every key but that of a data file.
const RICH: &str = r#"
weir = 1
model = "node"
title = "Two nodes"
seed = 7
disciplines = ["epoch(length=50ms,slice=10ms)", "epoch:allocate=at_dispatch"]
reference = "epoch:allocate=at_dispatch"

[node]
epoch = "50ms"
names = ["left", "right"]
costs = { restart = "1us", timer = "2us", swap = "3us", post = "4us", remote = "5us" }
system = { epoch_scheduler = { run = "300us", need = "1ms" }, remote_demon = { run = "2ms" }, uncharged = "700us" }
switch_delay = "20us"

[[queue]]
name = "messages"
node = "right"

[[queue]]
name = "replies"

[[event]]
name = "done"
owner = "source.2"

[[template]]
name = "generator"
priority = 2
need = "5ms"
slice = "8ms"
period = "25ms"
weight = 3
deadline = "40ms"
starts = "3ms"
movable = false
program = """
loop $times {
  compute $work   # as it is set
  enqueue $to
}
"""

[[process]]
name = "source"
template = "generator"
count = 2
node = "right"
set = { to = "messages", work = "uniform(1ms, 2ms)", times = "5" }

[[process]]
name = "sink"
template = "generator"
priority = 0
need = "6ms"
slice = "9ms"
period = "20ms"
weight = 4
deadline = "41ms"
starts = "4ms"
movable = true
set = { to = "replies", work = "152us", times = "7" }

[balance]
every = "1s"
cost = "100us"

[stop]
warm_up = "120ms"
duration = "1s"
replications = 3

[measure]
tails = false
verify = true
sample = "100ms"
timeline = { from = "0ms", until = "200ms" }
"#;

#[test]
fn everything_is_as_it_is_written() {
    let node = TEXTS.model(RICH);
    assert_eq!((node.title.as_str(), node.seed, node.reference), ("Two nodes", 7, 1));
    assert_eq!(node.disciplines, ["epoch(length=50ms,slice=10ms)", "epoch:allocate=at_dispatch"]);
    let specs: Vec<String> = node.specs.iter().map(ToString::to_string).collect();
    assert_eq!(specs, ["epoch:50ms,slice=10ms", "epoch:allocate=at_dispatch,length=50ms"]);
    assert_eq!(node.nodes, ["left", "right"]);
    let micros = |count: u64| Nanos::new(count * 1_000);
    let [restart, timer, swap, post, remote] = [1, 2, 3, 4, 5].map(micros);
    assert_eq!(node.costs, Costs { restart, timer, swap, post, remote });
    assert_eq!((node.uncharged, node.switch_delay), (micros(700), micros(20)));
    let queue = |name: &str, node| DualQueue { name: name.to_owned(), node };
    assert_eq!(node.queues, [queue("messages", 1), queue("replies", 0)]);
    assert_eq!(node.events, [Event { name: "done".to_owned(), owner: 1 }]);
    assert_eq!(node.balance, Some(Balance { every: millis(1_000), cost: micros(100) }));
    assert_eq!(node.stop, Stop { warm_up: millis(120), duration: millis(1_000), replications: 3 });
    let timeline = Some((millis(0), millis(200)));
    assert_eq!(
        node.measure,
        Measure { tails: false, verify: true, over_time: None, sample: Some(millis(100)), timeline }
    );
}

#[test]
fn a_process_is_its_template_but_for_what_it_says_itself() {
    let node = TEXTS.model(RICH);
    let generator = |times, work: Law, queue| {
        vec![
            Operation::Loop { times: Some(times), after: 4 },
            Operation::Compute(work.into()),
            Operation::Enqueue(queue),
            Operation::End(0),
        ]
    };
    let declared = |priority, need, slice, period, weight| Declared {
        priority,
        need: millis(need),
        slice: Some(millis(slice)),
        period: Some(millis(period)),
        weight: Some(Weight::new(weight)),
    };
    for (place, name) in ["source.1", "source.2"].into_iter().enumerate() {
        let process = &node.processes[place];
        assert_eq!((process.name.as_str(), process.node), (name, 1));
        assert_eq!(process.declared, declared(2, 5, 8, 25, 3));
        assert_eq!((process.deadline, process.starts, process.movable), (Some(millis(40)), millis(3), false));
        let work = Law::Uniform(millis(1), millis(2));
        assert_eq!(process.program.operations, generator(5, work, 0));
    }
    let sink = &node.processes[2];
    assert_eq!((sink.name.as_str(), sink.node), ("sink", 0));
    assert_eq!(sink.declared, declared(0, 6, 9, 20, 4));
    assert_eq!((sink.deadline, sink.starts, sink.movable), (Some(millis(41)), millis(4), true));
    let work = Law::Constant(Nanos::new(152_000));
    assert_eq!(sink.program.operations, generator(7, work, 1));
}

/// A process of the system: name, node, priority, need, first readiness, what it computes.
fn of_the_system(process: &Process) -> (&str, usize, u8, u64, u64, Vec<Operation>) {
    assert!(process.system && !process.movable && process.deadline.is_none());
    let Process { name, node, declared, starts, program, .. } = process;
    (name, *node, declared.priority, declared.need.get(), starts.get(), program.operations.clone())
}

fn once_every(run: u64, every: Nanos, offset: u64) -> Vec<Operation> {
    vec![
        Operation::Loop { times: None, after: 4 },
        Operation::Compute(Law::Constant(Nanos::new(run)).into()),
        Operation::SleepUntil { every, offset: Nanos::new(offset) },
        Operation::End(0),
    ]
}

#[test]
fn every_node_has_the_processes_of_the_system_behind_all_others() {
    let two = TEXTS.model(RICH);
    let system: Vec<_> = two.processes[3..].iter().map(of_the_system).collect();
    let half = millis(25).get();
    let scheduler = || once_every(300_000, millis(50), 0);
    let demon = || once_every(2_000_000, millis(50), half);
    let expected = [
        ("epoch_scheduler@left", 0, 3, 1_000_000, 0, scheduler()),
        ("remote_demon@left", 0, 2, 2_000_000, half, demon()),
        ("epoch_scheduler@right", 1, 3, 1_000_000, 0, scheduler()),
        ("remote_demon@right", 1, 2, 2_000_000, half, demon()),
    ];
    assert_eq!(system, expected);
    let one = TEXTS.model("...\nnode = { costs = \"chrysalis\", system = \"chrysalis\" }\n{process}");
    assert_eq!((one.costs, one.uncharged), (Costs::chrysalis(), Nanos::new(800_000)));
    let system: Vec<_> = one.processes[1..].iter().map(of_the_system).collect();
    let half = millis(50).get();
    let expected = [
        ("epoch_scheduler", 0, 3, 1_000_000, 0, once_every(300_000, millis(100), 0)),
        ("remote_demon", 0, 2, 3_000_000, half, once_every(2_560_000, millis(100), half)),
    ];
    assert_eq!(system, expected);
    let free = TEXTS.model("...\nnode = { costs = \"none\", system = \"none\" }\n{process}");
    assert_eq!(free.processes.len(), 1);
}

#[test]
fn more_than_there_is_may_be_promised_where_the_discipline_warns() {
    let two = "{process}\nneed = \"100ms\"\n[[process]]\nname = \"b\"\nneed = \"100ms\"\nprogram = \"exit\"";
    assert_eq!(TEXTS.model(&format!("...\n{two}")).processes.len(), 2);
}

#[test]
fn the_largest_needs_of_the_most_processes_are_declared_to_every_discipline() {
    let names: Vec<String> = TASK.iter().map(|info| format!("\"{}\"", info.name)).collect();
    let node = TEXTS.model(&format!(
        "weir = 1\nmodel = \"node\"\ndisciplines = [{}]\nnode = {{ epoch = \"86400s\", system = \"chrysalis\" }}\n\
         stop = {{ warm_up = \"0s\", duration = \"1000000s\" }}\n{{process}}\ncount = 65534\nneed = \"86400s\"",
        names.join(", ")
    ));
    assert_eq!((node.processes.len(), node.disciplines.len()), (65_536, TASK.len()));
}

#[test]
fn a_program_has_its_place_in_strings_of_every_kind() {
    for (string, place) in [
        ("\"exit; ö; x\"", "6:18"),
        ("'exit; ö; x'", "6:18"),
        ("\"\"\"\n  exit\n ö\"\"\"", "8:2"),
        ("'''exit\n ö'''", "7:2"),
        // After an escape only the beginning of the text is reported.
        ("\"\"\"\nexit\\u000A\n ö\"\"\"", "6:11"),
    ] {
        let text = format!("...\n\n[[process]]\nprogram = {string}\nname = \"a\"");
        let error = TEXTS.read(&text).expect_err(string);
        let expected = format!("s.toml:{place}: process.program ö is not a statement: ");
        assert!(error.starts_with(&expected), "{error}");
    }
    let windows = TEXTS.filled("...\n[[process]]\nname = \"a\"\nprogram = \"\"\"\nexit\nö\n\"\"\"\n");
    let error = TEXTS.read(&windows.replace('\n', "\r\n")).expect_err("refused");
    assert!(error.starts_with("s.toml:8:1: process.program ö is not a statement: "), "{error}");
}

/// With a file of runs.
fn read(folder: &Folder, text: &str, runs: &str) -> Result<Scenario<NodeScenario>, String> {
    folder.write("runs.csv", runs);
    TEXTS.read_in(folder.path(), text)
}

#[test]
fn runs_come_from_a_file_that_is_part_of_the_fingerprint() {
    let folder = Folder::new("runs");
    let text = "...\n[[template]]\nname = \"t\"\nreplay = \"runs.csv\"\n[[process]]\nname = \"a\"\ntemplate = \"t\"\ncount = 2";
    let first = read(&folder, text, "wake_ms,run_us\n0,552.2\n1.5,10\n").expect("valid");
    let processes = &first.model.processes;
    let runs = |process: &Process| match process.program.operations.as_slice() {
        [Operation::Replay(runs)] => Arc::clone(runs),
        other => panic!("{other:?}"),
    };
    let run = |wake, run| Run { wake: Nanos::new(wake), run: Nanos::new(run) };
    assert_eq!(*runs(&processes[0]), [run(0, 552_200), run(1_500_000, 10_000)]);
    assert!(Arc::ptr_eq(&runs(&processes[0]), &runs(&processes[1])), "a file is read once");
    let second = read(&folder, text, "wake_ms,run_us\n0,552.2\n1.5,11\n").expect("valid");
    assert_eq!(first.frame.scenario, second.frame.scenario);
    assert_ne!(first.frame.fingerprint, second.frame.fingerprint);
    let error = read(&folder, text, "wake_ms,run_us\n2,1\n1,1\n").expect_err("refused");
    assert!(error.contains("runs.csv:3:1: wake_ms 1 is before the wake-up of the row above"), "{error}");
    let error = read(&folder, text, "wake,run\n1000001,1\n").expect_err("refused");
    assert!(error.contains("runs.csv:2:1: wake is 1000001, must be at most 1000000s"), "{error}");
    let set = format!("{text}\nset = {{ to = \"a\" }}");
    let error = read(&folder, &set, "wake,run\n0,1\n").expect_err("refused");
    assert!(error.contains("process.set.to is \"a\", has no effect"), "{error}");
}

#[test]
fn the_schema_knows_the_keys() {
    TEXTS.assert_keys(&["switch_delay", "epoch_scheduler", "chrysalis", "replay", "timeline"]);
}

#[test]
fn the_document_has_the_bounds_of_the_code() {
    use super::does;
    use super::program::{parse, resolve};
    use super::{
        EPOCHS, LONGEST, LONGEST_COST, LONGEST_RUN, OFTENEST, measure, nodes, objects, processes, replay,
    };
    let seconds = |span: Nanos| format!("{} s", grouped(span.get() / 1_000_000_000));
    let count = |number: usize| grouped(number as u64);
    let most = grouped(super::MAX_PROCESSES.into());
    let longest_mean = weir_lab::stream::LONGEST_MEAN / 1e9;
    let bounds = [
        ("`node.epoch`", format!("| {} us to {} |", EPOCHS.0.get() / 1_000, seconds(EPOCHS.1))),
        ("`node.names`", format!("| 1 to {},", nodes::MAX_NODES)),
        ("`node.costs`", format!("at most {} s", LONGEST_COST.get() / 1_000_000_000)),
        ("`queue`", count(objects::MAX_QUEUES)),
        ("`event`", count(objects::MAX_EVENTS)),
        ("`process`", format!("| 1 to {most},")),
        ("`process.priority`", format!("| 0 to {} |", weir_core::task::TOP_PRIORITY)),
        ("`process.need`", format!("at most {} |", seconds(EPOCHS.1))),
        ("`process.slice`", format!("at most {};", seconds(LONGEST))),
        ("`process.weight`", format!("| 1 to {} |", grouped(processes::MAX_WEIGHT))),
        ("`process.program`", format!("| {};", count(parse::MAX_STEPS))),
        ("`process.program`", format!("loops {} deep", parse::MAX_DEPTH)),
        ("`process.program`", format!("up to {} times", grouped(resolve::MAX_TIMES))),
        ("`process.program`", format!("{} of all processes", count(does::MAX_OPERATIONS))),
        ("`process.program` spans", format!("at most {};", seconds(LONGEST))),
        ("`process.program` spans", format!("at most {} s |", grouped(longest_mean as u64))),
        (
            "`process.replay`",
            format!("{} of up to {} files", count(replay::MAX_RUNS), count(replay::MAX_FILES)),
        ),
        ("`balance.every`", format!("{} us to {};", OFTENEST.get() / 1_000, seconds(LONGEST_RUN))),
        (
            "`stop.warm_up`",
            format!("at most {} and {} epochs", seconds(LONGEST_RUN), grouped(measure::MAX_EPOCHS)),
        ),
        ("`measure.sample`", format!("{} ms to", measure::SHORTEST_SAMPLE.get() / 1_000_000)),
        ("`measure.sample`", format!("at most {} samples", grouped(measure::MAX_SAMPLES))),
    ];
    assert_bounds(include_str!("../../../../docs/scenario.md"), bounds);
}
