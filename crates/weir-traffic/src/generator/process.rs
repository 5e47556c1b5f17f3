//! What a generator asks of the kernel for its own thread: a processor, fine timers.
//!
//! | | |
//! |-|-|
//! | Source | sched_setaffinity(2), prctl(2) |
//! | Departures | only the calling thread is given the processor: what writes the log is not |

use weir_document::Refused;

/// Timers of this thread are as exact as the kernel can: without this they may be 50 µs late by intent.
pub fn fine_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory. Where it fails, lateness shows it.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

/// Keeps this thread on one processor; `command` is the command that was given it.
///
/// # Errors
/// There is none of that number, or it is not permitted.
pub fn pin(processor: u32, command: &str) -> Result<(), Refused> {
    let refuse = |reason: String| {
        let remedy = "name one of `nproc --all` processors, counted from 0, that this process may use";
        Refused::of_file(command, reason, remedy).key("--cpu").value(processor.to_string())
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
