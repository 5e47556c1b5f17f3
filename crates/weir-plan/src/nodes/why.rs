//! Why processes have no place, and what else is to be known of a plan.

use super::plan::{Fewest, RefusedProcesses};
use super::problem::{Board, Item, NOWHERE, Problem};
use super::request::{Group, MAX_NODES, NodeRequest};
use super::search::MAX_STEPS;
use crate::quantity::millis;
use weir_core::units::Nanos;

/// Who has no place, those that are alike together, in the order of the request.
pub(super) fn refused(request: &NodeRequest, problem: &Problem, board: &Board<'_>) -> Vec<RefusedProcesses> {
    let mut left_out: Vec<Vec<Item>> = vec![Vec::new(); request.groups.len()];
    for (item, _) in problem.items.iter().zip(&board.at).filter(|(_, node)| **node == NOWHERE) {
        left_out[item.group as usize].push(*item);
    }
    let told = |(group, items): (&Group, Vec<Item>)| {
        if group.need > request.capacity() {
            return Some(too_long(request, group));
        }
        let names = items.iter().map(|item| group.members[item.member as usize].clone()).collect();
        let (reason, remedy) = no_room(request, problem, board, *items.first()?);
        Some(RefusedProcesses { names, line: group.line, reason, remedy })
    };
    request.groups.iter().zip(left_out).filter_map(told).collect()
}

fn too_long(request: &NodeRequest, group: &Group) -> RefusedProcesses {
    let (need, capacity) = (millis(group.need), millis(request.capacity()));
    RefusedProcesses {
        names: group.members.clone(),
        line: group.line,
        reason: format!("needs {need} in each epoch, and a node can promise {capacity}"),
        remedy: "lower its need or nodes.reserve, or divide it into several processes".to_owned(),
    }
}

/// What keeps an item from the nodes where it may be.
fn no_room(request: &NodeRequest, problem: &Problem, board: &Board<'_>, item: Item) -> (String, String) {
    let need = millis(Nanos::new(item.need));
    let Some(names) = &request.nodes else {
        return (format!("would need more than {MAX_NODES} nodes"), "plan in several parts".to_owned());
    };
    let left = |node: usize| problem.capacity - board.loads[node];
    let allowed = || (0..problem.nodes).filter(|&node| problem.allows(item, node));
    let of_it = if problem.confined(item).is_some() { " where it may be" } else { "" };
    if let Some(node) = allowed().find(|&node| left(node) >= item.need) {
        // With room it was kept away only by those who are apart from it.
        let name = &names[node];
        return (
            format!(
                "needs {need}, and every node{of_it} with that much left, such as {name}, has a process \
                 that it must be apart from"
            ),
            "remove an `apart_from`, or add a node".to_owned(),
        );
    }
    let most = allowed().max_by_key(|&node| (left(node), core::cmp::Reverse(node)));
    let most = most.map_or(String::new(), |node| {
        format!(", the most is {} on {}", millis(Nanos::new(left(node))), names[node])
    });
    let remedy = match problem.confined(item) {
        Some(_) => "let it be on more nodes, lower needs, or add a node",
        None => "lower needs, or add a node",
    };
    (format!("needs {need}, and no node{of_it} has that much left{most}"), remedy.to_owned())
}

/// What is known of how few nodes suffice.
pub(super) fn notes(fewest: &Fewest, nodes: usize) -> Vec<String> {
    if fewest.nodes.is_some() {
        return Vec::new();
    }
    let bound = fewest.bound;
    vec![match fewest.optimal {
        true if bound > nodes as u64 => {
            format!("the processes do not all fit: they need at least {bound} nodes, and there are {nodes}")
        }
        true => "the processes do not all fit: every placement was tried".to_owned(),
        false => format!("no placement of all was found in {MAX_STEPS} steps; there may be one"),
    }]
}
