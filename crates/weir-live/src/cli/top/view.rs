//! One interval of a router.

use weir_core::units::Nanos;
use weir_gauge::spans::Sojourn;
use weir_gauge::text::{packets, per_second, rate, span, span_if_any};
use weir_plane::snapshot::{ClassSnapshot, Count, InterfaceSnapshot, Reason, Snapshot};

use super::frame::{Block, Frame, Row};
use super::model::Model;
use crate::daemon::metrics::word;

/// What is shown of an interface or a class, in the order of the columns, each with its rank: what is narrow loses the
/// last ranks first.
const COLUMNS: [(&str, u8); 12] = [
    ("interface", 0),
    ("state", 6),
    ("discipline", 10),
    ("limit", 9),
    ("rate", 1),
    ("packets", 3),
    ("waiting", 2),
    ("oldest", 7),
    ("dropped", 4),
    ("p50", 8),
    ("p99", 5),
    ("mean", 11),
];
/// The column of the model: its rate, mean queue and mean wait, next to `rate`, `waiting` and `mean`.
const SAYS: (&str, u8) = ("model says", 2);
/// Columns that begin at the left.
const LEFT: usize = 3;

/// What is gathered of one interval.
struct Interval {
    /// One an interface, and below it one a class where there are several.
    rows: Vec<Row>,
    /// Interface, class, reason, in all, in a second.
    drops: Vec<Vec<String>>,
}

/// What happened between two samples of one router.
pub(super) fn frame(before: &Snapshot, now: &Snapshot, model: Option<&Model>) -> Frame {
    // A daemon that was started anew counts from zero.
    let nothing = Snapshot::default();
    let before = if before.now_ns < now.now_ns { before } else { &nothing };
    let seconds = (now.now_ns - before.now_ns).max(1) as f64 / 1e9;
    let mut interval = Interval { rows: Vec::new(), drops: Vec::new() };
    for at in &now.interfaces {
        let old = before.interfaces.iter().find(|old| old.name == at.name);
        interval.interface(at, old.unwrap_or(&InterfaceSnapshot::default()), seconds, model);
    }
    let mut head = COLUMNS.to_vec();
    head.extend(model.map(|_| SAYS));
    let drops = interval.drops.into_iter().map(Row::plain).collect();
    Frame {
        title: title(now, seconds),
        blocks: vec![
            Block { head, left: LEFT, rows: interval.rows },
            Block { head: DROPS.to_vec(), left: 3, rows: drops },
        ],
    }
}

impl Interval {
    fn interface(
        &mut self,
        at: &InterfaceSnapshot,
        old: &InterfaceSnapshot,
        interval: f64,
        model: Option<&Model>,
    ) {
        let refused = at.refused.iter().map(|(reason, count)| (*reason, *count, old.refused.get(reason)));
        self.drops_of(&at.name, "arriving", refused, interval);
        let fresh = ClassSnapshot::default();
        let classes: Vec<(&ClassSnapshot, &ClassSnapshot)> = at
            .classes
            .iter()
            .map(|class| (class, old.classes.iter().find(|old| old.name == class.name).unwrap_or(&fresh)))
            .collect();
        let figures: Vec<Figures> = classes.iter().map(|(class, old)| Figures::of(class, old)).collect();
        let whole = figures.iter().fold(Figures::default(), |sum, each| sum.and(each));
        let state = if at.up { "up" } else { "down" };
        let limit = at.rate.clone().unwrap_or_else(|| "none".to_owned());
        let mut cells = vec![at.name.clone(), state.to_owned(), at.discipline.clone(), limit];
        cells.extend(whole.cells(interval));
        cells.extend(model.map(|model| model.says(&at.name, &at.discipline)));
        self.rows.push(Row { is_head: true, cells });
        for ((class, old), figures) in classes.iter().zip(&figures) {
            let dropped =
                class.dropped.iter().map(|(reason, count)| (*reason, *count, old.dropped.get(reason)));
            self.drops_of(&at.name, &class.name, dropped, interval);
            if classes.len() > 1 {
                let mut cells =
                    vec![format!("  {}", class.name), String::new(), String::new(), String::new()];
                cells.extend(figures.cells(interval));
                cells.extend(model.map(|_| String::new()));
                self.rows.push(Row::plain(cells));
            }
        }
    }

    fn drops_of<'o>(
        &mut self,
        interface: &str,
        class: &str,
        counts: impl Iterator<Item = (Reason, Count, Option<&'o Count>)>,
        interval: f64,
    ) {
        for (reason, count, old) in counts.filter(|(_, count, _)| count.packets > 0) {
            let new = count.packets.saturating_sub(old.map_or(0, |old| old.packets));
            let reason = word(reason).replace('_', " ");
            let figures = [packets(count.packets), per_second(new as f64 / interval)];
            self.drops
                .push([interface.to_owned(), class.to_owned(), reason].into_iter().chain(figures).collect());
        }
    }
}

/// What is shown of drops, with its rank.
const DROPS: [(&str, u8); 5] =
    [("interface", 0), ("where", 3), ("dropped because", 1), ("in all", 2), ("now", 4)];

fn title(now: &Snapshot, interval: f64) -> String {
    format!(
        "router {}, up {}, the last {}, {} of {} frames free",
        now.name,
        span(Nanos::new(now.now_ns)),
        span(Nanos::new((interval * 1e9) as u64)),
        now.frames_free,
        now.frames
    )
}

/// What happened to a class, or to several.
#[derive(Default)]
struct Figures {
    forwarded: Count,
    dropped: u64,
    waiting: u64,
    oldest_ns: u64,
    sojourn: Sojourn,
}

impl Figures {
    fn of(class: &ClassSnapshot, old: &ClassSnapshot) -> Self {
        let dropped = |class: &ClassSnapshot| class.dropped.values().map(|count| count.packets).sum::<u64>();
        Self {
            forwarded: Count {
                packets: class.forwarded.packets.saturating_sub(old.forwarded.packets),
                bytes: class.forwarded.bytes.saturating_sub(old.forwarded.bytes),
            },
            dropped: dropped(class).saturating_sub(dropped(old)),
            waiting: class.waiting.packets,
            oldest_ns: if class.waiting.packets > 0 { class.oldest_ns } else { 0 },
            sojourn: class.sojourn.since(&old.sojourn),
        }
    }

    fn and(mut self, other: &Self) -> Self {
        self.forwarded.packets += other.forwarded.packets;
        self.forwarded.bytes += other.forwarded.bytes;
        self.dropped += other.dropped;
        self.waiting += other.waiting;
        self.oldest_ns = self.oldest_ns.max(other.oldest_ns);
        self.sojourn = self.sojourn.and(&other.sojourn);
        self
    }

    /// From `rate` to `mean`.
    fn cells(&self, interval: f64) -> [String; 8] {
        let each = |count: u64| count as f64 / interval;
        [
            rate(8.0 * each(self.forwarded.bytes)),
            per_second(each(self.forwarded.packets)),
            packets(self.waiting),
            span_if_any((self.waiting > 0).then_some(Nanos::new(self.oldest_ns))),
            per_second(each(self.dropped)),
            span_if_any(self.sojourn.quantile(0.5)),
            span_if_any(self.sojourn.quantile(0.99)),
            span_if_any(self.sojourn.mean()),
        ]
    }
}

#[cfg(test)]
mod tests;
