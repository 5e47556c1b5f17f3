//! Benchmarks of the message disciplines through the contract, without an engine.
//!
//! - `core/NAME/N`: N messages wait; each that is served makes room for another. A call is half of a
//!   `dequeue` with what puts a message back.
//! - `core/NAME/message`: everything that the port asks of a discipline for one message at 95 % load.

use std::hint::black_box;

use crate::bench::{Bench, Round, Unit};
use weir_core::discipline::{CountDrops, Discipline, Enqueued, Open};
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::registry::{Visitor, visit_message};
use weir_core::units::{Cost, Instant, Nanos, Packets};
use weir_lab::stream::{Purpose, Stream, StreamKey};

/// Steps of a round.
const STEPS: usize = 10_000;

/// What is drawn for a message.
#[derive(Clone, Copy)]
enum Lengths {
    /// Up to a million units, uniform in the number of binary digits.
    Spread,
    /// Up to a million units, uniform.
    Long,
    /// The lengths of the report: 90 % uniform from 1 to 5, 10 % twenty.
    Report,
}

/// Disciplines over a standing backlog: name, spec, lengths, and how many wait.
const STANDING: [(&str, &str, Lengths, &[u32]); 13] = [
    ("fifo", "fifo", Lengths::Report, &[100]),
    ("rr", "rr", Lengths::Long, &[100]),
    ("rr_head", "rr_head", Lengths::Long, &[100]),
    ("sf", "sf", Lengths::Long, &[100, 1_000_000]),
    ("alpha", "alpha:10", Lengths::Long, &[100, 1_000_000]),
    // With this alpha the keys of newcomers lie among those of all that wait.
    ("alpha/mixed", "alpha:1000000", Lengths::Long, &[100, 1_000_000]),
    ("alpha/report", "alpha:10", Lengths::Report, &[100, 1_000_000]),
    ("alpha/recalculate", "alpha(10,update=recalculate)", Lengths::Long, &[100, 1_000_000]),
    ("ps", "ps:quantum=1000000", Lengths::Spread, &[100, 1_000_000]),
    ("sjf", "sjf", Lengths::Spread, &[100, 1_000_000]),
    ("psjf", "psjf", Lengths::Spread, &[100, 1_000_000]),
    ("las", "las:quantum=1000", Lengths::Spread, &[100, 1_000_000]),
    ("hrrn", "hrrn", Lengths::Spread, &[100]),
];
/// Disciplines through the calls of the port.
const DRIVEN: [&str; 5] = ["fifo", "sf", "alpha:10", "alpha_tracking", "in_order(alpha:10)"];

pub(super) fn benches() -> Vec<Bench> {
    let standing = STANDING.into_iter().flat_map(|(name, spec, lengths, backlogs)| {
        backlogs.iter().map(move |&waiting| {
            let round = move || visit(spec, Standing { waiting, lengths });
            Bench::new(format!("core/{name}/{waiting}"), Unit::Time("ns/call"), round)
        })
    });
    let driven = DRIVEN.into_iter().map(|spec| {
        let name = spec.split_once(":10").map_or(spec.to_owned(), |(name, _)| name.replace('(', "/"));
        Bench::new(format!("core/{name}/message"), Unit::Time("ns/message"), move || visit(spec, Driven))
    });
    standing.chain(driven).collect()
}

fn visit<V: Visitor<Message, Output = Round>>(spec: &str, visitor: V) -> Round {
    let spec = spec.parse().expect("the specs of the benchmarks are valid");
    visit_message(&spec, visitor).expect("the specs of the benchmarks are valid")
}

/// Numbers without a pattern, the same in every run.
fn numbers(count: usize) -> Vec<u64> {
    let mut numbers = vec![0; count];
    Stream::new(StreamKey { seed: 1, replication: 0, purpose: Purpose::Lengths, index: 0 })
        .fill_u64(&mut numbers);
    numbers
}

impl Lengths {
    fn of(self, number: u64) -> u64 {
        match self {
            Self::Spread => 1 + (number >> 8) % (2 << (number % 20)),
            Self::Long => 1 + number % 1_000_000,
            Self::Report => [1, 2, 3, 4, 5, 1, 2, 3, 4, 20][(number % 10) as usize],
        }
    }

    fn draw(self, count: usize) -> Vec<u64> {
        numbers(count).into_iter().map(|number| self.of(number)).collect()
    }
}

fn message(id: u32, length: u64) -> Message {
    Message { id, flow: FlowId(id % 64), class: ClassId(0), remaining: Packets::new(length) }
}

struct Standing {
    waiting: u32,
    lengths: Lengths,
}

impl Visitor<Message> for Standing {
    type Output = Round;

    fn visit<D: Discipline<Message> + Send + 'static>(self, make: impl Fn() -> D) -> Round {
        let mut discipline = make();
        let mut now = Instant::ZERO;
        for (id, length) in (0..self.waiting).zip(self.lengths.draw(self.waiting as usize)) {
            now += Nanos::new(10_000);
            let _ = discipline.enqueue(now, message(id, length), &mut CountDrops(0));
        }
        let lengths = self.lengths.draw(STEPS);
        Box::new(move || {
            lengths.iter().for_each(|&length| now = replace(&mut discipline, now, length));
            2 * lengths.len() as u64
        })
    }
}

/// Serves one grant whole; a message that leaves is followed by another of `length`.
#[inline]
fn replace<D: Discipline<Message>>(discipline: &mut D, mut now: Instant, length: u64) -> Instant {
    let drops = &mut CountDrops(0);
    let Some(grant) = discipline.dequeue(now, &Open, drops) else { return now };
    now += Nanos::new(grant.quantum.count());
    let remaining = grant.item.remaining.minus(grant.quantum);
    if remaining == Packets::ZERO {
        discipline.finish(now, &grant.item, grant.quantum);
        let newcomer = Message { remaining: Packets::new(length), ..grant.item };
        let _ = black_box(discipline.enqueue(now, newcomer, drops));
    } else {
        discipline.requeue(now, Message { remaining, ..grant.item }, grant.quantum, drops);
    }
    now
}

struct Driven;

impl Visitor<Message> for Driven {
    type Output = Round;

    fn visit<D: Discipline<Message> + Send + 'static>(self, make: impl Fn() -> D) -> Round {
        let mut discipline = make();
        let lengths = Lengths::Report.draw(STEPS);
        // What is served between two arrivals, in packets: 4.7 / 0.95 on average, and at random.
        let uniform = |number: u64| ((number >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let gaps: Vec<u64> =
            numbers(2 * STEPS)[STEPS..].iter().map(|&number| (-4.95 * uniform(number).ln()) as u64).collect();
        Box::new(move || {
            let mut open = None;
            for (&length, &gap) in lengths.iter().zip(&gaps) {
                open = serve(&mut discipline, open, gap);
                open = arrive(&mut discipline, open, length);
            }
            if let Some((granted, left)) = open {
                discipline.finish(Instant::ZERO, &granted, Packets::new(left));
            }
            lengths.len() as u64
        })
    }
}

/// An open grant, and how many of its packets are left.
type OpenGrant = Option<(Message, u64)>;

/// Serves `left` packets, the open grant first.
#[inline]
fn serve<D: Discipline<Message>>(discipline: &mut D, mut open: OpenGrant, mut left: u64) -> OpenGrant {
    while left > 0 {
        let ask = || {
            let grant = discipline.dequeue(Instant::ZERO, &Open, &mut CountDrops(0))?;
            Some((grant.item, grant.quantum.count()))
        };
        let (granted, remaining) = open.take().or_else(ask)?;
        let used = remaining.min(left);
        left -= used;
        if used == remaining {
            discipline.finish(Instant::ZERO, &granted, Packets::new(used));
        } else {
            discipline.charge(Instant::ZERO, &granted, Packets::new(used));
            open = Some((granted, remaining - used));
        }
    }
    open
}

/// A message arrives, and the open grant is given back where it preempts.
#[inline]
fn arrive<D: Discipline<Message>>(discipline: &mut D, open: OpenGrant, length: u64) -> OpenGrant {
    let drops = &mut CountDrops(0);
    if discipline.enqueue(Instant::ZERO, message(7, length), drops) == Enqueued::Queued {
        return open;
    }
    if let Some((granted, left)) = open {
        let item = Message { remaining: Packets::new(left), ..granted };
        discipline.requeue(Instant::ZERO, item, Packets::ZERO, drops);
    }
    None
}
