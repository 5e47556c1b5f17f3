//! The value of an option as OpenSM reads it, and where that is not what is written.
//!
//! In a table and in a map OpenSM reads a number and then skips one character, whatever it is. So a space before a
//! comma takes the place of the comma, and everything behind it is read one number later: `0:64 ,1:64` programs lane 0
//! with 64, lane 0 with 1, and lane 4, which is 64 modulo 15, with 0. Of such a text OpenSM warns in its log, of an empty
//! place between two commas it does not.
//!
//! | | |
//! |-|-|
//! | Source | OpenSM 3.3.23, `opensm/osm_qos.c`: `parse_vlarb_entry`, `parse_sl2vl_entry`; `opensm/osm_subnet.c`: `opts_parse_*`, `subn_verify_*` |
//! | Work | O(length of the value) |

use weir_document::shorten;

use super::c;
use super::parse::{Kind, Lane, Pair, Value};

/// Where a value is not read as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The part in question, as it is written.
    pub part: String,
    /// Where it begins in its line.
    pub column: usize,
    /// What is wrong with it.
    pub what: &'static str,
    /// Whether something else is programmed than what is written; else OpenSM only warns.
    pub is_misread: bool,
}

/// Reads the value of an option; `column` tells that of a byte of it.
pub(super) fn read(kind: Kind, text: &[u8], column: impl Fn(usize) -> usize) -> (Value, Option<Fault>) {
    if text == b"(null)" && !matches!(kind, Kind::MaxLanes | Kind::HighLimit) {
        return (Value::Unset, None);
    }
    match kind {
        Kind::MaxLanes => max_lanes(text, column(0)),
        Kind::HighLimit => high_limit(text, column(0)),
        Kind::High | Kind::Low => {
            let pairs = pairs(text, &column);
            let written = parts(text).map(|(at, part)| (at, part, pair(part)));
            let fault = fault(
                written,
                &pairs,
                |pair| (pair.lane, pair.weight),
                "is no pair of lane and weight",
                &column,
            );
            (Value::Table(pairs), fault)
        }
        Kind::ServiceLevels => {
            let lanes = lanes(text, &column);
            let written = parts(text).map(|(at, part)| (at, part, exact(part)));
            let fault = fault(written, &lanes, |lane| lane.lane, "is no lane", &column);
            (Value::Lanes(lanes), fault)
        }
    }
}

/// A number and nothing else, up to a bound.
pub(super) fn number_up_to(text: &[u8], most: u64) -> Option<u64> {
    let read = c::number(text);
    (!text.is_empty() && read.length == text.len() && read.fits && read.unsigned <= most)
        .then_some(read.unsigned)
}

fn max_lanes(text: &[u8], column: usize) -> (Value, Option<Fault>) {
    match number_up_to(text, u64::from(u32::MAX)) {
        Some(0) => (Value::Unset, None),
        Some(number) => (Value::Number(number as u32), None),
        None => (
            Value::Kept,
            Some(Fault { part: shown(text), column, what: "is no whole number", is_misread: true }),
        ),
    }
}

fn high_limit(text: &[u8], column: usize) -> (Value, Option<Fault>) {
    let read = c::number(text);
    // As C narrows it.
    let number = read.signed as i32;
    let value = u32::try_from(number).map_or(Value::Unset, Value::Number);
    let is_whole = !text.is_empty() && read.length == text.len();
    let is_same = is_whole && i64::from(number) == read.signed;
    let fault = Fault { part: shown(text), column, what: "is no whole number", is_misread: true };
    (value, (!is_same).then_some(fault))
}

/// Reads a number as C does, and skips a character; as `unsigned int` has it.
fn step(text: &[u8], at: &mut usize) -> u32 {
    let read = c::number(&text[*at..]);
    *at = (*at + read.length + 1).min(text.len());
    read.unsigned as u32
}

fn pairs(text: &[u8], column: impl Fn(usize) -> usize) -> Vec<Pair> {
    let (mut pairs, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let from = at + text[at..].iter().take_while(|byte| c::is_space(**byte)).count();
        let lane = step(text, &mut at);
        let weight = step(text, &mut at);
        pairs.push(Pair { lane, weight, column: column(from) });
    }
    pairs
}

fn lanes(text: &[u8], column: impl Fn(usize) -> usize) -> Vec<Lane> {
    let (mut lanes, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let from = at + text[at..].iter().take_while(|byte| c::is_space(**byte)).count();
        lanes.push(Lane { lane: step(text, &mut at), column: column(from) });
    }
    lanes
}

/// What stands between commas, with the place where it begins; a comma at the end begins nothing.
fn parts(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let text = text.strip_suffix(b",").unwrap_or(text);
    let parts = text.split(|byte| *byte == b',').scan(0, |next, part| {
        let at = *next;
        *next += part.len() + 1;
        Some((at, part))
    });
    parts.filter(move |_| !text.is_empty())
}

/// A number and nothing else but space.
fn exact(part: &[u8]) -> Option<u32> {
    let part = trimmed(part);
    let is_plain = part.first().is_some_and(u8::is_ascii_digit);
    number_up_to(part, u64::from(u32::MAX)).filter(|_| is_plain).map(|number| number as u32)
}

/// Two numbers with a colon between them, and nothing else but space.
fn pair(part: &[u8]) -> Option<(u32, u32)> {
    let colon = part.iter().position(|byte| *byte == b':')?;
    Some((exact(&part[..colon])?, exact(&part[colon + 1..])?))
}

/// Without the space around it.
fn trimmed(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && c::is_space(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && c::is_space(*last)
    {
        text = rest;
    }
    text
}

/// The first part that is not of its form, or that is read otherwise than is written.
fn fault<'a, T: PartialEq, R>(
    written: impl Iterator<Item = (usize, &'a [u8], Option<T>)>,
    read: &[R],
    value: impl Fn(&R) -> T,
    what: &'static str,
    column: impl Fn(usize) -> usize,
) -> Option<Fault> {
    let mut spaced = None;
    let mut count = 0;
    for (place, (at, part, meant)) in written.enumerate() {
        count += 1;
        let at = at + part.iter().take_while(|byte| c::is_space(**byte)).count();
        let fault =
            |what, is_misread| Fault { part: shown(trimmed(part)), column: column(at), what, is_misread };
        let Some(meant) = meant else { return Some(fault(what, true)) };
        if part.iter().rposition(|byte| !c::is_space(*byte)).is_some_and(|last| last + 1 < part.len())
            || part.windows(2).any(|two| c::is_space(two[0]) && two[1] == b':')
        {
            spaced = spaced.or(Some(fault("has a space behind a number", false)));
        }
        if read.get(place).is_none_or(|read| value(read) != meant) {
            // The space that shifts what follows stands before it.
            let fault = spaced.unwrap_or(fault(what, true));
            return Some(Fault { is_misread: true, ..fault });
        }
    }
    spaced.map(|fault| Fault { is_misread: count != read.len(), ..fault })
}

fn shown(text: &[u8]) -> String {
    shorten(&String::from_utf8_lossy(text)).escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part, where it begins, and whether something else is programmed.
    type Told = Option<(String, usize, bool)>;

    fn table(text: &str) -> (Vec<(u32, u32)>, Told) {
        let (value, fault) = read(Kind::Low, text.as_bytes(), |at| at);
        let Value::Table(pairs) = value else { panic!("a table") };
        let pairs = pairs.iter().map(|pair| (pair.lane, pair.weight)).collect();
        (pairs, fault.map(|fault| (fault.part, fault.column, fault.is_misread)))
    }

    fn map(text: &str) -> (Vec<u32>, Told) {
        let (value, fault) = read(Kind::ServiceLevels, text.as_bytes(), |at| at);
        let Value::Lanes(lanes) = value else { panic!("lanes") };
        let lanes = lanes.iter().map(|lane| lane.lane).collect();
        (lanes, fault.map(|fault| (fault.part, fault.column, fault.is_misread)))
    }

    /// Finding B8: what OpenSM 3.3.23 programs, as a simulated subnet shows it.
    #[test]
    fn b8_a_space_shifts_what_follows() {
        let told = |part: &str, column, is_misread| Some((part.to_owned(), column, is_misread));
        for (text, pairs, fault) in [
            ("0:64,1:64", vec![(0, 64), (1, 64)], None),
            ("0:64, 1: 0x40,", vec![(0, 64), (1, 64)], None),
            ("0:64 ,1:64,2:64", vec![(0, 64), (0, 1), (64, 2), (64, 0)], told("0:64", 0, true)),
            ("0 :64,1:4", vec![(0, 0), (64, 1), (4, 0)], told("0 :64", 0, true)),
            ("0:4,1-64", vec![(0, 4), (1, 64)], told("1-64", 4, true)),
            ("0:32,,1:4", vec![(0, 32), (0, 1), (4, 0)], told("", 5, true)),
            ("0:4,-1:4", vec![(0, 4), (u32::MAX, 4)], told("-1:4", 4, true)),
            ("0:4,1:4 ", vec![(0, 4), (1, 4)], told("1:4", 4, false)),
            ("0:4,1", vec![(0, 4), (1, 0)], told("1", 4, true)),
            ("", vec![], None),
        ] {
            assert_eq!(table(text), (pairs, fault), "{text}");
        }
        assert_eq!(map("0 ,1,2"), (vec![0, 0, 1, 2], told("0", 0, true)));
        assert_eq!(map("0, 1,\t2"), (vec![0, 1, 2], None));
        assert_eq!(map("0,1,x"), (vec![0, 1, 0], told("x", 4, true)));
    }

    #[test]
    fn numbers_are_kept_or_narrowed() {
        let value = |kind, text: &str| {
            let (value, fault) = read(kind, text.as_bytes(), |at| at);
            (value, fault.is_some())
        };
        assert_eq!(value(Kind::MaxLanes, "8 x"), (Value::Kept, true));
        assert_eq!(value(Kind::MaxLanes, "-1"), (Value::Kept, true));
        assert_eq!(value(Kind::MaxLanes, "0x0f"), (Value::Number(15), false));
        assert_eq!(value(Kind::HighLimit, "seven"), (Value::Number(0), true));
        assert_eq!(value(Kind::HighLimit, "7 x"), (Value::Number(7), true));
        assert_eq!(value(Kind::HighLimit, "-3"), (Value::Unset, false));
        assert_eq!(value(Kind::HighLimit, "4294967303"), (Value::Number(7), true));
    }
}
