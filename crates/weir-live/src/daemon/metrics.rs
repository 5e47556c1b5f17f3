//! What the daemon counts, as Prometheus reads it: its text format over HTTP, on loopback.
//!
//! | | |
//! |-|-|
//! | Source | Prometheus text exposition format 0.0.4; its rules for names: base units, counters end in `_total` |
//! | Work | O(figures * buckets) a scrape, in a thread of its own; the loop takes the figures once, and for all readers together |
//! | Memory | one connection at a time, a request of at most `LONGEST_REQUEST` bytes |
//! | Units | seconds and bytes, as the format asks |

mod page;
mod router;
mod steering;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::privileges;
use super::protocol::{Answer, Reading};
use super::readings::Readings;
pub use router::word;

/// The longest request, in bytes: a line and headers.
const LONGEST_REQUEST: usize = 8192;
/// How long a peer may take in all.
const PATIENCE: Duration = Duration::from_secs(2);
/// The descriptor by which a supervisor hands over the first socket.
const HANDED: i32 = 3;

/// A listening socket that nobody serves yet: it is bound before privileges are dropped.
#[derive(Debug)]
pub struct Metrics(Arc<Listening>);

/// A listening socket that is served: dropped, it is closed, and another process may have its address.
#[derive(Debug)]
pub struct Served(Arc<Listening>);

#[derive(Debug)]
struct Listening {
    socket: TcpListener,
    /// Whether the supervisor has it too, for the next process.
    shared: bool,
}

impl Drop for Served {
    fn drop(&mut self) {
        if !self.0.shared {
            // What waits for a peer is reported; where it is not, nothing can be done.
            let _ = rustix::net::shutdown(&self.0.socket, rustix::net::Shutdown::Both);
        }
    }
}

/// Whether a supervisor has handed a socket to this process, by what it says in the environment (sd_listen_fds(3)).
fn is_handed(process: Option<&str>, sockets: Option<&str>) -> bool {
    let own = std::process::id().to_string();
    process == Some(own.as_str()) && sockets == Some("1")
}

impl Metrics {
    /// Listens at an address of loopback.
    ///
    /// # Errors
    /// The address is taken, or not permitted.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        TcpListener::bind(address).map(|socket| Self(Arc::new(Listening { socket, shared: false })))
    }

    /// Takes the socket that a supervisor has opened and handed to this process, if it has; to be called once.
    ///
    /// # Errors
    /// What was handed over is no socket that listens at loopback.
    pub fn handed() -> io::Result<Option<Self>> {
        let variable = |name| std::env::var(name).ok();
        if !is_handed(variable("LISTEN_PID").as_deref(), variable("LISTEN_FDS").as_deref()) {
            return Ok(None);
        }
        // SAFETY: the descriptor is this process's by that protocol, and nothing else here takes it.
        let socket = unsafe { OwnedFd::from_raw_fd(HANDED) };
        let listens = rustix::net::sockopt::socket_acceptconn(&socket)?;
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
        let socket = TcpListener::from(socket);
        if !listens || !socket.local_addr()?.ip().is_loopback() {
            return Err(io::Error::other("what was handed over does not listen at loopback"));
        }
        socket.set_nonblocking(false)?;
        Ok(Some(Self(Arc::new(Listening { socket, shared: true }))))
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.socket.local_addr()
    }

    /// Answers until what is returned is dropped; `figures` is the order by which the loop tells what it has counted, and
    /// `subscribers` the one by which it tells that of subscribers, if it has any.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn serve<O: Clone + Send + 'static>(
        self,
        readings: Arc<Readings<O>>,
        figures: O,
        subscribers: Option<O>,
    ) -> io::Result<Served> {
        let served = Served(Arc::clone(&self.0));
        let each = move || {
            privileges::renounce();
            loop {
                match self.0.socket.accept() {
                    // A peer that goes before its answer is no failure of the daemon.
                    Ok((stream, _)) => {
                        drop(converse(stream, &readings, figures.clone(), subscribers.clone()));
                    }
                    // It was shut down.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => return,
                    // No descriptor is left: the connection would come again at once.
                    Err(_) => std::thread::sleep(Duration::from_millis(50)),
                }
            }
        };
        std::thread::Builder::new().name("metrics".to_owned()).spawn(each).map(|_| served)
    }
}

/// Answers one request, and closes.
fn converse<O>(
    mut stream: TcpStream,
    readings: &Readings<O>,
    figures: O,
    subscribers: Option<O>,
) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = head(&mut stream)?;
    let (status, body) = match target(&request) {
        Some("/metrics") => match &readings.read(Reading::Stats, figures).answer {
            Answer::Stats(snapshot) => {
                let wanted =
                    subscribers.filter(|_| snapshot.interfaces.iter().any(|at| at.subscriber_metrics));
                let more = wanted.map(|order| readings.read(Reading::Subscribers, order));
                (
                    "200 OK",
                    router::text(snapshot)
                        + &more.map_or(String::new(), |said| router::more(snapshot, &said.answer)),
                )
            }
            Answer::Requests(stats) => ("200 OK", steering::text(stats)),
            Answer::Refused { error, .. } => ("503 Service Unavailable", format!("{error}\n")),
            _ => ("500 Internal Server Error", "the daemon answered something else\n".to_owned()),
        },
        Some(_) => ("404 Not Found", "metrics are at /metrics\n".to_owned()),
        None => ("400 Bad Request", "send GET /metrics\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// The line of the request and its headers.
fn head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let until = Instant::now() + PATIENCE;
    let mut read = Vec::new();
    let mut chunk = [0; 1024];
    while read.len() < LONGEST_REQUEST && !read.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk)? {
            0 => break,
            count => read.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(read)
}

/// What is asked for, if it is asked for as it should be.
fn target(request: &[u8]) -> Option<&str> {
    let line = request.split(|byte| *byte == b'\r').next()?;
    let mut words = core::str::from_utf8(line).ok()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    (method == "GET" && version.starts_with("HTTP/1.") && words.next().is_none()).then_some(target)
}

#[cfg(test)]
mod tests;
