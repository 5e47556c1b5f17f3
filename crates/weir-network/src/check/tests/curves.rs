//! Rates of flows that follow the time: what they become, how long a run may be, and rows of files that are refused.

use super::{TEXTS, ms, sending};
use crate::model::{Drawn, Traffic};
use weir_core::units::Nanos;
use weir_document::testing::Folder;

pub(super) fn drawn(flow: &str) -> Drawn {
    let network = TEXTS.model(&format!(
        "...\n{{nodes}}\n{{links}}\n[[flow]]\nfrom = \"a\"\nto = \"b\"\nsize = \"1000B\"\n{flow}\n{{stop}}"
    ));
    match &network.flows[0].traffic {
        Traffic::Drawn(drawn) => drawn.clone(),
        other => panic!("{other:?}"),
    }
}

const STEPS: &str = "curve = { factors = [[\"0s\", 1.0], [\"1s\", 3.0]], period = \"2s\" }";

#[test]
fn a_gap_or_a_rate_is_the_mean_over_the_curve() {
    let close =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9 * expected, "{found} {expected}");
    // 8,000 bits every 10 ms.
    for flow in ["gap = \"10ms\"", "rate = \"800kbit\""] {
        let drawn = drawn(&format!("{flow}\n{STEPS}"));
        let curve = drawn.curve().expect("a curve");
        assert_eq!((curve.rate_at(0), curve.rate_at(1_500_000_000), curve.highest()), (0.5, 1.5, 1.5));
        close(drawn.gap.mean(), 0.01);
        // 50 in the first second, 150 in the second, 50 in the third.
        close(drawn.expected(ms(3_000)), 250.0);
    }
    let some = drawn(&format!("gap = \"10ms\"\npackets = 60\n{STEPS}"));
    close(some.expected(ms(3_000)), 60.0);
    let line = "curve = { rates = [[\"0s\", \"200/s\"], [\"1s\", \"400/s\"]], interpolation = \"linear\" }";
    let own = drawn(line);
    assert!(own.gap.is_random());
    close(own.gap.mean(), 1.0 / 300.0);
    close(own.expected(ms(1_000)), 300.0);
    let scaled = drawn(&format!("gap = \"10ms\"\n{line}"));
    close(scaled.expected(ms(1_000)), 100.0);
}

#[test]
fn flows_of_a_table_share_the_points() {
    let network = TEXTS.model(&format!("...\n{{nodes}}\n{{links}}\n{{flow}}\ncount = 3\n{STEPS}\n{{stop}}"));
    assert_eq!(network.curves().count(), 3);
    let clocks: Vec<_> = network
        .flows
        .iter()
        .map(|flow| match &flow.traffic {
            Traffic::Drawn(drawn) => drawn.clock.clone().expect("a clock"),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(std::sync::Arc::ptr_eq(&clocks[0], &clocks[2]));
}

#[test]
fn only_whole_periods_can_be_measured_for_longer() {
    let longer = |curve: &str, stop: &str| {
        let text = format!("...\n{{nodes}}\n{{links}}\n{{flow}}\n{curve}\n[stop]\n{stop}");
        let scenario = TEXTS.read(&text).expect("a scenario");
        scenario.longer(3).map(|longer| longer.1).map_err(|refused| refused.to_string())
    };
    assert_eq!(longer(STEPS, "duration = \"10s\""), Ok("30s in each replication".to_owned()));
    assert_eq!(longer("", "duration = \"9s\""), Ok("27s in each replication".to_owned()));
    for (curve, stop) in [
        (STEPS, "duration = \"9s\""),
        (STEPS, "duration = \"10s\"\nwarm_up = \"1s\""),
        ("curve = { factors = [[\"0s\", 1.0], [\"10s\", 3.0]] }", "duration = \"10s\""),
    ] {
        assert!(longer(curve, stop).expect_err(stop).contains("with a curve that is measured in part"));
    }
}

#[test]
fn a_file_is_read_and_is_part_of_the_fingerprint() {
    let folder = Folder::new("flow-curve");
    let read = |rows: &str, keys: &str| {
        folder.write("day.csv", rows);
        let csv = format!("{{ file = \"day.csv\", time_unit = \"ms\", {keys} }}");
        sending(folder.path(), &format!("size = \"1000B\"\ncurve = {{ csv = {csv}, period = \"3ms\" }}"))
    };
    let per_minute = "rate_unit = \"/min\"";
    let first = read("time,rate\n0,6e6\n1,0\n2,3e6\n", per_minute).expect("valid");
    let Traffic::Drawn(drawn) = &first.model.flows[0].traffic else { panic!("drawn") };
    // 100, 0 and 50 in a millisecond.
    assert!((drawn.expected(Nanos::new(3_000_000)) - 150.0).abs() < 1e-9, "{drawn:?}");
    let second = read("time,rate\n0,6e6\n1,0\n2,6e6\n", per_minute).expect("valid");
    assert_ne!(first.frame.fingerprint, second.frame.fingerprint);
    for (rows, keys, expected) in [
        (
            "time,rate\n0,1\n2,1\n1,3\n",
            per_minute,
            "day.csv:4:1: time 1 is not after the time of the point before",
        ),
        (
            "time,rate\n0,1\n1,-1\n",
            per_minute,
            "day.csv:3:2: rate is -1, must be a rate from 0 up: correct it",
        ),
        ("time,rate\n0,0\n1,0\n", per_minute, "day.csv\" is 0 everywhere: give it a rate above 0"),
        ("time,rate\n0,1\n1,1\n", "rate_unit = \"factor\"", "flow must have one of `gap`, `rate`, `tg`"),
    ] {
        let refused = read(rows, keys).expect_err(rows);
        assert!(refused.contains(expected), "{refused}");
    }
}
