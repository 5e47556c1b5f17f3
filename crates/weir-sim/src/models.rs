//! The models, listed once: what is read, run, described and reported of a scenario goes to the model that it names.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use weir_document::{DataFiles, Fingerprint, Refused as ScenarioError, Source, Tree};
use weir_lab::control::Control;
use weir_lab::error::RunError;
use weir_lab::lengthened;
use weir_lab::provenance::Frame;
use weir_lab::replicated::{Kept, Replicated};
use weir_lab::scenario::{self, Document, IN_SERVICES, Read, replace};

/// Writes whatever goes through all models. Of each: its name in documents and results, its name in Rust, its scenario, its
/// result, and how it is run.
macro_rules! models {
    ($($name:ident: $variant:ident, $scenario:ty, $outcome:ty, $run:path;)*) => {
        /// The names of the models, as `model = ...` has them.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// A scenario, read and checked.
        #[derive(Clone, Debug)]
        pub enum Scenario {
            $(
                #[doc = concat!("Of the model `", stringify!($name), "`.")]
                $variant(Box<scenario::Scenario<$scenario>>),
            )*
        }

        /// The result of a run, of whichever model; `model` in it says of which.
        #[derive(Clone, Debug, Serialize)]
        #[serde(untagged)]
        pub enum AnyOutcome {
            $(
                #[doc = concat!("Of the model `", stringify!($name), "`.")]
                $variant(Box<$outcome>),
            )*
        }

        impl AnyOutcome {
            /// Its estimates and its paired differences, as JSON has them.
            pub(crate) fn rows(&self) -> serde_json::Result<[serde_json::Value; 2]> {
                use serde_json::to_value;
                match self {
                    $(Self::$variant(outcome) => {
                        Ok([to_value(&outcome.estimates)?, to_value(&outcome.differences)?])
                    })*
                }
            }

            /// The same without its distributions, which are nearly all of its text: for whoever shows only figures.
            #[must_use]
            pub fn without_distributions(mut self) -> Self {
                match &mut self {
                    $(Self::$variant(outcome) => outcome.distributions.clear(),)*
                }
                self
            }

            $(
                #[doc = concat!("The result of the model `", stringify!($name), "`, if it is one.")]
                #[must_use]
                pub fn $name(self) -> Option<$outcome> {
                    match self {
                        Self::$variant(outcome) => Some(*outcome),
                        _ => None,
                    }
                }
            )*
        }

        impl Scenario {
            $(
                #[doc = concat!("The scenario of the model `", stringify!($name), "`, if it is one.")]
                #[must_use]
                pub fn $name(&self) -> Option<&$scenario> {
                    match self {
                        Self::$variant(scenario) => Some(&scenario.model),
                        _ => None,
                    }
                }
            )*

            /// The name of its model.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => stringify!($name),)*
                }
            }

            /// Where it was read, its fingerprint, and its normalised form.
            #[must_use]
            pub fn frame(&self) -> &Frame {
                match self {
                    $(Self::$variant(scenario) => &scenario.frame,)*
                }
            }

            /// The disciplines as they are written, which are their names in results.
            #[must_use]
            pub fn disciplines(&self) -> Vec<&str> {
                match self {
                    $(Self::$variant(scenario) => scenario.model.compared().disciplines,)*
                }
            }

            /// The same scenario with another seed: nothing is read again.
            ///
            /// # Errors
            /// None that the first reading has left.
            pub fn with_seed(self, seed: u64) -> Result<Self, ScenarioError> {
                Ok(match self {
                    $(Self::$variant(scenario) => Self::$variant(Box::new(scenario.with_seed(seed)?)),)*
                })
            }

            /// The same scenario, to be run for as long as it takes until every figure is settled.
            ///
            /// # Errors
            /// No key makes its runs longer.
            pub fn settling(self) -> Result<Self, ScenarioError> {
                Ok(match self {
                    $(Self::$variant(scenario) => Self::$variant(Box::new(scenario.settling()?)),)*
                })
            }

            /// The same scenario with a run of `times` times its length.
            ///
            /// # Errors
            /// Such a run is more than is simulated, or no key makes its runs longer.
            pub fn longer(&self, times: u64) -> Result<Self, ScenarioError> {
                Ok(match self {
                    $(Self::$variant(scenario) => Self::$variant(Box::new(scenario.longer(times)?.0)),)*
                })
            }

            /// The seed of all random streams.
            #[must_use]
            pub fn seed(&self) -> u64 {
                match self {
                    $(Self::$variant(scenario) => scenario.model.seed(),)*
                }
            }

            /// How many replications make its result.
            #[must_use]
            pub fn replications(&self) -> u32 {
                match self {
                    $(Self::$variant(scenario) => scenario.model.replication_count(),)*
                }
            }

            /// The same scenario with `replications` replications, or as many as it has; and what one of them depends on
            /// besides the seed ([`scenario::Scenario::replicated`]).
            ///
            /// # Errors
            /// Its runs are as long as it takes.
            pub fn replicated(self, replications: Option<u32>) -> Result<(Self, String), ScenarioError> {
                match self {
                    $(Self::$variant(scenario) => {
                        let (scenario, content) = scenario.replicated(replications)?;
                        Ok((Self::$variant(Box::new(scenario)), content))
                    })*
                }
            }

            /// Whether there is anything to play.
            pub(crate) fn is_played(&self) -> bool {
                match self {
                    $(Self::$variant(scenario) => scenario.model.is_played(),)*
                }
            }

            /// How finely a replication must be kept ([`Replicated::grain`]).
            pub(crate) fn grain(&self) -> u16 {
                match self {
                    $(Self::$variant(scenario) => scenario.model.grain(),)*
                }
            }

            /// What is found once ([`Replicated::prepare`]).
            pub(crate) fn prepare(&self, cancel: &AtomicBool) -> Result<Vec<u8>, RunError> {
                match self {
                    $(Self::$variant(scenario) => scenario.model.prepare(cancel),)*
                }
            }

            /// Plays a replication ([`Replicated::play`]).
            pub(crate) fn play(
                &self,
                prepared: &[u8],
                replication: u32,
                cancel: &AtomicBool,
            ) -> Result<Option<Vec<u8>>, RunError> {
                match self {
                    $(Self::$variant(scenario) => scenario.model.play(prepared, replication, cancel),)*
                }
            }

            /// The result of replications that were kept, in the order of their numbers ([`Replicated::gather`]).
            ///
            /// # Errors
            /// What is kept is not of this scenario.
            pub fn gather(&self, kept: &mut dyn Iterator<Item = Kept>) -> Result<AnyOutcome, RunError> {
                Ok(match self {
                    $(Self::$variant(scenario) => {
                        AnyOutcome::$variant(Box::new(scenario.model.gather(&scenario.frame, kept)?))
                    })*
                })
            }

            /// Reads a scenario from text; errors speak of `name`, and its data files are in `files`, such as the path
            /// of a folder.
            ///
            /// # Errors
            /// The text is refused, or a data file that it names.
            pub fn from_toml(text: &str, name: &str, files: impl Into<DataFiles>) -> Result<Self, ScenarioError> {
                let source = Source { name, text };
                let files = files.into();
                let tree = source.tree(&IN_SERVICES)?;
                match model(&tree, &source)? {
                    $(Name::$variant => {
                        let scenario = scenario::Scenario::from_tree(&tree, &source, files)?;
                        Ok(Self::$variant(Box::new(scenario)))
                    })*
                }
            }
        }

        /// The simulated place in which the disciplines act.
        #[derive(Clone, Copy, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Name {
            $($variant,)*
        }

        /// The JSON Schema of the scenario file: that of one of the models.
        #[must_use]
        pub fn schema() -> String {
            let settings = schemars::generate::SchemaSettings::default();
            let dialect = settings.meta_schema.clone();
            let mut generator = settings.into_generator();
            let models = [$(<$scenario as Read>::Document::schema(&mut generator)),*];
            let mut definitions = generator.take_definitions(true);
            with_sweep(&mut definitions);
            let schema = schemars::json_schema!({
                "$schema": dialect,
                "title": "Scenario",
                "description": "A scenario of weir: who sends when and how much, in which model, under which disciplines, \
                                for how long.",
                "oneOf": models,
                "$defs": definitions,
            });
            format!("{:#}", schema.as_value())
        }

        /// Runs a scenario by the engines of its model.
        ///
        /// # Errors
        /// [`RunError`]; a port whose load is 1 or more is no error, its result says so in place of means.
        pub fn run(scenario: &Scenario, control: &mut Control<'_>) -> Result<AnyOutcome, RunError> {
            Ok(match scenario {
                $(Scenario::$variant(scenario) => {
                    AnyOutcome::$variant(Box::new(lengthened::run(scenario, control, $run)?))
                })*
            })
        }
    };
}

models! {
    port: Port, weir_port::model::PortScenario, weir_port::outcome::Outcome, weir_port::run::run;
    network: Network, weir_network::model::NetworkScenario, weir_network::outcome::NetworkOutcome, weir_network::run::run;
    fabric: Fabric, weir_fabric::model::FabricScenario, weir_fabric::outcome::FabricOutcome, weir_fabric::run::run;
    node: Node, weir_node::model::NodeScenario, weir_node::outcome::NodeOutcome, weir_node::run::run;
    server: Server, weir_server::model::ServerScenario, weir_server::outcome::ServerOutcome, weir_server::run::run;
}

/// Adds the table of the sweep to what a scenario of any model may hold.
fn with_sweep(definitions: &mut serde_json::Map<String, serde_json::Value>) {
    for definition in definitions.values_mut() {
        let properties = definition.get_mut("properties").and_then(serde_json::Value::as_object_mut);
        let is_scenario = |properties: &serde_json::Map<String, serde_json::Value>| {
            properties.contains_key("model") && properties.contains_key("disciplines")
        };
        let Some(properties) = properties.filter(|properties| is_scenario(properties)) else { continue };
        let table = serde_json::json!({
            "description": "The scenarios that `weir sweep` makes of this one; a run does not read it.",
            "$ref": "#/$defs/SweepTable",
        });
        properties.insert(weir_lab::scenario::SWEEP.to_owned(), table);
    }
    let text = |description: &str| serde_json::json!({ "type": "string", "description": description });
    let list = |description: &str, items: serde_json::Value| serde_json::json!({ "type": "array", "description": description, "items": items });
    let values = serde_json::json!({ "anyOf": [
        { "type": "string" },
        { "type": "array", "items": { "type": ["string", "number", "boolean"] } },
    ] });
    let over = "Keys of the scenario with the values that they take: a range, a text with lists in braces, or a list.";
    let table = serde_json::json!({
        "type": "object",
        "description": "The scenarios that a sweep makes of one.",
        "properties": {
            "over": { "type": "object", "description": over, "additionalProperties": values },
            "zip": list("Groups of keys that advance together.", list("A group.", text("A key."))),
            "cells": text("A CSV with keys in its first line, and a cell in each other."),
            "except": list("Conditions that leave cells out.", text("A condition.")),
            "replications": { "type": "integer", "description": "Of each cell; default: as many as it has." },
            "precision": text("How wide the interval of a mean may be, as a share of it: `\"1%\"`."),
        },
    });
    definitions.insert("SweepTable".to_owned(), table);
}

/// What is read of every scenario first.
#[derive(serde::Deserialize)]
struct Head {
    model: Name,
}

/// The model that a scenario names; the port where it names none, whose document then misses the key.
fn model(tree: &Tree<'_>, source: &Source<'_>) -> Result<Name, ScenarioError> {
    match tree.read::<Head>() {
        Ok(head) => Ok(head.model),
        Err(error) if error.to_string().starts_with("missing field") => Ok(Name::Port),
        Err(error) => Err(source.explain(&error, &IN_SERVICES)),
    }
}

impl Scenario {
    /// Whether it names files of data, whose bytes are part of its fingerprint.
    #[must_use]
    pub fn has_files(&self) -> bool {
        let mut of_text = Fingerprint::new();
        of_text.add(self.frame().scenario.as_bytes());
        of_text.to_string() != self.frame().fingerprint
    }

    /// Reads a scenario file; the data files it names are relative to it.
    ///
    /// # Errors
    /// The file cannot be read, or its content is refused.
    pub fn from_file(path: &Path) -> Result<Self, ScenarioError> {
        Self::from_file_with(path, &[])
    }

    /// Reads a scenario file with some keys replaced: `("stop.packets", "100_000")`. A value is TOML; one
    /// that is not is taken as text.
    ///
    /// # Errors
    /// The file cannot be read, or its content or a replacement is refused.
    pub fn from_file_with(path: &Path, replaced: &[(&str, &str)]) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        let text = scenario::read_text(path, &name)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        if replaced.is_empty() {
            return Self::from_toml(&text, &name, folder);
        }
        // A refusal has a place only in the text as it was written: that of the file goes before.
        let changed = replace::keys(&text, &name, replaced)?;
        Self::from_toml(&changed, &name, folder).or_else(|mut refusal| {
            Self::from_toml(&text, &name, folder)?;
            if refusal.file == name {
                (refusal.line, refusal.column) = (None, None);
            }
            Err(refusal)
        })
    }
}

/// The closed forms of a scenario: a result without simulation. `None` of a model that has none.
#[must_use]
pub fn theory_only(scenario: &Scenario) -> Option<AnyOutcome> {
    match scenario {
        Scenario::Port(port) => {
            let outcome = weir_port::report::theory_only(&port.model, &port.frame);
            Some(AnyOutcome::Port(Box::new(outcome)))
        }
        Scenario::Server(server) => {
            let outcome = weir_server::report::theory_only(&server.model, &server.frame);
            Some(AnyOutcome::Server(Box::new(outcome)))
        }
        _ => None,
    }
}
