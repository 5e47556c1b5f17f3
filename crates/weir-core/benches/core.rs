//! What one call of a discipline costs: one line `name value unit` for each, the median of several rounds.
//!
//! `core/alpha/N` holds N messages of random lengths, of which a message of a random length takes the place
//! of each one served; `core/alpha/small/N` the same with the lengths of the report. `core/*/message` drives
//! a discipline through everything that the port asks of it for one message of the report's lengths.

use std::hint::black_box;
use std::time::Instant as WallClock;

use weir_core::discipline::{CountDrops, Discipline, Enqueued, Open};
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::message::alpha::{Alpha, Config, Update};
use weir_core::message::fifo::Fifo;
use weir_core::message::in_order::InOrder;
use weir_core::message::rr::Rr;
use weir_core::message::rr_head::RrHead;
use weir_core::message::sf::Sf;
use weir_core::units::{Cost, Instant, Packets};

/// The lengths of the report: 90 % uniform from 1 to 5, 10 % twenty.
const LENGTHS: [u64; 10] = [1, 2, 3, 4, 5, 1, 2, 3, 4, 20];
/// Short rounds, and many, so that most of them are not interrupted.
const ROUNDS: usize = 201;
const CALLS: usize = 20_000;

/// Numbers without a pattern, the same in every run (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn message(id: u32, length: u64) -> Message {
    Message { id, flow: FlowId(id % 64), class: ClassId(0), remaining: Packets::new(length) }
}

fn alpha(update: Update) -> Alpha<Message> {
    alpha_of(10.0, update)
}

fn alpha_of(alpha: f64, update: Update) -> Alpha<Message> {
    Alpha::new(&Config { alpha, update, classes: vec![] }).expect("within bounds")
}

/// The median over the rounds of nanoseconds for each of `calls`.
fn report(name: &str, calls: usize, mut round: impl FnMut()) {
    round();
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begin = WallClock::now();
            round();
            begin.elapsed().as_nanos() as f64 / calls as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name} {:.1} ns", times[ROUNDS / 2]);
}

/// A queue of `waiting`; each call is one dequeue, finish and enqueue, so half of a pair is reported.
fn steady(name: &str, mut discipline: impl Discipline<Message>, waiting: u32, length: impl Fn(u64) -> u64) {
    let mut numbers = Numbers(1);
    let lengths: Vec<u64> = (0..CALLS).map(|_| length(numbers.next())).collect();
    let drops = &mut CountDrops(0);
    for id in 0..waiting {
        let _ = discipline.enqueue(Instant::ZERO, message(id, length(numbers.next())), drops);
    }
    report(name, 2 * CALLS, || {
        for &length in &lengths {
            let grant = discipline.dequeue(Instant::ZERO, &Open, drops).expect("something waits");
            discipline.finish(Instant::ZERO, &grant.item, grant.item.remaining);
            let newcomer = Message { remaining: Packets::new(length), ..grant.item };
            let _ = black_box(discipline.enqueue(Instant::ZERO, newcomer, drops));
        }
    });
}

/// The calls of the port at 95 % load, for each message: a charge and an arrival at a random point of the
/// grants, a requeue where the newcomer preempts, and the rest of the grant.
fn messages(name: &str, mut discipline: impl Discipline<Message>) {
    let mut numbers = Numbers(2);
    // What is served between two arrivals, in packets: 4.7 / 0.95 on average, and at random.
    let gaps: Vec<u64> = (0..CALLS)
        .map(|_| (-4.95 * ((numbers.next() >> 11) as f64 / (1_u64 << 53) as f64).ln()) as u64)
        .collect();
    let lengths: Vec<u64> = (0..CALLS).map(|_| LENGTHS[(numbers.next() % 10) as usize]).collect();
    let drops = &mut CountDrops(0);
    let now = Instant::ZERO;
    report(name, CALLS, || {
        let mut open: Option<(Message, u64)> = None;
        for (&length, &gap) in lengths.iter().zip(&gaps) {
            let mut left = gap;
            while left > 0 {
                let Some((granted, remaining)) = open.take().or_else(|| {
                    let grant = discipline.dequeue(now, &Open, drops)?;
                    Some((grant.item, grant.quantum.count()))
                }) else {
                    break;
                };
                let used = remaining.min(left);
                left -= used;
                if used == remaining {
                    discipline.finish(now, &granted, Packets::new(used));
                } else {
                    discipline.charge(now, &granted, Packets::new(used));
                    open = Some((granted, remaining - used));
                }
            }
            if discipline.enqueue(now, message(7, length), drops) == Enqueued::Preempts
                && let Some((granted, remaining)) = open.take()
            {
                let item = Message { remaining: Packets::new(remaining), ..granted };
                discipline.requeue(now, item, Packets::ZERO, drops);
            }
        }
        if let Some((granted, remaining)) = open {
            discipline.finish(now, &granted, Packets::new(remaining));
        }
        black_box(discipline.backlog());
    });
}

/// A hundred messages in turn; a call is one dequeue and one requeue.
fn turns(name: &str, mut discipline: impl Discipline<Message>) {
    let drops = &mut CountDrops(0);
    for id in 0..100 {
        let _ = discipline.enqueue(Instant::ZERO, message(id, u64::MAX >> 8), drops);
    }
    report(name, CALLS, || {
        for _ in 0..CALLS {
            let grant = discipline.dequeue(Instant::ZERO, &Open, drops).expect("something waits");
            discipline.requeue(Instant::ZERO, black_box(grant.item), grant.quantum, drops);
        }
    });
}

fn main() {
    let random = |number: u64| 1 + number % 1_000_000;
    let small = |number: u64| LENGTHS[(number % 10) as usize];
    steady("core/alpha/100", alpha(Update::Decrement), 100, random);
    steady("core/alpha/1000000", alpha(Update::Decrement), 1_000_000, random);
    // With this alpha the keys of newcomers lie among those of all that wait.
    steady("core/alpha/mixed/100", alpha_of(1e2, Update::Decrement), 100, random);
    steady("core/alpha/mixed/1000000", alpha_of(1e6, Update::Decrement), 1_000_000, random);
    steady("core/alpha/small/100", alpha(Update::Decrement), 100, small);
    steady("core/alpha/small/1000000", alpha(Update::Decrement), 1_000_000, small);
    steady("core/alpha/63/100", alpha(Update::Decrement), 100, |number| 1 + number % 63);
    steady("core/alpha/recalculate/100", alpha(Update::Recalculate), 100, random);
    steady("core/alpha/recalculate/1000000", alpha(Update::Recalculate), 1_000_000, random);
    steady("core/sf", Sf::new(), 100, random);
    steady("core/fifo", Fifo::new(), 100, random);
    turns("core/rr", Rr::new(Packets::ONE).expect("one packet"));
    turns("core/rr_head", RrHead::new(Packets::ONE).expect("one packet"));
    messages("core/alpha/message", alpha(Update::Decrement));
    messages("core/alpha/recalculate/message", alpha(Update::Recalculate));
    messages("core/in_order/message", InOrder::new(alpha(Update::Decrement)));
    messages("core/sf/message", Sf::new());
    messages("core/fifo/message", Fifo::new());
}
