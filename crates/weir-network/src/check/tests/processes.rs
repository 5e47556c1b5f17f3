//! Processes of packets: what they become.

use super::curves::drawn;
use crate::model::Gaps;
use weir_tg::Distribution;
use weir_workload::Arrivals;

#[test]
fn a_rate_is_the_mean_of_its_process() {
    let gaps = |flow: &str| drawn(flow).gap;
    // 8,000 bits every 10 ms.
    let poisson = Gaps::Tg(Distribution::Exponential { mean: 0.01, bounds: None });
    assert_eq!(gaps("rate = \"800kbit\""), poisson);
    assert_eq!(gaps("rate = \"800kbit\"\narrivals = \"poisson\""), poisson);
    let equal = gaps("rate = \"800kbit\"\narrivals = \"deterministic\"");
    assert_eq!(equal, Gaps::Process(Arrivals::Deterministic, 0.01));
    assert!(equal.is_random());
    let batches = "arrivals = { batches = { of = \"deterministic\", size = { constant = 4 } } }";
    let drawn = drawn(&format!(
        "curve = {{ rates = [[\"0s\", \"50/s\"], [\"1s\", \"150/s\"]], period = \"2s\" }}\n{batches}"
    ));
    assert!((drawn.gap.mean() - 0.01).abs() < 1e-12);
    assert!((drawn.expected(super::ms(3_000)) - 250.0).abs() < 1e-6);
}
