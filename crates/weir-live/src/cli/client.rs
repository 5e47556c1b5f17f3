//! Asking a daemon over its control socket: one connection a request.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::Failure;
use crate::daemon::directory::{Life, base, life, socket_of};
use crate::daemon::protocol::{Answer, LONGEST_REQUEST, Request};

/// How long an answer is waited for: longer than the daemon waits for its loop.
const PATIENCE: Duration = Duration::from_secs(15);
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
    let stream = UnixStream::connect(&socket).map_err(|error| unreached(base, name, &error))?;
    match converse(stream, &line) {
        Ok(Answer::Refused { error, permission: true }) => Err(Failure::Unsupported(error)),
        Ok(Answer::Refused { error, permission: false }) => Err(Failure::Input(error)),
        Ok(answer) => Ok(answer),
        Err(error) => {
            let remedy = format!("see whether it runs with `weird ctl {name} status`");
            Err(Failure::Unsupported(format!("the daemon of `{name}` did not answer: {error}: {remedy}")))
        }
    }
}

fn converse(mut stream: UnixStream, line: &[u8]) -> io::Result<Answer> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
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
