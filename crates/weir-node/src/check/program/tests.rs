//! Programs as they are read, and texts that are none.

use std::collections::BTreeMap;

use super::{Fault, Place, Scope, parse};
use crate::check::laws::Laws;
use crate::check::objects::Objects;
use crate::model::{Costs, Operation};
use weir_core::units::Nanos;
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::duration::{AnyLaw, Law};

/// The operations of the first process, which owns events `e0` and `e1`; `e2` is another's. Queues are `q0` and `q1`.
fn operations(text: &str) -> Result<Vec<Operation>, Fault> {
    let (objects, set, laws) =
        (Objects::for_tests(&["q0", "q1"], &[("e0", 0), ("e1", 0), ("e2", 1)]), BTreeMap::new(), Laws::new());
    let scope =
        Scope { process: 0, name: "p", set: &set, objects: &objects, laws: &laws, costs: Costs::default() };
    parse(text)?.operations(&scope)
}

fn micros(count: u64) -> AnyLaw {
    Law::Constant(Nanos::new(count * 1_000)).into()
}

#[test]
fn every_statement_is_read() {
    let text = "
        compute 552.2us            # a span with a fraction
        compute exponential(1ms); compute uniform( 1us,2us )
        post e2
        post e0 after exponential(5us)
        wait e1,e0
        wait any
        enqueue q1
        dequeue q0
        sleep 5us
        sleep until every 100ms
        sleep until every 100ms offset 50ms
        exit";
    let span = |micros: u64| Nanos::new(micros * 1_000);
    let expected = [
        Operation::Compute(Law::Constant(Nanos::new(552_200)).into()),
        Operation::Compute(Law::Exponential(span(1_000)).into()),
        Operation::Compute(Law::Uniform(span(1), span(2)).into()),
        Operation::Post(2),
        Operation::PostAfter(0, Law::Exponential(span(5)).into()),
        Operation::Wait(vec![1, 0]),
        Operation::WaitAny,
        Operation::Enqueue(1),
        Operation::Dequeue(0),
        Operation::Sleep(micros(5)),
        Operation::SleepUntil { every: span(100_000), offset: span(0) },
        Operation::SleepUntil { every: span(100_000), offset: span(50_000) },
        Operation::Exit,
    ];
    assert_eq!(operations(text).expect("valid"), expected);
}

#[test]
fn loops_know_their_ends() {
    let text = "loop{loop 3{compute 1us}\ncompute 2us;}";
    let expected = [
        Operation::Loop { times: None, after: 6 },
        Operation::Loop { times: Some(3), after: 4 },
        Operation::Compute(micros(1)),
        Operation::End(1),
        Operation::Compute(micros(2)),
        Operation::End(0),
    ];
    assert_eq!(operations(text).expect("valid"), expected);
}

#[test]
fn a_loop_for_ever_must_be_able_to_use_time() {
    let is_refused = |text: &str| operations(text).is_err_and(|fault| fault.reason.starts_with("never ends"));
    for text in [
        "loop {}",
        "loop { compute 0ms }",
        "loop { post e2 }",
        "loop { enqueue q0 }",
        "loop { post e0 after 5ms }",
        "loop { loop 5 { sleep 0s } }",
        "compute 5ms\nloop { loop { compute uniform(0s, 0s) } }",
    ] {
        assert!(is_refused(text), "{text}");
    }
    for text in [
        "loop { compute uniform(0s, 1ns) }",
        "loop { wait any }",
        "loop { dequeue q0 }",
        "loop { loop 5 { sleep exponential(1ns) } }",
        "loop { sleep until every 1ms }",
        "loop { exit }",
        "loop 5 { post e2 }",
    ] {
        assert!(operations(text).is_ok(), "{text}");
    }
    // Where posts cost time, they are enough.
    let (objects, set) = (Objects::for_tests(&["q0"], &[]), BTreeMap::new());
    let laws = Laws::new();
    let scope =
        Scope { process: 0, name: "p", set: &set, objects: &objects, laws: &laws, costs: Costs::chrysalis() };
    assert!(parse("loop { enqueue q0 }").and_then(|parsed| parsed.operations(&scope)).is_ok());
}

#[test]
fn what_is_wrong_has_its_place() {
    for (text, word) in [
        ("compute 5ms\nwiat e0", "wiat"),
        ("wait e0, e2", "e2"),
        ("wait e0, e0", "e0"),
        ("loop 3 {\n# é\nenqueue q2 }", "q2"),
        ("sleep until every 5ms offset 6ms", "6ms"),
        ("compute uniform(9us,8us)", "9us"),
        ("compute 5ms )", ")"),
        ("loop {", "loop"),
    ] {
        let fault = operations(text).expect_err(text);
        let Place::Text(at) = fault.place else { panic!("{text}") };
        assert_eq!(text.get(at.clone()), Some(word), "{text}");
        assert_eq!(at.end, text.rfind(word).map_or(0, |at| at + word.len()), "{text}");
    }
}

#[test]
fn too_long_and_too_deep_are_refused() {
    use super::parse::{MAX_DEPTH, MAX_STEPS};
    let deep = |depth: usize| format!("{}compute 1us{}", "loop{".repeat(depth), "}".repeat(depth));
    assert!(operations(&deep(MAX_DEPTH)).is_ok());
    assert!(operations(&deep(MAX_DEPTH + 1)).expect_err("refused").reason.contains("nested in 16 others"));
    assert!(operations(&deep(100_000)).is_err());
    assert!(operations(&"exit\n".repeat(MAX_STEPS)).is_ok());
    let reason = operations(&"exit\n".repeat(MAX_STEPS + 1)).expect_err("refused").reason;
    assert!(reason.contains("65536 steps"), "{reason}");
}

#[test]
fn no_text_is_too_much_for_the_parser() {
    const PIECES: [&str; 30] = [
        "compute",
        "wait",
        "post",
        "sleep",
        "loop",
        "exit",
        "enqueue",
        "dequeue",
        "until",
        "every",
        "offset",
        "after",
        "any",
        "e0",
        "q0",
        "$k",
        "$",
        "5ms",
        "1.5us",
        "-1",
        "exponential",
        "uniform",
        "(",
        ")",
        "{",
        "}",
        ",",
        ";",
        "#é",
        "\u{a0}",
    ];
    let mut draws = Stream::new(StreamKey { seed: 1, replication: 0, purpose: Purpose::Test, index: 9 });
    let (mut read, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..=draws.next_below(8) {
            text.push_str(PIECES[draws.next_below(PIECES.len() as u64) as usize]);
            text.push_str([" ", "\n", ""][draws.next_below(3) as usize]);
        }
        match operations(&text) {
            Ok(_) => read += 1,
            Err(Fault { place: Place::Text(at), reason, remedy }) => {
                assert!(text.get(at).is_some() && !reason.is_empty() && !remedy.is_empty(), "{text}");
                refused += 1;
            }
            Err(fault) => panic!("{fault:?}"),
        }
    }
    assert!(read > 100 && refused > 100, "{read} {refused}");
}
