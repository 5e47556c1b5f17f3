//! The promise over a long time: a control task that needs 20 ms in each 100 ms, a handler of 1,000 events a second, and
//! other tasks, under weir-exec alone, whose thread goes before all others of the machine (SCHED_FIFO).
//!
//! By default four greedy and four bursty tasks use the whole processor, of which the kernel then keeps 50 ms of each second
//! for ordinary threads. With `--light` there is one bursty task, which leaves two fifths of the processor to others.

use std::sync::Arc;
use std::time::Duration;

use weir_exec::{Executor, WorkerCounts};

use crate::control::{Background, Control};
use crate::figures::short;
use crate::peers::weirs;

const DISCIPLINE: &str = "epoch(min_slice=500us)";
const PRIORITY: u8 = 1;

/// Runs so many seconds, and prints what came of it.
///
/// # Errors
/// The system does not permit SCHED_FIFO, or has no processor.
pub fn run(seconds: u64, light: bool) -> Result<(), String> {
    let (background, of) = match light {
        true => (Background { greedy: 0, bursty: 1 }, "one bursty task"),
        false => (Background::FULL, "four greedy and four bursty tasks"),
    };
    let scene = Control::new(seconds * 10, background);
    let builder = Executor::builder().discipline(DISCIPLINE).real_time(PRIORITY).reports(|_| {});
    let executor = builder.build().map_err(|error| error.to_string())?;
    println!("\n## The promise for {seconds} s, {DISCIPLINE} under SCHED_FIFO {PRIORITY}, next to {of}\n");
    let events = scene.generate();
    weirs::perform(&executor, &Arc::clone(&scene), false);
    let counts = executor.handle().counts(Duration::from_secs(5));
    executor.shutdown(Duration::from_secs(1));
    events.join().map_err(|_| "the thread that posts events panicked".to_owned())?;
    println!("- periods met: {} of {}", scene.met(), seconds * 10);
    for (name, value) in scene.figures().into_iter().skip(2) {
        println!("- {name}: {}", short(value));
    }
    counts.iter().for_each(tell);
    Ok(())
}

fn tell(counts: &WorkerCounts) {
    let WorkerCounts { polls, longest_poll, longest_poll_of, idle, elapsed, .. } = counts;
    println!("- polls: {polls}; the longest took {longest_poll:.1?}, of `{longest_poll_of}`");
    println!("- nobody ran for {:.1} % of the time", 100.0 * idle.as_secs_f64() / elapsed.as_secs_f64());
}
