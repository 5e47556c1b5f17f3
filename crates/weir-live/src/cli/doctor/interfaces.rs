//! What the Ethernet interfaces of this namespace do to packets.

use std::ffi::CStr;

use super::Finding;
use crate::io::dispatcher::attached;
use crate::io::link::{Facts, kernel_forwards};
use crate::io::xdp::MOST_QUEUES;

const AREA: &str = "interfaces";

pub(super) fn examine() -> Vec<Finding> {
    // What is no Ethernet is none of ours.
    names().iter().filter_map(|name| Facts::of(name).ok()).map(|facts| of(&facts)).collect()
}

fn of(facts: &Facts) -> Finding {
    let up = if facts.up { "up" } else { "down" };
    let checksums = match facts.send_whole() {
        Some(line) => {
            format!("; sends packets without their checksums: where `weird` reads the other end, `{line}`")
        }
        None => String::new(),
    };
    let queues = facts.queues.receive;
    let plural = if queues == 1 { "" } else { "s" };
    let program = attached(facts).map(|program| format!("; {program}")).unwrap_or_default();
    let found = format!("{up}, MTU {}B, {queues} receiving queue{plural}{checksums}{program}", facts.mtu);
    let mut remedies: Vec<String> = facts.receive_whole().into_iter().collect();
    if queues > MOST_QUEUES {
        remedies.push(facts.fewer_queues(MOST_QUEUES));
    }
    if kernel_forwards(&facts.name) {
        remedies.push(format!(
            "sysctl net.ipv4.conf.{0}.forwarding=0 net.ipv6.conf.{0}.forwarding=0",
            facts.name
        ));
    }
    match remedies.is_empty() {
        true => Finding::ok(AREA, &facts.name, found),
        false => {
            let remedy = format!("before a router uses it: {}", remedies.join("; "));
            Finding::warn(AREA, &facts.name, found, remedy)
        }
    }
}

/// The interfaces of the namespace of this thread.
fn names() -> Vec<String> {
    let mut names = Vec::new();
    // SAFETY: no argument; the list is freed below, and read only until an entry without a name.
    let list = unsafe { libc::if_nameindex() };
    if list.is_null() {
        return names;
    }
    let mut at = list;
    // SAFETY: the list ends in an entry whose name is null; all before are whole, with names that end in zero.
    unsafe {
        while !(*at).if_name.is_null() {
            names.push(CStr::from_ptr((*at).if_name).to_string_lossy().into_owned());
            at = at.add(1);
        }
        libc::if_freenameindex(list);
    }
    names
}
