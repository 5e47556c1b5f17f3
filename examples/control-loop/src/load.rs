//! A generator of load: sends a datagram every few milliseconds, whether or not those before were answered.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How far requests are apart.
const APART: Duration = Duration::from_millis(5);
/// For how long answers are waited for at the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// What came back.
#[derive(Debug, Default)]
pub struct Answers {
    pub sent: u64,
    /// Of each answer, the time since its request was to be sent.
    pub took: Vec<Duration>,
}

/// Load that is being sent.
#[derive(Debug)]
pub struct Load {
    stops: Arc<AtomicBool>,
    sends: JoinHandle<u64>,
    hears: JoinHandle<Vec<Duration>>,
}

/// Sends requests to this address until it is told to stop.
pub fn start(address: SocketAddr) -> io::Result<Load> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(address)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let (began, stops, answers) = (Instant::now(), Arc::new(AtomicBool::new(false)), socket.try_clone()?);
    let stopped = Arc::clone(&stops);
    let sends = thread::spawn(move || {
        let mut sent = 0;
        while !stopped.load(Ordering::Relaxed) {
            let due = APART * (sent as u32 + 1);
            thread::sleep(due.saturating_sub(began.elapsed()));
            // A request carries the time at which it was to be sent, so that a sender that is late hides nothing.
            let _ = socket.send(&(due.as_nanos() as u64).to_le_bytes());
            sent += 1;
        }
        sent
    });
    let hears = thread::spawn(move || {
        let mut took = Vec::new();
        let mut due = [0; 8];
        while answers.recv(&mut due).is_ok() {
            took.push(began.elapsed().saturating_sub(Duration::from_nanos(u64::from_le_bytes(due))));
        }
        took
    });
    Ok(Load { stops, sends, hears })
}

impl Load {
    /// Stops sending, waits for the answers that still come, and says what came.
    pub fn finish(self) -> Answers {
        self.stops.store(true, Ordering::Relaxed);
        let sent = self.sends.join().unwrap_or_default();
        Answers { sent, took: self.hears.join().unwrap_or_default() }
    }
}
