//! The priority workload of clockworker's benchmarks: 1,000 short tasks a second, exponentially spaced, from another
//! thread, beside eight background tasks that saturate the processor.
//!
//! A foreground task computes one to three times for 100 to 500 us, with sleeps of 100 to 500 us in between; a background
//! task does both for ever. Numbers as in its `benches/priority.rs`, version 0.2.6; but computing is counted instead of
//! timed, and the thread that generates sleeps between two tasks instead of turning.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::env::{Class, Env, Scene};
use crate::figures::{Figures, quantile};
use crate::machine::{OTHER, pin};
use crate::mailbox::Mailbox;
use crate::work::{Dice, compute};

const A_SECOND: f64 = 1_000.0;
const BACKGROUND: u64 = 8;
/// Threads that take foreground tasks, where each is one.
const POOL: usize = 16;
/// Background that may be interrupted is so every so often, in microseconds.
const PIECE: u64 = 25;

/// What the background is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    None,
    /// Computes for 100 to 500 us without giving way, as in the original.
    Whole,
    /// Asks every 25 us whether it should give way.
    InPieces,
}

/// See above.
pub struct Foreground {
    background: Background,
    count: u64,
    arrivals: Mailbox<Arrival>,
    over: AtomicBool,
    ended: AtomicU64,
    /// Microseconds of background done.
    done: AtomicU64,
    measured: Mutex<Measured>,
    begin: Instant,
}

#[derive(Default)]
struct Measured {
    delays: Vec<u64>,
    totals: Vec<u64>,
    elapsed: Duration,
}

struct Arrival {
    at: Instant,
    computes: Vec<u64>,
    sleeps: Vec<u64>,
}

/// A task of it.
#[derive(Clone, Copy)]
pub enum Job {
    /// Starts foreground tasks as they come.
    Driver,
    Background(u64),
}

fn span(dice: &mut Dice) -> u64 {
    dice.from(100, 500)
}

impl Foreground {
    pub fn new(background: Background, seconds: u64) -> Arc<Self> {
        Arc::new(Self {
            background,
            count: seconds * A_SECOND as u64,
            arrivals: Mailbox::new(),
            over: AtomicBool::new(false),
            ended: AtomicU64::new(0),
            done: AtomicU64::new(0),
            measured: Mutex::default(),
            begin: Instant::now(),
        })
    }

    /// Sends the foreground tasks from another processor.
    pub fn generate(self: &Arc<Self>) -> thread::JoinHandle<()> {
        let scene = Arc::clone(self);
        thread::spawn(move || {
            pin(OTHER);
            let mut dice = Dice::new(12);
            let mut next = Instant::now();
            for _ in 0..scene.count {
                next += Duration::from_secs_f64(dice.exponential() / A_SECOND);
                let computes: Vec<u64> = (0..dice.from(1, 3)).map(|_| span(&mut dice)).collect();
                let sleeps = computes[1..].iter().map(|_| span(&mut dice)).collect();
                thread::sleep(next.saturating_duration_since(Instant::now()));
                scene.arrivals.send(Arrival { at: Instant::now(), computes, sleeps });
            }
            scene.arrivals.close();
        })
    }

    async fn serve<E: Env>(self: Arc<Self>, env: E, arrival: Arrival) {
        let delay = arrival.at.elapsed();
        let mut sleeps = arrival.sleeps.into_iter();
        for span in arrival.computes {
            compute(span);
            if let Some(span) = sleeps.next() {
                env.sleep_until(Instant::now() + Duration::from_micros(span)).await;
            }
        }
        let total = arrival.at.elapsed();
        let mut measured = self.measured.lock().expect("not poisoned");
        measured.delays.push(delay.as_nanos() as u64);
        measured.totals.push(total.as_nanos() as u64);
        if self.ended.fetch_add(1, Ordering::Relaxed) + 1 == self.count {
            measured.elapsed = self.begin.elapsed();
            self.over.store(true, Ordering::Relaxed);
        }
    }

    async fn background<E: Env>(&self, env: &E, seed: u64) {
        let mut dice = Dice::new(seed);
        while !self.over.load(Ordering::Relaxed) {
            let (computes, sleeps) = (span(&mut dice), span(&mut dice));
            if self.background == Background::InPieces {
                for _ in 0..computes / PIECE {
                    compute(PIECE);
                    env.pause().await;
                }
            }
            compute(if self.background == Background::InPieces { computes % PIECE } else { computes });
            self.done.fetch_add(computes, Ordering::Relaxed);
            env.sleep_until(Instant::now() + Duration::from_micros(sleeps)).await;
        }
    }

    pub fn figures(&self) -> Figures {
        let mut measured = self.measured.lock().expect("not poisoned");
        let Measured { delays, totals, elapsed } = &mut *measured;
        let done = self.done.load(Ordering::Relaxed) as f64 / 1e6 / elapsed.as_secs_f64();
        vec![
            ("waits, p50 us", quantile(delays, 500) / 1e3),
            ("p99 us", quantile(delays, 990) / 1e3),
            ("p99.9 us", quantile(delays, 999) / 1e3),
            ("until done, p50 us", quantile(totals, 500) / 1e3),
            ("done p99 us", quantile(totals, 990) / 1e3),
            ("background, % of a processor", 100.0 * done),
        ]
    }
}

impl Scene for Foreground {
    type Job = Job;

    fn jobs(&self, threads: bool) -> Vec<(Class, Job)> {
        let drivers = if threads { POOL } else { 1 };
        let background = if self.background == Background::None { 0 } else { BACKGROUND };
        let first = (0..drivers).map(|_| (Class::Foreground, Job::Driver));
        first.chain((0..background).map(|number| (Class::Rest, Job::Background(number + 1)))).collect()
    }

    async fn perform<E: Env>(self: Arc<Self>, env: E, job: Job) {
        match job {
            Job::Background(seed) => self.background(&env, seed).await,
            Job::Driver => {
                while let Some(arrival) = env.receive(&self.arrivals).await {
                    env.spawn(Class::Foreground, Arc::clone(&self).serve(env.clone(), arrival)).await;
                }
                // The last ones sleep or wait.
                while !self.over.load(Ordering::Relaxed) {
                    env.sleep_until(Instant::now() + Duration::from_millis(1)).await;
                }
            }
        }
    }
}
