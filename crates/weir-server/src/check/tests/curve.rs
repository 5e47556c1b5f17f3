//! Rates that follow the time: what they become, how long a run is, and rows of files that are refused.

use super::{TEXTS, nanos};
use crate::model::{Open, Stop, Workload};
use weir_document::testing::Folder;

fn open(workload: &str) -> (Open, Stop, f64) {
    let server = TEXTS.model(&format!("...\n{{server}}\n{{class}}\n[workload]\n{workload}"));
    let (stop, load) = (server.stop, server.load.expect("a load"));
    let Workload::Open(open) = server.workload else { panic!("open") };
    (open, stop, load)
}

const STEPS: &str = "curve = { factors = [[\"0s\", 1.0], [\"1ms\", 3.0]], period = \"2ms\" }";

#[test]
fn a_load_is_the_mean_over_the_curve() {
    let (one, stop, load) = open(&format!("load = 0.25\n{STEPS}"));
    let curve = one.curve.as_ref().expect("a curve");
    assert_eq!((one.mean_gap, load), (2_000.0, 0.25));
    assert_eq!((curve.rate_at(0), curve.rate_at(1_500_000), curve.highest()), (0.5, 1.5, 1.5));
    // 250 in the first millisecond, 750 in the second.
    assert!((one.requests_before(nanos(3_000_000)) - 1_250.0).abs() < 1e-6);
    assert_eq!(stop, Stop { warm_up: nanos(0), duration: nanos(2_000_000), replications: 10 });
    let (_, stop, _) = open(&format!("load = 0.25\n{STEPS}\n[stop]\nreplications = 2\nrequests = 1_000"));
    assert_eq!(stop.duration, nanos(1_333_334));
    // From 200 to 400 requests in a millisecond, of 500 ns of a core each.
    let line =
        "curve = { rates = [[\"0s\", \"200k/s\"], [\"1ms\", \"400k/s\"]], interpolation = \"linear\" }";
    let (one, stop, load) = open(line);
    assert!((one.mean_gap - 1e4 / 3.0).abs() < 1e-9 && (load - 0.15).abs() < 1e-12, "{load}");
    assert_eq!(stop.duration, nanos(1_000_000));
    let (one, _, load) = open(&format!("rate = \"600k/s\"\n{line}"));
    assert!((one.mean_gap - 1e4 / 6.0).abs() < 1e-9 && (load - 0.3).abs() < 1e-12, "{load}");
}

#[test]
fn only_whole_periods_can_be_measured_for_longer() {
    let longer = |stop: &str| {
        let text = format!("...\n{{server}}\n{{class}}\n[workload]\nload = 0.25\n{STEPS}\n{stop}");
        let scenario = TEXTS.read(&text).expect("a scenario");
        scenario.longer(3).map(|longer| longer.1).map_err(|refused| refused.to_string())
    };
    assert_eq!(longer(""), Ok("6ms in each replication".to_owned()));
    let warm = "[stop]\nwarm_up = \"2ms\"\nduration = \"4ms\"";
    assert_eq!(longer(warm), Ok("12ms in each replication".to_owned()));
    assert!(longer("[stop]\nwarm_up = \"1ms\"\nduration = \"2ms\"").is_err());
    assert!(longer("[stop]\nrequests = 5_000").is_err());
}

#[test]
fn a_file_is_read_and_is_part_of_the_fingerprint() {
    let folder = Folder::new("curve");
    let read = |rows: &str, keys: &str| {
        folder.write("day.csv", rows);
        let csv = format!("{{ file = \"day.csv\", time_unit = \"ms\", {keys} }}");
        let text =
            format!("...\n{{server}}\n{{class}}\n[workload]\ncurve = {{ csv = {csv}, period = \"3ms\" }}");
        TEXTS.read_in(folder.path(), &text)
    };
    let per_minute = "rate_unit = \"/min\"";
    let first = read("time,rate\n0,6e6\n1,0\n2,3e7\n", per_minute).expect("valid");
    let Workload::Open(open) = &first.model.workload else { panic!("open") };
    // 200,000 in a second, in the mean.
    assert!((open.mean_gap - 5_000.0).abs() < 1e-9, "{}", open.mean_gap);
    let second = read("time,rate\n0,6e6\n1,0\n2,6e6\n", per_minute).expect("valid");
    assert_ne!(first.frame.fingerprint, second.frame.fingerprint);
    for (rows, keys, expected) in [
        (
            "time,rate\n0,1\n1,\n2,3\n",
            per_minute,
            "day.csv:3:2: rate is empty, must be a rate from 0 up: fill",
        ),
        (
            "time,rate\n0,1\n2,1\n1,3\n",
            per_minute,
            "day.csv:4:1: time 1 is not after the time of the point before",
        ),
        (
            "time,rate\n0,1\n-1,1\n",
            per_minute,
            "day.csv:3:1: time is -1, must be a number of milliseconds from 0",
        ),
        (
            "time,rate\n0,1\n1,-1\n",
            per_minute,
            "day.csv:3:2: rate is -1, must be a rate from 0 up: correct it",
        ),
        ("time,rate\n0,1\n1,1\n3,1\n", per_minute, "day.csv:4:1: time 3 is 2ms after the row above, where"),
        ("time,rate\n0,0\n1,0\n", per_minute, "day.csv\" is 0 everywhere: give it a rate above 0"),
        ("time,rate\n0,1\n1,1\n", "rate_unit = \"factor\"", "workload must have one of `load`, `rate`"),
        ("time,rate\n0,1\n1,1\n", "rate_unit = \"/d\"", "rate_unit"),
        ("time,rate\n0,1\n1,1\n", "rate = \"x\", rate_unit = \"/s\"", "x is not a column of the file"),
    ] {
        let refused = read(rows, keys).expect_err(rows);
        assert!(refused.contains(expected), "{refused}");
    }
}
