//! In the steady state nothing allocates: counted by the allocator, for each thread by itself.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use weir_core::units::{Instant, Nanos};

use crate::Plane;
use crate::Received;
use crate::arena::Arena;
use crate::testing::*;

/// The allocator of the system, which counts.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// How often this thread has allocated.
pub(super) fn allocated() -> u64 {
    ALLOCATED.get()
}

// SAFETY: every call is handed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no counter any more.
        let _ = ALLOCATED.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATED.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// One round of traffic: forwarded, refused and answered, to known and to unknown neighbours.
fn round(
    plane: &mut Plane,
    arena: &mut Arena,
    now: u64,
    frames: &[Vec<u8>],
    into: &mut Vec<crate::arena::Buffer>,
) {
    for frame in frames {
        let Some(mut buffer) = arena.take(256) else { break };
        buffer.resize(frame.len() as u32);
        arena.bytes_mut(&mut buffer).copy_from_slice(frame);
        plane.arrive(Instant::new(now), 0, Received { buffer, partial: None }, arena);
    }
    for at in 0..3 {
        plane.depart(Instant::new(now), at, 64, arena, into);
        into.drain(..).for_each(|buffer| arena.give(buffer));
    }
    let _ = plane.next_event();
}

#[test]
fn the_steady_state_does_not_allocate() {
    let mut frames: Vec<Vec<u8>> = (0..20)
        .map(|flow| {
            let datagram = Udp { ports: (flow, 9), class: 2, ..Udp::across(0, 1 + flow as usize % 2, 200) };
            datagram.frame(own(0), next(0))
        })
        .collect();
    for datagram in [
        Udp::new("fd00::1", "fd00:1::1", 60),
        Udp::new("10.0.0.1", "10.0.1.77", 60),
        Udp::new("10.0.0.1", "11.0.0.1", 60),
        Udp { ttl: 1, ..Udp::across(0, 1, 60) },
        Udp::new("10.0.0.1", "10.0.0.254", 60),
        Udp { whole: false, ..Udp::across(0, 1, 2_000) },
    ] {
        frames.push(datagram.frame(own(0), next(0)));
    }
    for discipline in
        ["fifo", "sfq", "drr:quantum=1500B", "fq_codel", "cake:rate=6Mbit", "tbf(sfq,rate=5Mbit,burst=3kB)"]
    {
        let mut told = router(discipline);
        told.interfaces[2].rate = None;
        told.interfaces[1].propagation = Nanos::new(1_000_000);
        let mut plane = Plane::new(told, &devices(), FRAMES, 1).expect("a router");
        let mut arena = Arena::new(FRAMES).expect("memory");
        let mut into = Vec::with_capacity(FRAMES as usize);
        // What grows to the largest backlog has grown by then.
        (0..3_000).for_each(|at| round(&mut plane, &mut arena, at * 1_000_000, &frames, &mut into));
        let before = allocated();
        (3_000..6_000).for_each(|at| round(&mut plane, &mut arena, at * 1_000_000, &frames, &mut into));
        assert_eq!(allocated(), before, "{discipline}");
    }
}
