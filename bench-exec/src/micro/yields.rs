//! A yield, and the dispatch of the next of ten ready tasks.

use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::task::LocalSet;
use weir_exec::{Executor, Terms, spawn_local, yield_now};

use crate::counting::asked;
use crate::figures::Table;
use crate::machine::{OWN, pin};

const TASKS: u64 = 10;
const EACH: u64 = 50_000;
/// Polls before allocations are counted.
const SETTLED: u64 = 1_000;

pub fn round(table: &mut Table) {
    let mut add = |name: &str, (nanos, allocations): (f64, f64)| {
        table.add(name, vec![("ns", nanos), ("allocations", allocations)]);
    };
    add("yield among 10, weir-exec", weir("epoch(100ms)", false));
    add("yield among 10, weir-exec, eevdf", weir("eevdf", false));
    add("yield among 10, weir-exec over Tokio", weir("epoch(100ms)", true));
    add("yield among 10, LocalSet", in_local_set(tokio::task::yield_now));
    add("yield among 10, LocalSet, waking itself", in_local_set(wake_itself));
}

/// The waker called at once, as weir-exec does it; Tokio's own yield hands it to the runtime.
async fn wake_itself() {
    let mut has = false;
    poll_fn(|cx| {
        if has {
            return Poll::Ready(());
        }
        has = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Yields so often; says how long one took and how often it asked for memory, from when all had begun.
async fn yields<F: Future<Output = ()>>(own: u64, yields: impl Fn() -> F) -> (f64, f64) {
    for _ in 0..SETTLED {
        yields().await;
    }
    let (begin, before) = (Instant::now(), asked());
    for _ in 0..EACH {
        yields().await;
    }
    let all = (EACH * own) as f64;
    (begin.elapsed().as_nanos() as f64 / all, (asked() - before) as f64 / all)
}

fn weir(discipline: &str, tokio: bool) -> (f64, f64) {
    let builder = Executor::builder().discipline(discipline).reports(|_| {});
    let builder = if tokio { builder.tokio() } else { builder };
    let executor = builder.build().expect("there is a processor");
    let measured = executor.handle().spawn_with(Terms::named("main"), || async {
        let terms = Terms::named("one of ten").slice(Duration::from_millis(20));
        let tasks: Vec<_> =
            (0..TASKS).map(|_| spawn_local(terms.clone(), yields(TASKS, yield_now))).collect();
        let mut last = (0.0, 0.0);
        for task in tasks {
            last = task.await.expect("it comes to its end");
        }
        last
    });
    measured.wait().expect("it comes to its end")
}

fn in_local_set<F: Future<Output = ()> + 'static>(
    once: impl Fn() -> F + Copy + Send + 'static,
) -> (f64, f64) {
    let run = move || {
        pin(OWN);
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        LocalSet::new().block_on(&runtime.expect("the system has what it takes"), async {
            let tasks: Vec<_> = (0..TASKS).map(|_| tokio::task::spawn_local(yields(TASKS, once))).collect();
            let mut last = (0.0, 0.0);
            for task in tasks {
                last = task.await.expect("it comes to its end");
            }
            last
        })
    };
    std::thread::spawn(run).join().expect("it comes to its end")
}
