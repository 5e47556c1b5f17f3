//! Speed of the accelerated port on one core: the report's workload at 95 % load, means and batches.
//!
//! `cargo bench -p weir-sim --bench port [-- NAME…]` prints `name value unit (lowest to highest)`, the
//! median of several runs.

use std::time::Instant;
use weir_sim::engine::stream::{Purpose, Stream, StreamKey};
use weir_sim::port::UNIT;
use weir_sim::port::accelerated::{Alpha, BatchObserver, Limit, Lockstep, Options, Probe, Strategy};
use weir_sim::port::source::{
    ArrivalBlock, ArrivalSource, LengthTable, PoissonArrivals, RandomServices, ServiceSource,
};
use weir_sim::port::timeline::Timeline;

const RUNS: usize = 5;
const PACKETS: u64 = 16_000_000;
const LOAD: f64 = 0.95;

fn shares() -> [(u32, f64); 6] {
    [(1, 0.18), (2, 0.18), (3, 0.18), (4, 0.18), (5, 0.18), (20, 0.1)]
}

fn arrivals() -> PoissonArrivals {
    let table = LengthTable::new(&shares()).expect("the shares are valid");
    let gap = table.mean() / LOAD * UNIT as f64;
    PoissonArrivals::new(table, gap, 1, 0).expect("the mean is valid")
}

fn services() -> RandomServices {
    RandomServices::shifted_exponential(UNIT / 2, UNIT as f64 / 2.0, 1, 0).expect("the mean is valid")
}

fn alpha(value: u64) -> Strategy {
    Strategy::Alpha(Alpha::from_bits(value << 16).expect("a small alpha"))
}

fn all() -> Vec<Strategy> {
    let mut strategies = vec![Strategy::RoundRobinHead, Strategy::RoundRobin, Strategy::Fifo];
    strategies.extend([1, 2, 3, 6, 10, 20, 30, 60, 100].map(alpha));
    strategies.push(Strategy::ShortestFirst);
    strategies
}

struct Discard;

impl BatchObserver for Discard {
    fn batch(&mut self, batch: weir_sim::port::accelerated::Batch) -> std::ops::ControlFlow<()> {
        std::hint::black_box(batch);
        std::ops::ControlFlow::Continue(())
    }
}

/// Log-linear histograms, 2^7 buckets to the octave, one per strategy and class.
struct Tails {
    counts: Vec<u32>,
}

const SUB_BITS: u32 = 7;
const BUCKETS: usize = (64 - SUB_BITS as usize) << SUB_BITS;

impl Probe for Tails {
    const COMPLETIONS: bool = true;
    #[inline(always)]
    fn completed(&mut self, strategy: usize, class: usize, latency: u64) {
        let value = latency | 1 << SUB_BITS;
        let shift = 63 - SUB_BITS - value.leading_zeros();
        let bucket = ((shift as usize) << SUB_BITS) + (latency >> shift) as usize;
        self.counts[(strategy * 6 + class) * BUCKETS + bucket] += 1;
    }
}

fn simulate<P: Probe>(strategies: &[Strategy], probe: &mut P) {
    let lengths = shares().map(|(length, _)| length);
    let mut lockstep = Lockstep::new(strategies, &lengths, Options::default()).expect("valid strategies");
    let limit = Limit::Packets(PACKETS);
    lockstep.run(&mut arrivals(), &mut services(), limit, &mut Discard, probe).expect("a valid workload");
    std::hint::black_box(lockstep.total());
}

/// Time this thread has had a processor, so that other work on the machine does not count.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

/// Seconds of each run, sorted.
fn timed(mut work: impl FnMut()) -> Vec<f64> {
    let mut seconds: Vec<f64> = (0..RUNS)
        .map(|_| {
            let (begin, wall) = (processor_seconds(), Instant::now());
            work();
            match (begin, processor_seconds()) {
                (Some(begin), Some(end)) => end - begin,
                _ => wall.elapsed().as_secs_f64(),
            }
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds
}

fn wanted(name: &str) -> bool {
    let filters: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    filters.is_empty() || filters.iter().any(|filter| name.starts_with(filter.as_str()))
}

fn per_second(name: &str, what: &str, count: u64, work: impl FnMut()) {
    if wanted(name) {
        let seconds = timed(work);
        let rate = |seconds: f64| count as f64 / seconds / 1e6;
        let (low, middle, high) = (rate(seconds[RUNS - 1]), rate(seconds[RUNS / 2]), rate(seconds[0]));
        println!("{name} {middle:.1} M {what}/s ({low:.1} to {high:.1})");
    }
}

fn per_packet(name: &str, work: impl FnMut()) {
    if wanted(name) {
        let seconds = timed(work);
        let nanoseconds = |seconds: f64| seconds / PACKETS as f64 * 1e9;
        let (low, middle, high) =
            (nanoseconds(seconds[0]), nanoseconds(seconds[RUNS / 2]), nanoseconds(seconds[RUNS - 1]));
        println!("{name} {middle:.2} ns/packet ({low:.2} to {high:.2})");
    }
}

fn sources() {
    let key = StreamKey { seed: 1, replication: 0, purpose: Purpose::Test, index: 0 };
    let mut block = vec![0; 2048];
    let mut stream = Stream::new(key);
    per_second("stream/u64", "draws", 2048 * 16_000, || {
        (0..16_000).for_each(|_| stream.fill_u64(std::hint::black_box(&mut block)));
    });
    let mut services = services();
    per_second("stream/service", "draws", 2048 * 16_000, || {
        (0..16_000).for_each(|_| services.fill(std::hint::black_box(&mut block)));
    });
    let (mut arrivals, mut messages) = (arrivals(), ArrivalBlock::default());
    per_second("stream/arrival", "messages", 512 * 16_000, || {
        (0..16_000).for_each(|_| {
            arrivals.fill(std::hint::black_box(&mut messages), 512);
        });
    });
    per_second("port/timeline", "packets", PACKETS, timeline);
}

fn timeline() {
    let (mut arrivals, mut services) = (arrivals(), services());
    let mut timeline = Timeline::new(200 * UNIT);
    while timeline.accepted() < PACKETS {
        timeline.extend(&mut arrivals, &mut services, 512).expect("a valid workload");
        while std::hint::black_box(timeline.next_segment(u64::MAX)).is_some() {}
    }
}

fn main() {
    sources();
    let singles = [
        ("port/fifo", Strategy::Fifo),
        ("port/rr", Strategy::RoundRobin),
        ("port/rr_head", Strategy::RoundRobinHead),
        ("port/alpha", alpha(10)),
        ("port/sf", Strategy::ShortestFirst),
    ];
    for (name, strategy) in singles {
        per_second(name, "packets", PACKETS, || simulate(std::slice::from_ref(&strategy), &mut ()));
    }
    let strategies = all();
    let keyed = &strategies[3..];
    per_packet("port/keyed10", || simulate(keyed, &mut ()));
    per_packet("port/robins", || simulate(&strategies[..2], &mut ()));
    per_packet("port/all13", || simulate(&strategies, &mut ()));
    let mut tails = Tails { counts: vec![0; 13 * 6 * BUCKETS] };
    per_packet("port/all13_tails", || simulate(&strategies, &mut tails));
}
