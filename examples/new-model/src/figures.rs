//! What is measured at the bus stop: waits of `passengers`, `all` and those whose trip is `short` (at most half of the
//! stops) or `long`, and what buses do. Who boards has waited; who could not board the first bus was left behind.

use weir_lab::result::{Check, Distribution};
use weir_lab::stats::figure::{ALL, Subject, Title};
use weir_lab::stats::row::{Row, Rows};
use weir_lab::tally::{Tallies, Tally};

/// Waits, by their places: of all, of short trips, of long ones.
const NAMES: [&str; 3] = [ALL, "short", "long"];

/// What is counted: buses, and passengers.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    Buses,
    Came,
    Boarded,
    LeftBehind,
    Waiting,
    Dropped,
}

/// What a replication leaves.
pub type Left = Tally<{ NAMES.len() }, 6>;
/// A discipline over the replications.
pub type Cell = Tallies<{ NAMES.len() }, 6>;

/// A passenger boards after a wait of so many nanoseconds; buses come `every` so many.
pub(crate) fn boards(left: &mut Left, wait: u64, every: u64, is_short: bool) {
    left.counts[Count::Boarded as usize] += 1;
    left.counts[Count::LeftBehind as usize] += u64::from(wait >= every);
    for place in [0, if is_short { 1 } else { 2 }] {
        left.times[place].record(wait, true);
    }
}

fn title(kind: &'static str, name: &str, metric: &'static str, unit: &'static str) -> Title {
    Title::mean(Subject::new(kind, name), metric, unit)
}

fn waits() -> impl Iterator<Item = (usize, Title)> {
    NAMES.iter().map(|name| title("passengers", name, "wait", "s")).enumerate()
}

pub(crate) fn rows(cell: &Cell) -> Rows {
    let mean = |title, part: Count, whole: Count| cell.ratio(title, part as usize, whole as usize);
    let mut rows: Vec<Row> = waits().flat_map(|(place, title)| cell.spreads(title, place)).collect();
    rows.push(mean(title("passengers", ALL, "left_behind", "1"), Count::LeftBehind, Count::Boarded));
    rows.push(mean(title("bus", ALL, "boarded", "passengers"), Count::Boarded, Count::Buses));
    Rows::new(rows, true)
}

pub(crate) fn distributions(discipline: &str, cell: &Cell) -> impl Iterator<Item = Distribution> {
    waits().map(move |(place, title)| cell.distribution(discipline, title, place))
}

/// Who came has boarded, waits still or was turned away.
pub(crate) fn conservation(discipline: &str, cell: &Cell) -> Check {
    let sum = |count: Count| cell.sum(count as usize) as f64;
    let left = sum(Count::Boarded) + sum(Count::Waiting) + sum(Count::Dropped);
    let note = "passengers that came, against those who boarded, wait still or were turned away";
    Check::new(Some(discipline), "conservation", sum(Count::Came), left, 0.0, note)
}
