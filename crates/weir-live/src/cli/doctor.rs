//! `weird doctor`: what this machine can do for a router or for steering, and what earlier daemons left behind.
//!
//! Every finding is probed, not guessed from a version: sockets are made, programs loaded, queueing disciplines added, in
//! a thread of its own with a network namespace of its own where they would change anything. `--clean` removes what weir
//! made and nobody uses, and nothing else.

mod claims;
mod interfaces;
mod kernel;
mod left;
mod machine;
mod probe;
mod steering;

use clap::Args;
use serde::Serialize;

use super::Failure;
use crate::daemon::directory::base;
use crate::io::pins::pins;

/// Says what this machine can do for a router or for steering, and what earlier ones left behind.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Removes what weir made and nobody uses.
    #[arg(long)]
    clean: bool,
    /// Prints the findings as JSON.
    #[arg(long)]
    json: bool,
}

/// How it stands with something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// As it should be.
    Ok,
    /// A router runs, not as well as it might.
    Warn,
    /// No router runs.
    Fail,
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One thing that was examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    /// Of what it is part.
    area: &'static str,
    /// What was examined.
    what: String,
    /// How it stands with it.
    state: State,
    /// What was found.
    found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    fn ok(area: &'static str, what: impl Into<String>, found: impl Into<String>) -> Self {
        Self { area, what: what.into(), state: State::Ok, found: found.into(), remedy: None }
    }

    fn warn(
        area: &'static str,
        what: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { state: State::Warn, remedy: Some(remedy.into()), ..Self::ok(area, what, found) }
    }

    fn fail(
        area: &'static str,
        what: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { state: State::Fail, ..Self::warn(area, what, found, remedy) }
    }
}

/// Examines everything, and prints it.
///
/// # Errors
/// Something is missing without which no router runs.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let removed = if arguments.clean { left::clean(&base(), &pins()) } else { Vec::new() };
    let findings = examine();
    let text = if arguments.json { json(&findings, &removed)? } else { told(&findings, &removed) };
    super::print(&text)?;
    let failing: Vec<&str> = of(&findings, State::Fail).map(|finding| finding.what.as_str()).collect();
    if failing.is_empty() {
        return Ok(());
    }
    Err(Failure::Unsupported(format!("no router runs here without: {}", failing.join(", "))))
}

fn examine() -> Vec<Finding> {
    let mut findings = kernel::examine();
    findings.extend(machine::examine());
    findings.extend(steering::examine());
    findings.extend(interfaces::examine());
    findings.extend(claims::examine());
    findings.extend(left::examine(&base(), &pins()));
    findings
}

fn of(findings: &[Finding], state: State) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(move |finding| finding.state == state)
}

fn json(findings: &[Finding], removed: &[String]) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Examination<'e> {
        findings: &'e [Finding],
        removed: &'e [String],
    }
    let text = serde_json::to_string(&Examination { findings, removed });
    text.map(|text| text + "\n").map_err(|error| Failure::Input(error.to_string()))
}

fn told(findings: &[Finding], removed: &[String]) -> String {
    let mut text: String = removed.iter().map(|what| format!("removed {what}\n")).collect();
    let width = findings.iter().map(|finding| finding.what.chars().count()).max().unwrap_or(0);
    let mut area = "";
    for finding in findings {
        if finding.area != area {
            area = finding.area;
            text.push_str(&format!("{area}\n"));
        }
        text.push_str(&format!(
            "  {:<4}  {:<width$}  {}\n",
            finding.state.word(),
            finding.what,
            finding.found
        ));
        if let Some(remedy) = &finding.remedy {
            text.push_str(&format!("        {:<width$}  -> {remedy}\n", ""));
        }
    }
    let count = |state| of(findings, state).count();
    text.push_str(&format!(
        "{} ok, {} to be improved, {} missing\n",
        count(State::Ok),
        count(State::Warn),
        count(State::Fail)
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_looked_at_and_nothing_is_without_a_remedy() {
        let findings = examine();
        for what in [
            "version",
            "XDP",
            "dispatcher",
            "AF_XDP",
            "bpffs",
            "BTF",
            "cpumap",
            "cpumap programs",
            "tp_btf",
            "queue threads",
            "veth",
            "qdiscs",
            "SCHED_FIFO",
            "clock",
        ] {
            assert!(findings.iter().any(|finding| finding.what == what), "{what}: {findings:?}");
        }
        for finding in &findings {
            assert_eq!(finding.remedy.is_none(), finding.state == State::Ok, "{finding:?}");
            assert!(!finding.found.is_empty() && !finding.found.contains('\n'), "{finding:?}");
        }
        let written = json(&findings, &[]).expect("written");
        let read: serde_json::Value = serde_json::from_str(&written).expect("JSON");
        assert_eq!(read["findings"].as_array().map(Vec::len), Some(findings.len()));
    }

    #[test]
    fn findings_are_told_by_area() {
        let findings = [
            Finding::ok("kernel", "version", "6.18"),
            Finding::warn("kernel", "XDP", "not here", "take another kernel"),
            Finding::fail("privileges", "CAP_NET_RAW", "missing", "run as root"),
        ];
        let expected = "\
removed /run/weir/edge
kernel
  ok    version      6.18
  warn  XDP          not here
                     -> take another kernel
privileges
  fail  CAP_NET_RAW  missing
                     -> run as root
1 ok, 1 to be improved, 1 missing
";
        assert_eq!(told(&findings, &["/run/weir/edge".to_owned()]), expected);
    }
}
