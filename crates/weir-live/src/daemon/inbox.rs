//! How other threads ask the loop of a daemon: a bounded queue of commands, each with a way to answer. What is ordered is
//! of the kind of the daemon.
//!
//! The loop polls [`Inbox`] with its sockets and takes one command after the other; whoever asks waits. The loop never
//! waits for them: a queue that is full refuses, and an answer that nobody wants any more is dropped.
//!
//! | | |
//! |-|-|
//! | Source | eventfd(2) |
//! | Work | O(1) a command, one system call to look whether there is one |
//! | Memory | at most [`LONGEST_QUEUE`] commands wait |

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};

use super::protocol::Answer;

/// The most commands that wait.
pub const LONGEST_QUEUE: usize = 64;
/// How long an answer is waited for.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// One order, and the way to answer it.
#[derive(Debug)]
pub struct Command<O> {
    /// What is to be done; everything in it has been read and checked.
    pub order: O,
    /// Who waits for the answer.
    pub reply: Reply,
}

/// The way to answer; dropped unanswered, it lets whoever asked know that the daemon ends.
pub struct Reply {
    sender: SyncSender<Told>,
    /// When the loop took it up.
    begun: Option<Instant>,
}

/// An answer, made by the thread that asked, and how long the loop was busy with it.
struct Told {
    answer: Box<dyn FnOnce() -> Answer + Send>,
    busy: Duration,
}

impl Reply {
    /// Answers, without waiting.
    pub fn send(self, answer: Answer) {
        self.send_later(|| answer);
    }

    /// Answers with what the thread that asked makes of it, without waiting.
    pub fn send_later(self, answer: impl FnOnce() -> Answer + Send + 'static) {
        let busy = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        // Who asked may have given up.
        let _ = self.sender.try_send(Told { answer: Box::new(answer), busy });
    }
}

impl core::fmt::Debug for Reply {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reply").field("begun", &self.begun).finish_non_exhaustive()
    }
}

/// The end of the loop.
#[derive(Debug)]
pub struct Inbox<O> {
    commands: Receiver<Command<O>>,
    wake: Arc<OwnedFd>,
}

impl<O> Inbox<O> {
    /// The next command, if there is one. After `None`, the descriptor is not readable until another comes.
    #[must_use]
    pub fn try_next(&self) -> Option<Command<O>> {
        let next = self.commands.try_recv().ok().or_else(|| {
            // The signal is taken before the queue is read again: what comes in between signals anew.
            let _ = rustix::io::read(&self.wake, &mut [0; 8]);
            self.commands.try_recv().ok()
        });
        next.map(|Command { order, reply }| {
            let begun = Some(Instant::now());
            Command { order, reply: Reply { begun, ..reply } }
        })
    }
}

impl<O> AsFd for Inbox<O> {
    /// Readable while a command may be there.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

/// The end of those who ask.
#[derive(Debug)]
pub struct Caller<O> {
    commands: SyncSender<Command<O>>,
    wake: Arc<OwnedFd>,
}

impl<O> Clone for Caller<O> {
    fn clone(&self) -> Self {
        Self { commands: self.commands.clone(), wake: Arc::clone(&self.wake) }
    }
}

impl<O> Caller<O> {
    /// Asks, and waits for the answer, at most [`PATIENCE`].
    #[must_use]
    pub fn ask(&self, order: O) -> Answer {
        self.ask_timed(order).0
    }

    /// The same, with how long the loop was busy with it.
    #[must_use]
    pub fn ask_timed(&self, order: O) -> (Answer, Duration) {
        let (sender, answer) = sync_channel(1);
        let refused = |error: String| (Answer::refused(error), Duration::ZERO);
        match self.commands.try_send(Command { order, reply: Reply { sender, begun: None } }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                return refused(format!("{LONGEST_QUEUE} requests wait already: ask again later"));
            }
            Err(TrySendError::Disconnected(_)) => return refused(ENDS.to_owned()),
        }
        // It fails only where the counter is full, and then the loop has been woken.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        match answer.recv_timeout(PATIENCE) {
            Ok(Told { answer, busy }) => (answer(), busy),
            Err(RecvTimeoutError::Disconnected) => refused(ENDS.to_owned()),
            Err(RecvTimeoutError::Timeout) => {
                let waited = PATIENCE.as_secs();
                refused(format!("no answer after {waited}s: look at the daemon's messages"))
            }
        }
    }
}

const ENDS: &str = "the daemon is ending: restart it";

/// Both ends.
///
/// # Errors
/// The system has no descriptor left.
pub fn inbox<O>() -> io::Result<(Caller<O>, Inbox<O>)> {
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let (sender, commands) = sync_channel(LONGEST_QUEUE);
    Ok((Caller { commands: sender, wake: Arc::clone(&wake) }, Inbox { commands, wake }))
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn is_readable(inbox: &Inbox<&str>) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(inbox, PollFlags::IN)], Some(&now)).expect("polled") > 0
    }

    #[test]
    fn the_loop_is_woken_and_answers() {
        let (caller, inbox) = inbox().expect("a descriptor");
        assert!(inbox.try_next().is_none() && !is_readable(&inbox));
        let asking = std::thread::spawn(move || (caller.ask("stop"), caller.ask("status")));
        for (order, said) in [("stop", "first"), ("status", "second")] {
            let command = loop {
                poll(&mut [PollFd::new(&inbox, PollFlags::IN)], None).expect("polled");
                if let Some(command) = inbox.try_next() {
                    break command;
                }
            };
            assert_eq!(command.order, order);
            command.reply.send(Answer::Done { said: said.to_owned() });
        }
        let done = |said: &str| Answer::Done { said: said.to_owned() };
        assert_eq!(asking.join().expect("answered"), (done("first"), done("second")));
        assert!(inbox.try_next().is_none() && !is_readable(&inbox));
    }

    #[test]
    fn a_loop_that_is_gone_or_flooded_refuses() {
        let (caller, inbox) = inbox().expect("a descriptor");
        for _ in 0..LONGEST_QUEUE {
            let reply = Reply { sender: sync_channel(1).0, begun: None };
            caller.commands.try_send(Command { order: "stats", reply }).expect("room");
        }
        assert!(matches!(caller.ask("stats"), Answer::Refused { error, .. } if error.starts_with("64 ")));
        // An answer that nobody wants is no harm.
        inbox.try_next().expect("one of them").reply.send(Answer::refused("late"));
        drop(inbox);
        assert_eq!(caller.ask("stats"), Answer::refused(ENDS));
    }
}
