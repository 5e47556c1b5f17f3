//! Random sequences of operations on every registered discipline: sensible ones through the checks of the
//! conformance suite, senseless ones that must merely not panic.

use weir_core::conformance::{self, Promises, Sample};
use weir_core::discipline::Discipline;
use weir_core::info::Info;
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

fn sequences<I: Sample>(info: &Info, build: impl Fn(&Spec) -> Box<dyn Discipline<I> + Send>) {
    let spec: Spec = info.example.parse().expect(info.example);
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
        sequences::<Message>(info, |spec| registry::message_discipline(spec).expect(info.example));
        sequences::<Message<Nanos>>(info, |spec| registry::message_discipline(spec).expect(info.example));
    }
}

#[test]
fn packets() {
    for info in registry::PACKET {
        sequences::<Packet>(info, |spec| registry::packet_discipline(spec).expect(info.example));
    }
}
