//! A scenario of the model `fabric`, in which the plan is simulated: the deficit table against deficit round robin.
//!
//! Topology, traffic and duration are not part of a plan: the scenario takes the defaults of the model and the packet
//! sizes of the DTable report, for its reader to change.

use core::fmt::Write;

use weir_core::units::Bytes;

use super::{Emission, EmitError, commented, header};
use crate::opensm::WEIGHT_UNIT;
use crate::plan::{Entry, Plan};
use crate::target::Form;

/// Added to every payload, in bytes.
const HEADER: u64 = 8;
/// The payloads of the DTable report, in bytes: least, mean.
const PAYLOADS: (u64, u64) = (56, 176);
/// The longest spec of a discipline that is read.
const MAX_SPEC: usize = 10_000;
/// The highest weight of a flow of deficit round robin.
const MAX_WEIGHT: u64 = 65_535;

/// Writes the scenario.
///
/// # Errors
/// Credits other than 64 bytes, a coding that the model does not have, or quanta too far apart.
pub fn emit(plan: &Plan) -> Result<Emission, EmitError> {
    let refuse = |reason: String, remedy: &str| Err(EmitError::new(Form::Scenario, reason, remedy));
    if plan.table.credit.get() != WEIGHT_UNIT {
        let reason =
            format!("table.credit is {}, weights are simulated in {WEIGHT_UNIT}B", plan.table.credit);
        return refuse(reason, "leave out table.credit");
    }
    if plan.classes.is_empty() {
        return refuse("it has no class".into(), "ask for one");
    }
    let Some(round) = round_robin(plan) else {
        return refuse(
            format!("the quanta are too far apart for deficit round robin, at most {MAX_WEIGHT} to 1"),
            "raise the smallest share",
        );
    };
    let table = deficit_table(plan);
    if table.len() > MAX_SPEC {
        let reason = format!("its spec would have {} characters, at most {MAX_SPEC} are read", table.len());
        return refuse(reason, "write a smaller table.entries");
    }
    let lost = vec![
        "topology, traffic, buffers and duration: they are no part of a plan and take the model's defaults"
            .to_owned(),
        "lane numbers: the channels of a scenario are numbered in the order of the classes".to_owned(),
    ];
    let mut comments = header(plan);
    comments.push("The traffic is a guess: loads, sizes and shares are yours to change.".into());
    let title = if plan.title.is_empty() { "A plan" } else { plan.title.as_str() };
    let mut text = format!(
        "{}weir = 1\nmodel = \"fabric\"\ntitle = {}\nseed = 1\ndisciplines = [\n  \"{}\",\n  \"{round}\",\n]\n\
         reference = \"{round}\"\n\n[fabric]\nmtu = \"{}\"\ncredit = \"{}\"\nlink = {{ rate = \"{}\", coding = \"{}\" }}\n",
        commented(&comments),
        quoted(title),
        table,
        plan.table.mtu,
        plan.table.credit,
        plan.link.rate,
        plan.link.coding.name(),
    );
    for class in &plan.classes {
        let _ =
            write!(text, "\n[[channel]]\nname = {}\nshare = {}\n", quoted(&class.name), class.weight.get());
    }
    let _ = write!(
        text,
        "\n[traffic]\nloads = [0.5, 0.8]\narrivals = \"poisson\"\nsize = {}\nheader = \"{HEADER}B\"\n\n[stop]\n\
         warm_up = \"1ms\"\nduration = \"5ms\"\nreplications = 10\n",
        size(plan.table.mtu)
    );
    Ok(Emission { text, lost })
}

/// By distances where every class has entries of one weight, else entry by entry. The discipline places as the plan
/// does: the shortest distance first, by bit reversal.
fn deficit_table(plan: &Plan) -> String {
    let is_even = plan.classes.iter().all(|class| class.weights.windows(2).all(|two| two[0] == two[1]));
    let joined = |parts: Vec<String>| parts.join("/");
    let mtu = plan.table.mtu;
    if is_even {
        let distances = joined(plan.classes.iter().map(|class| class.distance.to_string()).collect());
        let weight = |class: &crate::plan::ClassPlan| class.weights.first().map(|weight| format!("{weight}"));
        let weights = joined(plan.classes.iter().filter_map(weight).collect());
        return format!(
            "dtable:distances={distances},weights={weights},entries={},mtu={mtu}",
            plan.table.entries
        );
    }
    let entry = |slot: &Option<Entry>| {
        slot.map_or("-".to_owned(), |Entry { class, weight }| format!("{class}@{weight}"))
    };
    format!("dtable:table={},mtu={mtu}", joined(plan.slots.iter().map(entry).collect()))
}

/// The quanta by their common divisor and weights; `None` if those exceed what is read.
fn round_robin(plan: &Plan) -> Option<String> {
    let quanta: Vec<u64> =
        plan.classes.iter().map(|class| class.quantum.get() * plan.table.credit.get()).collect();
    let common = quanta.iter().copied().reduce(divisor)?.max(1);
    let weights: Vec<u64> = quanta.iter().map(|quantum| quantum / common).collect();
    let is_read = weights.iter().all(|weight| *weight <= MAX_WEIGHT);
    let weights: Vec<String> = weights.iter().map(u64::to_string).collect();
    is_read.then(|| format!("drr:quantum={common}B,weights={}", weights.join("/")))
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// The sizes of the DTable report, within the MTU.
pub(crate) fn size(mtu: Bytes) -> String {
    let maximum = mtu.get().saturating_sub(HEADER).max(1);
    let (minimum, mean) = PAYLOADS;
    if maximum >= 2 * mean {
        format!(
            "{{ pareto = {{ minimum = \"{minimum}B\", maximum = \"{maximum}B\", mean = \"{mean}B\", bound = \
             \"truncated\" }} }}"
        )
    } else {
        format!("{{ constant = \"{maximum}B\" }}")
    }
}

/// Text as a TOML string.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for each in text.chars() {
        match each {
            '"' | '\\' => quoted.extend(['\\', each]),
            _ if each.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(each));
            }
            _ => quoted.push(each),
        }
    }
    quoted.push('"');
    quoted
}
