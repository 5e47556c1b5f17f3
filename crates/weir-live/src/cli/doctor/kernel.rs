//! What the kernel can do.

use std::io;
use std::path::Path;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::thread::CapabilitySet;

use super::Finding;
use super::probe::{has_qdisc, has_veth, in_namespace};
use crate::daemon::privileges::effective;
use crate::io::program::joins;

const AREA: &str = "kernel";
/// The oldest kernel with CAP_BPF, links of XDP programs and redirects to AF_XDP in one.
const OLDEST: (u32, u32) = (5, 9);
/// Queueing disciplines that comparisons use.
const QDISCS: [&str; 10] = ["clsact", "htb", "tbf", "fq", "sfq", "drr", "fq_codel", "cake", "netem", "etf"];
const FALLBACK: &str = "io = \"auto\" takes AF_PACKET instead";

pub(super) fn examine() -> Vec<Finding> {
    let mut findings = vec![version(), xdp(), dispatcher(), af_xdp(), af_packet(), bpf_files(), btf()];
    findings.extend(in_namespace(namespaces).unwrap_or_else(|| {
        let remedy = "run as root: the probes need CAP_SYS_ADMIN for a network namespace of their own";
        ["veth", "qdiscs"].map(|what| Finding::warn(AREA, what, "cannot be probed", remedy)).to_vec()
    }));
    findings
}

fn version() -> Finding {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(['.', '-', '+']).map_while(|part| part.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) < OLDEST => {
            let remedy = format!("use kernel {}.{} or later, or io = \"af_packet\"", OLDEST.0, OLDEST.1);
            Finding::warn(AREA, "version", release, remedy)
        }
        _ => Finding::ok(AREA, "version", release),
    }
}

fn xdp() -> Finding {
    if !effective().is_ok_and(|now| now.contains(CapabilitySet::BPF)) {
        return Finding::warn(AREA, "XDP", "cannot be probed without CAP_BPF", "run as root");
    }
    // SAFETY: no options are given; the probes make what they need and close it.
    let (program, map) = unsafe {
        (
            libbpf_sys::libbpf_probe_bpf_prog_type(libbpf_sys::BPF_PROG_TYPE_XDP, core::ptr::null()),
            libbpf_sys::libbpf_probe_bpf_map_type(libbpf_sys::BPF_MAP_TYPE_XSKMAP, core::ptr::null()),
        )
    };
    match (program, map) {
        (1, 1) => Finding::ok(AREA, "XDP", "programs and maps of sockets are loaded"),
        (1, _) => Finding::warn(AREA, "XDP", "programs are loaded, maps of AF_XDP sockets are not", FALLBACK),
        _ => Finding::warn(AREA, "XDP", "programs are not loaded", FALLBACK),
    }
}

/// Whether programs can be put behind a dispatcher: one is, on no interface.
fn dispatcher() -> Finding {
    const WHAT: &str = "dispatcher";
    const INSTEAD: &str = "xdp = \"auto\" takes an interface for itself where nobody else has a program";
    if !effective().is_ok_and(|now| now.contains(CapabilitySet::SYS_ADMIN)) {
        return Finding::warn(AREA, WHAT, "cannot be probed without CAP_SYS_ADMIN", "run as root");
    }
    match joins() {
        Ok(()) => Finding::ok(AREA, WHAT, "programs are put behind one (BPF_PROG_TYPE_EXT)"),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let found = "this kernel refuses programs that take the place of a function (BPF_PROG_TYPE_EXT)";
            Finding::warn(AREA, WHAT, found, INSTEAD)
        }
        Err(error) => {
            let error = error.to_string().replace('\n', " ");
            Finding::warn(AREA, WHAT, format!("programs cannot be put behind one: {error}"), INSTEAD)
        }
    }
}

fn af_xdp() -> Finding {
    match socket(AddressFamily::XDP, SocketType::RAW, None) {
        Ok(_) => Finding::ok(AREA, "AF_XDP", "sockets are made"),
        Err(error @ (Errno::PERM | Errno::ACCESS)) => Finding::warn(
            AREA,
            "AF_XDP",
            format!("cannot be probed: {error}"),
            "run as root, or with CAP_NET_RAW",
        ),
        Err(error) => Finding::warn(AREA, "AF_XDP", format!("not in this kernel: {error}"), FALLBACK),
    }
}

fn af_packet() -> Finding {
    match socket(AddressFamily::PACKET, SocketType::RAW, None) {
        Ok(_) => Finding::ok(AREA, "AF_PACKET", "sockets are made"),
        Err(error) => Finding::fail(AREA, "AF_PACKET", error.to_string(), "run as root, or with CAP_NET_RAW"),
    }
}

fn bpf_files() -> Finding {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounted = mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        right.starts_with("bpf ").then(|| left.split(' ').nth(4).unwrap_or_default().to_owned())
    });
    match mounted {
        Some(place) => Finding::ok(AREA, "bpffs", format!("mounted at {place}")),
        None => {
            let remedy =
                "mount -t bpf -o mode=0700 bpf /sys/fs/bpf; on_failure = \"stop\" keeps its program there";
            Finding::warn(AREA, "bpffs", "not mounted", remedy)
        }
    }
}

fn btf() -> Finding {
    let path = Path::new("/sys/kernel/btf/vmlinux");
    match path.exists() {
        true => Finding::ok(AREA, "BTF", format!("at {}", path.display())),
        false => {
            let remedy =
                "take a kernel built with CONFIG_DEBUG_INFO_BTF; routing does without, steering does not";
            Finding::warn(AREA, "BTF", "not there", remedy)
        }
    }
}

/// In a namespace of its own.
fn namespaces() -> Vec<Finding> {
    let veth = match has_veth() {
        Ok(true) => Finding::ok(AREA, "veth", "pairs are made"),
        Ok(false) => {
            Finding::warn(AREA, "veth", "not in this kernel", "take one with CONFIG_VETH: testbeds need it")
        }
        Err(error) => unknown("veth", &error),
    };
    let probed: io::Result<Vec<(&str, bool)>> =
        QDISCS.iter().map(|name| Ok((*name, has_qdisc(name)?))).collect();
    let qdiscs = match probed {
        Ok(probed) => {
            let of = |wanted: bool| {
                let names: Vec<&str> =
                    probed.iter().filter(|(_, has)| *has == wanted).map(|(name, _)| *name).collect();
                if names.is_empty() { "none".to_owned() } else { names.join(", ") }
            };
            // None of them is needed: the disciplines are our own.
            Finding::ok(AREA, "qdiscs", format!("{}; not here: {}", of(true), of(false)))
        }
        Err(error) => unknown("qdiscs", &error),
    };
    vec![veth, qdiscs]
}

fn unknown(what: &str, error: &io::Error) -> Finding {
    Finding::warn(AREA, what, format!("cannot be probed: {error}"), "run as root, with CAP_NET_ADMIN")
}
