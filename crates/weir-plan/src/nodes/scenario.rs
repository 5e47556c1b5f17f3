//! A scenario of the model `node`, in which a plan is simulated under epoch scheduling.
//!
//! `scenario`: every process is where the plan has it and is always ready, which is the worst that it can do to
//! others; what the reserve is for runs as a process of the system. Every need is to be met in every epoch.
//!
//! `rebalance`: every process that may be anywhere begins on the first node, and computes its need in every epoch; one
//! rebalancing after the other, every ten epochs, spreads them. Who may be only on some nodes, or is apart
//! from others, stays where the plan has it, for rebalancing knows of neither.

use core::fmt::Write;

use weir_core::units::Nanos;

use super::plan::{NodePlan, Placed};
use super::request::NodeRequest;
use crate::emit::scenario::quoted;
use crate::emit::{Emission, EmitError, commented, one_line};
use crate::quantity::millis;

/// What is simulated: a need is run to its end, however little of it is left.
const DISCIPLINE: &str = "epoch:min_slice=1ns";
/// The most nodes of the model.
const MAX_NODES: usize = 64;
/// The longest run of the model: some 11 days.
const LONGEST_RUN: u64 = 1_000_000_000_000_000;
/// Epochs before the measured ones, and with them.
const EPOCHS: (u64, u64) = (10, 110);
/// How often nodes are compared, in epochs.
const ROUND: u64 = 10;

/// The form in which a plan is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeForm {
    /// Everybody where the plan has it.
    Scenario,
    /// Everybody on the first node, to be moved.
    Rebalance,
}

impl NodeForm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Scenario, Self::Rebalance];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Rebalance => "rebalance",
        }
    }

    /// The form of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// Writes the scenario.
///
/// # Errors
/// Somebody has no place, or there are more nodes than are simulated, or too few to move between.
pub fn emit(request: &NodeRequest, plan: &NodePlan, form: NodeForm) -> Result<Emission, EmitError> {
    check(plan, form)?;
    let mut text = head(plan);
    if form == NodeForm::Rebalance {
        let _ = write!(text, "\n[balance]\nevery = \"{}\"\n", millis(round(plan.epoch)));
    }
    let _ = write!(
        text,
        "\n[[template]]\nname = \"{}\"\nprogram = \"\"\"\n{}\"\"\"\n",
        template(form),
        program(form)
    );
    for process in &plan.processes {
        let _ = write!(text, "\n{}", table(request, plan, process, form));
    }
    let _ = write!(text, "\n{}", stop(plan, form));
    Ok(Emission { text, lost: lost(form) })
}

/// Refuses what the model does not have.
fn check(plan: &NodePlan, form: NodeForm) -> Result<(), EmitError> {
    let refuse = |reason: String, remedy: &str| {
        Err(EmitError { form: form.name(), reason, remedy: remedy.to_owned() })
    };
    if let Some(refused) = plan.refused.first() {
        let reason = format!("`{}` {}", refused.names[0], refused.reason);
        return refuse(reason, &refused.remedy);
    }
    let nodes = plan.nodes.len();
    if nodes > MAX_NODES {
        return refuse(
            format!("it has {nodes} nodes, at most {MAX_NODES} are simulated"),
            "plan in several parts",
        );
    }
    if form == NodeForm::Rebalance && nodes < 2 {
        return refuse("it has one node".to_owned(), "ask for two or more, with nodes.count");
    }
    Ok(())
}

fn head(plan: &NodePlan) -> String {
    let title = if plan.title.is_empty() { "A placement" } else { plan.title.as_str() };
    let capacity = millis(plan.capacity);
    let mut comments = vec![format!("{} Written by `weir plan`.", one_line(title))];
    comments.extend(
        plan.nodes
            .iter()
            .map(|node| format!("{}: {} of {capacity} are promised", node.name, millis(node.committed))),
    );
    let names: Vec<String> = plan.nodes.iter().map(|node| quoted(&node.name)).collect();
    let system = match plan.reserve.get() {
        0 => String::new(),
        _ => format!("system = {{ epoch_scheduler = {{ run = \"{}\" }} }}\n", millis(plan.reserve)),
    };
    format!(
        "{}weir = 1\nmodel = \"node\"\ntitle = {}\nseed = 1\ndisciplines = [\"{DISCIPLINE}\"]\n\n[node]\n\
         epoch = \"{}\"\nnames = [{}]\n{system}",
        commented(&comments),
        quoted(title),
        millis(plan.epoch),
        names.join(", "),
    )
}

const fn template(form: NodeForm) -> &'static str {
    match form {
        NodeForm::Scenario => "always ready",
        NodeForm::Rebalance => "its need in every epoch",
    }
}

const fn program(form: NodeForm) -> &'static str {
    match form {
        NodeForm::Scenario => "loop {\n  compute $time\n}\n",
        NodeForm::Rebalance => "loop {\n  sleep until every $epoch\n  compute $time\n}\n",
    }
}

/// The table of a process.
fn table(request: &NodeRequest, plan: &NodePlan, process: &Placed, form: NodeForm) -> String {
    let group = &request.groups[process.group];
    let stays = group.on.is_some() || !group.apart_from.is_empty();
    let place = if form == NodeForm::Scenario || stays { process.node.unwrap_or(0) } else { 0 };
    let set = match form {
        // What it computes in one piece does not matter; it is about a slice.
        NodeForm::Scenario => {
            let time = group.slice.unwrap_or(Nanos::new((plan.epoch.get() / 5).max(1)));
            format!("time = \"{}\"", millis(time))
        }
        NodeForm::Rebalance => {
            format!("time = \"{}\", epoch = \"{}\"", millis(group.need), millis(plan.epoch))
        }
    };
    let mut text = format!(
        "[[process]]\nname = {}\ntemplate = \"{}\"\nset = {{ {set} }}\nnode = {}\nneed = \"{}\"\npriority = {}\n",
        quoted(&process.name),
        template(form),
        quoted(&plan.nodes[place].name),
        millis(group.need),
        group.priority,
    );
    if let Some(slice) = group.slice {
        let _ = writeln!(text, "slice = \"{}\"", millis(slice));
    }
    if form == NodeForm::Rebalance && stays {
        text.push_str("movable = false\n");
    }
    text
}

/// When the run ends. What begins on one node needs at most a move of each process, and some to spare.
fn stop(plan: &NodePlan, form: NodeForm) -> String {
    let epoch = plan.epoch.get();
    let longest = LONGEST_RUN / epoch;
    let (warm_up, epochs) = match form {
        NodeForm::Scenario => {
            let epochs = EPOCHS.1.min(longest);
            (EPOCHS.0.min(epochs / 2), epochs)
        }
        NodeForm::Rebalance => (0, ((2 * plan.processes.len() as u64 + 10) * ROUND).min(longest)),
    };
    let [warm_up, duration] = [warm_up, epochs].map(|epochs| millis(Nanos::new(epochs * epoch)));
    format!("[stop]\nwarm_up = \"{warm_up}\"\nduration = \"{duration}\"\n")
}

/// How often nodes are compared.
fn round(epoch: Nanos) -> Nanos {
    Nanos::new((epoch.get() * ROUND).min(LONGEST_RUN))
}

fn lost(form: NodeForm) -> Vec<String> {
    let mut lost = vec![
        "what processes do: the plan knows only their needs".to_owned(),
        format!(
            "needs under plain `epoch`: it does not run less than 300 us of one, so that a process that is \
             preempted shortly before its end misses it; the scenario has `{DISCIPLINE}`"
        ),
    ];
    if form == NodeForm::Rebalance {
        lost.push(
            "the planned nodes of processes that may be anywhere: they begin on the first node".to_owned(),
        );
        lost.push("`on` and `apart_from`: a process with either stays where the plan has it".to_owned());
    }
    lost
}
