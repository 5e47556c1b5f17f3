//! Traces by hand, shares in closed form, and the serial form.

use super::table::serial::{
    Head, Rule, SIZES, Serial, Without, assert_shares, lockstep, offered, random_table, saturated, search,
    serve,
};
use super::*;
use crate::conformance::{self, Random};
use crate::discipline::Open;
use crate::item::Packet;

const EQUAL: &str = "table_basic:distances=4/4/4/4";

fn make(spec: &str) -> Box<dyn Discipline<Packet> + Send> {
    offered(spec, &[])
}

conformance::suite!(conforms: [Packet], || make("table_basic:0/1/0/2/0/3/-/4/5/6/7"), [work_conserving, flow_order]);
conformance::suite!(conforms_by_class: [Packet], || make("table_basic:7/1/0/2/-/3,by=class"), [work_conserving, flow_order]);
conformance::suite!(
    conforms_with_distances: [Packet],
    || make("table_basic:distances=16/32/32/32/64/64/128/128,entries=128,depth=9pkt,limit=30pkt"),
    [work_conserving, flow_order]
);

/// Entry by entry.
struct Basic {
    table: Table,
    at: usize,
}

impl Rule for Basic {
    fn decide(&mut self, head: &dyn Fn(u16) -> Head) -> Option<(u16, u64)> {
        let (next, examined) = search(self.table.entries(), self.at, head)?;
        self.at = next;
        Some((self.table.entries()[next]?.flow, examined))
    }
}

#[test]
fn decides_as_the_serial_form() {
    let (mut served, mut random) = (0, Random::new(21));
    for _ in 0..160 {
        let table = random_table(&mut random, 1..=1);
        let flows: Vec<u16> = table.entries().iter().flatten().map(|entry| entry.flow).collect();
        let read_ahead = 1 + random.below(9);
        let config = Config { read_ahead: read_ahead as u16, ..Config::new(table.clone()) };
        let Ok(mut whole) = TableBasic::new(config) else {
            assert_eq!(flows, []);
            continue;
        };
        let at = table.entries().len() - 1;
        let mut serial = Serial::new(Basic { table, at }, read_ahead);
        served += lockstep(&mut random, &flows, 3_000, &mut whole, &mut serial, |_| ());
    }
    assert!(served > 20_000, "{served}");
}

#[test]
fn an_entry_sends_one_packet_of_any_size() {
    // Entry 1 is free. Flow 1 has one packet, flow 2 none at first.
    let mut basic = offered("table_basic:0/-/1/0/2", &[(0, 2048), (0, 64), (0, 9_000), (1, 64), (0, 64)]);
    // Entries 0, 2, 3; then entry 0 for flow 0, which has examined 4, 0; then entry 3, past 1 and 2.
    assert_eq!(serve(&mut *basic, &Open, 5), [0, 3, 1, 2, 4]);
    let effort = basic.effort().expect("counted");
    assert_eq!((effort.decisions, effort.examined, effort.most_examined), (5, 1 + 2 + 1 + 2 + 3, 3));
}

#[test]
fn a_flow_without_credits_is_passed_over() {
    let mut basic = offered("table_basic:0/1/2,read_ahead=2", &[(0, 64), (1, 64), (2, 64), (1, 64)]);
    assert_eq!(serve(&mut *basic, &Without(&[0, 1]), 9), [2]);
    assert_eq!(serve(&mut *basic, &Without(&[0, 1]), 9), []);
    // Nothing was found, so the position is still entry 2, and entry 0 is next.
    assert_eq!(serve(&mut *basic, &Open, 9), [0, 1, 3]);
    // The last decision went around the whole ring, two entries in a step.
    let effort = basic.effort().expect("counted");
    assert_eq!((effort.examined, effort.most_examined, effort.most_steps), (3 + 1 + 1 + 3, 3, 2));
}

#[test]
fn shares_follow_sizes() {
    // Claim C01: equal entries, share i is s_i over the sum of all s.
    for sizes in SIZES {
        let all: u64 = sizes.iter().sum();
        let expected = sizes.map(|size| size as f64 / all as f64);
        assert_shares(&saturated(&mut *make(EQUAL), &sizes, 64_000), &expected);
    }
    let shares = saturated(&mut *make(EQUAL), &SIZES[0], 64_000);
    assert_shares(&shares, &[64.0 / 3392.0, 256.0 / 3392.0, 1024.0 / 3392.0, 2048.0 / 3392.0]);
    // Unequal entries: n_i s_i over the sum of all n s.
    let shares = saturated(&mut *make("table_basic:distances=2/4/8/8"), &SIZES[0], 64_000);
    let parts = [4.0 * 64.0, 2.0 * 256.0, 1024.0, 2048.0];
    let all: f64 = parts.iter().sum();
    assert_shares(&shares, &parts.map(|part| part / all));
}

#[test]
fn flows_without_an_entry_are_unclassified() {
    use crate::discipline::DropReason;
    use crate::packet::testing::packet;
    let mut basic = make("table_basic:0/2");
    let mut drops = Vec::new();
    for flow in [1, 3, u32::MAX] {
        let _ = basic.enqueue(Instant::ZERO, packet(0, flow, 64), &mut drops);
    }
    let dropped: Vec<_> = drops.iter().map(|(item, reason)| (item.flow.0, *reason)).collect();
    assert_eq!(dropped, [1, 3, u32::MAX].map(|flow| (flow, DropReason::Unclassified)));
    assert!(basic.backlog().is_empty());
}
