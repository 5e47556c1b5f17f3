//! What a simulation says of links: read from the result that `weir run` wrote, or that it writes now.
//!
//! A file that is no JSON is taken for a scenario. The daemon does not simulate: it runs `weir run FILE --json` where
//! there is that program, and otherwise names the line to run.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(length of the result), and the run of a scenario |
//! | Units | those of a result: bits a second, packets, seconds |

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use weir_document::Refused;

use weir_core::units::Nanos;
use weir_gauge::text::{rate, span};

/// The longest result that is read, in bytes.
const LONGEST: u64 = 1 << 29;
/// The program that simulates.
const PROGRAM: &str = "weir";
/// The interval that holds the whole run.
const WHOLE: &str = "all";

/// What of a result is read.
#[derive(Deserialize)]
struct Document {
    model: String,
    #[serde(default)]
    links: Vec<Link>,
    #[serde(default)]
    estimates: Vec<Estimate>,
}

#[derive(Deserialize)]
struct Link {
    name: String,
    /// In bits per second.
    rate: f64,
}

#[derive(Deserialize)]
struct Estimate {
    discipline: String,
    scope: String,
    name: String,
    interval: String,
    metric: String,
    statistic: String,
    value: Option<f64>,
}

/// What a simulation says of a link under a discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Says {
    /// The part of its rate that is used.
    utilisation: Option<f64>,
    /// How many packets wait, in the mean.
    queue: Option<f64>,
    /// How long they wait, in the mean, in seconds.
    wait: Option<f64>,
}

/// What a simulation says of all its links.
#[derive(Debug)]
pub(super) struct Model {
    /// The rate of each link, in bits per second.
    rates: HashMap<String, f64>,
    /// By link and discipline.
    said: HashMap<(String, String), Says>,
    /// The links of interfaces that have other names.
    links: HashMap<String, String>,
}

impl Model {
    /// Reads a result, or runs a scenario; `links` are the links of interfaces that have other names.
    ///
    /// # Errors
    /// The file cannot be read or run, is of another model, or has no such link.
    pub(super) fn read(path: &Path, links: &[(String, String)]) -> Result<Self, Refused> {
        Self::read_by(path, links, OsStr::new(PROGRAM))
    }

    fn read_by(path: &Path, links: &[(String, String)], program: &OsStr) -> Result<Self, Refused> {
        let name = path.display().to_string();
        let remedy =
            "name a scenario of a network, or a result that `weir run SCENARIO --out FILE.json` wrote";
        let refused = |reason: String| Refused::of_file(&name, reason, remedy);
        let unread = |error: io::Error| refused(format!("cannot be read: {error}"));
        let mut text = BufReader::new(File::open(path).map_err(unread)?.take(LONGEST));
        let result =
            if is_json(&mut text).map_err(unread)? { parse(&name, text)? } else { simulate(path, program)? };
        if result.model != "network" {
            return Err(refused(format!("is of the model `{}`", weir_document::shorten(&result.model))));
        }
        let model = Self::new(result, links);
        for (interface, link) in links {
            if !model.rates.contains_key(link) {
                let known = weir_document::words::known_names(link, model.rates.keys().map(String::as_str));
                let reason = format!("has no link `{link}` for the interface `{interface}`");
                return Err(Refused::of_file(&name, reason, known));
            }
        }
        Ok(model)
    }

    fn new(result: Document, links: &[(String, String)]) -> Self {
        let rates = result.links.into_iter().map(|link| (link.name, link.rate)).collect();
        let mut said: HashMap<(String, String), Says> = HashMap::new();
        let of_links = result.estimates.into_iter().filter(|estimate| {
            estimate.scope == "link" && estimate.interval == WHOLE && estimate.statistic == "mean"
        });
        for estimate in of_links {
            let says = said.entry((estimate.name, estimate.discipline)).or_default();
            match estimate.metric.as_str() {
                "utilisation" => says.utilisation = estimate.value,
                "queue" => says.queue = estimate.value,
                "wait" => says.wait = estimate.value,
                _ => {}
            }
        }
        Self { rates, said, links: links.iter().cloned().collect() }
    }

    /// What it says of an interface under a discipline, as rate, queue and wait; `-` where it says nothing.
    pub(super) fn says(&self, interface: &str, discipline: &str) -> String {
        let link = self.links.get(interface).map_or(interface, String::as_str);
        let Some(says) = self.said.get(&(link.to_owned(), discipline.to_owned())) else {
            return "-".to_owned();
        };
        let used = says.utilisation.zip(self.rates.get(link)).map(|(used, all)| rate(used * all));
        let queue = says.queue.map(|packets| format!("{packets:.1}pkt"));
        let wait = says.wait.map(|seconds| span(Nanos::new((seconds * 1e9).round() as u64)));
        [used, queue, wait]
            .into_iter()
            .map(|part| part.unwrap_or_else(|| "-".to_owned()))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Whether a text begins as a JSON object does.
fn is_json(text: &mut impl BufRead) -> io::Result<bool> {
    let begun = text.fill_buf()?;
    Ok(begun.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{'))
}

fn parse(name: &str, text: impl Read) -> Result<Document, Refused> {
    serde_json::from_reader(text).map_err(|error| {
        let reason = format!("is no result: {}", weir_document::shorten(&error.to_string()));
        Refused::of_file(
            name,
            reason,
            "name a result of a network that `weir run SCENARIO --out FILE.json` wrote",
        )
    })
}

/// Has a scenario simulated; what the program says of it goes where our own messages go.
fn simulate(path: &Path, program: &OsStr) -> Result<Document, Refused> {
    let name = path.display().to_string();
    let remedy = format!("run `weir run {name} --out result.json` where it succeeds, and name result.json");
    let refused = |reason: String| Refused::of_file(&name, reason, &remedy);
    // A name that begins with a dash is a file all the same.
    let mut command = Command::new(program);
    command.args(["run", "--json", "--"]).arg(path).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        refused(format!("is no result, and `weir`, which would simulate it, cannot be run: {error}"))
    })?;
    // What it would say beyond that ends it: nobody reads.
    let result = child.stdout.take().map(|said| parse(&name, BufReader::new(said.take(LONGEST))));
    let status = child.wait().map_err(|error| refused(format!("was not simulated: {error}")))?;
    match result {
        Some(result) if status.success() => result,
        _ => Err(refused(format!(
            "is no result, and as a scenario was not simulated: `weir run` ended with {status}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = r#"{"weir": "0.1.0", "model": "network", "links": [{"name": "uplink", "from": "a", "rate": 4000000.0}],
        "estimates": [
        {"discipline": "fifo:1000pkt", "scope": "link", "name": "uplink", "interval": "all", "metric": "utilisation", "statistic": "mean", "value": 0.8043, "low": null},
        {"discipline": "fifo:1000pkt", "scope": "link", "name": "uplink", "interval": "all", "metric": "queue", "statistic": "mean", "value": 503.16},
        {"discipline": "fifo:1000pkt", "scope": "link", "name": "uplink", "interval": "all", "metric": "queue", "statistic": "max", "value": 1000},
        {"discipline": "fifo:1000pkt", "scope": "link", "name": "uplink", "interval": "first", "metric": "wait", "statistic": "mean", "value": 9},
        {"discipline": "fifo:1000pkt", "scope": "link", "name": "uplink", "interval": "all", "metric": "wait", "statistic": "mean", "value": 1.258},
        {"discipline": "drr", "scope": "link", "name": "uplink", "interval": "all", "metric": "wait", "statistic": "mean", "value": null},
        {"discipline": "drr", "scope": "flow", "name": "uplink", "interval": "all", "metric": "delay", "statistic": "mean", "value": 2}]}"#;

    fn read(text: &str, links: &[(String, String)]) -> Result<Model, String> {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("result.json");
        std::fs::write(&path, text).expect("written");
        Model::read(&path, links).map_err(|refused| refused.message())
    }

    #[test]
    fn links_are_found_by_name_and_discipline() {
        let other = [("eth0".to_owned(), "uplink".to_owned())];
        let model = read(RESULT, &other).expect("a result");
        assert_eq!(model.says("uplink", "fifo:1000pkt"), "3.22Mbit 503.2pkt 1.26s");
        assert_eq!(model.says("eth0", "fifo:1000pkt"), "3.22Mbit 503.2pkt 1.26s");
        assert_eq!(model.says("uplink", "drr"), "- - -");
        assert_eq!(
            (model.says("uplink", "sfq"), model.says("eth1", "drr")),
            ("-".to_owned(), "-".to_owned())
        );
    }

    /// A program in place of `weir`: prints the `result.json` next to the scenario that it is asked to run.
    const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/top/weir");

    #[test]
    fn a_scenario_is_simulated_by_who_can() {
        let folder = tempfile::tempdir().expect("a directory");
        let scenario = folder.path().join("scenario.toml");
        std::fs::write(&scenario, "weir = 1\n").expect("written");
        std::fs::write(folder.path().join("result.json"), RESULT).expect("written");
        let model = Model::read_by(&scenario, &[], OsStr::new(STAND_IN)).expect("simulated");
        assert_eq!(model.says("uplink", "fifo:1000pkt"), "3.22Mbit 503.2pkt 1.26s");
    }

    #[test]
    fn a_scenario_that_is_not_simulated_is_refused_with_the_line_to_run() {
        let folder = tempfile::tempdir().expect("a directory");
        let scenario = folder.path().join("scenario.toml");
        std::fs::write(&scenario, "weir = 1\n").expect("written");
        for (program, reason) in [
            (STAND_IN, "`weir run` ended with exit status: 1"),
            ("/nonexistent", "cannot be run: No such file or directory"),
        ] {
            let error = Model::read_by(&scenario, &[], OsStr::new(program)).expect_err("refused").to_string();
            let line = format!("run `weir run {} --out result.json`", scenario.display());
            assert!(error.contains(reason) && error.contains(&line), "{error}");
        }
    }

    #[test]
    fn what_is_no_result_of_a_network_is_refused() {
        let absent = [("eth0".to_owned(), "uplnk".to_owned())];
        let error = read(RESULT, &absent).expect_err("no such link");
        assert_eq!(error, "has no link `uplnk` for the interface `eth0`");
        assert!(read("{}", &[]).expect_err("empty").starts_with("is no result: missing field `model`"));
        assert_eq!(read("{\"model\": \"port\"}", &[]).expect_err("another"), "is of the model `port`");
        let error = Model::read(Path::new("/nonexistent"), &[]).expect_err("absent");
        assert!(error.to_string().starts_with("/nonexistent: cannot be read: "), "{error}");
    }
}
