//! Refusals, word by word, and what accepted scenarios become.

use std::path::{Path, PathBuf};

use super::*;

/// Reads a scenario and returns its one-line refusal.
fn refusal(text: &str) -> String {
    match Scenario::from_toml(text, "s.toml", Path::new("")) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => {
            assert!(error.line.is_some() && error.column.is_some(), "no place: {error}");
            assert!(!error.remedy.is_empty() && !error.reason.is_empty(), "{error:?}");
            error.to_string()
        }
    }
}

fn accepted(text: &str) -> Scenario {
    Scenario::from_toml(text, "s.toml", Path::new("")).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A scenario of five lines with `workload` as its table, and what follows.
fn with(workload: &str) -> String {
    format!("weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\n{workload}\n")
}

#[test]
fn show() {
    for text in [
        "weir = 2\nmodel = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\nload = 0.5".to_owned(),
        "model = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\nload = 0.5".to_owned(),
        "weir = 1\nmodel = \"prt\"\ndisciplines = [\"fifo\"]\n[workload]\nload = 0.5".to_owned(),
        "weir = 1\nmodel = \"port\"\ndisciplines = [\"fofo\"]\n[workload]\nload = 0.5".to_owned(),
        "weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo\", \"fifo\"]\n[workload]\nload = 0.5".to_owned(),
        "weir = 1\nmodel = \"port\"\ndisciplines = []\n[workload]\nload = 0.5".to_owned(),
        "weir = 1\nmodel = \"port\"\ndisciplines = \"fifo\"\n[workload]\nload = 0.5".to_owned(),
        "weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo\"]\nreference = \"sf\"\n[workload]\nload = 0.5"
            .to_owned(),
        "weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo:3\"]\n[workload]\nload = 0.5".to_owned(),
        "weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo(\"]\n[workload]\nload = 0.5".to_owned(),
        "weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo\"]".to_owned(),
        "weir = 1\nweir = 1".to_owned(),
        "weir = \n".to_owned(),
        "[workload\n".to_owned(),
        with("laod = 0.5"),
        with("load = \"0.5\""),
        with("load = 0"),
        with("load = nan"),
        with("load = -0.5"),
        with("load = 0.5\nload = 0.6"),
        with("load = 0.5\n[workload]\ngap = \"1u\""),
        with(""),
        with("load = 0.5\ngap = \"4u\""),
        with("gap = 4"),
        with("gap = \"4\""),
        with("gap = \"4parsec\""),
        with("gap = \"4ms\""),
        with("load = 1e-9"),
        with("load = 0.5\narrivals = \"poison\""),
        with("load = 0.5\narrivals = \"bursty\""),
        with("load = 0.5\narrivals = 3"),
        with("load = 0.5\narrivals = { bursty = { peak = 3.0 } }"),
        with("load = 0.5\narrivals = { bursty = { peak = 1.0, burst = 3.0 } }"),
        with("load = 0.5\narrivals = { bursty = { peak = 2.0, burst = 1e12 } }"),
        with("load = 0.5\narrivals = { bursty = { peak = 2.0, burst = 10.0, quiet = 1.0 } }"),
        with("load = 0.5\n[workload.arrivals.bursty]\npeak = 0.5\nburst = 3.0"),
        with("load = 0.5\nlengths = { constant = \"0pkt\" }"),
        with("load = 0.5\nlengths = { constant = 3 }"),
        with("load = 0.5\nlengths = { constant = \"3\" }"),
        with("load = 0.5\nlengths = { constant = \"3B\" }"),
        with("load = 0.5\nlengths = { constant = \"1000000000000pkt\" }"),
        with("load = 0.5\nlengths = { uniform = [\"5pkt\", \"1pkt\"] }"),
        with("load = 0.5\nlengths = { uniform = [\"5pkt\"] }"),
        with("load = 0.5\nlengths = { uniform = [\"5pkt\", \"7tok\"] }"),
        with("load = 0.5\nlengths = { mixture = [] }"),
        with("load = 0.5\nlengths = { mixture = [[\"1pkt\", 0.5]] }"),
        with("load = 0.5\nlengths = { mixture = [[\"1pkt\", -0.5]] }"),
        with("load = 0.5\nlengths = { mixture = [[\"1pkt\", nan]] }"),
        with("load = 0.5\nlengths = { mixture = [[\"1pkt\", 0.5], [\"1pkt\", 0.5]] }"),
        with("load = 0.5\nlengths = { mixture = [[\"1pkt\"]] }"),
        with("load = 0.5\nlengths = { cdf = \"nowhere.csv\" }"),
        with("load = 0.5\nlengths = { cdf = 3 }"),
        with("load = 0.5\nlengths = { cdf = \"a\", constant = \"3pkt\" }"),
        with("load = 0.5\nlengths = {}"),
        with("load = 0.5\nlengths = { homa = \"w1\" }"),
        with("load = 0.5\npacket = \"3pkt\""),
        with("load = 0.5\npacket = \"1460B\""),
        with("load = 0.5\nflows = 0"),
        with("load = 0.5\nflows = -1"),
        with("load = 0.5\nflows = 1.5"),
        with("load = 0.5\n[workload.closed]\napplications = 4"),
        with("[workload.closed]\napplications = 1000000000000"),
        with("[workload.closed]\nthink = { constant = \"1u\" }"),
        with("[workload.closed]\napplications = 4\nthink = { constant = \"1ms\" }"),
        with("load = 0.5\n[service]"),
        with("load = 0.5\n[service]\nrate = \"10Gbit\"\nper_token = \"1ms\""),
        with("load = 0.5\n[service]\nrate = \"10\""),
        with("load = 0.5\n[service]\nrate = \"0bit\""),
        with("load = 0.5\n[service]\nrate = \"10Gbit\""),
        with("load = 0.5\n[service]\npacket = { constant = \"0u\" }"),
        with("load = 0.5\n[service]\npacket = { shifted_exponential = [\"1u\", \"1ms\"] }"),
        with("load = 0.5\n[service]\npacket = { shifted_exponential = \"1u\" }"),
        with("load = 0.5\n[stop]\npackets = 10_000_000_000_000"),
        with("load = 0.5\n[stop]\npackets = 100_000_000_000"),
        with("load = 0.5\n[stop]\npackets = 1e8"),
        with("load = 0.5\n[stop]\npackets = 0"),
        with("load = 0.5\n[stop]\npackets = 1\nmessages = 1"),
        with("load = 0.5\n[stop]\nprecision = 0.01"),
        with("load = 0.5\n[stop]\nprecision = \"0%\""),
        with("load = 0.5\n[stop]\nreplications = 0"),
        with("load = 0.5\n[stop]\nwarm_up = 1000"),
        with("load = 0.5\n[stop]\nwarm_up = \"10ms\""),
        with("load = 0.5\n[measure]\nverify = \"yes\""),
        with("load = 0.5\n[measure]\nclasses = \"decil\""),
        with("load = 0.5\n[measure]\nclasses = \"trace\""),
        with("load = 0.5\n[measure]\nqueue_period = \"200\""),
        with("load = 0.5\n[measur]\nverify = true"),
        with("[workload.trace]\nfile = \"x.csv\""),
        with("[workload.trace]\nfile = \"x.csv\"\ntime_unit = \"s\"\nlength_unit = \"tok\""),
        with("[workload.trace]\nfile = \"x.csv\"\ntime_unit = \"u\"\nlength_unit = \"pkt\""),
        with("trace = 3"),
    ] {
        println!("{}", refusal(&text));
    }
}
