//! What a generator asks of the kernel for its own process: signals, priority, processor, fine timers.
//!
//! | | |
//! |-|-|
//! | Source | sigaction(2), sched_setscheduler(2), sched_setaffinity(2), prctl(2) |
//! | Departures | only the calling thread is given the priority and the processor: what writes the log has neither |

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_document::Refused;

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn stop(_signal: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

/// From now on SIGINT and SIGTERM end sleeps and set what is returned; a second one ends the process.
///
/// # Errors
/// The kernel refuses.
pub fn stop_on_signals() -> io::Result<&'static AtomicBool> {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: an all-zero `sigaction` is valid: no flags but the one set, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = stop as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESETHAND;
        // SAFETY: the handler does nothing but store to an atomic, which is async-signal-safe; it lives as long as the
        // process, and the former action is not asked for.
        if unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(&STOP)
}

/// Timers of this thread are as exact as the kernel can: without this they may be 50 µs late by intent.
pub fn fine_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory. Where it fails, lateness shows it.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

/// A real-time priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    policy: libc::c_int,
    level: u8,
}

impl Priority {
    /// Reads `FIFO:50` or `RR:10`.
    ///
    /// # Errors
    /// It is neither, or its level is not from 1 to 99.
    pub fn parse(text: &str) -> Result<Self, String> {
        let remedy = "write FIFO:50 or RR:50, with a level from 1 to 99";
        let (policy, level) = text.split_once(':').ok_or(remedy)?;
        let policy = match policy.to_ascii_uppercase().as_str() {
            "FIFO" => libc::SCHED_FIFO,
            "RR" => libc::SCHED_RR,
            _ => return Err(remedy.to_owned()),
        };
        let level = level.parse().ok().filter(|level| (1..=99).contains(level)).ok_or(remedy)?;
        Ok(Self { policy, level })
    }

    /// Gives it to this thread.
    ///
    /// # Errors
    /// It is not permitted.
    pub fn take(self) -> Result<(), String> {
        // SAFETY: an all-zero `sched_param` is valid.
        let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
        parameters.sched_priority = i32::from(self.level);
        // SAFETY: thread 0 is the calling one; the parameters outlive the call.
        if unsafe { libc::sched_setscheduler(0, self.policy, &raw const parameters) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        Err(format!("--priority: {error}: it needs the capability CAP_SYS_NICE, or leave the option out"))
    }
}

/// Keeps this thread on one processor.
///
/// # Errors
/// There is none of that number, or it is not permitted.
pub fn pin(processor: u32) -> Result<(), Refused> {
    let refuse = |reason: String| {
        let remedy = "name one of `nproc --all` processors, counted from 0, that this process may use";
        Refused::of_file("weird tg", reason, remedy).key("--cpu").value(processor.to_string())
    };
    let mut set = rustix::thread::CpuSet::new();
    let index = processor as usize;
    if index >= rustix::thread::CpuSet::MAX_CPU {
        return Err(refuse(format!("must be below {}", rustix::thread::CpuSet::MAX_CPU)));
    }
    set.set(index);
    rustix::thread::sched_setaffinity(None, &set)
        .map_err(|error| refuse(format!("which is refused: {error}")))
}

/// The name of the host.
#[must_use]
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_read() {
        assert_eq!(Priority::parse("FIFO:50"), Ok(Priority { policy: libc::SCHED_FIFO, level: 50 }));
        assert_eq!(Priority::parse("rr:1"), Ok(Priority { policy: libc::SCHED_RR, level: 1 }));
        for bad in ["", "FIFO", "FIFO:0", "FIFO:100", "OTHER:5", "FIFO:-1"] {
            assert!(Priority::parse(bad).is_err(), "{bad}");
        }
    }
}
