//! Workers under SCHED_FIFO, where that is permitted.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use weir_exec::{BuildError, Executor, Terms, blocking};

const PRIORITY: u8 = 7;
const PATIENCE: Duration = Duration::from_secs(20);

/// The policy and the priority of a thread of this process; 0 is the calling one.
fn rank(thread: i32) -> (i32, i32) {
    let mut parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the structure is whole and outlives the calls.
    unsafe {
        let policy = libc::sched_getscheduler(thread);
        libc::sched_getparam(thread, &raw mut parameters);
        (policy, parameters.sched_priority)
    }
}

/// The threads of this process with this name.
fn named(name: &str) -> Vec<i32> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let is_named = |thread: &std::fs::DirEntry| {
        std::fs::read_to_string(thread.path().join("comm")).is_ok_and(|comm| comm.trim_end() == name)
    };
    threads.filter(is_named).map(|thread| thread.file_name().to_str().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_worker_has_its_priority_the_timer_thread_one_more_and_what_they_start_none() {
    let builder = Executor::builder().pinned(false).real_time(PRIORITY).reports(|_| {});
    let executor = match builder.build() {
        Ok(executor) => executor,
        Err(BuildError::System { what, error }) if error.kind() == ErrorKind::PermissionDenied => {
            println!("skipped: {what}: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let fifo = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    let ranks = executor.spawn(Terms::named("ranks").need(Duration::from_millis(5)), async {
        let started = std::thread::spawn(|| rank(0)).join().unwrap();
        (rank(0), started, blocking(|| rank(0)).await)
    });
    let ordinary = (libc::SCHED_OTHER, 0);
    assert_eq!(ranks.wait().unwrap(), ((fifo, i32::from(PRIORITY)), ordinary, ordinary));
    // It ranks itself when it begins; threads of other tests have the name too.
    let above = (fifo, i32::from(PRIORITY) + 1);
    let until = Instant::now() + PATIENCE;
    while !named("weir-timer").into_iter().any(|thread| rank(thread) == above) {
        assert!(Instant::now() < until, "the timer thread was not ranked");
        std::thread::sleep(Duration::from_millis(1));
    }
}
