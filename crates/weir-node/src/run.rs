//! Runs a scenario of the node: from the checked model to the result. A cell is a discipline.

use crate::job::{self, Ended, Job};
use crate::model::NodeScenario;
use crate::outcome::NodeOutcome;
use crate::record::Sink;
use crate::recorder::Recorder;
use crate::responses::{self, Responses};
use crate::summary::{Cell, Summed};
use crate::{report, sampler};
use weir_core::units::Nanos;
use weir_lab::control::{Control, Watch};
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::recorded::{self, Heading, Recorded, Table};
use weir_lab::replicated::Simulated;
use weir_lab::runner::{self, Model};

/// The most time that all nodes have together in all replications: some 292 years. No total of times overflows then.
const MOST_TIME: u64 = 1 << 63;

/// Runs a scenario. Progress counts simulated nanoseconds over all jobs.
///
/// # Errors
/// [`RunError`]: a discipline refuses its arguments, a need or a slice; the programs come to a deadlock, or to no end
/// without using time; more is asked for than what is simulated; or a verification fails.
pub fn run(node: &NodeScenario, frame: &Frame, control: &mut Control<'_>) -> Result<NodeOutcome, RunError> {
    recorded::simulate(node, frame, control)
}

impl Simulated for NodeScenario {
    type Outcome = NodeOutcome;
    type Model<'m> = &'m Self;

    fn model(&self) -> Result<&Self, RunError> {
        sampler::check(self)?;
        check_length(self)?;
        Ok(self)
    }

    fn outcome(&self, frame: &Frame, _: &&Self, cells: Vec<Cell>) -> NodeOutcome {
        report::outcome(self, frame, cells)
    }
}

/// Refuses more time, of all nodes in all replications, than totals can count.
fn check_length(node: &NodeScenario) -> Result<(), RunError> {
    let (duration, replications) = (node.stop.duration, node.stop.replications);
    let one = u128::from(duration.get()) * node.nodes.len() as u128;
    if one * u128::from(replications) <= u128::from(MOST_TIME) {
        return Ok(());
    }
    let reason = format!(
        "{replications} replications of {duration} on {} nodes are together more than {}, the most that is counted: make \
         it {} or fewer replications",
        node.nodes.len(),
        Nanos::new(MOST_TIME),
        u128::from(MOST_TIME) / one.max(1),
    );
    Err(RunError::Refused { place: "stop.replications".to_owned(), reason })
}

impl Model for NodeScenario {
    type Cell = Cell;

    fn replications(&self) -> u32 {
        self.stop.replications
    }

    fn duration(&self) -> Nanos {
        self.stop.duration
    }

    fn cells(&self) -> Vec<Cell> {
        self.disciplines.iter().map(|_| Cell::default()).collect()
    }

    fn play(&self, job: runner::Job, watch: &Watch<'_>) -> Result<Option<Summed>, RunError> {
        play_with(self, job, None, watch)
    }
}

impl Recorded for NodeScenario {
    fn headings(&self) -> Vec<Heading<'_>> {
        responses::headings(self)
    }

    fn discipline(&self, cell: usize) -> &str {
        self.disciplines.get(cell).map_or("", String::as_str)
    }

    fn play_recorded(
        &self,
        job: runner::Job,
        table: &mut Table<'_, '_>,
        watch: &Watch<'_>,
    ) -> Result<Option<Summed>, RunError> {
        play_with(self, job, Some(&mut Responses::new(self, table)), watch)
    }
}

/// Plays a job; another sink gets every report too.
fn play_with(
    node: &NodeScenario,
    job: runner::Job,
    other: Option<&mut dyn Sink>,
    watch: &Watch<'_>,
) -> Result<Option<Summed>, RunError> {
    let job = Job { replication: job.replication, discipline: job.cell };
    let mut recorder = Recorder::with(node, job, other);
    match job::play(node, job, &mut recorder, watch)? {
        Ended::Finished(left) => {
            Ok(Some(Summed::new(node, &node.disciplines[job.discipline], recorder, *left)))
        }
        Ended::Interrupted => Ok(None),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::num::NonZeroUsize;
    use std::sync::atomic::AtomicBool;
    use weir_lab::control::Progress;

    use std::sync::Arc;
    use weir_core::registry;

    use super::*;
    use crate::generators::{self, SIMPLE_SINK, Writer, add_queue, add_system, process};
    use crate::model::Operation;
    use weir_lab::stats::figure::Figure;
    use weir_lab::stats::overhead::{Known, Setting, estimate_overhead};
    use weir_workload::ContinuousLaw;
    use weir_workload::duration::{AnyLaw, Law};

    const SPECS: [&str; 3] = ["epoch:length=100ms", "eevdf", "priority_rr"];

    fn ms(count: u64) -> Nanos {
        Nanos::new(count * 1_000_000)
    }

    /// A generator and its sink, one that computes and sleeps at random, and the system's processes.
    pub(crate) fn scenario(specs: &[&str], replications: u32) -> NodeScenario {
        let mut node = generators::scenario(specs).expect("specs");
        let queue = add_queue(&mut node, "messages", 0);
        let generator = Writer::new()
            .begin(None)
            .then(Operation::Compute(Law::Exponential(Nanos::new(500_000)).into()))
            .enqueue(queue)
            .then(Operation::Sleep(Law::Uniform(ms(0), ms(1)).into()))
            .done();
        node.processes.push(process("generator", ms(40), Some(ms(5)), generator));
        let sink = generators::message_sink(queue, SIMPLE_SINK);
        node.processes.push(process("sink", ms(20), None, sink));
        node.processes[1].deadline = Some(ms(2));
        let batch = process("batch", ms(0), None, generators::lone_generator());
        node.processes.push(batch);
        add_system(&mut node);
        node.stop.replications = replications;
        node.measure.tails = true;
        node
    }

    pub(crate) fn played(
        node: &NodeScenario,
        threads: usize,
        is_cancelled: bool,
    ) -> Result<NodeOutcome, RunError> {
        let cancel = AtomicBool::new(is_cancelled);
        let mut last = None;
        let mut told = |progress: Progress| last = Some(progress);
        let threads = NonZeroUsize::new(threads).expect("threads");
        let mut control = Control { threads, cancel: &cancel, progress: &mut told, records: None };
        let outcome = run(node, &Frame::default(), &mut control)?;
        let last = last.expect("progress");
        assert!(is_cancelled || last.done == last.total, "{last:?}");
        Ok(outcome)
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bytes() {
        let mut node = scenario(&SPECS, 4);
        node.measure.sample = Some(ms(250));
        node.measure.timeline = Some((ms(1_000), ms(1_100)));
        let text =
            |threads| serde_json::to_string(&played(&node, threads, false).expect("a result")).expect("json");
        let one = text(1);
        assert!(one == text(2) && one == text(8));
    }

    /// The share of time that a process alone works, by the renewal-reward theorem: the mean of its work over the mean of a cycle.
    #[test]
    fn a_process_alone_has_the_share_of_its_laws() {
        let law = |law: Result<ContinuousLaw, _>| AnyLaw::Textbook(Arc::new(law.expect("a law")));
        let mut node = generators::scenario(&["eevdf"]).expect("specs");
        let program = Writer::new()
            .begin(None)
            .then(Operation::Compute(law(ContinuousLaw::lognormal(2e6, 1.0))))
            .then(Operation::Sleep(law(ContinuousLaw::erlang(3, 3e6))))
            .done();
        node.processes.push(process("alone", ms(0), None, program));
        node.stop.replications = 20;
        let outcome = played(&node, 1, false).expect("a result");
        let is_share = |row: &&Figure| row.subject.name == "alone" && row.metric == "share";
        let share = outcome.estimates.iter().find(is_share).expect("a share");
        let (value, error) = (share.value.expect("a value"), share.standard_error.expect("an interval"));
        // 2.861: the 99 % point of Student's t of 19 degrees of freedom.
        assert!((value - 0.4).abs() < 2.861 * error && error < 0.01, "{share:?}");
    }

    #[test]
    fn the_books_agree_under_every_discipline() {
        let specs: Vec<String> = registry::TASK.iter().map(|info| info.example.to_owned()).collect();
        let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
        let outcome = played(&scenario(&specs, 2), 2, false).expect("a result");
        let wrong: Vec<_> = outcome.checks.iter().filter(|check| check.ok == Some(false)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        for wanted in ["conservation", "kinds of time", "data", "Little's law"] {
            assert!(outcome.checks.iter().any(|check| check.check == wanted), "{wanted}");
        }
        let told = outcome.estimates.iter().filter(|figure| figure.value.is_some());
        let holds = |figure: &Figure| match (figure.low, figure.high) {
            (Some(low), Some(high)) => figure.value.is_some_and(|value| low <= value && value <= high),
            _ => figure.reason.is_some(),
        };
        assert!(told.clone().all(holds));
        assert!(told.count() > 100);
    }

    #[test]
    fn what_is_cancelled_at_once_has_no_replication() {
        let outcome = played(&scenario(&SPECS, 2), 2, true).expect("a result");
        assert_eq!((outcome.course.interrupted, outcome.provenance.replications), (true, 0));
    }

    #[test]
    fn more_time_than_can_be_counted_is_refused() {
        let mut node = scenario(&["priority_rr"], 20_000);
        node.stop.duration = Nanos::new(1_000_000_000_000_000);
        let refused = played(&node, 1, true).expect_err("too much").to_string();
        assert!(
            refused.contains("stop.replications") && refused.contains("make it 9223 or fewer"),
            "{refused}"
        );
        node.stop.replications = 9_223;
        assert!(played(&node, 1, true).is_ok());
    }

    #[test]
    fn a_wrong_spec_is_refused() {
        let node = scenario(&["epoch:least=0ms"], 1);
        assert!(played(&node, 1, false).is_err());
    }

    /// The generator alone, in slices of this length, as one setting.
    fn restarted(slice: Nanos) -> Setting {
        let mut node = generators::scenario(&["epoch:length=100ms"]).expect("a spec");
        let queue = add_queue(&mut node, "messages", 0);
        let generator = generators::message_generator(queue);
        node.processes.push(process("generator", ms(100), Some(slice), generator));
        add_system(&mut node);
        node.stop.duration = ms(6_000);
        let outcome = played(&node, 1, false).expect("a result");
        let value = |metric| {
            let figure =
                outcome.estimates.iter().find(|row| row.subject.name == "generator" && row.metric == metric);
            Known::exactly(figure.and_then(|row| row.value).expect("a value"))
        };
        Setting {
            run_time: value("share"),
            messages: value("enqueue_rate"),
            schedulings: value("schedulings"),
        }
    }

    #[test]
    fn the_costs_of_a_restart_are_measured_as_the_report_did() {
        let settings = [96, 20, 5, 1].map(|slice| restarted(ms(slice)));
        let found = estimate_overhead(&settings, None).expect("an estimate");
        // 100 us of the timer and 29 us of the restart; the generator's 552.2 us a message.
        assert!((found.overhead.value - 129e-6).abs() < 1e-6, "{found:?}");
        assert!((found.message_time.value / 552.2e-6 - 1.0).abs() < 0.002, "{found:?}");
    }
}
