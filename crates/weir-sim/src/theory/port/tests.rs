use super::*;
use crate::theory::TheoryError;
use crate::workload::Run;

const PUBLISHED: &str = include_str!("../../../../../reproduce/alpha/analytic.csv");

/// One strategy of the report's workload and service.
fn latencies(strategy: &str, load: f64) -> (Port, Latencies) {
    let port = Port::new(&Sizes::alpha_report(), load, 0.25).expect("stable");
    let latencies = match strategy {
        "fifo" => port.fifo(),
        "sf" => port.shortest_first(),
        "rr" => port.round_robin().expect("small"),
        _ => port.round_robin_head().expect("small"),
    };
    (port, latencies)
}

fn quantity(strategy: &str, load: f64, name: &str) -> f64 {
    let (port, latencies) = latencies(strategy, load);
    match name {
        "qlen" => port.queue_length(),
        "avlat" => latencies.mean(),
        length => latencies.of(length["lat".len()..].parse().expect("a length")).expect("occurs"),
    }
}

#[test]
fn every_row_of_the_analytic_table_agrees_to_its_printed_digits() {
    let mut rows = 0;
    for line in PUBLISHED.lines().skip(1) {
        let field: Vec<&str> = line.split(',').collect();
        let load = field[0].parse::<f64>().expect("a load") / 100.0;
        assert_eq!(format!("{:.6}", quantity(field[1], load, field[2])), field[3], "{line}");
        rows += 1;
    }
    assert_eq!(rows, 320);
}
