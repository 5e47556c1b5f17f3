//! Privileges, scheduling, clocks and memory.

use std::fs;

use rustix::process::{Resource, getrlimit};
use rustix::thread::CapabilitySet;
use rustix::time::{ClockId, clock_getres};
use weir_core::units::Nanos;
use weir_gauge::text::{bytes, span};

use super::probe::aside;
use super::{Finding, State};
use crate::daemon::privileges::{Missing, effective, needed, real_time, require, steering};

/// Clock sources that are read without leaving the processor or the guest.
const FAST_CLOCKS: [&str; 5] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "riscv_clocksource"];

pub(super) fn examine() -> Vec<Finding> {
    let mut findings = privileges();
    findings.extend([locked_memory(), fifo(), throttling(), deadline(), clock(), resolution(), governor()]);
    findings
}

fn privileges() -> Vec<Finding> {
    const AREA: &str = "privileges";
    let now = effective().unwrap_or(CapabilitySet::empty());
    let all = needed(true) | steering(true) | CapabilitySet::IPC_LOCK;
    let state = |one: CapabilitySet| match one {
        CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW => State::Fail,
        _ => State::Warn,
    };
    let findings = all.iter().map(|one| match require(now, one) {
        Ok(()) => Finding::ok(AREA, crate::daemon::privileges::names(one).concat(), "this process has it"),
        Err(Missing { capability, purpose }) => {
            let remedy = "run as root, or give it to the program with `setcap`";
            Finding {
                state: state(one),
                ..Finding::warn(AREA, capability, format!("missing; it {purpose}"), remedy)
            }
        }
    });
    findings.collect()
}

fn locked_memory() -> Finding {
    const AREA: &str = "memory";
    const WHAT: &str = "RLIMIT_MEMLOCK";
    let may = effective().is_ok_and(|now| now.contains(CapabilitySet::IPC_LOCK));
    match getrlimit(Resource::Memlock).current {
        None => Finding::ok(AREA, WHAT, "unlimited"),
        Some(limit) if may => {
            Finding::ok(AREA, WHAT, format!("{}, which CAP_IPC_LOCK sets aside", bytes(limit)))
        }
        Some(limit) => {
            let remedy = "`ulimit -l unlimited`, or CAP_IPC_LOCK: the frames of AF_XDP count against it";
            Finding::warn(AREA, WHAT, bytes(limit), remedy)
        }
    }
}

const SCHEDULING: &str = "scheduling";

fn fifo() -> Finding {
    match aside(|| real_time(1)) {
        Some(Ok(_)) => Finding::ok(SCHEDULING, "SCHED_FIFO", "can be set"),
        _ => {
            let remedy = "run as root, or with CAP_SYS_NICE: without it waits end up to 4 ms late";
            Finding::warn(SCHEDULING, "SCHED_FIFO", "cannot be set", remedy)
        }
    }
}

fn throttling() -> Finding {
    const WHAT: &str = "real-time share";
    let of = |name: &str| -> Option<i64> {
        fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse().ok()
    };
    match (of("sched_rt_runtime_us"), of("sched_rt_period_us")) {
        (Some(runtime), Some(period)) if runtime >= 0 && period > 0 => {
            let span_of = |micros: i64| span(Nanos::new(micros.unsigned_abs() * 1_000));
            Finding::ok(SCHEDULING, WHAT, format!("{} of each {}", span_of(runtime), span_of(period)))
        }
        (Some(_), Some(_)) => Finding::ok(SCHEDULING, WHAT, "not limited"),
        _ => Finding::ok(SCHEDULING, WHAT, "not visible"),
    }
}

/// The attributes that `sched_setattr` takes.
#[repr(C)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

fn deadline() -> Finding {
    let tried = aside(|| {
        let attributes = Attributes {
            size: size_of::<Attributes>() as u32,
            policy: libc::SCHED_DEADLINE as u32,
            flags: 0,
            nice: 0,
            priority: 0,
            runtime: 1_000_000,
            deadline: 10_000_000,
            period: 10_000_000,
        };
        // SAFETY: the structure is as long as it says and outlives the call; 0 is the calling thread.
        let failed = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) } != 0;
        failed.then(std::io::Error::last_os_error)
    });
    match tried {
        Some(None) => Finding::ok(SCHEDULING, "SCHED_DEADLINE", "can be set"),
        // No router needs it.
        Some(Some(error)) => Finding::ok(SCHEDULING, "SCHED_DEADLINE", format!("cannot be set: {error}")),
        None => Finding::ok(SCHEDULING, "SCHED_DEADLINE", "cannot be probed"),
    }
}

const CLOCKS: &str = "clocks";

fn clock() -> Finding {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    match fs::read_to_string(path).map(|text| text.trim().to_owned()) {
        Ok(source) if FAST_CLOCKS.contains(&source.as_str()) => Finding::ok(CLOCKS, "clock", source),
        Ok(source) => {
            let remedy =
                "boot with a faster one, such as clocksource=tsc, if the machine has it: each reading costs";
            Finding::warn(CLOCKS, "clock", source, remedy)
        }
        Err(_) => Finding::ok(CLOCKS, "clock", "not visible"),
    }
}

fn resolution() -> Finding {
    let resolution = clock_getres(ClockId::Monotonic);
    let nanos = u64::try_from(resolution.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(resolution.tv_nsec).unwrap_or(0);
    match nanos {
        0..=1_000 => Finding::ok(CLOCKS, "resolution", span(Nanos::new(nanos))),
        _ => {
            let remedy = "boot a kernel with high-resolution timers: pacing is no finer than this";
            Finding::warn(CLOCKS, "resolution", span(Nanos::new(nanos)), remedy)
        }
    }
}

fn governor() -> Finding {
    let entries = fs::read_dir("/sys/devices/system/cpu").into_iter().flatten().flatten();
    let read = |path: std::path::PathBuf| fs::read_to_string(path.join("cpufreq/scaling_governor")).ok();
    let mut governors: Vec<String> =
        entries.filter_map(|entry| read(entry.path())).map(|text| text.trim().to_owned()).collect();
    governors.sort();
    governors.dedup();
    match governors.as_slice() {
        [] => Finding::ok(CLOCKS, "cpufreq", "not visible"),
        [one] if one == "performance" => Finding::ok(CLOCKS, "cpufreq", "performance"),
        several => {
            let remedy = "cpupower frequency-set -g performance: a processor that wakes slowly sends late";
            Finding::warn(CLOCKS, "cpufreq", several.join(", "), remedy)
        }
    }
}
