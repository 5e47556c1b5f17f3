//! No registered discipline allocates in the steady state.
//!
//! Each is driven by the same sequence of operations, with one grant open at a time. The first passes, one
//! of them with twice as many items waiting, may allocate; the last repeats what has been before.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use weir_core::conformance::{Burst, Random, Sample};
use weir_core::discipline::{CountDrops, Discipline, Grant, Open};
use weir_core::item::{ClassId, FlowId, Message, Packet};
use weir_core::pool::{Assigned, Delays, Measured, Placed, Pool, Profile, ReceiverId, ServerId, Site, WHOLE};
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
const NESTED: [&str; 7] = [
    "fq(codel(target=5us,interval=100us),depth=30pkt)",
    "fq(fq_codel(flows=4,limit=20pkt))",
    "fq(tbf(fifo,rate=1Mbit,burst=1514B))",
    "priority(fifo:limit=10pkt,bands=3)",
    "priority(fq(sfq:queues=3),bands=4,last=fq_codel(target=5us,interval=100us,limit=50pkt))",
    "tbf(sfq:queues=9,rate=1Gbit,burst=15140B)",
    "tbf(priority(tbf(codel:5us,rate=1Gbit,burst=1514B)),rate=500Mbit,burst=3028B)",
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

/// Servers of a pool, each with the request that it serves.
struct Servers<'p> {
    pool: &'p mut dyn Pool<Message<Nanos>>,
    open: [Option<Assigned<Message<Nanos>>>; 8],
    now: Instant,
    drops: CountDrops,
}

impl Servers<'_> {
    fn ask(&mut self, server: ServerId) {
        self.open[server.0 as usize] = self.pool.dequeue(self.now, server, &mut self.drops);
    }

    fn wake(&mut self) {
        while let Some(server) = self.pool.wake(self.now) {
            self.ask(server);
        }
    }

    fn close(&mut self, server: ServerId) {
        let Some(Assigned { item, quantum, .. }) = self.open[server.0 as usize].take() else { return };
        let used = if quantum == WHOLE { item.remaining } else { item.remaining.min(quantum) };
        let rest = item.remaining.minus(used);
        if rest == Nanos::ZERO {
            self.pool.finish(self.now, server, &item, used);
        } else {
            let item = Message { remaining: rest, ..item };
            self.pool.requeue(self.now, server, item, used, &mut self.drops);
        }
        self.ask(server);
        self.wake();
    }

    fn offer(&mut self, random: &mut Random, id: u32) {
        let class = ClassId(random.below(3) as u16);
        let remaining = Nanos::new(1 + random.below(20_000));
        let item = Message { id, flow: FlowId(random.below(50) as u32), class, remaining };
        match self.pool.enqueue(self.now, item, ReceiverId(0), &mut self.drops) {
            Placed::Queued => {}
            Placed::Ask(server) => self.ask(server),
            Placed::Preempts(server) => self.close(server),
        }
    }

    /// Keeps up to `waiting` requests waiting for a while, then serves them all.
    fn drive(&mut self, waiting: u64) {
        let mut random = Random::new(7);
        let mut arrivals = 10_000;
        let delays = [Delays { requests: 1, delay: Nanos::new(1) }; 3];
        while arrivals > 0 || !self.pool.backlog().is_empty() {
            let room = waiting.saturating_sub(self.pool.backlog().items).min(arrivals);
            let burst = if room > 0 { random.below(room + 1) } else { 0 };
            (0..burst).for_each(|each| self.offer(&mut random, (arrivals - each) as u32));
            arrivals -= burst;
            self.now += Nanos::new(1_000);
            if self.pool.period().is_some() && random.one_in(10) {
                let oldest = Nanos::new(random.below(20_000));
                self.pool.control(self.now, &Measured { classes: &delays, oldest, busy: Nanos::ZERO });
                self.wake();
            }
            self.close(ServerId(random.below(8) as u32));
        }
    }
}

#[test]
fn pools() {
    let classes = [(0.5, 1_000), (0.3, 10_000), (0.2, 20_000)];
    let profile = |(share, service)| Profile { share, service: Nanos::new(service) };
    let site = Site { servers: 8, receivers: 1, classes: classes.map(profile).to_vec(), queue: None };
    for info in registry::POOL.iter().chain(registry::DISPATCHER) {
        let spec: Spec = info.example.parse().expect(info.example);
        let mut pool = registry::pool::<Message<Nanos>>(&spec, &site).expect(info.example);
        let mut servers =
            Servers { pool: &mut *pool, open: [None; 8], now: Instant::ZERO, drops: CountDrops::default() };
        // Which queue is longest is a matter of chance: the first pass has many more waiting.
        servers.drive(1_600);
        servers.drive(200);
        let before = ALLOCATIONS.get();
        servers.drive(200);
        assert_eq!(ALLOCATIONS.get() - before, 0, "`{}` allocates in the steady state", info.example);
    }
}
