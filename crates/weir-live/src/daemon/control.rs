//! The control socket: reads requests, checks who asks and what, and passes orders to the loop.
//!
//! Set up in two steps, so that privileges can be dropped between them: [`Socket::bind`] makes the socket in the run
//! directory, [`Socket::serve`] starts the threads, one that accepts and one a connection. The directory is closed
//! while the socket in it gets its group and its mode: nobody can connect who may not. Signals that must not end up in
//! these threads are blocked before [`Socket::serve`]: they inherit the mask.
//!
//! A request is read, parsed and checked here, a configuration with all its cross-checks; the loop gets what it can do
//! at once. Which requests a daemon takes is up to its kind ([`Orders`]). Garbage is answered and the connection closed.
//!
//! Readers cost the loop no more together than one alone ([`readings`](super::readings)), and ask at a pace
//! ([`peers`](super::peers)): a request that is before its time is not read, so that a client who writes faster than he
//! may finds his socket full.
//!
//! | | |
//! |-|-|
//! | Source | unix(7): SO_PEERCRED; [`protocol`](super::protocol) |
//! | Memory | at most [`MOST_CONNECTIONS`](super::peers::MOST_CONNECTIONS) connections, each with one request of bounded length |
//! | Units | seconds of patience with a peer that does not go on |

use std::fs::{Permissions, set_permissions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use weir_document::shorten;

use super::directory::{RunDirectory, RunError};
use super::log;
use super::peers::{Connection, Peers};
use super::privileges;
use super::protocol::{Answer, LONGEST_REQUEST, Reading, Request};
use super::readings::{Readings, Said};
use super::user::User;

/// How long a peer may take for one request, and be silent between two.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest request of those who may only read, in bytes.
const LONGEST_READING: usize = 4096;
/// The stack of each thread, in bytes; what a request nests is bounded by its parsers.
const STACK: usize = 1 << 20;

/// A kind of daemon: which requests it takes, and what its loop gets of each.
pub trait Orders: Send + Sync + 'static {
    /// What its loop is asked to do; everything in it has been read and checked.
    type Order: Send + 'static;

    /// The order that a request is.
    ///
    /// # Errors
    /// The daemon takes no such request, or what is wrong with it: what, which value and what to do.
    fn order(&self, request: Request) -> Result<Self::Order, String>;
}

/// A control socket that nobody serves yet.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    directory: RunDirectory,
}

impl Socket {
    /// Makes the socket in a run directory, of mode 0660 and of this group; without one, of the daemon's.
    ///
    /// # Errors
    /// There is no such group, or the system refuses.
    pub fn bind(directory: RunDirectory, group: Option<&str>) -> Result<Self, RunError> {
        let group = group.map(number_of_group).transpose()?;
        let path = directory.free_socket()?;
        let listener = UnixListener::bind(&path).map_err(RunError::of(&path))?;
        // Until all is as it should be the directory is closed to all but its owner: nobody comes in between.
        set_permissions(&path, Permissions::from_mode(0o660)).map_err(RunError::of(&path))?;
        listener.set_nonblocking(true).map_err(RunError::of(&path))?;
        if group.is_some() {
            chown(&path, None, group).map_err(RunError::of(&path))?;
        }
        directory.open_to(group)?;
        Ok(Self { listener, directory })
    }

    /// Where the socket and all that is removed with it lie.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Gives the run directory and what lies in it to a user, who is to remove it.
    ///
    /// # Errors
    /// The system refuses.
    pub fn hand_over(&self, user: User) -> Result<(), RunError> {
        self.directory.hand_over(user)
    }

    /// Answers requests until what is returned is dropped; `kind` says what the loop gets of each.
    ///
    /// # Errors
    /// The system has no thread or descriptor left.
    pub fn serve<K: Orders>(self, readings: Arc<Readings<K::Order>>, kind: K) -> io::Result<Control> {
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let shared = Arc::new(Shared { readings, kind, peers: Arc::default() });
        let (listener, stopped) = (self.listener, Arc::clone(&stop));
        let thread = Builder::new().name("control".to_owned()).stack_size(STACK).spawn(move || {
            privileges::renounce();
            accept(&listener, &stopped, &shared);
        })?;
        Ok(Control { stop, thread: Some(thread), _directory: self.directory })
    }
}

/// A control socket that is served; dropped, it is removed with the run directory.
#[derive(Debug)]
pub struct Control {
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
    _directory: RunDirectory,
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What all connections share.
struct Shared<K: Orders> {
    readings: Arc<Readings<K::Order>>,
    kind: K,
    peers: Arc<Peers>,
}

fn accept<K: Orders>(listener: &UnixListener, stop: &OwnedFd, shared: &Arc<Shared<K>>) {
    loop {
        let mut waited = [PollFd::new(listener, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
        if poll(&mut waited, None).is_ok() && !waited[1].revents().is_empty() {
            return;
        }
        match listener.accept() {
            Ok((stream, _)) => begin(stream, shared),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            // No descriptor is left: the connection stays in the queue, and would be polled again at once.
            Err(_) => sleep(Duration::from_millis(50)),
        }
    }
}

fn begin<K: Orders>(mut stream: UnixStream, shared: &Arc<Shared<K>>) {
    // Of Linux: what is accepted does not inherit the flag, other systems differ.
    if stream.set_nonblocking(false).is_err() || stream.set_write_timeout(Some(PATIENCE)).is_err() {
        return;
    }
    let Ok(peer) = socket_peercred(&stream) else { return };
    let connection = match shared.peers.begin(peer.uid.as_raw()) {
        Ok(connection) => connection,
        Err(error) => {
            let _ = stream.set_nonblocking(true);
            let _ = stream.write_all(Said::new(Answer::refused(error)).line());
            return;
        }
    };
    let may_change = peer.uid.is_root() || peer.uid == geteuid();
    let name = format!("process {} of user {}", peer.pid.as_raw_nonzero(), peer.uid.as_raw());
    let peer = Peer { name, may_change, connection };
    let shared = Arc::clone(shared);
    // Where no thread can be made, the connection is closed with what was moved.
    let _ = Builder::new()
        .name("control peer".to_owned())
        .stack_size(STACK)
        .spawn(move || converse(stream, &peer, &shared));
}

/// Who is at the other end.
struct Peer {
    /// Process and user, in words.
    name: String,
    may_change: bool,
    connection: Connection,
}

impl Peer {
    /// Tells the operator what was changed, and what was refused to those who may change something.
    fn log(&self, answer: &Answer) {
        let name = &self.name;
        match answer {
            Answer::Done { said } => log::notice(format_args!("control, {name}: {said}")),
            Answer::Refused { error, .. } if self.may_change => {
                log::info(format_args!("control, {name}: refused: {error}"));
            }
            Answer::Refused { error, .. } => log::debug(format_args!("control, {name}: refused: {error}")),
            _ => log::debug(format_args!("control, {name}: answered")),
        }
    }
}

/// Answers one request after the other, until the peer goes, is silent for too long, or writes what is no request.
fn converse<K: Orders>(mut stream: UnixStream, peer: &Peer, shared: &Shared<K>) {
    let may_change = peer.may_change;
    let longest = if may_change { LONGEST_REQUEST } else { LONGEST_READING };
    let mut rest = Vec::new();
    loop {
        let outcome = match line(&mut stream, &mut rest, longest) {
            Ok(None) | Err(_) => return,
            Ok(Some(Line::TooLong)) => Outcome::Close(Answer::refused(format!(
                "the request is longer than {longest} bytes: shorten it"
            ))),
            Ok(Some(Line::Whole(line))) => consider(&line, may_change, &shared.kind),
        };
        let goes_on = !matches!(outcome, Outcome::Close(_));
        let said = match outcome {
            Outcome::Read(reading, order) => shared.readings.read(reading, order),
            Outcome::Order(order) => Arc::new(shared.readings.order(order)),
            Outcome::Refuse(answer) | Outcome::Close(answer) => Arc::new(Said::new(answer)),
        };
        peer.log(&said.answer);
        if stream.write_all(said.line()).is_err() || !goes_on {
            return;
        }
        if !may_change {
            sleep(peer.connection.due_in(Instant::now()));
        }
    }
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

/// The next line, without its end; `None` where the peer has gone or is silent.
fn line(stream: &mut UnixStream, rest: &mut Vec<u8>, longest: usize) -> io::Result<Option<Line>> {
    let until = Instant::now() + PATIENCE;
    let mut searched = 0;
    loop {
        if let Some(at) = rest[searched..].iter().position(|byte| *byte == b'\n') {
            let mut line: Vec<u8> = rest.drain(..=searched + at).collect();
            line.pop();
            return Ok(Some(if line.len() > longest { Line::TooLong } else { Line::Whole(line) }));
        }
        if rest.len() > longest {
            return Ok(Some(Line::TooLong));
        }
        searched = rest.len();
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        stream.set_read_timeout(Some(left))?;
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk) {
            Ok(0) => return Ok(None),
            Ok(count) => rest.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What becomes of a request.
#[derive(Debug, PartialEq)]
pub enum Outcome<O> {
    /// It is for the loop, and changes nothing.
    Read(Reading, O),
    /// It is for the loop.
    Order(O),
    /// It is answered so.
    Refuse(Answer),
    /// It is answered so, and the connection is closed: it was no request at all.
    Close(Answer),
}

/// Reads one request and checks all of it; `may_change` says whether whoever asks may change anything.
#[must_use]
pub fn consider<K: Orders>(line: &[u8], may_change: bool, kind: &K) -> Outcome<K::Order> {
    let request: Request = match serde_json::from_slice(line) {
        Ok(request) => request,
        Err(error) => {
            let reason = shorten(&error.to_string());
            let remedy = "send one JSON object a line, such as {\"request\":\"status\"}";
            return Outcome::Close(Answer::refused(format!(
                "the request cannot be read: {reason}: {remedy}"
            )));
        }
    };
    let reading = request.reading();
    if reading.is_none() && !may_change {
        let error = "only root and the daemon's own user may change anything: ask as one of them";
        return Outcome::Refuse(Answer::Refused { error: error.to_owned(), permission: true });
    }
    match (kind.order(request), reading) {
        (Err(error), _) => Outcome::Refuse(Answer::refused(error)),
        (Ok(order), Some(reading)) => Outcome::Read(reading, order),
        (Ok(order), None) => Outcome::Order(order),
    }
}

/// Whether there is this group, if one is named.
///
/// # Errors
/// There is not.
pub fn check_group(name: Option<&str>) -> Result<(), RunError> {
    name.map_or(Ok(()), |name| number_of_group(name).map(drop))
}

/// The number of a group by its name.
fn number_of_group(name: &str) -> Result<u32, RunError> {
    let absent = || RunError::NoGroup(name.to_owned());
    let name = std::ffi::CString::new(name).map_err(|_| absent())?;
    let mut buffer = vec![0; 1 << 16];
    let mut group = core::mem::MaybeUninit::<libc::group>::uninit();
    let mut found = core::ptr::null_mut();
    // SAFETY: the name ends in zero; buffer and group are as long as said and outlive the call.
    let failed = unsafe {
        libc::getgrnam_r(name.as_ptr(), group.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &raw mut found)
    };
    if failed != 0 || found.is_null() {
        return Err(absent());
    }
    // SAFETY: it was found, so `found` points to `group`, which is filled.
    Ok(unsafe { (*found).gr_gid })
}

#[cfg(test)]
mod tests;
