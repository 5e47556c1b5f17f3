//! The rules of [`lint()`](super::lint()) about the file: what OpenSM does not read, or not as it is written.

use std::collections::BTreeMap;

use weir_core::nearest::nearest;

use super::effective::operational;
use super::lint::{Finding, Port, Severity};
use super::parse::{Kind, Lane, Options, Other, Pair, Setting, Value};
use super::rules::finding;
use crate::target::{LANES, Prefix};

/// Pairs or lanes of a setting that a finding shows.
const MAX_SHOWN: usize = 8;

/// What concerns the file as a whole.
pub(super) fn of_file(options: &Options, port: &Port) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(switched_off(options));
    findings.extend(unknown(options));
    findings.extend(max_op_vls(options, port));
    findings.extend(options.long_lines.iter().map(|line| long(*line)));
    findings.extend(options.settings.iter().filter_map(misread));
    for (place, former) in options.settings.iter().enumerate() {
        let same = |other: &&Setting| {
            (other.prefix, other.kind) == (former.prefix, former.kind) && other.value != Value::Kept
        };
        if let Some(later) = options.settings[place + 1..].iter().find(same) {
            findings.push(finding(
                Severity::Warning,
                "repeated-option",
                (former, former.column),
                format!("is set again in line {}", later.line),
                "the last of them counts".into(),
                "keep one of them",
            ));
        }
    }
    findings
}

fn switched_off(options: &Options) -> Option<Finding> {
    let first = options.settings.first()?;
    let (severity, line, what) = match options.qos {
        Some((true, _)) => return None,
        Some((false, line)) => (Severity::Error, line, "is not TRUE".to_owned()),
        None => (Severity::Note, first.line, "is not set in this file".to_owned()),
    };
    Some(Finding {
        severity,
        rule: "qos-off",
        option: "qos".into(),
        line: Some(line),
        column: Some(1),
        what,
        why: "unless OpenSM is started with -Q, ports keep the tables that they have".into(),
        remedy: "write `qos TRUE`".into(),
    })
}

/// Names that OpenSM does not know, each once: near to an option of arbitration it is meant to be one.
fn unknown(options: &Options) -> Vec<Finding> {
    let names: Vec<String> = Prefix::ALL
        .into_iter()
        .flat_map(|prefix| Kind::ALL.map(|kind| format!("{}_{}", prefix.name(), kind.suffix())))
        .collect();
    let near = |name: &str| {
        let known = names.iter().map(String::as_str);
        name.starts_with("qos_").then(|| nearest(name, known)).flatten()
    };
    let mut lines: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for Other { name, line } in &options.others {
        lines.entry(name).or_default().push(*line);
    }
    let of = |(name, lines): (&str, Vec<usize>)| {
        let meant = near(name);
        let more = match lines.len() {
            1 => String::new(),
            count => format!(", in {count} lines"),
        };
        Finding {
            severity: if meant.is_some() { Severity::Error } else { Severity::Note },
            rule: "unknown-option",
            option: name.to_owned(),
            line: lines.first().copied(),
            column: Some(1),
            what: format!("is no option of OpenSM 3.3.23{more}"),
            why: "it is skipped with a line in the log".into(),
            remedy: meant.map_or("remove it".to_owned(), |meant| format!("write `{meant}`")),
        }
    };
    lines.into_iter().map(of).collect()
}

/// What the number of lanes in operation is, where the file limits it or does not say what it means.
fn max_op_vls(options: &Options, port: &Port) -> Option<Finding> {
    let found = options.max_op_vls.as_ref()?;
    let codes = "write 1, 2, 3, 4 or 5 for 1, 2, 4, 8 or 15 data lanes";
    let of = |severity, rule, what: String, why: String, remedy: &str| {
        let (line, column, remedy) = (Some(found.line), Some(found.column), remedy.to_owned());
        Some(Finding { severity, rule, option: "max_op_vls".into(), line, column, what, why, remedy })
    };
    if !found.is_number {
        let why = "OpenSM keeps what it had, with a line in the log".to_owned();
        return of(
            Severity::Error,
            "not-a-number",
            format!("is `{}`, no number up to 255", found.text),
            why,
            codes,
        );
    }
    let most = options.most_lanes();
    match found.code {
        Some(code) if code == 0 || usize::from(code) > LANES.len() => {
            let why = match code {
                0 => "0 tells ports to leave their lanes as they are".to_owned(),
                _ => "it limits nothing: it is a code, not a number of lanes".to_owned(),
            };
            of(Severity::Error, "out-of-range", format!("is {code}, must be 1 to 5"), why, codes)
        }
        Some(code) if operational(port.lanes, most) < port.lanes => {
            let why = format!("{most} of the port's {} data lanes are in operation", port.lanes);
            of(
                Severity::Note,
                "lanes-limited",
                format!("is {code}"),
                why,
                "remove it, to have all lanes that ports have",
            )
        }
        _ => None,
    }
}

fn long(line: usize) -> Finding {
    Finding {
        severity: Severity::Error,
        rule: "long-line",
        option: "a line".into(),
        line: Some(line),
        column: Some(1023),
        what: "has more than 1022 bytes".into(),
        why: "OpenSM reads what follows as another line".into(),
        remedy: "shorten it".into(),
    }
}

/// A value that OpenSM reads otherwise than it is written, or warns of.
fn misread(setting: &Setting) -> Option<Finding> {
    let fault = setting.fault.as_ref()?;
    let is_table = matches!(setting.value, Value::Table(_) | Value::Lanes(_));
    let part = if fault.part.is_empty() {
        "nothing between two commas".to_owned()
    } else {
        format!("`{}`", fault.part)
    };
    let what = match is_table {
        true => format!("has {part}, which {}", fault.what),
        false => format!("is {part}, which {}", fault.what),
    };
    let read = as_read(&setting.value);
    let (severity, rule, why) = match (&setting.value, fault.is_misread) {
        (Value::Kept, _) => {
            (Severity::Error, "not-a-number", "OpenSM keeps what it had, with a line in the log".to_owned())
        }
        (Value::Number(_) | Value::Unset, _) => {
            (Severity::Error, "not-a-number", format!("OpenSM silently reads {read}"))
        }
        (_, true) => {
            let why =
                format!("OpenSM skips one character behind each number, whatever it is: it reads {read}");
            (Severity::Error, "misread", why)
        }
        (_, false) => (
            Severity::Warning,
            "misread",
            format!("OpenSM warns of it in its log, and reads {read} as intended"),
        ),
    };
    let remedy = match setting.value {
        Value::Table(_) => {
            "write lanes and weights as in `0:32,1:64`, without a space before a comma or a colon"
        }
        Value::Lanes(_) => "write lanes as in `0,1,2,3`, without a space before a comma",
        _ => "write a number such as 8",
    };
    Some(finding(severity, rule, (setting, fault.column), what, why, remedy))
}

/// What is read, the first of it.
pub(super) fn as_read(value: &Value) -> String {
    let listed = |items: Vec<String>| {
        let more = if items.len() > MAX_SHOWN { ",..." } else { "" };
        format!("`{}{more}`", items[..items.len().min(MAX_SHOWN)].join(","))
    };
    match value {
        Value::Unset | Value::Kept => "nothing".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Table(pairs) => listed(
            pairs.iter().map(|Pair { lane, weight, .. }| format!("{}:{}", lane % 15, weight % 256)).collect(),
        ),
        Value::Lanes(lanes) => {
            listed(lanes.iter().map(|Lane { lane, .. }| (lane % 16).to_string()).collect())
        }
    }
}
