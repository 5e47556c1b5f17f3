//! Thousands of mutations of valid inputs: none may panic, whatever is refused says where, and plans fit.
//!
//! The mutations are seeded, so a failure repeats; `fuzz/` holds the same targets for open-ended runs.

use super::common::{NODES, TABLE_1};
use weir_core::units::Bytes;
use weir_plan::nodes::scenario;
use weir_plan::opensm::{Port, lint, parse};
use weir_plan::{Form, NodeForm, PlanError, Request, Requirements, emit, place, plan};

const CASES: u32 = 4_000;
const OPTIONS: [&str; 2] = [
    include_str!("../../../../data/configs/opensm-qos-defaults.conf"),
    include_str!("../../../../data/configs/opensm-qos-example.conf"),
];

/// A generator of numbers (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// The text with a few characters changed, left out, doubled or moved.
    fn mutated(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..=self.below(3) {
            let at = self.below(characters.len());
            match self.below(5) {
                0 => characters[at] = ['0', '9', '"', '\n', ':', ',', '%', '-', 'é', '\0'][self.below(10)],
                1 => drop(characters.remove(at)),
                2 => characters.insert(at, characters[at]),
                3 => characters[at] = char::from(b'0' + self.below(10) as u8),
                _ => {
                    let to = self.below(characters.len());
                    characters.swap(at, to);
                }
            }
        }
        characters.into_iter().collect()
    }
}

fn check(error: &PlanError) {
    assert!(error.line.is_some() && error.column.is_some() && !error.remedy.is_empty(), "{error}");
}

#[test]
fn requests() {
    let mut numbers = Numbers(7);
    for _ in 0..CASES {
        let text = numbers.mutated(TABLE_1);
        match Requirements::from_toml(&text, "a.toml") {
            Err(error) => check(&error),
            Ok(asked) => {
                let plan = plan(&asked);
                assert_eq!(plan.classes.len() + plan.refused.len(), asked.classes.len());
                assert!(plan.weight <= plan.table.pool);
                for form in Form::ALL {
                    let _ = emit(&plan, form, &asked.target);
                }
            }
        }
    }
}

#[test]
fn requests_of_nodes() {
    let mut numbers = Numbers(7);
    for _ in 0..CASES {
        let text = numbers.mutated(NODES);
        match Request::from_toml(&text, "a.toml") {
            Err(error) => check(&error),
            Ok(Request::Table(asked)) => panic!("{asked:?}"),
            Ok(Request::Nodes(asked)) => {
                let plan = place(&asked);
                assert!(plan.nodes.iter().all(|node| node.committed <= plan.capacity));
                for form in NodeForm::ALL {
                    let _ = scenario::emit(&asked, &plan, form);
                }
            }
        }
    }
}

#[test]
fn options_files() {
    let mut numbers = Numbers(7);
    for case in 0..CASES {
        let text = numbers.mutated(OPTIONS[case as usize % 2]);
        let capacity = numbers.below(70) as u32;
        let port = Port { mtu: Bytes::new(2048), high_capacity: 8, low_capacity: capacity, lanes: 8 };
        match parse(&text, "a.conf") {
            Err(error) => check(&error),
            Ok(options) => drop(lint(&options, &port)),
        }
    }
}
