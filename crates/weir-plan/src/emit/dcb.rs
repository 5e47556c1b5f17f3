//! The command for enhanced transmission selection of an Ethernet adapter (IEEE 802.1Qaz).
//!
//! What is written is whole percents; bounds and shares are those of the percents (`written.rs`).
//!
//! Source: the manual page dcb-ets(8).

use core::fmt::Write;

use super::{Emission, EmitError, commented, header, longer_bounds};
use crate::plan::Plan;
use crate::quantity::micros;
use crate::target::{Form, Target};

/// Traffic classes, and priorities.
const CLASSES: usize = 8;

/// Writes the command; a class of the plan is the traffic class of its lane.
///
/// # Errors
/// Lanes above 7, or no class.
pub fn emit(plan: &Plan, target: &Target) -> Result<Emission, EmitError> {
    let refuse = |reason: String, remedy: &str| Err(EmitError::new(Form::Dcb, reason, remedy));
    if plan.classes.is_empty() {
        return refuse("it has no class".into(), "ask for one");
    }
    if let Some(class) = plan.classes.iter().find(|class| class.lane as usize >= CLASSES) {
        let reason = format!("`{}` has lane {}, traffic classes are 0 to 7", class.name, class.lane);
        return refuse(reason, "use lanes 0 to 7");
    }
    let lost = lost(plan);
    let mut comments = header(plan);
    comments.push("What the adapter does not keep of the plan:".into());
    comments.extend(lost.iter().map(|line| format!("- {line}")));
    let mut bandwidth = [0; CLASSES];
    let mut classes = [0; CLASSES];
    for class in &plan.classes {
        bandwidth[class.lane as usize] = class.percent.unwrap_or_default();
        for level in class.service_levels.iter().filter(|level| (**level as usize) < CLASSES) {
            classes[*level as usize] = class.lane;
        }
    }
    let mut text = commented(&comments);
    let interface = target.interface.as_deref().unwrap_or("IF");
    let _ = write!(text, "dcb ets set dev {interface} willing off tc-tsa all:ets tc-bw");
    for (class, percent) in bandwidth.iter().enumerate() {
        let _ = write!(text, " {class}:{percent}");
    }
    text.push_str(" prio-tc");
    for (priority, class) in classes.iter().enumerate() {
        let _ = write!(text, " {priority}:{class}");
    }
    text.push('\n');
    Ok(Emission { text, lost })
}

fn lost(plan: &Plan) -> Vec<String> {
    let longest = plan.classes.iter().map(|class| class.bounds.round_robin.latency).max().unwrap_or_default();
    let longest = micros(longest);
    let mut lost = vec![
        format!(
            "distances: the adapter's scheduler is its maker's; deficit round robin would bound latencies by {longest}"
        ),
        "shares of credits, in which the plan is: the adapter counts as its maker has it".to_owned(),
        "priorities that no class lists go to traffic class 0".to_owned(),
    ];
    for class in &plan.classes {
        let planned = class.planned_share(plan.table.pool);
        if class.share < class.requested.share {
            let (asked, name) = (class.requested.share, &class.name);
            lost.push(format!("the share of `{name}`, {asked}: not met, it becomes {}", class.share));
        } else if class.share != planned {
            lost.push(format!("the share of `{}`, {planned}: it becomes {}", class.name, class.share));
        }
        if let Some(level) = class.service_levels.iter().find(|level| **level as usize >= CLASSES) {
            lost.push(format!("priority {level} of `{}`: there are 0 to 7", class.name));
        }
    }
    lost.extend(longer_bounds(plan, Form::Dcb));
    lost
}
