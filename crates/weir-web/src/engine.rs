//! What a page may ask, and the answers.
//!
//! A question is a JSON object with `call`; its answer is one with a key that says what it is, such as `result`, or with
//! `refused` where the scenario, or a file that it names, is refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use weir_document::{DataFiles, Refused};
use weir_lab::scenario::replace;
use weir_sim::{AnyOutcome, RunError, Scenario};

use crate::first_rows::{Rows, first_rows};
use crate::growth::Growth;

/// What learns how far a run is: how much is done, and of how much.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// The most rows of a discipline that are recorded one by one.
const MOST_ROWS: usize = 1_000;

/// What is asked.
#[derive(Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
enum Question {
    /// Which disciplines there are.
    Listing,
    /// Whether a scenario is accepted, and what it is.
    Check(Text),
    /// Begins a run, in place of one that is not at its end.
    Begin(Text),
    /// Plays the next replication of the run, and says what is known then, now and then and at the end.
    Step,
    /// The first items of a run of one discipline.
    FirstRows {
        #[serde(flatten)]
        text: Text,
        discipline: String,
        rows: usize,
    },
}

/// A scenario as text.
#[derive(Deserialize)]
struct Text {
    text: String,
    /// What refusals and results call the file.
    name: String,
    /// Keys that are replaced, with their values as TOML.
    #[serde(default)]
    set: Vec<(String, String)>,
}

/// What is answered.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Listing(Box<RawValue>),
    Checked(Checked),
    Begun { replications: u32 },
    Result(Known),
    FirstRows(Rows),
    Refused(Refusal),
    Failed { message: String, remedy: String },
}

/// A scenario that is accepted.
#[derive(Serialize)]
struct Checked {
    model: &'static str,
    disciplines: Vec<String>,
    fingerprint: String,
    replications: u32,
    /// The text, with what was replaced.
    text: String,
}

/// What is known of a run.
#[derive(Serialize)]
struct Known {
    /// Replications so far.
    done: u32,
    /// Of so many.
    of: u32,
    /// The result of those, where it is shown.
    text: Option<String>,
}

/// A refusal, with its place in the text.
#[derive(Serialize)]
struct Refusal {
    file: String,
    line: Option<usize>,
    column: Option<usize>,
    message: String,
    remedy: String,
}

impl From<&Refused> for Refusal {
    fn from(refused: &Refused) -> Self {
        Self {
            file: refused.file.clone(),
            line: refused.line,
            column: refused.column,
            message: refused.message(),
            remedy: refused.remedy.clone(),
        }
    }
}

/// Why there is no answer.
pub(crate) enum Fault {
    Refused(Refused),
    Failed { message: String, remedy: String },
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<RunError> for Fault {
    fn from(error: RunError) -> Self {
        Self::Failed { message: error.to_string(), remedy: error.remedy().to_owned() }
    }
}

/// A run as text.
pub(crate) fn text(outcome: &AnyOutcome) -> Result<String, Fault> {
    let failed = |error: serde_json::Error| Fault::Failed {
        message: error.to_string(),
        remedy: "report this as a defect".to_owned(),
    };
    serde_json::to_string(outcome).map_err(failed)
}

/// The engine of one page: data files that were handed over, and the run that goes on.
#[derive(Default)]
pub struct Engine {
    files: BTreeMap<String, Vec<u8>>,
    growth: Option<Growth>,
}

impl Engine {
    /// Takes a data file, in place of one of the same name.
    pub fn take_file(&mut self, name: String, bytes: Vec<u8>) {
        self.files.insert(name, bytes);
    }

    /// Answers a question; `progress` learns how far the work is.
    pub fn answer(&mut self, question: &str, progress: Progress<'_>) -> String {
        let asked = serde_json::from_str(question).map_err(|error| Fault::Failed {
            message: format!("the question is not understood ({error})"),
            remedy: "reload the page: its parts are of different versions".to_owned(),
        });
        let answer = match asked.and_then(|question| self.work(question, progress)) {
            Ok(answer) => answer,
            Err(Fault::Refused(refused)) => Answer::Refused((&refused).into()),
            Err(Fault::Failed { message, remedy }) => Answer::Failed { message, remedy },
        };
        serde_json::to_string(&answer).unwrap_or_else(|error| format!("{{\"failed\":\"{error}\"}}"))
    }

    fn work(&mut self, question: Question, progress: Progress<'_>) -> Result<Answer, Fault> {
        match question {
            Question::Listing => raw(weir_sim::listing::disciplines()).map(Answer::Listing),
            Question::Check(text) => {
                let (scenario, text) = self.read(&text)?;
                Ok(Answer::Checked(Checked {
                    model: scenario.name(),
                    disciplines: scenario.disciplines().into_iter().map(str::to_owned).collect(),
                    fingerprint: scenario.frame().fingerprint.clone(),
                    replications: scenario.replications(),
                    text,
                }))
            }
            Question::Begin(text) => {
                self.growth = None;
                let growth = Growth::new(self.read(&text)?.0);
                let replications = growth.steps();
                self.growth = Some(growth);
                Ok(Answer::Begun { replications })
            }
            Question::Step => {
                let growth = self.growth.as_mut().ok_or_else(|| Fault::Failed {
                    message: "no run has begun".to_owned(),
                    remedy: "begin one".to_owned(),
                })?;
                let text = growth.step(progress)?;
                Ok(Answer::Result(Known { done: growth.done(), of: growth.steps(), text }))
            }
            Question::FirstRows { text, discipline, rows } => {
                let name = serde_json::Value::from(discipline.as_str()).to_string();
                let chosen = text.with("disciplines", format!("[{name}]")).with("reference", name);
                let (scenario, _) = self.read(&chosen)?;
                Ok(Answer::FirstRows(first_rows(&scenario, rows.min(MOST_ROWS))?))
            }
        }
    }

    fn read(&self, asked: &Text) -> Result<(Scenario, String), Refused> {
        let files = DataFiles::in_memory(self.files.clone());
        if asked.set.is_empty() {
            let scenario = Scenario::from_toml(&asked.text, &asked.name, files)?;
            return Ok((scenario, asked.text.clone()));
        }
        // A refusal has a place in the text as it was written only: that of the text goes before.
        Scenario::from_toml(&asked.text, &asked.name, files.clone())?;
        let set: Vec<_> = asked.set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let changed = replace::keys(&asked.text, &asked.name, &set)?;
        let scenario = Scenario::from_toml(&changed, &asked.name, files).map_err(|mut refused| {
            (refused.line, refused.column) = (None, None);
            refused
        })?;
        Ok((scenario, changed))
    }
}

impl Text {
    /// The same with a key replaced.
    fn with(mut self, key: &str, value: String) -> Self {
        self.set.push((key.to_owned(), value));
        self
    }
}

fn raw(text: String) -> Result<Box<RawValue>, Fault> {
    RawValue::from_string(text).map_err(|error| Fault::Failed {
        message: error.to_string(),
        remedy: "report this as a defect".to_owned(),
    })
}
