//! Commands for Linux: the queueing disciplines `ets` and `drr`, with the quanta of the plan.
//!
//! Source: the manual pages tc-ets(8) and tc-drr(8).

use core::fmt::Write;

use weir_core::units::Bytes;

use super::{Emission, EmitError, commented, header, longer_bounds};
use crate::plan::{ClassPlan, Plan};
use crate::quantity::micros;
use crate::target::{Form, Target};
use crate::written::ETHERNET;

/// The most bands of `ets`, and the priorities that it maps.
const BANDS: usize = 16;
/// The largest packet that segmentation offload makes, in bytes.
const LARGEST_OFFLOADED: u64 = 1 << 16;
/// The largest quantum that the kernel takes, in bytes.
const QUANTUM_LIMIT: u64 = u32::MAX as u64;

/// Writes the command for `ets`.
///
/// # Errors
/// More than 16 classes, or quanta that do not fit.
pub fn ets(plan: &Plan, target: &Target) -> Result<Emission, EmitError> {
    let quanta = quanta(plan, Form::TcEts)?;
    let bands = quanta.len();
    if bands > BANDS {
        let reason = format!("it has {bands} classes, ets has at most {BANDS} bands");
        return Err(EmitError::new(Form::TcEts, reason, "join classes, or write form = \"tc-drr\""));
    }
    let lost = lost(plan, "a priority that no class lists goes to the last band");
    let band = |priority: u32| {
        let of = plan.classes.iter().position(|class| class.service_levels.contains(&priority));
        of.unwrap_or(bands - 1).to_string()
    };
    let priorities: Vec<String> = (0..16).map(band).collect();
    let text = format!(
        "{}tc qdisc replace dev {} root handle 1: ets bands {bands} quanta {} priomap {}\n",
        comments(plan, &lost),
        interface(target),
        quanta.iter().map(u64::to_string).collect::<Vec<_>>().join(" "),
        priorities.join(" ")
    );
    Ok(Emission { text, lost })
}

/// Writes the commands for `drr`: a class for each class, and a filter for each of its priorities.
///
/// # Errors
/// A class without priorities, or quanta that do not fit.
pub fn drr(plan: &Plan, target: &Target) -> Result<Emission, EmitError> {
    let quanta = quanta(plan, Form::TcDrr)?;
    if let Some(class) = plan.classes.iter().find(|class| class.service_levels.is_empty()) {
        let reason =
            format!("`{}` has no service levels, and drr drops what no filter classifies", class.name);
        return Err(EmitError::new(
            Form::TcDrr,
            reason,
            "list the priorities of each class in service_levels",
        ));
    }
    let lost = lost(plan, "packets of priorities that no class lists are dropped: drr has no default class");
    let interface = interface(target);
    let mut text = comments(plan, &lost);
    let _ = writeln!(text, "tc qdisc replace dev {interface} root handle 1: drr");
    for (place, (class, quantum)) in plan.classes.iter().zip(&quanta).enumerate() {
        let minor = place + 1;
        let _ = writeln!(
            text,
            "tc class add dev {interface} parent 1: classid 1:{minor:x} drr quantum {quantum}"
        );
        for priority in &class.service_levels {
            let _ = writeln!(
                text,
                "tc filter add dev {interface} parent 1: protocol all prio 1 basic match 'meta(priority eq \
                 {priority})' flowid 1:{minor:x}"
            );
        }
    }
    Ok(Emission { text, lost })
}

/// The quanta in bytes; each is at least the MTU and the header that Linux counts, so that a turn is never without a
/// packet.
fn quanta(plan: &Plan, form: Form) -> Result<Vec<u64>, EmitError> {
    if plan.classes.is_empty() {
        return Err(EmitError::new(form, "it has no class", "ask for one"));
    }
    let bytes = |class: &ClassPlan| class.quantum.get() * plan.table.credit.get();
    let quanta: Vec<u64> = plan.classes.iter().map(bytes).collect();
    match quanta.iter().zip(&plan.classes).find(|(quantum, _)| **quantum > QUANTUM_LIMIT) {
        None => Ok(quanta),
        Some((quantum, class)) => {
            let reason =
                format!("the quantum of `{}` is {quantum}B, at most {QUANTUM_LIMIT}B fit", class.name);
            Err(EmitError::new(form, reason, "raise the smallest share"))
        }
    }
}

/// What packets that the adapter cuts up do to the bounds.
fn offload(plan: &Plan) -> String {
    let least = plan.classes.iter().map(|class| class.quantum.get()).min().unwrap_or(1).max(1);
    let turns = LARGEST_OFFLOADED.div_ceil(least * plan.table.credit.get());
    let time = micros(plan.wire.time_of(Bytes::new(LARGEST_OFFLOADED)));
    format!(
        "the bounds, with segmentation offload (GSO, TSO): Linux counts a packet of up to {LARGEST_OFFLOADED} bytes as \
         one, which waits for up to {turns} turns of the smallest quantum and then holds the link for {time}; switch it \
         off with `ethtool -K IF tso off gso off`, or bound it with `ip link set dev IF gso_max_size`"
    )
}

fn interface(target: &Target) -> &str {
    target.interface.as_deref().unwrap_or("IF")
}

fn comments(plan: &Plan, lost: &[String]) -> String {
    let mut lines = header(plan);
    lines.push("What Linux does not keep of the plan:".into());
    lines.extend(lost.iter().map(|line| format!("- {line}")));
    commented(&lines)
}

fn lost(plan: &Plan, unclassified: &str) -> Vec<String> {
    let longest = plan.classes.iter().map(|class| class.bounds.round_robin.latency).max().unwrap_or_default();
    let longest = micros(longest);
    let mut lost = vec![
        format!("distances: every class waits for the whole frame, with a bound of up to {longest}"),
        "shares of credits, in which the plan is: Linux counts bytes, so that short packets do not pay for a whole \
         credit"
            .to_owned(),
        "the order among packets that the driver and the adapter already hold".to_owned(),
        format!(
            "the MTU of the interface must be at most {}, else a turn may be without a packet: Linux counts {ETHERNET} \
             bytes of header more, which the quanta have room for",
            plan.table.mtu
        ),
        "preamble, checksum and gap of Ethernet, 24 bytes a packet: neither quanta nor bounds count them".to_owned(),
        offload(plan),
        unclassified.to_owned(),
    ];
    lost.extend(longer_bounds(plan, Form::TcDrr));
    lost
}
