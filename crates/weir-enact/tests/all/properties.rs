//! Properties of the epoch scheduler on live runs, as far as the machine lets them be seen.
//!
//! The system takes the processor away now and then, and what it takes counts as a task's. How much that is in an epoch is
//! measured before: a loop that only looks at the clock finds the time in which it did not run. Where that is more than a
//! tenth of an epoch, nothing can be concluded, and the test says so; nor where the system takes more than a fiftieth of
//! the run itself, or wakes a thread late in it: the executor's own watch then asks tasks to give way as late.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use weir_core::units::Nanos;
use weir_enact::{Live, enact};
use weir_exec::WorkerCounts;
use weir_node::generators::{Writer, process, scenario};
use weir_node::model::NodeScenario;
use weir_recording::{Event, Facts, read};

const EPOCH: u64 = 50_000_000;
const EPOCHS: u64 = 24;

fn ms(count: u64) -> Nanos {
    Nanos::new(count * 1_000_000)
}

/// The most that the system takes from a loop within an epoch, of twenty.
fn noise() -> u64 {
    let mut worst = 0;
    for _ in 0..20 {
        let (began, mut before, mut taken) = (Instant::now(), Instant::now(), 0);
        while began.elapsed().as_nanos() < u128::from(EPOCH) {
            let gap = before.elapsed();
            before = Instant::now();
            // A look takes some tens of nanoseconds.
            taken += if gap > Duration::from_micros(5) { gap.as_nanos() as u64 } else { 0 };
        }
        worst = worst.max(taken);
    }
    worst
}

/// The tolerance of an epoch in nanoseconds; `None`, with the reason printed: nothing can be concluded here.
fn tolerance() -> Option<u64> {
    let noise = noise();
    if noise > EPOCH / 10 {
        println!("SKIPPED: the system takes {:.1} ms of an epoch of 50 ms here", noise as f64 / 1e6);
        return None;
    }
    // What it takes twice as long as in the worst of twenty epochs, and a poll.
    Some(2 * noise + 300_000)
}

/// Tasks that compute for ever, each with a need, a slice and a priority.
fn greedy(terms: &[(u64, u64, u8)]) -> NodeScenario {
    let mut node = scenario(&["epoch(50ms)"]).unwrap();
    node.epoch = Nanos::new(EPOCH);
    for (number, &(need, slice, priority)) in terms.iter().enumerate() {
        let program = Writer::new().begin(None).compute(ms(5)).done();
        let mut one = process(&format!("task {number}"), ms(need), Some(ms(slice)), program);
        one.declared.priority = priority;
        node.processes.push(one);
    }
    node
}

/// One run at a time: they would take the processor from each other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Recorded {
    facts: Facts,
    events: Vec<Event>,
    counts: Vec<WorkerCounts>,
    /// The time in which the program did not have a processor though a task was ready.
    taken: Duration,
    /// How late the system woke another thread at most.
    woke_late: Duration,
}

impl Recorded {
    /// Whether a test can judge with this tolerance in nanoseconds; if not, the reason is printed.
    fn can_be_judged(&self, tolerance: u64) -> bool {
        let most = Duration::from_nanos(EPOCH * EPOCHS / 50);
        if self.taken > most {
            println!("SKIPPED: the system took {:.1?} of the run, must be at most {most:.1?}", self.taken);
            return false;
        }
        let latest = Duration::from_nanos(tolerance / 2);
        if self.woke_late > latest {
            println!("SKIPPED: a thread was woken {:.1?} late, must be at most {latest:.1?}", self.woke_late);
            return false;
        }
        true
    }
}

/// Runs `f`, and finds how late a thread that sleeps for a millisecond at a time is woken at most meanwhile.
fn with_sleeper<T>(f: impl FnOnce() -> T) -> (T, Duration) {
    const NAP: Duration = Duration::from_millis(1);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let mut worst = Duration::ZERO;
            while !is_over.load(Relaxed) {
                let began = Instant::now();
                thread::sleep(NAP);
                worst = worst.max(began.elapsed().saturating_sub(NAP));
            }
            worst
        });
        let found = f();
        is_over.store(true, Relaxed);
        (found, sleeper.join().expect("it does not panic"))
    })
}

/// The processor time of this program so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

fn run(node: &NodeScenario, name: &str) -> Recorded {
    let record = std::env::temp_dir().join(format!("weir-enact-{}-{name}", std::process::id()));
    let span = Duration::from_nanos(EPOCH * EPOCHS);
    let live = Live { discipline: 0, span, record, pinned: false, real_time: None };
    let before = processor_time();
    let (enacted, woke_late) = with_sleeper(|| enact(node, &live, |_| {}, &|| false));
    let counts = enacted.unwrap().counts;
    let used = processor_time().saturating_sub(before);
    let taken = counts[0].elapsed.saturating_sub(used).saturating_sub(counts[0].idle);
    let mut events = Vec::new();
    let source = std::io::BufReader::new(std::fs::File::open(&live.record).unwrap());
    let facts = read(source, &mut |_, event, _| events.push(event)).unwrap();
    std::fs::remove_file(&live.record).unwrap();
    assert_eq!(facts.lost, 0);
    Recorded { facts, events, counts, taken, woke_late }
}

/// How long a task ran in each whole epoch of the run.
fn by_epoch(recorded: &Recorded, task: u32) -> Vec<u64> {
    let mut ran = vec![0; EPOCHS as usize];
    for event in &recorded.events {
        if let Event::Poll { task: of, from, until, .. } = *event
            && of == task
        {
            for epoch in from / EPOCH..=until / EPOCH {
                let (begin, end) = (epoch * EPOCH, (epoch + 1) * EPOCH);
                if let Some(ran) = ran.get_mut(epoch as usize) {
                    *ran += until.min(end).saturating_sub(from.max(begin));
                }
            }
        }
    }
    // The first epoch began before all tasks were there.
    ran[1..EPOCHS as usize - 1].to_vec()
}

#[test]
fn p2_who_is_ready_throughout_gets_his_need_in_every_epoch() {
    let _alone = alone();
    let Some(tolerance) = tolerance() else { return };
    let terms = [(10, 1, 1), (15, 3, 0), (0, 2, 3), (5, 5, 2), (0, 1, 1)];
    let recorded = run(&greedy(&terms), "p2");
    if !recorded.can_be_judged(tolerance) {
        return;
    }
    for (task, (need, ..)) in (0..).zip(terms) {
        let ran = by_epoch(&recorded, task);
        let short = ran.iter().filter(|&&ran| ran + tolerance < need * 1_000_000).count();
        assert_eq!(short, 0, "task {task} needs {need} ms, tolerance {tolerance} ns: {ran:?}");
    }
}

#[test]
fn p4_run_time_and_idle_time_are_all_the_time() {
    let _alone = alone();
    let mut node = greedy(&[(10, 1, 1), (0, 2, 1)]);
    for one in &mut node.processes {
        one.program = Writer::new().begin(None).compute(ms(3)).sleep(ms(4)).done();
    }
    let recorded = run(&node, "p4");
    let counts = &recorded.counts[0];
    let ran: Duration = counts.tasks.iter().map(|task| task.run).sum();
    let all = ran + counts.idle;
    // Whatever the worker itself does is a task's; only the look at the counts lies between.
    let gap = all.abs_diff(counts.elapsed);
    assert!(gap < Duration::from_millis(5), "ran {ran:?}, idle {:?}, of {:?}", counts.idle, counts.elapsed);
}

#[test]
fn p5_nobody_runs_at_a_low_level_while_another_is_ready_at_a_higher_one() {
    let _alone = alone();
    let recorded = run(&greedy(&[(10, 1, 1), (15, 2, 1), (0, 1, 1)]), "p5");
    let mut low_before_turn = vec![false; (EPOCHS + 1) as usize];
    let mut wrong = 0;
    for event in &recorded.events {
        if let Event::Poll { level: Some(level), from, until, .. } = *event {
            let epoch = (from / EPOCH) as usize;
            // A poll across the turn began under the epoch before.
            if from / EPOCH != until / EPOCH || epoch == 0 {
                continue;
            }
            if let Some(low) = low_before_turn.get_mut(epoch) {
                wrong += u32::from(level >= 0 && *low);
                *low |= level < 0;
            }
        }
    }
    // All are ready throughout: once one runs on a low level in an epoch, nobody is left on a normal one.
    assert_eq!(wrong, 0, "{} events, {} tasks", recorded.events.len(), recorded.facts.tasks.len());
}

#[test]
fn p9_where_all_is_promised_each_gets_exactly_that() {
    let _alone = alone();
    let Some(tolerance) = tolerance() else { return };
    // The needs of the source, 15, 25 and 60 of 100, in every order of slices and priorities.
    for (case, order) in [[1, 2, 3], [3, 1, 2]].into_iter().enumerate() {
        let [one, two, three] = order;
        let terms = [(7, one, 0), (13, two, 1), (30, three, 2)];
        let recorded = run(&greedy(&terms), &format!("p9-{case}"));
        if !recorded.can_be_judged(tolerance) {
            continue;
        }
        for (task, (need, ..)) in (0..).zip(terms) {
            let ran = by_epoch(&recorded, task);
            let off = ran.iter().filter(|ran| ran.abs_diff(need * 1_000_000) > tolerance).count();
            assert_eq!(off, 0, "task {task} needs {need} ms, tolerance {tolerance} ns: {ran:?}");
        }
    }
}
