//! Sources and sinks over the loopback: what is sent arrives, and logs, summaries and report agree.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_core::units::Nanos;

use super::log::{Kind, Reader, Record};
use super::plan::Plan;
use super::report::{Asked, pair::Pair, report};
use super::run::{Given, Trouble, run};
use super::summary::Summary;
use super::testing::plan;
use crate::generator::clock::{SystemClock, wall};
use crate::generator::wall::WallTime;

/// A port of the loopback that nobody uses.
fn free_port() -> u16 {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("weir-tg-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run_plan(
    plan: &Plan,
    start: WallTime,
    log: Option<PathBuf>,
    stop: &AtomicBool,
) -> Result<Summary, Trouble> {
    let clock = SystemClock::new(Nanos::new(20_000), stop, false);
    let given = Given { start, log, promised: Nanos::new(1_000_000) };
    run(plan, &given, &clock, || Ok(()))
}

/// Runs both, first the sink, which is asked to end when the source has.
fn both(folder: &Folder, source: &str, sink: &str) -> [Summary; 2] {
    let (source, sink) = (plan(source, 1), plan(sink, 1));
    let (start, stop) = (wall(), AtomicBool::new(false));
    let never = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let sinking = scope.spawn(|| run_plan(&sink, start, Some(folder.file("sink.log")), &stop).unwrap());
        await_record(&folder.file("sink.log"), Kind::Setup);
        let start = WallTime::new(wall().nanos() + 10_000_000).unwrap();
        let sent = run_plan(&source, start, Some(folder.file("source.log")), &never);
        if plan_of_tcp(&source) {
            await_record(&folder.file("sink.log"), Kind::Teardown);
        }
        stop.store(true, Ordering::Relaxed);
        [sent.unwrap(), sinking.join().unwrap()]
    })
}

fn plan_of_tcp(plan: &Plan) -> bool {
    plan.script.association.protocol == weir_tg::script::Protocol::Tcp
}

/// Waits until a record of this kind is in a log.
fn await_record(log: &Path, kind: Kind) {
    let of_kind = |record: Result<Record, _>| record.is_ok_and(|record| record.kind == kind);
    while !Reader::open(log).is_ok_and(|mut reader| reader.any(of_kind)) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn report_of(folder: &Folder) -> super::report::PairReport {
    let pair = Pair::open(&folder.file("source.log"), &folder.file("sink.log")).unwrap();
    let asked = Asked { interval: None, rate: None, from: None, until: None };
    report(vec![pair], asked).unwrap().pairs.remove(0)
}

#[test]
fn packets_of_udp_arrive_and_are_reported() {
    let folder = Folder::new("udp");
    let port = free_port();
    let source = format!(
        "on 1 udp 127.0.0.1.{port} ttl 9 tos 16 sndwin 100000 peak delay 1 \
         at 0.05 arrival exponential 0.0002 length uniform 0 1000 packet 2000"
    );
    let [sent, received] = both(&folder, &source, &format!("on 1 udp 127.0.0.1.{port} server wait"));
    assert_eq!((sent.packets, sent.failed, sent.stopped, received.stopped), (2000, 0, false, true));
    assert_eq!((received.packets + received.dropped_at_socket, received.foreign), (2000, 0));
    assert!(sent.warnings[0].starts_with("`peak delay 1` is not available"), "{:?}", sent.warnings);
    assert!(sent.lateness.is_some_and(|late| late.p50_ns <= late.p99_ns && late.p99_ns <= late.max_ns));
    let report = report_of(&folder);
    assert_eq!((report.all.sent, report.all.received), (2000, received.packets));
    assert_eq!((report.all.duplicates, report.counts.of_others, report.counts.not_sent), (0, 0, 0));
    let delay = report.all.delay.unwrap();
    assert!(
        delay.min_s <= delay.p50_s && delay.p50_s <= delay.p99_s && delay.p99_s <= delay.max_s,
        "{delay:?}"
    );
}

#[test]
fn bytes_of_tcp_arrive_and_are_reported() {
    let folder = Folder::new("tcp");
    let port = free_port();
    let source = format!("on 1 tcp 127.0.0.1.{port} mtu 576 at 0.1 arrival 0.0005 length 700 packet 500");
    let [sent, received] =
        both(&folder, &source, &format!("on 1 tcp 127.0.0.1.{port} server rcvwin 20000 wait"));
    assert_eq!((sent.packets, sent.bytes), (500, 350_000));
    assert_eq!((received.bytes, received.connections), (350_000, 1));
    let report = report_of(&folder);
    assert_eq!((report.all.sent, report.all.received), (500, 500));
}

#[test]
fn a_port_that_nobody_waits_on_is_counted() {
    // A socket that is connected takes nothing of others, and keeps its port from them.
    let holder = UdpSocket::bind("127.0.0.1:0").unwrap();
    holder.connect("127.0.0.1:9").unwrap();
    let port = holder.local_addr().unwrap().port();
    let text = format!("on 1 udp 127.0.0.1.{port} arrival 0.001 length 10 packet 20");
    let stop = AtomicBool::new(false);
    let sent = run_plan(&plan(&text, 1), wall(), None, &stop).unwrap();
    assert_eq!((sent.packets, sent.failed), (20, 0));
    assert!(sent.errors.values().sum::<u64>() > 0);
    let text = "on 1 tcp 127.0.0.1.1 arrival 0.001 length 10 packet 20";
    let error = run_plan(&plan(text, 1), wall(), None, &stop).unwrap_err();
    assert!(matches!(&error, Trouble::Failed(text) if text.contains("Connection refused")), "{error:?}");
}

#[test]
fn packets_of_others_are_counted_apart() {
    let folder = Folder::new("others");
    let port = free_port();
    let to = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    let stop = AtomicBool::new(false);
    let sink = plan(&format!("on 1 udp 127.0.0.1.{port} server wait"), 1);
    let start = wall();
    let received = std::thread::scope(|scope| {
        let sinking = scope.spawn(|| run_plan(&sink, start, Some(folder.file("sink.log")), &stop).unwrap());
        await_record(&folder.file("sink.log"), Kind::Setup);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for length in [0, 3, 4, 8196, 8197, 20_000] {
            socket.send_to(&vec![0; length], to).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        sinking.join().unwrap()
    });
    assert_eq!((received.packets, received.foreign, received.bytes, received.stopped), (2, 4, 8192, true));
}

#[test]
fn an_address_of_another_host_is_refused() {
    let stop = AtomicBool::new(false);
    let error = run_plan(&plan("on 1 udp 192.0.2.1.5000 server wait", 1), wall(), None, &stop).unwrap_err();
    assert!(
        matches!(&error, Trouble::Input(refused) if refused.to_string().contains("192.0.2.1:5000")),
        "{error:?}"
    );
}
