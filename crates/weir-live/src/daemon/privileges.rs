//! What the daemon is allowed: checked before anything is set up, and given up when all is.
//!
//! Of the capabilities of root a running router keeps those alone that it needs to open an interface again that went
//! away and came back:
//!
//! | capability | at the start | kept, because |
//! |---|---|---|
//! | `CAP_NET_ADMIN` | attaches programs, reads and sets devices | an XDP program is attached anew |
//! | `CAP_NET_RAW` | makes AF_XDP and AF_PACKET sockets | the sockets are made anew |
//! | `CAP_BPF` | loads programs and makes maps, with AF_XDP alone | the program is loaded anew |
//! | `CAP_IPC_LOCK` | locks memory | only where RLIMIT_MEMLOCK cannot be lifted, against which frames count; by every thread with `--lock-memory` |
//! | `CAP_SYS_NICE` | gives real-time priority | not kept: it lasts |
//! | `CAP_CHOWN` | gives the control socket to a group, and all of the run directory to `--user` | not kept |
//! | `CAP_SETUID`, `CAP_SETGID` | makes the daemon one of `--user` | not kept |
//!
//! | `CAP_SYS_ADMIN` | joins a dispatcher | only behind one: programs of others are found by their numbers |
//!
//! A daemon that steers never attaches anything anew; of what it needs, it keeps what it needs to change its processors:
//!
//! | capability | at the start | kept, because |
//! |---|---|---|
//! | `CAP_NET_ADMIN` | attaches programs | only behind a dispatcher, as CAP_SYS_ADMIN |
//! | `CAP_BPF` | loads programs and makes maps | queues of processors are made anew |
//! | `CAP_PERFMON` | loads the program that counts what found a queue full | not kept |
//! | `CAP_SYS_NICE` | gives the kernel's threads their priority | the threads of new queues get theirs |
//!
//! Capabilities belong to threads: [`drop_to`] comes before any thread is started, and every thread but that of the loop
//! begins with [`renounce`]. No program that the daemon might start gets them back (no_new_privs).
//!
//! | | |
//! |-|-|
//! | Source | capabilities(7), prctl(2), sched(7), mlock(2) |
//! | Units | priorities of SCHED_FIFO, 1 to 99 |

use core::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::user::User;

/// The highest capability that any kernel may have.
const HIGHEST: u32 = 63;

/// A privilege that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The capability.
    pub capability: String,
    /// What it is needed for.
    pub purpose: &'static str,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { capability, purpose } = self;
        let lower = capability.to_lowercase();
        write!(
            f,
            "{capability} is missing, which {purpose}: run as root, or `setcap {lower}+ep` the program \
             (see `weird doctor`)"
        )
    }
}

impl std::error::Error for Missing {}

/// What a router needs at its start, and keeps; `xdp` where it opens AF_XDP sockets.
#[must_use]
pub fn needed(xdp: bool) -> CapabilitySet {
    let bpf = if xdp { CapabilitySet::BPF } else { CapabilitySet::empty() };
    CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW | bpf
}

/// What a daemon keeps whose programs are behind a dispatcher: it goes out of it at the end, and to find the programs of
/// others by their numbers takes all that root may.
#[must_use]
pub fn for_dispatcher(behind: bool) -> CapabilitySet {
    if behind { CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN } else { CapabilitySet::empty() }
}

/// What a daemon that steers needs at its start; `sets_priority` where the kernel's threads are to have one.
#[must_use]
pub fn steering(sets_priority: bool) -> CapabilitySet {
    CapabilitySet::NET_ADMIN | CapabilitySet::PERFMON | steering_kept(sets_priority)
}

/// What of that it keeps.
#[must_use]
pub fn steering_kept(sets_priority: bool) -> CapabilitySet {
    let nice = if sets_priority { CapabilitySet::SYS_NICE } else { CapabilitySet::empty() };
    CapabilitySet::BPF | nice
}

/// What a capability is needed for.
fn purpose(capability: CapabilitySet) -> &'static str {
    match capability {
        CapabilitySet::NET_ADMIN => "sets devices and attaches programs to them",
        CapabilitySet::NET_RAW => "makes sockets that see whole frames",
        CapabilitySet::BPF => "loads programs into the kernel",
        CapabilitySet::PERFMON => "loads programs that read what the kernel does",
        CapabilitySet::SYS_NICE => "gives real-time priority",
        CapabilitySet::SETUID | CapabilitySet::SETGID => "makes the daemon one of another user",
        CapabilitySet::CHOWN => "gives files to another user or group",
        _ => "was asked for",
    }
}

/// The names of capabilities, as `CAP_NET_ADMIN`.
#[must_use]
pub fn names(of: CapabilitySet) -> Vec<String> {
    of.iter_names().map(|(name, _)| format!("CAP_{name}")).collect()
}

/// What this thread may do now.
///
/// # Errors
/// The system does not say.
pub fn effective() -> io::Result<CapabilitySet> {
    Ok(capabilities(None)?.effective)
}

/// The first capability of these that `effective` lacks.
///
/// # Errors
/// One is missing.
pub fn require(effective: CapabilitySet, needed: CapabilitySet) -> Result<(), Missing> {
    let missing = needed.difference(effective).iter().next();
    missing.map_or(Ok(()), |one| {
        let capability = names(one).pop().unwrap_or_default();
        Err(Missing { capability, purpose: purpose(one) })
    })
}

/// Gives up, for good, all capabilities but these, and keeps those of these that this thread has; returns their names.
/// Becomes `user` too, where one is given.
///
/// # Errors
/// The system refuses.
pub fn drop_to(kept: CapabilitySet, user: Option<User>) -> io::Result<Vec<String>> {
    let now = capabilities(None)?;
    let kept = now.permitted & (kept | for_memory());
    clear_ambient_capability_set()?;
    // What is not in the bounding set cannot come back by a program either. It takes a capability to leave it.
    if now.effective.contains(CapabilitySet::SETPCAP) {
        for number in 0..=HIGHEST {
            let one = CapabilitySet::from_bits_retain(1 << number);
            if !kept.contains(one) && !forget(one)? {
                break;
            }
        }
    }
    user.map_or(Ok(()), User::take_over)?;
    set_no_new_privs(true)?;
    set_capabilities(
        None,
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() },
    )?;
    Ok(names(kept))
}

/// What must be kept for memory: CAP_IPC_LOCK where RLIMIT_MEMLOCK stands. Without either, the frames of a socket that
/// is made anew count against it, and where memory is locked the stack of every thread.
fn for_memory() -> CapabilitySet {
    if lifts_limit() { CapabilitySet::empty() } else { CapabilitySet::IPC_LOCK }
}

/// Lifts RLIMIT_MEMLOCK for good, which takes CAP_SYS_RESOURCE where it is not lifted already.
fn lifts_limit() -> bool {
    setrlimit(Resource::Memlock, Rlimit { current: None, maximum: None }).is_ok()
}

/// Takes one capability out of the bounding set; `false` where the kernel does not know it.
fn forget(one: CapabilitySet) -> io::Result<bool> {
    match remove_capability_from_bounding_set(one) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::INVAL) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether what is mapped is locked, and counts against RLIMIT_MEMLOCK whichever thread maps it.
static LOCKS_ALL: AtomicBool = AtomicBool::new(false);

/// Gives up all capabilities of this thread: what reads from sockets needs none. Where memory is locked under a limit, it
/// keeps CAP_IPC_LOCK: its stack, its heap and the threads that it starts are memory too.
pub fn renounce() {
    let now = capabilities(None).map_or(CapabilitySet::empty(), |now| now.permitted);
    let locks = LOCKS_ALL.load(Ordering::Relaxed);
    let none = if locks { now & CapabilitySet::IPC_LOCK } else { CapabilitySet::empty() };
    // To have less is never refused.
    let done = set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none });
    debug_assert!(done.is_ok());
}

/// Gives this thread a real-time priority, which threads that it starts do not inherit; returns it in words. One that has the
/// priority already needs no capability for that.
///
/// # Errors
/// It is not permitted, or no such priority exists.
pub fn real_time(priority: u8) -> Result<String, Missing> {
    schedule(priority, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK)
}

/// The same, and threads that it starts inherit it until [`real_time`].
///
/// # Errors
/// As there.
pub fn real_time_for_all(priority: u8) -> Result<String, Missing> {
    schedule(priority, libc::SCHED_FIFO)
}

fn schedule(priority: u8, policy: i32) -> Result<String, Missing> {
    let parameters = libc::sched_param { sched_priority: i32::from(priority) };
    // SAFETY: the structure is whole and outlives the call; 0 is the calling thread.
    let failed = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } != 0;
    if failed {
        return Err(lacking(CapabilitySet::SYS_NICE));
    }
    Ok(format!("SCHED_FIFO {priority}"))
}

/// Memory cannot be locked: there is a limit, and no capability to pass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limited {
    /// RLIMIT_MEMLOCK, in bytes; none where the system refuses all the same.
    pub limit: Option<u64>,
}

impl fmt::Display for Limited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit.map_or_else(|| "unlimited".to_owned(), |limit| format!("{limit}B"));
        write!(
            f,
            "--lock-memory: RLIMIT_MEMLOCK is {limit}, and neither CAP_IPC_LOCK nor CAP_SYS_RESOURCE is there to pass it: \
             run as root, `setcap cap_ipc_lock+ep` the program, or lift it (`ulimit -l unlimited`, \
             LimitMEMLOCK=infinity)"
        )
    }
}

impl std::error::Error for Limited {}

/// Keeps the memory of the process from being paged out, as it comes into use.
///
/// What a thread maps later counts against RLIMIT_MEMLOCK, a stack or a heap of its own as a whole. So the limit must be
/// lifted, or be passed by a capability that threads keep; one that the memory of the start fits into is not enough.
///
/// # Errors
/// There is a limit, and no capability to pass it.
pub fn lock_memory() -> Result<(), Limited> {
    let limit = getrlimit(Resource::Memlock).current;
    let passes = effective().is_ok_and(|it| it.contains(CapabilitySet::IPC_LOCK));
    if !lifts_limit() && !passes {
        return Err(Limited { limit });
    }
    LOCKS_ALL.store(true, Ordering::Relaxed);
    // Stacks of threads are mapped whole and used little: what nobody touches is not made present.
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    mlockall(flags).map_err(|_| Limited { limit })
}

fn lacking(one: CapabilitySet) -> Missing {
    Missing { capability: names(one).pop().unwrap_or_default(), purpose: purpose(one) }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let all = needed(true);
        assert_eq!(names(all), ["CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_BPF"]);
        assert_eq!(require(all, all), Ok(()));
        assert_eq!(require(needed(false), needed(false)), Ok(()));
        let missing = require(needed(false), all).expect_err("without BPF");
        let text = "CAP_BPF is missing, which loads programs into the kernel: run as root, or \
                    `setcap cap_bpf+ep` the program (see `weird doctor`)";
        assert_eq!(missing.to_string(), text);
    }

    #[test]
    fn a_limit_is_told_with_what_lifts_it() {
        let text = Limited { limit: Some(8 << 20) }.to_string();
        assert!(text.starts_with("--lock-memory: RLIMIT_MEMLOCK is 8388608B, and neither CAP_IPC_LOCK nor "));
        assert!(text.ends_with("or lift it (`ulimit -l unlimited`, LimitMEMLOCK=infinity)"), "{text}");
    }

    /// Run by the test below in a process of its own: it cannot be undone.
    #[test]
    #[ignore = "gives up the privileges of its process"]
    fn child() {
        let priority = real_time(1).unwrap_or_else(|missing| missing.capability);
        let locked = lock_memory().is_ok();
        let kept = drop_to(needed(false), None).expect("dropped");
        println!("kept {kept:?}, priority {priority}, locked {locked}");
        // Of this thread, which is not the first of the process: tests have threads of their own.
        print!("{}", std::fs::read_to_string("/proc/thread-self/status").expect("read"));
        println!("raised {}", set_capabilities(None, sets(CapabilitySet::SYS_ADMIN)).is_ok());
        println!("priority again {}", real_time(2).is_ok());
        // Under a limit, threads go on to lock what they map.
        let due = effective().expect("told") & CapabilitySet::IPC_LOCK;
        let thread = std::thread::spawn(move || {
            renounce();
            effective().map(|left| left == due)
        });
        println!(
            "renounced {:?}, here {}",
            thread.join().expect("ended").ok(),
            effective().is_ok_and(|it| it.contains(needed(false)))
        );
    }

    fn sets(of: CapabilitySet) -> CapabilitySets {
        CapabilitySets { effective: of, permitted: of, inheritable: CapabilitySet::empty() }
    }

    #[test]
    fn all_but_the_needed_is_given_up_for_good() {
        if !effective().expect("told").contains(needed(true) | CapabilitySet::SETPCAP) {
            println!("skipped: this process has not the privileges of root");
            return;
        }
        let own = std::env::current_exe().expect("this program");
        let path = "daemon::privileges::tests::child";
        let mut child = Command::new(own);
        child.args(["--exact", path, "--ignored", "--nocapture"]);
        let output = child.output().expect("run");
        let text = String::from_utf8_lossy(&output.stdout);
        // Which of the two depends on whether the limit of locked memory can be lifted here.
        let kept = [needed(false), needed(false) | CapabilitySet::IPC_LOCK];
        let told = |kept: &&CapabilitySet| text.contains(&format!("kept {:?}, ", names(**kept)));
        let kept = format!("{:016x}", kept.iter().find(told).expect("one of them").bits());
        for line in [
            format!("CapPrm:\t{kept}"),
            format!("CapEff:\t{kept}"),
            format!("CapBnd:\t{kept}"),
            "CapInh:\t0000000000000000".to_owned(),
            "CapAmb:\t0000000000000000".to_owned(),
            "NoNewPrivs:\t1".to_owned(),
            "raised false".to_owned(),
            "priority again false".to_owned(),
            "renounced Some(true), here true".to_owned(),
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let first = "], priority SCHED_FIFO 1, locked true";
        assert!(text.contains(first), "{text}");
    }
}
