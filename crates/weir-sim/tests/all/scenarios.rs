//! Refusals, word by word, and what accepted scenarios become.

use std::path::Path;

use weir_core::registry::{MESSAGE, WRAPPER};
use weir_document::quantity::NANOS_PER_UNIT;
use weir_document::testing::{Folder, assert_refusals, filled, names};
use weir_port::model::{
    Clock, Input, LatencyEnd, LengthUnit, Limit, PacketTime, PortScenario, Service, WarmUp, WholeTime,
};
use weir_sim::{Scenario, ScenarioError, schema};

fn read(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::from_toml(text, "s.toml", Path::new(""))
}

fn accepted(text: &str) -> Scenario {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn port(scenario: &Scenario) -> &PortScenario {
    scenario.port().expect("a scenario of the port")
}

fn accepted_port(text: &str) -> PortScenario {
    port(&accepted(text)).clone()
}

/// A scenario of five lines with `workload` as its table, and what follows.
fn with(workload: &str) -> String {
    format!("weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\n{workload}\n")
}

/// Each block of `refusals.txt` is a scenario (`...` stands for the usual first lines) and its refusal.
#[test]
fn refusals_name_line_column_key_value_and_remedy() {
    let disciplines = format!("`{}`", names(MESSAGE.iter().chain(WRAPPER)));
    let start = [("...", "weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo\"]")];
    let table = include_str!("refusals.txt").replace("{disciplines}", &disciplines);
    assert_refusals(&table, |text| read(&filled(&start, text)));
}

const REPORT: &str = r#"
weir = 1
model = "port"
title = "Section 15 at 95 %"
disciplines = ["fifo", "rr", "rr_head", "sf", "alpha(10)"]
reference = "sf"

[workload]
load = 0.95

[stop]
packets = 100_000_000
replications = 8
"#;

/// Finding C6: what a user writes is what results call it, and the one text of all its spellings stands next to it.
#[test]
fn c6_disciplines_keep_the_name_that_they_are_written_by() {
    let written = ["in_order(sf)", "las:1ms", "alpha:10.0", "rr(quantum=2ms)"];
    let text = format!(
        "weir = 1\nmodel = \"port\"\ndisciplines = {written:?}\nreference = \"alpha:10\"\n\
         service = {{ per_token = \"1ms\" }}\nworkload = {{ load = 0.5, lengths = {{ constant = \"5tok\" }} }}\n"
    );
    let scenario = accepted(&text);
    assert_eq!(scenario.disciplines(), written);
    let canonical = ["in_order:sf", "las:1000000", "alpha:10", "rr:2000000"];
    assert_eq!(scenario.frame().canonical, canonical);
    assert!(scenario.frame().scenario.contains("in_order:sf"), "{}", scenario.frame().scenario);
    assert_eq!(port(&scenario).reference, 2);
    // All spellings of one discipline are one scenario, and one list has it once.
    let other = accepted(&text.replace("alpha:10.0", "alpha(alpha=1e1)"));
    assert_eq!(other.frame().fingerprint, scenario.frame().fingerprint);
    let twice = read(&text.replace("las:1ms", "alpha:10")).expect_err("twice the same").to_string();
    assert!(twice.contains("lists `alpha:10` twice"), "{twice}");
}

#[test]
fn the_report_takes_the_defaults() {
    let scenario = accepted(REPORT);
    let port = port(&scenario);
    assert_eq!((port.reference, port.disciplines[4].name.as_str()), (3, "alpha(10)"));
    assert_eq!((port.clock, port.unit, port.seed), (Clock::PacketServices, LengthUnit::Packets, 1));
    assert_eq!(port.service, Service::Packets(PacketTime::REPORT));
    assert_eq!(port.classes.names("pkt").len(), 6);
    assert_eq!((port.load, &port.statement), (Some(0.95), &None));
    let Input::Open(open) = &port.input else { panic!("{:?}", port.input) };
    assert!((open.mean_gap - 4.7e9 / 0.95).abs() < 1.0);
    assert_eq!(port.stop.limit, Limit::Packets(100_000_000));
    assert_eq!((port.stop.replications, port.stop.warm_up, port.stop.precision), (8, WarmUp::Detected, None));
    assert_eq!(port.measure.latency, LatencyEnd::Acceptance);
    assert_eq!(port.measure.queue_period.get(), 200 * NANOS_PER_UNIT);
    assert!(port.arrivals(0).expect("valid").is_some() && port.services(0).expect("valid").is_some());
}

#[test]
fn a_load_of_one_gets_a_statement() {
    for (load, has_statement) in [("0.999", false), ("1", true), ("1.5", true)] {
        let scenario = accepted(&with(&format!("load = {load}")));
        assert_eq!(port(&scenario).statement.is_some(), has_statement, "{load}");
    }
    let scenario = accepted(&with("gap = \"4u\""));
    let statement = port(&scenario).statement.clone().expect("4.7 packets come in the time of 4");
    assert!(statement.contains("no mean exists") && statement.contains("lower workload.load"), "{statement}");
}

#[test]
fn bytes_at_a_rate_are_served_whole_or_in_packets() {
    let text = |packet: &str| {
        with(&format!(
            "load = 0.5\nlengths = {{ constant = \"3000B\" }}\n{packet}\n[service]\nrate = \"10Gbit\""
        ))
    };
    let whole = accepted_port(&text(""));
    assert_eq!((whole.unit, whole.measure.latency), (LengthUnit::Bytes, LatencyEnd::Completion));
    assert!(matches!(whole.service, Service::Whole(WholeTime::Rate(_))));
    assert!((whole.service.mean_per_unit() - 0.8).abs() < 1e-12);
    let packets = accepted_port(&text("packet = \"1460B\""));
    let Input::Open(open) = &packets.input else { panic!("{:?}", packets.input) };
    assert_eq!((packets.unit, open.lengths.mean()), (LengthUnit::Packets, 3.0));
    assert_eq!(packets.service.mean_per_unit(), 1168.0);
}

#[test]
fn a_quantum_may_be_a_span_where_messages_are_served_whole() {
    let text = with("load = 0.5\nlengths = { constant = \"100tok\" }\n[service]\nper_token = \"1ms\"");
    let listed = "reference = \"las:1000us\"\ndisciplines = [\"fifo\", \"las:quantum=1ms\", \"outstanding(rr:2ms,limit=3)\"]";
    let port = accepted_port(&text.replace("disciplines = [\"fifo\"]", listed));
    let names: Vec<&str> = port.disciplines.iter().map(|discipline| discipline.name.as_str()).collect();
    assert_eq!(names, ["fifo", "las:quantum=1ms", "outstanding(rr:2ms,limit=3)"]);
    let canonical = |place: usize| port.disciplines[place].canonical.as_str();
    assert_eq!([canonical(1), canonical(2)], ["las:1000000", "outstanding(rr:2000000,limit=3)"]);
    assert_eq!(port.reference, 1);
}

#[test]
fn every_kind_of_workload_is_read() {
    for workload in [
        "load = 0.5\narrivals = \"deterministic\"\nflows = 4",
        "load = 0.5\narrivals = { bursty = { peak = 3.0, burst = 20.0 } }",
        "load = 0.5\nlengths = { mixture = [[\"1pkt\", 0.9], [\"20pkt\", 0.1]] }",
        "load = 0.5\nlengths = { uniform = [\"1pkt\", \"5pkt\"] }",
        "load = 0.5\nlengths = { exponential = \"5pkt\" }\n[service]\npacket = { exponential = \"1us\" }",
        "load = 0.5\n[service]\npacket = { constant = \"1u\" }",
        "[workload.closed]\napplications = 8\nthink = { exponential = \"10u\" }",
        "load = 0.5\n[stop]\nmessages = 5000\nprecision = \"1%\"\nwarm_up = \"100u\"\n[measure]\nverify = true",
    ] {
        let scenario = accepted(&with(workload));
        assert_eq!(accepted(&scenario.frame().scenario).frame(), scenario.frame());
    }
}

const TRACE: &str = "load = 0.8\n[workload.trace]\nfile = \"t.csv\"\ntime_unit = \"s\"\nlength_unit = \"tok\"\n\
                     [service]\nper_token = \"1ms\"";

#[test]
fn a_trace_is_scaled_to_its_load() {
    let folder = Folder::new("trace");
    folder.write("t.csv", "time,length\n0,100\n1,300\n2,200\n");
    let scenario = Scenario::from_file(&folder.write("s.toml", with(TRACE))).expect("valid");
    let scenario = port(&scenario);
    let Input::Trace(replay) = &scenario.input else { panic!("{:?}", scenario.input) };
    assert!((replay.time_scale - 0.2 / 0.8).abs() < 1e-12);
    assert_eq!((scenario.load, scenario.stop.limit), (Some(0.8), Limit::Messages(3)));
    assert_eq!((scenario.stop.warm_up, scenario.unit), (WarmUp::None, LengthUnit::Tokens));
    assert!(scenario.services(0).expect("valid").is_none());
}

#[test]
fn a_trace_ends_by_itself() {
    let folder = Folder::new("ends");
    folder.write("t.csv", "time,length\n0,100\n1,300\n");
    for key in ["packets", "messages"] {
        let text = format!("{}\n[stop]\n{key} = 1", with(TRACE));
        let error = Scenario::from_file(&folder.write("s.toml", text)).expect_err("refused").to_string();
        let expected = format!(
            "s.toml:14:{}: stop.{key} is 1, has no effect with workload.trace, which ends by itself: remove \
             it",
            key.len() + 4
        );
        assert!(error.ends_with(&expected), "{error}");
    }
}

#[test]
fn the_alphas_of_a_trace_reach_the_discipline() {
    let folder = Folder::new("alphas");
    folder.write("t.csv", "time,length,alpha\n0,100,10\n1,300,0.5\n2,200,10\n");
    let text = with(TRACE).replace("[\"fifo\"]", "[\"fifo\", \"alpha:3\", \"in_order(alpha:3)\"]");
    let scenario = Scenario::from_file(&folder.write("s.toml", text)).expect("valid");
    let disciplines = &port(&scenario).disciplines;
    assert_eq!(disciplines[1].name, "alpha:3");
    assert_eq!(disciplines[1].spec.to_string(), "alpha:3,classes=0.5/10");
    assert_eq!(disciplines[2].spec.to_string(), "in_order(alpha(3,classes=0.5/10))");
}

#[test]
fn a_trace_of_too_many_classes_is_refused() {
    let folder = Folder::new("classes");
    let path = folder.write("s.toml", with(TRACE));
    let read = |column: &str, count: u32| {
        let rows: Vec<String> = (0..count).map(|i| format!("{i},100,{i}.5\n")).collect();
        folder.write("t.csv", format!("time,length,{column}\n{}", rows.concat()));
        Scenario::from_file(&path).map(|read| port(&read).classes.len()).map_err(|error| error.to_string())
    };
    for column in ["alpha", "class"] {
        assert_eq!(read(column, 64), Ok(64));
    }
    let alphas = "s.toml:7:8: workload.trace.file is \"t.csv\", has 65 pairs of class and alpha, must have at most 64: \
                  round its column of alphas, or name fewer classes";
    let classes = "s.toml:7:8: workload.trace.file is \"t.csv\", has 65 classes, must have at most 64: name fewer, or \
                   write `classes = \"decile\"` in [measure]";
    for (column, expected) in [("alpha", alphas), ("class", classes)] {
        let error = read(column, 65).expect_err("too many");
        assert!(error.ends_with(expected), "{error}");
    }
    folder.write("s.toml", format!("{}\n[measure]\nclasses = \"decile\"", with(TRACE)));
    assert_eq!(read("class", 65), Ok(1), "all of one length");
}

#[test]
fn the_fingerprint_follows_the_data() {
    let folder = Folder::new("fingerprint");
    let path = folder.write("s.toml", with(TRACE));
    let fingerprint = |content| {
        folder.write("t.csv", content);
        Scenario::from_file(&path).expect("valid").frame().fingerprint.clone()
    };
    let first = fingerprint("time,length\n0,100\n1,300\n");
    assert_eq!(first, fingerprint("time,length\n0,100\n1,300\n"));
    assert_ne!(first, fingerprint("time,length\n0,100\n1,301\n"));
}

#[test]
fn refusals_of_data_files_name_their_own_place() {
    let folder = Folder::new("refusals");
    let path = folder.write("s.toml", with(TRACE));
    folder.write("t.csv", "time,length\n1,100\n0,300\n");
    let error = Scenario::from_file(&path).expect_err("unsorted").to_string();
    assert!(error.contains("t.csv:3:1: time 0 is before the time of the row above"), "{error}");
    folder.write("w.csv", "size_bytes,cdf\n100,0.5\n200,0.4\n");
    let cdf = with("load = 0.5\nlengths = { cdf = \"w.csv\" }\n[service]\nrate = \"1Gbit\"");
    let error = Scenario::from_file(&folder.write("c.toml", cdf)).expect_err("decreasing");
    assert!(error.file.ends_with("w.csv") && error.line == Some(3), "{error}");
    assert_eq!((error.key.as_deref(), error.remedy.as_str()), (Some("cdf"), "sort the points by size"));
}

#[test]
fn a_file_that_cannot_be_read_is_refused() {
    let folder = Folder::new("unreadable");
    let error = |path: &Path| Scenario::from_file(path).expect_err("unreadable").to_string();
    let missing = error(&folder.path().join("none.toml"));
    assert!(
        missing.ends_with(
            "none.toml: cannot be read (no such file or directory): check the path and its permissions"
        ),
        "{missing}"
    );
    assert!(error(folder.path()).contains("cannot be read (is a directory)"));
    let bytes = error(&folder.write("b.toml", b"weir = 1\n# \xff\n"));
    assert!(bytes.ends_with("b.toml:2:1: is not UTF-8 text: save it as UTF-8"), "{bytes}");
    folder.write("s.toml", with(TRACE.replace("t.csv", ".").as_str()));
    assert!(error(&folder.path().join("s.toml")).contains("workload.trace.file is \".\", cannot be read"));
}

#[test]
fn keys_can_be_replaced() {
    let folder = Folder::new("replaced");
    let path = folder.write("s.toml", REPORT);
    let replaced = [("stop.packets", "5_000"), ("workload.lengths", "report"), ("reference", "rr")];
    let scenario = Scenario::from_file_with(&path, &replaced).expect("valid");
    let port = port(&scenario);
    assert_eq!((port.stop.limit, port.reference), (Limit::Packets(5000), 1));
    let error =
        |key, value| Scenario::from_file_with(&path, &[(key, value)]).expect_err("refused").to_string();
    let load = error("workload.load", "-1");
    assert!(load.ends_with("s.toml: workload.load is -1, must be a number above 0 and at most 1000000: write a load such as 0.95"), "{load}");
    assert!(error("workload.load.x", "1").contains("workload.load.x is not a table that can hold a key"));
    assert!(error("stop.pakets", "1").contains("stop.pakets is not a key here: did you mean `packets`?"));
}

#[test]
fn the_data_of_the_repository_is_read() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let text = |lengths: &str| {
        with(&format!("load = 0.8\nlengths = {{ cdf = \"sizes/{lengths}\" }}\n[service]\nrate = \"25Gbit\""))
    };
    for file in std::fs::read_dir(data.join("sizes")).expect("size distributions") {
        let name = file.expect("an entry").file_name().into_string().expect("plain names");
        if name.ends_with(".csv") {
            let read = Scenario::from_toml(&text(&name), "s.toml", &data);
            assert!(read.is_ok(), "{name}: {read:?}");
        }
    }
    for name in ["azure-llm-2023-code.csv.gz", "azure-llm-2023-conv.csv.gz"] {
        let workload = TRACE
            .replace(
                "t.csv\"",
                &format!("requests/{name}\"\ntime = \"TIMESTAMP\"\nlength = \"ContextTokens\""),
            )
            .replace("\"s\"", "\"timestamp\"");
        let scenario = Scenario::from_toml(&with(&workload), "s.toml", &data).expect(name);
        let Input::Trace(replay) = &port(&scenario).input else { panic!("a trace") };
        assert!(replay.trace.len() > 8_000 && port(&scenario).classes.len() == 10, "{name}");
    }
}

#[test]
fn the_schema_describes_every_key() {
    let schema = schema();
    for key in [
        "weir",
        "FabricScenario",
        "NodeScenario",
        "ServerScenario",
        "disciplines",
        "workload",
        "shifted_exponential",
        "warm_up",
        "time_unit",
        "queue_period",
        "group",
    ] {
        assert!(schema.contains(&format!("\"{key}\"")), "{key}");
    }
    assert!(schema.contains("The offered load") && schema.contains("additionalProperties"));
}
