//! A scenario of the model `fabric`, in which the plan is simulated: the deficit table against deficit round robin.
//!
//! Topology, traffic and duration are not part of a plan: the scenario takes the defaults of the model and the packet
//! sizes of the DTable report, for its reader to change.

use core::fmt::Write;

use super::{Emission, EmitError, commented, header, surroundings, unit_of_shares};
use crate::opensm::WEIGHT_UNIT;
use crate::plan::{Entry, Plan};
use crate::target::Form;

/// The longest spec of a discipline that is read.
const MAX_SPEC: usize = 10_000;
/// The highest weight of a flow of deficit round robin.
const MAX_WEIGHT: u64 = 65_535;
/// The most channels of the model.
const MAX_CHANNELS: usize = 16;
/// The largest share of a channel.
const MAX_SHARE: u64 = 1_000_000;
/// What the model calls all channels together.
const RESERVED: &str = "all";

/// Writes the scenario.
///
/// # Errors
/// Credits other than 64 bytes, more than 16 classes, one called `all`, packets or a link that are not simulated, or
/// quanta too far apart.
pub fn emit(plan: &Plan) -> Result<Emission, EmitError> {
    check(plan)?;
    let refuse = |reason: String, remedy: &str| Err(EmitError::new(Form::Scenario, reason, remedy));
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
        unit_of_shares(plan),
    ];
    let hardware = surroundings::hardware(plan.table.mtu, plan.table.credit, plan.wire)
        .map_err(|(reason, remedy)| EmitError::new(Form::Scenario, reason, remedy))?;
    let mut comments = header(plan);
    comments.push("The traffic is a guess: loads, sizes and shares are yours to change.".into());
    let title = if plan.title.is_empty() { "A plan" } else { plan.title.as_str() };
    let mut text = format!(
        "{}weir = 1\nmodel = \"fabric\"\ntitle = {}\nseed = 1\ndisciplines = [\n  \"{}\",\n  \"{round}\",\n]\n\
         reference = \"{round}\"\n\n{hardware}",
        commented(&comments),
        quoted(title),
        table,
    );
    for (class, share) in plan.classes.iter().zip(shares(plan)) {
        let _ = write!(text, "\n[[channel]]\nname = {}\nshare = {share}\n", quoted(&class.name));
    }
    let _ = write!(text, "\n{}", surroundings::traffic(plan.table.mtu, plan.wire));
    Ok(Emission { text, lost })
}

/// Refuses what the model does not have.
fn check(plan: &Plan) -> Result<(), EmitError> {
    let refuse = |reason: String, remedy: &str| Err(EmitError::new(Form::Scenario, reason, remedy));
    if plan.table.credit.get() != WEIGHT_UNIT {
        let reason =
            format!("table.credit is {}, weights are simulated in {WEIGHT_UNIT}B", plan.table.credit);
        return refuse(reason, "leave out table.credit");
    }
    let classes = plan.classes.len();
    if classes == 0 {
        return refuse("it has no class".into(), "ask for one");
    }
    if classes > MAX_CHANNELS {
        let reason = format!("it has {classes} classes, at most {MAX_CHANNELS} channels are simulated");
        return refuse(reason, "join classes that need the same");
    }
    if plan.classes.iter().any(|class| class.name == RESERVED) {
        let reason = format!("a class is called `{RESERVED}`, which is all of them together there");
        return refuse(reason, "give it another name");
    }
    Ok(())
}

/// The weights, in proportion to the largest share of the model where they exceed it.
fn shares(plan: &Plan) -> impl Iterator<Item = u64> {
    let largest = plan.classes.iter().map(|class| class.weight.get()).max().unwrap_or(0);
    let scaled = move |weight: u64| {
        if largest <= MAX_SHARE { weight } else { (weight.saturating_mul(MAX_SHARE) / largest).max(1) }
    };
    plan.classes.iter().map(move |class| scaled(class.weight.get()))
}

/// By distances where every class has entries of one weight, else entry by entry. The discipline places as the plan
/// does: the shortest distance first, by bit reversal.
fn deficit_table(plan: &Plan) -> String {
    let is_even = plan.classes.iter().all(|class| class.weights.windows(2).all(|two| two[0] == two[1]));
    let joined = |parts: Vec<String>| parts.join("/");
    // A discipline of the fabric sees packets in whole credits.
    let mtu = plan.table.mtu.get().next_multiple_of(plan.table.credit.get());
    if is_even {
        let distances = joined(plan.classes.iter().map(|class| class.distance.to_string()).collect());
        let weight = |class: &crate::plan::ClassPlan| class.weights.first().map(|weight| format!("{weight}"));
        let weights = joined(plan.classes.iter().filter_map(weight).collect());
        return format!(
            "dtable:distances={distances},weights={weights},entries={},mtu={mtu}B",
            plan.table.entries
        );
    }
    let entry = |slot: &Option<Entry>| {
        slot.map_or("-".to_owned(), |Entry { class, weight }| format!("{class}@{weight}"))
    };
    format!("dtable:table={},mtu={mtu}B", joined(plan.slots.iter().map(entry).collect()))
}

/// The quanta by their common divisor and weights; `None` if those exceed what is read. A flow without link credits
/// leaves the ring, as in the DTable report.
fn round_robin(plan: &Plan) -> Option<String> {
    let quanta: Vec<u64> =
        plan.classes.iter().map(|class| class.quantum.get() * plan.table.credit.get()).collect();
    let common = quanta.iter().copied().reduce(divisor)?.max(1);
    let weights: Vec<u64> = quanta.iter().map(|quantum| quantum / common).collect();
    let is_read = weights.iter().all(|weight| *weight <= MAX_WEIGHT);
    let weights: Vec<String> = weights.iter().map(u64::to_string).collect();
    is_read.then(|| format!("drr:quantum={common}B,weights={},stall=leave", weights.join("/")))
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
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
