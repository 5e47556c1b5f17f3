//! A post of an event: to a task of the same worker, of a worker that looks for work, and of one that sleeps.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use weir_exec::{Event, Poster, Terms, spawn_local};

use super::executor;
use crate::counting::asked;
use crate::figures::{Table, quantile};
use crate::machine::{OTHER, OWN, pin};

const SAME: u32 = 200_000;
const ACROSS: usize = 2_000;
/// Until a worker without work has gone to sleep, and its processor with it.
const REST: Duration = Duration::from_micros(300);

pub fn round(table: &mut Table) {
    let (nanos, allocations) = same_worker();
    table.add(
        "post to a task of the same worker, and its poll",
        vec![("ns", nanos), ("allocations", allocations)],
    );
    table.add(
        "post to a spinning worker, until the task runs",
        vec![("ns", across(Duration::from_secs(1), Duration::from_micros(20)))],
    );
    table.add("post to a parked worker, until the task runs", vec![("ns", across(Duration::ZERO, REST))]);
    table.add("bare futex wake, until the thread runs", vec![("ns", bare())]);
}

/// Two tasks post to each other: how long a post takes, with the dispatch and the poll that it brings about.
fn same_worker() -> (f64, f64) {
    let executor = executor(Duration::ZERO);
    let measured = executor.handle().spawn_with(Terms::named("main"), || async {
        let back = Event::new();
        let (answer, hand_over) = (back.poster(), Event::<Poster<()>>::new());
        let handed = hand_over.poster();
        drop(spawn_local(Terms::named("other"), async move {
            let asked = Event::new();
            handed.post_with(asked.poster());
            while asked.wait().await.is_ok() {
                answer.post();
            }
        }));
        let other = hand_over.wait().await.expect("its own");
        let (begin, before) = (Instant::now(), asked());
        for _ in 0..SAME {
            other.post();
            back.wait().await.expect("its own");
        }
        let posts = 2.0 * f64::from(SAME);
        (begin.elapsed().as_nanos() as f64 / posts, (asked() - before) as f64 / posts)
    });
    measured.wait().expect("it comes to its end")
}

/// Waits without giving up the processor.
fn linger(span: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < span {
        std::hint::spin_loop();
    }
}

/// The median time from a post on another processor until the task that waits for it runs.
fn across(spin: Duration, rest: Duration) -> f64 {
    let executor = executor(spin);
    let (hand_over, handed) = mpsc::channel();
    let waits = executor.handle().spawn_with(Terms::named("waits"), move || async move {
        let event = Event::<Instant>::new();
        hand_over.send(event.poster()).expect("it is heard");
        let mut samples = Vec::with_capacity(ACROSS);
        while samples.len() < ACROSS {
            let posted = event.wait().await.expect("its own");
            samples.push(posted.elapsed().as_nanos() as u64);
        }
        quantile(&mut samples, 500)
    });
    let poster = handed.recv().expect("it is sent");
    post(rest, move || {
        // One that was posted and not taken yet is not posted again: the worker was away.
        while !poster.post_with(Instant::now()) {
            std::hint::spin_loop();
        }
    });
    waits.wait().expect("it comes to its end")
}

fn post(rest: Duration, once: impl Fn() + Send + 'static) {
    let posts = thread::spawn(move || {
        pin(OTHER);
        for _ in 0..ACROSS {
            linger(rest);
            once();
        }
    });
    posts.join().expect("it comes to its end");
}

#[cfg(target_os = "linux")]
fn futex(word: &AtomicU32, operation: libc::c_int, value: u32) {
    let nobody = std::ptr::null::<libc::timespec>();
    // SAFETY: the word outlives the call.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), operation | libc::FUTEX_PRIVATE_FLAG, value, nobody)
    };
}

/// The same with two threads and a futex, and nothing else.
#[cfg(target_os = "linux")]
fn bare() -> f64 {
    let (word, base) = (Arc::new(AtomicU32::new(0)), Instant::now());
    let stamp = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let waits = thread::spawn({
        let (word, stamp) = (Arc::clone(&word), Arc::clone(&stamp));
        move || {
            pin(OWN);
            let mut samples = Vec::with_capacity(ACROSS);
            for seen in 0..ACROSS as u32 {
                while word.load(Ordering::Acquire) == seen {
                    futex(&word, libc::FUTEX_WAIT, seen);
                }
                let posted = stamp.load(Ordering::Relaxed);
                samples.push((base.elapsed().as_nanos() as u64).saturating_sub(posted));
            }
            quantile(&mut samples, 500)
        }
    });
    post(REST, move || {
        stamp.store(base.elapsed().as_nanos() as u64, Ordering::Relaxed);
        word.fetch_add(1, Ordering::Release);
        futex(&word, libc::FUTEX_WAKE, 1);
    });
    waits.join().expect("it comes to its end")
}

#[cfg(not(target_os = "linux"))]
fn bare() -> f64 {
    f64::NAN
}
