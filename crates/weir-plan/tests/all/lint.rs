//! Findings about options files: the shipped defaults, the documented example, a long plan on short ports, and a
//! case for each rule.

use weir_core::item::Packet;
use weir_core::registry::packet_discipline;
use weir_core::spec::Spec;
use weir_core::units::{Bytes, Rate};
use weir_plan::opensm::{Finding, Port, Severity, lint, parse, requirements, scenario};
use weir_plan::{Coding, Link, Prefix, Requirements, plan};

const DEFAULTS: &str = include_str!("../../../../data/configs/opensm-qos-defaults.conf");
const EXAMPLE: &str = include_str!("../../../../data/configs/opensm-qos-example.conf");

fn port(mtu: u64, capacity: u32, lanes: u32) -> Port {
    Port { mtu: Bytes::new(mtu), high_capacity: capacity, low_capacity: capacity, lanes }
}

fn found(text: &str, port: Port) -> Vec<Finding> {
    let findings = lint(&parse(text, "a.conf").unwrap_or_else(|error| panic!("{error}")), &port);
    for finding in &findings {
        let is_told = [&finding.what, &finding.why, &finding.remedy].iter().all(|text| !text.is_empty());
        assert!(is_told, "{finding:?}");
    }
    findings
}

/// Severity, rule and line of each finding.
fn rules(text: &str, port: Port) -> Vec<(Severity, &'static str, usize)> {
    let all = found(text, port);
    all.iter().map(|finding| (finding.severity, finding.rule, finding.line.unwrap_or(0))).collect()
}

use Severity::{Error, Note, Warning};

#[test]
fn the_shipped_defaults() {
    let expected = [
        (Note, "qos-off", 3),
        (Warning, "over-capacity", 5),
        (Warning, "weight-below-mtu", 5),
        (Warning, "lane-masked", 5),
        (Warning, "over-capacity", 6),
        (Warning, "weight-below-mtu", 6),
        (Warning, "level-masked", 7),
    ];
    assert_eq!(rules(DEFAULTS, Port::default()), expected);
    // Where all lanes are there and all pairs fit, the weights are left.
    let wide = [(Note, "qos-off", 3), (Warning, "weight-below-mtu", 5), (Warning, "weight-below-mtu", 6)];
    assert_eq!(rules(DEFAULTS, port(4096, 32, 15)), wide);
    // 15 lanes and 8 entries: lanes 8 to 14 are served by nobody.
    let short = found(DEFAULTS, port(2048, 8, 15));
    let cut = short.iter().find(|finding| finding.rule == "over-capacity").expect("cut");
    assert_eq!((cut.severity, cut.column), (Error, Some(47)));
    assert_eq!(cut.what, "lists 15 pairs, of which 8 reach the port");
    assert!(cut.why.ends_with("without any entry: lanes 8, 9, 10, 11, 12, 13, 14"), "{}", cut.why);
    let silent = short.iter().find(|finding| finding.rule == "level-without-entry").expect("silent");
    assert_eq!(
        (silent.line, silent.column, silent.what.as_str()),
        (Some(7), Some(27), "maps service levels 8, 9, 10, 11, 12, 13, 14 to lanes 8, 9, 10, 11, 12, 13, 14")
    );
}

#[test]
fn the_documented_example() {
    let expected = [
        (Note, "qos-off", 4),
        (Note, "high-before-low", 5),
        (Warning, "weight-below-mtu", 6),
        (Error, "level-without-entry", 8),
        (Note, "high-before-low", 10),
        (Warning, "weight-below-mtu", 11),
        (Error, "level-without-entry", 13),
    ];
    assert_eq!(rules(EXAMPLE, port(4096, 8, 15)), expected);
    let all = found(EXAMPLE, port(4096, 8, 15));
    assert!(all[3].what.starts_with("maps service levels 4, 8, 9,"), "{}", all[3].what);
    // With 8 lanes the levels above 7 share lanes, and lane 4 alone has none.
    let eight = found(EXAMPLE, port(4096, 8, 8));
    let silent = eight.iter().find(|finding| finding.rule == "level-without-entry").expect("lane 4");
    assert_eq!(silent.what, "maps service levels 4, 12 to lane 4");
}

/// Table 1 for 64 entries, on a port of fewer.
#[test]
fn a_plan_longer_than_the_port() {
    let mut slots = vec![0; 64];
    for (lane, (first, step)) in
        [(0, 2), (1, 4), (3, 8), (7, 16), (15, 32), (31, 64), (63, 64)].into_iter().enumerate()
    {
        (first..64).step_by(step).for_each(|at| slots[at] = lane);
    }
    let pairs: Vec<String> = slots.iter().map(|lane| format!("{lane}:128")).collect();
    let text = format!(
        "qos TRUE\nqos_vlarb_high 0:0\nqos_vlarb_low {}\nqos_sl2vl 0,1,2,3,4,5,6,15,15,15,15,15,15,15,15,15\n",
        pairs.join(",")
    );
    let cut = |capacity| found(&text, port(2048, capacity, 8));
    let eight = cut(8);
    assert_eq!(eight[0].rule, "over-capacity");
    assert!(eight[0].why.contains("without any entry: lanes 4, 5, 6"), "{}", eight[0].why);
    assert_eq!(eight[1].what, "maps service levels 4, 5, 6 to lanes 4, 5, 6");
    let all = cut(64);
    assert_eq!((all[0].rule, all[0].severity), ("second-block", Error));
    assert_eq!(all[0].what, "lists 64 pairs, of which 32 reach the port");
    assert!(all[0].why.contains("without any entry: lane 6"), "{}", all[0].why);
    assert!(cut(63)[0].what.contains("of which 63"));
}

#[test]
fn a_case_for_each_rule() {
    let wide = port(2048, 32, 15);
    let map = "qos_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n";
    let one = "qos_vlarb_low 0:32\nqos_vlarb_high 0:0\n";
    let rules_of = |lines: &str, port: Port| {
        let text = format!("qos TRUE\n{lines}\n");
        rules(&text, port).into_iter().map(|(severity, rule, _)| (severity, rule)).collect::<Vec<_>>()
    };
    let clean: [(Severity, &str); 0] = [];
    assert_eq!(rules_of(&format!("{one}{map}"), wide), clean);
    for (lines, expected) in [
        (format!("qos_vlarb_low 15:32\nqos_vlarb_high 0:0\n{map}"), vec![(Error, "lane-range")]),
        (format!("qos_vlarb_low 0:256,0:32\nqos_vlarb_high 0:0\n{map}"), vec![(Error, "weight-range")]),
        (format!("{one}{map}qos_max_vls 16"), vec![(Error, "out-of-range")]),
        (format!("{one}{map}qos_high_limit 256"), vec![(Error, "out-of-range")]),
        (format!("{one}qos_sl2vl 0,0"), vec![(Warning, "level-count")]),
        (format!("{one}{}", map.replace("0,0\n", "0,0,0\n")), vec![(Warning, "level-count")]),
        (format!("{one}{}", map.replace("0,0\n", "0,16\n")), vec![(Error, "level-range")]),
        (format!("{one}{map}qos_vlarb_lo 1:4"), vec![(Error, "unknown-option")]),
        (format!("{one}{map}{map}"), vec![(Warning, "repeated-option")]),
        (
            format!("qos_vlarb_high 0:32\nqos_vlarb_low 1:32\nqos_high_limit 255\n{map}"),
            vec![(Error, "starvation")],
        ),
        (format!("qos_vlarb_high 0:32\nqos_vlarb_low 0:32\nqos_high_limit 255\n{map}"), vec![]),
        (
            format!("qos_vlarb_high 0:32\nqos_vlarb_low 1:32\nqos_high_limit 9\n{map}"),
            vec![(Note, "high-before-low")],
        ),
        (
            format!("qos_vlarb_high 0:32\nqos_vlarb_low 1:32\nqos_high_limit 17\n{map}"),
            vec![(Warning, "high-before-low")],
        ),
        (format!("qos FALSE\n{one}{map}"), vec![(Error, "qos-off")]),
        (
            format!("max_op_vls 3\n{one}qos_sl2vl 0,5,0,0,0,0,0,0,0,0,0,0,0,0,0,0"),
            vec![(Note, "lanes-limited"), (Error, "level-without-entry"), (Warning, "level-masked")],
        ),
        (
            format!("max_op_vls 3\nqos_vlarb_high 0:0\nqos_vlarb_low 5:32,0:32\n{map}"),
            vec![(Note, "lanes-limited"), (Warning, "lane-masked")],
        ),
        (
            format!("qos_max_vls 4\nqos_vlarb_high 0:0\nqos_vlarb_low 5:32,0:32\n{map}"),
            vec![(Warning, "max-vls")],
        ),
        (format!("max_op_vls 0\n{one}{map}"), vec![(Error, "out-of-range")]),
        (format!("max_op_vls 8\n{one}{map}"), vec![(Error, "out-of-range")]),
        (format!("max_op_vls VL0-3\n{one}{map}"), vec![(Error, "not-a-number")]),
        (format!("{one}{map}qos_max_vls 8 lanes"), vec![(Error, "not-a-number")]),
        (format!("{one}{map}qos_high_limit none"), vec![(Error, "not-a-number")]),
        (format!("{one}{map}bogus 1\nbogus 2"), vec![(Note, "unknown-option")]),
        (format!("{map}qos_max_vls 15"), vec![(Note, "built-in-tables")]),
    ] {
        assert_eq!(rules_of(&lines, wide), expected, "{lines}");
    }
    let long = format!("qos_vlarb_low {}\nqos_vlarb_high 0:0\n{map}", vec!["0:32"; 70].join(","));
    assert_eq!(rules_of(&long, port(2048, 63, 15)), [(Error, "over-64"), (Warning, "over-capacity")]);
}

/// Finding B8: a comment behind a value is none of it.
#[test]
fn b8_comments_behind_values_are_no_part_of_them() {
    let text = "qos TRUE # on\nqos_vlarb_low 0:64,1:64 # two\nqos_vlarb_high 0:0#none\n\
                qos_sl2vl 0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0 # 16\n";
    let found = rules(text, Port::default());
    assert!(found.is_empty(), "{found:?}");
}

/// Finding B8: a space before a comma makes OpenSM program something else.
#[test]
fn b8_what_is_misread_is_told_with_what_is_programmed() {
    let text = "qos TRUE\nqos_vlarb_low 0:64 ,1:64,2:64\nqos_vlarb_high 0:0\nqos_sl2vl 0 ,1,2,0,0,0,0,0,0,0,0,0,0,0,0,0\n";
    let all = found(text, Port::default());
    let misread: Vec<&Finding> = all.iter().filter(|finding| finding.rule == "misread").collect();
    assert_eq!(misread.len(), 2, "{all:?}");
    assert!(misread.iter().all(|finding| finding.severity == Error));
    assert_eq!((misread[0].line, misread[0].column), (Some(2), Some(15)));
    assert_eq!(misread[0].what, "has `0:64`, which has a space behind a number");
    assert!(misread[0].why.ends_with("it reads `0:64,0:1,4:2,4:0`"), "{}", misread[0].why);
    assert!(misread[1].why.ends_with("it reads `0,0,1,2,0,0,0,0,...`"), "{}", misread[1].why);
}

/// Finding B8: one malformed pair does not hide what else is wrong.
#[test]
fn b8_a_malformed_pair_hides_nothing() {
    let text =
        "qos TRUE\nqos_vlarb_low 0:64,1-64,2:300\nqos_vlarb_high 0:0\nqos_sl2vl 0,1,2\nqos_vlarb_lo 1:4\n";
    let rules = rules(text, Port::default());
    for rule in [
        (Error, "misread", 2),
        (Error, "weight-range", 2),
        (Warning, "level-count", 4),
        (Error, "unknown-option", 5),
    ] {
        assert!(rules.contains(&rule), "{rule:?} {rules:?}");
    }
}

/// Finding B8: an options file without tables makes neither a request nor a scenario, nor does one that is misread.
#[test]
fn b8_nothing_is_imported_that_is_not_written() {
    let refused = |text: &str, prefix| {
        let options = parse(text, "a.conf").expect("options");
        let one = requirements(&options, "a.conf", prefix, &Port::default(), LINK).expect_err(text);
        assert_eq!(scenario(&options, "a.conf", prefix, &Port::default(), LINK), Err(one.clone()));
        one.0
    };
    assert!(
        refused("qos TRUE\n", Prefix::All).starts_with("it sets no table for qos: neither qos_vlarb_low nor")
    );
    assert!(refused("qos_swe_vlarb_low 1:32\n", Prefix::Adapters).starts_with("it sets no table for qos_ca"));
    let misread = refused("qos_vlarb_low 0:64 ,1:64\n", Prefix::Adapters);
    assert!(
        misread.starts_with("line 1, column 15: qos_vlarb_low is not read as it is written: `0:64` "),
        "{misread}"
    );
}

#[test]
fn a_prefix_answers_for_what_it_sets_itself() {
    let general = "qos TRUE\nqos_high_limit 255\nqos_vlarb_high 0:32\nqos_vlarb_low 1:32\n\
                   qos_sl2vl 0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n";
    let rules =
        rules(&format!("{general}qos_ca_vlarb_low 1:32,2:32\nqos_swe_max_vls 8\n"), port(2048, 8, 15));
    // The limit starves the low table of the general ports and of the adapters; switches add nothing.
    assert_eq!(rules, [(Error, "starvation", 2), (Error, "starvation", 2)]);
}

const LINK: Link = Link { rate: Rate::new(10_000_000_000), coding: Coding::EightOfTen };

#[test]
fn a_file_becomes_a_request_that_can_be_planned() {
    for (text, prefix, classes) in [(DEFAULTS, Prefix::All, 8), (EXAMPLE, Prefix::Adapters, 7)] {
        let options = parse(text, "a.conf").expect("valid");
        let text = requirements(&options, "a.conf", prefix, &Port::default(), LINK).expect("served");
        let asked =
            Requirements::from_toml(&text, "plan.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
        let plan = plan(&asked);
        assert_eq!((plan.classes.len(), plan.refused.len()), (classes, 0), "{text}");
    }
}

#[test]
fn a_file_becomes_a_scenario() {
    let options = parse(EXAMPLE, "a.conf").expect("valid");
    let text = scenario(&options, "a.conf", Prefix::Adapters, &Port::default(), LINK).expect("served");
    let table =
        "table_weighted:table=-/1@64cr/2@128cr/3@192cr/-/4@64cr/5@64cr/6@64cr,high=0@4cr,high_limit=6";
    assert!(text.contains(table), "{text}");
    let spec: Spec = table.parse().expect("a spec");
    assert!(packet_discipline::<Packet>(&spec).is_ok());
    let nothing = parse("qos_vlarb_low 0:0\nqos_vlarb_high 0:0\n", "a.conf").expect("valid");
    assert!(scenario(&nothing, "a.conf", Prefix::All, &Port::default(), LINK).is_err());
    assert!(requirements(&nothing, "a.conf", Prefix::All, &Port::default(), LINK).is_err());
}
