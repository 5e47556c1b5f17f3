//! Whose packet is whose, that they leave as in the simulation, and that reloads under load lose nothing.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use weir_core::discipline::{Discipline, Open};
use weir_core::item::Item;
use weir_core::random::Random;
use weir_core::registry::packet_discipline;
use weir_core::units::Instant;

use super::*;
use crate::classify::Classifier;
use crate::config::{Defaults, Route, Router};
use crate::frame::{self, Frame};
use crate::parked::Handle;
use crate::testing::*;

fn table(lines: &str) -> Arc<Table> {
    let text = format!("name,address,rate,ceiling,group\n{lines}");
    Arc::new(Table::parse("s.csv", text.as_bytes()).expect("valid"))
}

/// A router whose second interface these share, each with this discipline; they are behind the neighbour there.
fn shared(table: &Arc<Table>, address: SubscriberAddress, each: &str) -> Router {
    let mut router = router("fifo");
    router.interfaces[1].discipline = each.parse().expect("a spec");
    let (file, table) = ("s.csv".to_owned(), Arc::clone(table));
    router.interfaces[1].subscribers = Some(Subscribers { file, address, metrics: false, table });
    let via = Some(Ipv4Addr::new(10, 0, 1, 1).into());
    router.routes.push(Route { to: "100.64.0.0/10".parse().expect("a prefix"), via, interface: 1 });
    router
}

fn subscriber(at: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(Ipv4Addr::new(100, 64, 0, 0)) + at as u32)
}

/// `count` subscribers in groups of twenty.
fn many(count: usize) -> Arc<Table> {
    let groups = (0..count.div_ceil(20)).map(|at| format!("g{at},,300kbit,2Mbit,\n"));
    let each = (0..count).map(|at| {
        format!("s{at},{},{}kbit,{}kbit,g{}\n", subscriber(at), 5 + at % 9, 100 + at % 7 * 300, at / 20)
    });
    table(&groups.chain(each).collect::<String>())
}

fn to(at: usize, size: usize) -> Udp {
    Udp::new("10.0.0.1", &subscriber(at).to_string(), size - 28)
}

#[test]
fn the_longest_prefix_that_holds_an_address_decides() {
    let mut random = Random::new(11);
    for round in 0..40 {
        let mut listed: Vec<(IpNet, String)> = Vec::new();
        for at in 0..30 {
            let bits = (random.bits() & random.bits()) as u32 & 0xff00_00ff;
            let (four, six) = (Ipv4Addr::from_bits(bits), Ipv6Addr::from_bits(u128::from(bits) << 90));
            let (address, most): (IpAddr, u64) =
                if at % 2 == 0 { (four.into(), 33) } else { (six.into(), 129) };
            let net = IpNet::new(address, random.below(most) as u8).expect("a length").trunc();
            if listed.iter().all(|(other, _)| *other != net) {
                listed.push((net, format!("s{at}")));
            }
        }
        let lines = listed.iter().map(|(net, name)| format!("{name},{net},1Mbit,,\n"));
        let table = table(&lines.collect::<String>());
        let address = if round % 2 == 0 { SubscriberAddress::Source } else { SubscriberAddress::Destination };
        let named = Subscribers { file: String::new(), address, metrics: false, table: Arc::clone(&table) };
        let subscribed = Subscribed::new(&named);
        for _ in 0..200 {
            let bits = (random.bits() & random.bits()) as u32 & 0xff00_00ff;
            let (ends, mine): (Ends, IpAddr) = if random.one_in(2) {
                (Ends::V4 { source: bits, destination: bits }, Ipv4Addr::from_bits(bits).into())
            } else {
                let bits = u128::from(bits) << 90;
                (Ends::V6 { source: bits, destination: bits }, Ipv6Addr::from_bits(bits).into())
            };
            let longest =
                listed.iter().filter(|(net, _)| net.contains(&mine)).max_by_key(|(net, _)| net.prefix_len());
            let name = longest.map_or("others", |(_, name)| name);
            assert_eq!(table.classes()[usize::from(subscribed.class(&ends))].name, name, "{mine}");
        }
    }
}

#[test]
fn the_uplink_goes_by_the_source() {
    let table = table("a,100.64.0.1,1Mbit,,\nb,100.64.0.2,1Mbit,,\n");
    let by = |address| {
        let mut bench = Bench::new(shared(&table, address, "fifo"));
        bench.datagram(0, 0, &Udp::new("100.64.0.1", "100.64.0.2", 100));
        let counts = bench.plane.subscribers(Instant::ZERO, 1).expect("subscribers").counts;
        counts.iter().position(|counts| counts.waiting.packets > 0).map(|at| table.classes()[at].name.clone())
    };
    assert_eq!(by(SubscriberAddress::Destination).as_deref(), Some("b"));
    assert_eq!(by(SubscriberAddress::Source).as_deref(), Some("a"));
}

/// What a simulation does: the discipline by its spec, on a line that takes one packet; classes found by a search through
/// all lines.
struct Model {
    queue: Box<dyn Discipline<Handle> + Send>,
    classifier: Classifier,
    table: Arc<Table>,
    now: u64,
    end: Option<u64>,
    left: Vec<(u64, u16)>,
}

impl Model {
    fn serve(&mut self) {
        let Some(grant) = self.queue.dequeue(Instant::new(self.now), &Open, &mut Vec::new()) else { return };
        self.queue.finish(Instant::new(self.now), &grant.item, grant.quantum);
        let end = self.now + grant.item.cost().get() * 1_000;
        self.left.push((end, grant.item.frame as u16));
        self.end = Some(end);
    }

    fn run(&mut self, until: u64) {
        loop {
            let event =
                self.queue.next_event().map(Instant::get).filter(|&at| at > self.now && self.end.is_none());
            let Some(next) = self.end.or(event).filter(|&at| at <= until) else { return };
            self.now = next;
            self.end = None;
            self.serve();
        }
    }

    fn arrive(&mut self, now: u64, datagram: &Udp) {
        self.run(now);
        self.now = now;
        let Ok(Frame::Ip(packet)) = frame::read(&datagram.frame(own(0), next(0))) else { panic!() };
        let mut label = self.classifier.label(&packet, crate::vlan::Origin::default());
        let holds = self.table.prefixes().iter().filter(|(net, _)| net.contains(&datagram.to));
        let class =
            holds.max_by_key(|(net, _)| net.prefix_len()).map_or(self.table.others(), |(_, class)| *class);
        label.class = weir_core::item::ClassId(class);
        let handle = Handle::new(datagram.ports.1.into(), label, &packet);
        let _ = self.queue.enqueue(Instant::new(now), handle, &mut Vec::new());
        if self.end.is_none() {
            self.serve();
        }
    }
}

/// 220 subscribers with packets at random times, on a line that is overloaded for most of the time.
#[test]
fn two_hundred_subscribers_leave_as_in_the_simulation() {
    const COUNT: usize = 220;
    for (each, seed) in [("fifo", 1), ("drr:quantum=500B", 2), ("codel(target=1ms,interval=5ms)", 3)] {
        let table = many(COUNT);
        let mut random = Random::new(seed);
        let mut at = 0;
        let arrivals: Vec<(u64, Udp)> = (0..900)
            .map(|name| {
                at += if random.one_in(3) { 0 } else { 100_000 * random.below(7) };
                let mut datagram =
                    to(random.below(COUNT as u64 + 20) as usize, 100 + 100 * random.below(5) as usize);
                datagram.ports = (random.below(3) as u16, name);
                (at, datagram)
            })
            .collect();
        let router = shared(&table, SubscriberAddress::Destination, each);
        let rate = router.interfaces[1].rate.expect("a rate");
        let spec = table.spec(rate, &each.parse().expect("a spec")).expect("enough");
        // It is what a person may write, too.
        let spec = spec.to_string().parse().expect("a spec");
        let mut model = Model {
            queue: packet_discipline(&spec).expect("valid"),
            classifier: Classifier::new(&router, 1),
            table,
            now: 0,
            end: None,
            left: Vec::new(),
        };
        arrivals.iter().for_each(|(at, datagram)| model.arrive(*at, datagram));
        model.run(1 << 50);
        let plane = crate::Plane::new(router, &devices(), 1024, 1).expect("a router");
        let mut bench = Bench { plane, arena: crate::arena::Arena::new(1024).expect("memory") };
        let mut left = Vec::new();
        for (at, datagram) in &arrivals {
            left.extend(bench.run(1, *at));
            bench.datagram(*at, 0, datagram);
        }
        left.extend(bench.run(1, 1 << 50));
        let name = |frame: &[u8]| u16::from_be_bytes([frame[36], frame[37]]);
        let left: Vec<(u64, u16)> = left.into_iter().map(|(at, frame)| (at, name(&frame))).collect();
        assert_eq!(left, model.left, "{each}");
        bench.holds(1 << 50);
    }
}

#[test]
fn counts_of_subscribers_add_up_to_those_of_the_interface() {
    let mut bench = Bench::new(shared(&many(60), SubscriberAddress::Destination, "fifo:limit=3pkt"));
    let mut random = Random::new(5);
    for round in 0..200 {
        bench.datagram(round * 100_000, 0, &to(random.below(70) as usize, 400));
        if round % 3 == 0 {
            bench.run(1, round * 100_000);
        }
    }
    let now = 200 * 100_000;
    let class = bench.snapshot(now).interfaces[1].classes[0].clone();
    let snapshot = bench.plane.subscribers(Instant::new(now), 1).expect("subscribers").snapshot();
    let sum = |of: fn(&SubscriberCounts) -> Count| {
        snapshot.subscribers.iter().map(|it| of(&it.counts)).fold(Count::default(), |mut sum, one| {
            sum += one;
            sum
        })
    };
    assert_eq!(sum(|counts| counts.forwarded), class.forwarded);
    assert_eq!(sum(|counts| counts.waiting), class.waiting);
    assert_eq!(
        sum(|counts| counts.dropped).packets,
        class.dropped.values().map(|count| count.packets).sum::<u64>()
    );
    assert!(sum(|counts| counts.dropped).packets > 0);
    let first = &snapshot.subscribers[0];
    assert_eq!((first.name.as_str(), first.group.as_str(), first.ceiling.as_str()), ("s0", "g0", "100kbit"));
    assert_eq!(snapshot.subscribers.len(), 61);
}

#[test]
fn ten_thousand_are_reloaded_under_load_without_a_loss_and_in_order() {
    const COUNT: usize = 10_000;
    let mut bench = Bench::new(shared(&many(COUNT), SubscriberAddress::Destination, "fifo"));
    let (mut random, mut sent, mut left) = (Random::new(9), BTreeMap::<usize, Vec<u16>>::new(), Vec::new());
    let others = many(COUNT + 500);
    for name in 0..1_500_u64 {
        let now = name * 300_000;
        left.extend(bench.run(1, now));
        let at = random.below(40) as usize * 250;
        let mut datagram = to(at, 200);
        datagram.ports.1 = name as u16;
        if bench.arena.free() > 0 {
            sent.entry(at).or_default().push(name as u16);
            bench.datagram(now, 0, &datagram);
        }
        if name % 500 == 250 {
            let table = if name % 1000 == 250 { &others } else { &many(COUNT) };
            let before = bench.plane.subscribers(Instant::new(now), 1).expect("subscribers").snapshot();
            let next =
                bench.plane.prepare(shared(table, SubscriberAddress::Destination, "fifo")).expect("valid");
            let remains =
                bench.plane.replace(Instant::new(now), next, &mut bench.arena).expect("the same interfaces");
            drop(remains);
            let after = bench.plane.subscribers(Instant::new(now), 1).expect("subscribers").snapshot();
            let counts = |all: &SubscribersSnapshot| {
                let some = all.subscribers.iter().filter(|it| it.counts != SubscriberCounts::default());
                some.map(|it| (it.name.clone(), it.counts)).collect::<BTreeMap<_, _>>()
            };
            assert_eq!(counts(&before), counts(&after));
        }
    }
    left.extend(bench.run(1, 1 << 50));
    let mut came = BTreeMap::<usize, Vec<u16>>::new();
    for (_, frame) in &left {
        let to = u32::from_be_bytes([frame[30], frame[31], frame[32], frame[33]]) - subscriber(0).to_bits();
        came.entry(to as usize).or_default().push(u16::from_be_bytes([frame[36], frame[37]]));
    }
    assert_eq!(came, sent);
    bench.holds(1 << 50);
}

#[test]
fn who_begins_or_ceases_to_have_subscribers_keeps_its_packets() {
    let plain = router("fifo");
    let table = table("a,10.0.1.0/24,1Mbit,,\n");
    let mut bench = Bench::new(plain.clone());
    let send = |bench: &mut Bench| (0..5).for_each(|_| bench.datagram(0, 0, &Udp::across(0, 1, 500)));
    let waiting = |bench: &Bench| {
        let reading = bench.plane.subscribers(Instant::ZERO, 1);
        reading.map(|it| it.counts.iter().map(|counts| counts.waiting.packets).collect::<Vec<_>>())
    };
    send(&mut bench);
    let with = shared(&table, SubscriberAddress::Destination, "fifo");
    bench.plane.reload(Instant::ZERO, with.clone(), &mut bench.arena).expect("valid");
    assert_eq!(waiting(&bench), Some(vec![0, 5]));
    send(&mut bench);
    assert_eq!(waiting(&bench), Some(vec![5, 5]));
    // Nothing has changed: nothing is built again, and counts stay.
    bench.plane.reload(Instant::ZERO, with, &mut bench.arena).expect("valid");
    assert_eq!(waiting(&bench), Some(vec![5, 5]));
    bench.plane.reload(Instant::ZERO, plain, &mut bench.arena).expect("valid");
    assert_eq!(waiting(&bench), None);
    assert_eq!(bench.run(1, 1 << 50).len(), 10);
    bench.holds(1 << 50);
}

#[test]
fn one_of_many_has_a_small_queue() {
    let mut router = shared(&many(100), SubscriberAddress::Destination, "fq_codel");
    router.defaults = Defaults::Live;
    let spec = |mega: u64| router.subscriber_discipline(1, Rate::new(mega * 1_000_000)).to_string();
    assert_eq!(spec(12), format!("fq_codel:key=flow,flows=32,limit={}pkt", expected(12)));
    assert!(router.subscriber_discipline(1, Rate::new(1_000)).to_string().contains("limit=10pkt"));
    router.interfaces[1].discipline = "fq_codel:flows=64,limit=7pkt".parse().expect("a spec");
    let written = router.subscriber_discipline(1, Rate::new(1_000)).to_string();
    assert!(
        written.contains("flows=64") && written.contains("limit=7pkt") && !written.contains("=32"),
        "{written}"
    );
    let said = router.bound_at(1);
    assert!(
        said.starts_with("100 subscribers of s.csv; of each, at most, fq_codel holds 7 packets: "),
        "{said}"
    );
}

/// What 100 ms of a line take of packets of the largest size, and at most a share of the frames.
fn expected(mega: u64) -> u64 {
    let frames = router("fifo").frames();
    (mega * 1_000_000 / 10 / 8 / 1500).min(frames / 12)
}
