//! The daemon that steers: sleeps until the next period, a request or a change of the interface.
//!
//! No frame passes through it: while it sleeps, or is busy with a request, or has died where its programs are pinned, the
//! programs go on by the decision in force.
//!
//! | | |
//! |-|-|
//! | Work | one system call a period, besides those of the kernel's wait when a decision changes |
//! | Units | nanoseconds since the daemon began |

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use weir_core::pool::Delays;

use super::config::{MOST_CLASSES, Processors};
use super::control::{Control, Steered};
use super::kernel::Kernel;
use super::processors;
use super::requests::{self, Order};
use super::threads::QueueThread;
use crate::daemon::clock::Clock;
use crate::daemon::inbox::Inbox;
use crate::daemon::log;
use crate::io::link::{Facts, Watch};

/// What a daemon is made of, besides its loop.
pub struct Parts {
    /// The clock.
    pub clock: Clock,
    /// The file of the configuration.
    pub file: String,
    /// The processors of this machine.
    pub present: Processors,
    /// The interface as it was when the programs were attached.
    pub facts: Facts,
    /// Where the programs run, in words.
    pub mode: String,
    /// Whether the kernel reports requests that found a queue full.
    pub counts_overflow: bool,
    /// Where orders come from.
    pub inbox: Inbox<Order>,
    /// What says that interfaces have changed.
    pub watch: Watch,
    /// Set by a signal that asks it to end.
    pub ended: Arc<AtomicBool>,
    /// Capabilities that it kept.
    pub capabilities: Vec<String>,
}

/// A daemon that steers.
pub struct Daemon<S> {
    pub(super) control: Control<S>,
    pub(super) parts: Parts,
    /// The processor time that its thread had taken before.
    taken_before: u64,
    told_of_checksums: bool,
}

impl<S: Steered> Daemon<S> {
    /// A daemon of this loop and these parts.
    #[must_use]
    pub fn new(control: Control<S>, parts: Parts) -> Self {
        Self { control, parts, taken_before: taken(), told_of_checksums: false }
    }

    /// Steers until it is asked to end; then returns what it steered by.
    ///
    /// # Errors
    /// The kernel refuses, or the interface is gone.
    pub fn run(mut self) -> io::Result<S> {
        let mut heard = Heard { order: true, change: true };
        while !self.parts.ended.load(Ordering::Relaxed) {
            if heard.order {
                self.answer();
            }
            self.control.advance(self.parts.clock.now())?;
            self.tell_of_checksums();
            if heard.change && self.parts.watch.changed() {
                self.look_at_interface()?;
            }
            heard = self.rest()?;
        }
        Ok(self.control.steered)
    }

    /// Does one thing that was ordered: the inbox wakes the loop again if there is more.
    fn answer(&mut self) {
        if let Some(command) = self.parts.inbox.try_next() {
            let answer = requests::answer(self, command.order);
            command.reply.send(answer);
        }
    }

    /// Tells once that senders leave checksums to a device where there is none.
    fn tell_of_checksums(&mut self) {
        if !self.told_of_checksums && self.control.steered.left_to_device() > 0 {
            self.told_of_checksums = true;
            let name = &self.parts.facts.name;
            log::warning(format_args!(
                "interface {name}: frames arrive whose senders left the checksum to a device; those of UDP and TCP are \
                 completed, which takes time, and others are not steered; `ethtool -K DEVICE tx off` at the other end \
                 avoids both"
            ));
        }
    }

    /// The processor time that the loop has taken, in nanoseconds.
    pub(super) fn busy(&self) -> u64 {
        taken().saturating_sub(self.taken_before)
    }

    /// Asks it to end.
    pub(super) fn end(&self) {
        self.parts.ended.store(true, Ordering::Relaxed);
    }

    /// Ends where the interface is gone: the kernel has taken the programs away with it.
    fn look_at_interface(&mut self) -> io::Result<()> {
        let before = &self.parts.facts;
        let Some(facts) = Facts::of(&before.name).ok().filter(|facts| facts.index == before.index) else {
            let reason = format!("interface {}: gone: start the daemon again when it is back", before.name);
            return Err(io::Error::other(reason));
        };
        if facts.up != before.up {
            log::notice(format_args!("interface {}: {}", facts.name, if facts.up { "up" } else { "down" }));
        }
        self.parts.facts = facts;
        Ok(())
    }

    /// Sleeps until something is due or happens; what woke it.
    fn rest(&self) -> io::Result<Heard> {
        if self.parts.ended.load(Ordering::Relaxed) {
            return Ok(Heard::default());
        }
        let span = self.parts.clock.until(self.control.next_event()).get();
        let span = Timespec { tv_sec: (span / 1_000_000_000) as i64, tv_nsec: (span % 1_000_000_000) as i64 };
        let mut polled = [
            PollFd::from_borrowed_fd(self.parts.inbox.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.parts.watch.as_fd(), PollFlags::IN),
        ];
        match poll(&mut polled, Some(&span)) {
            Ok(_) => {
                let [order, change] = polled.map(|one| !one.revents().is_empty());
                Ok(Heard { order, change })
            }
            Err(Errno::INTR) => Ok(Heard::default()),
            Err(error) => Err(error.into()),
        }
    }
}

/// What is to be checked.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    order: bool,
    change: bool,
}

/// The processor time that this thread has taken, in nanoseconds.
fn taken() -> u64 {
    let taken = clock_gettime(ClockId::ThreadCPUTime);
    taken.tv_sec.unsigned_abs() * 1_000_000_000 + taken.tv_nsec.unsigned_abs()
}

impl Steered for Kernel {
    fn open_queue(&mut self, processor: u32) -> io::Result<()> {
        Self::open_queue(self, processor)
    }
    fn close_queue(&mut self, processor: u32) -> io::Result<()> {
        Self::close_queue(self, processor)
    }
    fn decide(&mut self, decision: &super::decision::Decision) -> io::Result<()> {
        Self::decide(self, decision)
    }
    fn counts(&mut self) -> io::Result<super::counts::Counts> {
        Self::counts(self)
    }
    fn waited(&self) -> [Delays; MOST_CLASSES] {
        Self::waited(self)
    }
    fn left_to_device(&self) -> u64 {
        Self::left_to_device(self)
    }
    fn threads(&self) -> Vec<QueueThread> {
        Self::threads(self)
    }
    fn schedule(&mut self, thread: u32, priority: Option<u8>) -> String {
        if let Some(error) = priority.and_then(|priority| processors::set_priority(thread, priority).err()) {
            log::warning(format_args!(
                "thread {thread} of the kernel gets no real-time priority: {error}; its requests wait for what else runs \
                 there; run as root or with CAP_SYS_NICE"
            ));
        }
        processors::priority(thread).unwrap_or_else(|| "gone".to_owned())
    }
    fn sleeps(&self, thread: u32) -> bool {
        processors::sleeps(thread)
    }
    fn is_at(&self, thread: u32, processor: u32) -> bool {
        processors::is_at(thread, processor)
    }
    fn online(&self) -> io::Result<Processors> {
        processors::online()
    }
}
