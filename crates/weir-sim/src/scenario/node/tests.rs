//! Refusals, word by word, and what accepted scenarios become.

use std::path::Path;

use super::super::Scenario;
use crate::node::model::NodeScenario;

/// What the blocks of `refusals.txt` have in common.
const PARTS: [(&str, &str); 2] = [
    ("...", "weir = 1\nmodel = \"node\"\ndisciplines = [\"epoch\"]"),
    ("{process}", "[[process]]\nname = \"a\"\nprogram = \"loop { compute 5ms; sleep 10ms }\""),
];

fn filled(text: &str) -> String {
    PARTS.iter().fold(text.to_owned(), |text, (name, part)| text.replace(name, part))
}

fn read(text: &str) -> Result<Scenario, String> {
    Scenario::from_toml(&filled(text), "s.toml", Path::new("")).map_err(|error| {
        assert!(error.line.is_some() && error.column.is_some(), "no place: {error}");
        assert!(!error.remedy.is_empty() && !error.reason.is_empty(), "{error:?}");
        error.to_string()
    })
}

fn node(text: &str) -> NodeScenario {
    let scenario = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let again = Scenario::from_toml(&scenario.frame.scenario, "s.toml", Path::new(""));
    assert_eq!(again.expect("the normalised form is valid").frame, scenario.frame);
    scenario.node().expect("a node").clone()
}

#[test]
fn what_is_not_said_is_one_plain_node() {
    let node = node("...\n{process}");
    assert_eq!(node.nodes, ["node"]);
    println!("{node:?}");
}
