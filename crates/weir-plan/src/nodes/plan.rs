//! The plan: who is on which node, how far it is from the bounds, and who has no place.

use serde::Serialize;
use weir_core::units::Nanos;

use super::bound::{LoadBounds, NodeBounds};
use super::fit::{Rule, fit, multifit};
use super::problem::{Board, NOWHERE, Problem};
use super::request::{MAX_NODES, NodeRequest, node_name};
use super::search::{Answer, MAX_STEPS, Search, Wanted};
use super::why;
use crate::quantity::Share;
use crate::serial;

/// Processes on nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodePlan {
    /// What it is headed with.
    pub title: String,
    /// What needs are promised in.
    #[serde(serialize_with = "serial::count", rename = "epoch_ns")]
    pub epoch: Nanos,
    /// What of an epoch is the system's.
    #[serde(serialize_with = "serial::count", rename = "reserve_ns")]
    pub reserve: Nanos,
    /// What a node can promise.
    #[serde(serialize_with = "serial::count", rename = "capacity_ns")]
    pub capacity: Nanos,
    /// The nodes.
    pub nodes: Vec<NodeRow>,
    /// The processes, in the order of the request.
    pub processes: Vec<Placed>,
    /// How few nodes suffice.
    pub fewest: Fewest,
    /// How even the loads are; `None` where the number of nodes was not given, or not all have a place.
    pub balance: Option<Balance>,
    /// The most steps of each of the two searches.
    pub max_steps: u64,
    /// Who has no place.
    pub refused: Vec<RefusedProcesses>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeRow {
    /// Its name.
    pub name: String,
    /// What it promises.
    #[serde(serialize_with = "serial::count", rename = "committed_ns")]
    pub committed: Nanos,
    /// What it could promise in addition.
    #[serde(serialize_with = "serial::count", rename = "left_ns")]
    pub left: Nanos,
    /// What it promises, as a part of what it can.
    pub share: Share,
    /// Its processes, by name.
    pub processes: Vec<String>,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Placed {
    /// Its name.
    pub name: String,
    /// What it is promised.
    #[serde(serialize_with = "serial::count", rename = "need_ns")]
    pub need: Nanos,
    /// The place of its node; `None` where it has none.
    pub node: Option<usize>,
    /// The place of its table in the request.
    #[serde(skip)]
    pub(crate) group: usize,
}

/// How few nodes suffice, for all processes whose need a node can promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fewest {
    /// The fewest that were found; `None` where not all have a place.
    pub nodes: Option<u64>,
    /// What first fit decreasing takes; `None` where it leaves some without a place.
    pub first_fit: Option<u64>,
    /// What best fit decreasing takes.
    pub best_fit: Option<u64>,
    /// What no placement is below.
    pub bounds: NodeBounds,
    /// The highest of them.
    pub bound: u64,
    /// Whether fewer are impossible; without `nodes`, whether any placement of all is.
    pub optimal: bool,
    /// Steps of the search.
    pub steps: u64,
}

/// How even the loads are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Balance {
    /// The most that a node promises.
    #[serde(serialize_with = "serial::count", rename = "largest_ns")]
    pub largest: Nanos,
    /// What no placement is below.
    pub bounds: LoadBounds,
    /// The highest of them.
    #[serde(serialize_with = "serial::count", rename = "bound_ns")]
    pub bound: Nanos,
    /// How far the largest is above the bound.
    #[serde(serialize_with = "serial::count", rename = "gap_ns")]
    pub gap: Nanos,
    /// Whether less is impossible.
    pub optimal: bool,
    /// Steps of the search.
    pub steps: u64,
}

/// Processes that are alike and have no place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedProcesses {
    /// Their names.
    pub names: Vec<String>,
    /// Where their request stands.
    pub line: usize,
    /// Why they have none.
    pub reason: String,
    /// What to do.
    pub remedy: String,
}

/// Places the processes of a request.
#[must_use]
pub fn place(request: &NodeRequest) -> NodePlan {
    let members: usize = request.groups.iter().map(|group| group.members.len()).sum();
    let count = request.nodes.as_ref().map_or(members.min(MAX_NODES), Vec::len);
    let problem = Problem::new(request, count);
    let (fewest, mut board) = few(&problem, NodeBounds::of(&problem, &request.groups));
    let is_even = request.nodes.is_some() && board.is_whole();
    let balance = is_even.then(|| even(&problem, &mut board));
    let refused = why::refused(request, &problem, &board);
    let mut notes = why::notes(&fewest, count);
    let nodes = node_rows(request, &problem, &board, &mut notes);
    NodePlan {
        title: request.title.clone(),
        epoch: request.epoch,
        reserve: request.reserve,
        capacity: request.capacity(),
        nodes,
        processes: placed(request, &problem, &board),
        fewest,
        balance,
        max_steps: MAX_STEPS,
        refused,
        notes,
    }
}

/// The fewest nodes, and a placement on them; where not all have a place, the one that leaves out least.
fn few(problem: &Problem, bounds: NodeBounds) -> (Fewest, Board<'_>) {
    let [first, best] = [Rule::First, Rule::Best].map(|rule| fit(problem, rule, problem.capacity));
    let used = |board: &Board<'_>| board.is_whole().then_some(board.used as u64);
    let (first_fit, best_fit) = (used(&first), used(&best));
    let order = |board: &Board<'_>| (board.missing(), board.used);
    let mut board = if order(&best) < order(&first) { best } else { first };
    let bound = bounds.highest();
    let mut search = Search::new(problem);
    let mut optimal = false;
    // Where not all have a place, a placement on all nodes is looked for first.
    while !optimal {
        let fewer = if board.is_whole() {
            board.used as u64 - u64::from(board.used > 0)
        } else {
            problem.nodes as u64
        };
        if fewer < bound {
            optimal = true;
            continue;
        }
        match search.find(Wanted { used: fewer as usize, limit: problem.capacity }) {
            Answer::Found(found) => board = found,
            Answer::Impossible => optimal = true,
            Answer::Unknown => break,
        }
    }
    let (nodes, steps) = (used(&board), search.steps());
    (Fewest { nodes, first_fit, best_fit, bounds, bound, optimal, steps }, board)
}

/// Makes the largest load as small as is found.
fn even<'p>(problem: &'p Problem, board: &mut Board<'p>) -> Balance {
    let bounds = LoadBounds::of(problem);
    let bound = bounds.highest();
    let least = fit(problem, Rule::Least, problem.capacity);
    for other in [Some(least), multifit(problem, bound)].into_iter().flatten() {
        if other.is_whole() && other.largest() < board.largest() {
            *board = other;
        }
    }
    let mut search = Search::new(problem);
    let mut optimal = board.largest() <= bound;
    while !optimal {
        let wanted = Wanted { used: problem.nodes, limit: board.largest() - 1 };
        match search.find(wanted) {
            Answer::Found(found) => *board = found,
            Answer::Impossible => optimal = true,
            Answer::Unknown => break,
        }
        optimal |= board.largest() <= bound;
    }
    let largest = board.largest();
    Balance {
        largest: Nanos::new(largest),
        bounds,
        bound: Nanos::new(bound),
        gap: Nanos::new(largest - bound),
        optimal,
        steps: search.steps(),
    }
}

/// The nodes that were asked for, or those that are used.
fn node_rows(
    request: &NodeRequest,
    problem: &Problem,
    board: &Board<'_>,
    notes: &mut Vec<String>,
) -> Vec<NodeRow> {
    let names = match &request.nodes {
        Some(names) => names.clone(),
        None => (1..=board.used).map(node_name).collect(),
    };
    let capacity = problem.capacity;
    let mut rows: Vec<NodeRow> = names
        .into_iter()
        .zip(&board.loads)
        .map(|(name, &load)| NodeRow {
            name,
            committed: Nanos::new(load),
            left: Nanos::new(capacity - load),
            share: Share::of(u128::from(load), u128::from(capacity)),
            processes: Vec::new(),
        })
        .collect();
    for (item, &node) in problem.items.iter().zip(&board.at).filter(|(_, node)| **node != NOWHERE) {
        let name = &request.groups[item.group as usize].members[item.member as usize];
        rows[node as usize].processes.push(name.clone());
    }
    let idle = rows.iter().filter(|row| row.processes.is_empty()).count();
    if idle > 0 {
        notes.push(format!("nodes without any process: {idle}"));
    }
    rows
}

/// All processes, in the order of the request.
fn placed(request: &NodeRequest, problem: &Problem, board: &Board<'_>) -> Vec<Placed> {
    let mut first = Vec::with_capacity(request.groups.len());
    let mut all: Vec<Placed> = Vec::new();
    for (place, group) in request.groups.iter().enumerate() {
        first.push(all.len());
        let members = group.members.iter();
        all.extend(members.map(|name| Placed {
            name: name.clone(),
            need: group.need,
            node: None,
            group: place,
        }));
    }
    for (item, &node) in problem.items.iter().zip(&board.at).filter(|(_, node)| **node != NOWHERE) {
        all[first[item.group as usize] + item.member as usize].node = Some(node as usize);
    }
    all
}
