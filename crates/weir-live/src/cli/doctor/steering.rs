//! What steering needs: maps of processors, programs on them, the kernel's tracepoints; and the threads of queues that
//! there are.

use rustix::thread::CapabilitySet;

use super::Finding;
use super::probe::{serves_queues, traces};
use crate::daemon::privileges::effective;
use crate::steer::processors::{online, present, priority};

const AREA: &str = "steering";
const NEWER: &str = "use kernel 5.17 or later";
/// How the threads that serve the queues of processors are named.
const THREAD: &str = "cpumap/";

pub(super) fn examine() -> Vec<Finding> {
    let mut findings = programs();
    findings.extend([processors(), threads()]);
    findings
}

fn programs() -> Vec<Finding> {
    const WHATS: [&str; 3] = ["cpumap", "cpumap programs", "tp_btf"];
    if !effective().is_ok_and(|now| now.contains(CapabilitySet::BPF)) {
        let unknown = |what| Finding::warn(AREA, what, "cannot be probed without CAP_BPF", "run as root");
        return WHATS.map(unknown).to_vec();
    }
    // SAFETY: no options are given; the probe makes what it needs and closes it.
    let map =
        unsafe { libbpf_sys::libbpf_probe_bpf_map_type(libbpf_sys::BPF_MAP_TYPE_CPUMAP, core::ptr::null()) }
            == 1;
    let (serving, tracing) = (serves_queues(), traces(c"xdp_cpumap_enqueue"));
    let of = |what, has, found: &str, lacks: &str, remedy: &str| match has {
        true => Finding::ok(AREA, what, found),
        false => Finding::warn(AREA, what, lacks, remedy),
    };
    let without = "nothing: what finds a queue full is counted once the queue is idle";
    let [cpumap, cpumap_programs, tp_btf] = WHATS;
    vec![
        of(cpumap, map, "maps of processors are made", "not in this kernel", NEWER),
        of(cpumap_programs, serving, "programs on processors are loaded", "not in this kernel", NEWER),
        of(
            tp_btf,
            tracing,
            "programs on tracepoints are loaded",
            "programs on tracepoints are not loaded",
            without,
        ),
    ]
}

fn processors() -> Finding {
    const WHAT: &str = "processors";
    match (present(), online()) {
        (Ok(present), Ok(online)) if present == online => {
            Finding::ok(AREA, WHAT, format!("{present}, all online"))
        }
        (Ok(present), Ok(online)) => {
            let remedy = "echo 1 > /sys/devices/system/cpu/cpuN/online";
            Finding::warn(AREA, WHAT, format!("{present}, of which {online} are online"), remedy)
        }
        _ => Finding::warn(AREA, WHAT, "the kernel does not say", "mount /sys"),
    }
}

/// The threads that serve queues now, of whatever program.
fn threads() -> Finding {
    const WHAT: &str = "queue threads";
    let mut found: Vec<(String, String)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let thread = entry.file_name().to_str()?.parse().ok()?;
            let name = std::fs::read_to_string(entry.path().join("comm")).ok()?;
            Some((name.trim().to_owned(), priority(thread)?)).filter(|(name, _)| name.starts_with(THREAD))
        })
        .collect();
    found.sort();
    let told: Vec<String> = found.iter().map(|(name, priority)| format!("{name}: {priority}")).collect();
    let is_late = |(_, priority): &(String, String)| !priority.starts_with("SCHED_FIFO");
    match found.iter().any(is_late) {
        _ if found.is_empty() => Finding::ok(AREA, WHAT, "none: nothing is steered now"),
        false => Finding::ok(AREA, WHAT, told.join(", ")),
        true => {
            let remedy = "chrt -f -p 50 THREAD, or `priority` in the file: requests wait up to 4 ms for what else runs";
            Finding::warn(AREA, WHAT, told.join(", "), remedy)
        }
    }
}
