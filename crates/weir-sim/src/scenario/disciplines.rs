//! From the document to the disciplines that are compared.

use weir_core::canonical::canonical;
use weir_core::item::Message;
use weir_core::message::alpha;
use weir_core::registry;
use weir_core::spec::{Argument, Spec, SpecError};
use weir_core::units::Packets;

use super::check::{Checked, Checker, Serving};
use super::document::Located;
use super::place::nearest;
use super::port::{NamedDiscipline, Service};

/// The most disciplines that one scenario compares.
const MAX_DISCIPLINES: usize = 64;
/// The parameter of all disciplines that serve in turns.
const QUANTUM: &str = "quantum";

impl Checker<'_> {
    pub(super) fn disciplines(&self, list: &Located<Vec<Located<String>>>) -> Checked<Vec<NamedDiscipline>> {
        if list.value.is_empty() || list.value.len() > MAX_DISCIPLINES {
            let reason = format!("must name from 1 to {MAX_DISCIPLINES} disciplines");
            return self.refuse(list, reason, "write a list such as [\"fifo\", \"alpha:10\"]");
        }
        let mut named: Vec<NamedDiscipline> = Vec::new();
        for written in &list.value {
            let discipline = self.discipline(written)?;
            if named.iter().any(|other| other.name == discipline.name) {
                let reason = format!("names `{}` a second time", discipline.name);
                return self.refuse(written, reason, "remove one of the two");
            }
            named.push(discipline);
        }
        Ok(named)
    }

    fn discipline(&self, written: &Located<String>) -> Checked<NamedDiscipline> {
        let build = |text: &str| {
            let spec: Spec = text.parse()?;
            registry::message_discipline::<Message<Packets>>(&spec)?;
            let spec = canonical(&spec)?;
            Ok(NamedDiscipline { name: spec.to_string(), spec })
        };
        build(&written.value).or_else(|error| {
            let (reason, remedy) = explain(error);
            self.refuse(written, reason, remedy)
        })
    }

    /// Refuses a discipline whose turns would be its smallest, a nanosecond, where messages are served whole:
    /// it would decide once a nanosecond.
    pub(super) fn turns(
        &self,
        list: &Located<Vec<Located<String>>>,
        named: &[NamedDiscipline],
        serving: Serving,
    ) -> Checked<()> {
        if let Service::Packets(_) = serving.service {
            return Ok(());
        }
        for (written, discipline) in list.value.iter().zip(named).filter(|(_, named)| !named.is_fluid()) {
            if let Some(name) = without_quantum(&discipline.spec) {
                let reason = format!("would give `{name}` turns of 1 ns where messages are served whole");
                let remedy = format!(
                    "give it a quantum, in nanoseconds of service: `{name}:quantum=1000000` for turns of 1 ms"
                );
                return self.refuse(written, reason, remedy);
            }
        }
        Ok(())
    }

    pub(super) fn reference(
        &self,
        written: Option<&Located<String>>,
        known: &[NamedDiscipline],
    ) -> Checked<usize> {
        let Some(written) = written else { return Ok(0) };
        let spec = written.value.parse().and_then(|spec| canonical(&spec));
        let name = spec.map_or_else(|_| written.value.clone(), |spec| spec.to_string());
        known.iter().position(|discipline| discipline.name == name).map_or_else(
            || {
                let names: Vec<&str> = known.iter().map(|discipline| discipline.name.as_str()).collect();
                let hint = nearest(&name, names.iter().copied());
                let hint = hint.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                let remedy = format!("{hint}listed are `{}`", names.join("`, `"));
                self.refuse(written, "must be one of `disciplines`", remedy)
            },
            Ok,
        )
    }
}

/// The discipline in a spec that has turns and is given no quantum for them.
fn without_quantum(spec: &Spec) -> Option<&str> {
    let parameters = registry::info(&spec.name).map_or(&[][..], |info| info.parameters);
    if let Some(place) = parameters.iter().position(|parameter| parameter.name == QUANTUM) {
        let is_it = |(at, argument): (usize, &Argument)| match &argument.key {
            Some(key) => key == QUANTUM,
            None => at == place,
        };
        return (!spec.arguments.iter().enumerate().any(is_it)).then_some(&spec.name);
    }
    spec.arguments.iter().find_map(|argument| without_quantum(&argument.value))
}

/// Gives alpha scheduling, wherever the spec names it without alphas of classes, those of the messages.
pub(super) fn carry_alphas(spec: &mut Spec, alphas: &[f64]) {
    spec.arguments.iter_mut().for_each(|argument| carry_alphas(&mut argument.value, alphas));
    let has_classes = spec.arguments.iter().any(|argument| argument.key.as_deref() == Some("classes"));
    if spec.name == alpha::INFO.name && !has_classes {
        let alphas: Vec<String> = alphas.iter().map(f64::to_string).collect();
        let value = Spec { name: alphas.join("/"), arguments: Vec::new() };
        spec.arguments.push(Argument { key: Some("classes".to_owned()), value });
    }
}

/// A refused spec, as reason and remedy.
fn explain(error: SpecError) -> (String, String) {
    match error {
        SpecError::Syntax { at, reason } => {
            (format!("cannot be read at byte {at}: {reason}"), "write a spec such as \"alpha:10\"".to_owned())
        }
        SpecError::UnknownName { remedy, .. } => ("not a discipline of messages".to_owned(), remedy),
        SpecError::UnknownParameter { discipline, parameter, remedy } => {
            (format!("`{discipline}` has no parameter `{parameter}`"), remedy)
        }
        SpecError::Value { discipline, parameter, reason } => {
            let example = registry::info(discipline).map_or(discipline, |info| info.example);
            (format!("its parameter `{parameter}` {reason}"), format!("write a spec such as `{example}`"))
        }
        other => (other.to_string(), "write a spec such as \"alpha:10\"".to_owned()),
    }
}
