//! Bad input and faults: what is refused, what is reported, and that the others go on.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use weir_core::task::DeclarationError;
use weir_exec::{
    BuildError, Builder, DualQueue, Event, Executor, JoinError, Report, Terms, every, now, should_yield,
    sleep, spawn_local, steps, yield_now,
};

const PATIENCE: Duration = Duration::from_secs(20);

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// An executor of one worker, which is not bound, and what it reports.
fn quiet(discipline: &str) -> (Executor, Arc<Mutex<Vec<Report>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    let builder = Executor::builder().discipline(discipline).pinned(false);
    let executor = builder.reports(move |report| hear.lock().unwrap().push(report)).build().unwrap();
    (executor, heard)
}

/// Computes for this long without giving way.
fn hog(span: Duration) {
    let until = Instant::now() + span;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

fn refused(executor: &Executor, terms: Terms) -> DeclarationError {
    match executor.spawn(terms, async {}).wait() {
        Err(JoinError::Refused(why)) => why,
        other => panic!("it was to be refused: {other:?}"),
    }
}

#[test]
fn what_cannot_be_promised_is_refused_with_the_bound() {
    let (executor, heard) = quiet("epoch(100ms,admit=refuse)");
    let slice = refused(&executor, Terms::named("thin").slice(Duration::ZERO));
    assert_eq!(slice.to_string(), "slice is 0ns, must be at least 300us");
    let need = refused(&executor, Terms::named("greedy").need(ms(101)));
    assert_eq!(need.to_string(), "need is 101ms, must be at most the epoch, which is 100ms");
    let first = executor.spawn(Terms::named("first").need(ms(60)), sleep(ms(50)));
    let second = refused(&executor, Terms::named("second").need(ms(60)));
    assert!(matches!(second, DeclarationError::Overcommitted(_)), "{second}");
    assert!(matches!(refused(&executor, Terms::named("high").priority(4)), DeclarationError::Priority(4)));
    first.wait().unwrap();
    executor.spawn(Terms::named("third").need(ms(60)), async {}).wait().expect("the first has left");
    assert_eq!(heard.lock().unwrap().len(), 4);
    assert_eq!(executor.handle().counts(PATIENCE)[0].refused, 4);
}

#[test]
fn needs_above_the_epoch_are_warned_of_where_they_are_admitted() {
    let (executor, heard) = quiet("epoch(100ms)");
    let (one, two) = (Terms::named("one").need(ms(60)), Terms::named("two").need(ms(60)));
    let tasks = [executor.spawn(one, sleep(ms(5))), executor.spawn(two, sleep(ms(5)))];
    for task in tasks {
        task.wait().unwrap();
    }
    let said = heard.lock().unwrap()[0].to_string();
    assert_eq!(said, "worker 0: all needs together are 120ms in 100ms: not all can be met");
}

#[test]
fn what_cannot_be_built_says_why() {
    let built = |builder: Builder| builder.build().map(drop).unwrap_err().to_string();
    assert_eq!(built(Executor::builder().workers(0)), "workers is 0, must be at least 1");
    let workers = thread::available_parallelism().unwrap().get();
    let said = built(Executor::builder().workers(workers + 1));
    let expected = format!("workers is {}, must be at most {workers}", workers + 1);
    assert!(said.starts_with(&expected) && said.contains("`pinned(false)`"), "{said}");
    assert!(built(Executor::builder().discipline("epohc")).contains("epoch"));
    let priority = Executor::builder().real_time(100).build().map(drop);
    assert!(matches!(priority, Err(BuildError::System { .. })), "{priority:?}");
    Executor::builder().workers(workers + 1).pinned(false).build().expect("they share processors");
}

#[test]
fn a_worker_that_there_is_not_is_refused() {
    let (executor, _) = quiet("epoch(100ms)");
    let error = executor.spawn(Terms::named("far").worker(1), async {}).wait().unwrap_err();
    assert_eq!(error.to_string(), "the task is not spawned: worker is 1, must be below 1");
    executor.spawn(Terms::named("near").worker(0), async {}).wait().unwrap();
    let built = Executor::builder().real_time(99).build().map(drop).unwrap_err().to_string();
    assert!(built.contains("must be from 1 to 98"), "{built}");
}

#[test]
fn a_task_that_panics_takes_nobody_down_and_returns_its_need() {
    let (executor, heard) = quiet("epoch(100ms,admit=refuse)");
    let bad = executor.spawn(Terms::named("bad").need(ms(90)), async {
        sleep(ms(1)).await;
        panic!("out of cheese");
    });
    let error: JoinError = bad.wait().map(|(): ()| ()).unwrap_err();
    assert_eq!(error.to_string(), "the task panicked: out of cheese");
    let good = executor.spawn(Terms::named("good").need(ms(90)), async { 7 });
    assert_eq!(good.wait().expect("the need was returned"), 7);
    assert_eq!(heard.lock().unwrap()[0].to_string(), "task `bad` panicked: out of cheese");
    assert_eq!(executor.handle().counts(PATIENCE)[0].panicked, 1);
}

#[test]
fn a_destructor_that_panics_takes_nobody_down() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(thread::panicking(), "a bomb went off");
        }
    }
    let (executor, _) = quiet("epoch(100ms)");
    let bomb = Bomb;
    let task = executor.spawn(Terms::named("bomb"), async move {
        let _bomb = bomb;
        sleep(PATIENCE).await;
    });
    executor.spawn(Terms::named("wait"), sleep(ms(5))).wait().unwrap();
    task.abort();
    assert!(matches!(task.wait(), Err(JoinError::Aborted)));
    assert_eq!(executor.spawn(Terms::named("after"), async { 1 }).wait().unwrap(), 1);
}

#[test]
fn a_wait_for_another_tasks_event_is_refused() {
    let (executor, _) = quiet("epoch(100ms)");
    let found = executor.spawn(Terms::named("owner"), async {
        let event = Arc::new(Event::<()>::new());
        let theirs = Arc::clone(&event);
        spawn_local(Terms::named("thief"), async move { theirs.wait().await }).await.unwrap()
    });
    let said = found.wait().unwrap().unwrap_err().to_string();
    assert_eq!(said, "the event belongs to another task: only its owner may wait for it");
}

#[test]
fn a_poll_over_its_slice_is_reported_while_it_runs_with_its_stack() {
    // It computes until it was reported.
    #[inline(never)]
    fn computes_without_giving_way(is_over: &AtomicBool) {
        let until = Instant::now() + PATIENCE;
        while !is_over.load(Ordering::Relaxed) && Instant::now() < until {
            std::hint::spin_loop();
        }
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&is_over);
    let (executor, heard) = quiet("epoch(100ms)");
    let task = executor.spawn(Terms::named("greedy").slice(ms(5)), async move {
        computes_without_giving_way(&theirs);
    });
    let until = Instant::now() + PATIENCE;
    while heard.lock().unwrap().is_empty() && Instant::now() < until {
        thread::sleep(ms(1));
    }
    assert!(!task.is_finished(), "it was reported while it ran");
    is_over.store(true, Ordering::Relaxed);
    let Report::OverSlice { task: name, runs, stack, .. } = heard.lock().unwrap()[0].clone() else {
        panic!("{heard:?}");
    };
    assert!(name == "greedy" && runs >= ms(5), "{name} {runs:?}");
    if cfg!(target_os = "linux") {
        let found = stack.iter().any(|call| call.contains("computes_without_giving_way"));
        assert!(found, "{stack:#?}");
        let own = stack.iter().filter(|call| call.contains("weir_exec::worker")).count();
        assert_eq!(own, 0, "what polls is of no interest: {stack:#?}");
    }
    task.wait().unwrap();
    assert_eq!(heard.lock().unwrap().len(), 1, "once a poll");
    let counts = &executor.handle().counts(PATIENCE)[0];
    assert!(counts.longest_poll >= runs && counts.longest_poll_of == "greedy", "{counts:?}");
}

#[test]
fn a_dropped_handle_leaves_its_task_running() {
    let (executor, _) = quiet("epoch(100ms)");
    let (queue, theirs) = (DualQueue::new(), DualQueue::new());
    let (taken, put) = (queue.clone(), theirs.clone());
    drop(executor.spawn(Terms::named("echo"), async move {
        for _ in 0..3 {
            put.enqueue(taken.dequeue().await + 1);
        }
    }));
    for number in 0..3 {
        queue.enqueue(number);
    }
    let sum = executor.spawn(Terms::named("sum"), async move {
        theirs.dequeue().await + theirs.dequeue().await + theirs.dequeue().await
    });
    assert_eq!(sum.wait().unwrap(), 6);
}

#[test]
fn a_datum_given_to_a_task_that_is_aborted_goes_to_the_next() {
    let (executor, _) = quiet("epoch(100ms)");
    let queue = DualQueue::new();
    let [first, second] = ["first", "second"].map(|name| {
        let queue: DualQueue<u32> = queue.clone();
        executor.spawn(Terms::named(name), async move { queue.dequeue().await })
    });
    executor.spawn(Terms::named("settle"), sleep(ms(5))).wait().unwrap();
    let both = queue.clone();
    // Given and aborted before the first runs again.
    let give = executor.spawn(Terms::named("give"), async move {
        both.enqueue(1);
        first.abort();
    });
    give.wait().unwrap();
    assert_eq!(second.wait().unwrap(), 1);
    assert!(queue.is_empty());
}

#[test]
fn an_abort_in_the_middle_of_a_wait_drops_the_task_there() {
    struct Told(Arc<AtomicU64>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (executor, _) = quiet("epoch(100ms)");
    let dropped = Arc::new(AtomicU64::new(0));
    let event_task = Told(Arc::clone(&dropped));
    let waits = executor.spawn(Terms::named("waits"), async move {
        let _told = event_task;
        Event::<()>::new().wait().await
    });
    let sleeper = Told(Arc::clone(&dropped));
    let sleeps = executor.spawn(Terms::named("sleeps"), async move {
        let _told = sleeper;
        sleep(PATIENCE).await;
    });
    executor.spawn(Terms::named("settle"), sleep(ms(5))).wait().unwrap();
    waits.abort();
    sleeps.abort();
    assert!(matches!(waits.wait(), Err(JoinError::Aborted)));
    assert!(matches!(sleeps.wait(), Err(JoinError::Aborted)));
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

#[test]
fn a_post_to_a_task_that_has_ended_does_nothing() {
    let (executor, _) = quiet("epoch(100ms)");
    let poster = executor.spawn(Terms::named("short"), async {
        let event = Event::<u32>::new();
        let poster = event.poster();
        poster.post_with(1);
        event.wait().await.unwrap();
        poster
    });
    let poster = poster.wait().unwrap();
    assert!(poster.post_with(2), "nobody will take it");
    assert_eq!(executor.spawn(Terms::named("after"), async { 3 }).wait().unwrap(), 3);
}

#[test]
fn a_shutdown_ends_sleepers_and_waits_for_those_who_end_in_time() {
    let (executor, _) = quiet("epoch(100ms)");
    let soon = executor.spawn(Terms::named("soon"), async {
        sleep(ms(20)).await;
        5
    });
    let sleeper = executor.spawn(Terms::named("sleeper"), sleep(PATIENCE));
    let handle = executor.handle().clone();
    let began = Instant::now();
    assert_eq!(executor.shutdown(ms(300)), ["sleeper"]);
    assert!(began.elapsed() < PATIENCE);
    assert_eq!(soon.wait().unwrap(), 5);
    assert!(matches!(sleeper.wait(), Err(JoinError::Aborted)));
    let late = handle.spawn(Terms::named("late"), async {});
    assert!(matches!(late.wait(), Err(JoinError::Aborted)), "it takes no tasks any more");
}

#[test]
fn a_task_that_never_yields_delays_others_by_its_poll_alone() {
    let (executor, _) = quiet("epoch(100ms)");
    let hogs = executor.spawn(Terms::named("hog").need(ms(20)), async {
        hog(ms(250));
    });
    let fast = executor.spawn(Terms::named("fast").need(ms(20)), async {
        for _ in 0..100 {
            yield_now().await;
        }
    });
    fast.wait().unwrap();
    hogs.wait().unwrap();
}

#[test]
fn closures_give_way_between_their_steps() {
    let (executor, _) = quiet("epoch(100ms)");
    let mut left = 300u32;
    let sum = executor.spawn(
        Terms::named("steps").slice(ms(5)),
        steps(move || {
            hog(Duration::from_micros(100));
            left -= 1;
            if left == 0 { ControlFlow::Break("done") } else { ControlFlow::Continue(()) }
        }),
    );
    let waits = executor.spawn(Terms::named("waits"), async {
        let began = now();
        sleep(ms(1)).await;
        now().since(began)
    });
    assert_eq!(sum.wait().unwrap(), "done");
    waits.wait().unwrap();
    let polls = executor.handle().counts(PATIENCE)[0].polls;
    assert!(polls >= 5, "30 ms in slices of 5 ms: {polls} polls");
}

#[test]
fn should_yield_is_false_outside_of_workers_and_asked_for_by_a_task_of_a_higher_level() {
    assert!(!should_yield());
    let (executor, _) = quiet("priority_rr");
    let asked = executor.spawn(Terms::named("low"), async {
        let before = should_yield();
        drop(spawn_local(Terms::named("high").priority(3), async {}));
        (before, should_yield())
    });
    assert_eq!(asked.wait().unwrap(), (false, true));
}

#[test]
fn regular_times_that_have_passed_are_left_out_and_counted() {
    let (executor, _) = quiet("epoch(100ms)");
    let missed = executor.spawn(Terms::named("ticks"), async {
        let mut ticks = every(ms(5)).unwrap();
        ticks.tick().await;
        hog(ms(52));
        let (before, due) = (now(), ticks.tick().await);
        assert!(before.since(due) < ms(5), "the last that has passed, or the next");
        ticks.missed()
    });
    assert!(missed.wait().unwrap() >= 9);
    assert!(every_in_a_task(&executor));
}

fn every_in_a_task(executor: &Executor) -> bool {
    executor.spawn(Terms::named("none"), async { every(Duration::ZERO).is_err() }).wait().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn a_worker_that_is_bound_elsewhere_goes_on() {
    let (executor, _) = quiet("epoch(100ms)");
    let moved = executor.spawn(Terms::named("moves"), async {
        // SAFETY: the set is whole and outlives the call; 0 is the calling thread.
        let last = unsafe {
            let mut allowed: libc::cpu_set_t = std::mem::zeroed();
            let size = std::mem::size_of::<libc::cpu_set_t>();
            libc::sched_getaffinity(0, size, &raw mut allowed);
            let mut usable = (0..libc::CPU_SETSIZE as usize).filter(|&one| libc::CPU_ISSET(one, &allowed));
            let last = usable.next_back().unwrap_or(0);
            let mut own: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(last, &mut own);
            libc::sched_setaffinity(0, size, &raw const own)
        };
        yield_now().await;
        sleep(ms(2)).await;
        last
    });
    assert_eq!(moved.wait().unwrap(), 0);
}

#[test]
fn an_event_that_is_posted_again_at_once_has_each_value_in_turn() {
    const POSTS: u64 = 20_000;
    let (executor, _) = quiet("epoch(100ms)");
    let (hand_over, handed) = std::sync::mpsc::channel();
    let waits = executor.handle().spawn_with(Terms::named("waits"), move || async move {
        let event = Event::<u64>::new();
        hand_over.send(event.poster()).unwrap();
        for expected in 0..POSTS {
            assert_eq!(event.wait().await, Ok(expected));
        }
    });
    let poster = handed.recv().unwrap();
    for number in 0..POSTS {
        while !waits.is_finished() && !poster.post_with(number) {
            std::hint::spin_loop();
        }
    }
    waits.wait().expect("no value is lost");
}
