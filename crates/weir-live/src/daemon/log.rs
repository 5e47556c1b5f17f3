//! What a daemon tells its operator, on standard error: written by a thread of its own, so that nobody waits for a reader.
//!
//! A message is put into a queue of [`LONGEST_QUEUE`]. What finds it full is counted, and the number is written once there
//! is room: a log that nobody reads costs messages, and never packets. At the end what is queued has [`LAST_WAIT`] to be
//! written. A command that runs no daemon has no queue, and writes at once.
//!
//! ```text
//! 2026-11-22T02:00:00.000125Z notice: interface eth0: up
//! <5>interface eth0: up                                     where standard error is the journal
//! ```
//!
//! | | |
//! |-|-|
//! | Source | RFC 3339 (UTC); RFC 5424 (severities); sd-daemon(3) for the prefix, systemd.exec(5) for JOURNAL_STREAM |
//! | Work | of whoever says something: the formatting, and one entry of a queue |
//! | Memory | [`LONGEST_QUEUE`] messages |
//! | Units | microseconds of the wall clock |

use core::fmt;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::fstat;
use rustix::io::Errno;
use weir_traffic::generator::clock::wall;
use weir_traffic::generator::wall::WallTime;

use super::privileges;

/// The most messages that wait to be written.
pub const LONGEST_QUEUE: usize = 1024;
/// How long they have at the end of the daemon.
pub const LAST_WAIT: Duration = Duration::from_secs(1);
/// The stack of the thread that writes, in bytes.
const STACK: usize = 128 << 10;

/// How much a message matters, with the number of its severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Level {
    /// Something is not done that was to be done.
    Error = 3,
    /// The operator should change something.
    Warning = 4,
    /// Something has changed that matters to packets.
    Notice = 5,
    /// What is in force.
    Info = 6,
    /// What a developer asks.
    Debug = 7,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
            Self::Info => "info",
            Self::Debug => "debug",
        })
    }
}

/// How a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// With its time and level.
    Stamped,
    /// With its severity; the journal has the time.
    Journal,
}

impl Form {
    fn line(self, at: WallTime, level: Level, text: &str) -> String {
        // A message is a line, whatever is in it.
        let text = text.replace('\n', " ");
        match self {
            Self::Stamped => format!("{} {level}: {text}\n", stamp(at)),
            Self::Journal => format!("<{}>{text}\n", level as u8),
        }
    }

    /// That of standard error: JOURNAL_STREAM names the device and the inode of the journal's socket.
    fn of_standard_error(named: Option<&str>) -> Self {
        let is = fstat(io::stderr()).map(|found| format!("{}:{}", found.st_dev, found.st_ino)).ok();
        if named.is_some() && named == is.as_deref() { Self::Journal } else { Self::Stamped }
    }
}

/// A time to the microsecond, as RFC 3339 has it.
pub(crate) fn stamp(at: WallTime) -> String {
    let (seconds, rest) = (at.nanos() / 1_000_000_000, at.nanos() % 1_000_000_000);
    let seconds = WallTime::new(seconds * 1_000_000_000).unwrap_or_default().to_string();
    format!("{}.{:06}Z", seconds.trim_end_matches('Z'), rest / 1000)
}

enum Entry {
    Line(String),
    /// All that was before is written: said so here.
    End(SyncSender<()>),
}

/// The end of the queue of those who say something.
struct Queue {
    entries: SyncSender<Entry>,
    lost: AtomicU64,
    form: Form,
    most: Level,
}

impl Queue {
    fn say(&self, level: Level, text: fmt::Arguments<'_>) {
        if level <= self.most {
            let line = self.form.line(wall(), level, &text.to_string());
            if self.entries.try_send(Entry::Line(line)).is_err() {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// What is to be said of messages that found no room since the last time.
    fn loss(&self) -> Option<String> {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        (lost > 0).then(|| {
            let text = format!("{lost} messages were lost: the reader of standard error is too slow");
            self.form.line(wall(), Level::Warning, &text)
        })
    }

    /// Writes what comes until the end.
    fn drain(&self, entries: &Receiver<Entry>, mut write: impl FnMut(&str)) {
        loop {
            let next = match entries.try_recv() {
                // Whoever found no room found the queue full, so that it is written after what was in it.
                Err(TryRecvError::Empty) => {
                    self.loss().iter().for_each(|line| write(line));
                    entries.recv().ok()
                }
                next => next.ok(),
            };
            match next {
                Some(Entry::Line(line)) => write(&line),
                Some(Entry::End(written)) => {
                    self.loss().iter().for_each(|line| write(line));
                    let _ = written.try_send(());
                    return;
                }
                None => return,
            }
        }
    }

    /// Waits until all is written, at most until then.
    fn flush(&self, until: Instant) {
        let (written, all) = sync_channel(1);
        let mut end = Entry::End(written);
        while let Err(TrySendError::Full(back)) = self.entries.try_send(end) {
            if Instant::now() >= until {
                return;
            }
            end = back;
            sleep(Duration::from_millis(1));
        }
        let _ = all.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}

/// The log of this process, once it has begun, and the end of its queue until that is served.
static LOG: OnceLock<Queue> = OnceLock::new();
static QUEUED: Mutex<Option<Receiver<Entry>>> = Mutex::new(None);

/// Begins the log of a daemon: messages up to this level are queued from now on, and written once it is served.
pub fn begin(most: Level) {
    let (entries, queued) = sync_channel(LONGEST_QUEUE);
    let form = Form::of_standard_error(std::env::var("JOURNAL_STREAM").ok().as_deref());
    if LOG.set(Queue { entries, lost: AtomicU64::new(0), form, most }).is_ok() {
        *QUEUED.lock().unwrap_or_else(PoisonError::into_inner) = Some(queued);
    }
}

/// Writes messages from now on, in a thread that begins with what this one may do, and gives all of it up.
///
/// # Errors
/// The system has no thread left.
pub fn serve() -> io::Result<()> {
    let queued = QUEUED.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some((queued, log)) = queued.zip(LOG.get()) else { return Ok(()) };
    let write = move || {
        privileges::renounce();
        log.drain(&queued, write_out);
    };
    Builder::new().name("log".to_owned()).stack_size(STACK).spawn(write).map(drop)
}

/// Writes what is queued, where the process is about to end; a reader is waited for at most [`LAST_WAIT`].
pub fn end() {
    if let Some(log) = LOG.get()
        && serve().is_ok()
    {
        log.flush(Instant::now() + LAST_WAIT);
    }
}

/// Writes a line to standard error. One that cannot be written is no reason to end; a reader is waited for.
fn write_out(line: &str) {
    let error = io::stderr();
    let mut left = line.as_bytes();
    while !left.is_empty() {
        match rustix::io::write(&error, left) {
            Ok(count) => left = &left[count..],
            Err(Errno::INTR) => {}
            // Somebody else has made it so for all who share it.
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::from_borrowed_fd(error.as_fd(), PollFlags::OUT)], None);
            }
            Err(_) => return,
        }
    }
}

/// Says something to the operator.
pub(crate) fn say(level: Level, text: fmt::Arguments<'_>) {
    match LOG.get() {
        Some(log) => log.say(level, text),
        None if level == Level::Error => write_out(&format!("error: {text}\n")),
        None if level <= Level::Notice => write_out(&format!("{text}\n")),
        None => {}
    }
}

/// Something is not done that was to be done.
pub(crate) fn error(text: fmt::Arguments<'_>) {
    say(Level::Error, text);
}

/// The operator should change something.
pub(crate) fn warning(text: fmt::Arguments<'_>) {
    say(Level::Warning, text);
}

/// Something has changed that matters to packets.
pub(crate) fn notice(text: fmt::Arguments<'_>) {
    say(Level::Notice, text);
}

/// What is in force.
pub(crate) fn info(text: fmt::Arguments<'_>) {
    say(Level::Info, text);
}

/// What a developer asks.
pub(crate) fn debug(text: fmt::Arguments<'_>) {
    say(Level::Debug, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(most: Level) -> (Queue, Receiver<Entry>) {
        let (entries, queued) = sync_channel(LONGEST_QUEUE);
        (Queue { entries, lost: AtomicU64::new(0), form: Form::Journal, most }, queued)
    }

    #[test]
    fn a_line_has_its_time_or_its_severity() {
        let at = WallTime::parse("2026-11-22T02:00:00.0001259Z").expect("a time");
        let line = |form: Form, level| form.line(at, level, "interface eth0:\nup");
        assert_eq!(
            line(Form::Stamped, Level::Notice),
            "2026-11-22T02:00:00.000125Z notice: interface eth0: up\n"
        );
        assert_eq!(line(Form::Journal, Level::Warning), "<4>interface eth0: up\n");
    }

    #[test]
    fn the_journal_is_known_by_its_inode() {
        let found = fstat(io::stderr()).expect("open");
        let named = format!("{}:{}", found.st_dev, found.st_ino);
        assert_eq!(Form::of_standard_error(Some(&named)), Form::Journal);
        assert_eq!(Form::of_standard_error(Some("0:0")), Form::Stamped);
        assert_eq!(Form::of_standard_error(None), Form::Stamped);
    }

    #[test]
    fn a_reader_who_does_not_read_costs_messages_and_no_time() {
        let (queue, queued) = queue(Level::Info);
        for number in 0..LONGEST_QUEUE + 7 {
            queue.say(Level::Info, format_args!("{number}"));
            queue.say(Level::Debug, format_args!("not asked for"));
        }
        // Nobody reads: it gives up at its time.
        queue.flush(Instant::now() + Duration::from_millis(5));
        let mut lines = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| queue.flush(Instant::now() + Duration::from_secs(60)));
            queue.drain(&queued, |line| lines.push(line.to_owned()));
        });
        let mut expected: Vec<String> = (0..LONGEST_QUEUE).map(|number| format!("<6>{number}\n")).collect();
        expected.push("<4>7 messages were lost: the reader of standard error is too slow\n".to_owned());
        assert_eq!(lines, expected);
    }

    #[test]
    fn at_the_end_all_is_written() {
        let (queue, queued) = queue(Level::Debug);
        let (queue, written) = (&queue, &AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(move || {
                queue.drain(&queued, |_| {
                    sleep(Duration::from_millis(2));
                    written.fetch_add(1, Ordering::Relaxed);
                });
            });
            (0..3).for_each(|number| queue.say(Level::Debug, format_args!("{number}")));
            queue.flush(Instant::now() + Duration::from_secs(60));
            assert_eq!(written.load(Ordering::Relaxed), 3);
        });
    }
}
