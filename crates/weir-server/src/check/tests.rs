//! Refusals, word by word, and what accepted scenarios become.

mod curve;

use std::path::Path;
use std::sync::Arc;

use crate::model::{
    After, Balk, Breaker, Burst, Cancel, Costs, Deadline, Draws, FanOut, Fault, Hedge, Hopeless, Known,
    Levels, Measure, Process, Retry, ServerScenario, Service, Stop, Workload,
};
use weir_core::pool::{DISPATCHER, POOL, Profile, Site};
use weir_core::units::{Nanos, Speed};
use weir_document::testing::{Folder, assert_bounds, grouped, names};
use weir_lab::scenario::Scenario;
use weir_lab::scenario::testing::Texts;
use weir_workload::duration::Law;
use weir_workload::requests::Requests;
use weir_workload::{Arrivals, Sizes};

/// With what the blocks of `refusals.txt` have in common.
const TEXTS: Texts<ServerScenario> = Texts::new(&[
    ("...", "weir = 1\nmodel = \"server\"\ndisciplines = [\"rr\"]"),
    ("{server}", "[server]\ncores = 2"),
    ("{class}", "[[class]]\nname = \"a\"\nservice = \"1us\""),
    ("{workload}", "[workload]\nload = 0.5"),
    (
        "{trace}",
        "[workload.trace]\nfile = \"x.csv\"\ntime_unit = \"us\"\nservice = { per_unit = { n = \"1us\" } }",
    ),
]);

fn nanos(count: u64) -> Nanos {
    Nanos::new(count)
}

#[test]
fn refusals_name_line_column_key_value_and_remedy() {
    TEXTS.assert_refusals(include_str!("refusals.txt"), &names(POOL.iter().chain(DISPATCHER)));
}

#[test]
fn what_is_not_said_is_one_receiver_and_bounded_queues() {
    let server = TEXTS.model("...\n{server}\n{class}\n{workload}");
    let classes = vec![Profile { share: 1.0, service: nanos(1_000) }];
    assert_eq!(
        server.site,
        Site { servers: 2, receivers: 1, classes, queue: Some(4096), speeds: Vec::new() }
    );
    assert_eq!((server.costs, server.known, server.load), (Costs::default(), Known::Exact, Some(0.5)));
    assert_eq!((server.disciplines.as_slice(), server.reference), (&["rr".to_owned()][..], 0));
    let Workload::Open(open) = &server.workload else { panic!("{:?}", server.workload) };
    assert_eq!(open.process, Process::Arrivals(Arrivals::Poisson));
    assert_eq!((open.mean_gap, open.levels, open.flows), (1_000.0, None, 1));
    let duration = nanos(200_000_000);
    assert_eq!(server.stop, Stop { warm_up: nanos(20_000_000), duration, replications: 10 });
    assert_eq!(
        server.measure,
        Measure { tails: true, order: false, window: None, over_time: false, verify: false }
    );
}

/// Every key but those of a trace and of clients.
const RICH: &str = r#"
weir = 1
model = "server"
title = "Two classes"
seed = 7
disciplines = ["rr(cores=4)", "per_server(rr,discipline=sf)", "cfcfs"]
reference = "rr:4"

[server]
cores = 8
receivers = 2
queue = "unbounded"
dispatch = "100ns"
ring = 512
hand_over = "200ns"
cold = "300ns"
known = { within = 2.0 }
speeds = [1.0, 0.5, 0.25]
fault = [{ core = 7, at = "2ms", lasts = "1ms", speed = 0.1 }, { core = 0, at = "0ns", lasts = "1us" }]

[[class]]
name = "short"
share = 0.995
service = "500ns"
slo = 10.0
patience = { exponential = "2ms" }
timeout = "5ms"
deadline = { within = "4ms", drop = "during" }
balk = { at = 100, probability = 0.25 }

[[class]]
name = "long"
service = { mixture = [["400us", 0.5], ["600us", 0.5]] }

[workload]
rate = "2M/s"
arrivals = { trains = { every = "10us", spacing = "5ns" } }
levels = { every = "1ms", count = 3, factor = 1.5 }
flows = 16
retry = { attempts = 4, backoff = "1ms", factor = 3.0, jitter = 1.0, budget = 0.2 }
breaker = { window = "1s", open = "5s", probes = 3 }

[stop]
duration = "10ms"
warm_up = "1ms"
replications = 3

[measure]
tails = false
order = true
window = "1ms"
verify = true
"#;

#[test]
fn everything_is_as_it_is_written() {
    let server = TEXTS.model(RICH);
    assert_eq!((server.title.as_str(), server.seed, server.reference), ("Two classes", 7, 0));
    assert_eq!(server.disciplines, ["rr(cores=4)", "per_server(rr,discipline=sf)", "cfcfs"]);
    assert_eq!((server.site.servers, server.site.receivers, server.site.queue), (8, 2, None));
    let costs = Costs { dispatch: nanos(100), hand_over: nanos(200), cold: nanos(300) };
    assert_eq!((server.costs, server.known, server.ring), (costs, Known::Within(2.0), Some(512)));
    let speeds = [1_000_000, 500_000, 250_000].map(Speed::new).into_iter().cycle().take(8);
    assert!(server.site.speeds.iter().copied().eq(speeds), "{:?}", server.site.speeds);
    let fault =
        |core, at, lasts, speed| Fault { core, at: nanos(at), lasts: nanos(lasts), speed: Speed::new(speed) };
    assert_eq!(server.faults, [fault(7, 2_000_000, 1_000_000, 100_000), fault(0, 0, 1_000, 0)]);
    let [short, long] = server.classes.as_slice() else { panic!("{:?}", server.classes) };
    assert_eq!((short.name.as_str(), short.share, short.slo), ("short", 0.995, Some(10.0)));
    assert!(matches!(short.patience, Some(Service::Law(Law::Exponential(mean))) if mean == nanos(2_000_000)));
    assert!(long.patience.is_none());
    assert!(matches!(short.service, Service::Law(Law::Constant(time)) if time == nanos(500)));
    assert_eq!((short.timeout, long.timeout), (Some(nanos(5_000_000)), None));
    let deadline = Deadline { within: nanos(4_000_000), drop: Hopeless::During };
    assert_eq!((short.deadline, long.deadline), (Some(deadline), None));
    assert_eq!((short.in_time(), long.in_time()), (Some(nanos(4_000_000)), None));
    assert_eq!((short.balk, long.balk), (Some(Balk { at: 100, probability: 0.25 }), None));
    let backoff = nanos(1_000_000);
    let retry = Retry { attempts: 4, backoff, factor: 3.0, jitter: 1.0, budget: Some(0.2) };
    assert_eq!(server.retry, Some(retry));
    let (window, open) = (nanos(1_000_000_000), nanos(5_000_000_000));
    assert_eq!(server.breaker, Some(Breaker { failures: 0.5, window, least: 100, open, probes: 3 }));
    assert!((long.share - 0.005).abs() < 1e-12 && long.slo.is_none(), "{}", long.share);
    let mixture = Sizes::list(&[(400_000, 0.5), (600_000, 0.5)]).expect("valid");
    assert!(matches!(&long.service, Service::Sizes(sizes) if **sizes == mixture));
    assert_eq!(server.site.classes[1].service, nanos(500_000));
    let Workload::Open(open) = &server.workload else { panic!("{:?}", server.workload) };
    assert_eq!(open.process, Process::Trains { every: nanos(10_000), spacing: nanos(5) });
    let levels = Levels { every: nanos(1_000_000), count: 3, factor: 1.5 };
    assert_eq!((open.mean_gap, open.levels, open.flows), (500.0, Some(levels), 16));
    let load = server.load.expect("a load");
    assert!((load - 2e6 * (0.995 * 500e-9 + 0.005 * 500e-6) / 5.0).abs() < 1e-9, "{load}");
    let duration = nanos(10_000_000);
    assert_eq!(server.stop, Stop { warm_up: nanos(1_000_000), duration, replications: 3 });
    let window = Some(nanos(1_000_000));
    assert_eq!(server.measure, Measure { tails: false, order: true, window, over_time: false, verify: true });
}

#[test]
fn requests_become_a_duration_by_the_rate_and_its_levels() {
    let duration = |workload: &str| {
        let text = format!("...\n{{server}}\n{{class}}\n[workload]\nrate = \"1M/s\"\n{workload}");
        TEXTS.model(&text).stop.duration
    };
    assert_eq!(duration("[stop]\nrequests = 5_000\nreplications = 5"), nanos(1_000_000));
    let levels = "levels = { every = \"1ms\", count = 3 }";
    // 1,000 in the first level, 2,000 in the second, then 4 in a microsecond.
    let stop = |requests: u64| format!("{levels}\n[stop]\nreplications = 1\nrequests = {requests}");
    assert_eq!(duration(&stop(500)), nanos(500_000));
    assert_eq!(duration(&stop(2_000)), nanos(1_500_000));
    assert_eq!(duration(&stop(11_000)), nanos(4_000_000));
    assert_eq!(duration(levels), nanos(3_000_000));
}

#[test]
fn a_burst_brings_more_requests_than_the_rate() {
    let server = |stop: &str| {
        let burst = "burst = { at = \"1ms\", lasts = \"2ms\", factor = 3.0 }";
        TEXTS.model(&format!("...\n{{server}}\n{{class}}\n[workload]\nrate = \"1M/s\"\n{burst}\n{stop}"))
    };
    let duration =
        |requests: u64| server(&format!("[stop]\nreplications = 1\nrequests = {requests}")).stop.duration;
    // 1,000 in the first millisecond, 6,000 in the next two, then 1,000 in each.
    assert_eq!([500, 4_000, 9_000].map(duration), [500_000, 2_000_000, 5_000_000].map(nanos));
    let Workload::Open(open) = server("").workload else { panic!("open") };
    assert_eq!(open.burst, Some(Burst { at: nanos(1_000_000), lasts: nanos(2_000_000), factor: 3.0 }));
    assert!((open.requests_before(nanos(5_000_000)) - 9_000.0).abs() < 1e-6);
}

#[test]
fn laws_have_their_means() {
    let load = |service: &str| {
        let class = format!("[[class]]\nname = \"a\"\nservice = {service}");
        TEXTS.model(&format!("...\n{{server}}\n{class}\n[workload]\nrate = \"1M/s\"")).load.expect("a load")
    };
    assert!((load("\"3us\"") - 1.5).abs() < 1e-9);
    assert!((load("{ exponential = \"1us\" }") - 0.5).abs() < 1e-9);
    assert!((load("{ uniform = [\"1us\", \"3us\"] }") - 1.0).abs() < 1e-9);
    assert!((load("{ mixture = [[\"1us\", 0.5], [\"5us\", 0.5]] }") - 1.5).abs() < 1e-9);
    for law in [
        "{ lognormal = { mean = \"1us\", cv = 1.5 } }",
        "{ gamma = { mean = \"1us\", cv = 0.5 } }",
        "{ gamma = { shape = 2.0, scale = \"500ns\" } }",
        "{ erlang = { stages = 3, mean = \"1us\" } }",
        "{ weibull = { shape = 0.7, mean = \"1us\" } }",
        "{ weibull = { shape = 1.0, scale = \"1us\" } }",
        "{ pareto = { alpha = 2.5, mean = \"1us\" } }",
        "{ pareto = { alpha = 2.0, minimum = \"500ns\" } }",
        "{ hyperexponential = { mean = \"1us\", cv = 3.0 } }",
        "{ hyperexponential = { branches = [[\"500ns\", 0.5], [\"1500ns\", 0.5]] } }",
        "{ coxian = { means = [\"500ns\", \"1us\"], go_on = [0.5] } }",
        "{ phase_type = { initial = [1.0], means = [\"500ns\"], next = [[0.5]] } }",
        "{ empirical = [[\"0ns\", 0.0], [\"2us\", 1.0]] }",
        "{ mixture = [[\"500ns\", 0.5], [{ erlang = { stages = 2, mean = \"1500ns\" } }, 0.5]] }",
    ] {
        assert!((load(law) - 0.5).abs() < 1e-9, "{law}");
    }
}

/// Two cores and a mean of 1 us: of those that wait, each takes half a microsecond.
#[test]
fn an_expected_wait_is_a_number_that_waits() {
    let at = |wait: &str| {
        let class = format!("{{class}}\nbalk = {{ wait = \"{wait}\" }}");
        TEXTS.model(&format!("...\n{{server}}\n{class}\n{{workload}}")).classes[0].balk.expect("a rule").at
    };
    assert_eq!([at("500ns"), at("999ns"), at("5us")], [1, 1, 10]);
}

#[test]
fn clients_think_and_are_flows() {
    let closed = "[workload]\nclosed = { clients = 64, think = { exponential = \"10us\" } }";
    let server = TEXTS.model(&format!("...\n{{server}}\n{{class}}\n{closed}\n[stop]\nduration = \"1s\""));
    let Workload::Closed(closed) = &server.workload else { panic!("{:?}", server.workload) };
    assert_eq!(closed.clients, 64);
    assert!(matches!(closed.think, Service::Law(Law::Exponential(mean)) if mean == nanos(10_000)));
    assert_eq!((server.load, server.stop.duration), (None, nanos(1_000_000_000)));
    let closed = "[workload]\nclosed = { clients = 4, think = { gamma = { mean = \"10us\", cv = 0.5 } } }";
    let server = TEXTS.model(&format!("...\n{{server}}\n{{class}}\n{closed}\n[stop]\nduration = \"1s\""));
    let Workload::Closed(closed) = &server.workload else { panic!("{:?}", server.workload) };
    assert!(matches!(closed.think, Service::Textbook(_)) && (closed.think.mean() - 1e4).abs() < 1e-6);
}

/// With a file of requests.
fn read(folder: &Folder, text: &str, requests: &str) -> Result<Scenario<ServerScenario>, String> {
    folder.write("x.csv", requests);
    TEXTS.read_in(folder.path(), text)
}

/// What is read is a trace.
fn traced(scenario: Result<Scenario<ServerScenario>, String>) -> (ServerScenario, Arc<Requests>) {
    let server = scenario.unwrap_or_else(|refusal| panic!("{refusal}")).model;
    let Workload::Trace(requests) = &server.workload else { panic!("{:?}", server.workload) };
    let requests = Arc::clone(requests);
    (server, requests)
}

const TWO: &str = "[[class]]\nname = \"short\"\nslo = 5.0\n[[class]]\nname = \"long\"";

#[test]
fn a_trace_has_its_own_shares_and_services() {
    let folder = Folder::new("shares");
    let text = format!("...\n{{server}}\n{TWO}\n{{trace}}\nsplit = {{ service = [\"4us\"] }}");
    let (server, requests) = traced(read(&folder, &text, "time,n\n10,2\n12,6\n14,2\n16,2\n"));
    assert_eq!(requests.at, [0, 2_000, 4_000, 6_000]);
    assert_eq!(requests.class, [0, 1, 0, 0]);
    let shares: Vec<f64> = server.classes.iter().map(|class| class.share).collect();
    assert_eq!((shares, server.classes[0].slo), (vec![0.75, 0.25], Some(5.0)));
    assert_eq!(server.site.classes[0], Profile { share: 0.75, service: nanos(2_000) });
    // 12 us of work for 2 cores in 8 us.
    assert_eq!((server.load, server.stop.duration), (Some(0.75), nanos(6_001)));
    assert_eq!((server.stop.warm_up, server.stop.replications), (nanos(0), 1));
}

#[test]
fn a_load_stretches_a_trace() {
    let folder = Folder::new("load");
    let text = "...\n{server}\n{class}\n[workload]\nload = 0.375\n{trace}".replace("\nservice = \"1us\"", "");
    let text = TEXTS.filled(&text).replace("service = \"1us\"\n", "");
    let (server, requests) = traced(read(&folder, &text, "time,n\n10,2\n12,6\n14,2\n16,2\n"));
    assert_eq!((requests.at.as_slice(), server.load), (&[0, 4_000, 8_000, 12_000][..], Some(0.375)));
}

#[test]
fn refusals_of_a_trace_name_the_row() {
    let folder = Folder::new("refusals");
    let named = format!("...\n{{server}}\n{TWO}\n{{trace}}\nclass = \"kind\"");
    for (text, requests, expected) in [
        (
            &named,
            "time,n,kind\n0,1,lnog\n",
            "x.csv:2:3: kind lnog is not a class of the scenario: did you mean `long`?",
        ),
        (
            &named,
            "time,n,kind\n0,-1,long\n",
            "x.csv:2:2: n is -1, must be a number from 0 up: correct or remove the row",
        ),
        (
            &named,
            "time,n,kind\n1,1,long\n0,1,long\n",
            "x.csv:3:1: time 0 is before the time of the row above: sort",
        ),
        (
            &named,
            "time,n,kind\n1,1,long\n",
            "s.toml:7:8: class.name \"short\" is a class without a request in the trace: ",
        ),
    ] {
        let error = read(&folder, text, requests).expect_err(requests);
        assert!(error.contains(expected), "{error}");
    }
    let thin = "...\n{server}\n[[class]]\nname = \"a\"\n{trace}\nthin = 0.000001";
    let error = read(&folder, thin, "time,n\n0,1\n1,1\n").expect_err("refused");
    assert!(
        error.contains("x.csv: has 2 rows, none of which is kept: raise `thin`, or remove it"),
        "{error}"
    );
    let one = "...\n{server}\nreceivers = 2\n[[class]]\nname = \"a\"\n{trace}";
    let error = read(&folder, one, "time,n\n0,1\n").expect_err("refused");
    assert!(
        error.contains("server.receivers is 2, leaves some without a flow, for the trace has 1: "),
        "{error}"
    );
}

/// A trace of the repository, under `data`.
fn of_the_repository(classes: &str, trace: &str) -> (ServerScenario, Arc<Requests>) {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data"));
    traced(TEXTS.read_in(folder, &format!("...\n{{server}}\n{classes}\n[workload.trace]\n{trace}")))
}

#[test]
fn requests_to_a_model_jobs_and_packets_are_read() {
    let two = "[[class]]\nname = \"few\"\n[[class]]\nname = \"many\"";
    let tokens = "file = \"requests/azure-llm-2023-code.csv.gz\"\ntime = \"TIMESTAMP\"\ntime_unit = \"timestamp\"\n\
                  service = { base = \"5ms\", per_unit = { ContextTokens = \"0.2ms\", GeneratedTokens = \"20ms\" } }\n\
                  split = { column = \"GeneratedTokens\", at = [10] }";
    let (server, requests) = of_the_repository(two, tokens);
    // 4,808 tokens in and 10 out; 3,180 and 8 come 52 ms later.
    assert_eq!((requests.at[1], requests.class[0], requests.class[1]), (52_000_000, 1, 0));
    assert_eq!((requests.service[0], requests.service[1]), (1_166_600_000, 801_000_000));
    assert!((server.classes[0].share + server.classes[1].share - 1.0).abs() < 1e-12);
    let one = "[[class]]\nname = \"job\"";
    let jobs = "file = \"requests/fb-hadoop-jobs-2009.tsv\"\nheader = false\nseparator = \"tab\"\ntime = \"2\"\n\
                time_unit = \"s\"\nservice = { base = \"1s\", per_unit = { 4 = \"0.01ns\", 5 = \"0.01ns\", 6 = \"0.01ns\" } }";
    let (_, requests) = of_the_repository(one, jobs);
    assert_eq!((requests.at[1], requests.service[0]), (52_000_000_000, 1_000_037_078));
    let packets = "file = \"packets/web-http.csv\"\ntime = \"t_ns\"\ntime_unit = \"ns\"\n\
                   service = { base = \"300ns\", per_unit = { frame_bytes = \"0.8ns\" } }";
    let (server, requests) = of_the_repository("[[class]]\nname = \"packet\"", packets);
    assert!(requests.flow.iter().any(|flow| *flow > 0) && server.load.is_some_and(|load| load > 0.0));
}

#[test]
fn a_trace_is_part_of_the_fingerprint() {
    let folder = Folder::new("fingerprint");
    let text = "...\n{server}\n[[class]]\nname = \"a\"\n{trace}";
    let first = read(&folder, text, "time,n\n0,1\n").expect("valid");
    let second = read(&folder, text, "time,n\n0,2\n").expect("valid");
    assert_eq!(first.frame.scenario, second.frame.scenario);
    assert_ne!(first.frame.fingerprint, second.frame.fingerprint);
}

#[test]
fn the_schema_knows_the_keys() {
    TEXTS.assert_keys(&[
        "hand_over",
        "trains",
        "levels",
        "per_unit",
        "clients",
        "slo",
        "patience",
        "timeout",
        "deadline",
        "balk",
        "retry",
        "breaker",
        "burst",
        "curve",
        "d0",
        "mmpp",
        "speeds",
        "fault",
        "fan_out",
        "need",
        "hedge",
        "quantile",
    ]);
}

#[test]
fn the_document_has_the_bounds_of_the_code() {
    use super::{LONGEST_COST, LONGEST_QUEUE, LONGEST_RUN, LONGEST_SERVICE, QUEUE, WRONGEST};
    use super::{classes, fan_out, leaving, measure, requests, retry, speeds, workload};
    use weir_core::pool::{MAX_CLASSES, MAX_SERVERS};
    use weir_workload::curve::{MAX_POINTS, MAX_RATIO};
    let seconds = |span: Nanos| format!("{} s", grouped(span.get() / 1_000_000_000));
    let count = |number: f64| grouped(number as u64);
    let bounds = [
        ("`server.cores`", format!("| 1 to {} |", grouped(MAX_SERVERS.into()))),
        ("`server.receivers`", format!("| 1 to {},", grouped(MAX_SERVERS.into()))),
        ("`server.queue`", format!("| 1 to {}, or `unbounded`", grouped(LONGEST_QUEUE))),
        ("`server.queue`", format!("at most some {} requests", count(workload::MOST_WAITING))),
        ("`server.queue`", format!("| {QUEUE} |")),
        ("`server.ring`", format!("| 1 to {}, or `unbounded`", grouped(LONGEST_QUEUE))),
        ("`server.dispatch`", format!("| at most {} |", seconds(LONGEST_COST))),
        ("`server.speeds`", format!("from {} to 1,", speeds::SLOWEST)),
        ("`server.fault`", format!("at most {};", grouped(speeds::MOST_FAULTS as u64))),
        ("`server.known`", format!("from 1 to {})", count(WRONGEST))),
        ("`class`", format!("| 1 to {MAX_CLASSES};")),
        ("`class.share`", format!("within {}", classes::SUM_TOLERANCE)),
        ("`class.service`", format!("at most {}", seconds(LONGEST_SERVICE))),
        ("`class.patience`", format!("at most {}", seconds(LONGEST_SERVICE))),
        ("`class.slo`", format!("at most {}", count(classes::LARGEST_SLO))),
        ("`workload.burst`", format!("to {};", count(workload::MAX_FACTOR))),
        ("`workload.curve`", format!("at most {} points", grouped(MAX_POINTS as u64))),
        ("`workload.curve`", format!("at most {} between", count(MAX_RATIO))),
        ("`class.timeout`", format!("at most {}", seconds(LONGEST_SERVICE))),
        ("`class.deadline`", format!("at most {}", seconds(LONGEST_SERVICE))),
        ("`class.balk`", format!("1 to {}", grouped(leaving::MOST_FOUND))),
        ("`workload.retry`", format!("2 to {} attempts", retry::MOST_ATTEMPTS)),
        ("`workload.retry`", format!("factor from 1 to {}", count(retry::LARGEST_FACTOR))),
        ("`workload.retry`", format!("budget at most {}", count(retry::LARGEST_BUDGET))),
        ("`workload.breaker`", format!("1 to {} attempts", grouped(retry::MOST_COUNTED))),
        ("`workload.breaker`", format!("at most {}", seconds(LONGEST_SERVICE))),
        ("`workload.fan_out`", format!("to from 1 to {}", grouped(MAX_SERVERS.into()))),
        ("`workload.hedge`", format!("quantile from {} to {};", fan_out::QUANTILES.0, fan_out::QUANTILES.1)),
        ("`workload.hedge`", format!("at most {}", seconds(LONGEST_SERVICE))),
        ("`workload.rate`", format!("at most {}", count(workload::HIGHEST_RATE))),
        ("`workload.levels`", format!("1 to {} levels", workload::MAX_LEVELS)),
        ("`workload.levels`", format!("to {}, in all", count(workload::MAX_FACTOR))),
        ("`workload.arrivals`", format!("at most {} in a train", count(workload::LONGEST_TRAIN))),
        ("`workload.flows`", format!("1 to {},", grouped(workload::MAX_FLOWS))),
        ("`workload.trace`", format!("| {}, of", grouped(requests::MAX_REQUESTS as u64))),
        ("`workload.trace`", format!("of {} flows", grouped(workload::MAX_FLOWS))),
        ("`workload.trace`", format!("{} columns", requests::MAX_COSTS)),
        ("`stop.requests`", format!("| {}, or all levels, or a curve once |", grouped(measure::REQUESTS))),
        ("`stop.duration`", format!("at most {} |", seconds(LONGEST_RUN))),
        ("`measure.window`", format!("{} us or more", measure::SHORTEST_WINDOW.get() / 1_000)),
        ("`measure.window`", format!("{} windows", grouped(crate::run::MOST_WINDOWS))),
    ];
    assert_bounds(include_str!("../../../../docs/scenario.md"), bounds);
}

#[test]
fn a_fan_out_is_all_of_own_services_and_a_load_counts_all_sub_requests() {
    let server = |keys: &str| TEXTS.model(&format!("...\n{{server}}\n{{class}}\n{{workload}}\n{keys}"));
    let plain = FanOut { to: 2, need: 2, cancel: Cancel::Waiting, service: Draws::Own, hedge: None };
    let all = server("fan_out = { to = 2 }");
    assert_eq!(all.fan_out, Some(plain));
    let Workload::Open(open) = &all.workload else { panic!("{:?}", all.workload) };
    assert_eq!((open.mean_gap, all.steady_load()), (2_000.0, Some(0.5)));
    let first = server("fan_out = { to = 2, need = 1, cancel = \"all\", service = \"shared\" }");
    let (cancel, service) = (Cancel::All, Draws::Shared);
    assert_eq!(first.fan_out, Some(FanOut { need: 1, cancel, service, ..plain }));
    let hedge = |after| Hedge { after, cancel: Cancel::Waiting, service: Draws::Own };
    let alone = server("hedge = { after = \"10ms\" }").fan_out.expect("a second copy");
    assert_eq!((alone.to, alone.need), (1, 1));
    assert_eq!(alone.hedge, Some(hedge(After::Span(nanos(10_000_000)))));
    let both = server("fan_out = { to = 2 }\nhedge = { after = { quantile = 0.9 } }").fan_out;
    assert_eq!(both, Some(FanOut { hedge: Some(hedge(After::Quantile(0.9))), ..plain }));
}

#[test]
fn dispatchers_that_go_without_a_fan_out_are_listed_ones() {
    for name in super::fan_out::ALONE {
        assert!(DISPATCHER.iter().any(|info| info.name == name), "{name}");
    }
}
