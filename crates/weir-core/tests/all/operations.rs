//! Random sequences of operations on every registered discipline: sensible ones through the checks of the
//! conformance suite, senseless ones that must merely not panic.

use weir_core::conformance::{self, Burst, Promises, Sample};
use weir_core::discipline::Discipline;
use weir_core::item::{Message, Packet};
use weir_core::registry;
use weir_core::spec::Spec;
use weir_core::units::Nanos;

/// Plans for each load, engine and gate.
const PLANS: u64 = 10;
/// Senseless sequences for each discipline and item.
const SEQUENCES: u64 = 100;
/// Operations in each.
const OPERATIONS: u32 = 1_000;

/// Disciplines of packets around others.
const NESTED: [&str; 9] = [
    "fq(codel(target=5us,interval=100us),depth=30pkt)",
    "fq(fq_codel(flows=4,limit=20pkt))",
    "fq(tbf(fifo,rate=1Mbit,burst=1514B))",
    "priority(fifo:limit=10pkt,bands=3)",
    "priority(fq(sfq:queues=3),bands=4,last=fq_codel(target=5us,interval=100us,limit=50pkt))",
    "tbf(sfq:queues=9,rate=1Gbit,burst=15140B)",
    "tbf(priority(tbf(codel:5us,rate=1Gbit,burst=1514B)),rate=500Mbit,burst=3028B)",
    "cake:rtt=100us,memlimit=90kB,queues=8",
    "priority(cake(rate=400Mbit,rtt=100us),bands=2,last=cake:fairness=dual_dsthost)",
];

fn sequences<I: Sample>(spec: &str, build: impl Fn(&Spec) -> Box<dyn Discipline<I> + Send>) {
    let spec: Spec = spec.parse().expect(spec);
    for plan in conformance::plans::<I>(PLANS) {
        conformance::drive(&plan, Promises::default(), &mut build(&spec), &mut build(&spec));
    }
    for seed in 0..SEQUENCES {
        conformance::hostile(&mut build(&spec), 1_000 + seed, OPERATIONS);
    }
}

#[test]
fn messages() {
    for info in registry::MESSAGE.iter().chain(registry::WRAPPER) {
        sequences::<Message>(info.example, |spec| registry::message_discipline(spec).expect(info.example));
        sequences::<Message<Nanos>>(info.example, |spec| {
            registry::message_discipline(spec).expect(info.example)
        });
    }
}

#[test]
fn packets() {
    let examples = registry::PACKET.iter().map(|info| info.example);
    for spec in examples.chain(NESTED) {
        sequences::<Packet>(spec, |built| registry::packet_discipline(built).expect(spec));
    }
}

#[test]
fn tasks() {
    for info in registry::TASK {
        sequences::<Burst>(info.example, |spec| {
            Box::new(registry::task_discipline(spec).expect(info.example))
        });
    }
}
