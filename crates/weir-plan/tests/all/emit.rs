//! Emitted files and commands, word by word, and what they say that the target cannot keep.

use super::common::{TABLE_1, asked, request};
use weir_plan::{Emission, Form, emit, plan};

fn emitted(text: &str, form: Form) -> Emission {
    let asked = asked(text);
    emit(&plan(&asked), form, &asked.target).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The lines that are no comments.
fn lines(emission: &Emission) -> Vec<&str> {
    emission.text.lines().filter(|line| !line.starts_with('#')).collect()
}

/// Table 1 for 32 entries: D64 and D64' are one class.
fn short() -> String {
    let (start, _) = TABLE_1.split_once("[[class]]\nname = \"D64\"").expect("there");
    let start = start.replace("entries = 64", "entries = 32");
    format!("{start}[[class]]\nname = \"rest\"\nshare = \"6.25%\"\ndistance = 32\n[target]\nlanes = 8\n")
}

#[test]
fn opensm() {
    let emission = emitted(&short(), Form::Opensm);
    let low = "0:32,1:64,0:32,2:128,0:32,1:64,0:32,3:128,0:32,1:64,0:32,2:128,0:32,1:64,0:32,4:128,0:32,1:64,0:32,\
               2:128,0:32,1:64,0:32,3:128,0:32,1:64,0:32,2:128,0:32,1:64,0:32,5:128";
    assert_eq!(
        lines(&emission),
        [
            "qos TRUE",
            "qos_max_vls 8",
            "qos_high_limit 0",
            "qos_vlarb_high 0:0",
            &format!("qos_vlarb_low {low}"),
            "qos_sl2vl 0,1,2,3,4,5,15,15,15,15,15,15,15,15,15,15",
        ]
    );
    assert!(
        emission
            .text
            .starts_with("# Table 1. Written by `weir plan`.\n# D2: lane 0, 25% of the link, distance 2\n")
    );
    assert!(emission.lost[0].starts_with("exact shares"), "{:?}", emission.lost);
    assert!(emission.lost.iter().all(|lost| emission.text.contains(lost)));
    let switches = format!("{}prefix = \"qos_swe\"\n", short());
    assert!(emitted(&switches, Form::Opensm).text.contains("\nqos_swe_vlarb_low 0:32,"));
}

#[test]
fn pcie() {
    assert_eq!(
        lines(&emitted(&short(), Form::Pcie)),
        [
            "setpci -s BDF ECAP_VC+30.L=30102010",
            "setpci -s BDF ECAP_VC+34.L=40102010",
            "setpci -s BDF ECAP_VC+38.L=30102010",
            "setpci -s BDF ECAP_VC+3c.L=50102010",
            "setpci -s BDF ECAP_VC+0c.W=0003",
        ]
    );
    // Eight entries are repeated, which keeps the distances; shares go by entries.
    let eight = emitted(
        &request(
            "entries = 8;k = 2;w = 4",
            &["share = \"40%\";distance = 2", "share = \"60%\";distance = 2;[target];device = \"01:00.0\""],
        ),
        Form::Pcie,
    );
    assert_eq!(lines(&eight)[3], "setpci -s 01:00.0 ECAP_VC+3c.L=10101010");
    assert!(
        eight
            .lost
            .iter()
            .any(|lost| lost.contains("the share of `c1`, 59.96") && lost.ends_with("it gets 50%")),
        "{:?}",
        eight.lost
    );
}

#[test]
fn tc() {
    assert_eq!(
        lines(&emitted(TABLE_1, Form::TcEts)),
        [
            "tc qdisc replace dev IF root handle 1: ets bands 7 quanta 16896 16896 16896 8448 4224 2112 2112 priomap 0 1 \
          2 3 4 5 6 6 6 6 6 6 6 6 6 6"
        ]
    );
    let drr =
        emitted(&format!("{TABLE_1}service_levels = [6, 9]\n[target]\ninterface = \"eth0\"\n"), Form::TcDrr);
    let lines = lines(&drr);
    assert_eq!(lines.len(), 1 + 7 + 8);
    assert_eq!(lines[0], "tc qdisc replace dev eth0 root handle 1: drr");
    assert_eq!(lines[1], "tc class add dev eth0 parent 1: classid 1:1 drr quantum 16896");
    assert_eq!(
        lines[15],
        "tc filter add dev eth0 parent 1: protocol all prio 1 basic match 'meta(priority eq 9)' flowid 1:7"
    );
    assert!(drr.lost[0].contains("distances: every class waits for the whole frame"), "{:?}", drr.lost);
}

#[test]
fn dcb() {
    let emission = emitted(TABLE_1, Form::Dcb);
    assert_eq!(
        lines(&emission),
        [
            "dcb ets set dev IF willing off tc-tsa all:ets tc-bw 0:25 1:25 2:25 3:13 4:6 5:3 6:3 7:0 prio-tc 0:0 1:1 2:2 \
          3:3 4:4 5:5 6:6 7:0"
        ]
    );
    assert!(
        emission.lost.contains(&"the share of `D16`, 12.5%: it becomes 13%".to_owned()),
        "{:?}",
        emission.lost
    );
    // Rounded up, what is asked for makes 103 %.
    assert!(
        emission.lost.contains(&"the share of `D32`, 6.25%: not met, it becomes 6%".to_owned()),
        "{:?}",
        emission.lost
    );
}

/// Finding B7: what is written for an adapter keeps what was asked for; bounds are of what is written.
#[test]
fn b7_dcb_bounds_are_of_the_percents_that_are_written() {
    let classes =
        ["share = \"1.4%\";latency = \"110us\"", "share = \"40%\"", "share = \"40%\"", "share = \"10%\""];
    let text = request("entries = 64;k = 2;w = 16", &classes) + "[target]\nform = \"dcb\"\n";
    let asked = asked(&text);
    let plan = plan(&asked);
    assert!(plan.refused.is_empty(), "{:?}", plan.refused);
    let percents: Vec<u64> = plan.classes.iter().filter_map(|class| class.percent).collect();
    assert_eq!((percents.len(), percents.iter().sum::<u64>()), (4, 100));
    for (class, percent) in plan.classes.iter().zip(&percents) {
        assert!(class.share >= class.requested.share, "{class:?}");
        assert_eq!(class.share.parts(), percent * 10_000_000);
        // Quanta are exactly as the percents are.
        assert_eq!(class.quantum.get() * percents[0], plan.classes[0].quantum.get() * percent);
        let others = plan.frame.get() - class.quantum.get();
        assert_eq!(class.bounds.round_robin.total.get(), others + 3 * 31 + 2 * 32);
        assert!(class.requested.latency.is_none_or(|asked| class.bounds.round_robin.latency <= asked));
    }
    let written = emit(&plan, Form::Dcb, &asked.target).expect("written").text;
    let part = percents.iter().enumerate().map(|(lane, percent)| format!("{lane}:{percent}"));
    assert!(written.contains(&part.collect::<Vec<_>>().join(" ")), "{written}");
    // 1 % for the first would have bounded it by 99 quanta of a packet and more.
    assert!(percents[0] >= 2, "{percents:?}");
}

/// Finding B7: where no whole percents keep a latency, the class is refused; where none keep the shares, it is said.
#[test]
fn b7_dcb_says_what_no_percents_keep() {
    let dcb = |classes: &[&str]| {
        let text = request("entries = 64;k = 2;w = 16", classes) + "[target]\nform = \"dcb\"\n";
        plan(&asked(&text))
    };
    let late = dcb(&["share = \"20%\";latency = \"5us\"", "share = \"70%\""]);
    let reason = &late.refused[0].reason;
    assert!(reason.ends_with("and no whole percents keep the latencies of all"), "{reason}");
    let short = dcb(&["share = \"33.5%\"", "share = \"33.5%\"", "share = \"32.5%\""]);
    assert!(short.refused.is_empty());
    assert!(short.classes.iter().any(|class| class.share < class.requested.share));
    assert!(short.notes.iter().any(|note| note.contains("whole percents are written")), "{:?}", short.notes);
}

/// Finding B7: the shares of a plan for Linux are those of the quanta that are written.
#[test]
fn b7_tc_shares_are_of_the_quanta_that_are_written() {
    let classes = ["share = \"1.1%\"", "share = \"33.3%\"", "share = \"61.7%\""];
    for form in [Form::TcEts, Form::TcDrr] {
        let text = request("entries = 32;k = 2;w = 8", &classes) + &format!("[target]\nform = \"{form}\"\n");
        let plan = plan(&asked(&text));
        let frame: u64 = plan.classes.iter().map(|class| class.quantum.get()).sum();
        assert_eq!((plan.frame.get(), plan.classes.len()), (frame, 3));
        for class in &plan.classes {
            let written = u128::from(class.quantum.get()) * 1_000_000_000 / u128::from(frame);
            assert_eq!(u128::from(class.share.parts()), written, "{form} {}", class.name);
        }
    }
}

/// Finding B9: the smallest quantum holds a packet of the MTU with the header that Linux counts.
#[test]
fn b9_tc_quanta_have_room_for_the_header() {
    for mtu in [1500_u64, 2048, 1522, 9000] {
        let text = request("entries = 16;k = 2;w = 4", &["share = \"20%\"", "share = \"50%\""])
            .replace("2048B", &format!("{mtu}B"));
        let written = emitted(&text, Form::TcEts);
        let (_, quanta) = lines(&written)[0].split_once("quanta ").expect("quanta");
        let least = quanta.split(' ').map_while(|each| each.parse::<u64>().ok()).min().expect("numbers");
        assert!((mtu + 14..mtu + 14 + 64).contains(&least), "{mtu} {least}");
        assert!(written.lost.iter().any(|lost| lost.contains("segmentation offload")), "{:?}", written.lost);
    }
}

/// Finding B9: the service levels that are dropped are named in the plan, not in a comment alone.
#[test]
fn b9_dropped_service_levels_are_noted() {
    let text =
        request("entries = 8;k = 2;w = 4", &["share = \"20%\"", "share = \"50%\";service_levels = [1, 3]"]);
    let noted = |text: &str| plan(&asked(text)).notes;
    let opensm = noted(&format!("{text}[target]\nform = \"opensm\"\n"));
    let start = "packets of service levels 2, 4 to 15, which no class lists, are dropped";
    assert!(opensm[0].starts_with(start), "{opensm:?}");
    assert_eq!(noted(&text), [""; 0]);
    let whole = text.replace("[1, 3]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]");
    assert_eq!(noted(&format!("{whole}[target]\nform = \"opensm\"\n")), [""; 0]);
}

#[test]
fn scenarios() {
    let text = emitted(TABLE_1, Form::Scenario).text;
    let distances = "\"dtable:distances=2/4/8/16/32/64/64,weights=32cr/64cr/128cr/128cr/128cr/128cr/128cr,entries=64,\
                     mtu=2048B\"";
    for part in [
        distances,
        "reference = \"drr:quantum=2048B,weights=8/8/8/4/2/1/1,stall=leave\"",
        "link = { rate = \"2500Mbit\", coding = \"8b/10b\" }",
        "name = \"D64'\"\nshare = 128\n",
        "size = { pareto = { minimum = \"56B\", maximum = \"2040B\", mean = \"176B\", bound = \"truncated\" } }",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(toml::from_str::<toml::Table>(&text).is_ok(), "{text}");
    // Entries of different weights, and free ones, are listed one by one.
    let odd =
        emitted(&request("entries = 4;k = 2;w = 4", &["share = \"50.2%\";distance = 2"]), Form::Scenario)
            .text;
    assert!(odd.contains("\"dtable:table=0@64cr/-/0@65cr/-,mtu=2048B\""), "{odd}");
    // The largest packet of a discipline is in whole credits.
    let part = request("entries = 4;k = 2;w = 4", &["share = \"50%\""]).replace("\"2048B\"", "\"400B\"");
    assert!(emitted(&part, Form::Scenario).text.contains(",mtu=448B\""));
}

#[test]
fn latencies_that_a_target_breaks_are_told() {
    let classes =
        ["share = \"25%\";latency = \"12us\"", "share = \"25%\"", "share = \"25%\"", "share = \"12.5%\""];
    let text = request("entries = 16;k = 2;w = 4", &classes);
    let lost = |form| emitted(&text, form).lost.join("\n");
    assert!(
        lost(Form::TcEts).contains("the latency of `c0`, 12us: deficit round robin bounds it by"),
        "{}",
        lost(Form::TcEts)
    );
    let longer = "bounds of the deficit table: under deficit round robin `c0` ";
    assert!(lost(Form::TcDrr).contains(longer), "{}", lost(Form::TcDrr));
    assert!(lost(Form::Opensm).contains("under the weighted table"), "{}", lost(Form::Opensm));
    assert!(!lost(Form::Scenario).contains("bounds of"), "{}", lost(Form::Scenario));
    assert!(!lost(Form::Opensm).contains("the latency of"), "{}", lost(Form::Opensm));
}
