//! A router of several planes does what one of a single plane does: the same frames leave at the same instants, the same
//! is counted, and every frame of memory comes home.

use weir_core::random::Random;
use weir_core::units::Instant;

use super::conservation::{DISCIPLINES, frame, told};
use crate::arena::Arena;
use crate::config::{MacAddress, Router};
use crate::snapshot::Snapshot;
use crate::testing::*;
use crate::{DeviceFacts, Part, Plane, Received};

/// Planes that hand over at once.
struct Crew {
    planes: Vec<Plane>,
    arenas: Vec<Arena>,
}

impl Crew {
    fn new(router: &Router, parts: usize) -> Self {
        let part = |this| Part::new(this, parts);
        let plane = |this| {
            Plane::part_of(router.clone(), part(this), &devices(), MEMORY, 1).expect("a part of a router")
        };
        let arena = Arena::new(MEMORY).expect("memory");
        Self { planes: (0..parts).map(plane).collect(), arenas: arena.split(parts as u32) }
    }

    fn server(&self, interface: usize) -> usize {
        self.planes[0].part().server(interface)
    }

    /// These bytes come in by an interface, at a plane.
    fn arrive(&mut self, now: Instant, by: usize, interface: usize, bytes: &[u8], partial: Option<bool>) {
        let arena = &mut self.arenas[by];
        let mut buffer = arena.take(256).expect("a free frame");
        assert!(buffer.resize(bytes.len() as u32));
        arena.bytes_mut(&mut buffer).copy_from_slice(bytes);
        self.planes[by].arrive(now, interface, Received { buffer, partial }, arena);
        self.pass(now);
    }

    /// All that is to be handed over is.
    fn pass(&mut self, now: Instant) {
        while let Some(from) = self.planes.iter().position(Plane::has_handed) {
            let handed: Vec<_> = self.planes[from].handed().collect();
            for (to, handed) in handed {
                assert_ne!(from, to, "it is for another");
                self.planes[to].take(now, handed, &mut self.arenas[to]);
            }
        }
        let parts = self.arenas.len() as u32;
        for from in 0..self.arenas.len() {
            while let Some((home, stray)) = self.arenas[from].stray(parts) {
                self.arenas[home].come_home(stray);
            }
        }
    }

    fn depart(&mut self, now: Instant, interface: usize, room: u32, fails: bool) -> Vec<Vec<u8>> {
        let by = self.server(interface);
        let (plane, arena) = (&mut self.planes[by], &mut self.arenas[by]);
        let mut into = Vec::new();
        plane.depart(now, interface, room, arena, &mut into);
        let mut bytes = Vec::new();
        for buffer in into {
            bytes.push(arena.bytes(&buffer).to_vec());
            if fails { plane.failed(interface, buffer, arena) } else { arena.give(buffer) }
        }
        self.pass(now);
        bytes
    }

    fn snapshot(&self, now: Instant) -> Snapshot {
        let parts = self.planes.iter().zip(&self.arenas).map(|(plane, arena)| plane.snapshot(now, arena));
        Snapshot::of_all(parts.collect(), |interface| self.server(interface))
    }

    fn next_event(&self) -> Option<Instant> {
        self.planes.iter().filter_map(Plane::next_event).min()
    }

    fn waiting(&self) -> u64 {
        self.planes.iter().map(Plane::waiting).sum()
    }

    fn free(&self) -> u32 {
        self.arenas.iter().map(Arena::free).sum()
    }
}

/// Enough for all.
const MEMORY: u32 = 4 * FRAMES;

/// Does the same thing to all of them; what leaves is the same.
fn step(crews: &mut [Crew], random: &mut Random, now: Instant) {
    let at = random.below(3) as usize;
    let facts = DeviceFacts { up: !random.one_in(3), mtu: 68 << random.below(6), ..device(at) };
    match random.below(40) {
        0 => each(crews, |plane, _| plane.device(at, facts)),
        1 => each(crews, |plane, _| plane.drain(at)),
        2 => each(crews, |plane, _| plane.resume(at)),
        3 => {
            let mac = MacAddress([2, 0, 0, 0, 9, random.below(9) as u8]);
            let question =
                arp(true, (&format!("10.0.{at}.{}", random.below(5)), mac), &format!("10.0.{at}.254"));
            arrive(crews, random, now, at, &question, None);
        }
        4 => {
            let next = told(DISCIPLINES[random.below(DISCIPLINES.len() as u64) as usize], random);
            each(crews, |plane, arena| plane.reload(now, next.clone(), arena).expect("the same interfaces"));
        }
        5..20 => {
            let (room, fails) = (random.below(6) as u32, random.one_in(5));
            let left: Vec<_> = crews.iter_mut().map(|crew| crew.depart(now, at, room, fails)).collect();
            assert!(left.windows(2).all(|pair| pair[0] == pair[1]), "at {now:?} by {at}");
        }
        _ => {
            let (bytes, partial) = (frame(random), [None, Some(true), Some(false)][random.below(3) as usize]);
            arrive(crews, random, now, at, &bytes, partial);
        }
    }
}

/// Something comes in by an interface, at any plane.
fn arrive(
    crews: &mut [Crew],
    random: &mut Random,
    now: Instant,
    at: usize,
    bytes: &[u8],
    partial: Option<bool>,
) {
    for crew in crews {
        if crew.free() > FRAMES {
            let by = random.below(crew.planes.len() as u64) as usize;
            crew.arrive(now, by, at, bytes, partial);
        }
    }
}

fn each(crews: &mut [Crew], mut act: impl FnMut(&mut Plane, &mut Arena)) {
    for crew in crews {
        crew.planes.iter_mut().zip(&mut crew.arenas).for_each(|(plane, arena)| act(plane, arena));
    }
}

#[test]
fn several_planes_do_what_one_does() {
    let mut random = Random::new(13);
    for discipline in DISCIPLINES {
        let router = told(discipline, &mut random);
        let mut crews: Vec<Crew> = [1, 2, 3, 5].map(|parts| Crew::new(&router, parts)).into();
        let mut now = 0;
        for round in 0..3_000 {
            now += random.below(500_000);
            step(&mut crews, &mut random, Instant::new(now));
            if round % 20 == 0 {
                let all: Vec<_> = crews.iter().map(|crew| crew.snapshot(Instant::new(now))).collect();
                assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{discipline}: {all:#?}");
                let next: Vec<_> = crews.iter().map(Crew::next_event).collect();
                assert!(next.windows(2).all(|pair| pair[0] == pair[1]), "{discipline}: {next:?}");
            }
        }
        for at in 0..3 {
            each(&mut crews, |plane, _| plane.device(at, device(at)));
        }
        for _ in 0..40 {
            now += 1_000_000_000;
            for crew in &mut crews {
                (0..3).for_each(|at| drop(crew.depart(Instant::new(now), at, u32::MAX, false)));
            }
        }
        for crew in &crews {
            assert_eq!((crew.waiting(), crew.free()), (0, MEMORY), "{discipline}");
        }
    }
}

#[test]
fn what_finds_no_room_is_counted_and_comes_home() {
    let mut crew = Crew::new(&router("fifo"), 2);
    let datagram = Udp::across(0, 1, 100);
    let (arena, plane) = (&mut crew.arenas[0], &mut crew.planes[0]);
    for bytes in [datagram.frame(own(0), next(0)), arp(true, ("10.0.1.9", next(1)), "10.0.1.254")] {
        let mut buffer = arena.take(256).expect("free");
        assert!(buffer.resize(bytes.len() as u32));
        arena.bytes_mut(&mut buffer).copy_from_slice(&bytes);
        let interface = usize::from(bytes.len() == 60);
        plane.arrive(Instant::ZERO, interface, Received { buffer, partial: None }, arena);
    }
    let handed: Vec<_> = plane.handed().collect();
    assert_eq!(handed.len(), 2);
    handed.into_iter().for_each(|(_, handed)| plane.refused(handed, arena));
    let snapshot = crew.snapshot(Instant::ZERO);
    let refused = |at: usize| snapshot.interfaces[at].refused[&crate::snapshot::Reason::HandOverFull];
    assert_eq!((refused(0).packets, refused(0).bytes, refused(1).packets), (1, 100, 1));
    assert_eq!((snapshot.interfaces[0].received, crew.free()), (refused(0), MEMORY));
}
