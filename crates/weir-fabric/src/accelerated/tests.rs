use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::*;
use crate::model::{Arrivals, Channel, HotSpot, Pareto, Routing, Size, Stop, Topology};
use crate::record::Record;
use crate::{build, plain, testing};
use weir_core::units::{Bytes, Nanos, Rate};
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::{Arrivals as Process, Sizes};

/// One of each rule, and of its options, for up to `channels` channels.
pub(super) fn disciplines(channels: usize) -> Vec<String> {
    let list = |of: &dyn Fn(usize) -> String, by: &str| (0..channels).map(of).collect::<Vec<_>>().join(by);
    let weights = list(&|channel| (channel % 4 + 1).to_string(), "/");
    let entries = list(&|channel| format!("{channel}@{}cr/-/{channel}@255cr", 128 + channel), "/");
    let long = vec![entries.clone(); 5].join("/");
    let flows = list(&|channel| format!("{channel}/0"), "/");
    let all = [
        format!("dtable:table={entries},mtu=4096B"),
        format!("dtable:table={long},stall=keep,read_ahead=4,mtu=4096B"),
        format!("table_basic:table={flows}"),
        format!("table_weighted:table={entries}"),
        format!("table_weighted:table={entries},high=0@3cr/{}@40cr,high_limit=1", channels - 1),
        format!("table_weighted:table={entries},high=0@200cr,read_ahead=3"),
        format!("drr:quantum=2048B,weights={weights}"),
        format!("drr:quantum=300B,weights={weights},stall=leave"),
        format!("scfq:weights={weights}"),
        format!("wfq:rate=2Gbit,weights={weights}"),
        format!("wfq:rate=777Mbit,weights={weights}"),
        "fifo".to_owned(),
    ];
    all.to_vec()
}

/// Draws scenarios.
struct Draw(Stream);

impl Draw {
    fn new(index: u32) -> Self {
        Self(Stream::new(StreamKey { seed: 4, replication: 0, purpose: Purpose::Test, index }))
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_below(bound)
    }

    fn of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize].clone()
    }

    fn size(&mut self) -> Size {
        match self.below(5) {
            0 => Size::Constant(Bytes::new(1 + self.below(1000))),
            1 => Size::Constant(Bytes::new(self.of(&[56, 248, 2040]))),
            2 => {
                let sizes = Sizes::list(&[(100, 0.6), (2040, 0.2), (5001, 0.2)]).expect("a law");
                Size::Messages(Arc::new(sizes))
            }
            3 => Size::Pareto(Pareto { maximum: Bytes::new(300), ..pareto() }),
            _ => testing::payloads(),
        }
    }

    fn scenario(&mut self) -> FabricScenario {
        let mut fabric = testing::scenario();
        fabric.verify = false;
        fabric.seed = self.below(1 << 40);
        fabric.topology = self.of(&[
            Topology::Single { ports: 2 },
            Topology::Single { ports: 5 },
            Topology::Single { ports: 11 },
            Topology::Tree { arity: 2, levels: 3 },
            Topology::Tree { arity: 3, levels: 2 },
            Topology::Tree { arity: 4, levels: 2 },
            Topology::LeafSpine { leaves: 3, spines: 2, hosts: 3 },
        ]);
        fabric.routing = self.of(&[Routing::Deterministic, Routing::RandomPerFlow]);
        fabric.link.propagation = Nanos::new(self.of(&[0, 1, 20, 20, 1000]));
        fabric.link.credit_return = Nanos::new(self.of(&[0, 7, 50, 50, 2000]));
        fabric.link.header = Bytes::new(self.of(&[0, 8, 8, 20]));
        (fabric.link.rate, fabric.link.coding) = self.of(&[
            (Rate::new(2_500_000_000), (8, 10)),
            (Rate::new(2_500_000_000), (8, 10)),
            (Rate::new(10_312_500_000), (64, 66)),
            (Rate::new(1_777_777_777), (1, 1)),
        ]);
        fabric.switch.speed_up = self.of(&[(1, 1), (3, 2), (3, 2), (2, 1), (7, 5)]);
        fabric.switch.latency = Nanos::new(self.of(&[0, 1, 145, 145, 3000]));
        fabric.credit = Bytes::new(self.of(&[64, 64, 16, 100, 128]));
        let mut buffer = || Bytes::new(self.of(&[2100, 2560, 3100, 4096, 16384]));
        fabric.switch.input_buffer = buffer();
        fabric.switch.output_buffer = buffer();
        fabric.interface_buffer = buffer();
        let channels = self.of(&[1, 2, 3, 7, 7, 8, 9, 16]);
        fabric.channels = (0..channels)
            .map(|channel| Channel {
                name: channel.to_string(),
                share: 1.0 + self.below(3) as f64,
                size: self.size(),
            })
            .collect();
        fabric.traffic.loads = vec![self.of(&[0.2, 0.6, 0.9, 1.0, 1.3])];
        fabric.traffic.flow_rate = Rate::new(self.of(&[2_000_000, 20_000_000, 100_000_000]));
        if self.below(3) == 0 {
            fabric.traffic.arrivals = Arrivals::Bursts { shape: 1.3, cap: 40 };
        }
        if self.below(4) == 0 {
            fabric.traffic.hot_spot = Some(HotSpot { host: 1, share: 0.4 });
        }
        if self.below(4) == 0 {
            fabric.traffic.arrivals = Arrivals::Process(
                self.of(&[Process::Deterministic, Process::Bursty { peak: 4.0, burst: 12.0, quiet: 0.1 }]),
            );
        }
        if self.below(4) == 0 {
            fabric.traffic.curve = Some(testing::curve(&[(0, 1.0), (7_000, 3.0), (11_000, 0.0)], 19_000));
        }
        fabric.stop.duration = Nanos::new(30_000 + self.below(60_000));
        fabric
    }
}

fn pareto() -> Pareto {
    match testing::payloads() {
        Size::Pareto(pareto) => pareto,
        _ => unreachable!("the sizes of the document are Pareto"),
    }
}

fn watched<T>(run: impl FnOnce(&Watch<'_>) -> T) -> T {
    let (cancel, failed, done) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU64::new(0));
    run(&Watch { cancel: &cancel, failed: &failed, done: &done, duration: u64::MAX })
}

fn with(fabric: &FabricScenario, spec: &str) -> FabricScenario {
    FabricScenario {
        disciplines: vec![spec.to_owned()],
        specs: vec![spec.parse().expect(spec)],
        ..fabric.clone()
    }
}

const JOB: Job = Job { replication: 0, discipline: 0, load: 0 };

/// What both engines tell and count of a scenario; how many packets arrived.
fn agree(fabric: &FabricScenario) -> u64 {
    build::check(fabric).unwrap_or_else(|error| panic!("{error}: {fabric:?}"));
    assert!(takes(fabric, 0), "{fabric:?}");
    let (mut expected, mut found) = (Record::default(), Record::default());
    let plain = watched(|watch| plain::play(fabric, JOB, &mut expected, watch)).expect("runs");
    let accelerated = watched(|watch| play(fabric, JOB, &mut found, watch)).expect("runs").expect("is taken");
    let (expected, found) = (expected.sorted(), found.sorted());
    let name = &fabric.disciplines[0];
    let first = expected.deliveries.iter().zip(&found.deliveries).find(|(expected, found)| expected != found);
    assert_eq!(first, None, "{name}: {fabric:?}");
    let counts =
        |record: &Record| [record.generations.len(), record.injections.len(), record.deliveries.len()];
    assert_eq!(counts(&found), counts(&expected), "{name}: {fabric:?}");
    assert!(expected == found, "{name}: {fabric:?}");
    assert_eq!(accelerated, plain, "{name}: {fabric:?}");
    found.deliveries.len() as u64
}

/// The first of many random scenarios; the environment can ask for more of them.
const SCENARIOS: u32 = 24;

#[test]
fn random_fabrics_are_the_same_packet_by_packet() {
    let mut delivered = 0;
    let scenarios = std::env::var("WEIR_FABRIC_SCENARIOS").map(|text| text.parse().expect("a number"));
    for index in 0..scenarios.unwrap_or(SCENARIOS) {
        let fabric = Draw::new(index).scenario();
        for spec in disciplines(fabric.channels.len()) {
            delivered += agree(&with(&fabric, &spec));
        }
    }
    assert!(delivered > 20_000, "{delivered}");
}

#[test]
fn the_fabric_of_the_document_is_the_same_packet_by_packet() {
    let fabric = FabricScenario { verify: false, ..testing::scenario() };
    let table = "dtable:distances=2/4/8/16/32/64/64,weights=32cr/64cr/128cr/128cr/128cr/128cr/128cr";
    for spec in [table, testing::DRR] {
        assert!(agree(&with(&fabric, spec)) > 10_000);
    }
}

#[test]
fn small_and_large_credits_are_the_same_packet_by_packet() {
    let fabric = FabricScenario { verify: false, ..testing::scenario() };
    let table = "dtable:distances=2/4/8/16/32/64/64,weights=32cr/64cr/128cr/128cr/128cr/128cr/128cr";
    for credit in [16, 128] {
        let fabric = FabricScenario { credit: Bytes::new(credit), ..fabric.clone() };
        for spec in [table, testing::DRR] {
            assert!(agree(&with(&fabric, spec)) > 10_000);
        }
    }
}

#[test]
fn a_run_is_broken_off_from_outside() {
    let fabric = FabricScenario { verify: false, ..testing::scenario() };
    let (on, off, done) = (AtomicBool::new(true), AtomicBool::new(false), AtomicU64::new(0));
    let watch = Watch { cancel: &on, failed: &off, done: &done, duration: u64::MAX };
    let long = FabricScenario { stop: Stop { duration: Nanos::new(5_000_000), ..fabric.stop }, ..fabric };
    let ended = play(&long, JOB, &mut Record::default(), &watch);
    assert_eq!(ended.expect("runs"), Some(Ended::Interrupted));
}

#[test]
fn what_is_not_for_this_engine_is_left_to_the_plain_one() {
    let fabric = FabricScenario { verify: false, ..testing::scenario() };
    assert!(takes(&fabric, 0));
    assert!(!takes(&FabricScenario { verify: true, ..fabric.clone() }, 0));
    assert!(!takes(&FabricScenario { routing: Routing::AdaptiveUp, ..fabric.clone() }, 0));
    assert!(!takes(&FabricScenario { topology: Topology::Single { ports: 65 }, ..fabric.clone() }, 0));
    assert!(!takes(&with(&fabric, "sfq"), 0));
    let ended = watched(|watch| play(&with(&fabric, "sfq"), JOB, &mut Record::default(), watch));
    assert_eq!(ended.expect("runs"), None);
}
