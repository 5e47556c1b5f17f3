//! The page word by word, its form, and the socket from outside.

use std::collections::{BTreeMap, HashSet};

use weir_gauge::spans::Sojourn;
use weir_plane::snapshot::{ClassSnapshot, Count, InterfaceSnapshot, Left, Reason, Snapshot};
use weir_plane::subscribers::{SubscriberCounts, SubscriberSnapshot, SubscribersSnapshot};

use super::super::inbox::inbox;
use super::super::readings::Readings;
use super::super::requests::Order;
use super::router::text;
use super::*;
use crate::steer::counts::FrameCounts;
use crate::steer::report::{ClassStats, LoopStats, ProcessorStats, SteeringStats};

fn count(packets: u64) -> Count {
    Count { packets, bytes: packets * 100 }
}

fn snapshot() -> Snapshot {
    let voice = ClassSnapshot {
        name: "vo\"ice".to_owned(),
        offered: count(10),
        forwarded: count(7),
        dropped: BTreeMap::from([(Reason::QueueFull, count(2))]),
        waiting: count(1),
        oldest_ns: 1_500_000,
        sojourn: Sojourn {
            sum_ns: 12_000_000_000,
            longest_ns: 11_000_000_000,
            buckets: vec![(1_000, 2), (1_280, 3), (4_000_000, 1), (11_811_160_064, 1)],
        },
        ..ClassSnapshot::default()
    };
    let default = ClassSnapshot { name: "default".to_owned(), ..ClassSnapshot::default() };
    let eth0 = InterfaceSnapshot {
        name: "eth0".to_owned(),
        up: true,
        received: count(20),
        refused: BTreeMap::from([(Reason::NoRoute, count(3)), (Reason::Malformed, count(1))]),
        classes: vec![voice, default],
        left_to_kernel: BTreeMap::from([(Left::NotIp, 6)]),
        ..InterfaceSnapshot::default()
    };
    Snapshot { name: "edge".to_owned(), now_ns: 2_500_000_000, interfaces: vec![eth0], ..Snapshot::default() }
}

#[test]
fn each_figure_has_its_line() {
    let page = text(&snapshot());
    for line in [
        "weir_router_info{router=\"edge\"} 1",
        "weir_uptime_seconds 2.5",
        "weir_reloads_total 0",
        "weir_interface_up{interface=\"eth0\"} 1",
        "weir_interface_received_packets_total{interface=\"eth0\"} 20",
        "weir_interface_received_bytes_total{interface=\"eth0\"} 2000",
        "weir_interface_refused_packets_total{interface=\"eth0\",reason=\"no_route\"} 3",
        "weir_interface_left_to_kernel_frames_total{interface=\"eth0\",reason=\"not_ip\"} 6",
        "weir_class_dropped_packets_total{interface=\"eth0\",class=\"vo\\\"ice\",reason=\"queue_full\"} 2",
        "weir_class_backlog_bytes{interface=\"eth0\",class=\"vo\\\"ice\"} 100",
        "weir_class_oldest_seconds{interface=\"eth0\",class=\"vo\\\"ice\"} 0.0015",
        "weir_class_sojourn_seconds_bucket{interface=\"eth0\",class=\"vo\\\"ice\",le=\"0.000001\"} 2",
        "weir_class_sojourn_seconds_bucket{interface=\"eth0\",class=\"vo\\\"ice\",le=\"0.000002\"} 5",
        "weir_class_sojourn_seconds_bucket{interface=\"eth0\",class=\"vo\\\"ice\",le=\"0.002\"} 5",
        "weir_class_sojourn_seconds_bucket{interface=\"eth0\",class=\"vo\\\"ice\",le=\"0.005\"} 6",
        "weir_class_sojourn_seconds_bucket{interface=\"eth0\",class=\"vo\\\"ice\",le=\"10\"} 6",
        "weir_class_sojourn_seconds_bucket{interface=\"eth0\",class=\"vo\\\"ice\",le=\"+Inf\"} 7",
        "weir_class_sojourn_seconds_sum{interface=\"eth0\",class=\"vo\\\"ice\"} 12",
        "weir_class_sojourn_seconds_count{interface=\"eth0\",class=\"vo\\\"ice\"} 7",
        "weir_class_sojourn_seconds_count{interface=\"eth0\",class=\"default\"} 0",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
}

fn steered() -> SteeringStats {
    let delay =
        Sojourn { sum_ns: 5_000_000, longest_ns: 3_000_000, buckets: vec![(1_000, 2), (4_000_000, 1)] };
    SteeringStats {
        name: "kv".to_owned(),
        interface: "eth0".to_owned(),
        at_ns: 1_500_000_000,
        policy: "rr".to_owned(),
        in_use: 2,
        changes: 3,
        frames: FrameCounts { steered: 10, passed: 4, ..FrameCounts::default() },
        processors: vec![ProcessorStats {
            processor: 3,
            online: true,
            steered: 10,
            served: 7,
            dropped: 1,
            waiting: 2,
            ..ProcessorStats::default()
        }],
        classes: vec![ClassStats { name: "short".to_owned(), requests: 3, delay }],
        control: LoopStats { calls: 9, busy_ns: 2_000_000, period_ns: 10_000_000 },
        ..SteeringStats::default()
    }
}

#[test]
fn each_figure_of_steering_has_its_line() {
    let page = steering::text(&steered());
    for line in [
        "weir_steering_info{name=\"kv\",interface=\"eth0\",policy=\"rr\"} 1",
        "weir_uptime_seconds 1.5",
        "weir_steering_processors 2",
        "weir_steering_changes_total 3",
        "weir_steering_control_calls_total 9",
        "weir_steering_control_seconds_total 0.002",
        "weir_steering_frames_total{outcome=\"passed\"} 4",
        "weir_processor_steered_requests_total{processor=\"3\"} 10",
        "weir_processor_dropped_requests_total{processor=\"3\"} 1",
        "weir_processor_waiting_requests{processor=\"3\"} 2",
        "weir_processor_online{processor=\"3\"} 1",
        "weir_request_delay_seconds_bucket{class=\"short\",le=\"0.000001\"} 2",
        "weir_request_delay_seconds_bucket{class=\"short\",le=\"+Inf\"} 3",
        "weir_request_delay_seconds_sum{class=\"short\"} 0.005",
        "weir_request_delay_seconds_count{class=\"short\"} 3",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
}

/// The names of metrics in a text, without what a histogram adds to its own.
fn names(text: &str) -> HashSet<&str> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let names = words.filter(|word| word.starts_with("weir_"));
    names.map(|name| name.trim_end_matches("_bucket")).collect()
}

#[test]
fn what_alerts_and_dashboards_ask_for_is_there() {
    const READERS: [(&str, &str); 3] = [
        ("weir.rules.yaml", include_str!("../../../../../deploy/prometheus/weir.rules.yaml")),
        ("router.json", include_str!("../../../../../deploy/grafana/router.json")),
        ("steering.json", include_str!("../../../../../deploy/grafana/steering.json")),
    ];
    let pages = [text(&snapshot()), super::steering::text(&steered())].concat();
    let there = names(&pages);
    for (file, reader) in READERS {
        let asked = names(reader);
        assert!(asked.len() > 3, "{file}");
        for name in asked {
            assert!(there.contains(name), "{file} asks for {name}");
        }
    }
}

#[test]
fn the_pages_have_the_form_of_the_format() {
    has_the_form(&text(&snapshot()));
    has_the_form(&steering::text(&steered()));
}

fn has_the_form(page: &str) {
    let mut seen = HashSet::new();
    let (mut family, mut kind) = (String::new(), String::new());
    for line in page.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, words) = help.split_once(' ').expect("a help");
            assert!(words.ends_with('.') && seen.insert(name.to_owned()), "{line}");
            name.clone_into(&mut family);
        } else if let Some(typed) = line.strip_prefix("# TYPE ") {
            let (name, of) = typed.split_once(' ').expect("a type");
            assert_eq!(name, family);
            assert_eq!(name.ends_with("_total"), of == "counter", "{line}");
            of.clone_into(&mut kind);
        } else {
            let name = line.split(['{', ' ']).next().expect("a name");
            let suffix = name.strip_prefix(family.as_str()).expect("under its family");
            let suffixes: &[&str] = if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
            assert!(suffixes.contains(&suffix) && seen.insert(line.to_owned()), "{line}");
            let (_, value) = line.rsplit_once(' ').expect("a value");
            assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
        }
    }
}

#[test]
fn scrapes_are_answered_and_garbage_is_refused() {
    let metrics = Metrics::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("bound");
    let address = metrics.address().expect("told");
    let (caller, inbox) = inbox().expect("a descriptor");
    let _served = metrics.serve(Readings::new(caller), Order::Stats, None).expect("served");
    let scrape = |request: &[u8]| {
        let mut stream = TcpStream::connect(address).expect("connected");
        let _ = stream.write_all(request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    for (request, expected) in [
        (b"GET / HTTP/1.1\r\n\r\n".as_slice(), "HTTP/1.1 404 "),
        (b"\xff\xfe\r\n\r\n", "HTTP/1.1 400 "),
        (b"POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "),
        (b"", "HTTP/1.1 400 "),
    ] {
        let answer = scrape(request);
        assert!(answer.starts_with(expected), "{answer}");
    }
    let asked = std::thread::spawn(move || {
        loop {
            if let Some(command) = inbox.try_next() {
                command.reply.send(Answer::Stats(Box::new(snapshot())));
                // Dropped: the next one learns that the daemon ends.
                break;
            }
            std::thread::yield_now();
        }
    });
    let answer = scrape(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with(&text(&snapshot())), "{answer}");
    asked.join().expect("answered");
    assert!(scrape(b"GET /metrics HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 503 "));
}

#[test]
fn a_socket_is_taken_only_if_it_was_handed_to_this_process() {
    let own = std::process::id().to_string();
    let other = (std::process::id() + 1).to_string();
    assert!(is_handed(Some(own.as_str()), Some("1")));
    for (process, sockets) in [
        (None, None),
        (Some(own.as_str()), None),
        (Some(own.as_str()), Some("0")),
        (Some(own.as_str()), Some("2")),
        (Some(other.as_str()), Some("1")),
        (None, Some("1")),
    ] {
        assert!(!is_handed(process, sockets), "{process:?} {sockets:?}");
    }
}

#[test]
fn subscribers_are_given_where_they_are_asked_for() {
    let at = |name: &str, subscriber_metrics| InterfaceSnapshot {
        name: name.to_owned(),
        subscriber_metrics,
        ..InterfaceSnapshot::default()
    };
    let snapshot = Snapshot { interfaces: vec![at("a", true), at("b", false)], ..Snapshot::default() };
    let counts = SubscriberCounts { forwarded: count(7), dropped: count(2), waiting: count(1) };
    let of = |interface: &str| SubscribersSnapshot {
        interface: interface.to_owned(),
        subscribers: vec![SubscriberSnapshot {
            name: "anna".to_owned(),
            counts,
            ..SubscriberSnapshot::default()
        }],
        ..SubscribersSnapshot::default()
    };
    let page = router::more(&snapshot, &Answer::Subscribers { interfaces: vec![of("a"), of("b")] });
    has_the_form(&page);
    for line in [
        "weir_subscriber_forwarded_packets_total{interface=\"a\",subscriber=\"anna\"} 7",
        "weir_subscriber_dropped_bytes_total{interface=\"a\",subscriber=\"anna\"} 200",
        "weir_subscriber_backlog_bytes{interface=\"a\",subscriber=\"anna\"} 100",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
    assert!(!page.contains("interface=\"b\""), "{page}");
}
