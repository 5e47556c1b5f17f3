//! The rules of [`lint()`](super::lint()) about what a port is programmed with.

use super::effective::{Effective, mask, operational, plain, programmed, reaching, setting, weighted};
use super::lint::{Finding, Port, Severity};
use super::listed::{lanes_listed, levels_listed};
use super::parse::{Kind, Lane, Options, Pair, Setting, Value};
use super::{DROP, MAX_PAIRS, MAX_WEIGHT, WEIGHT_UNIT};
use crate::target::Prefix;

/// The `high_limit` that lets the high table send without end.
const NO_LIMIT: u32 = 255;
/// Bytes of a unit of `high_limit`.
const LIMIT_UNIT: u32 = 4096;
/// The largest `high_limit` that is only noted: 64 KiB, 66 us at 8 Gbit/s of data, before each low packet. That is as
/// much as four entries of the largest weight; beyond it the limit, not the table, decides what low lanes wait.
const MODERATE_LIMIT: u32 = 16;

/// What holds for the ports of a prefix.
pub(super) struct Context<'a> {
    pub(super) options: &'a Options,
    pub(super) port: &'a Port,
    pub(super) prefix: Prefix,
    /// Data lanes in operation.
    pub(super) lanes: u32,
    pub(super) effective: &'a Effective,
}

/// A finding about a setting, at a column of its line.
pub(super) fn finding(
    severity: Severity,
    rule: &'static str,
    at: (&Setting, usize),
    what: String,
    why: String,
    remedy: &str,
) -> Finding {
    Finding {
        severity,
        rule,
        option: at.0.name(),
        line: Some(at.0.line),
        column: Some(at.1),
        what,
        why,
        remedy: remedy.to_owned(),
    }
}

impl Context<'_> {
    /// What concerns one setting by itself.
    pub(super) fn setting(&self, setting: &Setting) -> Vec<Finding> {
        match &setting.value {
            Value::Unset | Value::Kept => Vec::new(),
            Value::Number(number) => number_range(setting, *number).into_iter().collect(),
            Value::Table(pairs) => self.table(setting, pairs),
            Value::Lanes(lanes) => self.map(setting, lanes),
        }
    }

    /// A number of lanes by which nothing is limited, where other lanes are used than it allows.
    pub(super) fn max_lanes(&self) -> Option<Finding> {
        let at = setting(self.options, self.prefix, Kind::MaxLanes).filter(|at| at.prefix == self.prefix)?;
        let allowed = operational(self.lanes, self.effective.max_lanes);
        let lost = mask(self.lanes) & !mask(allowed);
        let tables =
            [(&self.effective.high, self.port.high_capacity), (&self.effective.low, self.port.low_capacity)];
        let weighted = tables.map(|(pairs, capacity)| weighted(pairs, self.lanes, reaching(capacity)));
        let in_tables = (0..16).filter(|&lane| weighted.iter().any(|has| has[lane as usize]));
        let in_map = (0..16).filter_map(|level| self.effective.lane_of(level, self.lanes));
        let beyond: Vec<u32> = in_tables.chain(in_map).filter(|lane| lane & lost != 0).collect();
        if beyond.is_empty() {
            return None;
        }
        let why = format!(
            "OpenSM reads it and limits nothing by it: {} in operation, and so {}",
            self.lanes,
            lanes_listed(beyond)
        );
        let what = format!("is {}", self.effective.max_lanes);
        let remedy = "limit the lanes of all ports with max_op_vls: 1, 2, 3, 4, 5 for 1, 2, 4, 8, 15 lanes";
        Some(finding(Severity::Warning, "max-vls", (at, at.column), what, why, remedy))
    }

    /// Built-in tables that hold because the file has none.
    pub(super) fn default_tables(&self) -> Vec<Finding> {
        let packet = self.packet();
        let is_default = |kind| setting(self.options, self.prefix, kind).is_none();
        if packet <= 4 || !(is_default(Kind::Low) && is_default(Kind::High)) {
            return Vec::new();
        }
        vec![Finding {
            severity: Severity::Note,
            rule: "built-in-tables",
            option: format!("{}_vlarb_low", self.prefix.name()),
            line: None,
            column: None,
            what: "is not set, nor is the high table".into(),
            why: format!("the built-in weights are 4, less than one packet ({packet})"),
            remedy: "set both tables".into(),
        }]
    }

    fn packet(&self) -> u64 {
        self.port.mtu.get().div_ceil(WEIGHT_UNIT)
    }

    fn capacity(&self, kind: Kind) -> u32 {
        if kind == Kind::High { self.port.high_capacity } else { self.port.low_capacity }
    }

    fn table(&self, setting: &Setting, pairs: &[Pair]) -> Vec<Finding> {
        let mut findings = Vec::new();
        findings.extend(too_many(setting, pairs));
        let kept = &pairs[..pairs.len().min(MAX_PAIRS)];
        findings.extend(self.cut(setting, kept));
        findings.extend(heavy(setting, kept));
        findings.extend(self.light(setting, kept));
        findings.extend(wrapped(setting, kept));
        findings.extend(self.masked(setting, kept));
        findings
    }

    /// Pairs that the port has no entries for, or that are never programmed.
    fn cut(&self, setting: &Setting, pairs: &[Pair]) -> Option<Finding> {
        let capacity = self.capacity(setting.kind);
        let reach = reaching(capacity);
        let first = pairs.get(reach)?;
        let written = plain(pairs);
        let before = weighted(&written, self.lanes, written.len());
        let after = weighted(&written, self.lanes, reach);
        let other = self.other_table(setting.kind);
        let lost = (0..16).filter(|&lane| before[lane] && !after[lane]);
        let (silent, served): (Vec<usize>, Vec<usize>) = lost.partition(|&lane| !other[lane]);
        let numbers = |lanes: &[usize]| lanes_listed(lanes.iter().map(|&lane| lane as u32));
        let mut why = match capacity as usize > reach {
            true => "OpenSM writes the second block with length capacity % 32, which is 0".to_owned(),
            false => format!("OpenSM writes the first {capacity} pairs and silently drops the rest"),
        };
        if !silent.is_empty() {
            why.push_str(&format!("; without any entry: {}", numbers(&silent)));
        }
        if !served.is_empty() {
            why.push_str(&format!("; with entries in the other table only: {}", numbers(&served)));
        }
        let rule = if capacity as usize > reach { "second-block" } else { "over-capacity" };
        let severity = if silent.is_empty() { Severity::Warning } else { Severity::Error };
        let what = format!("lists {} pairs, of which {reach} reach the port", pairs.len());
        let remedy = "plan with the port's entries (at most 32): `weir plan` takes them as table.entries";
        Some(finding(severity, rule, (setting, first.column), what, why, remedy))
    }

    /// The lanes that the other table of the port serves.
    fn other_table(&self, kind: Kind) -> [bool; 16] {
        let (pairs, capacity) = match kind {
            Kind::High => (&self.effective.low, self.port.low_capacity),
            _ => (&self.effective.high, self.port.high_capacity),
        };
        weighted(pairs, self.lanes, reaching(capacity))
    }

    /// Weights of less than a packet.
    fn light(&self, setting: &Setting, pairs: &[Pair]) -> Option<Finding> {
        let packet = self.packet();
        let is_light = |pair: &&Pair| (1..packet).contains(&u64::from(pair.weight % 256));
        let first = pairs.iter().find(is_light)?;
        let lanes = lanes_listed(pairs.iter().filter(is_light).map(|pair| pair.lane));
        let what = format!("gives {lanes} weights below {packet}, such as {}", first.weight);
        let why = format!(
            "an entry that has any weight left sends a whole packet of up to {}: shares follow the number of \
             entries and the sizes of packets, not the weights",
            self.port.mtu
        );
        let remedy = format!("raise them in proportion until the least is {packet}");
        Some(finding(Severity::Warning, "weight-below-mtu", (setting, first.column), what, why, &remedy))
    }

    /// Lanes that are not in operation.
    fn masked(&self, setting: &Setting, pairs: &[Pair]) -> Option<Finding> {
        let is_masked =
            |pair: &&Pair| !pair.weight.is_multiple_of(256) && (pair.lane % 15) & !mask(self.lanes) != 0;
        let first = pairs.iter().find(is_masked)?;
        let lanes = lanes_listed(pairs.iter().filter(is_masked).map(|pair| pair.lane));
        let (becomes, _) = programmed((first.lane, first.weight), self.lanes);
        let what = format!("names {lanes}; in operation: {}", self.lanes);
        let why = format!("lane numbers are masked: lane {} is programmed as lane {becomes}", first.lane);
        let remedy = format!("use lanes 0 to {}, or ports and max_op_vls with more", self.lanes - 1);
        Some(finding(Severity::Warning, "lane-masked", (setting, first.column), what, why, &remedy))
    }

    fn map(&self, setting: &Setting, lanes: &[Lane]) -> Vec<Finding> {
        let mut findings = Vec::new();
        findings.extend(map_length(setting, lanes));
        let lanes = &lanes[..lanes.len().min(16)];
        if let Some(first) = lanes.iter().find(|lane| lane.lane > DROP) {
            let what = format!("names lane {}", first.lane);
            let why = format!("it is taken modulo 16, as {}", first.lane % 16);
            let at = (setting, first.column);
            findings.push(finding(
                Severity::Error,
                "level-range",
                at,
                what,
                why,
                "name lanes 0 to 14, or 15",
            ));
        }
        let is_masked = |lane: u32| lane % 16 != DROP && (lane % 16) & !mask(self.lanes) != 0;
        let levels = lanes.iter().enumerate().filter(|(_, lane)| is_masked(lane.lane));
        if let Some((level, first)) = levels.clone().next() {
            let all = levels_listed(levels.map(|(level, _)| level as u32));
            let becomes = (first.lane % 16) & mask(self.lanes);
            let what = format!("maps {all} to lanes that are not in operation; in operation: {}", self.lanes);
            let why =
                format!("lane numbers are masked: level {level} travels in lane {becomes}, with others");
            let remedy = format!("map to lanes 0 to {}, or to 15 to drop", self.lanes - 1);
            findings.push(finding(
                Severity::Warning,
                "level-masked",
                (setting, first.column),
                what,
                why,
                &remedy,
            ));
        }
        findings
    }

    /// What the high table does to the low one.
    pub(super) fn starvation(&self) -> Option<Finding> {
        let effective = self.effective;
        let high = weighted(&effective.high, self.lanes, reaching(self.port.high_capacity));
        let low = weighted(&effective.low, self.lanes, reaching(self.port.low_capacity));
        let behind: Vec<u32> = (0..16).filter(|&lane| low[lane as usize] && !high[lane as usize]).collect();
        let at = setting(self.options, self.prefix, Kind::HighLimit)?;
        if behind.is_empty() || !high.contains(&true) || effective.high_limit == 0 {
            return None;
        }
        // Reported once, where the limit or the tables behind it are set.
        let tables = [Kind::High, Kind::Low].map(|kind| setting(self.options, self.prefix, kind));
        if at.prefix != self.prefix && tables.iter().flatten().all(|table| table.prefix != self.prefix) {
            return None;
        }
        let lanes = lanes_listed(behind);
        if effective.high_limit == NO_LIMIT {
            let why = format!("while the high table has packets, nothing is sent of the low table: {lanes}");
            let remedy = "set a limit below 255, or put these lanes into the high table";
            let what = "is 255: no limit".to_owned();
            return Some(finding(Severity::Error, "starvation", (at, at.column), what, why, remedy));
        }
        let bytes = effective.high_limit * LIMIT_UNIT;
        let what = format!("is {}", effective.high_limit);
        let why =
            format!("up to {bytes} bytes of the high table go before each packet of the low one: {lanes}");
        let is_moderate = effective.high_limit <= MODERATE_LIMIT;
        let remedy = match is_moderate {
            true => "count them into the latency of these lanes, or set 0: one packet at a time".to_owned(),
            false => format!(
                "set {MODERATE_LIMIT} or less, which is {} bytes, or 0: one packet at a time",
                MODERATE_LIMIT * LIMIT_UNIT
            ),
        };
        let severity = if is_moderate { Severity::Note } else { Severity::Warning };
        Some(finding(severity, "high-before-low", (at, at.column), what, why, &remedy))
    }

    /// Service levels whose lane no table serves.
    pub(super) fn levels_without_entry(&self) -> Option<Finding> {
        let effective = self.effective;
        let high = weighted(&effective.high, self.lanes, reaching(self.port.high_capacity));
        let low = weighted(&effective.low, self.lanes, reaching(self.port.low_capacity));
        let is_silent = |level: &usize| {
            effective
                .lane_of(*level, self.lanes)
                .is_some_and(|lane| !high[lane as usize] && !low[lane as usize])
        };
        let silent: Vec<usize> = (0..16).filter(is_silent).collect();
        let lanes = lanes_listed(silent.iter().filter_map(|&level| effective.lane_of(level, self.lanes)));
        let levels = levels_listed(silent.iter().map(|&level| level as u32));
        let first = *silent.first()?;
        let map = setting(self.options, self.prefix, Kind::ServiceLevels);
        let column = match map.map(|map| &map.value) {
            Some(Value::Lanes(lanes)) => lanes.get(first).map(|lane| lane.column),
            _ => None,
        };
        Some(Finding {
            severity: Severity::Error,
            rule: "level-without-entry",
            option: format!("{}_sl2vl", self.prefix.name()),
            line: map.map(|map| map.line),
            column: column.or_else(|| map.map(|map| map.column)),
            what: format!("maps {levels} to {lanes}"),
            why: "no entry of either table that reaches the port has weight for them: their packets never leave".into(),
            remedy: "give these lanes an entry with weight, or map the levels elsewhere, to 15 to drop them".into(),
        })
    }
}

fn number_range(setting: &Setting, number: u32) -> Option<Finding> {
    let (highest, default) = (setting.kind.highest(), if setting.kind == Kind::MaxLanes { 15 } else { 0 });
    (number > highest).then(|| {
        let why = format!("OpenSM takes it for not set, with a line in the log: the default is {default}");
        let what = format!("is {number}, must be at most {highest}");
        finding(
            Severity::Error,
            "out-of-range",
            (setting, setting.column),
            what,
            why,
            "write a number within",
        )
    })
}

fn too_many(setting: &Setting, pairs: &[Pair]) -> Option<Finding> {
    let first = pairs.get(MAX_PAIRS)?;
    let what = format!("lists {} pairs", pairs.len());
    let why = "a table has at most 64; the rest is ignored with a line in the log".into();
    Some(finding(Severity::Error, "over-64", (setting, first.column), what, why, "list at most 64"))
}

fn heavy(setting: &Setting, pairs: &[Pair]) -> Option<Finding> {
    let first = pairs.iter().find(|pair| u64::from(pair.weight) > MAX_WEIGHT)?;
    let what = format!("gives lane {} weight {}", first.lane, first.weight);
    let why = format!("weights are taken modulo 256: it is programmed as {}", first.weight % 256);
    let remedy = "lower it to 255, or list the lane more often";
    Some(finding(Severity::Error, "weight-range", (setting, first.column), what, why, remedy))
}

fn wrapped(setting: &Setting, pairs: &[Pair]) -> Option<Finding> {
    let first = pairs.iter().find(|pair| pair.lane > 14)?;
    let what = format!("names lane {}", first.lane);
    let why = format!("lanes are taken modulo 15: it is programmed as lane {}", first.lane % 15);
    Some(finding(Severity::Error, "lane-range", (setting, first.column), what, why, "name lanes 0 to 14"))
}

fn map_length(setting: &Setting, lanes: &[Lane]) -> Option<Finding> {
    let (column, why) = match lanes.len() {
        16 => return None,
        17.. => (lanes[16].column, "there are 16 service levels; the rest is ignored"),
        _ => (setting.column, "levels that are not listed go to lane 0"),
    };
    let what = format!("lists {} lanes", lanes.len());
    Some(finding(Severity::Warning, "level-count", (setting, column), what, why.into(), "list 16 lanes"))
}
