//! The page for Prometheus, read by its rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::channel;
use std::time::Duration;

use weir_exec::{Executor, Path, TaskCounts, Terms, WorkerCounts, prometheus, sleep};

const PATIENCE: Duration = Duration::from_secs(20);

type Labels = BTreeMap<String, String>;

/// The labels of `name="text",...}`, and what follows.
fn labels(mut text: &str) -> (Labels, &str) {
    let mut found = Labels::new();
    loop {
        let (name, rest) = text.split_once("=\"").unwrap_or_else(|| panic!("no label in {text}"));
        assert!(name.chars().all(|one| one.is_ascii_lowercase() || one == '_'), "{name}");
        let (mut value, mut letters) = (String::new(), rest.char_indices());
        let end = loop {
            match letters.next().expect("a closing quote") {
                (place, '"') => break place + 1,
                (_, '\\') => value.push(match letters.next().expect("what is escaped").1 {
                    'n' => '\n',
                    one @ ('\\' | '"') => one,
                    other => panic!("\\{other}"),
                }),
                (_, one) => value.push(one),
            }
        };
        assert_eq!(found.insert(name.to_owned(), value), None, "{name} twice");
        match rest[end..].split_at(1) {
            (",", rest) => text = rest,
            ("}", rest) => return (found, rest),
            other => panic!("{other:?}"),
        }
    }
}

/// The samples of a page that keeps the rules: each family stands in one piece, with its help and its type before it, a
/// counter ends in `_total`, and no sample is there twice.
fn read(page: &str) -> BTreeMap<(String, Labels), f64> {
    assert!(page.is_empty() || page.ends_with('\n'));
    let (mut families, mut samples, mut family) = (BTreeSet::new(), BTreeMap::new(), "");
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, said) = help.split_once(' ').unwrap();
            let kind = lines.next().and_then(|line| line.strip_prefix("# TYPE ")).unwrap();
            let kind = kind.strip_prefix(name).unwrap().trim_start();
            assert!(families.insert(name), "{name} twice");
            assert!(said.ends_with('.') && ["counter", "gauge"].contains(&kind), "{line}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
            family = name;
            continue;
        }
        let (name, rest) = line.split_once('{').unwrap_or_else(|| panic!("{line}"));
        assert_eq!(name, family, "a sample outside its family");
        let (labels, value) = labels(rest);
        let value: f64 = value.strip_prefix(' ').unwrap().parse().unwrap();
        assert_eq!(samples.insert((name.to_owned(), labels), value), None, "{line}: twice");
    }
    samples
}

fn of(samples: &BTreeMap<(String, Labels), f64>, name: &str, labels: &[(&str, &str)]) -> f64 {
    let labels = labels.iter().map(|&(label, text)| (label.to_owned(), text.to_owned())).collect();
    let found = samples.get(&(format!("weir_exec_{name}"), labels));
    *found.unwrap_or_else(|| panic!("{name} is not there: {samples:#?}"))
}

fn task(name: &str, run_us: u64, longest_us: u64) -> TaskCounts {
    let mut task = TaskCounts::default();
    (task.name, task.polls) = (name.to_owned(), 3);
    (task.run, task.longest_poll) = (Duration::from_micros(run_us), Duration::from_micros(longest_us));
    task
}

fn worker(number: usize, tasks: Vec<TaskCounts>) -> WorkerCounts {
    let mut worker = WorkerCounts::default();
    (worker.worker, worker.tasks, worker.idle) = (number, tasks, Duration::from_nanos(1_000_000_001));
    worker.paths = [1, 2, 3, 4, 5, 6];
    worker
}

#[test]
fn nothing_counted_is_an_empty_page() {
    assert_eq!(prometheus(&[]), "");
}

#[test]
fn tasks_of_the_same_name_are_one_and_times_are_exact_seconds() {
    let mut one = task("reader", 1_500, 700);
    one.used = Some([1, 2, 3].map(Duration::from_millis));
    let mut other = one.clone();
    other.used = Some([10, 20, 30].map(Duration::from_millis));
    let page = prometheus(&[
        worker(0, vec![one, task("lone", 7, 7), other]),
        worker(10, vec![task("reader", 1, 1)]),
        worker(2, Vec::new()),
    ]);
    let samples = read(&page);
    let reader = [("worker", "0"), ("task", "reader")];
    assert!(
        page.contains("weir_exec_task_run_seconds_total{worker=\"0\",task=\"reader\"} 0.003\n"),
        "{page}"
    );
    assert!(page.contains("weir_exec_idle_seconds_total{worker=\"2\"} 1.000000001\n"), "{page}");
    assert_eq!(of(&samples, "task_longest_poll_seconds", &reader), 0.0007, "the longest, not the sum");
    assert_eq!(of(&samples, "task_polls_total", &reader), 6.0);
    assert_eq!(of(&samples, "task_instances", &reader), 2.0);
    for (kind, seconds) in [("need", 0.011), ("uncommitted", 0.022), ("windfall", 0.033)] {
        let labels = [reader[0], reader[1], ("kind", kind)];
        assert_eq!(of(&samples, "task_used_seconds_total", &labels), seconds);
    }
    assert_eq!(of(&samples, "tasks", &[("worker", "0")]), 3.0);
    assert_eq!(of(&samples, "tasks", &[("worker", "2")]), 0.0);
    for (path, count) in Path::NAMES.into_iter().zip(1_u8..) {
        assert_eq!(of(&samples, "decisions_total", &[("worker", "10"), ("path", path)]), f64::from(count));
    }
    let used = samples.keys().filter(|(name, _)| name.ends_with("used_seconds_total"));
    assert_eq!(used.count(), 3, "of tasks whose time is told apart, and no others");
}

#[test]
fn any_name_can_be_read_back() {
    for name in ["", "a b", "say \"hi\"", "back\\slash", "two\nlines", "\\n", "gr\u{fc}n}", "a,b=\"c\""] {
        let samples = read(&prometheus(&[worker(0, vec![task(name, 1, 1), task("else", 1, 1)])]));
        assert_eq!(of(&samples, "task_instances", &[("worker", "0"), ("task", name)]), 1.0, "{name:?}");
    }
}

#[test]
fn counts_of_two_executors_are_added_up() {
    let samples = read(&prometheus(&[worker(0, vec![task("a", 1, 1)]), worker(0, vec![task("a", 1, 1)])]));
    assert_eq!(of(&samples, "decisions_total", &[("worker", "0"), ("path", "swap")]), 4.0);
    assert_eq!(of(&samples, "task_polls_total", &[("worker", "0"), ("task", "a")]), 6.0);
}

fn executor(workers: usize) -> Executor {
    Executor::builder().workers(workers).pinned(false).discipline("epoch(20ms)").build().unwrap()
}

#[test]
fn the_page_of_a_live_run_keeps_the_rules() {
    let executor = executor(2);
    let terms = |name| Terms::named(name).need(Duration::from_millis(1)).worker(1);
    let (tell, told) = channel();
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let tell = tell.clone();
            executor.spawn(terms("naps"), async move {
                sleep(Duration::from_millis(1)).await;
                tell.send(()).unwrap();
                sleep(PATIENCE * 100).await;
            })
        })
        .collect();
    tasks.iter().for_each(|_| told.recv_timeout(PATIENCE).unwrap());
    let samples = read(&prometheus(&executor.handle().counts(PATIENCE)));
    let naps = [("worker", "1"), ("task", "naps")];
    assert_eq!(of(&samples, "task_instances", &naps), 3.0);
    assert!(of(&samples, "task_polls_total", &naps) >= 6.0);
    let run = of(&samples, "task_run_seconds_total", &naps);
    assert!(run > 0.0 && run <= of(&samples, "elapsed_seconds_total", &[("worker", "1")]));
    assert_eq!(of(&samples, "tasks_admitted_total", &[("worker", "1")]), 3.0);
    assert!(of(&samples, "wakes_total", &[("worker", "1")]) >= 3.0);
}
