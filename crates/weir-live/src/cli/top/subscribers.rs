//! One interval of the subscribers of a router: who sends most, who loses most, whose packets wait.

use std::collections::HashMap;

use clap::ValueEnum;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use weir_core::info::parse_rate;
use weir_core::units::Nanos;
use weir_gauge::text::{packets, per_second, rate, span};
use weir_plane::subscribers::{SubscriberCounts, SubscriberSnapshot, SubscribersSnapshot};

use super::Arguments;
use super::frame::{Block, Frame, Row};

/// What is shown of a subscriber, in the order of the columns, each with its rank: what is narrow loses the last ranks
/// first.
const COLUMNS: [(&str, u8); 11] = [
    ("interface", 9),
    ("subscriber", 0),
    ("group", 7),
    ("rate", 1),
    ("of ceiling", 5),
    ("promised", 6),
    ("ceiling", 4),
    ("packets", 8),
    ("waiting", 2),
    ("dropped", 3),
    ("in all", 10),
];
/// Columns that begin at the left.
const LEFT: usize = 3;

/// What subscribers are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Sort {
    /// What they send.
    Rate,
    /// What they lose.
    Drops,
    /// What waits.
    Waiting,
}

/// Which subscribers are shown, and in which order.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    is_open: bool,
    sort: Sort,
    filter: String,
    most: usize,
    /// Whether the filter is being written.
    writes: bool,
}

/// What a subscriber did in an interval.
struct Figures<'s> {
    now: &'s SubscriberSnapshot,
    bits: f64,
    packets: f64,
    dropped: f64,
}

impl Choice {
    /// What was asked for.
    pub(super) fn of(arguments: &Arguments) -> Self {
        let Arguments { subscribers, sort, most, .. } = *arguments;
        Self { is_open: subscribers, sort, filter: arguments.filter.clone(), most, writes: false }
    }

    /// Takes a key, if it is one of this page; whether it was.
    pub(super) fn takes(&mut self, key: KeyEvent) -> bool {
        if !self.is_open
            || key.kind != KeyEventKind::Press
            || !(key.modifiers - KeyModifiers::SHIFT).is_empty()
        {
            return false;
        }
        match (key.code, self.writes) {
            (KeyCode::Char(each), true) => self.filter.push(each),
            (KeyCode::Backspace, true) => drop(self.filter.pop()),
            (KeyCode::Enter | KeyCode::Esc, true) => self.writes = false,
            (KeyCode::Char('/'), false) => (self.writes, self.filter) = (true, String::new()),
            (KeyCode::Char('r'), false) => self.sort = Sort::Rate,
            (KeyCode::Char('d'), false) => self.sort = Sort::Drops,
            (KeyCode::Char('w'), false) => self.sort = Sort::Waiting,
            _ => return false,
        }
        true
    }

    /// What happened between two samples.
    pub(super) fn frame(&self, before: &[SubscribersSnapshot], now: &[SubscribersSnapshot]) -> Frame {
        let (mut rows, mut all, mut shown, mut longest) = (Vec::new(), 0, 0, 0);
        for at in now {
            // A daemon that was started anew counts from zero.
            let old = before.iter().find(|old| old.interface == at.interface && old.now_ns < at.now_ns);
            let interval = at.now_ns - old.map_or(0, |old| old.now_ns);
            let figures = self.figures(at, old, interval.max(1) as f64 / 1e9);
            (all, shown, longest) =
                (all + at.subscribers.len(), shown + figures.len(), longest.max(interval));
            rows.extend(figures.iter().take(self.most).map(|of| of.row(&at.interface)));
        }
        let by = self.sort.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
        let cursor = if self.writes { "_" } else { "" };
        let filter = match self.filter.is_empty() && !self.writes {
            true => String::new(),
            false => format!(", {shown} with `{}{cursor}`", self.filter),
        };
        Frame {
            title: format!("{all} subscribers{filter}, by {by}, the last {}", span(Nanos::new(longest))),
            blocks: vec![Block { head: COLUMNS.to_vec(), left: LEFT, rows }],
        }
    }

    /// Those who are wanted, in their order.
    fn figures<'s>(
        &self,
        now: &'s SubscribersSnapshot,
        old: Option<&SubscribersSnapshot>,
        seconds: f64,
    ) -> Vec<Figures<'s>> {
        let old: HashMap<&str, SubscriberCounts> = old
            .into_iter()
            .flat_map(|old| old.subscribers.iter().map(|it| (it.name.as_str(), it.counts)))
            .collect();
        let wanted = now.subscribers.iter().filter(|it| it.name.contains(&self.filter));
        let mut figures: Vec<Figures<'_>> = wanted
            .map(|it| Figures::of(it, old.get(it.name.as_str()).copied().unwrap_or_default(), seconds))
            .collect();
        let key = |of: &Figures<'_>| match self.sort {
            Sort::Rate => of.bits,
            Sort::Drops => of.dropped,
            Sort::Waiting => of.now.counts.waiting.bytes as f64,
        };
        // Of equals the file has the order.
        figures.sort_by(|one, other| key(other).total_cmp(&key(one)));
        figures
    }
}

impl<'s> Figures<'s> {
    fn of(now: &'s SubscriberSnapshot, old: SubscriberCounts, seconds: f64) -> Self {
        let each = |now: u64, old: u64| now.saturating_sub(old) as f64 / seconds;
        let counts = &now.counts;
        Self {
            now,
            bits: 8.0 * each(counts.forwarded.bytes, old.forwarded.bytes),
            packets: each(counts.forwarded.packets, old.forwarded.packets),
            dropped: each(counts.dropped.packets, old.dropped.packets),
        }
    }

    fn row(&self, interface: &str) -> Row {
        let of_ceiling = parse_rate(&self.now.ceiling).map_or("-".to_owned(), |ceiling| {
            format!("{:.0} %", 100.0 * self.bits / ceiling.get().max(1) as f64)
        });
        let counts = &self.now.counts;
        Row::plain(vec![
            interface.to_owned(),
            self.now.name.clone(),
            self.now.group.clone(),
            rate(self.bits),
            of_ceiling,
            self.now.rate.clone(),
            self.now.ceiling.clone(),
            per_second(self.packets),
            packets(counts.waiting.packets),
            per_second(self.dropped),
            packets(counts.dropped.packets),
        ])
    }
}

#[cfg(test)]
mod tests {
    use weir_plane::snapshot::Count;

    use super::*;

    fn sample(now_ns: u64, sent: [u64; 3]) -> Vec<SubscribersSnapshot> {
        let of = |(name, bytes): (&str, u64)| {
            let counts = SubscriberCounts {
                forwarded: Count { packets: bytes / 1_000, bytes },
                dropped: Count { packets: 9_000_000_u64.checked_div(bytes).unwrap_or(0), bytes: 0 },
                waiting: Count { packets: bytes % 7, bytes: bytes % 7 },
            };
            let (rate, ceiling) = ("1Mbit".to_owned(), "8Mbit".to_owned());
            SubscriberSnapshot { name: name.to_owned(), group: "mast".to_owned(), rate, ceiling, counts }
        };
        let subscribers = ["anna", "ben", "others"].into_iter().zip(sent).map(of).collect();
        vec![SubscribersSnapshot { interface: "eth1".to_owned(), now_ns, subscribers, ..Default::default() }]
    }

    fn choice(sort: Sort, filter: &str) -> Choice {
        Choice { is_open: true, sort, filter: filter.to_owned(), most: 2, writes: false }
    }

    fn names(frame: &Frame) -> Vec<&str> {
        frame.blocks[0].rows.iter().map(|row| row.cells[1].as_str()).collect()
    }

    #[test]
    fn they_are_sorted_by_what_is_asked_and_the_first_are_shown() {
        let (before, now) = (sample(0, [0; 3]), sample(1_000_000_000, [100_000, 500_000, 250_000]));
        assert_eq!(names(&choice(Sort::Rate, "").frame(&before, &now)), ["ben", "others"]);
        assert_eq!(names(&choice(Sort::Drops, "").frame(&before, &now)), ["anna", "others"]);
        assert_eq!(names(&choice(Sort::Waiting, "").frame(&before, &now)), ["anna", "ben"]);
        let frame = choice(Sort::Rate, "nn").frame(&before, &now);
        assert_eq!(frame.title, "3 subscribers, 1 with `nn`, by rate, the last 1s");
        let text = frame.text(120);
        assert!(text.contains("800kbit") && text.contains("10 %") && text.contains("8Mbit"), "{text}");
    }

    #[test]
    fn what_is_narrow_keeps_name_rate_and_what_waits() {
        let frame = choice(Sort::Rate, "").frame(&[], &sample(1_000_000_000, [100_000, 500_000, 250_000]));
        let text = frame.text(30);
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= 30), "{text}");
        assert!(text.contains("ben") && text.contains("rate") && text.contains("waiting"), "{text}");
        assert!(!text.contains("promised"), "{text}");
    }

    #[test]
    fn keys_sort_and_write_a_filter() {
        let mut choice = choice(Sort::Rate, "");
        let mut press = |code| choice.takes(KeyEvent::new(code, KeyModifiers::NONE));
        assert!(press(KeyCode::Char('d')) && !press(KeyCode::Char('q')));
        assert!(press(KeyCode::Char('/')) && press(KeyCode::Char('q')) && press(KeyCode::Char('x')));
        assert!(press(KeyCode::Backspace) && press(KeyCode::Enter) && !press(KeyCode::Enter));
        assert_eq!((choice.sort, choice.filter.as_str(), choice.writes), (Sort::Drops, "q", false));
        choice.is_open = false;
        assert!(!choice.takes(KeyEvent::new(KeyCode::Char('r'), KeyModifiers::NONE)));
    }
}
