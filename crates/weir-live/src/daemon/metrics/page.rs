//! A page in the text format: families, samples, histograms.

use core::fmt::{self, Write as _};

use weir_gauge::spans::Sojourn;

/// The upper ends of the buckets of spans, in nanoseconds: one, two and five of each power of ten from 1 us to 10 s.
const ENDS: [u64; 22] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// Nanoseconds, written as seconds, exactly.
pub(super) struct Seconds(pub(super) u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        let fraction = format!(".{rest:09}");
        write!(f, "{whole}{}", fraction.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A page as it is written.
#[derive(Default)]
pub(super) struct Page(pub(super) String);

impl Page {
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl fmt::Display) {
        self.0.push_str(name);
        for (place, (label, text)) in labels.iter().enumerate() {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let opening = if place == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{opening}{label}=\"{text}\"");
        }
        let closing = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{closing} {value}");
    }

    /// The cumulative buckets of a histogram. A bucket of ours is counted where its upper end is, so that nothing is said
    /// to have been faster than it was.
    pub(super) fn histogram(&mut self, name: &str, labels: &[(&str, &str)], spans: &Sojourn) {
        let bucket = format!("{name}_bucket");
        let with = |end: &str| -> Vec<(&str, String)> {
            let given = labels.iter().map(|(label, text)| (*label, (*text).to_owned()));
            given.chain([("le", end.to_owned())]).collect()
        };
        let mut sample = |end: &str, count: u64| {
            let labels = with(end);
            let labels: Vec<(&str, &str)> =
                labels.iter().map(|(label, text)| (*label, text.as_str())).collect();
            self.sample(&bucket, &labels, count);
        };
        for end in ENDS {
            let within = spans.buckets.iter().filter(|(upper, _)| *upper <= end);
            sample(&Seconds(end).to_string(), within.map(|(_, count)| count).sum());
        }
        sample("+Inf", spans.count());
        self.sample(&format!("{name}_sum"), labels, Seconds(spans.sum_ns));
        self.sample(&format!("{name}_count"), labels, spans.count());
    }
}
