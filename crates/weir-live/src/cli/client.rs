//! Asking a daemon over its control socket: one connection a request.
//!
//! A daemon that does not answer is named with its process and what that does, as the kernel knows it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::Failure;
use crate::daemon::directory::{Life, base, life, socket_of};
use crate::daemon::protocol::{Answer, LONGEST_REQUEST, Request};

/// How long a connection and an answer are waited for: a daemon in good health needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(3);
/// The longest answer, in bytes: figures of as many interfaces, classes and processors as a daemon may have.
const LONGEST_ANSWER: u64 = 1 << 30;

/// Asks the daemon called `name`.
///
/// # Errors
/// No such daemon is running, it may not be asked, or it refuses.
pub(super) fn ask(name: &str, request: &Request) -> Result<Answer, Failure> {
    ask_in(&base(), name, request)
}

/// The same, of a daemon whose run directory is in `base`.
///
/// # Errors
/// As [`ask`].
pub(super) fn ask_in(base: &Path, name: &str, request: &Request) -> Result<Answer, Failure> {
    if name.is_empty() || name.contains('/') || name.starts_with('.') {
        let shown = weir_document::shorten(name);
        return Err(Failure::Input(format!(
            "NAME is `{shown}`, not the name of a daemon: {}",
            running(base)
        )));
    }
    let mut line = serde_json::to_vec(request).map_err(|error| Failure::Input(error.to_string()))?;
    if line.len() > LONGEST_REQUEST {
        let reason = format!("the request has {} bytes, at most {LONGEST_REQUEST} are sent", line.len());
        return Err(Failure::Input(format!("{reason}: shorten the configuration")));
    }
    line.push(b'\n');
    let socket = socket_of(base, name);
    let stream = reach(&socket).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => silent(name, process_of(base, name), request),
        _ => unreached(base, name, &error),
    })?;
    let process = socket_peercred(&stream).ok().map(|peer| peer.pid.as_raw_nonzero().to_string());
    match converse(stream, &line) {
        Ok(Answer::Refused { error, permission: true }) => Err(Failure::Unsupported(error)),
        Ok(Answer::Refused { error, permission: false }) => Err(Failure::Input(error)),
        Ok(answer) => Ok(answer),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            Err(silent(name, process, request))
        }
        Err(error) => {
            let remedy = "look at its messages; start it again if it has ended";
            Err(Failure::Unsupported(format!("the daemon of `{name}` did not answer: {error}: {remedy}")))
        }
    }
}

/// A connection; `WouldBlock` where nobody accepts it in time.
fn reach(path: &Path) -> io::Result<UnixStream> {
    let made = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Before it is connected: where many wait already, that is waited for as well.
    for which in [Timeout::Send, Timeout::Recv] {
        set_socket_timeout(&made, which, Some(PATIENCE))?;
    }
    connect(&made, &SocketAddrUnix::new(path)?)?;
    Ok(UnixStream::from(made))
}

/// The process of a daemon, as its lock names it.
fn process_of(base: &Path, name: &str) -> Option<String> {
    match life(&base.join(name)) {
        Ok(Life::Alive(process)) => Some(process),
        _ => None,
    }
}

/// That a daemon is there and does not answer: what it does instead, and what to do.
fn silent(name: &str, process: Option<String>, request: &Request) -> Failure {
    let known = process.and_then(|process| Some((state(&process)?, process)));
    let (what, remedy) = match known {
        Some(('T' | 't', process)) => {
            let remedy = format!("have it go on with `kill -CONT {process}`");
            (format!("process {process} is stopped (state T)"), remedy)
        }
        Some((state, process)) => {
            let remedy = format!(
                "look at its messages and at the load of this machine; if it stays so, `kill {process}` and start it again"
            );
            (format!("process {process} runs (state {state})"), remedy)
        }
        None => ("its process is not known".to_owned(), "look at its messages".to_owned()),
    };
    let unknown =
        if request.reading().is_some() { "" } else { "; whether it does what was asked is not known" };
    let waited = PATIENCE.as_secs();
    Failure::Unsupported(format!(
        "the daemon of `{name}` does not answer within {waited}s: {what}{unknown}: {remedy}"
    ))
}

/// What a process does, as a letter of proc(5).
fn state(process: &str) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name is in brackets, and may have any in it.
    stat.rsplit_once(") ")?.1.chars().next()
}

fn converse(mut stream: UnixStream, line: &[u8]) -> io::Result<Answer> {
    // A daemon that refuses a request before its end answers and closes: the answer says more than the broken pipe.
    let written = stream.write_all(line);
    let mut answer = String::new();
    let read = BufReader::new(stream.take(LONGEST_ANSWER)).read_line(&mut answer);
    if answer.is_empty() {
        written?;
        read?;
        return Err(io::Error::other("it closed the connection"));
    }
    serde_json::from_str(&answer).map_err(io::Error::from)
}

/// Why there is no connection, and what to do.
fn unreached(base: &Path, name: &str, error: &io::Error) -> Failure {
    let text = match error.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "{} may not be opened: ask as root, or as a member of its group",
            socket_of(base, name).display()
        ),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            format!("no daemon called `{name}` is running: {}", running(base))
        }
        _ => format!("{}: {error}: try again", socket_of(base, name).display()),
    };
    Failure::Unsupported(text)
}

/// What to do where a daemon is not there: the names of those that are.
fn running(base: &Path) -> String {
    let entries = std::fs::read_dir(base).into_iter().flatten().flatten();
    // A lock that may not be opened is somebody's all the same.
    let is_alive = |path: &Path| !matches!(life(path), Ok(Life::Stale));
    let alive = entries.filter(|entry| entry.path().join("control").exists() && is_alive(&entry.path()));
    let mut names: Vec<String> =
        alive.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    match names.is_empty() {
        true => "start it with `weird route FILE` or `weird steer FILE`".to_owned(),
        false => format!("running are `{}`", names.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_daemon_is_named_with_what_it_does() {
        let own = std::process::id().to_string();
        let text = silent("edge", Some(own.clone()), &Request::Status).text().to_owned();
        let expected = format!("the daemon of `edge` does not answer within 3s: process {own} runs (state ");
        assert!(text.starts_with(&expected), "{text}");
        let text = silent("edge", None, &Request::Stop).text().to_owned();
        let expected = "the daemon of `edge` does not answer within 3s: its process is not known; whether it does what \
                        was asked is not known: look at its messages";
        assert_eq!(text, expected);
    }
}
