//! What pairs of logs say: offer, throughput, one-way delay, losses, for each interval and in all.
//!
//! Intervals select packets by the time at which they were due, which is that of sending but for the lateness of the
//! source: a backlog that drains after the traffic has ended counts where it was sent, and the offer is the schedule's,
//! less what could not be sent. Intervals begin where the first traffic begins by its script; the figures of a pair in all are those of
//! its own traffic, from its beginning to its end by the script.
//!
//! | | |
//! |-|-|
//! | Source | *A Report on Stochastic Fairness Queueing (SFQ) Experiments* (SRI, 1993), tables |
//! | Work | O(packets log packets) |
//! | Memory | 52 bytes for each packet sent |
//! | Units | as in [`window`] |

pub mod csv;
pub mod pair;
pub mod text;
pub mod window;

use serde::Serialize;
use weir_core::units::{Nanos, Rate};
use weir_document::Refused;

use super::lateness;
use pair::{Counts, Packet, Pair};
use window::Span;
pub use window::{Delay, Window};

/// The most intervals of a report.
const MAX_INTERVALS: i64 = 100_000;

/// What is asked of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The length of the intervals; `None` for the whole only.
    pub interval: Option<Nanos>,
    /// What figures in percent refer to.
    pub rate: Option<Rate>,
    /// What is sent before this is left out; since the first traffic began.
    pub from: Option<Nanos>,
    /// What is sent at or after this is left out, likewise.
    pub until: Option<Nanos>,
}

/// What pairs of logs say.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What figures in percent refer to, in bits per second.
    pub rate_bit_s: Option<u64>,
    /// The pairs, in the order in which they were named.
    pub pairs: Vec<PairReport>,
}

/// What one pair of logs says.
#[derive(Clone, Debug, Serialize)]
pub struct PairReport {
    /// The log of the source.
    pub source: String,
    /// The log of the sink.
    pub sink: String,
    /// The figures of all its traffic.
    pub all: Window,
    /// The figures of each interval.
    pub intervals: Vec<Window>,
    /// What else was counted.
    pub counts: Counts,
    /// How late packets left.
    pub lateness: Option<lateness::Summary>,
    /// What is to be known to read the figures.
    pub warnings: Vec<String>,
}

/// The report on pairs of logs.
///
/// # Errors
/// The intervals are too many.
pub fn report(pairs: Vec<Pair>, asked: Asked) -> Result<Report, Refused> {
    let origin = pairs.iter().map(|pair| pair.window.start).min().unwrap_or(0);
    let ended = pairs.iter().map(|pair| pair.window.end).max().unwrap_or(origin);
    let after = |time: Nanos| origin.saturating_add(i64::try_from(time.get()).unwrap_or(i64::MAX));
    let from = asked.from.map_or(origin, after);
    let until = asked.until.map_or(ended, after);
    if until < from {
        let reason = "is after the end of the traffic, or after --until";
        return Err(Refused::of_file("weird tg report", reason, "write an earlier time").key("--from"));
    }
    let grid = Span { from, until, origin };
    let spans = asked.interval.map_or(Ok(Vec::new()), |interval| spans(grid, interval))?;
    let pairs = pairs.into_iter().map(|pair| pair_report(pair, grid, &spans, asked.rate));
    Ok(Report { rate_bit_s: asked.rate.map(Rate::get), pairs: pairs.collect() })
}

fn spans(grid: Span, interval: Nanos) -> Result<Vec<Span>, Refused> {
    let refuse = |reason: String| {
        let remedy = "write a longer interval, such as 5s";
        Refused::of_file("weird tg report", reason, remedy).key("--interval").value(interval.to_string())
    };
    let step = i64::try_from(interval.get()).unwrap_or(i64::MAX);
    if step == 0 {
        return Err(refuse("must be above 0".to_owned()));
    }
    let length = grid.until - grid.from;
    let count = length / step + i64::from(length % step > 0);
    if count > MAX_INTERVALS {
        return Err(refuse(format!("gives {count} intervals, must give at most {MAX_INTERVALS}")));
    }
    let span = |index: i64| {
        let from = grid.from + index * step;
        // The last is as long as what is left, so that its rates are those of its time.
        Span { from, until: from.saturating_add(step).min(grid.until), ..grid }
    };
    Ok((0..count).map(span).collect())
}

fn pair_report(pair: Pair, grid: Span, spans: &[Span], rate: Option<Rate>) -> PairReport {
    // They are in order already, unless the log was made by others.
    let mut packets = pair.packets;
    packets.sort_by_key(|packet| packet.due);
    let (from, until) = (pair.window.start.max(grid.from), pair.window.end.min(grid.until));
    let own = Span { from, until: until.max(from), ..grid };
    let figures = |span: Span| Window::of(span, within(&packets, span).iter(), rate);
    let all = figures(own);
    let intervals = spans.iter().copied().map(figures).collect();
    let [source, sink] = pair.names;
    let (counts, lateness) = (pair.counts, pair.lateness);
    PairReport { source, sink, all, intervals, counts, lateness, warnings: pair.warnings }
}

/// The packets that were due within a span.
fn within(packets: &[Packet], span: Span) -> &[Packet] {
    let before = |time: i64| packets.partition_point(|packet| packet.due < time);
    &packets[before(span.from)..before(span.until).max(before(span.from))]
}

#[cfg(test)]
mod tests;
