//! Processors of this machine: which there are, which are online, and how threads on them are scheduled.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/ABI/testing/sysfs-devices-system-cpu; proc(5), sched(7) |
//! | Work | one small file each |
//! | Units | processors by their number |

use std::io;

use rustix::process::Pid;
use rustix::thread::sched_getaffinity;

use super::config::{MOST_PROCESSORS, Processors};

/// Where the kernel says which there are.
const FOLDER: &str = "/sys/devices/system/cpu";

/// The processors of the machine.
///
/// # Errors
/// The kernel does not say.
pub fn present() -> io::Result<Processors> {
    listed("present")
}

/// Those that run.
///
/// # Errors
/// The kernel does not say.
pub fn online() -> io::Result<Processors> {
    listed("online")
}

fn listed(which: &str) -> io::Result<Processors> {
    let text = std::fs::read_to_string(format!("{FOLDER}/{which}"))?;
    Processors::parse(text.trim()).map_err(|reason| io::Error::other(format!("{FOLDER}/{which} {reason}")))
}

/// Those of a list that can serve, and what the operator should know about the others.
#[derive(Debug, PartialEq, Eq)]
pub struct Usable {
    /// In the order of the list.
    pub processors: Processors,
    /// One message for each reason for which some were left out.
    pub notices: Vec<String>,
}

/// What of a list of processors can be used on a machine that has `present`.
///
/// # Errors
/// None is left.
pub fn usable(wanted: &Processors, present: &Processors) -> Result<Usable, String> {
    let (mut there, absent): (Vec<u32>, Vec<u32>) =
        wanted.0.iter().partition(|processor| present.0.contains(processor));
    if there.is_empty() {
        return Err(format!(
            "processors is \"{wanted}\", none of which is in this machine, which has {present}: name some of those"
        ));
    }
    let mut notices = Vec::new();
    if there.len() > MOST_PROCESSORS {
        notices.push(format!(
            "processors: {} are named, {MOST_PROCESSORS} at most are used; the last are left out",
            there.len()
        ));
        there.truncate(MOST_PROCESSORS);
    }
    let processors = Processors(there);
    if !absent.is_empty() {
        notices.push(format!(
            "processors: {} are not in this machine, which has {present}; {processors} serve",
            Processors(absent)
        ));
    }
    Ok(Usable { processors, notices })
}

/// Gives a thread a real-time priority.
///
/// # Errors
/// It is not permitted, or the thread is gone.
pub fn set_priority(thread: u32, priority: u8) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: i32::from(priority) };
    // SAFETY: the structure is whole and outlives the call.
    let set = unsafe { libc::sched_setscheduler(thread as i32, libc::SCHED_FIFO, &raw const parameters) };
    crate::io::link::checked(set).map(drop)
}

/// How a thread is scheduled, in words: `SCHED_FIFO 50`; `None` where it is gone.
#[must_use]
pub fn priority(thread: u32) -> Option<String> {
    let mut parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the structure is whole and outlives both calls.
    let (policy, told) = unsafe {
        let policy = libc::sched_getscheduler(thread as i32);
        (policy, libc::sched_getparam(thread as i32, &raw mut parameters))
    };
    if policy < 0 || told < 0 {
        return None;
    }
    let name = match policy & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_OTHER => return Some("SCHED_OTHER".to_owned()),
        libc::SCHED_BATCH => return Some("SCHED_BATCH".to_owned()),
        libc::SCHED_IDLE => return Some("SCHED_IDLE".to_owned()),
        libc::SCHED_FIFO => "SCHED_FIFO",
        libc::SCHED_RR => "SCHED_RR",
        _ => return Some(format!("policy {policy}")),
    };
    Some(format!("{name} {}", parameters.sched_priority))
}

/// Whether a thread sleeps, or is gone.
#[must_use]
pub fn sleeps(thread: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{thread}/stat")).unwrap_or_default();
    // The state stands behind the name, which may have brackets of its own.
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['S', 'I', 'D']))
}

/// Whether a thread may run on this processor and on no other, or is gone.
#[must_use]
pub fn is_at(thread: u32, processor: u32) -> bool {
    let Some(thread) = i32::try_from(thread).ok().and_then(Pid::from_raw) else { return true };
    // The kernel reports no more processors than its caller has room for: the rest is unknown then.
    let Ok(allowed) = sched_getaffinity(Some(thread)) else { return true };
    allowed.count() == 1 && allowed.is_set(processor as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Processors {
        Processors::parse(text).expect(text)
    }

    #[test]
    fn processors_that_are_not_there_are_left_out_with_a_word() {
        let usable = |wanted: &str, present: &str| usable(&list(wanted), &list(present));
        assert_eq!(usable("1-2", "0-3"), Ok(Usable { processors: list("1-2"), notices: Vec::new() }));
        let some = usable("1-7", "0-3").expect("some");
        assert_eq!(some.processors, list("1-3"));
        assert_eq!(
            some.notices,
            ["processors: 4-7 are not in this machine, which has 0-3; 1-3 serve".to_owned()]
        );
        let none = usable("4-7", "0-3").expect_err("none");
        assert_eq!(
            none,
            "processors is \"4-7\", none of which is in this machine, which has 0-3: name some of those"
        );
        let most = usable("0-400", "0-500").expect("some");
        assert_eq!(most.processors, list("0-255"));
        assert!(most.notices[0].starts_with("processors: 401 are named, 256 at most are used"), "{most:?}");
    }

    #[test]
    fn this_machine_has_processors_and_this_thread_a_policy() {
        let (present, online) = (present().expect("told"), online().expect("told"));
        assert!(!online.0.is_empty() && online.0.iter().all(|processor| present.0.contains(processor)));
        let own = std::process::id();
        assert!(priority(own).is_some_and(|words| words.starts_with("SCHED_")));
        assert!(!sleeps(own) || priority(own).is_some());
        assert!(sleeps(u32::MAX >> 1) && priority(u32::MAX >> 1).is_none());
    }
}
