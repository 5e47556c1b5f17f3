//! Benchmarks of the random sources, drawn in blocks as the engines draw them.

use std::hint::black_box;

use crate::bench::{Bench, Round, Unit};
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_port::UNIT;
use weir_workload::source::{
    ArrivalBlock, ArrivalSource, LengthTable, PoissonArrivals, RandomServices, ServiceSource,
};

const BLOCK: usize = 1024;
const BLOCKS: usize = 512;
const DRAWS: u64 = (BLOCK * BLOCKS) as u64;

pub(super) fn benches() -> Vec<Bench> {
    vec![
        Bench::new("source/random", Unit::Rate("draws/s"), random),
        Bench::new("source/services", Unit::Rate("draws/s"), services),
        Bench::new("source/arrivals", Unit::Rate("messages/s"), arrivals),
    ]
}

fn random() -> Round {
    let mut stream = Stream::new(StreamKey { seed: 1, replication: 0, purpose: Purpose::Services, index: 0 });
    let mut block = vec![0; BLOCK];
    Box::new(move || {
        (0..BLOCKS).for_each(|_| stream.fill_u64(black_box(&mut block)));
        DRAWS
    })
}

fn services() -> Round {
    let source = RandomServices::shifted_exponential(UNIT / 2, UNIT as f64 / 2.0, 1, 0);
    let mut source = source.expect("half a unit is a valid mean");
    let mut block = vec![0; BLOCK];
    Box::new(move || {
        (0..BLOCKS).for_each(|_| source.fill(black_box(&mut block)));
        DRAWS
    })
}

fn arrivals() -> Round {
    let shares = [(1, 0.18), (2, 0.18), (3, 0.18), (4, 0.18), (5, 0.18), (20, 0.1)];
    let table = LengthTable::new(&shares).expect("the shares of the report are valid");
    let source = PoissonArrivals::new(table, 5.0 * UNIT as f64, 1, 0);
    let (mut source, mut block) = (source.expect("five units are a valid mean"), ArrivalBlock::default());
    Box::new(move || {
        (0..BLOCKS).for_each(|_| {
            source.fill(black_box(&mut block), BLOCK);
        });
        DRAWS
    })
}
