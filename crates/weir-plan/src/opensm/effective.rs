//! What a port with a prefix is programmed with: the options after falling back, wrapping and cutting.

use super::parse::{Kind, Options, Pair, Setting, Value};
use super::{DROP, MAX_PAIRS};
use crate::target::{LANES, Prefix};

/// The options that hold for the ports of a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// What `max_vls` says, which limits nothing.
    pub max_lanes: u32,
    /// In units of 4096 bytes.
    pub high_limit: u32,
    /// The table of high priority, as it is read.
    pub high: Vec<(u32, u32)>,
    /// The table of low priority, as it is read.
    pub low: Vec<(u32, u32)>,
    /// The lane of each of the 16 service levels, as it is read.
    pub service_levels: [u32; 16],
}

/// The built-in default of the lanes.
const DEFAULT_LANES: u32 = 15;
/// The built-in default of the high table: all for lane 0.
const DEFAULT_HIGH: [u32; 15] = [4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// The built-in default of the low table: all but lane 0.
const DEFAULT_LOW: [u32; 15] = [0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4];

impl Effective {
    /// Of a prefix: its own options, else those of `qos`, else the built-in defaults. The last of several counts; a
    /// number out of range is as none.
    #[must_use]
    pub fn of(options: &Options, prefix: Prefix) -> Self {
        let value = |kind| setting(options, prefix, kind).map(|setting| &setting.value);
        let table = |kind, default: [u32; 15]| match value(kind) {
            Some(Value::Table(pairs)) => pairs.iter().map(|pair| (pair.lane, pair.weight)).collect(),
            _ => (0..).zip(default).collect(),
        };
        let mut service_levels: [u32; 16] = core::array::from_fn(|level| level as u32);
        service_levels[15] = 7;
        if let Some(Value::Lanes(lanes)) = value(Kind::ServiceLevels) {
            // What is missing is read as 0.
            service_levels = core::array::from_fn(|level| lanes.get(level).map_or(0, |lane| lane.lane));
        }
        Self {
            max_lanes: number(value(Kind::MaxLanes)).unwrap_or(DEFAULT_LANES),
            high_limit: number(value(Kind::HighLimit)).unwrap_or(0),
            high: table(Kind::High, DEFAULT_HIGH),
            low: table(Kind::Low, DEFAULT_LOW),
            service_levels,
        }
    }

    /// The lane in which a service level travels over a port with `lanes` lanes in operation; `None` if it is dropped.
    #[must_use]
    pub fn lane_of(&self, level: usize, lanes: u32) -> Option<u32> {
        let lane = self.service_levels[level] % 16;
        (lane != DROP).then_some(lane & mask(lanes))
    }
}

/// The setting of a kind that holds for a prefix, if the file has one.
pub(super) fn setting(options: &Options, prefix: Prefix, kind: Kind) -> Option<&Setting> {
    let last = |prefix: Prefix| {
        let of_kind = |setting: &&Setting| {
            setting.prefix == prefix && setting.kind == kind && setting.value != Value::Kept
        };
        let is_set = |setting: &&Setting| match setting.value {
            Value::Unset | Value::Kept => false,
            Value::Number(number) => number <= kind.highest(),
            Value::Table(_) | Value::Lanes(_) => true,
        };
        options.settings.iter().rev().find(of_kind).filter(is_set)
    };
    last(prefix).or_else(|| last(Prefix::All))
}

fn number(value: Option<&Value>) -> Option<u32> {
    match value {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    }
}

/// The data lanes in operation of a port that has `lanes`, where at most `max` are allowed.
#[must_use]
pub fn operational(lanes: u32, max: u32) -> u32 {
    LANES.into_iter().rev().find(|each| *each <= lanes.min(max)).unwrap_or(1)
}

/// The mask of lane numbers where `lanes` lanes are in operation.
pub(super) fn mask(lanes: u32) -> u32 {
    match lanes {
        15.. => 15,
        _ => lanes.max(1) - 1,
    }
}

/// A pair as it is programmed: the lane modulo 15 and masked, the weight modulo 256.
pub(super) fn programmed(pair: (u32, u32), lanes: u32) -> (u32, u32) {
    ((pair.0 % 15) & mask(lanes), pair.1 % 256)
}

/// How many pairs reach a port with `capacity` entries: of a second block only `capacity % 32`.
pub(super) fn reaching(capacity: u32) -> usize {
    let capacity = capacity.min(MAX_PAIRS as u32);
    let second = if capacity > 32 { capacity % 32 } else { 0 };
    (capacity.min(32) + second) as usize
}

/// The lanes with any weight among pairs as written.
pub(super) fn weighted(pairs: &[(u32, u32)], lanes: u32, capacity: usize) -> [bool; 16] {
    let mut has = [false; 16];
    for &pair in pairs.iter().take(capacity) {
        let (lane, weight) = programmed(pair, lanes);
        has[lane as usize] |= weight > 0;
    }
    has
}

/// Pairs without their places.
pub(super) fn plain(pairs: &[Pair]) -> Vec<(u32, u32)> {
    pairs.iter().map(|pair| (pair.lane, pair.weight)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opensm::parse;

    #[test]
    fn own_options_go_before_general_ones_and_defaults() {
        let text = "qos_ca_max_vls 4\nqos_max_vls 8\nqos_high_limit 300\nqos_swe_vlarb_low 1:32\nqos_sl2vl 3,2\n\
                    qos_swe_max_vls 16\nqos_ca_max_vls four\n";
        let options = parse(text, "a.conf").expect("valid");
        let adapters = Effective::of(&options, Prefix::Adapters);
        assert_eq!((adapters.max_lanes, adapters.high_limit), (4, 0));
        assert_eq!((adapters.low[0], adapters.low[14], adapters.low.len()), ((0, 0), (14, 4), 15));
        assert_eq!(adapters.service_levels, [3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let switches = Effective::of(&options, Prefix::SwitchPorts);
        assert_eq!((switches.max_lanes, switches.low.as_slice()), (8, &[(1, 32)][..]));
    }

    #[test]
    fn lanes_wrap_and_are_masked() {
        assert_eq!(programmed((15, 256), 15), (0, 0));
        assert_eq!(programmed((5, 1), 4), (1, 1));
        assert_eq!(programmed((14, 1), 15), (14, 1));
        assert_eq!((operational(8, 15), operational(15, 7), operational(8, 0)), (8, 4, 1));
        let effective = Effective::of(&Options::default(), Prefix::All);
        assert_eq!((effective.lane_of(15, 8), effective.lane_of(9, 8)), (Some(7), Some(1)));
    }

    #[test]
    fn a_second_block_is_cut() {
        assert_eq!([8, 32, 33, 63, 64, 99].map(reaching), [8, 32, 33, 63, 32, 32]);
    }
}
