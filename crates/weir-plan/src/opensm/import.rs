//! From an options file to a request, and to a scenario: what its tables give to each lane.

use core::fmt::Write;

use weir_core::units::Bytes;

use super::effective::{Effective, operational, programmed, reaching, setting};
use super::faults::as_read;
use super::lint::Port;
use super::parse::{Kind, Options};
use crate::emit::opensm::MOST_ENTRIES;
use crate::emit::scenario::quoted;
use crate::emit::surroundings;
use crate::quantity::Share;
use crate::requirements::Requirements;
use crate::shape::Link;
use crate::solve::solve;
use crate::target::Prefix;

/// The pool over the least weight: the first with which all lanes fit is taken.
const KS: [u64; 2] = [2, 1];
/// The largest weight of InfiniBand.
const LARGEST: u64 = 255;

/// One lane of a file.
struct Served {
    lane: u32,
    weight: u64,
    /// The longest way from entry to entry in the low table; `None` with fewer than two entries.
    distance: Option<u32>,
    is_high: bool,
    levels: Vec<usize>,
}

/// A request, as TOML, for what the ports of a prefix are programmed with; it comes from the file called `name`.
///
/// Shares are those of the weights of both tables together, and those of an entry at least. Priority has no place in a request: a lane of the high
/// table is marked by a comment, and is to be given a distance or a latency.
///
/// # Errors
/// With a reason and a remedy, if no table is set, one is not read as it is written, or no lane is served.
pub fn requirements(
    options: &Options,
    name: &str,
    prefix: Prefix,
    port: &Port,
    link: Link,
) -> Result<String, (String, String)> {
    is_sound(options, prefix)?;
    let effective = Effective::of(options, prefix);
    if served(&effective, port, operational(port.lanes, options.most_lanes())).is_empty() {
        return Err(unserved());
    }
    let fits = |text: &String| {
        let asked = Requirements::from_toml(text, name);
        asked.is_ok_and(|asked| solve(&asked).refused.is_empty())
    };
    let mut texts = KS.map(|k| request(options, name, prefix, port, link, k)).into_iter();
    let first = texts.next().unwrap_or_default();
    Ok(if fits(&first) { first } else { texts.find(fits).unwrap_or(first) })
}

/// Reason and remedy where no lane is served.
fn unserved() -> (String, String) {
    (
        "no lane has an entry with weight that reaches the port".to_owned(),
        "`weir lint` says why; give a lane an entry with weight".to_owned(),
    )
}

/// That the file sets a table for the prefix, and that what it sets is read as it is written.
fn is_sound(options: &Options, prefix: Prefix) -> Result<(), (String, String)> {
    if [Kind::Low, Kind::High].iter().all(|kind| setting(options, prefix, *kind).is_none()) {
        let prefix = prefix.name();
        let reason =
            format!("it sets no table for {prefix}: neither {prefix}_vlarb_low nor {prefix}_vlarb_high");
        return Err((reason, "name a file with a table, or the prefix that has one: --prefix".to_owned()));
    }
    let of_kind = |kind| setting(options, prefix, kind);
    let Some((found, fault)) = Kind::ALL
        .into_iter()
        .filter_map(of_kind)
        .find_map(|found| Some((found, found.fault.as_ref().filter(|fault| fault.is_misread)?)))
    else {
        return Ok(());
    };
    let (option, read) = (found.name(), as_read(&found.value));
    let reason = format!(
        "line {}, column {}: {option} is not read as it is written: `{}` {}, and OpenSM reads {read}",
        found.line, fault.column, fault.part, fault.what
    );
    Err((reason, format!("write what it should be; what is read, if that is meant: {read}")))
}

fn request(options: &Options, name: &str, prefix: Prefix, port: &Port, link: Link, k: u64) -> String {
    let effective = Effective::of(options, prefix);
    let lanes = operational(port.lanes, options.most_lanes());
    let served = served(&effective, port, lanes);
    let packet = port.mtu.get().div_ceil(super::WEIGHT_UNIT).max(1);
    let w = (LARGEST / packet).clamp(k, 7);
    let entries = port.low_capacity.clamp(1, MOST_ENTRIES);
    let name: String = name.chars().map(|each| if each.is_control() { '?' } else { each }).collect();
    let mut text = format!(
        "# Made from {name} ({}) by `weir import opensm`: the shares of the weights as they are programmed.\n\
         # What each lane needs is yours to say: share, distance or latency.\n\
         weir = 1\n\n[table]\nentries = {entries}\nmtu = \"{}\"\nk = {k}\nw = {w}\n\n[link]\nrate = \"{}\"\n\
         coding = \"{}\"\n",
        prefix.name(),
        port.mtu,
        link.rate,
        link.coding.name(),
    );
    let least = Share::PARTS / (u64::from(1_u32 << entries.ilog2()) * k);
    for (lane, share) in served.iter().zip(shares(&served, least)) {
        write_class(&mut text, lane, share);
    }
    let _ = write!(text, "\n[target]\nform = \"opensm\"\nlanes = {lanes}\nprefix = \"{}\"\n", prefix.name());
    text
}

/// A scenario of the model `fabric`, as TOML, in which every output has the tables with which the ports of a prefix
/// are programmed; it comes from the file called `name`.
///
/// # Errors
/// With a reason and a remedy, if no table is set, one is not read as it is written, no lane is served, or packets or
/// link are not simulated.
pub fn scenario(
    options: &Options,
    name: &str,
    prefix: Prefix,
    port: &Port,
    link: Link,
) -> Result<String, (String, String)> {
    is_sound(options, prefix)?;
    let hardware = surroundings::hardware(port.mtu, Bytes::new(super::WEIGHT_UNIT), link)?;
    let effective = Effective::of(options, prefix);
    let lanes = operational(port.lanes, options.most_lanes());
    let served = served(&effective, port, lanes);
    if served.is_empty() {
        return Err(unserved());
    }
    let table = |pairs: &[(u32, u32)], capacity| {
        let entry = |&pair: &(u32, u32)| {
            let (lane, weight) = programmed(pair, lanes);
            let channel = served.iter().position(|each| each.lane == lane).filter(|_| weight > 0);
            channel.map_or("-".to_owned(), |channel| format!("{channel}@{weight}cr"))
        };
        let entries: Vec<String> = pairs.iter().take(reaching(capacity)).map(entry).collect();
        entries.iter().any(|entry| entry != "-").then(|| entries.join("/"))
    };
    let high = table(&effective.high, port.high_capacity);
    let discipline = match (table(&effective.low, port.low_capacity), high) {
        (Some(low), Some(high)) => {
            format!("table_weighted:table={low},high={high},high_limit={}", effective.high_limit)
        }
        (Some(one), None) | (None, Some(one)) => format!("table_weighted:table={one}"),
        (None, None) => return Err(unserved()),
    };
    let name: String = name.chars().map(|each| if each.is_control() { '?' } else { each }).collect();
    let mut text = format!(
        "# Made from {name} ({}) by `weir import opensm`: the tables as they are programmed.\n\
         # The traffic is a guess: topology, loads, sizes and shares are yours to change.\n\
         weir = 1\nmodel = \"fabric\"\ntitle = {}\nseed = 1\ndisciplines = [\"{discipline}\"]\n\n{hardware}",
        prefix.name(),
        quoted(&format!("The tables of {name}")),
    );
    for lane in &served {
        let _ = write!(text, "\n[[channel]]\nname = \"VL{}\"\nshare = {}\n", lane.lane, lane.weight);
    }
    let _ = write!(text, "\n{}", surroundings::traffic(port.mtu, link));
    Ok(text)
}

fn served(effective: &Effective, port: &Port, lanes: u32) -> Vec<Served> {
    let reach = |pairs: &[(u32, u32)], capacity| -> Vec<(u32, u32)> {
        pairs.iter().take(reaching(capacity)).map(|&pair| programmed(pair, lanes)).collect()
    };
    let high = reach(&effective.high, port.high_capacity);
    let low = reach(&effective.low, port.low_capacity);
    let weight = |pairs: &[(u32, u32)], lane| -> u64 {
        pairs.iter().filter(|pair| pair.0 == lane).map(|pair| u64::from(pair.1)).sum()
    };
    let lane = |lane: u32| {
        let (high, weight) = (weight(&high, lane), weight(&high, lane) + weight(&low, lane));
        let levels = (0..16).filter(|&level| effective.lane_of(level, lanes) == Some(lane)).collect();
        (weight > 0).then(|| Served {
            lane,
            weight,
            distance: distance(&low, lane),
            is_high: high > 0,
            levels,
        })
    };
    (0..15).filter_map(lane).collect()
}

/// The longest way from an entry of a lane to its next.
fn distance(pairs: &[(u32, u32)], lane: u32) -> Option<u32> {
    let is_own = |pair: &(u32, u32)| pair.0 == lane && pair.1 > 0;
    let own: Vec<usize> = (0..pairs.len()).filter(|&at| is_own(&pairs[at])).collect();
    let (first, last) = (own.first()?, own.last()?);
    let longest = own.windows(2).map(|two| two[1] - two[0]).max()?;
    u32::try_from(longest.max(pairs.len() - last + first)).ok()
}

/// The parts of the link in the proportion of the weights, but that of an entry at least: what those get more, the
/// others get less.
fn shares(served: &[Served], least: u64) -> Vec<Share> {
    let mut raised = vec![false; served.len()];
    loop {
        let of = |is: bool| served.iter().zip(&raised).filter(move |(_, raised)| **raised == is);
        let weight: u128 = of(false).map(|(lane, _)| u128::from(lane.weight)).sum();
        let taken = least * of(true).count() as u64;
        let left = u128::from(Share::PARTS.saturating_sub(taken));
        let share = |lane: &Served| (u128::from(lane.weight) * left / weight.max(1)) as u64;
        match served.iter().zip(&raised).position(|(lane, raised)| !raised && share(lane) < least) {
            Some(place) => raised[place] = true,
            None => {
                let parts = |(lane, raised): (&Served, &bool)| if *raised { least } else { share(lane) };
                // In percent with four decimals, rounded down, so that all together stay within the whole.
                let rounded = served.iter().zip(&raised).map(parts).map(|parts| parts / 1_000 * 1_000);
                return rounded.map(|parts| Share::new(parts.max(1_000))).collect();
            }
        }
    }
}

fn write_class(text: &mut String, lane: &Served, share: Share) {
    let levels: Vec<String> = lane.levels.iter().map(usize::to_string).collect();
    let _ = write!(text, "\n[[class]]\nname = \"VL{}\"\nshare = \"{share}\"\n", lane.lane);
    if let Some(distance) = lane.distance {
        let _ = writeln!(text, "distance = {distance}");
    }
    if lane.is_high {
        text.push_str("# It was in the table of high priority: give it a distance or a latency.\n");
    }
    let _ = write!(text, "lane = {}\nservice_levels = [{}]\n", lane.lane, levels.join(", "));
}
