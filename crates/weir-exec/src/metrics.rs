//! What the workers have counted, as a page in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use weir_core::task::Path;

use crate::counters::{TaskCounts, WorkerCounts};

/// A figure: a number of things, or a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Figure {
    Count(u64),
    Time(Duration),
}

impl Figure {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Time(one), Self::Time(two)) => Self::Time(one.saturating_add(two)),
            (Self::Count(one), Self::Count(two)) => Self::Count(one.saturating_add(two)),
            _ => unreachable!("a family has one unit"),
        }
    }

    /// As Prometheus has it: times in seconds, exactly.
    fn written(self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Time(span) => {
                let text = format!("{}.{:09}", span.as_secs(), span.subsec_nanos());
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        }
    }
}

/// What a family is, and what figures with the same labels become: one, since a set of labels must not occur twice.
#[derive(Clone, Copy)]
enum Kind {
    /// Only grows; the sum.
    Counter,
    /// The sum.
    Gauge,
    /// A gauge; the largest.
    Largest,
}

/// Name, kind, help.
type Family = (&'static str, Kind, &'static str);

/// A family, and its figure of one worker or task.
type Told<T> = (Family, fn(&T) -> Figure);

/// The families of a worker.
const OF_WORKER: [Told<WorkerCounts>; 11] = {
    use Figure::{Count, Time};
    use Kind::{Counter, Gauge, Largest};
    [
        (("elapsed_seconds_total", Counter, "Time since the worker began."), |w| Time(w.elapsed)),
        (("idle_seconds_total", Counter, "Time in which no task ran."), |w| Time(w.idle)),
        (("polls_total", Counter, "Polls of tasks."), |w| Count(w.polls)),
        (("wakes_total", Counter, "Wake-ups of tasks that waited."), |w| Count(w.wakes)),
        (("high_over_low_total", Counter, "Tasks of a low queue left for one of a normal queue."), |w| {
            Count(w.high_over_low)
        }),
        (("tasks_admitted_total", Counter, "Tasks that were admitted."), |w| Count(w.spawned)),
        (("tasks_refused_total", Counter, "Tasks that were not admitted."), |w| Count(w.refused)),
        (("tasks_panicked_total", Counter, "Tasks that panicked."), |w| Count(w.panicked)),
        (("tasks_aborted_total", Counter, "Tasks that were aborted."), |w| Count(w.aborted)),
        (
            (
                "longest_poll_seconds",
                Largest,
                "The longest poll so far; for that long no other task could run.",
            ),
            |w| Time(w.longest_poll),
        ),
        (("tasks", Gauge, "Tasks that have not ended."), |w| Count(w.tasks.len() as u64)),
    ]
};

/// The families of a task.
const OF_TASK: [Told<TaskCounts>; 4] = {
    use Figure::{Count, Time};
    use Kind::{Counter, Gauge, Largest};
    [
        (("task_instances", Gauge, "Tasks of this name that have not ended."), |_| Count(1)),
        (("task_run_seconds_total", Counter, "Time in polls of the tasks of this name."), |t| Time(t.run)),
        (("task_polls_total", Counter, "Polls of the tasks of this name."), |t| Count(t.polls)),
        (("task_longest_poll_seconds", Largest, "The longest poll of a task of this name so far."), |t| {
            Time(t.longest_poll)
        }),
    ]
};

const PATH: Family =
    ("decisions_total", Kind::Counter, "Decisions of the scheduler, by what it came from and went to.");
const USED: Family = (
    "task_used_seconds_total",
    Kind::Counter,
    "Time of the tasks of this name, by whose it was: their need, promised to nobody, or left by others.",
);
/// The names of the parts of [`TaskCounts::used`].
const USES: [&str; 3] = ["need", "uncommitted", "windfall"];

/// What the workers have counted, in the text format of Prometheus, version 0.0.4: the body of an answer of the type
/// `text/plain; version=0.0.4`.
///
/// Families begin with `weir_exec_`, and have the number of the worker as the label `worker`. Those that begin with
/// `weir_exec_task_` have the names of the tasks that have not ended as `task`; tasks of the same name are one. If one of
/// several ends, the value under the name falls, which `rate()` takes for a restart.
///
/// ```
/// # use std::time::Duration;
/// # let executor = weir_exec::Executor::builder().pinned(false).build().unwrap();
/// let counts = executor.handle().counts(Duration::from_millis(100));
/// let page: String = weir_exec::prometheus(&counts);
/// ```
#[must_use]
pub fn prometheus(counts: &[WorkerCounts]) -> String {
    let mut page = String::new();
    for (family, figure) in OF_WORKER {
        let samples = counts.iter().map(|worker| ((worker.worker, ["", ""]), figure(worker)));
        write(&mut page, family, [None, None], samples);
    }
    let paths = counts.iter().flat_map(|worker| {
        let paths = Path::NAMES.iter().zip(worker.paths);
        paths.map(|(path, count)| ((worker.worker, [*path, ""]), Figure::Count(count)))
    });
    write(&mut page, PATH, [Some("path"), None], paths);
    let tasks = || {
        counts.iter().flat_map(|worker| {
            worker.tasks.iter().map(|task| ((worker.worker, [task.name.as_str(), ""]), task))
        })
    };
    for (family, figure) in OF_TASK {
        write(&mut page, family, [Some("task"), None], tasks().map(|(labels, task)| (labels, figure(task))));
    }
    let used = tasks().flat_map(|((worker, [name, _]), task)| {
        let parts = task.used.into_iter().flat_map(|parts| USES.into_iter().zip(parts));
        parts.map(move |(part, span)| ((worker, [name, part]), Figure::Time(span)))
    });
    write(&mut page, USED, [Some("task"), Some("kind")], used);
    page
}

/// Writes a family, unless it has no samples. Each has a worker, and texts of the labels that have a name.
fn write<'a>(
    page: &mut String,
    (name, kind, help): Family,
    labels: [Option<&str>; 2],
    samples: impl Iterator<Item = ((usize, [&'a str; 2]), Figure)>,
) {
    let mut figures = BTreeMap::new();
    for (place, figure) in samples {
        let join = |known: &mut Figure| match kind {
            Kind::Counter | Kind::Gauge => *known = known.and(figure),
            Kind::Largest => *known = figure.max(*known),
        };
        figures.entry(place).and_modify(join).or_insert(figure);
    }
    if figures.is_empty() {
        return;
    }
    let kind = if matches!(kind, Kind::Counter) { "counter" } else { "gauge" };
    // Writing to a string does not fail.
    let _ = writeln!(page, "# HELP weir_exec_{name} {help}\n# TYPE weir_exec_{name} {kind}");
    for ((worker, texts), figure) in figures {
        let _ = write!(page, "weir_exec_{name}{{worker=\"{worker}\"");
        for (label, text) in labels.iter().zip(texts) {
            if let Some(label) = label {
                let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                let _ = write!(page, ",{label}=\"{text}\"");
            }
        }
        let _ = writeln!(page, "}} {}", figure.written());
    }
}
