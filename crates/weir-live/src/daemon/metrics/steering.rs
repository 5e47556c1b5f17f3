//! What a daemon that steers counts.

use super::page::{Page, Seconds};
use crate::steer::report::{ProcessorStats, SteeringStats};

/// The figures in the text format.
pub(super) fn text(stats: &SteeringStats) -> String {
    let mut page = Page::default();
    of_daemon(&mut page, stats);
    of_frames(&mut page, stats);
    of_processors(&mut page, &stats.processors);
    of_classes(&mut page, stats);
    page.0
}

fn of_daemon(page: &mut Page, stats: &SteeringStats) {
    let mut one = |name: &str, kind: &str, help: &str, labels: &[(&str, &str)], value: String| {
        page.family(name, kind, help);
        page.sample(name, labels, value);
    };
    let labels = [("name", &stats.name), ("interface", &stats.interface), ("policy", &stats.policy)]
        .map(|(a, b)| (a, b.as_str()));
    one(
        "weir_steering_info",
        "gauge",
        "The daemon, its interface and its policy; always 1.",
        &labels,
        "1".into(),
    );
    let seconds = |nanos| Seconds(nanos).to_string();
    one("weir_uptime_seconds", "gauge", "Time since the daemon began.", &[], seconds(stats.at_ns));
    let (name, help) = ("weir_steering_processors", "Processors that new requests are sent to.");
    one(name, "gauge", help, &[], stats.in_use.to_string());
    let (name, help) = ("weir_steering_changes_total", "Decisions that came into force.");
    one(name, "counter", help, &[], stats.changes.to_string());
    let (name, help) = ("weir_steering_control_calls_total", "How often the policy received a measurement.");
    one(name, "counter", help, &[], stats.control.calls.to_string());
    let (name, help) = ("weir_steering_control_seconds_total", "Processor time that the loop has taken.");
    one(name, "counter", help, &[], seconds(stats.control.busy_ns));
}

fn of_frames(page: &mut Page, stats: &SteeringStats) {
    let frames = &stats.frames;
    let name = "weir_steering_frames_total";
    page.family(
        name,
        "counter",
        "Frames by what became of them; those redirected or completed were steered too.",
    );
    for (outcome, count) in [
        ("steered", frames.steered),
        ("passed", frames.passed),
        ("short", frames.short),
        ("fragment", frames.fragment),
        ("no_server", frames.no_server),
        ("redirected", frames.redirected),
        ("left_out", frames.left_out),
        ("completed", frames.completed),
    ] {
        page.sample(name, &[("outcome", outcome)], count);
    }
}

/// Something of a processor: its name, its kind, what it is, and where it is counted.
type OfProcessor = (&'static str, &'static str, &'static str, fn(&ProcessorStats) -> u64);

fn of_processors(page: &mut Page, processors: &[ProcessorStats]) {
    const FIGURES: [OfProcessor; 6] = [
        ("steered_requests_total", "counter", "Requests sent to the processor.", |it| it.steered),
        ("served_requests_total", "counter", "Requests whose service there has begun.", |it| it.served),
        ("dropped_requests_total", "counter", "Requests that found its queue full.", |it| it.dropped),
        ("waiting_requests", "gauge", "Requests that wait for it.", |it| it.waiting),
        ("in_use", "gauge", "Whether new requests are sent to it: 1 or 0.", |it| u64::from(it.in_use)),
        ("online", "gauge", "Whether it is online: 1 or 0.", |it| u64::from(it.online)),
    ];
    for (name, kind, help, figure) in FIGURES {
        let name = format!("weir_processor_{name}");
        page.family(&name, kind, help);
        for it in processors {
            page.sample(&name, &[("processor", &it.processor.to_string())], figure(it));
        }
    }
}

fn of_classes(page: &mut Page, stats: &SteeringStats) {
    let name = "weir_request_delay_seconds";
    page.family(name, "histogram", "From the interface to the begin of service.");
    for class in &stats.classes {
        page.histogram(name, &[("class", &class.name)], &class.delay);
    }
}
