//! Runs against a server that answers as a test says, on a clock that stands still, and over the loopback.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use weir_core::units::Nanos;

use super::measured;
use super::payload::{HEAD, Payload};
use super::plan::{Arrivals, Class, Plan};
use super::report::{Figures, Report, text};
use super::sockets::{Event, Line};
use crate::generator::batch::Outgoing;
use crate::generator::clock::SystemClock;
use crate::generator::testing::{FakeClock, START};
use crate::generator::wall::WallTime;

pub(super) const MILLISECOND: u64 = 1_000_000;

/// A thousand requests a second for 100 ms, of one class and flow.
pub(super) fn plan() -> Plan {
    Plan {
        target: "10.0.0.2:9000".parse().unwrap(),
        rate: 1000.0,
        arrivals: Arrivals::Poisson,
        windows: 1,
        window: Nanos::new(100 * MILLISECOND),
        growth: 1.0,
        classes: vec![Class { name: "all".to_owned(), data: 1, share: 1.0 }],
        flows: 1,
        size: 64,
        seed: 1,
        patience: Nanos::new(1000 * MILLISECOND),
    }
}

/// Nine short requests to one long.
pub(super) fn mix() -> Vec<Class> {
    ["short:data=1,share=0.9", "long:data=10,share=0.1"].map(|class| Class::parse(class).unwrap()).to_vec()
}

fn constant() -> Plan {
    Plan { arrivals: Arrivals::Constant, ..plan() }
}

/// A server that answers as `answers` says: when, of the n-th request that came at some time; none is a loss.
struct Server<'c, A> {
    clock: &'c FakeClock,
    answers: A,
    seen: u64,
    /// How many requests of each flow the kernel was asked about.
    asked: [u32; 4],
    events: Vec<(u64, Event)>,
    /// What sending the n-th request costs the sender.
    cost: fn(u64) -> u64,
    refuses: fn(u64) -> Option<i32>,
}

impl<'c, A: FnMut(u64, u64) -> Vec<u64>> Server<'c, A> {
    fn new(clock: &'c FakeClock, answers: A) -> Self {
        Self { clock, answers, seen: 0, asked: [0; 4], events: Vec::new(), cost: |_| 0, refuses: |_| None }
    }

    fn wall(&self, time: u64) -> WallTime {
        WallTime::new(START + time + self.clock.set.get()).unwrap()
    }
}

impl<A: FnMut(u64, u64) -> Vec<u64>> Line for Server<'_, A> {
    fn send(&mut self, flow: u16, requests: &[Outgoing<HEAD>]) -> io::Result<usize> {
        // One a call, so that each costs what it costs.
        let (request, nth) = (&requests[0], self.seen);
        self.seen += 1;
        if let Some(errno) = (self.refuses)(nth) {
            return Err(io::Error::from_raw_os_error(errno));
        }
        let now = self.clock.time.get() + (self.cost)(nth);
        self.clock.time.set(now);
        if request.stamped {
            let asked = &mut self.asked[usize::from(flow)];
            let key = *asked;
            *asked += 1;
            self.events.push((now, Event::Left { flow, key, at: self.wall(now) }));
        }
        let payload = Payload::read(&request.head);
        for at in (self.answers)(nth, now) {
            self.events.push((at, Event::Reply { flow, payload, at: Some(self.wall(at)) }));
        }
        Ok(1)
    }

    fn collect(&mut self, into: &mut Vec<Event>) -> bool {
        let now = self.clock.time.get();
        self.events.sort_by_key(|(at, _)| *at);
        let ready = self.events.iter().take_while(|(at, _)| *at <= now).count();
        into.extend(self.events.drain(..ready).map(|(_, event)| event));
        false
    }

    fn dropped(&self) -> u64 {
        0
    }
}

fn answered(plan: &Plan, answers: impl FnMut(u64, u64) -> Vec<u64>) -> Report {
    let clock = FakeClock::new();
    measured(plan, &mut Server::new(&clock, answers), &clock)
}

fn all(report: &Report) -> &Figures {
    assert_eq!(report.totals.classes.len(), 1);
    &report.totals.classes[0]
}

#[test]
fn every_request_is_answered_in_its_class_and_window() {
    let plan = Plan { classes: mix(), windows: 3, growth: 2.0, flows: 4, ..plan() };
    let report = answered(&plan, |_, now| vec![now + MILLISECOND]);
    assert_eq!(report.windows.len(), 3);
    for window in &report.windows {
        assert_eq!(window.rate_per_s, 1000.0 * f64::from(1 << window.window));
        assert_eq!(window.span_ns, 100 * MILLISECOND);
        for class in &window.classes {
            assert_eq!((class.received, class.lost, class.reordered), (class.sent, 0, 0));
            assert_eq!((class.rtt.count(), class.rtt_from_kernel.count()), (class.sent, class.sent));
            assert_eq!((class.rtt.longest_ns, class.rtt.sum_ns), (MILLISECOND, class.sent * MILLISECOND));
        }
        assert_eq!((window.lateness.longest_ns, window.lateness.count()), (0, sent(&window.classes)));
    }
    let of_windows: u64 = report.windows.iter().map(|each| sent(&each.classes)).sum();
    assert_eq!(sent(&report.totals.classes), of_windows);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

fn sent(classes: &[Figures]) -> u64 {
    classes.iter().map(|class| class.sent).sum()
}

#[test]
fn a_stalled_server_is_seen_by_all_that_was_due_meanwhile() {
    // It stands still from 30 ms on for 20 ms; the schedule begins at 10 ms.
    let stall = 30 * MILLISECOND..50 * MILLISECOND;
    let report =
        answered(&constant(), move |_, now| vec![if stall.contains(&now) { 50 * MILLISECOND } else { now }]);
    let class = all(&report);
    assert_eq!(class.rtt.longest_ns, 20 * MILLISECOND);
    // 20 ms, 19 ms and so on: the sum of 1 to 20.
    assert_eq!(class.rtt.sum_ns, 210 * MILLISECOND);
}

#[test]
fn a_stalled_generator_is_in_the_round_trip_and_in_its_lateness_but_not_from_the_kernel() {
    let clock = FakeClock::new();
    let cost = |nth| if nth == 20 { 20 * MILLISECOND } else { 0 };
    let mut server = Server { cost, ..Server::new(&clock, |_, now| vec![now + 1000]) };
    let report = measured(&constant(), &mut server, &clock);
    let class = all(&report);
    assert_eq!(class.rtt.longest_ns, 20 * MILLISECOND + 1000);
    assert_eq!(class.rtt.sum_ns, (20 + 19 * 20 / 2) * MILLISECOND + 100_000);
    assert_eq!(class.rtt_from_kernel.longest_ns, 1000);
    assert_eq!(report.totals.lateness.longest_ns, 19 * MILLISECOND);
    assert!(
        report.warnings[0].starts_with("in 1 of 1 windows 1 % of the requests left later"),
        "{:?}",
        report.warnings
    );
}

#[test]
fn losses_duplicates_and_order_are_counted() {
    let report = answered(&constant(), |nth, now| match nth % 10 {
        1 => vec![],
        2 => vec![now, now + MILLISECOND / 2],
        // Behind the next two.
        3 => vec![now + 2 * MILLISECOND + 1],
        _ => vec![now],
    });
    let class = all(&report);
    assert_eq!((class.sent, class.received, class.lost), (100, 90, 10));
    assert_eq!((class.duplicates, class.reordered), (10, 10));
}

#[test]
fn answers_after_the_patience_are_late_and_their_requests_lost() {
    let plan = Plan { patience: Nanos::new(5 * MILLISECOND), ..constant() };
    let report = answered(&plan, |nth, now| vec![now + if nth == 7 { 20 * MILLISECOND } else { 0 }]);
    assert_eq!((all(&report).lost, report.totals.late_answers), (1, 1));
    // The end is waited for no longer than that.
    let report =
        answered(&plan, |nth, now| if nth == 99 { vec![now + 3_600_000 * MILLISECOND] } else { vec![now] });
    assert_eq!((all(&report).lost, report.totals.late_answers), (1, 0));
}

#[test]
fn what_cannot_be_sent_is_counted_and_no_loss() {
    let clock = FakeClock::new();
    // The first error is of an earlier request: it is sent again. The second is its own.
    let refuses = |nth| match nth {
        5 => Some(libc::ECONNREFUSED),
        9 => Some(libc::EPERM),
        _ => None,
    };
    let mut server = Server { refuses, ..Server::new(&clock, |_, now| vec![now]) };
    let report = measured(&constant(), &mut server, &clock);
    let class = all(&report);
    assert_eq!((class.sent, class.unsent, class.received, class.lost), (99, 1, 99, 0));
    assert_eq!(report.totals.errors.values().copied().collect::<Vec<_>>(), [1, 1]);
    assert!(report.warnings.iter().any(|each| each.starts_with("1 requests could not be sent")));
    // From the first error on it is not known what the kernel counts.
    assert_eq!(class.rtt_from_kernel.count(), 5);
}

#[test]
fn a_wall_clock_that_is_set_is_told_and_spoils_nothing() {
    let clock = FakeClock::new();
    let answers = |nth, now| {
        if nth == 50 {
            clock.set.set(3_600_000_000_000);
        }
        vec![now + MILLISECOND / 2]
    };
    let report = measured(&constant(), &mut Server::new(&clock, answers), &clock);
    let class = all(&report);
    assert_eq!((class.received, report.totals.wall_clock_steps), (100, 1));
    assert!(class.rtt.longest_ns <= 2 * MILLISECOND, "{}", class.rtt.longest_ns);
    assert!(
        report.warnings.iter().any(|each| each.contains("the wall clock was set 1 times, by 3600s in all"))
    );
}

#[test]
fn when_asked_to_end_it_tells_what_there_is() {
    let clock = FakeClock::new();
    let plan = Plan { windows: 4, ..constant() };
    let answers = |nth, now| {
        clock.stopped.set(nth >= 149);
        vec![now]
    };
    let report = measured(&plan, &mut Server::new(&clock, answers), &clock);
    assert!(report.stopped && text::text(&report).contains("ended early"));
    let windows: Vec<_> = report.windows.iter().map(|each| (each.span_ns, sent(&each.classes))).collect();
    assert_eq!(windows, [(100 * MILLISECOND, 100), (49 * MILLISECOND, 50)]);
}

#[test]
fn the_text_fits_a_narrow_terminal_and_the_json_has_what_was_promised() {
    let plan = Plan { classes: mix(), windows: 2, ..plan() };
    let report = answered(&plan, |nth, now| vec![now + nth * 1234]);
    let text = text::text(&report);
    assert!(text.lines().all(|line| line.chars().count() < 66), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    let (window, class) = (&json["windows"][1], &json["windows"][1]["classes"][1]);
    assert_eq!((&window["window"], &window["span_ns"]), (&1.into(), &(100 * MILLISECOND).into()));
    assert_eq!(class["name"], "long");
    for key in ["sent", "received", "lost", "reordered", "duplicates"] {
        assert!(class[key].is_u64(), "{key}");
    }
    assert!(class["rtt"]["buckets"][0][1].is_u64() && window["lateness"]["sum_ns"] == 0);
    assert!(json["totals"]["classes"][0]["sent"].is_u64() && json["warnings"] == serde_json::json!([]));
}

/// A server on the loopback until the test ends: it answers with what `answers` makes of a request.
fn echo(at: &str, answers: impl Fn(&UdpSocket, &[u8], SocketAddr) + Sync, test: impl FnOnce(SocketAddr)) {
    // Not every host has both versions.
    let Ok(server) = UdpSocket::bind(at) else { return };
    server.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let (target, over) = (server.local_addr().unwrap(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = [0; 2048];
            while !over.load(Ordering::Relaxed) {
                if let Ok((length, from)) = server.recv_from(&mut buffer) {
                    answers(&server, &buffer[..length], from);
                }
            }
        });
        test(target);
        over.store(true, Ordering::Relaxed);
    });
}

fn run(plan: Plan) -> Report {
    let stop = AtomicBool::new(false);
    super::run(&plan.checked().unwrap(), &SystemClock::new(Nanos::new(20_000), &stop, false)).unwrap()
}

#[test]
fn over_the_loopback_everything_is_answered_in_order_with_time_stamps() {
    for at in ["127.0.0.1:0", "[::1]:0"] {
        let answers = |server: &UdpSocket, request: &[u8], from| {
            assert_eq!(request.len(), 100);
            server.send_to(request, from).unwrap();
        };
        echo(at, answers, |target| {
            let report = run(Plan { target, flows: 3, size: 100, classes: mix(), windows: 2, ..plan() });
            assert_eq!(report.totals.errors.len(), 0, "{:?}", report.totals.errors);
            for class in &report.totals.classes {
                assert_eq!((class.received, class.lost, class.reordered), (class.sent, 0, 0), "{at}");
                assert_eq!((class.rtt.count(), class.rtt_from_kernel.count()), (class.sent, class.sent));
                assert!(class.rtt.sum_ns >= class.rtt_from_kernel.sum_ns);
            }
            assert_eq!((report.totals.unstamped, report.totals.foreign), (0, 0));
        });
    }
}

#[test]
fn over_the_loopback_losses_duplicates_and_garbage_are_told_apart() {
    let answers = |server: &UdpSocket, request: &[u8], from: SocketAddr| {
        let mut payload = Payload::read(request).unwrap();
        let number = payload.number;
        if number % 10 == 3 {
            return;
        }
        server.send_to(request, from).unwrap();
        if number % 10 == 4 {
            server.send_to(request, from).unwrap();
        }
        if number % 10 == 5 {
            server.send_to(b"short", from).unwrap();
            payload.due += 1;
            server.send_to(&payload.bytes(), from).unwrap();
        }
    };
    echo("127.0.0.1:0", answers, |target| {
        let patience = Nanos::new(200 * MILLISECOND);
        let report = run(Plan { target, patience, ..constant() });
        let class = all(&report);
        assert_eq!((class.sent, class.lost, class.duplicates), (100, 10, 10));
        assert_eq!((report.totals.foreign, class.reordered), (20, 0));
    });
}

#[test]
fn over_the_loopback_a_stall_shows_from_the_intended_departure() {
    let seen = AtomicU32::new(0);
    let answers = |server: &UdpSocket, request: &[u8], from| {
        if seen.fetch_add(1, Ordering::Relaxed) == 20 {
            std::thread::sleep(Duration::from_millis(40));
        }
        server.send_to(request, from).unwrap();
    };
    echo("127.0.0.1:0", answers, |target| {
        let report = run(Plan { target, ..constant() });
        let class = all(&report);
        assert_eq!((class.sent, class.received), (100, 100));
        // The 20 requests after it waited for at least half of the stall.
        let waited: u64 =
            class.rtt.buckets.iter().filter(|(end, _)| *end >= 20_000_000).map(|each| each.1).sum();
        assert!(class.rtt.longest_ns >= 40_000_000 && waited >= 20, "{waited}");
    });
}
