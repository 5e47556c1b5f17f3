//! Nanoseconds for one enqueue and one dequeue together, over a standing backlog of messages, of the
//! disciplines that go by length, wait or attained service.
//!
//! Prints `name value unit`, the best of several runs.

use std::time::Instant as Clock;

use weir_core::conformance::{Random, Sample};
use weir_core::discipline::{CountDrops, Discipline, Open};
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::registry::{Visitor, visit_message};
use weir_core::units::{Cost, Instant, Nanos};

const GRANTS: u32 = 400_000;
const RUNS: u32 = 3;

/// Measures what it visits, with this many messages waiting.
struct Measure(u32);

impl Visitor<Message<Nanos>> for Measure {
    type Output = f64;
    fn visit<D: Discipline<Message<Nanos>> + Send + 'static>(self, discipline: D) -> f64 {
        run(discipline, self.0)
    }
}

/// Each grant is served whole and closed; each message that leaves is followed by another.
fn run<D: Discipline<Message<Nanos>>>(mut discipline: D, waiting: u32) -> f64 {
    let mut random = Random::new(1);
    let drops = &mut CountDrops::default();
    let mut draw = |id| {
        let cost = 1 + random.below(1 << (1 + random.clone().below(20)));
        Message::<Nanos>::sample(id, FlowId(0), ClassId(0), cost)
    };
    let mut now = Instant::ZERO;
    for id in 0..waiting {
        now += Nanos::new(10_000);
        let _ = discipline.enqueue(now, draw(id), drops);
    }
    let start = Clock::now();
    for id in 0..GRANTS {
        let Some(grant) = discipline.dequeue(now, &Open, drops) else { break };
        now += Nanos::new(grant.quantum.count());
        let rest = grant.item.served(grant.quantum);
        if rest.remaining == Nanos::ZERO {
            discipline.finish(now, &grant.item, grant.quantum);
            let _ = discipline.enqueue(now, draw(id), drops);
        } else {
            discipline.requeue(now, rest, grant.quantum, drops);
        }
    }
    start.elapsed().as_nanos() as f64 / f64::from(GRANTS)
}

fn main() {
    for name in ["ps:quantum=1000000", "sjf", "psjf", "las:quantum=1000", "hrrn"] {
        for waiting in [100, 1_000_000] {
            let spec = name.parse().expect("a spec");
            let runs = (0..RUNS).map(|_| visit_message(&spec, Measure(waiting)).expect("valid"));
            println!("core/{name}/{waiting} {:.2} ns", runs.fold(f64::INFINITY, f64::min));
        }
    }
}
