//! The machine, and what of it a thread asks for.

use std::fs;
use std::io;
use std::process::Command;

/// The processor of everything that is compared, and that of whatever posts from outside.
pub const OWN: usize = 0;
pub const OTHER: usize = 1;

/// Binds this thread to the processor at a place among those that the program may use (modulo their number); timers of it
/// end when they should, as weir-exec has it too.
pub fn pin(place: usize) {
    // SAFETY: the sets are whole, and outlive the calls; 0 is the calling thread.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1_000);
        let size = size_of::<libc::cpu_set_t>();
        let mut own: libc::cpu_set_t = std::mem::zeroed();
        let usable = usable();
        libc::CPU_SET(usable[place % usable.len()], &mut own);
        libc::sched_setaffinity(0, size, &raw const own);
    }
}

/// The processors that the program might use at its start.
fn usable() -> &'static [usize] {
    static USABLE: std::sync::OnceLock<Vec<usize>> = std::sync::OnceLock::new();
    USABLE.get_or_init(|| {
        // SAFETY: the set is whole, and outlives the call.
        unsafe {
            let mut allowed: libc::cpu_set_t = std::mem::zeroed();
            libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut allowed);
            (0..libc::CPU_SETSIZE as usize).filter(|&number| libc::CPU_ISSET(number, &allowed)).collect()
        }
    })
}

/// How the system ranks a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    Ordinary,
    Nice(i32),
    Fifo(i32),
}

/// # Errors
/// It is not permitted.
pub fn rank(rank: Rank) -> io::Result<()> {
    // SAFETY: the structure is whole and outlives the call; 0 is the calling thread.
    let done = unsafe {
        match rank {
            Rank::Ordinary => 0,
            Rank::Nice(nice) => libc::setpriority(libc::PRIO_PROCESS, 0, nice),
            Rank::Fifo(priority) => {
                let parameters = libc::sched_param { sched_priority: priority };
                libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters)
            }
        }
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether a thread may be ranked so; tried on one that ends.
pub fn permits(wanted: Rank) -> io::Result<()> {
    std::thread::spawn(move || rank(wanted)).join().expect("it does not panic")
}

fn said_by(command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command).args(arguments).output();
    output.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// A line about the machine, the date, and what else runs.
pub fn describe() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let of = |key: &str| {
        let line = info.lines().find(|line| line.starts_with(key));
        line.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown").to_owned()
    };
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown");
    format!(
        "{}, {} (family {}), {} processors, Linux {}, {}, load {load} at the start",
        said_by("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
        of("model name"),
        of("cpu family"),
        usable().len(),
        said_by("uname", &["-r"]),
        said_by("rustc", &["--version"]),
    )
}
