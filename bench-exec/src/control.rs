//! A control task that needs 20 ms in each 100 ms and a handler of 1,000 events a second, beside four greedy and four
//! bursty tasks that could use the whole processor each.
//!
//! All computing is in pieces of 50 us, between which a task gives way as its executor wants it. A period is met if all
//! 400 pieces of it are done before the next begins; what is missing then is given up.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::env::{Class, Env, Scene};
use crate::figures::{Figures, quantile};
use crate::machine::{OTHER, pin};
use crate::mailbox::Mailbox;
use crate::work::{Dice, compute};

pub const PERIOD: Duration = Duration::from_millis(100);
const PIECE: u64 = 50;
const PIECES: u64 = 400;
const EVENTS_EVERY: Duration = Duration::from_millis(1);
/// What an event takes.
const EVENT: u64 = 20;

/// Tasks that take what they get, all the time or in bursts.
#[derive(Clone, Copy)]
pub struct Background {
    pub greedy: u64,
    pub bursty: u64,
}

impl Background {
    pub const FULL: Self = Self { greedy: 4, bursty: 4 };
}

/// See above.
pub struct Control {
    periods: u64,
    background: Background,
    over: AtomicBool,
    events: Mailbox<Instant>,
    rest: AtomicU64,
    measured: Mutex<Measured>,
}

#[derive(Default)]
struct Measured {
    met: u64,
    done: u64,
    /// In nanoseconds: from when the control task was due until it began, and all times in which it would have run and
    /// did not.
    wakes: Vec<u64>,
    gaps: Vec<u64>,
    delays: Vec<u64>,
    elapsed: Duration,
}

/// A task of it.
#[derive(Clone, Copy)]
pub enum Job {
    Control,
    Handler,
    Greedy,
    Bursty(u64),
}

fn nanos(span: Duration) -> u64 {
    span.as_nanos() as u64
}

impl Control {
    pub fn new(periods: u64, background: Background) -> Arc<Self> {
        let (over, rest) = (AtomicBool::new(false), AtomicU64::new(0));
        Arc::new(Self { periods, background, over, events: Mailbox::new(), rest, measured: Mutex::default() })
    }

    /// Posts events from another processor, until the control task is done.
    pub fn generate(self: &Arc<Self>) -> thread::JoinHandle<()> {
        let scene = Arc::clone(self);
        thread::spawn(move || {
            pin(OTHER);
            let mut next = Instant::now() + EVENTS_EVERY;
            while !scene.is_over() {
                thread::sleep(next.saturating_duration_since(Instant::now()));
                scene.events.send(Instant::now());
                next += EVENTS_EVERY;
            }
            scene.events.close();
        })
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    async fn control<E: Env>(&self, env: &E) {
        let begin = Instant::now();
        let mut measured = Measured::default();
        for period in 1..=self.periods {
            let due = begin + PERIOD * period as u32;
            env.sleep_until(due).await;
            let done = Self::one_period(env, due, &mut measured).await;
            measured.met += u64::from(done == PIECES);
            measured.done += done;
        }
        measured.elapsed = begin.elapsed();
        let delays = std::mem::take(&mut self.measured.lock().expect("not poisoned").delays);
        *self.measured.lock().expect("not poisoned") = Measured { delays, ..measured };
        self.over.store(true, Ordering::Relaxed);
    }

    async fn one_period<E: Env>(env: &E, due: Instant, measured: &mut Measured) -> u64 {
        let mut last = due;
        for done in 0..PIECES {
            let now = Instant::now();
            measured.gaps.push(nanos(now.saturating_duration_since(last)));
            if done == 0 {
                measured.wakes.push(nanos(now.saturating_duration_since(due)));
            }
            if now >= due + PERIOD {
                return done;
            }
            compute(PIECE);
            last = Instant::now();
            env.pause().await;
        }
        PIECES
    }

    async fn handler<E: Env>(&self, env: &E) {
        let mut delays = Vec::new();
        while let Some(posted) = env.receive(&self.events).await {
            delays.push(nanos(posted.elapsed()));
            compute(EVENT);
            env.pause().await;
        }
        self.measured.lock().expect("not poisoned").delays = delays;
    }

    async fn pieces<E: Env>(&self, env: &E, count: u64) {
        for _ in 0..count {
            if self.is_over() {
                return;
            }
            compute(PIECE);
            self.rest.fetch_add(1, Ordering::Relaxed);
            env.pause().await;
        }
    }

    async fn bursts<E: Env>(&self, env: &E, seed: u64) {
        let mut dice = Dice::new(seed);
        while !self.is_over() {
            self.pieces(env, dice.from(5_000, 30_000) / PIECE).await;
            env.sleep_until(Instant::now() + Duration::from_micros(dice.from(10_000, 50_000))).await;
        }
    }

    /// How many periods were met.
    pub fn met(&self) -> u64 {
        self.measured.lock().expect("not poisoned").met
    }

    pub fn figures(&self) -> Figures {
        let mut measured = self.measured.lock().expect("not poisoned");
        let Measured { met, done, elapsed, wakes, gaps, delays } = &mut *measured;
        let periods = self.periods as f64;
        let micros = |nanos: f64| nanos / 1e3;
        let rest = (self.rest.load(Ordering::Relaxed) * PIECE) as f64 / 1e6 / elapsed.as_secs_f64();
        vec![
            ("periods met, %", 100.0 * *met as f64 / periods),
            ("of the need got, %", 100.0 * *done as f64 / periods / PIECES as f64),
            ("worst gap, ms", quantile(gaps, 1000) / 1e6),
            ("control wakes, p50 us", micros(quantile(wakes, 500))),
            ("p99 us", micros(quantile(wakes, 990))),
            ("event waits, p50 us", micros(quantile(delays, 500))),
            ("event p99 us", micros(quantile(delays, 990))),
            ("event p99.9 us", micros(quantile(delays, 999))),
            ("the rest, % of a processor", 100.0 * rest),
        ]
    }
}

impl Scene for Control {
    type Job = Job;

    fn jobs(&self, _threads: bool) -> Vec<(Class, Job)> {
        let greedy = (0..self.background.greedy).map(|_| (Class::Rest, Job::Greedy));
        let bursty = (0..self.background.bursty).map(|number| (Class::Rest, Job::Bursty(number + 1)));
        let first = [(Class::Control, Job::Control), (Class::Handler, Job::Handler)];
        first.into_iter().chain(greedy).chain(bursty).collect()
    }

    async fn perform<E: Env>(self: Arc<Self>, env: E, job: Job) {
        match job {
            Job::Control => self.control(&env).await,
            Job::Handler => self.handler(&env).await,
            Job::Greedy => self.pieces(&env, u64::MAX).await,
            Job::Bursty(seed) => self.bursts(&env, seed).await,
        }
    }
}
