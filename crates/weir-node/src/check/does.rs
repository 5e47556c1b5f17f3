//! What processes do: programs, each read once however many processes run it, and files that are replayed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::processes::Kind;
use super::program::{Fault, Parsed, Place, Scope, parse};
use super::replay::Files;
use crate::check::Check;
use crate::model::Operation;
use weir_document::words::known_names;
use weir_document::{Checked, Located};

/// The most operations of all programs together, each event of a list of its own.
pub(super) const MAX_OPERATIONS: usize = 1_048_576;

/// What a process does.
pub(super) enum Does<'d> {
    /// The text of the program, and what was read in it.
    Program(&'d Located<String>, Rc<Read<'d>>),
    Replay(Operation),
}

/// A program, and the keys that it takes from `set`.
pub(super) struct Read<'d> {
    parsed: Parsed<'d>,
    keys: BTreeSet<String>,
}

/// What tables of processes share, each read once: files, and programs by where they stand.
#[derive(Default)]
pub(super) struct Shared<'d> {
    files: Files,
    programs: HashMap<usize, Rc<Read<'d>>>,
}

impl Check<'_, '_> {
    /// What the processes of a table do.
    pub(super) fn does<'d>(&mut self, kind: &Kind<'d>, shared: &mut Shared<'d>) -> Checked<Does<'d>> {
        let set = &kind.written.set;
        match (kind.asks.program, kind.asks.replay) {
            (Some(text), _) => {
                let read = self.program(text, set, shared)?;
                self.used(set, &read.keys)?;
                Ok(Does::Program(text, read))
            }
            (None, Some(file)) => {
                self.used(set, &BTreeSet::new())?;
                Ok(Does::Replay(Operation::Replay(self.replay_file(file, &mut shared.files)?)))
            }
            // Refused where the table was read.
            (None, None) => Ok(Does::Replay(Operation::Exit)),
        }
    }

    /// The program of a table or of its template, which is read once.
    fn program<'d>(
        &self,
        text: &'d Located<String>,
        set: &BTreeMap<String, Located<String>>,
        shared: &mut Shared<'d>,
    ) -> Checked<Rc<Read<'d>>> {
        if let Some(read) = shared.programs.get(&text.span.start) {
            return Ok(Rc::clone(read));
        }
        let parsed = parse(&text.value).or_else(|fault| self.refuse_program(text, set, fault))?;
        if parsed.size() == 0 {
            return self.refuse(text, "has no statement", "write one such as `compute 5ms`");
        }
        let keys = parsed.keys().map(str::to_owned).collect();
        let read = Rc::new(Read { parsed, keys });
        shared.programs.insert(text.span.start, Rc::clone(&read));
        Ok(read)
    }

    /// Refuses a key of `set` that is not one of the program's.
    fn used(&self, set: &BTreeMap<String, Located<String>>, keys: &BTreeSet<String>) -> Checked<()> {
        let Some((key, value)) = set.iter().find(|(key, _)| !keys.contains(*key)) else { return Ok(()) };
        let reason = format!("has no effect: the program has no `${key}`");
        let remedy = match keys.is_empty() {
            true => "remove it".to_owned(),
            false => format!("remove it; {}", known_names(key, keys.iter().map(String::as_str))),
        };
        self.refuse(value, reason, remedy)
    }

    /// The operations of a process, with all others not too many; `size` is what they take.
    pub(super) fn operations(
        &self,
        does: &Does<'_>,
        scope: &Scope<'_>,
        size: &mut usize,
    ) -> Checked<Vec<Operation>> {
        let (text, parsed) = match does {
            Does::Replay(operation) => return Ok(vec![operation.clone()]),
            Does::Program(text, read) => (text, &read.parsed),
        };
        *size += parsed.size();
        if *size > MAX_OPERATIONS {
            let reason = format!("makes more than {MAX_OPERATIONS} operations of all processes together");
            return self.refuse(text, reason, "shorten programs, or lower `count`");
        }
        parsed.operations(scope).or_else(|fault| self.refuse_program(text, scope.set, fault))
    }

    /// Refuses a program where it is wrong: in its text, or in what the process sets for a key of it.
    fn refuse_program<V>(
        &self,
        text: &Located<String>,
        set: &BTreeMap<String, Located<String>>,
        fault: Fault,
    ) -> Checked<V> {
        let Fault { place, reason, remedy } = fault;
        let at = match place {
            Place::Text(at) => at,
            Place::Set(key) => match set.get(&key) {
                Some(value) => return self.refuse(value, reason, remedy),
                None => 0..0,
            },
        };
        let mut refusal = self.source.refuse(text.span.clone(), reason, remedy);
        refusal.value = None;
        if let Some(begin) = self.begin_of_text(text) {
            let (line, column) = self.source.line_and_column(begin + at.start);
            refusal = refusal.at(line, column);
        }
        match text.value.get(at).filter(|word| !word.trim().is_empty()) {
            Some(word) => Err(refusal.value(word)),
            None => Err(refusal),
        }
    }

    /// Where the text of a string begins in the file, if it is written without escapes.
    fn begin_of_text(&self, text: &Located<String>) -> Option<usize> {
        let written = self.source.text.get(text.span.clone())?;
        let marks = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|marks| written.starts_with(marks))?;
        let body = written.strip_prefix(marks)?.strip_suffix(marks)?;
        let is_long = marks.len() == 3;
        let after_break = body.strip_prefix("\r\n").or_else(|| body.strip_prefix('\n'));
        let body = after_break.filter(|_| is_long).unwrap_or(body);
        let begin = text.span.end - marks.len() - body.len();
        (body == text.value).then_some(begin)
    }
}
