//! Traces by hand, shares in closed form, bounds, deficit round robin, and the serial form.

use super::table::serial::{
    Head, Rule, SIZES, Serial, Without, assert_shares, lockstep, offer, offered, random_table, saturated,
    search, serve, spread,
};
use super::table::{Entry, Table};
use super::*;
use crate::conformance::{self, Random};
use crate::discipline::{CountDrops, DropReason, Open};
use crate::item::Packet;
use crate::packet::testing::packet;

/// Table 1 of the source.
const TABLE_1: &str = "dtable:distances=2/4/8/16/32/64/64,weights=32cr/64cr/128cr/128cr/128cr/128cr/128cr";

fn make(spec: &str) -> Box<dyn Discipline<Packet> + Send> {
    offered(spec, &[])
}

conformance::suite!(
    conforms: [Packet],
    || make("dtable:distances=2/4/8/16/32/64/128/128,weights=32cr,entries=128"),
    [work_conserving, flow_order]
);
conformance::suite!(
    conforms_and_keeps: [Packet],
    || make("dtable:0@24cr/7@30cr/-/2@24cr/3@200cr/4@24cr/6@24cr/1@24cr,mtu=1514B,stall=keep,by=class,depth=9pkt"),
    [work_conserving, flow_order]
);

/// Entry by entry, as the source has it.
struct Deficit {
    table: Table,
    at: usize,
    /// What the present entry may still send, while it is served.
    serving: Option<u64>,
    deficits: Vec<u64>,
    mtu: u64,
    stall: Stall,
}

impl Rule for Deficit {
    fn decide(&mut self, head: &dyn Fn(u16) -> Head) -> Option<(u16, u64)> {
        let entries = self.table.entries();
        if let Some(rest) = self.serving.take() {
            let flow = entries[self.at]?.flow;
            self.deficits[usize::from(flow)] = match head(flow) {
                Head::Active(size) if size <= rest => {
                    self.serving = Some(rest - size);
                    return Some((flow, 1));
                }
                Head::Active(_) => rest,
                Head::Stalled if self.stall == Stall::Keep => rest.min(self.mtu - 1),
                Head::Stalled | Head::None => 0,
            };
        }
        let (next, examined) = search(entries, self.at, head)?;
        let Entry { flow, weight } = entries[next]?;
        let Head::Active(size) = head(flow) else { panic!("it was active") };
        let deficit = &mut self.deficits[usize::from(flow)];
        self.serving = Some((*deficit + weight.get()).checked_sub(size).expect("a head always fits"));
        (*deficit, self.at) = (0, next);
        Some((flow, examined))
    }
}

#[test]
fn decides_as_the_serial_form_within_one_pass_and_with_deficits_below_the_largest_packet() {
    // Claims C08 and C31 too.
    let (mut served, mut owed, mut random) = (0, 0, Random::new(22));
    for round in 0..240 {
        let mtu = [1, 64, 300, 1514, 2048][random.below(5) as usize];
        let least = credits(Bytes::new(mtu)).get();
        let most = least + [0, 3, 96][random.below(3) as usize];
        let table = random_table(&mut random, least..=most);
        let flows: Vec<u16> = table.entries().iter().flatten().map(|entry| entry.flow).collect();
        let stall = [Stall::Zero, Stall::Keep][round % 2];
        let read_ahead = 1 + random.below(9);
        let shared = table::Config { read_ahead: read_ahead as u16, ..table::Config::new(table.clone()) };
        let Ok(mut whole) = Dtable::new(Config { table: shared, mtu: Bytes::new(mtu), stall }) else {
            assert_eq!(flows, []);
            continue;
        };
        let entries = table.entries().len();
        let deficits = vec![0; table::MAX_ENTRIES];
        let rule = Deficit { table, at: entries - 1, serving: None, deficits, mtu: least, stall };
        let seen = std::cell::Cell::new(0);
        served +=
            lockstep(&mut random, &flows, mtu, &mut whole, &mut Serial::new(rule, read_ahead), |whole| {
                let effort = whole.effort().expect("counted");
                assert!(effort.most_examined <= entries as u64);
                assert_eq!(effort.most_steps, effort.most_examined.div_ceil(read_ahead));
                for &flow in &flows {
                    assert!(whole.deficit(flow).get() < least);
                    seen.set(seen.get().max(whole.deficit(flow).get()));
                }
            });
        owed += u64::from(seen.get() > 0);
    }
    assert!(served > 40_000 && owed > 100, "{served} served, {owed} times something owed");
}

#[test]
fn what_does_not_fit_is_saved_and_a_flow_that_empties_forfeits() {
    // Claim C07. Weights 32cr; flow 0 sends 20cr and has 12 left, below 24; flow 1 sends 16 + 16.
    let mut dtable = offered(
        "dtable:0@32cr/1@32cr",
        &[(0, 1280), (0, 1536), (0, 1280), (0, 64), (1, 1024), (1, 1024), (1, 1024), (1, 2048), (1, 64)],
    );
    // Flow 0: 12 + 32 = 44: sends 24 and 20, nothing is left. Flow 1: 32: 16, then 32 does not fit: 16 are owed.
    // Flow 0: 32: sends 1, and is empty: forfeits 31. Flow 1: 16 + 32: sends 32, then 1.
    assert_eq!(serve(&mut *dtable, &Open, 20), [0, 4, 5, 1, 2, 6, 3, 7, 8]);
    // Both have forfeited what they had: flow 0 begins with 32 and sends 20 of 20 + 20.
    offer(&mut *dtable, 10, &[(0, 1280), (0, 1280), (1, 2048)]);
    assert_eq!(serve(&mut *dtable, &Open, 9), [10, 12, 11]);
}

#[test]
fn a_deficit_survives_turns_in_which_the_flow_is_not_active() {
    // Flow 0 is owed 12. While it is held back, its entry is passed over three times.
    let mut dtable = offered(
        "dtable:0@32cr/1@32cr",
        &[(0, 1280), (0, 1536), (0, 1280), (1, 2048), (1, 2048), (1, 2048), (1, 2048)],
    );
    assert_eq!(serve(&mut *dtable, &Open, 2), [0, 3]);
    assert_eq!(serve(&mut *dtable, &Without(&[0]), 2), [4, 5]);
    // 12 + 32 cover 24 and 20.
    assert_eq!(serve(&mut *dtable, &Open, 9), [1, 2, 6]);
}

#[test]
fn a_flow_that_runs_out_of_credits_in_service_forfeits_or_keeps() {
    let packets = [(0, 320), (0, 1728), (0, 1280), (1, 2048), (1, 2048)];
    for (stall, expected) in [("zero", [1, 4, 2]), ("keep", [1, 2, 4])] {
        // Flow 0 sends 5 of 32 and is held back, with 27 left and 27 in its head.
        let mut dtable = offered(&format!("dtable:0@32cr/1@32cr,stall={stall}"), &packets);
        assert_eq!(serve(&mut *dtable, &Open, 1), [0]);
        assert_eq!(serve(&mut *dtable, &Without(&[0]), 1), [3]);
        // Then it begins anew: with 32, or with 27 + 32, which cover 27 and 20.
        assert_eq!(serve(&mut *dtable, &Open, 3), expected, "{stall}");
    }
}

#[test]
fn what_is_kept_is_less_than_the_largest_packet() {
    let mut config = Config::new("0@128cr/1@32cr".parse_table());
    config.stall = Stall::Keep;
    let mut dtable = Dtable::new(config).expect("valid");
    offer(&mut dtable, 0, &[(0, 64); 9]);
    for turn in 0..8 {
        assert_eq!(serve(&mut dtable, &Open, 1), [turn]);
        assert_eq!(serve(&mut dtable, &Without(&[0]), 1), []);
        assert_eq!(dtable.deficit(0), Credits::new(31));
    }
    // A decision over an empty queue forfeits it.
    assert_eq!(serve(&mut dtable, &Open, 9), [8]);
    assert_eq!(dtable.deficit(0), Credits::new(0));
}

/// A table as a spec writes it.
trait ParseTable {
    fn parse_table(&self) -> Table;
}

impl ParseTable for str {
    fn parse_table(&self) -> Table {
        let spec = format!("dtable:{self}").parse().expect(self);
        let arguments = Arguments::new(&spec, &INFO).expect(self);
        Table::from_spec(&arguments, Form::Weights).expect(self)
    }
}

#[test]
fn a_service_that_is_over_when_nothing_waits_forfeits_too() {
    let mut dtable = offered("dtable:0@64cr/1@64cr", &[(0, 64)]);
    assert_eq!(serve(&mut *dtable, &Open, 2), [0]);
    // The decision over empty queues has ended the service of entry 0: flow 1 is next.
    offer(&mut *dtable, 1, &[(0, 64), (1, 64)]);
    assert_eq!(serve(&mut *dtable, &Open, 2), [2, 1]);
    // Without such a decision the service of entry 0 goes on, with what comes before the next.
    offer(&mut *dtable, 3, &[(1, 64), (0, 64)]);
    assert_eq!(serve(&mut *dtable, &Open, 2), [4, 3]);
}

#[test]
fn shares_are_those_of_the_weights_for_any_sizes() {
    // Claims C03 and C04: 64 entries of 34 credits, 16 of each flow.
    let (basic, weighted) =
        ("table_basic:distances=4/4/4/4", "table_weighted:distances=4/4/4/4,weights=34cr");
    for sizes in SIZES {
        let mut dtable = make("dtable:distances=4/4/4/4,weights=34cr,mtu=2176B");
        let shares = saturated(&mut *dtable, &sizes, 200_000);
        assert_shares(&shares, &[0.25; 4]);
        let [basic, weighted] =
            [basic, weighted].map(|spec| spread(&saturated(&mut *make(spec), &sizes, 64_000)));
        assert!(basic > weighted && weighted > spread(&shares), "{basic} {weighted} {shares:?}");
    }
    // Table 1: the shares that it reserves, for sizes that have nothing to do with them.
    let sizes = [64, 2048, 320, 1024, 64, 1984, 704];
    let expected = [0.25, 0.25, 0.25, 0.125, 0.0625, 0.03125, 0.03125];
    assert_shares(&saturated(&mut *make(TABLE_1), &sizes, 1_000_000), &expected);
}

#[test]
fn with_one_entry_for_each_flow_it_is_deficit_round_robin() {
    // Claim C09: all flows always active, quanta are the weights of the entries. Sizes of whole credits.
    let mut dtable = make("dtable:0@32cr/1@64cr/2@40cr/3@100cr");
    let mut drr = make("drr:quantum=64B,weights=32/64/40/100");
    let mut random = Random::new(9);
    let mut ahead = |flow| (0..200).map(|_| (flow, 64 * (1 + random.below(32)))).collect::<Vec<_>>();
    for flow in 0..4 {
        let packets = ahead(flow);
        offer(&mut *dtable, 0, &packets);
        offer(&mut *drr, 0, &packets);
    }
    let (now, drops) = (Instant::ZERO, &mut CountDrops(0));
    for id in 0..20_000 {
        let grant = dtable.dequeue(now, &Open, drops).expect("something waits");
        assert_eq!(Some(grant), drr.dequeue(now, &Open, drops));
        let next = packet(id, grant.item.flow.0, 64 * (1 + random.below(32)));
        let _ = (dtable.enqueue(now, next, drops), drr.enqueue(now, next, drops));
    }
}

#[test]
fn a_packet_that_no_entry_could_send_is_dropped_and_stops_nobody() {
    let mut dtable = make("dtable:0@32cr/1@64cr");
    let mut drops = Vec::new();
    for (id, size) in [(0, 2048), (1, 2049), (2, u64::MAX), (3, 0)] {
        let _ = dtable.enqueue(Instant::ZERO, packet(id, 1, size), &mut drops);
    }
    let dropped: Vec<_> = drops.iter().map(|(item, reason)| (item.id, *reason)).collect();
    assert_eq!(dropped, [(1, DropReason::TooLarge), (2, DropReason::TooLarge)]);
    assert_eq!(serve(&mut *dtable, &Open, 9), [0, 3]);
    // Packets of no size take a credit each, so that nobody is served for ever.
    offer(&mut *dtable, 0, &[(1, 0); 70]);
    assert_eq!(serve(&mut *dtable, &Open, 1), [0]);
    offer(&mut *dtable, 70, &[(0, 64)]);
    assert_eq!(serve(&mut *dtable, &Open, 99).iter().position(|&id| id == 70), Some(63));
}

#[test]
fn configurations_that_no_spec_can_write_are_refused_too() {
    let mtu = |bytes| {
        let config = Config { mtu: Bytes::new(bytes), ..Config::new("0@65535cr".parse_table()) };
        Dtable::<Packet>::new(config).map(drop)
    };
    assert_eq!(mtu(0), Err(ConfigError::Mtu(Bytes::new(0))));
    let error = mtu(4_194_241).expect_err("too large").to_string();
    assert_eq!(error, "mtu is 4194241B, must be from 1B to 4194240B");
    assert_eq!(mtu(4_194_240), Ok(()));
    let config = Config::new("0@32cr/3@32cr".parse_table());
    assert_eq!([0, 1, 3, 4].map(|flow| config.serves(flow)), [true, false, true, false]);
}
