//! Scenarios: from the text that a user wrote to what the engines of a model run.
//!
//! A scenario is read once, checked once and completely: unknown keys are refused with a suggestion, every quantity carries
//! its unit, and every refusal names the file, the line, the column, the key, the value, the bound and the remedy. The data
//! files it names are read at the same time, so that nothing is found wrong after a run has begun. What a scenario of one
//! model may say is its document ([`Read::Document`]).

pub mod need;
pub mod over_time;
pub mod replace;
pub mod replicated;
pub mod settle;
pub mod testing;

use std::path::Path;

use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use weir_core::units::Bytes;
use weir_document::words::mismatch;
use weir_document::{
    Checked, Checker, DataFiles, Fingerprint, Located, Refused, Source, Tree, Unread, Wording, plain_io,
};

use self::settle::{Longer, Settle};
use crate::provenance::Frame;
use need::{Measured, Need, NeedTable};

/// Where times may be counted in mean services of a packet, `200u`.
pub const IN_SERVICES: Wording = Wording {
    longest: Bytes::new(1 << 20),
    shorten: "keep data in files that the scenario names",
    missing,
    parameters: "write a table of the name with its parameters, as `weir schema` describes it",
    mismatch: |value| mismatch(value, value.expected),
};
/// Where there is no mean service of a packet to count in.
pub const IN_SECONDS: Wording = Wording {
    mismatch: |value| mismatch(value, value.expected.split(SERVICES).next().unwrap_or_default()),
    ..IN_SERVICES
};
/// The table that says which scenarios a sweep makes of this one: it is read by the sweep, and says nothing of a run.
pub const SWEEP: &str = "sweep";
/// What a span of time may be in services alone.
const SERVICES: &str = ", or \"200u\"";

/// The scenario file of a model as it is written. [`document!`](crate::document) makes a type that serde reads and writes into
/// one, so that all of the reading is compiled with the model.
pub trait Document: Clone + core::fmt::Debug {
    /// Reads it.
    ///
    /// # Errors
    /// The first key or value that does not belong in it.
    fn read(tree: &Tree<'_>) -> Result<Self, Unread>;

    /// Its text.
    ///
    /// # Errors
    /// A value that TOML cannot hold.
    fn text(&self) -> Result<String, String>;

    /// What may stand in it.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// Makes a type that serde reads and writes, and schemars describes, the document of a model.
#[macro_export]
macro_rules! document {
    ($document:ty) => {
        impl $crate::scenario::Document for $document {
            fn read(tree: &::weir_document::Tree<'_>) -> Result<Self, ::weir_document::Unread> {
                tree.read()
            }

            fn text(&self) -> Result<String, String> {
                $crate::scenario::text(self)
            }

            fn schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                generator.subschema_for::<Self>()
            }
        }
    };
}

/// What can be read from a document.
pub trait Read: Sized {
    /// The scenario file as it is written.
    type Document: Document;

    /// What is peculiar to its refusals.
    const WORDING: Wording = IN_SECONDS;

    /// Checks the document, completely.
    ///
    /// # Errors
    /// The first thing in it that is refused.
    fn check(document: &mut Self::Document, checker: &mut Checker<'_>) -> Checked<Self>;

    /// What must hold of a run, as the document has it.
    ///
    /// Only a model with such a key in its document has needs.
    fn needs(_: &Self::Document) -> &[Located<NeedTable>] {
        &[]
    }

    /// What results have figures of, so that a need may be about it.
    fn measured(&self) -> Measured {
        Measured::default()
    }

    /// What the figure of a need comes to at the least, whatever the discipline, where that is known beforehand.
    fn floor(&self, _need: &Need) -> Option<f64> {
        None
    }

    /// Writes another seed, into the document and what was read from it.
    fn set_seed(document: &mut Self::Document, model: &mut Self, seed: u64);

    /// The seed of all random streams.
    fn seed(&self) -> u64;

    /// How many replications there are.
    fn replication_count(&self) -> u32;

    /// Writes another number of replications, each as long as before, into the document and what was read from it; where
    /// nothing is random there is one.
    fn set_replications(document: &mut Self::Document, model: &mut Self, replications: u32);

    /// No replication ends earlier than the document has it, as where a precision is reached.
    fn set_whole(_document: &mut Self::Document, _model: &mut Self) {}

    /// The disciplines and the reference, as the document has them.
    fn written(document: &mut Self::Document) -> Written<'_>;

    /// The same, by the names that results give them.
    fn compared(&self) -> Compared<'_>;

    /// What the document says of runs that are as long as it takes.
    fn settle(_document: &Self::Document) -> Settle {
        Settle::default()
    }

    /// The key of `stop` that makes a run `times` times as long as the document says.
    ///
    /// # Errors
    /// Why no key does.
    fn longer(&self, _document: &Self::Document, _times: u64) -> Result<Longer, &'static str> {
        Err("has no effect in this model, whose runs have one length")
    }
}

/// The disciplines and the reference of a document, to be written by their canonical names.
#[derive(Debug)]
pub struct Written<'d> {
    /// The disciplines.
    pub disciplines: &'d mut [Located<String>],
    /// The one from which paired differences are taken, where it is written.
    pub reference: Option<&'d mut Located<String>>,
}

/// The disciplines that a scenario compares.
#[derive(Clone, Debug)]
pub struct Compared<'m> {
    /// Their specs as written.
    pub disciplines: Vec<&'m str>,
    /// The place of the one from which paired differences are taken.
    pub reference: usize,
}

/// A scenario of one model, read and checked.
#[derive(Clone, Debug)]
pub struct Scenario<M: Read> {
    /// Where it was read; 16 hexadecimal digits that change with the normalised form or with the bytes of a data file; and
    /// the normalised form, TOML that reads as the same scenario.
    pub frame: Frame,
    /// What the engines run.
    pub model: M,
    document: M::Document,
    /// Of the data files alone.
    data: Fingerprint,
    /// Its text and its data files: a longer run is read anew.
    text: String,
    files: DataFiles,
    /// In place of the seed of its text.
    seed: Option<u64>,
    /// How many times as long a run may become, where it is to be as long as it takes.
    limit: Option<u64>,
}

impl<M: Read> Scenario<M> {
    /// Reads a scenario from text; errors speak of `name`, and its data files are in `files`, such as the path of
    /// a folder.
    ///
    /// # Errors
    /// The text is refused, or a data file that it names.
    pub fn from_toml(text: &str, name: &str, files: impl Into<DataFiles>) -> Result<Self, Refused> {
        let source = Source { name, text };
        Self::from_tree(&source.tree(&M::WORDING)?, &source, files.into())
    }

    /// Reads a scenario file; the data files it names are relative to it.
    ///
    /// # Errors
    /// The file cannot be read, or its content is refused.
    pub fn from_file(path: &Path) -> Result<Self, Refused> {
        let name = path.display().to_string();
        let text = read_text(path, &name)?;
        Self::from_toml(&text, &name, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads a scenario from the tree of a text that was parsed.
    ///
    /// # Errors
    /// As [`Self::from_toml`].
    pub fn from_tree(tree: &Tree<'_>, source: &Source<'_>, files: DataFiles) -> Result<Self, Refused> {
        let read = M::Document::read(&tree.without(SWEEP));
        let mut document = read.map_err(|error| source.explain(&error, &M::WORDING))?;
        let mut checker = Checker::new(source, &files);
        let model = M::check(&mut document, &mut checker)?;
        let mut needs = need::check(M::needs(&document), &model.measured(), &checker)?;
        for need in &mut needs {
            need.floor = model.floor(need).filter(|floor| *floor > need.bound);
        }
        let (data, canonical) = (checker.fingerprint, checker.canonical.into_inner());
        canonical_names(M::written(&mut document), &canonical, model.compared().reference);
        let frame = Frame { needs, ..frame(source.name, &document, data, canonical)? };
        let text = source.text.to_owned();
        Self { frame, model, document, data, text, files, seed: None, limit: None }.asked_to_settle(source)
    }

    /// The same scenario with another seed: nothing is read again.
    ///
    /// # Errors
    /// None that the first reading has left.
    pub fn with_seed(mut self, seed: u64) -> Result<Self, Refused> {
        M::set_seed(&mut self.document, &mut self.model, seed);
        self.seed = Some(seed);
        let frame = frame(&self.frame.file, &self.document, self.data, self.frame.canonical)?;
        self.frame = Frame { needs: self.frame.needs, ..frame };
        Ok(self)
    }
}

/// The text of a document that serde writes.
///
/// # Errors
/// A value that TOML cannot hold.
pub fn text<D: Serialize>(document: &D) -> Result<String, String> {
    toml::to_string(document).map_err(|error| error.to_string())
}

/// Where a scenario comes from, and what it is.
fn frame<D: Document>(
    name: &str,
    document: &D,
    mut fingerprint: Fingerprint,
    canonical: Vec<String>,
) -> Result<Frame, Refused> {
    let scenario = document.text().map_err(|error| {
        Refused::of_file(name, format!("cannot be normalised ({error})"), "report this as a defect")
    })?;
    fingerprint.add(scenario.as_bytes());
    Ok(Frame {
        file: name.to_owned(),
        fingerprint: fingerprint.to_string(),
        canonical,
        scenario,
        needs: Vec::new(),
    })
}

/// Writes the disciplines and the reference, which is the one at this place, in canonical form.
fn canonical_names(written: Written<'_>, canonical: &[String], reference: usize) {
    for (written, name) in written.disciplines.iter_mut().zip(canonical) {
        written.value.clone_from(name);
    }
    if let Some(name) = written.reference {
        name.value.clone_from(&written.disciplines[reference].value);
    }
}

/// The text of a scenario file.
///
/// # Errors
/// It cannot be read, or is not UTF-8.
pub fn read_text(path: &Path, name: &str) -> Result<String, Refused> {
    let text = std::fs::read(path).map_err(|error| {
        let reason = format!("cannot be read ({})", plain_io(&error));
        Refused::of_file(name, reason, "check the path and its permissions")
    })?;
    String::from_utf8(text).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        Refused::of_file(name, "is not UTF-8 text", "save it as UTF-8").at(line, 1)
    })
}

/// What to do where a key is missing.
fn missing(field: &str) -> String {
    match field {
        "link" | "flow" | "channel" | "process" | "class" => {
            format!("add a table `[[{field}]]`, as `weir schema` describes it")
        }
        "network" | "stop" | "traffic" | "server" => {
            format!("add a table `[{field}]`, as `weir schema` describes it")
        }
        _ => format!("add `{field} = ...`, as `weir schema` describes it"),
    }
}
