//! The accelerated strategies against a linear list, and the means against closed forms.

use super::*;
use weir_core::units::Nanos;
use weir_lab::stats::batch::Total;
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::source::{
    ArrivalBlock, ArrivalSource, LengthTable, PoissonArrivals, RandomServices, ServiceSource,
};

/// Messages `(at, class)` in order, and service times that repeat.
#[derive(Clone, Debug)]
struct Workload {
    lengths: Vec<u32>,
    messages: Vec<(u64, u16)>,
    services: Vec<u64>,
    drawn: usize,
    served: usize,
}

impl ArrivalSource for Workload {
    fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize {
        block.clear();
        let n = n.min(self.messages.len() - self.drawn).min(29);
        for &(at, class) in &self.messages[self.drawn..self.drawn + n] {
            block.push(at, self.lengths[usize::from(class)], class, 0);
        }
        self.drawn += n;
        n
    }
}

impl ServiceSource for Workload {
    fn fill(&mut self, out: &mut [u64]) {
        for slot in out {
            *slot = self.services[self.served % self.services.len()];
            self.served += 1;
        }
    }
}

fn random_workload(stream: &mut Stream) -> Workload {
    let classes = 1 + if stream.next_below(6) == 0 { stream.next_below(64) } else { stream.next_below(9) };
    let longest = [3, 8, 40][stream.next_below(3) as usize];
    let lengths = (0..classes).map(|_| 1 + stream.next_below(longest) as u32).collect();
    let gap = 1 + stream.next_below(200);
    let mut at = stream.next_below(3);
    let mut messages = Vec::new();
    for _ in 0..stream.next_below(400) {
        messages.push((at, stream.next_below(classes) as u16));
        at += stream.next_below(gap) * (1 + 100 * u64::from(stream.next_below(40) == 0));
    }
    let services = (0..1 + stream.next_below(6)).map(|_| 1 + stream.next_below(20)).collect();
    Workload { lengths, messages, services, drawn: 0, served: 0 }
}

fn random_strategies(stream: &mut Stream, classes: usize) -> Vec<Strategy> {
    const BITS: [u64; 10] = [0, 1, 66, 30_000, 1 << 16, 1 << 17, 98_304, 7 << 16, 1000 << 16, (1 << 48) - 1];
    let mut alpha = || {
        let bits = BITS[stream.next_below(BITS.len() as u64) as usize];
        Alpha::from_bits(if stream.next_below(4) == 0 { stream.next_below(20 << 16) } else { bits }).unwrap()
    };
    let mut strategies =
        vec![Strategy::RoundRobinHead, Strategy::RoundRobin, Strategy::Fifo, Strategy::ShortestFirst];
    strategies.extend((0..3).map(|_| Strategy::Alpha(alpha())));
    strategies.push(Strategy::AlphaPerClass((0..classes).map(|_| alpha()).collect()));
    let extra = stream.next_below(30) as usize;
    strategies.extend((0..extra).map(|n| Strategy::Alpha(Alpha::from_bits(n as u64 * 40_000).unwrap())));
    let keep = 1 + stream.next_below(strategies.len() as u64) as usize;
    let first = stream.next_below(strategies.len() as u64) as usize;
    strategies.rotate_left(first);
    strategies.truncate(keep);
    strategies
}

/// A message of the linear list.
struct Waiting {
    id: usize,
    remaining: u64,
    priority: i128,
}

/// The report's own algorithm: a list sorted by priority, one packet at a time.
struct List<'a> {
    strategy: &'a Strategy,
    waiting: Vec<Waiting>,
    tick: i128,
}

impl List<'_> {
    fn alpha(&self, class: u16) -> i128 {
        match self.strategy {
            Strategy::Alpha(alpha) => i128::from(alpha.bits()),
            Strategy::AlphaPerClass(alphas) => i128::from(alphas[usize::from(class)].bits()),
            Strategy::ShortestFirst => 1 << 90,
            _ => 0,
        }
    }

    fn insert(&mut self, id: usize, class: u16, length: u32) {
        let tick = if *self.strategy == Strategy::RoundRobinHead { 0 } else { self.tick << FRACTION_BITS };
        let priority = self.alpha(class) * i128::from(length) + tick;
        let place = match self.waiting.first() {
            Some(head) if head.priority > priority => 0,
            _ => self.waiting.iter().take_while(|other| other.priority <= priority).count(),
        };
        self.waiting.insert(place, Waiting { id, remaining: u64::from(length), priority });
    }

    /// Takes a packet; returns its message, and whether that was the last.
    fn take(&mut self, classes: impl Fn(usize) -> u16) -> (usize, bool) {
        self.tick += 1;
        let alpha = self.alpha(classes(self.waiting[0].id));
        let head = &mut self.waiting[0];
        head.remaining -= 1;
        head.priority -= alpha;
        let (id, last) = (head.id, head.remaining == 0);
        if last {
            self.waiting.remove(0);
        } else if matches!(self.strategy, Strategy::RoundRobin | Strategy::RoundRobinHead) {
            let mut turned = self.waiting.remove(0);
            turned.priority = self.tick << FRACTION_BITS;
            self.waiting.push(turned);
        }
        (id, last)
    }
}

/// What a strategy did: the message of each tick, and the latency of each message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Schedule {
    decisions: Vec<usize>,
    latencies: Vec<(usize, u64)>,
}

fn by_list(workload: &Workload, strategy: &Strategy) -> Schedule {
    let mut list = List { strategy, waiting: Vec::new(), tick: 0 };
    let mut schedule = Schedule::default();
    let (mut next, mut free) = (0, 0);
    loop {
        if list.waiting.is_empty() {
            let Some(&(at, _)) = workload.messages.get(next) else { return schedule };
            free = free.max(at);
        }
        // At the instant the server is free it takes a packet before an arrival of that instant joins,
        // unless nothing waits: then the first arrival joins and is served.
        while next < workload.messages.len()
            && (workload.messages[next].0 < free
                || (list.waiting.is_empty() && workload.messages[next].0 == free))
        {
            let class = workload.messages[next].1;
            list.insert(next, class, workload.lengths[usize::from(class)]);
            next += 1;
        }
        let (id, last) = list.take(|id| workload.messages[id].1);
        if last {
            schedule.latencies.push((id, free - workload.messages[id].0));
        }
        free += workload.services[schedule.decisions.len() % workload.services.len()];
        schedule.decisions.push(id);
    }
}

/// Turns the engine's reports back into messages.
struct Recorder {
    /// Messages of each class, in order.
    ids: Vec<Vec<usize>>,
    /// Per strategy, class and remaining packets: how often it was reported.
    reached: Vec<Vec<Vec<usize>>>,
    completed: Vec<Vec<usize>>,
    schedules: Vec<Schedule>,
}

impl Recorder {
    fn new(workload: &Workload, strategies: usize) -> Self {
        let mut ids = vec![Vec::new(); workload.lengths.len()];
        for (id, &(_, class)) in workload.messages.iter().enumerate() {
            ids[usize::from(class)].push(id);
        }
        let reached: Vec<Vec<usize>> = workload.lengths.iter().map(|&l| vec![0; l as usize + 1]).collect();
        Self {
            completed: vec![vec![0; ids.len()]; strategies],
            ids,
            reached: vec![reached; strategies],
            schedules: vec![Schedule::default(); strategies],
        }
    }
}

impl Probe for Recorder {
    const COMPLETIONS: bool = true;
    const DECISIONS: bool = true;

    fn completed(&mut self, strategy: usize, class: usize, latency: u64) {
        let nth = &mut self.completed[strategy][class];
        self.schedules[strategy].latencies.push((self.ids[class][*nth], latency));
        *nth += 1;
    }

    fn served(&mut self, strategy: usize, tick: u64, class: usize, remaining: u64, packets: u64) {
        assert_eq!(tick, self.schedules[strategy].decisions.len() as u64);
        for left in (remaining - packets + 1..=remaining).rev() {
            let nth = &mut self.reached[strategy][class][left as usize];
            self.schedules[strategy].decisions.push(self.ids[class][*nth]);
            *nth += 1;
        }
    }
}

fn options(batch: u64, level: Level) -> Options {
    Options { batch, monitor_period: Nanos::new(37), level }
}

fn by_lockstep(workload: &Workload, strategies: &[Strategy], options: Options) -> (Vec<Schedule>, Batch) {
    let mut lockstep = Lockstep::new(strategies, &workload.lengths, options).unwrap();
    let mut recorder = Recorder::new(workload, strategies.len());
    let (mut arrivals, mut services) = (workload.clone(), workload.clone());
    let mut batches = Vec::new();
    let stopped =
        lockstep.run(&mut arrivals, &mut services, Limit::Trace, &mut batches, &mut recorder).unwrap();
    assert_eq!(stopped, Stopped::AtEnd);
    lockstep.finish(&mut batches);
    let total = lockstep.total();
    for place in 0..total.count.len() {
        assert_eq!(batches.iter().map(|batch| batch.count[place]).sum::<u64>(), total.count[place]);
        assert_eq!(batches.iter().map(|batch| batch.sum[place]).sum::<u128>(), total.sum[place]);
    }
    (recorder.schedules, total)
}

#[test]
fn decides_as_the_linear_list_does_on_random_input() {
    let mut stream = Stream::new(StreamKey { seed: 7, replication: 0, purpose: Purpose::Test, index: 0 });
    for case in 0..400 {
        let workload = random_workload(&mut stream);
        let strategies = random_strategies(&mut stream, workload.lengths.len());
        let expected: Vec<Schedule> =
            strategies.iter().map(|strategy| by_list(&workload, strategy)).collect();
        let batch = 1 + stream.next_below(500);
        for &level in Level::available() {
            let (got, total) = by_lockstep(&workload, &strategies, options(batch, level));
            for (place, strategy) in strategies.iter().enumerate() {
                let mut wanted = expected[place].clone();
                let mut found = got[place].clone();
                wanted.latencies.sort_unstable();
                found.latencies.sort_unstable();
                assert_eq!(found, wanted, "case {case}, {strategy:?}, {level:?}, {workload:?}");
                let classes = workload.lengths.len();
                let sum: u128 = total.sum[place * classes..][..classes].iter().sum();
                assert_eq!(sum, wanted.latencies.iter().map(|row| u128::from(row.1)).sum::<u128>());
            }
        }
    }
}

/// Exact means at 50 and 80 % of the report's workload, in units of time: per strategy those of lengths 1,
/// 5 and 20, then the mean number of packets that wait.
const EXACT: [(f64, [[f64; 3]; 4], f64); 2] = [
    (
        0.5,
        [
            [0.349702, 8.684968, 39.105368],
            [1.174847, 8.527417, 37.618394],
            [5.433511, 9.433511, 24.433511],
            [0.407538, 5.694028, 32.712046],
        ],
        5.121011,
    ),
    (
        0.8,
        [
            [0.602564, 22.546319, 101.911372],
            [4.130113, 22.523097, 93.562443],
            [21.734043, 25.734043, 40.734043],
            [0.659789, 8.007763, 71.921825],
        ],
        21.234043,
    ),
];

const SHARES: [(u32, f64); 6] = [(1, 0.18), (2, 0.18), (3, 0.18), (4, 0.18), (5, 0.18), (20, 0.1)];
const UNIT: f64 = crate::UNIT as f64;

fn report_run(load: f64, strategies: &[Strategy], limit: Limit, options: Options) -> Vec<Batch> {
    let table = LengthTable::new(&SHARES).unwrap();
    let gap = table.mean() / load * UNIT;
    let mut arrivals = PoissonArrivals::new(table, gap, 11, 0).unwrap();
    let mut services = RandomServices::shifted_exponential(500_000_000, UNIT / 2.0, 11, 0).unwrap();
    let mut lockstep = Lockstep::new(strategies, &SHARES.map(|share| share.0), options).unwrap();
    let mut batches = Vec::new();
    let stopped = lockstep.run(&mut arrivals, &mut services, limit, &mut batches, &mut ()).unwrap();
    assert_eq!(stopped, Stopped::AtLimit);
    lockstep.finish(&mut batches);
    batches
}

/// Ratio of the sums and its standard error over the batches.
fn ratio(rows: &[(f64, f64)]) -> (f64, f64) {
    let (count, sum) = rows.iter().fold((0.0, 0.0), |all, row| (all.0 + row.0, all.1 + row.1));
    let mean = sum / count;
    let squares: f64 = rows.iter().map(|row| (row.1 - mean * row.0).powi(2)).sum();
    (mean, squares.sqrt() / count)
}

#[test]
fn means_are_those_of_the_closed_forms() {
    let strategies =
        [Strategy::RoundRobinHead, Strategy::RoundRobin, Strategy::Fifo, Strategy::ShortestFirst];
    for (load, exact, packets) in EXACT {
        let batches = report_run(load, &strategies, Limit::Packets(4_000_000), Options::default());
        let check = |what: &str, exact: f64, rows: Vec<(f64, f64)>| {
            let (mean, error) = ratio(&rows);
            assert!((mean - exact).abs() < 4.0 * error, "{what} at {load}: {mean} ± {error}, exact {exact}");
            assert!(error < 0.05 * exact, "{what} at {load}: standard error {error}");
        };
        for (strategy, lengths) in exact.iter().enumerate() {
            for (class, &exact) in [0, 4, 5].into_iter().zip(lengths) {
                let row = |batch: &Batch| {
                    let Total { count, sum } = batch.of(strategy, class);
                    (count as f64, sum as f64 / UNIT)
                };
                check(
                    &format!("{:?} class {class}", strategies[strategy]),
                    exact,
                    batches.iter().map(row).collect(),
                );
            }
        }
        let row = |batch: &Batch| (batch.queue_readings as f64, batch.queue_packets as f64);
        check("queue", packets, batches.iter().map(row).collect());
    }
}

#[test]
fn limits_end_a_run_where_they_say_and_it_can_go_on() {
    let strategies =
        [Strategy::Fifo, Strategy::ShortestFirst, Strategy::Alpha(Alpha::nearest(0.001).unwrap())];
    let whole =
        report_run(0.9, &strategies, Limit::Packets(30_000), Options { batch: 7_000, ..Options::default() });
    assert_eq!(
        whole.iter().map(|batch| batch.end_tick).collect::<Vec<_>>(),
        [7_000, 14_000, 21_000, 28_000, 30_000]
    );
    let table = LengthTable::new(&SHARES).unwrap();
    let mut arrivals = PoissonArrivals::new(table, 4.7 / 0.9 * UNIT, 11, 0).unwrap();
    let mut services = RandomServices::shifted_exponential(500_000_000, UNIT / 2.0, 11, 0).unwrap();
    let lengths = SHARES.map(|share| share.0);
    let mut lockstep =
        Lockstep::new(&strategies, &lengths, Options { batch: 7_000, ..Options::default() }).unwrap();
    let mut batches = Vec::new();
    for limit in [100, 6_999, 7_000, 7_001, 20_000, 30_000].map(Limit::Packets) {
        lockstep.run(&mut arrivals, &mut services, limit, &mut batches, &mut ()).unwrap();
        assert_eq!(Limit::Packets(lockstep.total().end_tick), limit);
    }
    lockstep.finish(&mut batches);
    assert_eq!(batches, whole);
    let messages = lockstep.timeline().messages() + 10;
    lockstep.run(&mut arrivals, &mut services, Limit::Messages(messages), &mut batches, &mut ()).unwrap();
    assert_eq!(lockstep.timeline().messages(), messages);
}

#[test]
fn an_observer_ends_a_run() {
    struct Two(u32);
    impl BatchObserver for Two {
        fn batch(&mut self, _batch: Batch) -> core::ops::ControlFlow<()> {
            self.0 += 1;
            if self.0 == 2 { core::ops::ControlFlow::Break(()) } else { core::ops::ControlFlow::Continue(()) }
        }
    }
    let mut arrivals = PoissonArrivals::new(LengthTable::new(&[(3, 1.0)]).unwrap(), 4e9, 1, 0).unwrap();
    let mut services = RandomServices::constant(1_000_000_000);
    let mut lockstep =
        Lockstep::new(&[Strategy::Fifo], &[3], Options { batch: 100, ..Options::default() }).unwrap();
    let stopped = lockstep.run(&mut arrivals, &mut services, Limit::Trace, &mut Two(0), &mut ()).unwrap();
    assert_eq!((stopped, lockstep.total().end_tick), (Stopped::ByObserver, 200));
}

#[test]
fn what_cannot_be_run_is_refused() {
    let new = |strategies: &[Strategy], lengths: &[u32], batch| {
        Lockstep::new(strategies, lengths, Options { batch, ..Options::default() }).unwrap_err()
    };
    assert_eq!(new(&[Strategy::Fifo], &[], 1), LockstepError::Classes(0));
    assert_eq!(new(&[Strategy::Fifo], &[1; 65], 1), LockstepError::Classes(65));
    assert_eq!(new(&[], &[1], 1), LockstepError::NoStrategy);
    assert_eq!(new(&[Strategy::Fifo], &[1], 0), LockstepError::EmptyBatch);
    assert_eq!(new(&[Strategy::Fifo], &[1, 0], 1), LockstepError::ZeroLength { class: 1 });
    let alphas = Strategy::AlphaPerClass(vec![Alpha::default()]);
    assert_eq!(new(&[alphas], &[1, 2], 1), LockstepError::Alphas { given: 1, classes: 2 });
    let mut wrong =
        Workload { lengths: vec![4], messages: vec![(0, 0)], services: vec![1], drawn: 0, served: 0 };
    let mut services = wrong.clone();
    let mut lockstep = Lockstep::new(&[Strategy::Fifo], &[5], Options::default()).unwrap();
    let error = lockstep.run(&mut wrong, &mut services, Limit::Trace, &mut Vec::new(), &mut ()).unwrap_err();
    assert_eq!(error, LockstepError::Class { order: 0, class: 0, length: 4 });
}

#[test]
fn alpha_is_read_to_the_nearest_65536th() {
    assert_eq!(Alpha::nearest(0.001).map(Alpha::bits), Some(66));
    assert_eq!(Alpha::nearest(3.0).unwrap().to_string(), "3");
    assert_eq!([-0.5, f64::NAN, f64::INFINITY, 4_294_967_296.0].map(Alpha::nearest), [None; 4]);
    assert_eq!(Alpha::from_bits(1 << 48), None);
}
