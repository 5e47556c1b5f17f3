//! Counts that are handed over every so often.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use weir_exec::{Executor, Sampler, Terms, sleep};

const PATIENCE: Duration = Duration::from_secs(20);
const SOON: Duration = Duration::from_millis(2);

fn executor() -> Executor {
    Executor::builder().workers(2).pinned(false).build().unwrap()
}

#[test]
fn counts_come_again_and_again_and_grow() {
    let executor = executor();
    let task = executor.spawn(Terms::named("naps"), async {
        loop {
            sleep(Duration::from_micros(100)).await;
        }
    });
    let (tell, told) = channel();
    let sampler = executor.handle().sample(SOON, move |counts| {
        for worker in counts {
            let _ = tell.send((worker.worker, worker.elapsed, worker.polls));
        }
    });
    // A worker that is kept off its processor may be left out now and then.
    let (mut heard, mut before, mut polls) = ([0, 0], [Duration::ZERO; 2], 0);
    while heard.iter().any(|&times| times < 3) || polls == 0 {
        let (worker, elapsed, polled) = told.recv_timeout(PATIENCE).unwrap();
        assert!(elapsed > before[worker]);
        before[worker] = elapsed;
        heard[worker] += 1;
        polls = polls.max(polled);
    }
    drop(sampler);
    task.abort();
}

#[test]
fn a_sampler_that_is_dropped_is_heard_no_more() {
    let executor = executor();
    let (tell, told) = channel();
    let sampler = executor.handle().sample(SOON, move |_| {
        let _ = tell.send(());
    });
    told.recv_timeout(PATIENCE).unwrap();
    drop(sampler);
    while told.try_recv().is_ok() {}
    // Nothing more comes, and what would send it goes away with its thread.
    assert_eq!(told.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn a_sampler_that_waits_for_its_next_time_stops_at_once() {
    let executor = executor();
    for every in [Duration::from_secs(3_600), Duration::MAX] {
        let (tell, told) = channel::<()>();
        let sampler = executor.handle().sample(every, move |_| tell.send(()).unwrap());
        drop(sampler);
        assert_eq!(told.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
    }
}

#[test]
fn who_hears_may_drop_the_sampler() {
    let executor = executor();
    let place: Arc<Mutex<Option<Sampler>>> = Arc::default();
    let (inside, (tell, told)) = (Arc::clone(&place), channel());
    let mut held = place.lock().unwrap();
    *held = Some(executor.handle().sample(Duration::ZERO, move |_| {
        drop(inside.lock().unwrap().take());
        tell.send(()).unwrap();
    }));
    drop(held);
    told.recv_timeout(PATIENCE).unwrap();
    assert_eq!(told.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected), "once, and no more");
}

#[test]
fn a_sampler_ends_with_its_executor() {
    let executor = executor();
    let (tell, told) = channel();
    let sampler = executor.handle().sample(SOON, move |_| {
        let _ = tell.send(());
    });
    told.recv_timeout(PATIENCE).unwrap();
    drop(executor);
    let end = Instant::now() + PATIENCE;
    while told.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Disconnected) {
        assert!(Instant::now() < end, "it is still heard");
    }
    drop(sampler);
}
