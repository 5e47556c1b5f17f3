//! What is wrong with an options file on a given port, why, and what to do.

use serde::Serialize;
use weir_core::units::Bytes;

use super::effective::{Effective, operational};
use super::parse::{Options, Setting, Value};
use super::{faults, rules};
use crate::target::Prefix;

/// The port that is to be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The largest packet.
    pub mtu: Bytes,
    /// Entries of its high table (PortInfo VLArbHighCap).
    pub high_capacity: u32,
    /// Entries of its low table (PortInfo VLArbLowCap).
    pub low_capacity: u32,
    /// Data lanes that it has (PortInfo VLCap): 1, 2, 4, 8 or 15.
    pub lanes: u32,
}

impl Default for Port {
    /// What is common: 2048 bytes, 8 entries in each table, 8 lanes.
    fn default() -> Self {
        Self { mtu: Bytes::new(2048), high_capacity: 8, low_capacity: 8, lanes: 8 }
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Traffic stands still, or the file does not do what it says.
    Error,
    /// Shares or latencies are not what the file says.
    Warning,
    /// To be known.
    Note,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// A short name of the rule, the same in every version.
    pub rule: &'static str,
    /// The option.
    pub option: String,
    /// The line; `None` where a built-in default is at fault.
    pub line: Option<usize>,
    /// The character within the line.
    pub column: Option<usize>,
    /// What was found.
    pub what: String,
    /// What OpenSM or the port makes of it.
    pub why: String,
    /// What to do.
    pub remedy: String,
}

/// Finds what is wrong with the options on a port, by line.
///
/// The general prefix is judged unless only others are set; each other prefix if it has an option of its own.
#[must_use]
pub fn lint(options: &Options, port: &Port) -> Vec<Finding> {
    let mut findings = faults::of_file(options, port);
    let set = |prefix: Prefix| options.settings.iter().any(|setting| setting.prefix == prefix);
    let has_general = set(Prefix::All) || options.settings.is_empty();
    for prefix in Prefix::ALL {
        if set(prefix) || (prefix == Prefix::All && has_general) {
            findings.extend(of_prefix(options, port, prefix));
        }
    }
    findings.sort_by_key(|finding| (finding.line.unwrap_or(usize::MAX), finding.severity));
    findings
}

fn of_prefix(options: &Options, port: &Port, prefix: Prefix) -> Vec<Finding> {
    let effective = Effective::of(options, prefix);
    let context = rules::Context {
        options,
        port,
        prefix,
        lanes: operational(port.lanes, options.most_lanes()),
        effective: &effective,
    };
    let mut findings = Vec::new();
    for setting in last_of_each(options, prefix) {
        findings.extend(context.setting(setting));
    }
    findings.extend(context.max_lanes());
    findings.extend(context.default_tables());
    findings.extend(context.starvation());
    findings.extend(context.levels_without_entry());
    findings
}

/// The settings of a prefix that count.
fn last_of_each(options: &Options, prefix: Prefix) -> impl Iterator<Item = &Setting> {
    let counts = move |setting: &Setting| setting.prefix == prefix && setting.value != Value::Kept;
    let own = options.settings.iter().enumerate().filter(move |(_, setting)| counts(setting));
    own.filter(move |(place, setting)| {
        let later = &options.settings[place + 1..];
        !later.iter().any(|other| counts(other) && other.kind == setting.kind)
    })
    .map(|(_, setting)| setting)
}
