//! Figures by hand, draws against figures, and rates that are none.

use super::super::{Arrivals, Times};
use super::*;
use weir_lab::stream::StreamKey;

fn bursts() -> MarkovArrivals {
    let changes = vec![vec![-0.02, 0.02], vec![0.01, -0.01]];
    MarkovArrivals::modulated(&changes, &[2.0, 0.5]).expect("a process")
}

#[test]
fn figures_by_hand() {
    let one = MarkovArrivals::new(&vec![vec![-3.0]], &vec![vec![3.0]]).expect("a process");
    assert_eq!((one.gaps(), one.dispersion()), (Some((1.0, 0.0)), Some(1.0)));
    // Two phases one after the other, an arrival at the end of the second: Erlang gaps, of renewals.
    let erlang =
        MarkovArrivals::new(&vec![vec![-1.0, 1.0], vec![0.0, -1.0]], &vec![vec![0.0, 0.0], vec![1.0, 0.0]]);
    let erlang = erlang.expect("a process");
    let (scv, correlation) = erlang.gaps().expect("figures");
    assert!((scv - 0.5).abs() < 1e-12 && correlation.abs() < 1e-12, "{scv} {correlation}");
    assert!((erlang.dispersion().expect("a figure") - 0.5).abs() < 1e-12);
    // Fischer and Meier-Hellstern 1993, section 3: 1 + 2 s (1 - s) (a - b)² / (λ (σ + σ')).
    let (share, apart) = (1.0_f64 / 3.0, 1.5 * 1.5);
    let expected = 1.0 + 2.0 * share * (1.0 - share) * apart / (1.0 * 0.03);
    assert!((bursts().dispersion().expect("a figure") - expected).abs() < 1e-9 * expected);
}

#[test]
fn draws_have_the_figures_of_the_process() {
    let process = Arc::new(bursts());
    let stream = |purpose, index| Stream::new(StreamKey { seed: 3, replication: 1, purpose, index });
    let mut times = Times::new(&Arrivals::Markov(Arc::clone(&process)), 1e6, &stream).expect("drawn");
    let mut at = vec![0; 1_000_001];
    times.fill(&mut at);
    assert_eq!(at[0], 0);
    let gaps: Vec<f64> = at.windows(2).map(|two| (two[1] - two[0]) as f64 / 1e6).collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
    let covariance = gaps.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum::<f64>() / count;
    let (scv, correlation) = process.gaps().expect("figures");
    // As many gaps vary as the dispersion says.
    let error = (process.dispersion().expect("a figure") / count).sqrt();
    assert!((mean - 1.0).abs() < 3.5 * error, "{mean} {error}");
    assert!((variance / mean / mean / scv - 1.0).abs() < 0.05, "{variance} {scv}");
    assert!((covariance / variance - correlation).abs() < 0.02, "{covariance} {correlation}");
}

#[test]
fn rates_that_are_none_are_refused() {
    let refused = |hidden: &Rates, arriving: &Rates| {
        let error = MarkovArrivals::new(hidden, arriving).expect_err("refused");
        (error.part, error.reason)
    };
    let part = |hidden: &Rates, arriving: &Rates| refused(hidden, arriving).0;
    assert_eq!(part(&vec![], &vec![]), MarkovPart::All);
    assert_eq!(part(&vec![vec![-1.0; 65]; 65], &vec![vec![0.0; 65]; 65]), MarkovPart::All);
    assert_eq!(part(&vec![vec![-1.0, 1.0]], &vec![vec![0.0]]), MarkovPart::All);
    assert_eq!(part(&vec![vec![-1.0]], &vec![vec![-1.0]]), MarkovPart::Arriving(0, 0));
    let apart = vec![vec![-1.0, 0.0], vec![0.0, -1.0]];
    let own = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
    assert!(refused(&apart, &own).1.contains("do not reach each other"));
    let negative = vec![vec![-1.0, -0.5], vec![0.5, -1.0]];
    assert_eq!(part(&negative, &own), MarkovPart::Hidden(0, 1));
    assert_eq!(part(&vec![vec![-1.0]], &vec![vec![1.5]]), MarkovPart::Row(0));
    assert_eq!(part(&vec![vec![f64::NAN]], &vec![vec![1.0]]), MarkovPart::Row(0));
    let silent = vec![vec![-1.0, 1.0], vec![1.0, -1.0]];
    assert!(refused(&silent, &vec![vec![0.0; 2]; 2]).1.contains("no arrivals"));
    let restless = vec![vec![-1.0, 1.0], vec![1.0 - 1e-6, -1.0]];
    assert!(refused(&restless, &vec![vec![0.0, 0.0], vec![1e-6, 0.0]]).1.contains("more than 10000 times"));
    assert!(MarkovArrivals::modulated(&silent, &[1.0]).is_err());
}
