use super::*;
use crate::model::{HotSpot, Size, Topology};
use crate::testing;
use weir_core::units::{Bytes, Nanos};
use weir_workload::arrivals::{BatchSize, Batches, Part};
use weir_workload::{Arrivals as Process, Sizes};

fn wiring(fabric: &FabricScenario) -> Wiring {
    Wiring::new(fabric.topology).expect("fits")
}

/// All packets of the sources of a replication.
fn packets(fabric: &FabricScenario, replication: u32, load: usize) -> Vec<Packet> {
    let offer = Offer::new(fabric, &wiring(fabric), load).expect("fits");
    let mut packets = Vec::new();
    for mut source in offer.sources(replication).expect("drawn") {
        while source.next_at() != NEVER {
            packets.push(*source.head());
            source.advance();
        }
    }
    packets
}

fn bytes(packets: &[Packet]) -> f64 {
    packets.iter().map(|packet| f64::from(packet.size)).sum()
}

/// What is offered over what links carry, over replications; and its standard error.
fn load(fabric: &FabricScenario, replications: u32, count: impl Fn(&Packet) -> bool) -> (f64, f64) {
    let seconds = fabric.stop.duration.get() as f64 / 1e9;
    let carried = timing(fabric).line.bytes_per_second() * seconds * f64::from(wiring(fabric).hosts());
    let one = |replication| {
        let counted: Vec<Packet> =
            packets(fabric, replication, 0).into_iter().filter(|packet| count(packet)).collect();
        bytes(&counted) / carried
    };
    let loads: Vec<f64> = (0..replications).map(one).collect();
    let mean = loads.iter().sum::<f64>() / f64::from(replications);
    let square: f64 = loads.iter().map(|load| (load - mean) * (load - mean)).sum();
    (mean, (square / f64::from(replications * (replications - 1))).sqrt())
}

/// Claim C17.
#[test]
fn packets_have_the_sizes_of_the_document() {
    let mut fabric = testing::scenario();
    fabric.stop.duration = Nanos::new(10_000_000);
    let packets = packets(&fabric, 0, 0);
    assert!(packets.len() > 600_000);
    let mean = bytes(&packets) / packets.len() as f64 - 8.0;
    assert!((mean - 176.0).abs() < 1.76, "{mean}");
    assert!(packets.iter().all(|packet| (64..=2048).contains(&packet.size) && packet.last));
}

#[test]
fn the_load_is_offered_by_all_laws_of_arrivals() {
    let mut fabric = testing::scenario();
    let (found, error) = load(&fabric, 8, |_| true);
    assert!((found - 0.8).abs() < 4.0 * error && error < 0.01, "{found} +- {error}");
    fabric.traffic.arrivals = Arrivals::Bursts { shape: 1.5, cap: 100 };
    let (found, error) = load(&fabric, 16, |_| true);
    assert!((found - 0.8).abs() < 4.0 * error && error < 0.02, "bursts: {found} +- {error}");
    fabric.traffic.arrivals = Arrivals::Poisson;
    let messages = Sizes::list(&[(100, 0.7), (2040, 0.1), (2041, 0.1), (9000, 0.1)]).expect("a law");
    fabric.channels.iter_mut().for_each(|channel| channel.size = Size::Messages(Arc::new(messages.clone())));
    let (found, error) = load(&fabric, 8, |_| true);
    assert!((found - 0.8).abs() < 4.0 * error && error < 0.02, "messages: {found} +- {error}");
}

/// Processes whose gaps are not exponential, or not independent, or of which several arrivals come at once.
fn processes() -> [Process; 4] {
    let batches = Batches { of: Process::Poisson, size: BatchSize::Geometric(4.0) };
    let part = |share, arrivals| Part { share, arrivals };
    let several = vec![part(0.5, Process::Deterministic), part(0.5, Process::Poisson)];
    [
        Process::Deterministic,
        Process::Bursty { peak: 3.0, burst: 20.0, quiet: 0.2 },
        Process::Batches(Arc::new(batches)),
        Process::Superposition(Arc::new(several)),
    ]
}

#[test]
fn the_load_is_offered_by_other_processes_too() {
    for process in processes() {
        let mut fabric = testing::scenario();
        fabric.traffic.arrivals = Arrivals::Process(process.clone());
        let (found, error) = load(&fabric, 8, |_| true);
        assert!((found - 0.8).abs() < 4.0 * error && error < 0.02, "{process:?}: {found} +- {error}");
    }
}

/// At a quarter of the mean rate up to the middle of the run, and at seven quarters after it.
#[test]
fn all_laws_of_arrivals_follow_a_curve() {
    let bursts = Arrivals::Bursts { shape: 1.5, cap: 20 };
    for arrivals in processes().map(Arrivals::Process).into_iter().chain([Arrivals::Poisson, bursts]) {
        let mut fabric = testing::scenario();
        let middle = fabric.stop.duration.get() / 2;
        fabric.traffic.arrivals = arrivals.clone();
        fabric.traffic.curve = Some(testing::curve(&[(0, 0.25), (middle, 1.75)], 2 * middle));
        for (expected, second) in [(0.1, false), (0.7, true)] {
            let of = |packet: &Packet| (packet.generated >= ticks(Nanos::new(middle))) == second;
            let (found, error) = load(&fabric, 8, of);
            assert!(
                (found - expected).abs() < 4.0 * error && error < 0.02,
                "{arrivals:?}: {found} +- {error}"
            );
        }
    }
}

#[test]
fn interfaces_are_not_in_step() {
    let mut fabric = testing::scenario();
    fabric.traffic.arrivals = Arrivals::Process(Process::Deterministic);
    let offer = Offer::new(&fabric, &wiring(&fabric), 0).expect("fits");
    let mut first: Vec<Ticks> = offer.sources(0).expect("drawn").iter().map(Source::next_at).collect();
    let mean = 184.0 * 8.0 / (0.8 / 7.0 * 2e9) * 6e9;
    assert!(first.iter().all(|&at| (at as f64) < 1.2 * mean), "{first:?}");
    first.sort_unstable();
    first.dedup();
    assert!(first.len() > 400, "{}", first.len());
}

#[test]
fn channels_have_their_shares_and_interfaces_the_same() {
    let mut fabric = testing::scenario();
    fabric.channels[0].share = 2.0;
    let (first, error) = load(&fabric, 8, |packet| packet.channel == 0);
    assert!((first - 0.2).abs() < 4.0 * error, "{first} +- {error}");
    let (other, error) = load(&fabric, 8, |packet| packet.channel == 6);
    assert!((other - 0.1).abs() < 4.0 * error, "{other} +- {error}");
    let (host, error) = load(&fabric, 8, |packet| packet.source == 9);
    assert!((64.0 * host - 0.8).abs() < 64.0 * 4.0 * error, "{host} +- {error}");
}

#[test]
fn arrivals_of_a_source_are_a_poisson_process() {
    let mut fabric = testing::scenario();
    fabric.stop.duration = Nanos::new(20_000_000);
    let offer = Offer::new(&fabric, &wiring(&fabric), 0).expect("fits");
    let mut source = offer.source(0, 3, 2).expect("drawn");
    let expected = 184.0 * 8.0 / (source.flows() as f64 * 1e6) * 6e9;
    let (mut last, mut count, mut sum, mut square) = (0, 0.0, 0.0, 0.0);
    while source.next_at() != NEVER {
        let gap = (source.next_at() - last) as f64;
        (last, count, sum, square) = (source.next_at(), count + 1.0, sum + gap, square + gap * gap);
        source.advance();
    }
    let mean: f64 = sum / count;
    assert!((mean / expected - 1.0).abs() < 4.0 / f64::sqrt(count), "{mean} for {expected}");
    let variation = square / count / (mean * mean) - 1.0;
    assert!((variation - 1.0).abs() < 4.0 * (20.0_f64 / count).sqrt(), "{variation}");
}

#[test]
fn destinations_are_even_over_the_others() {
    let fabric = testing::scenario();
    let offer = Offer::new(&fabric, &wiring(&fabric), 0).expect("fits");
    let mut seen = vec![0_u32; 64];
    for host in 0..64 {
        for channel in 0..7 {
            for flow in offer.source(0, host, channel).expect("drawn").flows {
                assert_ne!(u32::from(flow.destination), host);
                assert_eq!(u32::from(flow.way), offer.router.way(flow.destination.into()));
                seen[usize::from(flow.destination)] += 1;
            }
        }
    }
    // 1600 flows a destination; standard deviation 40.
    assert!(seen.iter().all(|&flows| (1430..1770).contains(&flows)), "{seen:?}");
}

#[test]
fn a_hot_spot_draws_its_share_of_the_flows() {
    let mut fabric = testing::scenario();
    fabric.traffic.hot_spot = Some(HotSpot { host: 5, share: 0.25 });
    fabric.routing = Routing::RandomPerFlow;
    let packets = packets(&fabric, 0, 0);
    let hot = packets.iter().filter(|packet| packet.destination == 5).count() as f64;
    let expected = (0.25 + 0.75 / 63.0) * 63.0 / 64.0;
    assert!((hot / packets.len() as f64 - expected).abs() < 0.02, "{hot} of {}", packets.len());
    assert!(packets.iter().all(|packet| packet.destination != packet.source));
    let mut ways: Vec<u32> = packets.iter().map(|packet| packet.way).collect();
    ways.sort_unstable();
    ways.dedup();
    assert!(ways.into_iter().eq(0..16));
}

#[test]
fn a_higher_load_adds_flows_and_shortens_gaps() {
    let mut fabric = testing::scenario();
    fabric.traffic.loads = vec![0.4, 0.8];
    let wiring = wiring(&fabric);
    let [low, high] =
        [0, 1].map(|load| Offer::new(&fabric, &wiring, load).expect("fits").source(3, 7, 1).expect("drawn"));
    assert_eq!(low.flows[..], high.flows[..low.flows()]);
    let ratio = low.next_at() as f64 / high.next_at() as f64;
    let expected = high.flows() as f64 / low.flows() as f64;
    assert!((ratio / expected - 1.0).abs() < 1e-3, "{ratio} for {expected}");
}

#[test]
fn messages_are_cut_into_packets_of_one_instant_and_flow() {
    let mut fabric = testing::scenario();
    fabric.stop.duration = Nanos::new(1_000_000);
    let sizes = Sizes::constant(5000).expect("a law");
    fabric.channels[2].size = Size::Messages(Arc::new(sizes));
    let packets = packets(&fabric, 0, 0);
    let of: Vec<&Packet> =
        packets.iter().filter(|packet| packet.channel == 2 && packet.source == 4).collect();
    assert!(of.len() > 6 && of.len().is_multiple_of(3));
    for (number, message) in of.chunks(3).enumerate() {
        assert_eq!([0, 1, 2].map(|part| message[part].size), [2048, 2048, 928]);
        assert_eq!([0, 1, 2].map(|part| message[part].last), [false, false, true]);
        let first = message[0];
        for (part, packet) in message.iter().enumerate() {
            assert_eq!((packet.generated, packet.flow), (first.generated, first.flow));
            assert_eq!(packet.destination, first.destination);
            assert_eq!(packet.sequence as usize, 3 * number + part);
        }
    }
}

#[test]
fn bursts_are_of_one_flow_and_instant() {
    let mut fabric = testing::scenario();
    fabric.traffic.arrivals = Arrivals::Bursts { shape: 1.5, cap: 50 };
    let packets = packets(&fabric, 0, 0);
    let same = |a: &Packet, b: &Packet| {
        (a.source, a.channel, a.generated, a.flow) == (b.source, b.channel, b.generated, b.flow)
    };
    let lengths: Vec<usize> = packets.chunk_by(same).map(<[Packet]>::len).collect();
    assert!(lengths.iter().all(|&length| length <= 50) && lengths.contains(&50));
    let single = lengths.iter().filter(|&&length| length == 1).count() as f64 / lengths.len() as f64;
    assert!((single - (1.0 - 2.0_f64.powf(-1.5))).abs() < 0.03, "{single}");
}

#[test]
fn what_cannot_be_offered_is_refused() {
    let refused = |change: &dyn Fn(&mut FabricScenario)| {
        let mut fabric = testing::scenario();
        change(&mut fabric);
        Offer::new(&fabric, &wiring(&fabric), 0).expect_err("refused").to_string()
    };
    let flows = refused(&|fabric| fabric.traffic.flow_rate = weir_core::units::Rate::new(1));
    assert!(flows.starts_with("the flows at their rate: there are 102400000000 of them, at most"), "{flows}");
    let payload = refused(&|fabric| fabric.channels[1].size = Size::Constant(Bytes::new(2041)));
    let expected = "the sizes of channel `D4`: a payload is 2041 B, at most 2040 B fit a packet of 2048 B";
    assert!(payload.starts_with(expected), "{payload}");
    let header = refused(&|fabric| fabric.traffic.header = Bytes::new(2048));
    assert!(header.contains("the header is 2048 B, must be below the largest packet, 2048 B"), "{header}");
    let rare = refused(&|fabric| {
        fabric.topology = Topology::Single { ports: 2 };
        fabric.traffic.flow_rate = weir_core::units::Rate::new(1000);
        let sizes = Sizes::constant(1 << 40).expect("a law");
        fabric.channels[0].size = Size::Messages(Arc::new(sizes));
    });
    assert!(rare.contains("channel `D2`"), "{rare}");
}
