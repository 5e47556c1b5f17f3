//! Whoever computes for long is asked to give way when something is due, soon or late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_exec::{Event, Executor, Terms, preemption_point, sleep, spawn_local};

const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a task next to one of a lower level whose slice is never over, and which gives way only when it is asked.
fn beside_a_greedy_one<F>(turn: Duration, task: F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let executor = Executor::builder().discipline("priority_rr(3600s)").pinned(false).build().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&over);
    let greedy = executor.spawn(Terms::named("greedy"), async move {
        let began = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            assert!(began.elapsed() < PATIENCE, "it was not asked");
            let until = Instant::now() + turn;
            while Instant::now() < until {}
            preemption_point().await;
        }
    });
    executor.spawn(Terms::named("task").priority(2), task).wait().unwrap();
    over.store(true, Ordering::Relaxed);
    greedy.wait().unwrap();
}

#[test]
fn what_is_due_soon_or_late_is_seen_to_beside_short_and_long_turns_of_a_loop() {
    for turn in [0, 20, 700].map(Duration::from_micros) {
        beside_a_greedy_one(turn, async {
            for micros in [0, 100, 900, 1_100, 5_000, 100, 20_000, 300] {
                sleep(Duration::from_micros(micros)).await;
            }
        });
    }
}

#[test]
fn a_post_from_another_thread_is_seen_to_while_something_is_due_soon() {
    beside_a_greedy_one(Duration::ZERO, async {
        // Something is due soon all the while.
        let ticks = spawn_local(Terms::named("ticks").priority(2), async {
            loop {
                sleep(Duration::from_micros(200)).await;
            }
        });
        for _ in 0..200 {
            let event = Event::<()>::new();
            let poster = event.poster();
            let posts = std::thread::spawn(move || poster.post());
            event.wait().await.unwrap();
            assert!(posts.join().unwrap());
        }
        ticks.abort();
    });
}
