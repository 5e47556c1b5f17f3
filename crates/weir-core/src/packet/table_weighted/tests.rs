//! Traces by hand, shares in closed form, the limit of the high table, and the serial form.

use super::table::Entry;
use super::table::serial::{
    Head, Rule, SIZES, Serial, Without, assert_shares, lockstep, offer, offered, random_table, saturated,
    search, serve,
};
use super::*;
use crate::conformance::{self, Random};
use crate::discipline::Open;
use crate::item::Packet;

fn make(spec: &str) -> Box<dyn Discipline<Packet> + Send> {
    offered(spec, &[])
}

conformance::suite!(
    conforms: [Packet],
    || make("table_weighted:distances=2/4/8/16/32/64/128/128,weights=32cr,entries=128"),
    [work_conserving, flow_order]
);
conformance::suite!(
    conforms_with_two_tables: [Packet],
    || make("table_weighted:0@1cr/3@24cr/-/4@24cr/5@0cr/6@24cr/1@2cr,high=5@200cr/7@0cr/7@30cr/2@24cr/0@5cr,by=class,depth=9pkt"),
    [work_conserving, flow_order]
);
conformance::suite!(
    conforms_with_a_limit: [Packet],
    || make("table_weighted:0@1cr/3@24cr/4@24cr/6@24cr/1@2cr,high=5@200cr/7@30cr/2@24cr/0@5cr,high_limit=2"),
    [work_conserving, flow_order]
);

/// One table, entry by entry.
struct Ring {
    table: Vec<Option<Entry>>,
    at: usize,
    left: u64,
}

impl Ring {
    fn new(table: &Table) -> Self {
        Self { table: table.entries().to_vec(), at: table.entries().len() - 1, left: 0 }
    }

    fn decide(&mut self, examined: &mut u64, head: &dyn Fn(u16) -> Head) -> Option<(u16, u64)> {
        let flow = self.table[self.at].map(|entry| entry.flow);
        match (self.left, flow.map(head)) {
            (1.., Some(Head::Active(size))) => {
                self.left = self.left.saturating_sub(size);
                *examined += 1;
                return Some((flow?, size));
            }
            _ => self.left = 0,
        }
        let Some((next, passed)) = search(&self.table, self.at, head) else {
            *examined += self.table.len() as u64;
            return None;
        };
        *examined += passed;
        let Entry { flow, weight } = self.table[next]?;
        let Head::Active(size) = head(flow) else { panic!("it was active") };
        (self.at, self.left) = (next, weight.get().saturating_sub(size));
        Some((flow, size))
    }
}

/// Both tables, as the module says.
struct Weighted {
    low: Ring,
    high: Option<Ring>,
    high_limit: u8,
    /// Bytes, in credits, that the high table has sent since the low one had its turn; packets if the limit is 0.
    sent: u64,
}

impl Rule for Weighted {
    fn decide(&mut self, head: &dyn Fn(u16) -> Head) -> Option<(u16, u64)> {
        let mut examined = 0;
        let Some(high) = &mut self.high else {
            return self.low.decide(&mut examined, head).map(|(flow, _)| (flow, examined));
        };
        let expired = match self.high_limit {
            255 => false,
            0 => self.sent > 0,
            limit => self.sent >= u64::from(limit) * 64,
        };
        if !expired && let Some((flow, size)) = high.decide(&mut examined, head) {
            self.sent += size;
            return Some((flow, examined));
        }
        self.sent = 0;
        if let Some((flow, _)) = self.low.decide(&mut examined, head) {
            return Some((flow, examined));
        }
        if !expired {
            return None;
        }
        let (flow, size) = high.decide(&mut examined, head)?;
        self.sent = size;
        Some((flow, examined))
    }
}

#[test]
fn decides_as_the_serial_form() {
    let (mut served, mut random) = (0, Random::new(23));
    for round in 0..280 {
        let most = [2, 40, 255][random.below(3) as usize];
        let low = random_table(&mut random, 0..=most);
        let high = (round % 4 != 0).then(|| random_table(&mut random, 0..=most));
        let high_limit = [0, 1, 3, 255][random.below(4) as usize];
        let read_ahead = 1 + random.below(9);
        let shared = table::Config { read_ahead: read_ahead as u16, ..table::Config::new(low.clone()) };
        let config = Config { table: shared, high: high.clone(), high_limit };
        let flows: Vec<u16> = (0..1024).filter(|&flow| config.serves(flow)).map(|flow| flow as u16).collect();
        let Ok(mut whole) = TableWeighted::new(config) else {
            assert_eq!(flows, []);
            continue;
        };
        let rule = Weighted { low: Ring::new(&low), high: high.as_ref().map(Ring::new), high_limit, sent: 0 };
        served +=
            lockstep(&mut random, &flows, 3_000, &mut whole, &mut Serial::new(rule, read_ahead), |_| ());
    }
    assert!(served > 40_000, "{served}");
}

#[test]
fn a_packet_may_start_while_something_is_left() {
    // Claim C06: 34 credits, packets of 32: two in a visit.
    let packets: Vec<_> = (0..12).map(|id| (id % 2, 2048)).collect();
    let mut weighted = offered("table_weighted:0@34cr/1@34cr", &packets);
    assert_eq!(serve(&mut *weighted, &Open, 99), [0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11]);
    // Packets of 34 credits use the weight up exactly: one in a visit.
    let packets: Vec<_> = (0..6).map(|id| (id % 2, 2176)).collect();
    let mut weighted = offered("table_weighted:0@34cr/1@34cr", &packets);
    assert_eq!(serve(&mut *weighted, &Open, 99), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn what_is_left_of_a_weight_is_lost_with_the_turn() {
    // Flow 0 has 2 left when it is held back, and begins anew with 4 when its turn comes.
    let mut weighted = offered(
        "table_weighted:0@4cr/2@0cr/-/1@1cr",
        &[(0, 128), (0, 64), (0, 64), (0, 64), (0, 64), (0, 64), (1, 64), (1, 64)],
    );
    assert_eq!(serve(&mut *weighted, &Open, 1), [0]);
    assert_eq!(serve(&mut *weighted, &Without(&[0]), 1), [6]);
    assert_eq!(serve(&mut *weighted, &Open, 9), [1, 2, 3, 4, 7, 5]);
    // Entries of no weight are examined, and passed over; each turn of flow 1 has examined three.
    let effort = weighted.effort().expect("counted");
    assert_eq!((effort.decisions, effort.examined, effort.most_examined), (8, 1 + 3 + 1 + 3 + 3 + 1, 3));
}

#[test]
fn shares_are_those_of_weights_rounded_up_to_packets() {
    // Claim C02: 34-credit entries; ceil(w / u) s of each.
    for sizes in SIZES {
        let sent = sizes.map(|size| (34_u64.div_ceil(size.div_ceil(64)) * size) as f64);
        let all: f64 = sent.iter().sum();
        let mut weighted = make("table_weighted:distances=4/4/4/4,weights=34cr");
        assert_shares(&saturated(&mut *weighted, &sizes, 100_000), &sent.map(|sent| sent / all));
    }
    let mut weighted = make("table_weighted:distances=4/4/4/4,weights=34cr");
    let shares = saturated(&mut *weighted, &SIZES[0], 100_000);
    assert_shares(&shares, &[2176.0, 2304.0, 3072.0, 4096.0].map(|sent| sent / 11_648.0));
}

/// Sixteen-credit packets of flow 0, which is high, and of flow 1, which is low: who is served.
fn turns(high_limit: &str, packets: usize) -> String {
    let spec = format!("table_weighted:1@64cr,high=0@128cr,high_limit={high_limit}");
    let mut weighted = offered(&spec, &[(0, 1024); 20]);
    offer(&mut *weighted, 20, &[(1, 1024); 20]);
    let served = serve(&mut *weighted, &Open, packets);
    served.into_iter().map(|id| if id < 20 { 'h' } else { 'l' }).collect()
}

#[test]
fn the_low_table_has_a_turn_of_one_packet() {
    // 0: one packet; 1: 4096 bytes, which are four packets; 2: eight; no limit: none while the high has packets.
    assert_eq!(turns("0", 10), "hlhlhlhlhl");
    assert_eq!(turns("1", 12), "hhhhlhhhhlhh");
    assert_eq!(turns("2", 20), "hhhhhhhhlhhhhhhhhlhh");
    assert_eq!(turns("255", 40), format!("{}{}", "h".repeat(20), "l".repeat(20)));
}

#[test]
fn a_packet_that_exceeds_the_limit_may_start() {
    let mut weighted =
        offered("table_weighted:1@64cr,high=0@255cr,high_limit=1", &[(0, 64), (0, 9_000), (0, 64)]);
    offer(&mut *weighted, 3, &[(1, 64); 2]);
    // 63 credits are left when the packet of 141 starts, none afterwards.
    assert_eq!(serve(&mut *weighted, &Open, 9), [0, 1, 3, 2, 4]);
}

#[test]
fn a_turn_that_the_low_table_cannot_use_is_gone() {
    let spec = "table_weighted:1@64cr,high=0@128cr,high_limit=1";
    let mut weighted = offered(spec, &[(0, 1024); 9]);
    offer(&mut *weighted, 9, &[(1, 1024); 1]);
    // The fifth decision finds flow 1 held back: the count begins anew, and the high table sends three more after it.
    assert_eq!(serve(&mut *weighted, &Without(&[1]), 5), [0, 1, 2, 3, 4]);
    assert_eq!(serve(&mut *weighted, &Open, 9), [5, 6, 7, 9, 8]);
}

#[test]
fn a_high_table_without_an_active_flow_begins_its_count_anew() {
    let mut weighted = offered("table_weighted:1@64cr,high=0@128cr,high_limit=1", &[(0, 1024); 9]);
    offer(&mut *weighted, 9, &[(1, 1024); 3]);
    assert_eq!(serve(&mut *weighted, &Open, 3), [0, 1, 2]);
    assert_eq!(serve(&mut *weighted, &Without(&[0]), 1), [9]);
    assert_eq!(serve(&mut *weighted, &Open, 7), [3, 4, 5, 6, 10, 7, 8]);
}

#[test]
fn a_flow_may_be_in_both_tables_or_only_in_the_high_one() {
    let mut weighted = offered(
        "table_weighted:0@1cr/1@1cr/2@0cr,high=2@1cr/0@1cr",
        &[(0, 64), (1, 64), (0, 64), (2, 64), (0, 64), (1, 64)],
    );
    // High: 2, low: 0 (its packet 0), high: 0 (packet 2), low: 1, high: 0, low: 1.
    assert_eq!(serve(&mut *weighted, &Open, 9), [3, 0, 2, 1, 4, 5]);
}
