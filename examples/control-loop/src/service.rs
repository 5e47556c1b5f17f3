//! The service: a control loop, an answer to each datagram, and compaction, on one worker.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use tokio::net::UdpSocket;
use weir_exec::{Executor, Terms, every, now, preemption_point};

use crate::load::{self, Answers};
use crate::work::Work;

/// How often control is due, and what it computes each time.
pub const PERIOD: Duration = Duration::from_millis(10);
const CONTROL: Duration = Duration::from_millis(2);
/// What a request computes.
const REQUEST: Duration = Duration::from_micros(200);
/// How many merges compaction always has.
const MERGES: usize = 8;
/// The work after which everybody looks whether it is to give way.
const PIECE: Duration = Duration::from_micros(100);

/// What is run, and how.
#[derive(Clone, Debug)]
pub struct Run {
    pub discipline: &'static str,
    /// Whether tasks say what they need; otherwise all are alike.
    pub needs: bool,
    /// How many times control is due.
    pub periods: u64,
    pub record: Option<PathBuf>,
}

/// What was measured.
#[derive(Debug)]
pub struct Outcome {
    /// From when control was due until it was done; of the times that passed while it was busy there is none.
    pub control: Vec<Duration>,
    pub requests: Answers,
    /// Pieces of compaction that were done.
    pub pieces: u64,
}

impl Run {
    /// What a task asks for; `request.toml` asks for the same.
    fn terms(&self, name: &str, need: Duration, priority: u8) -> Terms {
        let terms = Terms::named(name);
        if self.needs { terms.need(need).priority(priority) } else { terms }
    }
}

async fn in_pieces(work: Work, span: Duration) {
    for _ in 0..span.as_micros() / PIECE.as_micros() {
        work.compute(PIECE);
        preemption_point().await;
    }
}

async fn control(work: Work, periods: u64) -> Vec<Duration> {
    let mut ticks = every(PERIOD).expect("a period");
    let mut took = Vec::new();
    while took.len() as u64 + ticks.missed() < periods {
        let due = ticks.tick().await;
        in_pieces(work, CONTROL).await;
        took.push(now().since(due));
    }
    took
}

async fn answer(work: Work, bound: Sender<SocketAddr>) -> std::io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    let _ = bound.send(socket.local_addr()?);
    let mut datagram = [0; 64];
    loop {
        let (length, from) = socket.recv_from(&mut datagram).await?;
        in_pieces(work, REQUEST).await;
        socket.send_to(&datagram[..length], from).await?;
    }
}

async fn merge(work: Work, pieces: Arc<AtomicU64>) {
    loop {
        work.compute(PIECE);
        pieces.fetch_add(1, Ordering::Relaxed);
        preemption_point().await;
    }
}

/// Runs the service until control has been due that often; requests come all the time.
pub fn run(run: &Run, work: Work) -> Result<Outcome, Box<dyn Error>> {
    // A piece that others on this machine interrupt runs over its slice: that is no news here.
    let mut builder = Executor::builder().discipline(run.discipline).pinned(false).tokio().reports(|_| ());
    if let Some(path) = &run.record {
        builder = builder.record(path);
    }
    let executor = builder.build()?;

    let (tell, told) = channel();
    let terms = run.terms("requests", Duration::from_millis(2), 2);
    let _answers = executor.spawn(terms, answer(work, tell));
    let load = load::start(told.recv()?)?;
    let pieces = Arc::new(AtomicU64::new(0));
    for _ in 0..MERGES {
        let terms = run.terms("merge", Duration::from_micros(300), 0);
        executor.spawn(terms, merge(work, Arc::clone(&pieces)));
    }
    let terms = run.terms("control", Duration::from_millis(4), 2);
    let control = executor.spawn(terms, control(work, run.periods)).wait()?;

    let requests = load.finish();
    let pieces = pieces.load(Ordering::Relaxed);
    // The others go on for ever: they are aborted.
    executor.shutdown(Duration::ZERO);
    Ok(Outcome { control, requests, pieces })
}
