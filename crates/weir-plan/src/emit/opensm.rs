//! Options of OpenSM: the plan as the low table of every port, the high table empty.
//!
//! The planner takes the port's capacity as its N, for OpenSM drops what does not fit without a word; a capacity of
//! 64 is refused, because OpenSM 3.3 never programs its second half.
//!
//! Source: OpenSM, `doc/QoS_management_in_OpenSM.txt` section 7, `opensm/osm_qos.c`.

use super::{Emission, EmitError, commented, header, longer_bounds, unit_of_shares};
use crate::opensm::{DROP, MAX_WEIGHT, WEIGHT_UNIT, operational};
use crate::plan::{Plan, unlisted};
use crate::target::{Form, LANES, Target};

/// The most entries that OpenSM programs whatever the port.
pub(crate) const MOST_ENTRIES: u32 = 32;

/// Writes the options.
///
/// # Errors
/// Credits other than 64 bytes, weights above 255, more than 32 entries, lanes that the ports do not have.
pub fn emit(plan: &Plan, target: &Target) -> Result<Emission, EmitError> {
    check(plan, target)?;
    let lost = lost(plan, target);
    let mut comments = header(plan);
    comments.push("What InfiniBand does not keep of the plan:".into());
    comments.extend(lost.iter().map(|line| format!("- {line}")));
    let prefix = target.prefix.name();
    let text = format!(
        "{}qos TRUE\n{prefix}_max_vls {}\n{prefix}_high_limit 0\n{prefix}_vlarb_high 0:0\n{prefix}_vlarb_low {}\n\
         {prefix}_sl2vl {}\n",
        commented(&comments),
        lanes_needed(plan),
        table(plan),
        map(plan)
    );
    Ok(Emission { text, lost })
}

fn check(plan: &Plan, target: &Target) -> Result<(), EmitError> {
    let refuse = |reason: String, remedy: String| Err(EmitError::new(Form::Opensm, reason, remedy));
    let table = &plan.table;
    if table.credit.get() != WEIGHT_UNIT {
        let reason = format!("table.credit is {}, InfiniBand has {WEIGHT_UNIT}B", table.credit);
        return refuse(reason, "leave out table.credit".into());
    }
    if table.entries > MOST_ENTRIES {
        let reason =
            format!("it has {} entries; pairs 33 to 64 are never programmed on a port of 64", table.entries);
        return refuse(reason, "write table.entries = 32".into());
    }
    let largest = plan.slots.iter().flatten().map(|entry| entry.weight.get()).max().unwrap_or(0);
    if largest > MAX_WEIGHT {
        let packet = plan.shape.packet().get();
        let reason = format!("an entry weighs {largest}, at most {MAX_WEIGHT} can be written");
        return refuse(
            reason,
            match MAX_WEIGHT / packet {
                0 => format!("lower table.mtu to {}B or less", MAX_WEIGHT * WEIGHT_UNIT),
                w => format!("write table.w = {w}, the most for an MTU of {}", table.mtu),
            },
        );
    }
    let highest = plan.classes.iter().map(|class| class.lane).max().unwrap_or(0);
    if highest >= DROP {
        return refuse(format!("lane {highest} is no data lane"), "use lanes 0 to 14".into());
    }
    match target.lanes {
        Some(lanes) if lanes_needed(plan) > lanes => {
            let reason = format!("lane {highest} is used, {lanes} are in operation");
            refuse(reason, format!("use lanes 0 to {}, joining classes if need be", lanes - 1))
        }
        _ => Ok(()),
    }
}

/// The data lanes that have to be in operation.
fn lanes_needed(plan: &Plan) -> u32 {
    let highest = plan.classes.iter().map(|class| class.lane).max().unwrap_or(0);
    LANES.into_iter().find(|lanes| *lanes > highest).unwrap_or(operational(15, 15))
}

/// The low table: a pair for each entry, `0:0` where there is none.
fn table(plan: &Plan) -> String {
    let pair = |slot: &Option<crate::plan::Entry>| match slot {
        Some(entry) => format!("{}:{}", plan.classes[entry.class].lane, entry.weight.get()),
        None => "0:0".to_owned(),
    };
    plan.slots.iter().map(pair).collect::<Vec<_>>().join(",")
}

fn map(plan: &Plan) -> String {
    let lane = |level: u32| {
        let class = plan.classes.iter().find(|class| class.service_levels.contains(&level));
        class.map_or(DROP, |class| class.lane).to_string()
    };
    (0..16).map(lane).collect::<Vec<_>>().join(",")
}

fn lost(plan: &Plan, target: &Target) -> Vec<String> {
    let entries = plan.table.entries;
    let lanes = lanes_needed(plan);
    let mut lost = vec![
        "exact shares for packets of different sizes: an entry ends with the packet that exceeds its weight, and \
         nothing is carried over"
            .to_owned(),
        unit_of_shares(plan),
        format!(
            "anything on ports with fewer than {entries} low entries or {lanes} data lanes: OpenSM drops \
             and masks them silently; compare with `smpquery vlarb` and run `weir lint --capacity` with \
             what ports have"
        ),
    ];
    if target.lanes.is_none() {
        lost.push(format!("the lanes are not checked: [target] does not say that {lanes} are in operation"));
    }
    if plan.classes.iter().any(|class| class.service_levels.is_empty()) {
        lost.push("a class without service levels can be reached by none".to_owned());
    }
    let dropped = unlisted(plan);
    if !dropped.is_empty() {
        lost.push(format!("packets of {dropped}: no class lists them, and they are dropped (lane {DROP})"));
    }
    lost.extend(longer_bounds(plan, Form::Opensm));
    lost
}
