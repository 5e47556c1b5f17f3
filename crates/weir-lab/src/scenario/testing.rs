//! Scenarios in tests of a model; of no other use. What holds of any document is in [`weir_document::testing`].

use std::marker::PhantomData;
use std::path::Path;

use schemars::SchemaGenerator;
use serde_json::Value;
use weir_document::Refused;
use weir_document::testing::{assert_refusals, filled, told};

use super::{Document, Read, Scenario};

/// What refusals call the text.
const NAME: &str = "s.toml";
/// A folder without files.
const NOWHERE: &str = "/nonexistent";

/// Texts that are read as scenarios of a model, in which words stand for their usual parts.
#[derive(Clone, Copy, Debug)]
pub struct Texts<M> {
    parts: &'static [(&'static str, &'static str)],
    model: PhantomData<M>,
}

impl<M: Read> Texts<M> {
    /// With these words and the parts for which they stand.
    #[must_use]
    pub const fn new(parts: &'static [(&'static str, &'static str)]) -> Self {
        Self { parts, model: PhantomData }
    }

    /// A text with its parts.
    #[must_use]
    pub fn filled(&self, text: &str) -> String {
        filled(self.parts, text)
    }

    /// A scenario without data files, or its refusal.
    ///
    /// # Errors
    /// It is refused.
    pub fn read(&self, text: &str) -> Result<Scenario<M>, String> {
        self.scenario(Path::new(NOWHERE), text).map_err(|refused| told(&refused))
    }

    /// A scenario whose data files are in a folder, or its refusal, with or without a place.
    ///
    /// # Errors
    /// It is refused.
    pub fn read_in(&self, folder: &Path, text: &str) -> Result<Scenario<M>, String> {
        self.scenario(folder, text).map_err(|refused| refused.to_string())
    }

    fn scenario(&self, folder: &Path, text: &str) -> Result<Scenario<M>, Refused> {
        Scenario::from_toml(&self.filled(text), NAME, folder)
    }

    /// The model of a scenario without data files, whose normalised form reads as the same.
    pub fn model(&self, text: &str) -> M {
        let scenario = self.read(text).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
        let again = Scenario::<M>::from_toml(&scenario.frame.scenario, NAME, Path::new(NOWHERE));
        assert_eq!(again.expect("the normalised form is valid").frame, scenario.frame);
        scenario.model
    }

    /// Holds the model to a table of refusals in which `{disciplines}` stands for these names.
    pub fn assert_refusals(&self, table: &str, disciplines: &str) {
        assert_refusals(&table.replace("{disciplines}", disciplines), |text| {
            self.scenario(Path::new(NOWHERE), text)
        });
    }

    /// Holds the schema of the document to these keys.
    pub fn assert_keys(&self, keys: &[&str]) {
        let mut generator = SchemaGenerator::default();
        M::Document::schema(&mut generator);
        let schema = Value::Object(generator.take_definitions(true)).to_string();
        for key in keys {
            assert!(schema.contains(&format!("\"{key}\"")), "{key}");
        }
    }
}
