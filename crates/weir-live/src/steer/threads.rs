//! Processors and the kernel's threads on them: which are online, which threads serve our queues, and when the programs
//! that ran a moment ago have ended.
//!
//! A queue of a cpumap is served by a thread of the kernel that is named `cpumap/PROCESSOR/map:MAP`, after the number of
//! the map. Kernels before 5.17 keep the first 15 bytes of that.
//!
//! | | |
//! |-|-|
//! | Source | Linux, kernel/bpf/cpumap.c; proc(5), membarrier(2), sysfs-devices-system-cpu |
//! | Work | O(processes) to find threads; a few milliseconds to wait |
//! | Units | none |

use std::fs;
use std::io;

use super::processors;
use crate::io::link::checked;

/// The longest name of a thread in kernels that cut it.
const CUT: usize = 15;
/// `MEMBARRIER_CMD_GLOBAL`.
const GLOBAL: i32 = 1;

/// A thread of the kernel that serves a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueThread {
    /// The number of the processor.
    pub processor: u32,
    /// The number of the thread, as a process.
    pub process: u32,
}

impl QueueThread {
    /// Runs it under SCHED_FIFO with this priority, from 1 to 99.
    ///
    /// # Errors
    /// It is gone, or permission is missing.
    pub fn prioritize(&self, priority: i32) -> io::Result<()> {
        let parameter = libc::sched_param { sched_priority: priority };
        // SAFETY: the parameter is read, and lives through the call.
        checked(unsafe {
            libc::sched_setscheduler(self.process as i32, libc::SCHED_FIFO, &raw const parameter)
        })
        .map(drop)
    }
}

/// The threads that serve the queues of a map, in order of processors.
pub(super) fn of_map(map: u32) -> Vec<QueueThread> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found = processes
        .filter_map(|entry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            let name = fs::read_to_string(entry.path().join("comm")).ok()?;
            Some(QueueThread { processor: served(name.trim_end(), map)?, process })
        })
        .collect::<Vec<_>>();
    found.sort_by_key(|thread| (thread.processor, thread.process));
    found
}

/// The processor that the thread of this name serves for a map.
fn served(name: &str, map: u32) -> Option<u32> {
    let (processor, _) = name.strip_prefix("cpumap/")?.split_once('/')?;
    let processor: u32 = processor.parse().ok()?;
    let whole = format!("cpumap/{processor}/map:{map}");
    let cut = whole.len() > CUT && name.len() == CUT && whole.starts_with(name);
    (name == whole || cut).then_some(processor)
}

/// Whether there is such a processor, and it is online.
pub(super) fn is_online(processor: u32) -> bool {
    processors::online().is_ok_and(|online| online.0.contains(&processor))
}

/// Waits until every program that runs now has ended.
///
/// # Errors
/// The kernel cannot: it was built without membarrier, or has processors without ticks.
pub(super) fn wait_for_programs() -> io::Result<()> {
    // Programs run between the points that this waits for: those at which every processor has let go of what it read.
    // SAFETY: the call takes two numbers and touches no memory.
    let waited = unsafe { libc::syscall(libc::SYS_membarrier, GLOBAL, 0) };
    checked(waited as i32).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_known_by_its_name_whole_or_cut() {
        assert_eq!(served("cpumap/1/map:123", 123), Some(1));
        assert_eq!(served("cpumap/1/map:12", 123), Some(1), "cut");
        assert_eq!(served("cpumap/1/map:12", 12), Some(1));
        assert_eq!(served("cpumap/1/map:1", 12), None);
        assert_eq!(served("cpumap/12/map:9", 8), None);
        assert_eq!(served("kworker/1:0", 8), None);
    }

    #[test]
    fn programs_are_waited_for() {
        wait_for_programs().expect("this kernel can");
    }
}
