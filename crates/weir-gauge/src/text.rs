//! Figures as people read them: three digits and a unit; and tables of them.

use weir_core::units::Nanos;

/// A span of time: `850ns`, `1.25ms`, `12.5s`.
#[must_use]
pub fn span(of: Nanos) -> String {
    scaled(of.get() as f64, &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")])
}

/// A span of time, or `-` where there is none.
#[must_use]
pub fn span_if_any(of: Option<Nanos>) -> String {
    of.map_or_else(|| "-".to_owned(), span)
}

/// Bits in a second: `9.98Mbit`.
#[must_use]
pub fn rate(bits: f64) -> String {
    scaled(bits, &[(1e9, "Gbit"), (1e6, "Mbit"), (1e3, "kbit"), (1.0, "bit")])
}

/// Packets in a second: `14.9k/s`.
#[must_use]
pub fn per_second(packets: f64) -> String {
    scaled(packets, &[(1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")])
}

/// Bytes: `1.5MB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    scaled(count as f64, &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")])
}

/// Packets, all digits: `1234pkt`.
#[must_use]
pub fn packets(count: u64) -> String {
    format!("{count}pkt")
}

/// Three digits of a number, in the largest unit in which it is at least 1.
fn scaled(number: f64, units: &[(f64, &str)]) -> String {
    // What would round up to 1000 belongs to the next unit.
    let fits = |(factor, _): &&(f64, &str)| number >= factor * 0.9995;
    let (factor, unit) = units.iter().find(fits).or(units.last()).copied().unwrap_or((1.0, ""));
    let number = number / factor;
    let places = if number >= 99.95 {
        0
    } else if number >= 9.995 {
        1
    } else {
        2
    };
    let text = format!("{number:.places$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

/// Rows under a head, in columns as wide as their widest cell; the first `left` columns begin at the left, the others
/// end at the right.
#[must_use]
pub fn table(head: &[&str], left: usize, rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.max().unwrap_or(0).max(head[column].chars().count())
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let mut text = line(&mut head.iter().copied());
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        for (nanos, text) in [
            (0, "0ns"),
            (7, "7ns"),
            (999, "999ns"),
            (1_000, "1us"),
            (1_254_000, "1.25ms"),
            (12_540_000, "12.5ms"),
            (999_950_000, "1s"),
            (90_000_000_000, "90s"),
        ] {
            assert_eq!(span(Nanos::new(nanos)), text);
        }
        assert_eq!(rate(9_984_000.0), "9.98Mbit");
        assert_eq!(rate(0.0), "0bit");
        assert_eq!(per_second(14_880.0), "14.9k/s");
        assert_eq!(bytes(1_500_000), "1.5MB");
        assert_eq!(packets(1234), "1234pkt");
    }

    #[test]
    fn tables_align() {
        let rows = [vec!["eth0".to_owned(), "1pkt".to_owned()], vec!["é".to_owned(), "100pkt".to_owned()]];
        assert_eq!(
            table(&["interface", "in"], 1, &rows),
            "interface      in\neth0         1pkt\né          100pkt\n"
        );
    }
}
