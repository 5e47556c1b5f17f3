use std::path::Path;

use super::*;
use crate::workload::Sizes;

const REFERENCE: &str = include_str!("../../../../../data/reference/mg1-homa.csv");

fn homa(workload: &str) -> Sizes {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sizes");
    Sizes::from_cdf_file(&folder.join(format!("homa-{workload}.csv"))).expect("a CDF file")
}

fn policy(name: &str) -> Policy {
    match name {
        "fcfs" => Policy::Fcfs,
        "ps" => Policy::Ps,
        "sjf" => Policy::Sjf,
        "psjf" => Policy::Psjf,
        "srpt" => Policy::Srpt,
        _ => panic!("unknown policy {name}"),
    }
}

/// Whether `found` is `printed` to the nine digits of the table.
fn agrees(found: f64, printed: &str) -> bool {
    let printed: f64 = printed.parse().expect("a number");
    let digit = 10f64.powf(printed.abs().log10().floor() - 8.0);
    (found - printed).abs() <= 0.51 * digit
}

#[test]
fn every_row_of_the_homa_reference_agrees_to_nine_digits() {
    let mut rows = 0;
    for line in REFERENCE.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let field: Vec<&str> = line.split(',').collect();
        let queue = Mg1::new(&SizeLaw::from(&homa(field[0])), field[1].parse().expect("a load")).expect("stable");
        let policy = policy(field[2]);
        let found = [
            queue.mean_response(policy) / queue.mean_service(),
            queue.mean_slowdown(policy).expect("finite"),
            queue.largest_slowdown(policy).expect("bounded"),
        ];
        for (found, printed) in found.iter().zip(&field[3..]) {
            assert!(agrees(*found, printed), "{line}: found {found}, table {printed}");
        }
        rows += 1;
    }
    assert_eq!(rows, 50);
}
