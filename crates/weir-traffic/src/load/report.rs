//! What a run tells: by window and class how many requests were sent, answered and lost, and how long answers took.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Units | nanoseconds, requests a second; in text with their units |

use std::collections::BTreeMap;

use serde::Serialize;
use weir_gauge::spans::{Sojourn, Spans};
use weir_gauge::text::span;

use super::plan::{Class, Plan};
use super::run::{Counted, error_name};
use super::tally::{ClassTally, WindowTally};
use super::walls::Steps;

pub mod text;

/// A generator that is late by this part of a round trip is part of what it measures.
const COMPARABLE: u64 = 4;

/// What a run tells.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Who answered.
    pub target: String,
    /// When requests were due.
    pub arrivals: String,
    /// Over how many flows.
    pub flows: u16,
    /// The data of a request, in bytes.
    pub size_bytes: u32,
    /// What the random numbers depended on.
    pub seed: u64,
    /// Whether somebody has asked to end before the end.
    pub stopped: bool,
    /// The windows that have begun.
    pub windows: Vec<Window>,
    /// All of them together.
    pub totals: Totals,
    /// What is to be known to read the figures.
    pub warnings: Vec<String>,
}

/// The requests that were due in a window.
#[derive(Clone, Debug, Serialize)]
pub struct Window {
    /// Its number, from 0.
    pub window: u32,
    /// How many requests a second were to be sent.
    pub rate_per_s: f64,
    /// How long it was, in nanoseconds.
    pub span_ns: u64,
    /// Its classes.
    pub classes: Vec<Figures>,
    /// How late requests left.
    pub lateness: Sojourn,
}

/// What became of the requests of a class.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The class.
    pub name: String,
    /// Requests that left.
    pub sent: u64,
    /// Requests that could not leave.
    pub unsent: u64,
    /// Those that were answered.
    pub received: u64,
    /// Those that were not.
    pub lost: u64,
    /// Answers that came after one to a later request of their flow.
    pub reordered: u64,
    /// Answers beyond the first.
    pub duplicates: u64,
    /// Round trips, from when a request was due until the kernel received the answer.
    pub rtt: Sojourn,
    /// Round trips from when the kernel took the request, of those for which it was asked.
    pub rtt_from_kernel: Sojourn,
}

/// All windows together.
#[derive(Clone, Debug, Serialize)]
pub struct Totals {
    /// By class.
    pub classes: Vec<Figures>,
    /// How late requests left.
    pub lateness: Sojourn,
    /// Answers that came after they were waited for, whose requests count as lost.
    pub late_answers: u64,
    /// Packets that answer nothing.
    pub foreign: u64,
    /// Answers whose time is the process's, as the kernel gave none that is possible.
    pub unstamped: u64,
    /// Packets that the own sockets had no room for, whose requests count as lost.
    pub dropped_at_socket: u64,
    /// Requests that were given up early, as too many were on their way.
    pub given_up: u64,
    /// How often the wall clock was set.
    pub wall_clock_steps: u32,
    /// Errors, by name.
    pub errors: BTreeMap<String, u64>,
}

impl Figures {
    fn of(class: &Class, tally: &ClassTally) -> Self {
        Self {
            name: class.name.clone(),
            sent: tally.sent,
            unsent: tally.unsent,
            received: tally.received,
            lost: tally.sent.saturating_sub(tally.received),
            reordered: tally.reordered,
            duplicates: tally.duplicates,
            rtt: tally.round_trips.snapshot(),
            rtt_from_kernel: tally.from_kernel.snapshot(),
        }
    }
}

impl Report {
    /// What a run has counted.
    pub(super) fn new(plan: &Plan, counted: &Counted) -> Self {
        let windows = counted.tally.windows.iter().zip(0..);
        let windows: Vec<Window> =
            windows.map(|(tally, window)| of_window(plan, counted, tally, window)).collect();
        let totals = totals(plan, counted);
        let warnings = late(&windows).into_iter().chain(totals.warnings(counted)).collect();
        Self {
            target: plan.target.to_string(),
            arrivals: plan.arrivals.to_string(),
            flows: plan.flows,
            size_bytes: plan.size,
            seed: plan.seed,
            stopped: counted.stopped.is_some(),
            windows,
            totals,
            warnings,
        }
    }

    /// How many requests left, where none of them was answered.
    #[must_use]
    pub fn unanswered(&self) -> Option<u64> {
        let classes = &self.totals.classes;
        let sent = classes.iter().map(|each| each.sent).sum();
        (sent > 0 && classes.iter().all(|each| each.received == 0)).then_some(sent)
    }
}

fn of_window(plan: &Plan, counted: &Counted, tally: &WindowTally, window: u32) -> Window {
    let length = plan.window.get();
    let begin = u64::from(window) * length;
    let ended = counted.stopped.map_or(u64::MAX, |at| at.get());
    Window {
        window,
        rate_per_s: plan.rate_of(window),
        span_ns: length.min(ended.saturating_sub(begin)),
        classes: of_classes(plan, &tally.classes),
        lateness: tally.lateness.snapshot(),
    }
}

fn of_classes(plan: &Plan, tallies: &[ClassTally]) -> Vec<Figures> {
    plan.classes.iter().zip(tallies).map(|(class, tally)| Figures::of(class, tally)).collect()
}

fn totals(plan: &Plan, counted: &Counted) -> Totals {
    let mut classes = vec![ClassTally::default(); plan.classes.len()];
    let mut lateness = Spans::default();
    for window in &counted.tally.windows {
        classes.iter_mut().zip(&window.classes).for_each(|(all, class)| all.merge(class));
        lateness.merge(&window.lateness);
    }
    let beside = &counted.beside;
    let errors = beside.errors.iter().map(|(errno, count)| (error_name(*errno), *count));
    Totals {
        classes: of_classes(plan, &classes),
        lateness: lateness.snapshot(),
        late_answers: beside.late,
        foreign: beside.foreign,
        unstamped: beside.unstamped,
        dropped_at_socket: counted.dropped,
        given_up: counted.given_up,
        wall_clock_steps: counted.wall_steps.count,
        errors: errors.collect(),
    }
}

/// What must be said where the generator was late by much of a round trip, so that nobody takes its faults for the
/// server's.
fn late(windows: &[Window]) -> Option<String> {
    let is_late = |window: &&Window| {
        let all = window.classes.iter().fold(Sojourn::default(), |all, class| all.and(&class.rtt));
        let p99 = |spans: &Sojourn| spans.quantile(0.99);
        p99(&all)
            .zip(p99(&window.lateness))
            .is_some_and(|(trip, late)| late.get().saturating_mul(COMPARABLE) > trip.get())
    };
    let late: Vec<&Window> = windows.iter().filter(is_late).collect();
    let worst = late.iter().filter_map(|window| window.lateness.quantile(0.99)).max()?;
    Some(format!(
        "in {} of {} windows 1 % of the requests left later than a quarter of the round trips there, at worst later \
         than {}: part of these is the generator's; compare with those from the kernel's time stamp, and give it \
         --priority FIFO:50 and a --cpu of its own, or a lower rate",
        late.len(),
        windows.len(),
        span(worst)
    ))
}

impl Totals {
    fn warnings(&self, counted: &Counted) -> Vec<String> {
        let unsent: u64 = self.classes.iter().map(|class| class.unsent).sum();
        let Steps { count: steps, moved } = counted.wall_steps;
        let moved = format!(
            "the wall clock was set {steps} times, by {} in all: answers that were on their way then have the \
             time at which they were read",
            span(moved)
        );
        let said = [
            (unsent, format!("{unsent} requests could not be sent, for the errors that are listed")),
            (
                self.dropped_at_socket,
                format!(
                    "{} packets found no room in the sockets of this host and are counted as lost: give the \
                     generator a --cpu of its own, or more --flows, or a lower rate",
                    self.dropped_at_socket
                ),
            ),
            (
                self.given_up,
                format!(
                    "{} requests were given up before their time, as too many were on their way: choose a shorter \
                     --patience",
                    self.given_up
                ),
            ),
            (
                self.unstamped,
                format!(
                    "{} answers have no time stamp of the kernel, but the time at which they were read",
                    self.unstamped
                ),
            ),
            (u64::from(steps), moved),
        ];
        said.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect()
    }
}
