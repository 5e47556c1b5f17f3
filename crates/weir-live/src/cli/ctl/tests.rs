//! The tables, the arguments, and a daemon at the other end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use clap::Parser;
use weir_document::Source;
use weir_gauge::spans::Sojourn;
use weir_plane::snapshot::KernelCounts;
use weir_plane::snapshot::{Left, Reason};

use super::*;
use crate::daemon::control::Socket;
use crate::daemon::directory::RunDirectory;
use crate::daemon::inbox::inbox;
use crate::daemon::protocol::InterfaceStatus;
use crate::daemon::readings::Readings;
use crate::daemon::requests::{Began, InForce, Order};

#[derive(Debug, Parser)]
struct Program {
    #[command(flatten)]
    arguments: Arguments,
}

fn request(line: &str) -> Result<Request, Failure> {
    let words = std::iter::once("ctl").chain(line.split_whitespace());
    Program::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).arguments.action.request()
}

#[test]
fn arguments_become_requests() {
    assert_eq!(request("edge status").expect("read"), Request::Status);
    assert_eq!(request("edge stats --json").expect("read"), Request::Stats);
    assert_eq!(request("edge stats --subscribers").expect("read"), Request::Subscribers);
    assert_eq!(request("edge stats --subscriber anna").expect("read"), Request::Subscribers);
    let set = request("edge set eth0 --rate 20Mbit --discipline drr").expect("read");
    let (rate, discipline) = (Some("20Mbit".to_owned()), Some("drr".to_owned()));
    assert_eq!(set, Request::Set { interface: "eth0".to_owned(), rate, discipline, propagation: None });
    let drain = request("edge drain --resume").expect("read");
    assert_eq!(drain, Request::Drain { interface: None, resume: true });
    let policy = request("kv policy dynamic:add=50us,period=10ms").expect("read");
    assert_eq!(policy, Request::Policy { spec: "dynamic:add=50us,period=10ms".to_owned() });
    let cores = request("kv cores 1-3,5 --json").expect("read");
    assert_eq!(cores, Request::Cores { processors: "1-3,5".to_owned() });
    let Err(Failure::Input(error)) = request("edge reload /nonexistent") else {
        panic!("there is no such file")
    };
    assert!(error.starts_with("/nonexistent: cannot be read: "), "{error}");
}

fn count(packets: u64) -> Count {
    Count { packets, bytes: packets * 1000 }
}

#[test]
fn stats_are_tables_with_units() {
    let voice = ClassSnapshot {
        name: "voice".to_owned(),
        offered: count(100),
        forwarded: count(90),
        dropped: BTreeMap::from([(Reason::QueueFull, count(7))]),
        waiting: count(3),
        oldest_ns: 1_250_000,
        sojourn: Sojourn {
            sum_ns: 1,
            longest_ns: 2_500_000,
            buckets: vec![(1_000_000, 80), (3_000_000, 10)],
        },
        ..ClassSnapshot::default()
    };
    let default = ClassSnapshot { name: "default".to_owned(), ..ClassSnapshot::default() };
    let eth0 = InterfaceSnapshot {
        name: "eth0".to_owned(),
        up: true,
        received: count(5),
        forwarded: count(90),
        fragmented: count(1),
        fragments: count(3),
        refused: BTreeMap::from([(Reason::NoRoute, count(2))]),
        classes: vec![voice, default],
        kernel: KernelCounts { receive_dropped: 4, transmit_failed: 0 },
        left_to_kernel: BTreeMap::from([(Left::NotIp, 6), (Left::Vlan, 1)]),
        ..InterfaceSnapshot::default()
    };
    let snapshot = Snapshot {
        name: "edge".to_owned(),
        now_ns: 12_500_000_000,
        frames: 256,
        frames_free: 250,
        interfaces: vec![eth0],
        ..Snapshot::default()
    };
    let expected = "\
router edge, up 12.5s, configuration changed 0 times, 250 of 256 frames free

interface  state  received       forwarded        to router  made here  refused  late p99
eth0       up         5pkt  5kB      90pkt  90kB       0pkt       0pkt     2pkt         -

interface  class    offered   left        marked  dropped  waiting       oldest  p50    p99  longest
eth0       voice     100pkt  90pkt  90kB    0pkt     7pkt     3pkt  3kB  1.25ms  1ms  2.5ms    2.5ms
eth0       default     0pkt   0pkt    0B    0pkt     0pkt     0pkt   0B       -    -      -        -

interface  where     dropped because        packets  bytes
eth0       arriving  no route                  2pkt    2kB
eth0       voice     queue full                7pkt    7kB
eth0       kernel    no room in the socket     4pkt      -

interface  fragmented       fragments
eth0             1pkt  1kB       3pkt  3kB

interface  left to the kernel because  frames
eth0       vlan                          1pkt
eth0       not ip                        6pkt
";
    assert_eq!(told(&Answer::Stats(Box::new(snapshot))), expected);
}

#[test]
fn the_status_says_who_is_there() {
    let at = InterfaceStatus {
        name: "eth0".to_owned(),
        means: "AF_XDP, copy".to_owned(),
        up: true,
        discipline: "drr:1514B".to_owned(),
        holds: "drr holds 41 packets of each flow: 50ms at 10Mbit, and 2048 in all".to_owned(),
        rate: "10Mbit".to_owned(),
        waiting: 3,
        draining: true,
    };
    let status = Status {
        name: "edge".to_owned(),
        version: "0.1.0".to_owned(),
        process: 7,
        up_ns: 2_000_000,
        file: "edge.toml".to_owned(),
        interfaces: vec![at],
        capabilities: vec!["CAP_NET_ADMIN".to_owned()],
        priority: "none".to_owned(),
    };
    let expected = "\
router        edge
version       0.1.0
process       7
up            2ms
file          edge.toml
priority      none
capabilities  CAP_NET_ADMIN

interface  state     means         discipline    rate  waiting
eth0       draining  AF_XDP, copy  drr:1514B   10Mbit     3pkt

eth0: drr holds 41 packets of each flow: 50ms at 10Mbit, and 2048 in all
";
    assert_eq!(told(&Answer::Status(status)), expected);
}

fn failure(base: &Path, name: &str, request: &Request) -> (u8, String) {
    let failure = client::ask_in(base, name, request).expect_err("refused");
    (failure.code(), failure.text().to_owned())
}

#[test]
fn a_daemon_is_asked_and_one_that_is_not_there_is_said_so() {
    let base = tempfile::tempdir().expect("a directory");
    let (code, text) = failure(base.path(), "edge", &Request::Status);
    assert_eq!(
        (code, text.as_str()),
        (3, "no daemon called `edge` is running: start it with `weird route FILE` or `weird steer FILE`")
    );
    let directory = RunDirectory::claim(base.path(), "edge").expect("free");
    let socket = Socket::bind(directory, None).expect("bound");
    let (caller, inbox) = inbox().expect("a descriptor");
    let text = "weir = 1\n[router]\nname = \"edge\"\n[[interface]]\nname = \"a\"\n";
    let router = weir_plane::config::read(&Source { name: "r.toml", text }).expect("valid");
    let control = socket
        .serve(
            Readings::new(caller),
            Began { in_force: InForce::new(Arc::new(router.clone())), router, seed: 1 },
        )
        .expect("served");
    let loop_thread = std::thread::spawn(move || {
        loop {
            if let Some(command) = inbox.try_next() {
                assert_eq!(command.order, Order::Stop);
                command.reply.send(Answer::Done { said: "ends".to_owned() });
                return;
            }
            std::thread::yield_now();
        }
    });
    let answer = client::ask_in(base.path(), "edge", &Request::Stop).expect("answered");
    assert_eq!(told(&answer), "ends\n");
    loop_thread.join().expect("answered");
    let (code, text) = failure(base.path(), "core", &Request::Status);
    assert_eq!((code, text.as_str()), (3, "no daemon called `core` is running: running are `edge`"));
    assert_eq!(failure(base.path(), "../edge", &Request::Status).0, 2);
    let rate = Some("b".to_owned());
    let set = Request::Set { interface: "a".to_owned(), rate, discipline: None, propagation: None };
    let (code, text) = failure(base.path(), "edge", &set);
    assert_eq!((code, text.starts_with("rate is \"b\", not a rate with its unit")), (2, true));
    let long = Request::Reload { file: "f".to_owned(), text: "#".repeat(1 << 20) };
    assert_eq!(failure(base.path(), "edge", &long).0, 2);
    drop(control);
    assert_eq!(failure(base.path(), "edge", &Request::Status).0, 3);
}
