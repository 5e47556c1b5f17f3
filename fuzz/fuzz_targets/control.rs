//! Requests of the control socket, of each kind of daemon: none panics, an answer is one line, and who may only read is
//! never obeyed.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use weir_document::Source;
use weir_live::daemon::control::{Orders, Outcome, consider};
use weir_live::daemon::requests::{Began, InForce, Order};
use weir_live::steer::config::{self, Steering};
use weir_live::steer::requests::Order as SteeringOrder;
use weir_plane::config::read;

static ROUTER: LazyLock<Began> = LazyLock::new(|| {
    let text = "weir = 1\n[router]\nname = \"r\"\n[[interface]]\nname = \"a\"\n[[interface]]\nname = \"b\"\n";
    let router = read(&Source { name: "r.toml", text }).expect("valid");
    Began { in_force: InForce::new(Arc::new(router.clone())), router, seed: 1 }
});

static STEERING: LazyLock<Steering> = LazyLock::new(|| {
    let text = "weir = 1\n[steer]\nname = \"s\"\ninterface = \"a\"\nports = [9]\nprocessors = \"1-3\"\n";
    config::read(&Source { name: "s.toml", text }).expect("valid")
});

fn check<K: Orders>(line: &[u8], kind: &K, reads: impl Fn(&K::Order) -> bool) {
    for may_change in [true, false] {
        match consider(line, may_change, kind) {
            Outcome::Order(order) => assert!(may_change || reads(&order)),
            Outcome::Refuse(answer) | Outcome::Close(answer) => {
                let written = serde_json::to_string(&answer).expect("written");
                assert!(!written.contains('\n') && written.len() < 1 << 16);
            }
        }
    }
}

fuzz_target!(|line: &[u8]| {
    check(line, &*ROUTER, |order| matches!(order, Order::Status | Order::Stats | Order::Configuration | Order::Subscribers));
    check(line, &*STEERING, |order| {
        matches!(order, SteeringOrder::Status | SteeringOrder::Stats | SteeringOrder::Configuration)
    });
});
