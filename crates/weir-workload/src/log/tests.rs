//! Logs in every format, refusals, order, and the figures of arrivals that are known.

use super::*;
use proptest::prelude::*;
use weir_lab::stream::{Purpose, Stream, StreamKey};

fn reading(format: LogFormat) -> Reading {
    Reading {
        format,
        time: "t".to_owned(),
        stamp: Stamp::S,
        time_of: TimeOf::Arrival,
        service: ("took".to_owned(), DurationUnit::Ms),
        duration: None,
        class: None,
        status: None,
        disorder: 1_000_000_000,
    }
}

const CSV: LogFormat = LogFormat::Csv(Separator::Comma, true);

fn from(text: &str, reading: &Reading) -> Result<Log, String> {
    read(text.as_bytes(), "a.log", reading).map_err(|refused| refused.to_string())
}

fn pairs(log: &Log) -> Vec<(u64, u64)> {
    log.requests.iter().map(|request| (request.at, request.service)).collect()
}

#[test]
fn formats_are_known_by_their_first_line() {
    let nginx = r#"h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5 "-" "x" 0.5 0.4"#;
    let envoy = r#"[2016-04-15T20:17:00.310Z] "GET / HTTP/2" 204 - 154 0 226 100 "a""#;
    for (text, format) in [
        ("t,took\n1,2\n", CSV),
        ("t;took\n1;2\n", LogFormat::Csv(Separator::Semicolon, true)),
        ("# seen\n1\t2\t3\n", LogFormat::Csv(Separator::Tab, false)),
        ("2023-11-16T18:17:03Z,12\n", LogFormat::Csv(Separator::Comma, false)),
        ("{\"t\": 1}\n", LogFormat::JsonLines),
        (nginx, LogFormat::Access),
        (envoy, LogFormat::Envoy),
    ] {
        assert_eq!(survey(text.as_bytes(), "a.log", None).expect(text).format, format, "{text}");
    }
}

#[test]
fn a_survey_shows_columns_as_they_look() {
    let text = "{\"http\": {\"status\": 200}, \"ts\": \"2023-11-16T18:17:03Z\", \"took\": \"1.5ms\", \"list\": []}\n";
    let found = survey(text.as_bytes(), "a.log", None).expect("valid");
    let columns: Vec<_> =
        found.columns.iter().map(|column| (column.name.as_str(), column.stamp, column.unit)).collect();
    let expected = [
        ("http.status", None, None),
        ("took", None, Some(DurationUnit::Written)),
        ("ts", Some(Stamp::Iso), None),
    ];
    assert!(columns.len() == 3 && expected.iter().all(|column| columns.contains(column)), "{columns:?}");
}

/// Found by fuzzing: a row of fewer fields than the one before it.
#[test]
fn a_short_row_is_surveyed_and_refused_when_read() {
    let text = "aaaaaaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbbbbbbbbb,c,d\n1,2\n";
    assert_eq!(survey(text.as_bytes(), "a.log", None).expect("a table").columns[3].example, "");
    let of = Reading { time: "c".to_owned(), ..reading(CSV) };
    assert!(from(text, &Reading { service: ("d".to_owned(), DurationUnit::S), ..of }).is_err());
}

#[test]
fn requests_are_in_order_of_arrival() {
    let ends = Reading { time_of: TimeOf::End, ..reading(CSV) };
    // The second ends first, and arrived last.
    let log = from("t,took\n10.5,20\n11.25,1000\n", &ends).expect("valid");
    assert_eq!(pairs(&log), [(0, 1_000_000_000), (230_000_000, 20_000_000)]);
}

#[test]
fn a_time_to_the_end_may_be_another_than_the_service() {
    let both = Reading {
        time_of: TimeOf::End,
        duration: Some(("all".to_owned(), DurationUnit::S)),
        class: Some("kind".to_owned()),
        status: Some("code".to_owned()),
        ..reading(CSV)
    };
    let text = "t,took,all,kind,code\n10,20,1,b,200\n10.5,30,0.25,a,504\n11,0,0,b,x\n";
    let log = from(text, &both).expect("valid");
    assert_eq!(pairs(&log), [(0, 20_000_000), (1_250_000_000, 30_000_000), (2_000_000_000, 500_000)]);
    assert_eq!(log.classes, ["b", "a"]);
    assert_eq!(log.requests.iter().map(|request| request.class).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!((log.noted.statuses, log.noted.given_up, log.noted.zero_services), ([0, 1, 0, 0, 1, 1], 1, 1));
    let totals: Vec<_> = log.class_totals().iter().map(|total| (total.count, total.mean_ns)).collect();
    assert_eq!(totals, [(2, 10_250_000.0), (1, 30_000_000.0)]);
    assert_eq!((log.services_of(0, 1), log.services_of(1, 9)), (vec![20e6], vec![30e6]));
    assert_eq!(log.gaps(9), [1.25e9, 0.75e9]);
    let mut out = Vec::new();
    write_csv(&log, &mut out).expect("written");
    let expected = "time_ns,service_ns,class\n0,20000000,b\n1250000000,30000000,a\n2000000000,500000,b\n";
    assert_eq!(String::from_utf8(out).expect("text"), expected);
}

#[test]
fn json_lines_may_have_their_keys_in_any_order() {
    let text = "{\"t\": 1700000000.5, \"r\": {\"took\": 2}}\n\n{\"r\": {\"took\": 3, \"x\": [1]}, \"t\": 1700000002}\n";
    let nested =
        Reading { service: ("r.took".to_owned(), DurationUnit::Ms), ..reading(LogFormat::JsonLines) };
    assert_eq!(pairs(&from(text, &nested).expect("valid")), [(0, 2_000_000), (1_500_000_000, 3_000_000)]);
}

fn nginx(times: &[&str]) -> String {
    let line = |rest: &&str| {
        format!("h - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x\" {rest}\n")
    };
    times.iter().map(line).collect()
}

fn of_nginx() -> Reading {
    Reading {
        format: LogFormat::Access,
        time: "time".to_owned(),
        stamp: Stamp::Common,
        time_of: TimeOf::End,
        service: ("upstream_response_time".to_owned(), DurationUnit::S),
        duration: Some(("request_time".to_owned(), DurationUnit::S)),
        class: Some("path".to_owned()),
        status: Some("status".to_owned()),
        disorder: 1_000_000_000,
    }
}

#[test]
fn times_of_several_upstreams_are_summed_and_without_one_a_request_is_left_out() {
    let log = from(&nginx(&["0.300 0.100, 0.050", "0.000 -", "0.2 0.1 : -"]), &of_nginx()).expect("valid");
    let mut services: Vec<u64> = log.requests.iter().map(|request| request.service).collect();
    services.sort_unstable();
    assert_eq!(services, [100_000_000, 150_000_000]);
    assert_eq!((log.noted.without_service, log.noted.statuses[1]), (1, 3));
}

#[test]
fn coarse_times_are_spread_and_fine_ones_stay() {
    let log = from(&nginx(&["0.001 0.001"; 200]), &of_nginx()).expect("valid");
    assert!(log.noted.spread && log.requests.last().expect("some").at > 900_000_000);
    assert!(log.requests.last().expect("some").at < 1_000_000_000);
    let fine: String = (0..200).map(|n| format!("{}.{:09},1\n", n / 4, 250_000_000 * (n % 4) + 1)).collect();
    let log = from(&format!("t,took\n{fine}"), &reading(CSV)).expect("valid");
    assert!(!log.noted.spread && log.requests[1].at == 250_000_000);
}

#[test]
fn refusals_name_the_line() {
    for (text, expected) in [
        ("", "a.log: is empty: give a log"),
        ("t,took\n", "a.log: has no requests: give a line a request"),
        ("t,x\n1,2\n", "a.log: took is not a column of the log: the columns are `t`, `x`"),
        ("t,took\n1,2\n2,\n", "a.log:3:2: took is empty, must be a number of milliseconds from 0 up"),
        ("t,took\n1,2\n,2\n", "a.log:3:1: t is empty, must be a number of seconds from 0 up"),
        ("t,took\n1,-2\n", "a.log:2:2: took is -2, must be a number of milliseconds from 0 up"),
        ("t,took\n-1,2\n", "a.log:2:1: t is -1, must be a number of seconds from 0 up"),
        ("t,took\n1\n", "a.log:2:1: the row has 1 fields, must have 2 like the first"),
        ("t,took\n9,2\n4,2\n", "a.log:3:1: t 4 is 5.000000000 s before a line above, must be at most 1"),
        ("t,took\n1,6e7\n2,6.1e7\n", "a.log:3:2: took 6.1e7 is 61000.000000000 s, must be at most 60000 s"),
        ("t,took\n1,1\n2e8,1\n", "a.log: spans 199999999 s, must span less than 100000000 s"),
        ("t,took\n0,1\n4e9,1\n9e9,1\n", "a.log:4:1: t 9e9 is more than 140 years from the first line"),
    ] {
        let refused = from(text, &reading(CSV)).expect_err(text);
        assert!(refused.starts_with(expected), "{refused}");
    }
    let json = reading(LogFormat::JsonLines);
    for (text, expected) in [
        ("{\"t\": 1, \"took\": 1}\n{\"t\": 2\n", "a.log:2:1: the line is no JSON: "),
        ("{\"t\": 1, \"took\": 1}\n[1]\n", "a.log:2:1: the line is JSON and no object"),
        ("{\"t\": 1, \"took\": 1}\n{\"t\": 2}\n", "a.log:2:1: took is empty, must be"),
        ("{\"t\": 1, \"took\": null}\n", "a.log:1:1: took is empty, must be"),
    ] {
        let refused = from(text, &json).expect_err(text);
        assert!(refused.starts_with(expected), "{refused}");
    }
    let cut = format!("{}h - - [10/Oct/2000", nginx(&["0.1 0.1"]));
    let refused = from(&cut, &of_nginx()).expect_err("cut");
    assert!(refused.starts_with("a.log:2:1: a `[` of the line is not closed"), "{refused}");
    let none = from(&nginx(&["0.1 -"]), &of_nginx()).expect_err("none");
    assert!(
        none.starts_with("a.log: has no request with a `upstream_response_time`: 1 lines have `-`"),
        "{none}"
    );
}

fn stream() -> Stream {
    Stream::new(StreamKey { seed: 5, replication: 0, purpose: Purpose::Test, index: 0 })
}

/// A log of requests at these times, in nanoseconds, with services of these.
fn logged(times: &[u64], services: &[u64]) -> Dispersion {
    let rows = times.iter().zip(services).map(|(time, service)| format!("{time},{service}\n"));
    let text: String = core::iter::once("t,took\n".to_owned()).chain(rows).collect();
    let of = Reading { stamp: Stamp::Ns, service: ("took".to_owned(), DurationUnit::Ns), ..reading(CSV) };
    from(&text, &of).expect("valid").dispersion()
}

/// The index of dispersion of a Poisson process is 1 at every window; of one that brings `k` at once it is `k`, since then
/// `Var N = k² λw` and `E N = k λw` (Cox, Lewis 1966, section 4.6).
#[test]
fn the_index_of_dispersion_is_one_of_poisson_and_k_of_batches() {
    for k in [1, 4] {
        let (mut draws, mut at, mut times) = (stream(), 0, Vec::new());
        for _ in 0..40_000 {
            at += draws.next_exponential(1e6);
            times.extend(vec![at; k]);
        }
        let found = logged(&times, &vec![1_000; times.len()]);
        assert_eq!(found.windows.len(), 3);
        for window in &found.windows {
            let scale = k as f64;
            // Of batches the range is that of k times a Poisson count.
            let (low, high) = (window.poisson.0 * scale, window.poisson.1 * scale);
            let wider = 0.5 * (high - low);
            assert!((low - wider..high + wider).contains(&window.index), "{window:?}");
        }
        let gaps = found.gaps.expect("some");
        // Gaps of batches: one in k is exponential of k times the mean, the others are 0, so that 1 + scv = 2k.
        assert!((gaps.scv.expect("some") - (2.0 * k as f64 - 1.0)).abs() < 0.25, "{gaps:?}");
    }
}

/// Of a first-order autoregressive sequence with coefficient `a` the lag-1 correlation is `a` (Cox, Lewis 1966, section 5.2).
#[test]
fn the_correlation_of_an_autoregressive_sequence_is_its_coefficient() {
    let (mut draws, mut value) = (stream(), 0.0);
    let services: Vec<u64> = (0..40_000)
        .map(|_| {
            value = 0.6 * value + draws.next_uniform() - 0.5;
            ((value + 10.0) * 1e6) as u64
        })
        .collect();
    let times: Vec<u64> = (0..40_000).map(|n| n * 1_000_003).collect();
    let found = logged(&times, &services);
    let correlation = found.services.correlation.expect("some");
    assert!((correlation - 0.6).abs() < 3.0 * found.independent, "{correlation}");
    assert_eq!(found.gaps.expect("some").correlation, None);
    assert!(found.windows.iter().all(|window| window.index < 0.1));
}

proptest! {
    /// Whatever a log holds, it is refused with a place or gives requests in order.
    #[test]
    fn no_text_is_too_much(text in r#"[ -~\n"\[\]{},;:.0-9a]{0,200}"#, head in 0..5_usize) {
        let heads = [
            "t,took\n1,2\n".to_owned(),
            "{\"t\":1,\"took\":2}\n".to_owned(),
            nginx(&["0.1 0.1"]),
            "[2016-04-15T20:17:00.310Z] \"GET / HTTP/2\" 204 - 154 0 226 100 \"a\"\n".to_owned(),
            String::new(),
        ];
        let text = heads[head].clone() + &text;
        let Ok(found) = survey(text.as_bytes(), "a.log", None) else { return Ok(()) };
        for column in &found.columns {
            let of = Reading { time: column.name.clone(), service: (column.name.clone(), DurationUnit::S), ..reading(found.format) };
            if let Ok(log) = read(text.as_bytes(), "a.log", &of) {
                prop_assert!(log.requests.is_sorted_by_key(|request| request.at));
                prop_assert!(log.requests.iter().all(|request| request.service > 0));
                let _ = log.dispersion();
            }
        }
    }
}
