//! Benchmarks: what the engines and the disciplines do in a second of one processor.
//!
//! One harness serves `weir bench` and the record in `docs/performance.md`. A benchmark is a
//! round of work that can be repeated; [`Bench::run`] times rounds and takes medians ([`rounds`]).
//!
//! | prefix | what is measured | unit |
//! |-|-|-|
//! | `port/DISCIPLINE` | the plain engine, which drives the contract | packets/s |
//! | `port/accelerated/DISCIPLINE` | the accelerated engine, one strategy alone | packets/s |
//! | `port/accelerated/13` | the 13 strategies of the report in lockstep, all of them together | ns/packet |
//! | `port/whole/…`, `port/fluid/…` | messages served whole | messages/s |
//! | `network/line/…` | three routers in a line, one bottleneck offered 180 %, two links a packet | packets/s |
//! | `network/many/…` | 10,000 flows over 100 links | packet-hops/s |
//! | `network/tcp/1/…` | 100 transfers of CUBIC over one link of 1 Gbit/s, their acknowledgements counted too | packet-hops/s |
//! | `network/tcp/10/…` | 1,000 over a line of ten | packet-hops/s |
//! | `network/report/…` | the report's experiment of staggered streams | simulated s/s |
//! | `fabric/64/…` | 64 end-points, seven channels at 80 % load, statistics on | link traversals/s |
//! | `fabric/1024/…` | the same with 1,024 end-points | link traversals/s |
//! | `node/DISCIPLINE` | one processor, ten processes that pass messages, statistics on | scheduling decisions/s |
//! | `node/epoch/verified` | the same with everything verified | scheduling decisions/s |
//! | `server/8/NAME`, `server/128/NAME` | 8 or 128 cores, 99.5 % requests of 0.5 µs and 0.5 % of 500 µs at 80 % load, all statistics | requests/s |
//! | `server/…/patience`, `server/…/retries` | the same overloaded, where requests leave that wait; at 95 %, where clients try again | requests/s, attempts/s |
//! | `server/…/steps` | the same by the engine that goes from event to event, where there is another | requests/s |
//! | `source/…` | random draws: arrivals, services | draws/s, messages/s |
//! | `core/…` | what a call of a discipline costs, without an engine | ns/call, ns/message |
//! | `core/task/NAME/N` | what a decision costs in a discipline of tasks with N processes, without an engine | ns/decision |
//! | `core/task/epoch/turn/N` | the end of an epoch | ns/turn |
//! | `packet/…` | what a packet costs in a discipline of packets, without an engine | ns/packet |
//!
//! `port/…` is the report's workload at 95 % load, with means and batches for every class; `…/tails` adds
//! the histograms.

mod fabric;
mod message;
mod network;
mod node;
mod packet;
mod port;
pub mod rounds;
mod server;
mod source;
mod task;

use serde::Serialize;

use rounds::Repetitions;

/// What a benchmark says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its name, such as `port/fifo`.
    pub bench: String,
    /// `packets/s`, `ns/call`.
    pub unit: &'static str,
    /// The median of the repetitions.
    pub value: f64,
    /// The least of them.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

/// A round of work: does it, and returns how many units it was.
type Round = Box<dyn FnMut() -> u64>;

/// Which way a figure is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// Units of work in a second.
    Rate(&'static str),
    /// Nanoseconds for a unit of work.
    Time(&'static str),
}

/// A benchmark that has not run yet.
pub struct Bench {
    name: String,
    unit: Unit,
    prepare: Box<dyn Fn() -> Round>,
}

impl Bench {
    fn new(name: impl Into<String>, unit: Unit, prepare: impl Fn() -> Round + 'static) -> Self {
        Self { name: name.into(), unit, prepare: Box::new(prepare) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Does one round without looking at a clock, and returns how many units of work it was.
    #[must_use]
    pub fn once(&self) -> u64 {
        counted(&mut *(self.prepare)())
    }

    /// Runs it as often as `repetitions` says.
    #[must_use]
    pub fn run(&self, repetitions: Repetitions) -> Figure {
        let nanoseconds = rounds::nanoseconds_per_unit(&mut *(self.prepare)(), repetitions);
        let (unit, told): (_, fn(f64) -> f64) = match self.unit {
            Unit::Rate(unit) => (unit, |time| 1e9 / time),
            Unit::Time(unit) => (unit, |time| time),
        };
        let mut values = nanoseconds.map(told);
        values.sort_by(f64::total_cmp);
        let [low, value, high] = values;
        Figure { bench: self.name.clone(), unit, value, low, high }
    }
}

/// Does a round; a function of its own in the program too, between whose beginning and end instructions are counted.
#[inline(never)]
fn counted(round: &mut dyn FnMut() -> u64) -> u64 {
    round()
}

/// The benchmarks whose name begins with `prefix`, in their order.
#[must_use]
pub fn benches(prefix: &str) -> Vec<Bench> {
    let all = [
        port::benches(),
        source::benches(),
        message::benches(),
        packet::benches(),
        network::benches(),
        fabric::benches(),
        node::benches(),
        server::benches(),
        task::benches(),
    ];
    all.into_iter().flatten().filter(|bench| bench.name.starts_with(prefix)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_benchmark_runs_and_has_a_name_of_its_own() {
        let all = benches("");
        for bench in &all {
            let figure = bench.run(Repetitions::ONE_ROUND);
            assert!(figure.value > 0.0 && figure.value.is_finite(), "{figure:?}");
            assert!(figure.low <= figure.value && figure.value <= figure.high, "{figure:?}");
        }
        let mut names: Vec<_> = all.iter().map(Bench::name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn a_prefix_selects() {
        let names: Vec<_> = benches("port/accelerated/13").iter().map(|bench| bench.name.clone()).collect();
        assert_eq!(names, ["port/accelerated/13", "port/accelerated/13/tails", "port/accelerated/13/rate"]);
        assert!(benches("nothing").is_empty());
    }
}
