use std::sync::atomic::{AtomicBool, AtomicU64};

use super::*;
use crate::model::{Arrivals, HotSpot, Routing, Size, Topology};
use crate::record::Record;
use crate::testing;
use crate::time::nanos;
use weir_core::registry;
use weir_core::units::{Bytes, Nanos, Rate};

const JOB: Job = Job { replication: 0, discipline: 0, load: 0 };

fn watched<T>(run: impl FnOnce(&Watch<'_>) -> T) -> T {
    let (cancel, failed, done) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU64::new(0));
    run(&Watch { cancel: &cancel, failed: &failed, done: &done, duration: u64::MAX })
}

fn finished(ended: Result<Ended, RunError>) -> Tally {
    match ended {
        Ok(Ended::Finished(tally)) => tally,
        other => panic!("{other:?}"),
    }
}

fn run(fabric: &FabricScenario) -> (Tally, Record) {
    let mut record = Record::default();
    let tally = finished(watched(|watch| play(fabric, JOB, &mut record, watch)));
    (tally, record)
}

fn with(mut fabric: FabricScenario, spec: &str) -> FabricScenario {
    fabric.disciplines = vec![spec.to_owned()];
    fabric.specs = vec![spec.parse().expect(spec)];
    fabric
}

fn packet(source: u32, destination: u32, size: u32, generated: Ticks) -> Packet {
    Packet { source, destination, size, generated, ..Packet::default() }
}

/// Runs with these packets of channel 0 alone, in the order of their times.
fn script(fabric: &FabricScenario, packets: &[Packet]) -> Vec<Delivery> {
    let wiring = Wiring::new(fabric.topology).expect("fits");
    let router = Router::new(&wiring);
    let mut sources = Offer::new(fabric, &wiring, 0).expect("fits").sources(0).expect("drawn");
    let channels = fabric.channels.len();
    for (index, source) in sources.iter_mut().enumerate() {
        let own = packets.iter().filter(|packet| packet.source as usize * channels == index);
        let way = |packet: &Packet| router.way(packet.destination);
        let numbered = own.enumerate().map(|(number, packet)| Packet {
            sequence: number as u32,
            way: way(packet),
            ..*packet
        });
        source.follow(numbered.collect());
    }
    let mut record = Record::default();
    let plain = Plain::new(fabric, JOB, wiring, sources, &mut record).expect("built");
    let tally = finished(watched(|watch| plain.run(watch)));
    assert_eq!(tally.delivered, packets.len() as u64);
    record.deliveries
}

fn times(deliveries: &[Delivery]) -> Vec<f64> {
    deliveries.iter().map(|delivery| nanos(delivery.delivered)).collect()
}

/// Claim C15: through each switch 145 ns, and 52 ns on each link until the head is known.
#[test]
fn a_lone_packet_takes_its_time_by_hand() {
    let fabric = testing::scenario();
    for (destination, switches) in [(1, 1.0), (16, 3.0), (63, 5.0)] {
        let deliveries = script(&fabric, &[packet(0, destination, 256, 600)]);
        let expected = 100.0 + switches * (145.0 + 32.0 + 20.0) + 256.0 * 4.0 + 20.0;
        assert_eq!(times(&deliveries), [expected], "{switches} switches");
        assert_eq!((deliveries[0].generated, deliveries[0].injected), (600, 600));
    }
}

/// One switch, three end-points, packets of two credits.
fn small() -> FabricScenario {
    let mut fabric = testing::scenario();
    fabric.topology = Topology::Single { ports: 3 };
    fabric.mtu = Bytes::new(128);
    fabric.channels.iter_mut().for_each(|channel| channel.size = Size::Constant(Bytes::new(120)));
    fabric
}

#[test]
fn two_inputs_share_an_output_by_hand() {
    // Both heads bid at 124.5 ns. Input 0 is first; its transfer waits for its tail, at 532 ns. That of input 1 is
    // visible 72.5 ns later, before the line is free at 197 + 512 ns.
    let deliveries = script(&small(), &[packet(0, 2, 128, 0), packet(1, 2, 128, 0)]);
    assert_eq!(deliveries.iter().map(|delivery| delivery.source).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(times(&deliveries), [729.0, 1241.0]);
}

#[test]
fn an_output_takes_its_inputs_in_turn() {
    let of = |source| packet(source, 2, 128, 0);
    let deliveries = script(&small(), &[of(0), of(0), of(0), of(1), of(1), of(1)]);
    assert_eq!(deliveries.iter().map(|delivery| delivery.source).collect::<Vec<_>>(), [0, 1, 0, 1, 0, 1]);
}

#[test]
fn a_sender_stalls_for_credits_by_hand() {
    let packets = [packet(0, 2, 128, 0), packet(0, 2, 128, 0)];
    assert_eq!(times(&script(&small(), &packets)), [729.0, 1241.0]);
    // The input holds one packet, until 532 ns; the credits are back at 582 ns, and 197 ns later the second goes on.
    let mut tiny = small();
    tiny.switch.input_buffer = Bytes::new(128);
    assert_eq!(times(&script(&tiny, &packets)), [729.0, 582.0 + 197.0 + 512.0 + 20.0]);
}

#[test]
fn a_transfer_waits_for_room_by_hand() {
    // The output holds one packet, until 709 ns; then the second is transferred, and is visible 72.5 ns later.
    let mut tiny = small();
    tiny.switch.output_buffer = Bytes::new(128);
    let packets = [packet(0, 2, 128, 0), packet(0, 2, 128, 0)];
    assert_eq!(times(&script(&tiny, &packets)), [729.0, 709.0 + 72.5 + 512.0 + 20.0]);
}

#[test]
fn a_packet_enters_when_the_interface_has_room_for_it() {
    let mut tiny = small();
    tiny.interface_buffer = Bytes::new(128);
    let deliveries = script(&tiny, &[packet(0, 2, 128, 0), packet(0, 2, 128, 6)]);
    assert_eq!(deliveries[1].generated, 6);
    assert_eq!(deliveries[1].injected, 512 * 6);
}

fn conserves(fabric: &FabricScenario) -> (Tally, Record) {
    let name = &fabric.disciplines[0];
    build::check(fabric).expect(name);
    let (tally, record) = run(fabric);
    assert_eq!(tally.generated, record.generations.len() as u64, "{name}");
    assert_eq!(tally.injected, record.injections.len() as u64, "{name}");
    assert_eq!(tally.delivered, record.deliveries.len() as u64, "{name}");
    assert!(tally.generated >= tally.injected && tally.injected >= tally.delivered && tally.delivered > 0);
    // Every traversal is started, bids, goes through, is visible, sent and its credit returned.
    assert!(tally.checked > 4 * tally.traversals, "{name}: {tally:?}");
    (tally, record)
}

/// Claim C16: nothing is lost, no buffer overflows, everything drains.
#[test]
fn every_discipline_without_limits_conserves_packets_and_credits() {
    let mut fabric = testing::scenario();
    fabric.traffic.loads = vec![0.9];
    for info in registry::PACKET {
        let spec = match info.name {
            "drr" => testing::DRR,
            "wfq" => "wfq(rate=2Gbit,weights=8/8/8/4/2/1/1)",
            "scfq" => "scfq:weights=8/8/8/4/2/1/1",
            "wf2q_plus" => "wf2q_plus:weights=8/8/8/4/2/1/1",
            name if name.contains("table") => info.example,
            "fifo" => "fifo",
            _ => continue,
        };
        let fabric = with(fabric.clone(), spec);
        let (tally, _) = conserves(&fabric);
        let hops = tally.traversals as f64 / tally.delivered as f64;
        assert!((5.2..5.8).contains(&hops), "{spec}: {hops}");
    }
}

#[test]
fn the_same_packets_are_sent_under_every_discipline() {
    let generations = |spec| run(&with(testing::scenario(), spec)).1.sorted().generations;
    assert_eq!(generations("fifo"), generations(testing::DRR));
}

#[test]
fn bursts_hot_spots_and_other_ways_lose_nothing() {
    let mut fabric = testing::scenario();
    fabric.stop.duration = Nanos::new(100_000);
    fabric.switch.input_buffer = Bytes::new(4096);
    fabric.switch.output_buffer = Bytes::new(2048);
    fabric.interface_buffer = Bytes::new(2048);
    for routing in [Routing::Deterministic, Routing::RandomPerFlow, Routing::AdaptiveUp] {
        fabric.routing = routing;
        fabric.traffic.hot_spot = None;
        fabric.traffic.arrivals = Arrivals::Bursts { shape: 1.5, cap: 1000 };
        conserves(&fabric);
        fabric.traffic.hot_spot = Some(HotSpot { host: 7, share: 0.3 });
        fabric.traffic.arrivals = Arrivals::Poisson;
        let (tally, record) = conserves(&fabric);
        assert!(tally.injected < tally.generated, "the hot spot does not hold packets back");
        let hot = record.deliveries.iter().filter(|delivery| delivery.destination == 7);
        let bytes: u64 = hot.map(|delivery| u64::from(delivery.size)).sum();
        assert!((20_000..=25_000).contains(&bytes), "{bytes} bytes in 100 us at 250 MB/s");
    }
}

#[test]
fn other_topologies_lose_nothing() {
    let mut fabric = testing::scenario();
    fabric.stop.duration = Nanos::new(50_000);
    for topology in [
        Topology::Tree { arity: 2, levels: 5 },
        Topology::Tree { arity: 3, levels: 2 },
        Topology::Single { ports: 8 },
        Topology::LeafSpine { leaves: 4, spines: 3, hosts: 4 },
    ] {
        fabric.topology = topology;
        for routing in [Routing::Deterministic, Routing::RandomPerFlow, Routing::AdaptiveUp] {
            fabric.routing = routing;
            conserves(&fabric);
        }
    }
}

#[test]
fn a_saturated_link_has_the_shares_of_the_quanta() {
    // Everything goes to end-point 1, from one interface.
    let mut fabric = testing::scenario();
    fabric.topology = Topology::Single { ports: 2 };
    fabric.traffic.loads = vec![4.0];
    fabric.stop.duration = Nanos::new(20_000_000);
    fabric.verify = false;
    for credit in [64, 128] {
        fabric.credit = Bytes::new(credit.into());
        let (_, record) = run(&fabric);
        let mut credits = [0_u64; 7];
        for delivery in record.deliveries.iter().filter(|delivery| delivery.destination == 1) {
            if delivery.delivered > 10_000_000 * 6 {
                credits[usize::from(delivery.channel)] += u64::from(delivery.size.div_ceil(credit));
            }
        }
        let all: u64 = credits.iter().sum();
        for (found, quantum) in credits.iter().zip([8, 8, 8, 4, 2, 1, 1]) {
            let (found, expected) = (*found as f64 / all as f64, f64::from(quantum) / 32.0);
            assert!((found / expected - 1.0).abs() < 0.02, "{credit}: {credits:?}");
        }
    }
}

#[test]
fn a_weight_of_32_credits_and_a_quantum_of_2048_bytes_are_one_packet_whatever_a_credit_is() {
    let mut fabric = testing::scenario();
    fabric.topology = Topology::Single { ports: 2 };
    fabric.channels.truncate(2);
    fabric.channels.iter_mut().for_each(|channel| channel.size = Size::Constant(Bytes::new(2040)));
    fabric.traffic.loads = vec![4.0];
    fabric.stop.duration = Nanos::new(1_000_000);
    for credit in [16, 64, 128] {
        fabric.credit = Bytes::new(credit);
        for spec in ["drr:quantum=2048B", "dtable:0@32cr/1@32cr", "table_weighted:0@32cr/1@32cr"] {
            let (_, record) = run(&with(fabric.clone(), spec));
            let sent = record.deliveries.iter().filter(|delivery| delivery.destination == 1);
            let channels: Vec<u8> = sent.map(|delivery| delivery.channel).skip(20).collect();
            assert!(channels.len() > 60, "{spec}");
            assert!(channels.windows(2).all(|pair| pair[0] != pair[1]), "{spec}, {credit}B: {channels:?}");
        }
    }
}

#[test]
fn adaptive_routing_spreads_what_deterministic_routing_heaps_up() {
    // End-points 0 to 2 send to those whose way up is the same: 16, 32 and 48 have digit 0 in place 0.
    let mut fabric = testing::scenario();
    let packets: Vec<Packet> =
        [(0, 16), (1, 32), (2, 48)].map(|(from, to)| packet(from, to, 2048, 0)).to_vec();
    let last =
        |fabric: &FabricScenario| script(fabric, &packets).last().map(|delivery| nanos(delivery.delivered));
    let alone = 3.0 * 197.0 + 2048.0 * 4.0 + 20.0;
    assert!(last(&fabric) > Some(alone + 2.0 * 2048.0 * 4.0 - 1000.0));
    fabric.routing = Routing::AdaptiveUp;
    assert_eq!(last(&fabric), Some(alone));
}

#[test]
fn a_discipline_that_drops_ends_the_run() {
    let mut record = Record::default();
    let mut fabric = with(testing::scenario(), "drr:quantum=2048B,depth=2pkt");
    fabric.traffic.loads = vec![0.9];
    let error = watched(|watch| play(&fabric, JOB, &mut record, watch)).expect_err("it drops").to_string();
    assert!(error.starts_with("`drr:quantum=2048B,depth=2pkt`: it drops a packet of channel"), "{error}");
    assert!(error.contains(", its queue is full: the fabric is lossless, take away its limits"), "{error}");
}

#[test]
fn a_discipline_that_holds_packets_is_woken() {
    let mut fabric = small();
    fabric.traffic.flow_rate = Rate::new(10_000_000);
    let fabric = with(fabric, "tbf(fifo,rate=1Gbit,burst=128B)");
    let of = |source| packet(source, 2, 128, 0);
    // The interface sends one every 1024 ns, the output too.
    let deliveries = script(&fabric, &[of(0), of(0), of(0)]);
    assert_eq!(times(&deliveries), [729.0, 1753.0, 2777.0]);
}

#[test]
fn verification_changes_nothing() {
    let mut fabric = testing::scenario();
    fabric.stop.duration = Nanos::new(100_000);
    let (verified, record) = run(&fabric);
    fabric.verify = false;
    let (plain, other) = run(&fabric);
    assert_eq!((Tally { checked: 0, ..verified }, record), (plain, other));
}

#[test]
fn a_run_is_broken_off() {
    let (cancel, failed, done) = (AtomicBool::new(true), AtomicBool::new(false), AtomicU64::new(0));
    let watch = Watch { cancel: &cancel, failed: &failed, done: &done, duration: 200_000 };
    let ended = play(&testing::scenario(), JOB, &mut Record::default(), &watch);
    assert_eq!(ended, Ok(Ended::Interrupted));
}
