//! What the tests share.

use weir_plan::{Plan, Requirements, plan};

/// The request of Table 1.
pub(crate) const TABLE_1: &str = r#"
weir = 1
title = "Table 1"
[table]
entries = 64
mtu = "2048B"
k = 2
w = 4
[link]
rate = "2.5Gbit"
coding = "8b/10b"
[[class]]
name = "D2"
share = "25%"
distance = 2
[[class]]
name = "D4"
share = "25%"
distance = 4
[[class]]
name = "D8"
share = "25%"
distance = 8
[[class]]
name = "D16"
share = "12.5%"
distance = 16
[[class]]
name = "D32"
share = "6.25%"
distance = 32
[[class]]
name = "D64"
share = "3.125%"
distance = 64
[[class]]
name = "D64'"
share = "3.125%"
distance = 64
"#;

/// A request of three nodes, with everything that can be written.
pub(crate) const NODES: &str = r#"
weir = 1
title = "Three nodes"
[nodes]
names = ["a", "b", "c"]
epoch = "100ms"
reserve = "4ms"
[[process]]
name = "recorder"
need = "50ms"
on = ["a"]
priority = 2
slice = "10ms"
[[process]]
name = "decoder"
need = "30ms"
count = 4
[[process]]
name = "spare"
need = "20ms"
count = 2
apart_from = ["spare", "recorder"]
[[process]]
name = "rest"
need = "10ms"
count = 3
"#;

/// A request that is read.
pub(crate) fn asked(text: &str) -> Requirements {
    Requirements::from_toml(text, "plan.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Its plan.
pub(crate) fn planned(text: &str) -> Plan {
    plan(&asked(text))
}

/// A request for a table with `table`, at 10 Gbit/s, and `classes`, each a line of keys separated by semicolons.
pub(crate) fn request(table: &str, classes: &[&str]) -> String {
    let mut text = format!(
        "weir = 1\n[table]\nmtu = \"2048B\"\n{}\n[link]\nrate = \"10Gbit\"\n",
        table.replace(';', "\n")
    );
    for (place, class) in classes.iter().enumerate() {
        text.push_str(&format!("[[class]]\nname = \"c{place}\"\n{}\n", class.replace(';', "\n")));
    }
    text
}
