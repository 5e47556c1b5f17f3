//! Requests of the control socket: none panics, an answer is one line, and who may only read is never obeyed.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use weir_document::Source;
use weir_live::config::{Router, read};
use weir_live::daemon::control::{Outcome, consider};
use weir_live::daemon::inbox::Order;

static ROUTER: LazyLock<Router> = LazyLock::new(|| {
    let text = "weir = 1\n[router]\nname = \"r\"\n[[interface]]\nname = \"a\"\n[[interface]]\nname = \"b\"\n";
    read(&Source { name: "r.toml", text }).expect("valid")
});

fuzz_target!(|line: &[u8]| {
    for may_change in [true, false] {
        match consider(line, may_change, &ROUTER) {
            Outcome::Order(order) => {
                assert!(may_change || matches!(order, Order::Status | Order::Stats | Order::Configuration));
            }
            Outcome::Refuse(answer) | Outcome::Close(answer) => {
                let written = serde_json::to_string(&answer).expect("written");
                assert!(!written.contains('\n') && written.len() < 1 << 16);
            }
        }
    }
});
