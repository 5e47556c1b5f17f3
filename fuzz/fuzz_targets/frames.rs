//! Frames that come in by the devices of a router, with tags and without: every packet is counted once, and no frame is
//! lost, also where a reload takes a VLAN away.
//!
//! The input is a script: a byte says what happens, one how much later in units of 16 us, one at which device; of
//! an arrival one more byte gives the length of the frame, which follows.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use weir_core::units::Instant;
use weir_document::Source;
use weir_plane::Received;
use weir_plane::arena::{Arena, Buffer};
use weir_plane::config::{MacAddress, Router, read};
use weir_plane::snapshot::{Count, Snapshot};
use weir_plane::{DeviceFacts, Plane};

const FRAMES: u32 = 16;

/// Routers of each discipline, without the VLAN that may be missing and with it: read once, since that takes longer than
/// a script.
static ROUTERS: LazyLock<[[Router; 2]; 3]> = LazyLock::new(|| {
    ["sfq", "drr:quantum=500B", "fifo:limit=2pkt"].map(|spec| [false, true].map(|all| router(spec, all)))
});

/// A router of two devices, `02:00:00:00:00:00` and `...:01`, each with a VLAN or, where they are not all there, only the
/// second.
fn router(discipline: &str, all: bool) -> Router {
    let one = "name = \"one\"\ndevice = \"a\"\nvlan = 5\naddresses = [\"10.0.5.1/24\"]";
    let one = if all { format!("[[interface]]\n{one}") } else { String::new() };
    let text = format!(
        r#"
        weir = 1
        [router]
        name = "r"
        discipline = "{discipline}"
        [[interface]]
        name = "a"
        addresses = ["10.0.0.1/24", "fd00::1/64"]
        neighbours = {{ "10.0.0.2" = "02:00:00:00:00:09" }}
        [[interface]]
        name = "b"
        addresses = ["10.0.1.1/24", "fd00:0:0:1::1/64"]
        rate = "10Mbit"
        propagation = "1ms"
        [[interface]]
        name = "two"
        device = "b"
        vlan = 7
        outer = 6
        addresses = ["10.0.6.1/24", "fd00:0:0:6::1/64"]
        priority_from = "dscp"
        {one}
        [[class]]
        name = "c"
        vlan = [5, 7]
        priority = [5]
        set_dscp = 46
        "#
    );
    read(&Source { name: "r.toml", text: &text }).expect("a router")
}

fn device(at: u8, up: bool) -> DeviceFacts {
    DeviceFacts { mac: MacAddress([2, 0, 0, 0, 0, at]), mtu: 1500, up, index: at.into(), carrier_changes: 0 }
}

/// Who came, and what became of them.
fn counted(snapshot: &Snapshot) -> (u64, u64) {
    let sum = |counts: &mut dyn Iterator<Item = &Count>| counts.map(|count| count.packets).sum::<u64>();
    let (mut came, mut gone) = (0, 0);
    for interface in &snapshot.interfaces {
        came += interface.received.packets + interface.fragments.packets;
        gone += interface.fragmented.packets;
        gone += interface.forwarded.packets + interface.to_router.packets;
        gone += sum(&mut interface.refused.values());
        for class in &interface.classes {
            gone += class.waiting.packets + sum(&mut class.dropped.values());
        }
    }
    (came, gone)
}

/// Lets all interfaces of a device send.
fn depart(
    plane: &mut Plane,
    now: Instant,
    device: usize,
    room: u32,
    arena: &mut Arena,
    into: &mut Vec<Buffer>,
) {
    for turn in 0..plane.interfaces_of(device).len() {
        let interface = plane.interfaces_of(device)[turn];
        plane.depart(now, interface, room, arena, into);
    }
}

fuzz_target!(|script: &[u8]| {
    let mut current = ROUTERS[0][1].clone();
    let mut plane =
        Plane::new(current.clone(), &[device(0, true), device(1, true)], FRAMES, 1).expect("a router");
    let mut arena = Arena::new(FRAMES).expect("memory");
    let (mut script, mut now, mut into) = (script, 0, Vec::new());
    while let [what, later, at, rest @ ..] = script {
        let at = at % 2;
        now += u64::from(*later) * 16_000;
        script = rest;
        let instant = Instant::new(now);
        match what {
            0 => plane.device(at.into(), device(at, later % 2 == 0)),
            1 | 2 => {
                let next = &ROUTERS[usize::from(*what)][usize::from(later % 2 == 0)];
                current = next.clone().following(&current).expect("of the same VLANs");
                plane.reload(instant, current.clone(), &mut arena).expect("a router");
            }
            3..64 => depart(&mut plane, instant, at.into(), 3, &mut arena, &mut into),
            _ => {
                let Some((length, rest)) = rest.split_first() else { break };
                let (bytes, rest) = rest.split_at(rest.len().min((*length).into()));
                script = rest;
                if let Some(mut buffer) = arena.take(256) {
                    assert!(buffer.resize(bytes.len() as u32));
                    arena.bytes_mut(&mut buffer).copy_from_slice(bytes);
                    let partial = [None, Some(true), Some(false)][usize::from(what % 3)];
                    plane.arrive(instant, at.into(), Received { buffer, partial }, &mut arena);
                }
            }
        }
        into.drain(..).for_each(|buffer| arena.give(buffer));
    }
    let (came, gone) = counted(&plane.snapshot(Instant::new(now), &arena));
    assert_eq!(came, gone);
    // Whatever waits leaves or is given up, and every frame comes back.
    for second in 1..30 {
        for at in 0..2 {
            plane.device(at, device(at as u8, true));
            let instant = Instant::new(now + second * 1_000_000_000);
            depart(&mut plane, instant, at, u32::MAX, &mut arena, &mut into);
            into.drain(..).for_each(|buffer| arena.give(buffer));
        }
    }
    assert_eq!((plane.waiting(), arena.free()), (0, FRAMES));
});
