//! What a daemon that steers answers, as text.

use weir_core::units::Nanos;
use weir_gauge::text::{packets, span, span_if_any, table};

use crate::steer::report::{ClassStats, ProcessorStats, SteeringStats, SteeringStatus};

pub(super) fn of_status(status: &SteeringStatus) -> String {
    let kept =
        if status.capabilities.is_empty() { "none".to_owned() } else { status.capabilities.join(", ") };
    let ends = if status.pinned { "stays when the daemon dies" } else { "goes with the daemon" };
    let overflow =
        if status.counts_overflow { "counted by the kernel" } else { "counted once a queue is idle" };
    let mut text = format!(
        "steering      {}\nversion       {}\nprocess       {}\nup            {}\nfile          {}\ninterface     {}\n\
         program       {}, {ends}\npolicy        {}\nfull queues   {overflow}\ncapabilities  {kept}\n\n",
        status.name,
        status.version,
        status.process,
        span(Nanos::new(status.up_ns)),
        status.file,
        status.interface,
        status.mode,
        status.policy,
    );
    let rows = status.processors.iter().map(|at| {
        vec![
            at.processor.to_string(),
            at.state.word().to_owned(),
            thread(at.thread),
            at.priority.clone(),
            packets(at.waiting),
        ]
    });
    text.push_str(&table(
        &["processor", "state", "thread", "priority", "waiting"],
        4,
        &rows.collect::<Vec<_>>(),
    ));
    text
}

/// The thread that serves a queue.
pub(in crate::cli) fn thread(number: Option<u32>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

pub(super) fn of_stats(stats: &SteeringStats) -> String {
    let SteeringStats { frames, control, .. } = stats;
    let mut text = format!(
        "steering {}, interface {}, up {}, {}: {} of {} processors in use, {} decisions\n\
         frames: {} steered ({} of them redirected), {} not ours, {} short, {} fragments, {} without a processor\n\
         checksums left to a device: {} completed, {} frames left to the kernel\n\
         loop: {} calls, {} of processor time\n\n",
        stats.name,
        stats.interface,
        span(Nanos::new(stats.at_ns)),
        stats.policy,
        stats.in_use,
        stats.processors.len(),
        stats.changes,
        frames.steered,
        frames.redirected,
        frames.passed,
        frames.short,
        frames.fragment,
        frames.no_server,
        frames.completed,
        frames.left_out,
        control.calls,
        span(Nanos::new(control.busy_ns)),
    );
    let head = ["processor", "in use", "steered", "served", "dropped", "waiting"];
    text.push_str(&table(&head, 2, &stats.processors.iter().map(of_processor).collect::<Vec<_>>()));
    text.push('\n');
    let head = ["class", "requests", "mean", "p50", "p99", "longest"];
    text.push_str(&table(&head, 1, &stats.classes.iter().map(of_class).collect::<Vec<_>>()));
    text
}

fn of_processor(at: &ProcessorStats) -> Vec<String> {
    let used = match (at.in_use, at.draining) {
        (true, _) => "yes",
        (false, true) => "draining",
        (false, false) => "no",
    };
    let counts = [at.steered, at.served, at.dropped, at.waiting].map(packets);
    [at.processor.to_string(), used.to_owned()].into_iter().chain(counts).collect()
}

fn of_class(class: &ClassStats) -> Vec<String> {
    let longest = (class.requests > 0).then_some(Nanos::new(class.delay.longest_ns));
    vec![
        class.name.clone(),
        packets(class.requests),
        span_if_any(class.delay.mean()),
        span_if_any(class.delay.quantile(0.5)),
        span_if_any(class.delay.quantile(0.99)),
        span_if_any(longest),
    ]
}

#[cfg(test)]
mod tests {
    use weir_gauge::spans::Sojourn;

    use super::*;
    use crate::steer::report::{ProcessorStatus, State};

    #[test]
    fn answers_are_tables_with_units() {
        let processor = ProcessorStatus {
            processor: 3,
            state: State::Draining,
            thread: Some(77),
            priority: "SCHED_FIFO 50".to_owned(),
            waiting: 12,
        };
        let status = SteeringStatus {
            name: "kv".to_owned(),
            up_ns: 2_500_000_000,
            policy: "rr".to_owned(),
            processors: vec![processor],
            ..SteeringStatus::default()
        };
        let text = of_status(&status);
        assert!(text.starts_with("steering      kv\n") && text.contains("up            2.5s\n"), "{text}");
        let expected = "\
processor  state     thread  priority       waiting
3          draining  77      SCHED_FIFO 50    12pkt
";
        assert!(text.ends_with(expected), "{text}");
        let delay = Sojourn { sum_ns: 9_000, longest_ns: 4_000, buckets: vec![(3_071, 3)] };
        let stats = SteeringStats {
            processors: vec![ProcessorStats {
                processor: 1,
                in_use: true,
                steered: 5,
                ..ProcessorStats::default()
            }],
            classes: vec![ClassStats { name: "all".to_owned(), requests: 3, delay }],
            ..SteeringStats::default()
        };
        let expected = "\
processor  in use  steered  served  dropped  waiting
1          yes        5pkt    0pkt     0pkt     0pkt

class  requests  mean     p50     p99  longest
all        3pkt   3us  3.07us  3.07us      4us
";
        assert!(of_stats(&stats).ends_with(expected), "{}", of_stats(&stats));
    }
}
