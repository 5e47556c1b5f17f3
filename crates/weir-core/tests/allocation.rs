//! No registered discipline allocates in the steady state.
//!
//! Each is driven by the same sequence of operations, with one grant open at a time. The first passes, one
//! of them with twice as many items waiting, may allocate; the last repeats what has been before.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use weir_core::conformance::{Burst, Random, Sample};
use weir_core::discipline::{CountDrops, Discipline, Grant, Open};
use weir_core::item::{ClassId, FlowId, Message, Packet};
use weir_core::pool::{Assigned, Delays, Measured, Placed, Pool, Profile, ReceiverId, ServerId, Site};
use weir_core::registry;
use weir_core::spec::Spec;
use weir_core::units::{Cost, Instant, Nanos};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, with a count of the calls of each thread.
struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator; counting does not allocate, since
// the thread-local is initialised by a constant and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`, and all memory comes from the system.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `realloc`, and all memory comes from the system.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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

/// Keeps up to `waiting` items in the discipline for a while, then serves them all.
fn drive<I: Sample>(discipline: &mut dyn Discipline<I>, now: &mut Instant, waiting: u64) {
    let mut random = Random::new(7);
    let drops = &mut CountDrops::default();
    let mut arrivals = 20_000;
    while arrivals > 0 || !discipline.backlog().is_empty() {
        let room = waiting.saturating_sub(discipline.backlog().items).min(arrivals);
        let burst = if room > 0 { random.below(room + 1) } else { 0 };
        for _ in 0..burst {
            let flow = random.below(8) as u32;
            let cost = 1 + random.below(I::LARGEST);
            let item = I::sample(arrivals as u32, FlowId(flow), ClassId(flow as u16), cost);
            let _ = discipline.enqueue(*now, item, drops);
        }
        arrivals -= burst;
        *now += Nanos::new(1 + random.below(100_000));
        if let Some(grant) = discipline.dequeue(*now, &Open, drops) {
            serve(discipline, &mut random, *now, grant);
        }
    }
}

/// Closes the grant after some of its quantum, if its item can be resumed, or after all.
fn serve<I: Sample>(discipline: &mut dyn Discipline<I>, random: &mut Random, now: Instant, grant: Grant<I>) {
    let Grant { item, quantum } = grant;
    let quantum = I::Cost::of(quantum.count().min(item.left()));
    let used = quantum.count() - if random.one_in(4) { random.below(quantum.count()) } else { 0 };
    discipline.charge(now, &item, I::Cost::of(used));
    let rest = item.served(I::Cost::of(used));
    if rest.left() == 0 {
        discipline.finish(now, &item, I::Cost::ZERO);
    } else {
        discipline.requeue(now, rest, I::Cost::ZERO, &mut CountDrops::default());
    }
}

fn assert_steady<I: Sample>(spec: &str, build: impl Fn(&Spec) -> Box<dyn Discipline<I> + Send>) {
    let mut discipline = build(&spec.parse().expect(spec));
    let mut now = Instant::ZERO;
    drive(&mut *discipline, &mut now, 400);
    drive(&mut *discipline, &mut now, 200);
    let before = ALLOCATIONS.get();
    drive(&mut *discipline, &mut now, 200);
    assert_eq!(ALLOCATIONS.get() - before, 0, "`{spec}` allocates in the steady state");
}

/// The pool that is driven, and what each server serves.
struct Servers {
    pool: Box<dyn Pool<Message<Nanos>> + Send>,
    open: Vec<Option<Assigned<Message<Nanos>>>>,
    drops: CountDrops,
}

impl Servers {
    fn ask(&mut self, now: Instant, server: ServerId) {
        self.open[server.0 as usize] = self.pool.dequeue(now, server, &mut self.drops);
    }

    /// The open grant of a server ends.
    fn close(&mut self, now: Instant, server: ServerId) {
        let Some(Assigned { item, quantum, .. }) = self.open[server.0 as usize].take() else { return };
        let used = quantum.min(item.remaining);
        if used == item.remaining {
            self.pool.finish(now, server, &item, used);
        } else {
            let rest = Message { remaining: item.remaining.minus(used), ..item };
            self.pool.requeue(now, server, rest, used, &mut self.drops);
        }
        self.ask(now, server);
        self.wake(now);
    }

    fn wake(&mut self, now: Instant) {
        while let Some(server) = self.pool.wake(now) {
            self.ask(now, server);
        }
    }

    fn offer(&mut self, now: Instant, item: Message<Nanos>) {
        match self.pool.enqueue(now, item, ReceiverId(0), &mut self.drops) {
            Placed::Queued => {}
            Placed::Ask(server) => self.ask(now, server),
            Placed::Preempts(server) => self.close(now, server),
        }
    }

    /// Keeps up to `waiting` requests in the pool for a while, then serves them all.
    fn drive(&mut self, now: &mut Instant, waiting: u64, seed: u64) {
        let mut random = Random::new(seed);
        let mut arrivals = 6_000;
        while arrivals > 0 || self.open.iter().any(Option::is_some) {
            let room = waiting.saturating_sub(self.pool.backlog().items).min(arrivals);
            let burst = if room > 0 { random.below(room + 1) } else { 0 };
            for _ in 0..burst {
                let number = random.pick(8);
                let remaining = Nanos::new(1 + random.below(5_000));
                let (flow, class) = (FlowId(number), ClassId(number as u16 % 2));
                self.offer(*now, Message { id: number, flow, class, remaining });
            }
            arrivals -= burst;
            *now += Nanos::new(1 + random.below(2_000));
            self.close(*now, ServerId(random.pick(4)));
            if random.one_in(16) {
                let delays = [Delays { requests: 4, delay: Nanos::new(random.below(400_000)) }; 2];
                let (oldest, busy) = (Nanos::new(random.below(9_000)), Nanos::ZERO);
                self.pool.control(*now, &Measured { classes: &delays, oldest, busy });
                self.wake(*now);
            }
        }
    }
}

#[test]
fn pools() {
    let profile = Profile { share: 0.5, service: Nanos::new(1_000) };
    let site = Site { servers: 4, receivers: 1, classes: vec![profile; 2], queue: None, speeds: Vec::new() };
    for info in registry::POOL.iter().chain(registry::DISPATCHER) {
        let pool = registry::pool(&info.example.parse().expect(info.example), &site).expect(info.example);
        let mut servers = Servers { pool, open: vec![None; 4], drops: CountDrops::default() };
        let mut now = Instant::ZERO;
        // Every queue is to have been as long as all will be together: the first burst fills those that are short later.
        (0..16).for_each(|seed| servers.drive(&mut now, 1_000, seed));
        servers.drive(&mut now, 100, 7);
        let before = ALLOCATIONS.get();
        servers.drive(&mut now, 100, 7);
        assert_eq!(ALLOCATIONS.get() - before, 0, "`{}` allocates in the steady state", info.example);
    }
}

#[test]
fn the_count_counts() {
    let before = ALLOCATIONS.get();
    let boxed = std::hint::black_box(Box::new(1));
    assert_eq!(ALLOCATIONS.get() - before, *boxed);
}

#[test]
fn messages() {
    for info in registry::MESSAGE.iter().chain(registry::WRAPPER) {
        assert_steady::<Message>(info.example, |spec| {
            registry::message_discipline(spec).expect(info.example)
        });
        assert_steady::<Message<Nanos>>(info.example, |spec| {
            registry::message_discipline(spec).expect(info.example)
        });
    }
}

#[test]
fn packets() {
    let examples = registry::PACKET.iter().map(|info| info.example);
    for spec in examples.chain(NESTED) {
        assert_steady::<Packet>(spec, |built| registry::packet_discipline(built).expect(spec));
    }
}

#[test]
fn tasks() {
    for info in registry::TASK {
        assert_steady::<Burst>(info.example, |spec| {
            Box::new(registry::task_discipline(spec).expect(info.example))
        });
    }
}
