//! What every registered discipline says of itself, takes and refuses, held against a file: the listing, the canonical
//! forms and the refusals, byte for byte.
//!
//! Every parameter gets every value of one long list, whatever it stands for, in place of the one that the example of
//! its discipline has; then every pair of parameters gets values that both take by themselves. Values with the same
//! answer share a line, on which `{}` stands for the value; the commonest answer to a parameter is that to all `others`.
//!
//! `WEIR_FROZEN=write cargo test -p weir-core --test frozen` writes the file anew; CONTRIBUTING.md says when that may be
//! done ("How results are kept reproducible").

use std::collections::BTreeSet;
use std::fmt::Write as _;

use weir_core::canonical::canonical_as;
use weir_core::info::Info;
use weir_core::item::{Message, Packet};
use weir_core::pool::{Profile, Site};
use weir_core::registry::{
    DISPATCHER, MESSAGE, PACKET, POOL, TASK, WRAPPER, dispatcher, message_discipline, packet_discipline,
    pool, task_discipline,
};
use weir_core::role::Role;
use weir_core::spec::{Argument, Spec, SpecError};
use weir_core::task::Task;
use weir_core::units::{Bytes, Nanos};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/frozen.txt");

/// Sizes before units, small before large: of those that a parameter takes, the first and the last go into the pairs.
const VALUES: &str = "\
    0 1 2 3 4 5 8 16 17 64 100 127 128 254 255 256 257 1000 1023 1024 1025 65407 65408 65409 65535 65536 65537 \
    999999 1000000 1000001 1048576 1048577 2147483647 2147483648 4294967295 4294967296 9223372036854775808 \
    18446744073709551615 18446744073709551616 -1 -0 +5 007 0.5 .5 1.5 1e3 1e9 1e400 nan inf -inf 0x10 1_000 ² \
    0B 1B 63B 64B 255B 256B 1514B 4096B 4194240B 4194241B 2147483647B 2147483648B 1kB 64KiB 1MB 32MiB 1048576MiB \
    1048577MiB 18446744073709551615B 18446744073709551615MiB 5KB 5b 5GB 1.5kB -1B B \
    0pkt 1pkt 2pkt 127pkt 128pkt 1000pkt 16777216pkt 16777217pkt 18446744073709551616pkt 1pkts 1PKT \
    0ns 1ns 99ns 100ns 999ns 1us 50us 1ms 5ms 100ms 999ms 1s 1000000001ns 10s 86400s 86400000001us 18446744073s \
    18446744074s 5m 1.5ms -5ms \
    0bit 1bit 10Mbit 10Gbit 18446744073Gbit 18446744074Gbit 1Tbit 10Mbps 10mbit \
    none all never idle yes no true keep zero turn leave void behind ahead at_wait at_dispatch warn refuse allow \
    flow class addresses lowest random next longest abort one each grub background decrement recalculate keyed xor \
    xor_rotated rotate rotate_source rotate_seeded Keyed keyde None \
    - / 0/ /0 1//2 0/1 0/0 0/1/2 2/1/0 0/-/1 -/- 0/1/none none/none 4/0/1 4/02/1 1/1 65535/1 65536/1 1.5/2 \
    0.5/inf/1e6 0/4294967296 0/1048575 0/1048576 2/4 2/4/8/8 3/5 1/1024 2/2048 \
    0@0cr 0@1cr 0@255cr 0@256cr 0@65535cr 0@65536cr 0@32cr/1@64cr/- 0@32cr/1 0@32 @32cr 0@0cr/1@0cr 32cr 0cr 255cr \
    256cr 32cr/64cr 32cr/64 65536cr \
    fifo fifo:limit=64KiB rr rr:0 sf ps hrrn alpha:-1 alpha:1.0 in_order(alpha(10,update=recalculate)) \
    outstanding(sf,limit=2) drr:quantum=0B fq_codel:flows=064 sfq:seed=07 tbf(fifo,rate=1Mbit,burst=2kB) epoch:1ms \
    cfcfs jsq per_server:rr per_server(rr,discipline=sjf) fofo none:1";

/// How a discipline is built, and what its spec stands for.
struct Place {
    name: &'static str,
    role: Role,
    listed: Vec<&'static Info>,
    build: fn(&Spec) -> Result<(), SpecError>,
}

fn site() -> Site {
    let classes = [(0.5, 1_000), (0.25, 10_000), (0.25, 100_000)]
        .map(|(share, service)| Profile { share, service: Nanos::new(service) });
    Site { servers: 8, receivers: 2, classes: classes.to_vec(), queue: None, speeds: Vec::new() }
}

fn places() -> [Place; 7] {
    let role = Role::Discipline;
    [
        Place {
            name: "message",
            role,
            listed: [MESSAGE, WRAPPER].concat(),
            build: |spec| message_discipline::<Message>(spec).map(drop),
        },
        Place {
            name: "message in bytes",
            role,
            // What is counted in bytes takes other limits.
            listed: MESSAGE
                .iter()
                .copied()
                .filter(|info| info.parameters.iter().any(|p| p.name == "limit"))
                .collect(),
            build: |spec| message_discipline::<Message<Bytes>>(spec).map(drop),
        },
        Place {
            name: "packet",
            role,
            listed: PACKET.to_vec(),
            build: |spec| packet_discipline::<Packet>(spec).map(drop),
        },
        Place {
            name: "task",
            role,
            listed: TASK.to_vec(),
            build: |spec| task_discipline::<Task>(spec).map(drop),
        },
        Place {
            name: "dispatcher",
            role: Role::Dispatcher,
            listed: DISPATCHER.to_vec(),
            build: |spec| dispatcher::<Message<Nanos>>(spec, &site()).map(drop),
        },
        Place {
            name: "pool",
            role: Role::Pool,
            listed: [POOL, DISPATCHER].concat(),
            build: |spec| pool::<Message<Nanos>>(spec, &site()).map(drop),
        },
        Place {
            name: "pool of one server",
            role: Role::Pool,
            listed: POOL.to_vec(),
            build: |spec| {
                let site = Site {
                    servers: 1,
                    receivers: 1,
                    classes: vec![site().classes.swap_remove(0)],
                    queue: Some(2),
                    speeds: Vec::new(),
                };
                pool::<Message<Nanos>>(spec, &site).map(drop)
            },
        },
    ]
}

/// The canonical form of a spec that builds, or why it is refused.
fn answer(place: &Place, text: &str) -> Result<String, String> {
    let spec: Spec = text.parse().map_err(|error: SpecError| error.to_string())?;
    (place.build)(&spec).map_err(|error| error.to_string())?;
    canonical_as(place.role, &spec)
        .map(|spec| spec.to_string())
        .map_err(|error| format!("canonical: {error}"))
}

fn written(answer: Result<String, String>) -> String {
    answer.map_or_else(|refusal| format!("refused: {refusal}"), |canonical| format!("= {canonical}"))
}

/// The arguments of the example, each with its key.
fn keyed(info: &Info) -> Vec<(String, String)> {
    let spec: Spec = info.example.parse().expect(info.example);
    let key = |(place, argument): (usize, &Argument)| {
        let key = argument.key.clone().unwrap_or_else(|| info.parameters[place].name.to_owned());
        (key, in_parentheses(&argument.value.to_string()))
    };
    spec.arguments.iter().enumerate().map(key).collect()
}

/// A spec as a value: a colon would swallow the next argument.
fn in_parentheses(value: &str) -> String {
    match value.split_once(':') {
        Some((name, rest)) if rest.contains(',') && !name.contains('(') => format!("{name}({rest})"),
        _ => value.to_owned(),
    }
}

/// The example with some arguments in place of its own, and without those that are `None`.
fn changed(info: &Info, changes: &[(&str, Option<&str>)]) -> String {
    let mut arguments = keyed(info);
    arguments.retain(|(key, _)| changes.iter().all(|(other, _)| other != key));
    let given = changes.iter().filter_map(|(key, value)| Some(((*key).to_owned(), (*value)?.to_owned())));
    arguments.extend(given);
    let arguments: Vec<String> = arguments.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if arguments.is_empty() {
        info.name.to_owned()
    } else {
        format!("{}({})", info.name, arguments.join(","))
    }
}

/// The answers to all values of a parameter, those that are alike on one line; and the values that it takes.
fn of_parameter<'v>(place: &Place, info: &Info, parameter: &str, text: &mut String) -> Vec<&'v str> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    let mut taken = Vec::new();
    for value in VALUES.split_whitespace() {
        let answer = answer(place, &changed(info, &[(parameter, Some(value))]));
        if answer.is_ok() {
            taken.push(value);
        }
        let mut line = written(answer);
        for (before, after) in [("`", "`"), ("=", ""), (&format!("{}:", info.name), "")] {
            line = line.replace(&format!("{before}{value}{after}"), &format!("{before}{{}}{after}"));
        }
        match groups.iter_mut().find(|(other, _)| *other == line) {
            Some((_, values)) => values.push(value),
            None => groups.push((line, vec![value])),
        }
    }
    let most = groups.iter().rev().max_by_key(|(_, values)| values.len()).map(|(line, _)| line.clone());
    writeln!(text, "  {parameter}").expect("text");
    for (line, values) in groups {
        let values = if most.as_ref() == Some(&line) { "others".to_owned() } else { values.join(" ") };
        writeln!(text, "    {values}: {line}").expect("text");
    }
    taken
}

/// Pairs of parameters with the least and the greatest value that each takes by itself.
fn of_pairs(place: &Place, info: &Info, taken: &[(&str, Vec<&str>)], text: &mut String) {
    for (i, (one, ones)) in taken.iter().enumerate() {
        for (other, others) in &taken[i + 1..] {
            for first in ends(ones) {
                for second in ends(others) {
                    let spec = changed(info, &[(one, Some(first)), (other, Some(second))]);
                    writeln!(text, "  {spec}: {}", written(answer(place, &spec))).expect("text");
                }
            }
        }
    }
}

fn ends<'v>(values: &[&'v str]) -> BTreeSet<&'v str> {
    values.iter().take(1).chain(values.last()).copied().collect()
}

/// Arguments that are missing, unknown, given twice, too many, or nested; names that are nearly right.
fn of_the_form(place: &Place, info: &Info, text: &mut String) {
    let mut specs = vec![info.name.to_owned(), info.example.to_owned()];
    let all: Vec<String> = info.parameters.iter().map(|parameter| parameter.name.to_owned()).collect();
    specs.push(format!("{}(unknown=1)", info.name));
    specs.push(format!("{}({})", info.name, vec!["1"; all.len() + 1].join(",")));
    specs.push(format!("{}:", info.name));
    specs.push(info.name[..info.name.len() - 1].to_owned() + "x");
    specs.push(info.name.to_uppercase());
    for parameter in info.parameters {
        if keyed(info).iter().any(|(key, _)| key == parameter.name) {
            specs.push(changed(info, &[(parameter.name, None)]));
        }
        specs.push(changed(info, &[(parameter.name, Some("1")), (parameter.name, Some("1"))]));
        specs.push(format!("{}(1,{}=1)", info.name, parameter.name));
        specs.push(changed(info, &[(&format!("{}s", parameter.name), Some("1"))]));
    }
    for spec in specs {
        writeln!(text, "  {spec}: {}", written(answer(place, &spec))).expect("text");
    }
}

fn listing(info: &Info, text: &mut String) {
    writeln!(text, "  {} | {} | {} | {}", info.title, info.rule, info.source, info.work).expect("text");
    for parameter in info.parameters {
        let default = parameter.default.unwrap_or("(must be given)");
        let (name, values, meaning) = (parameter.name, parameter.values(), parameter.meaning);
        writeln!(text, "  {name} | {values} | {default} | {meaning}").expect("text");
    }
}

fn all() -> String {
    let mut text = String::new();
    let mut seen = Vec::new();
    for place in places() {
        for info in &place.listed {
            writeln!(text, "\n{} {} ({})", place.name, info.name, info.kind.name()).expect("text");
            if !seen.contains(&(info.name, info.kind.name())) {
                seen.push((info.name, info.kind.name()));
                listing(info, &mut text);
            }
            of_the_form(&place, info, &mut text);
            let parameters = info.parameters.iter().map(|parameter| parameter.name);
            let taken: Vec<_> =
                parameters.map(|name| (name, of_parameter(&place, info, name, &mut text))).collect();
            of_pairs(&place, info, &taken, &mut text);
        }
    }
    text
}

/// The lines that only one of two texts has, under the last line before them that opens a section.
fn differences(held: &str, found: &str) -> Vec<String> {
    let only = |sign: char, text: &str, other: &str| {
        let known: BTreeSet<&str> = other.lines().collect();
        let mut section = "";
        let mut lines = Vec::new();
        for line in text.lines() {
            if !line.starts_with(' ') {
                section = line;
            }
            if !known.contains(line) {
                lines.push(format!("{sign} [{section}] {line}"));
            }
        }
        lines
    };
    [only('-', held, found), only('+', found, held)].concat()
}

#[test]
fn every_discipline_takes_and_refuses_what_it_did() {
    let found = all();
    if std::env::var("WEIR_FROZEN").is_ok_and(|wish| wish == "write") {
        std::fs::write(FILE, &found).expect("the file can be written");
    }
    let held = std::fs::read_to_string(FILE).expect("the file can be read");
    if held != found {
        let lines = differences(&held, &found);
        let first = lines.iter().take(60).cloned().collect::<Vec<_>>().join("\n");
        panic!("{} lines differ (none: their order does), the first:\n{first}", lines.len());
    }
}
