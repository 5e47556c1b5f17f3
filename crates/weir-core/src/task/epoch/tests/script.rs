//! Processes and schedules as text, all times in milliseconds.
//!
//! A process is its declaration and its program: `a need=30 slice=20 priority=2: 5 ~10 @70 need=40 5 *` computes 5,
//! waits for 10, waits until 70, declares another need, computes 5 more and begins anew; `!` exits; at its end it waits
//! for ever. A program that is `always` computes without end.
//!
//! A schedule tells who ran for how long: `a20` on its normal queue, `-a20` on its low one, `.20` nobody; `|` is the
//! end of an epoch.

use super::make;
use super::node::{Node, Piece, Program, Step};
use crate::task::{Declared, Task, TaskDiscipline};
use crate::units::Nanos;

/// The epoch of all schedules.
const EPOCH: u64 = 100_000_000;

/// Runs the processes under the discipline that the spec names and compares what they did; they are named `a`, `b`, …
pub(super) fn assert_schedule(spec: &str, processes: &[&str], expected: &str) {
    assert_eq!(schedule(make(spec), processes, length(expected)), expected, "{spec} {processes:#?}");
}

/// The schedule of the processes up to a moment.
pub(super) fn schedule(
    discipline: impl TaskDiscipline<Task> + 'static,
    processes: &[&str],
    until: u64,
) -> String {
    let mut node = Node::new(discipline);
    for process in processes {
        let (declared, program) = parse(process);
        node.add(declared, program);
    }
    let pieces = node.run_up_to(until);
    told(&pieces, until)
}

/// How long a schedule is.
pub(super) fn length(schedule: &str) -> u64 {
    let digits = |piece: &str| milliseconds(piece.trim_start_matches(|c: char| !c.is_ascii_digit()));
    schedule.split_whitespace().filter(|piece| *piece != "|").map(digits).sum()
}

fn told(pieces: &[Piece], until: u64) -> String {
    let mut text = Vec::new();
    let mut at = 0;
    let mut tell = |name: String, from: &mut u64, to: u64| {
        while *from < to {
            let end = to.min((*from / EPOCH + 1) * EPOCH);
            text.push(format!("{name}{}", (end - *from) as f64 / 1e6));
            *from = end;
            if end.is_multiple_of(EPOCH) {
                text.push("|".to_owned());
            }
        }
    };
    for piece in pieces {
        tell(".".to_owned(), &mut at, piece.from);
        let name = char::from(b'a' + piece.process as u8);
        let low = if piece.level < 0 { "-" } else { "" };
        tell(format!("{low}{name}"), &mut at, piece.to);
    }
    tell(".".to_owned(), &mut at, until);
    text.join(" ")
}

fn milliseconds(text: &str) -> u64 {
    (text.parse::<f64>().unwrap_or_else(|_| panic!("`{text}` is no time")) * 1e6).round() as u64
}

fn parse(process: &str) -> (Declared, Program) {
    let (declaration, program) = process.split_once(':').expect("a declaration and a program");
    let mut declared = Declared::default();
    for pair in declaration.split_whitespace().skip(1) {
        match pair.split_once('=').expect("a declaration is key=value") {
            ("need", need) => declared.need = Nanos::new(milliseconds(need)),
            ("slice", slice) => declared.slice = Some(Nanos::new(milliseconds(slice))),
            ("priority", priority) => declared.priority = priority.parse().unwrap(),
            (key, _) => panic!("`{key}` is not declared"),
        }
    }
    let steps: Vec<_> = program.split_whitespace().map(step).collect();
    let mut next = 0;
    let program = move || loop {
        let step = steps.get(next).copied().unwrap_or(Some(Step::Sleep));
        next = if step.is_none() { 0 } else { next + 1 };
        if let Some(step) = step {
            return step;
        }
    };
    (declared, Box::new(program))
}

/// A step; none begins anew.
fn step(text: &str) -> Option<Step> {
    Some(match text.split_at(1) {
        ("*", "") => return None,
        ("!", "") => Step::Exit,
        ("~", span) => Step::Wait(milliseconds(span)),
        ("@", moment) => Step::Until(milliseconds(moment)),
        _ if text == "always" => Step::Compute(u64::MAX / 4),
        _ => match text.strip_prefix("need=") {
            Some(need) => Step::Need(milliseconds(need)),
            None => Step::Compute(milliseconds(text)),
        },
    })
}
