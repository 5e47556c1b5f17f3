//! Placements on nodes: known instances, random ones against all placements, what is refused, what is emitted.

use super::common::{NODES, TABLE_1};
use proptest::prelude::*;
use weir_document::testing::assert_refusals;
use weir_plan::nodes::scenario::emit;
use weir_plan::{NodeForm, NodePlan, NodeRequest, Request, place};

/// Of processes with needs in milliseconds, `nodes` written as it is.
fn request(nodes: &str, needs: &[u64]) -> String {
    let mut text = format!("weir = 1\n[nodes]\n{nodes}\n");
    for (number, need) in needs.iter().enumerate() {
        text.push_str(&format!("[[process]]\nname = \"p{number}\"\nneed = \"{need}ms\"\n"));
    }
    text
}

fn asked(text: &str) -> NodeRequest {
    NodeRequest::from_toml(text, "plan.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn planned(text: &str) -> NodePlan {
    let request = asked(text);
    let plan = place(&request);
    check(&request, &plan);
    plan
}

/// Nobody is where it may not be, no node has more than it can promise, sums are right, results are not below bounds.
fn check(request: &NodeRequest, plan: &NodePlan) {
    let mut loads = vec![0; plan.nodes.len()];
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); plan.nodes.len()];
    let members = request.groups.iter().enumerate();
    let members =
        members.flat_map(|(place, group)| group.members.iter().map(move |name| (place, group, name)));
    assert_eq!(members.clone().count(), plan.processes.len());
    for ((place, group, name), process) in members.zip(&plan.processes) {
        assert_eq!((name, group.need), (&process.name, process.need));
        let Some(node) = process.node else {
            assert!(
                plan.refused.iter().any(|refused| refused.names.contains(name) && refused.line == group.line)
            );
            continue;
        };
        assert!(group.on.as_ref().is_none_or(|on| on.contains(&node)), "{name}");
        assert!(groups[node].iter().all(|other| !group.apart_from.contains(other)), "{name}");
        assert!(plan.nodes[node].processes.contains(name));
        groups[node].push(place);
        loads[node] += process.need.get();
    }
    for (node, load) in plan.nodes.iter().zip(loads) {
        assert_eq!((node.committed.get(), node.left.get() + load), (load, plan.capacity.get()));
    }
    let left_out: usize = plan.refused.iter().map(|refused| refused.names.len()).sum();
    assert_eq!(left_out, plan.processes.iter().filter(|process| process.node.is_none()).count());
    if let Some(nodes) = plan.fewest.nodes {
        assert!(plan.fewest.bound <= nodes);
        assert!(plan.fewest.optimal || plan.fewest.steps >= plan.max_steps);
    }
    if let Some(balance) = plan.balance {
        assert_eq!(plan.nodes.iter().map(|node| node.committed).max(), Some(balance.largest));
        assert_eq!(balance.gap, balance.largest - balance.bound);
    }
}

#[test]
fn a_perfect_packing_is_found_where_the_rules_fail() {
    // First fit decreasing puts 44 and 36 together, where nothing else has room, and then needs a third node.
    let plan = planned(&request("", &[44, 36, 35, 29, 28, 28]));
    let fewest = plan.fewest;
    assert_eq!((fewest.first_fit, fewest.nodes, fewest.bound, fewest.optimal), (Some(3), Some(2), 2, true));
    assert_eq!(plan.nodes.len(), 2);
    assert_eq!(plan.balance, None);
}

#[test]
fn loads_are_as_even_as_they_can_be() {
    // Longest first: 7 + 4 + 4, 7 + 4 and 6 + 6 of 13 each at best, 15 being what the worst case of the rule is about.
    let plan = planned(&request("count = 3", &[7, 7, 6, 6, 5, 4, 4]));
    let balance = plan.balance.expect("all are placed");
    assert_eq!((balance.largest.get(), balance.bound.get(), balance.optimal), (13_000_000, 13_000_000, true));
    // Graham's worst case of three nodes: 11 by the rule, 9 at best.
    let plan = planned(&request("count = 3", &[5, 5, 4, 4, 3, 3, 3]));
    let balance = plan.balance.expect("all are placed");
    assert_eq!((balance.largest.get(), balance.optimal), (9_000_000, true));
    assert_eq!(plan.fewest.nodes, Some(1));
}

#[test]
fn a_whole_request_is_kept() {
    let request = asked(NODES);
    let plan = place(&request);
    check(&request, &plan);
    assert!(plan.refused.is_empty() && plan.balance.is_some_and(|balance| balance.optimal));
    let node_of =
        |name: &str| plan.processes.iter().find(|process| process.name == name).and_then(|it| it.node);
    assert_eq!(node_of("recorder"), Some(0));
    assert_ne!(node_of("spare.1"), node_of("spare.2"));
    let ones: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(ones, ["a", "b", "c"]);
}

#[test]
fn who_has_no_place_is_told_why() {
    let told = |text: &str| {
        let plan = planned(text);
        let one = plan.refused.first().expect("somebody has no place");
        (one.names.join(" "), format!("{}: {}", one.reason, one.remedy), plan.notes.join("; "))
    };
    let is = |text: &str, names: &str, why: &str, note: &str| {
        assert_eq!(told(text), (names.to_owned(), why.to_owned(), note.to_owned()));
    };
    is(
        &request("count = 2", &[60, 60, 60]),
        "p2",
        "needs 60ms, and no node has that much left, the most is 40ms on node1: lower needs, or add a node",
        "the processes do not all fit: they need at least 3 nodes, and there are 2",
    );
    is(
        &request("reserve = \"4ms\"", &[60, 97]),
        "p1",
        "needs 97ms in each epoch, and a node can promise 96ms: lower its need or nodes.reserve, or divide it into several \
         processes",
        "",
    );
    is(
        &format!(
            "{}on = [\"node2\"]\n[[process]]\nname = \"q\"\nneed = \"60ms\"\non = [\"node2\"]\n",
            request("count = 2", &[60])
        ),
        "q",
        "needs 60ms, and no node where it may be has that much left, the most is 40ms on node2: let it be \
         on more nodes, lower needs, or add a node",
        "the processes do not all fit: every placement was tried; nodes without any process: 1",
    );
    is(
        &format!("{}count = 3\napart_from = [\"p0\"]\n", request("count = 2", &[10])),
        "p0.3",
        "needs 10ms, and every node with that much left, such as node1, has a process that it must be apart \
         from: remove an `apart_from`, or add a node",
        "the processes do not all fit: they need at least 3 nodes, and there are 2",
    );
}

#[test]
fn large_requests_end() {
    // 10,000 processes that fill some 560 nodes to the last, on which no rule comes out even.
    let mut text = "weir = 1\n[nodes]\n".to_owned();
    for number in 0..200 {
        let need = 1_000 + 7_919 * number % 10_007;
        text.push_str(&format!("[[process]]\nname = \"p{number}\"\nneed = \"{need}us\"\ncount = 50\n"));
    }
    let plan = planned(&text);
    assert!(plan.refused.is_empty() && plan.fewest.steps < 2 * plan.max_steps);
    let plan = planned(&text.replace("[nodes]", "[nodes]\ncount = 1000"));
    let balance = plan.balance.expect("all are placed");
    assert!(balance.largest.get() * 100 < balance.bound.get() * 115 && balance.steps < 2 * plan.max_steps);
}

#[test]
fn requests_with_many_apart_end() {
    let mut text = "weir = 1\n[nodes]\ncount = 1000\n".to_owned();
    let others: Vec<String> = (0..900).map(|number| format!("\"p{number}\"")).collect();
    let others = others.join(", ");
    text.push_str(&format!(
        "[[process]]\nname = \"many\"\nneed = \"1ms\"\ncount = 9000\napart_from = [{others}]\n"
    ));
    for number in 0..900 {
        text.push_str(&format!("[[process]]\nname = \"p{number}\"\nneed = \"2ms\"\n"));
    }
    let plan = planned(&text);
    assert!(plan.refused.is_empty() && plan.fewest.steps < 2 * plan.max_steps);
}

#[test]
fn requests_are_told_apart() {
    assert!(matches!(Request::from_toml(NODES, "a"), Ok(Request::Nodes(_))));
    assert!(matches!(Request::from_toml(TABLE_1, "a"), Ok(Request::Table(_))));
    let told = |text: &str| Request::from_toml(text, "a").expect_err(text).to_string();
    let both = told(&format!("weir = 1\n[nodes]\n{}", TABLE_1.replacen("weir = 1\n", "", 1)));
    let expected = "cannot be combined with `nodes`: a request is for an arbitration table or for nodes: \
        write two files";
    assert!(both.contains(expected), "{both}");
    let only = told("weir = 1\n[[process]]\nname = \"a\"\nneed = \"1ms\"\n");
    assert!(only.ends_with(
        "nodes is missing: add a table `[nodes]`, with `count` unless as few as suffice are wanted"
    ));
    assert!(
        told("weir = 1\n[nodes]\n")
            .contains("process is missing: add a table `[[process]]` for each process")
    );
}

/// Each block is lines of `[nodes]`, tables of processes, and the refusal.
#[test]
fn documents_are_refused_at_their_place() {
    assert_refusals(include_str!("node_refusals.txt"), |written| {
        let mut parts = written.split(" | ");
        let mut text =
            format!("weir = 1\n[nodes]\n{}\n", parts.next().unwrap_or_default().replace(';', "\n"));
        for part in parts {
            text.push_str(&format!("[[process]]\n{}\n", part.replace(';', "\n")));
        }
        NodeRequest::from_toml(&text, "plan.toml")
    });
}

#[test]
fn a_scenario_has_everybody_in_its_place() {
    let request = asked(NODES);
    let plan = place(&request);
    let text = emit(&request, &plan, NodeForm::Scenario).expect("it is simulated").text;
    let head = "# Three nodes. Written by `weir plan`.\n# a: 80ms of 96ms are promised\n# b: 80ms of 96ms are promised\n\
                # c: 80ms of 96ms are promised\nweir = 1\nmodel = \"node\"\ntitle = \"Three nodes\"\nseed = 1\n\
                disciplines = [\"epoch:min_slice=1ns\"]\n\n[node]\nepoch = \"100ms\"\nnames = [\"a\", \"b\", \"c\"]\n\
                system = { epoch_scheduler = { run = \"4ms\" } }\n\n[[template]]\nname = \"always ready\"\nprogram = \"\"\"\n\
                loop {\n  compute $time\n}\n\"\"\"\n\n";
    assert_eq!(text.get(..head.len()), Some(head));
    let recorder = "[[process]]\nname = \"recorder\"\ntemplate = \"always ready\"\nset = { time = \"10ms\" }\nnode = \"a\"\n\
                    need = \"50ms\"\npriority = 2\nslice = \"10ms\"\n";
    assert!(text.contains(recorder), "{text}");
    assert!(text.ends_with("\n[stop]\nwarm_up = \"1000ms\"\nduration = \"11000ms\"\n"));
    let moved = emit(&request, &plan, NodeForm::Rebalance).expect("it is simulated").text;
    let document: toml::Table = toml::from_str(&moved).expect("TOML");
    let processes = document["process"].as_array().expect("a list");
    let fixed: Vec<&str> = processes
        .iter()
        .filter(|it| it.get("movable").is_some())
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(fixed, ["recorder", "spare.1", "spare.2"]);
    assert!(processes.iter().all(|it| it.get("movable").is_some() || it["node"].as_str() == Some("a")));
    assert_eq!(document["balance"]["every"].as_str(), Some("1000ms"));
}

#[test]
fn scenarios_are_refused_that_are_not_simulated() {
    let told = |text: &str, form: NodeForm| {
        let request = asked(text);
        emit(&request, &place(&request), form).expect_err(text).to_string()
    };
    assert_eq!(
        told(&request("count = 65", &[5]), NodeForm::Scenario),
        "scenario cannot carry the plan: it has 65 nodes, at most 64 are simulated: plan in several parts"
    );
    assert_eq!(
        told(&request("", &[5]), NodeForm::Rebalance),
        "rebalance cannot carry the plan: it has one node: ask for two or more, with nodes.count"
    );
    assert!(
        told(&request("count = 1", &[60, 60]), NodeForm::Scenario)
            .contains("`p1` needs 60ms, and no node has")
    );
}

/// The fewest nodes and the least largest load of all placements, with those who are apart and where they may be.
fn brute_force(request: &NodeRequest, nodes: usize) -> (Option<usize>, Option<u64>) {
    let capacity = request.capacity().get();
    let items: Vec<usize> = request
        .groups
        .iter()
        .enumerate()
        .flat_map(|(place, group)| core::iter::repeat_n(place, group.members.len()))
        .collect();
    let mut best = (None, None);
    for mut code in 0..nodes.pow(items.len() as u32) {
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        let is_good = items.iter().all(|&group| {
            let node = code % nodes;
            code /= nodes;
            let rules = &request.groups[group];
            let is_good = rules.on.as_ref().is_none_or(|on| on.contains(&node))
                && at[node].iter().all(|other| !rules.apart_from.contains(other));
            at[node].push(group);
            is_good
        });
        let load =
            |node: &Vec<usize>| node.iter().map(|&group| request.groups[group].need.get()).sum::<u64>();
        let largest = at.iter().map(load).max().unwrap_or(0);
        if is_good && largest <= capacity {
            let used = at.iter().filter(|node| !node.is_empty()).count();
            best.0 = Some(best.0.map_or(used, |best: usize| best.min(used)));
            best.1 = Some(best.1.map_or(largest, |best: u64| best.min(largest)));
        }
    }
    best
}

/// Tables with a need, how many, where, and from whom they are apart.
fn tables() -> impl Strategy<Value = Vec<(u64, usize, u8, Vec<usize>)>> {
    let apart = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(0_usize..4, 1..3)];
    let on = prop_oneof![2 => Just(7_u8), 1 => 1_u8..7];
    prop::collection::vec((1_u64..=70, 1_usize..3, on, apart), 1..5)
}

fn written(tables: &[(u64, usize, u8, Vec<usize>)], nodes: usize) -> String {
    let mut text = format!("weir = 1\n[nodes]\ncount = {nodes}\n");
    for (place, (need, count, on, apart)) in tables.iter().enumerate() {
        text.push_str(&format!("[[process]]\nname = \"p{place}\"\nneed = \"{need}ms\"\ncount = {count}\n"));
        let on: Vec<String> = (0..nodes)
            .filter(|node| on >> node & 1 == 1)
            .map(|node| format!("\"node{}\"", node + 1))
            .collect();
        if !on.is_empty() && on.len() < nodes {
            text.push_str(&format!("on = [{}]\n", on.join(", ")));
        }
        let apart: Vec<String> = apart.iter().map(|other| format!("\"p{}\"", other % tables.len())).collect();
        text.push_str(&format!("apart_from = [{}]\n", apart.join(", ")));
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_best_is_found_of_all_placements(tables in tables(), nodes in 1_usize..4) {
        let request = asked(&written(&tables, nodes));
        let plan = place(&request);
        check(&request, &plan);
        let (fewest, largest) = brute_force(&request, nodes);
        prop_assert_eq!(plan.fewest.nodes, fewest.map(|nodes| nodes as u64));
        prop_assert!(plan.fewest.optimal);
        prop_assert_eq!(plan.balance.map(|balance| balance.largest.get()), largest);
        prop_assert!(plan.balance.is_none_or(|balance| balance.optimal));
        if let (Some(nodes), Some(balance)) = (fewest, plan.balance) {
            let bounds = plan.fewest.bounds;
            prop_assert!(bounds.volume <= bounds.large && plan.fewest.bound <= nodes as u64);
            prop_assert!(balance.bound <= balance.largest);
        }
    }

    #[test]
    fn first_fit_decreasing_keeps_its_bound(needs in prop::collection::vec(1_u64..=100, 1..40)) {
        let plan = planned(&request("", &needs));
        let fewest = plan.fewest;
        let (first, nodes) = (fewest.first_fit.expect("room"), fewest.nodes.expect("room"));
        prop_assert!(fewest.bounds.volume <= fewest.bounds.large);
        prop_assert!(nodes <= first && nodes <= fewest.best_fit.expect("room"));
        // 11/9 of the fewest, and 6/9; where the fewest are not known, of what is no less.
        prop_assert!(9 * first <= 11 * nodes + 6);
    }

    #[test]
    fn placements_of_many_are_valid(
        needs in prop::collection::vec((1_u64..=60, 1_usize..6, 0_u8..=255, prop::collection::vec(0_usize..30, 0..2)), 1..30),
        nodes in 1_usize..9,
    ) {
        let request = asked(&written(&needs, nodes));
        check(&request, &place(&request));
    }
}
