//! Reports made by hand, and what becomes of them: the collector, the sampler, the timeline, figures and checks.

mod collected;
mod figures;
mod series;

use crate::job::{self, Job};
use crate::model::{Costs, DualQueue, Measure, NodeScenario, Operation, Process, Program, Stop};
use crate::outcome::NodeOutcome;
use crate::record::{Path, Sink};
use crate::recorder::Recorder;
use crate::report;
use crate::summary::Summed;
use weir_core::task::{Declared, Used};
use weir_core::units::{Instant, Nanos};
use weir_lab::gathered::Gathered;
use weir_lab::provenance::Frame;
use weir_lab::runner::Model;
use weir_lab::stats::figure::Figure;
use weir_lab::stats::testing::Noise;
use weir_workload::duration::Law;

fn nanos(count: u64) -> Nanos {
    Nanos::new(count)
}

fn at(count: u64) -> Instant {
    Instant::new(count)
}

fn process(name: &str, need: u64, deadline: Option<u64>, system: bool) -> Process {
    Process {
        name: name.to_owned(),
        node: 0,
        declared: Declared { need: nanos(need), ..Declared::default() },
        deadline: deadline.map(nanos),
        system,
        movable: true,
        starts: nanos(0),
        program: Program { operations: vec![Operation::Compute(Law::Constant(nanos(1)).into())] },
    }
}

/// Processes `a`, with a deadline, and `b`, and one of the system's; measured from 100 ns to 400 ns in epochs of 100
/// ns.
fn scenario(disciplines: &[&str], replications: u32) -> NodeScenario {
    NodeScenario {
        title: "by hand".to_owned(),
        seed: 1,
        disciplines: disciplines.iter().map(|&name| name.to_owned()).collect(),
        specs: Vec::new(),
        reference: 0,
        epoch: nanos(100),
        nodes: vec!["n".to_owned()],
        costs: Costs::default(),
        uncharged: nanos(0),
        switch_delay: nanos(0),
        queues: vec![DualQueue { name: "q".to_owned(), node: 0 }],
        events: Vec::new(),
        processes: vec![
            process("a", 50, Some(30), false),
            process("b", 0, None, false),
            process("s", 10, None, true),
        ],
        balance: None,
        stop: Stop { warm_up: nanos(100), duration: nanos(400), replications },
        measure: Measure { tails: true, verify: false, over_time: None, sample: None, timeline: None },
    }
}

fn with_chance(mut node: NodeScenario) -> NodeScenario {
    node.processes[0].program.operations = vec![Operation::Compute(Law::Exponential(nanos(1)).into())];
    node
}

/// What a job leaves besides.
fn left(node: &NodeScenario, used: Option<[Used; 2]>) -> job::Left {
    job::Left { used: vec![used; node.processes.len()], ..job::Left::default() }
}

/// The result of telling every job its own.
fn outcome(node: &NodeScenario, tell: impl Fn(Job, &mut Recorder<'_>) -> Option<[Used; 2]>) -> NodeOutcome {
    let mut gathered = Gathered::new(node.stop.replications, node.cells());
    for replication in 0..node.stop.replications {
        for discipline in 0..node.disciplines.len() {
            let job = Job { replication, discipline };
            let mut recorder = Recorder::new(node, job);
            let used = tell(job, &mut recorder);
            let summed = Summed::new(node, &node.disciplines[discipline], recorder, left(node, used));
            gathered.add(job.replication, job.discipline, summed);
        }
    }
    report::outcome(node, &Frame::default(), gathered.into_cells())
}

fn figure<'o>(outcome: &'o NodeOutcome, name: &str, metric: &str, statistic: &str) -> &'o Figure {
    let wanted = |figure: &&Figure| {
        (&*figure.subject.name, figure.metric, figure.statistic) == (name, metric, statistic)
    };
    outcome.estimates.iter().find(wanted).expect("a figure")
}

/// Four epochs: `a` runs 60, 40, 50 and 30 ns in them, the rest is `b`'s, 10 of the system's, and idle in the last.
fn four_epochs(sink: &mut dyn Sink) {
    sink.woke(0, at(0));
    for (epoch, run) in [60, 40, 50, 30].into_iter().enumerate() {
        let begins = 100 * epoch as u64;
        sink.dispatched(0, 2, at(begins), None);
        sink.ran(0, 2, Some(3), at(begins), at(begins + 10));
        sink.dispatched(0, 0, at(begins + 10), None);
        sink.ran(0, 0, Some(1), at(begins + 10), at(begins + 10 + run));
        match epoch {
            3 => sink.nobody(0, false, at(begins + 10 + run), at(begins + 100)),
            _ => sink.ran(0, 1, Some(-3), at(begins + 10 + run), at(begins + 100)),
        }
        sink.path(0, at(begins), Path::Swap);
        sink.epoch(at(begins + 100), &|process| process == 0 && epoch < 3);
    }
}

/// Responses of 20, 30 and 40 ns, the first of which begins before the measured time; waits of 5 and 0.
fn responses(sink: &mut dyn Sink) {
    for (woke, started, waits) in [(50, 60, 80), (95, 100, 115), (200, 200, 230), (390, 391, 399)] {
        sink.woke(0, at(woke));
        sink.dispatched(0, 0, at(started), Some(at(woke)));
        sink.waits(0, at(waits), at(woke));
    }
    sink.woke(0, at(399));
    sink.waits(0, at(400), at(399));
    sink.woke(0, at(300));
    sink.waits(0, at(340), at(300));
}

/// Data put in at 50, 120, 150 and 200, taken out at 160, 180 and 260.
fn data(sink: &mut dyn Sink) {
    sink.enqueued(0, 0, at(50), 1);
    sink.enqueued(0, 0, at(120), 2);
    sink.enqueued(0, 0, at(150), 3);
    sink.dequeued(0, 1, at(160), 2, nanos(110));
    sink.dequeued(0, 1, at(180), 1, nanos(60));
    sink.enqueued(0, 0, at(200), 2);
    sink.dequeued(0, 1, at(260), 1, nanos(110));
}

fn check<'o>(outcome: &'o NodeOutcome, name: &str) -> &'o weir_lab::result::Check {
    outcome.checks.iter().find(|check| check.check == name).expect("a check")
}

/// `a` runs a random time in each epoch, which differs from job to job by what the discipline adds.
fn noisy(job: Job, sink: &mut dyn Sink) {
    let mut random = Noise::new(u64::from(job.replication) + 1);
    for epoch in 0..4 {
        let run = 20 + random.bits() % 40 + 5 * job.discipline as u64;
        sink.ran(0, 0, None, at(100 * epoch), at(100 * epoch + run));
        sink.nobody(0, false, at(100 * epoch + run), at(100 * epoch + 100));
        sink.epoch(at(100 * epoch + 100), &|_| true);
    }
}
