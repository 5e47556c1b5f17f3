//! The self-checks hold where they should, and fail where something is broken.

use super::script::{Given, all_checks_hold, drawn, open, outcome, scenario};
use weir_core::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use weir_core::item::Message;
use weir_core::message::fifo::Fifo;
use weir_core::spec::Spec;
use weir_core::units::{Instant, Nanos, Packets};
use weir_document::NamedDiscipline;
use weir_lab::result::Check;
use weir_sim::port::collector::{Collector, Metric, Plan};
use weir_sim::port::engine::Engine;
use weir_sim::port::figures::Frame;
use weir_sim::port::gathered::{Gathered, Left};
use weir_sim::port::outcome::ClassRow;
use weir_sim::port::plain::Plain;
use weir_sim::port::selfcheck;

const PACKETS: [&str; 6] =
    ["fifo", "rr_head", "alpha:10", "hrrn", "las:quantum=1", "outstanding(sf,limit=2)"];
const WHOLE: [&str; 6] = ["fifo", "ps", "sf", "psjf", "hrrn", "las:quantum=100000"];

#[test]
fn they_hold_for_packets() {
    for workload in [
        "load = 0.3",
        "load = 0.95",
        "load = 0.8\narrivals = \"deterministic\"",
        "load = 0.5\narrivals = { bursty = { peak = 4, burst = 50 } }",
        "load = 0.7\nflows = 4",
        "load = 0.7\nlengths = { uniform = [\"1pkt\", \"300pkt\"] }",
    ] {
        let rest = format!("[workload]\n{workload}\n[stop]\npackets = 400_000\nreplications = 2\n");
        all_checks_hold(&outcome(&scenario(&PACKETS, &rest), 1));
    }
}

#[test]
fn they_hold_where_latency_ends_at_completion() {
    for load in [0.1, 0.9] {
        let rest = format!(
            "[workload]\nload = {load}\n[stop]\npackets = 400_000\n[measure]\nlatency = \"completion\"\n"
        );
        all_checks_hold(&outcome(&scenario(&PACKETS, &rest), 1));
    }
}

#[test]
fn they_hold_for_whole_messages() {
    for (workload, service) in [
        ("load = 0.5", ""),
        ("load = 0.8\narrivals = \"deterministic\"", ""),
        ("load = 0.6\narrivals = { bursty = { peak = 3, burst = 20, quiet = 0.1 } }", ""),
        ("load = 0.8", "preemption = false"),
    ] {
        let rest = format!(
            "[workload]\n{workload}\nlengths = {{ exponential = \"2000B\" }}\n[service]\nrate = \"1Gbit\"\n\
             {service}\n[stop]\nmessages = 100_000\nreplications = 2\n"
        );
        all_checks_hold(&outcome(&scenario(&WHOLE, &rest), 1));
    }
}

#[test]
fn they_hold_for_a_trace() {
    let rest = "[workload]\nload = 0.9\npacket = \"1460B\"\n\
                [workload.trace]\nfile = \"data/packets/bulk-smb2.csv\"\ntime = \"t_ns\"\nlength = \"frame_bytes\"\n\
                flow = \"flow\"\ntime_unit = \"ns\"\nlength_unit = \"B\"\n[service]\nrate = \"1Gbit\"\n";
    all_checks_hold(&outcome(&scenario(&PACKETS, rest), 1));
}

#[test]
fn they_hold_in_a_closed_loop() {
    for think in ["", "think = { constant = \"3u\" }\n", "think = { exponential = \"30u\" }\n"] {
        let rest = format!("[workload.closed]\napplications = 6\n{think}[stop]\npackets = 100_000\n");
        all_checks_hold(&outcome(&scenario(&PACKETS, &rest), 1));
    }
}

/// A queue that does something wrong every fourth time.
#[derive(Default)]
struct Broken {
    queue: Fifo<Message>,
    wrong: Wrong,
    calls: u64,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Wrong {
    #[default]
    Nothing,
    /// Forgets a message.
    Forgets,
    /// Serves nobody over a backlog.
    Idles,
}

impl Broken {
    fn now(&mut self, wrong: Wrong) -> bool {
        self.calls += u64::from(self.wrong == wrong);
        self.wrong == wrong && self.calls.is_multiple_of(4)
    }
}

impl Discipline<Message> for Broken {
    fn enqueue(&mut self, now: Instant, item: Message, drops: &mut dyn Drops<Message>) -> Enqueued {
        if self.now(Wrong::Forgets) { Enqueued::Queued } else { self.queue.enqueue(now, item, drops) }
    }
    fn dequeue(
        &mut self,
        now: Instant,
        gate: &dyn Gate<Message>,
        drops: &mut dyn Drops<Message>,
    ) -> Option<Grant<Message>> {
        if self.now(Wrong::Idles) { None } else { self.queue.dequeue(now, gate, drops) }
    }
    fn backlog(&self) -> Backlog<Packets> {
        self.queue.backlog()
    }
}

fn frame() -> Frame {
    let all = ClassRow { name: "all".to_owned(), low: None, high: None, count: 0, mean_length: None };
    Frame {
        time_unit: "u",
        classes: vec![all],
        packet: Some(10.0),
        shared_instants: true,
        transmission: 0.0,
        is_steady: true,
    }
}

/// What the port does with so broken a queue.
fn gathered(name: &str, wrong: Wrong) -> Gathered {
    let metrics = vec![Metric::Latency];
    let plan = Plan::means(metrics, 1);
    let messages: Vec<Given> = (0..400).map(|number| (number * 29, 2, 0)).collect();
    let broken = Broken { wrong, ..Broken::default() };
    let mut engine = Plain::new(broken, open(&messages), drawn(&[10]), Nanos::new(0));
    let mut collector = Collector::new(plan.clone(), false);
    engine.advance(u64::MAX, &mut collector);
    let spec = Spec { name: name.to_owned(), arguments: Vec::new() };
    let named = NamedDiscipline::new(name, spec);
    let mut gathered = Gathered::new(&named, &plan, 1e9, 1);
    gathered.engine = "plain";
    let state = engine.state();
    gathered.add(0, Left { place: 0, engine: "plain", collector, state, audited: None, windows: Vec::new() });
    gathered
}

fn failed(wrong: Wrong) -> Vec<&'static str> {
    let (sound, broken) = (gathered("sound", Wrong::Nothing), gathered("broken", wrong));
    let checks = selfcheck::of_discipline(&broken, &sound, &frame());
    let mut failed: Vec<_> =
        checks.iter().filter(|check| check.ok == Some(false)).map(|check| check.check).collect();
    failed.dedup();
    failed
}

#[test]
fn a_sound_queue_fails_none() {
    assert!(failed(Wrong::Nothing).is_empty());
}

#[test]
fn a_queue_that_forgets_fails_flow_balance() {
    assert!(failed(Wrong::Forgets).contains(&"flow balance"));
}

#[test]
fn a_queue_that_idles_fails_work_conservation() {
    assert_eq!(failed(Wrong::Idles), ["work conservation"]);
}

#[test]
fn a_server_that_loses_time_fails_work_conservation() {
    let (sound, mut slow) = (gathered("sound", Wrong::Nothing), gathered("slow", Wrong::Nothing));
    slow.states[0].now += Nanos::new(1);
    let checks = selfcheck::of_discipline(&slow, &sound, &frame());
    let failed: Vec<&Check> = checks.iter().filter(|check| check.ok == Some(false)).collect();
    assert!(matches!(failed[..], [check] if check.check == "work conservation"), "{failed:?}");
}

#[test]
fn presence_that_is_not_rate_times_time_fails_littles_law() {
    let sound = gathered("sound", Wrong::Nothing);
    let mut wrong = gathered("wrong", Wrong::Nothing);
    wrong.states[0].message_time *= 2;
    let checks = selfcheck::of_discipline(&wrong, &sound, &frame());
    assert!(
        checks.iter().any(|check| check.check == "Little's law" && check.ok == Some(false)),
        "{checks:?}"
    );
}
