//! What a simulation says of links: read from the result that `weir run` wrote.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use weir_document::Refused;

use crate::cli::text::{rate, span};

/// The longest result that is read, in bytes.
const LONGEST: u64 = 1 << 29;
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
    /// Reads a result; `links` are the links of interfaces that have other names.
    ///
    /// # Errors
    /// The file cannot be read, is of another model, or has no such link.
    pub(super) fn read(path: &Path, links: &[(String, String)]) -> Result<Self, Refused> {
        let name = path.display().to_string();
        let remedy = "name a result of a network that `weir run SCENARIO --out FILE.json` wrote";
        let refused = |reason: String| Refused::of_file(&name, reason, remedy);
        let file = File::open(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
        let text = BufReader::new(file.take(LONGEST));
        let result: Document = serde_json::from_reader(text).map_err(|error| {
            refused(format!("is no result: {}", weir_document::shorten(&error.to_string())))
        })?;
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
        let wait = says.wait.map(|seconds| span((seconds * 1e9).round() as u64));
        [used, queue, wait]
            .into_iter()
            .map(|part| part.unwrap_or_else(|| "-".to_owned()))
            .collect::<Vec<_>>()
            .join(" ")
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
