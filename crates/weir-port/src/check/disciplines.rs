//! From the document to the disciplines that are compared.

use super::{Check, Serving};
use crate::model::Service;
use weir_core::canonical::canonical;
use weir_core::info::{Takes, parse_nanos};
use weir_core::item::Message;
use weir_core::message::{alpha, fifo, ps};
use weir_core::registry;
use weir_core::role::Role;
use weir_core::spec::{Argument, Spec, SpecError};
use weir_core::units::Packets;
pub(super) use weir_document::words::discipline as explain;
use weir_document::{Checked, Located, NamedDiscipline};

/// The most turns that a message of mean service takes where messages are served whole.
const MOST_TURNS: f64 = 10_000.0;

impl Check<'_, '_> {
    pub(super) fn disciplines(
        &self,
        list: &Located<Vec<Located<String>>>,
        serving: Serving,
    ) -> Checked<Vec<NamedDiscipline>> {
        self.each_once(list, "[\"fifo\", \"alpha:10\"]", |written| self.discipline(written, serving))
    }

    fn discipline(&self, written: &Located<String>, serving: Serving) -> Checked<NamedDiscipline> {
        let build = |text: &str| {
            let spec = read(text, serving)?;
            registry::message_discipline::<Message<Packets>>(&spec)?;
            Ok(NamedDiscipline::new(text, canonical(&spec)?))
        };
        let built = build(&written.value).or_else(|error| {
            let (reason, remedy) = explain(error, "messages", "alpha:10");
            self.refuse(written, reason, remedy)
        })?;
        match limited(&built.spec) {
            Some(spec) => {
                let reason = format!("has `{spec}`, which drops messages, and a port loses none");
                self.refuse(written, reason, "write `fifo`; limits are for the model `network`")
            }
            None => Ok(built),
        }
    }

    /// Refuses a discipline that serves messages whole in turns so short that a run would never end.
    pub(super) fn turns(
        &self,
        list: &Located<Vec<Located<String>>>,
        serving: Serving,
        mean_length: f64,
    ) -> Checked<()> {
        if let Service::Packets(_) = serving.service {
            return Ok(());
        }
        let service = mean_length * serving.service.mean_per_unit();
        let least = ((service / MOST_TURNS).ceil() as u64).max(2);
        for written in &list.value {
            let spec = read(&written.value, serving).ok().filter(|spec| !is_exact(spec));
            if let Some((name, quantum)) =
                spec.as_ref().and_then(turns).filter(|(_, quantum)| *quantum < least)
            {
                let reason = format!(
                    "would give `{name}` turns of {quantum} ns where messages are served whole, for \
                     {service:.0} ns in the mean"
                );
                let example = ((service / 100.0).round() as u64).max(least);
                let remedy = format!(
                    "give it a quantum of at least {least} ns of service, such as `{name}:quantum={example}ns`"
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
        serving: Serving,
    ) -> Checked<usize> {
        let Some(written) = written else { return Ok(0) };
        let spec = read(&written.value, serving).and_then(|spec| canonical(&spec));
        let name = spec.map_or_else(|_| written.value.clone(), |spec| spec.to_string());
        self.listed(written, &name, known)
    }
}

/// A spec as it is written, with quanta in nanoseconds where messages are served whole.
fn read(text: &str, serving: Serving) -> Result<Spec, SpecError> {
    let mut spec: Spec = text.parse()?;
    if let Service::Whole(_) = serving.service {
        in_nanoseconds(&mut spec);
    }
    Ok(spec)
}

/// Writes quanta that have a unit of time as the numbers that disciplines read.
fn in_nanoseconds(spec: &mut Spec) {
    for place in 0..spec.arguments.len() {
        let parameter = Role::Discipline.parameter_at(spec, place);
        let value = &mut spec.arguments[place].value;
        match parse_nanos(&value.name) {
            Some(time) if parameter.is_some_and(|parameter| is_turn(&parameter.takes)) => {
                value.name = time.get().to_string();
            }
            _ => in_nanoseconds(value),
        }
    }
}

fn is_turn(takes: &Takes) -> bool {
    matches!(takes, Takes::Turn)
}

/// The first-in-first-out queue with a limit that a canonical spec names, if it names one.
fn limited(spec: &Spec) -> Option<&Spec> {
    let nested = || spec.arguments.iter().find_map(|argument| limited(&argument.value));
    if spec.name == fifo::INFO.name && !spec.arguments.is_empty() { Some(spec) } else { nested() }
}

/// Whether a spec is processor sharing without a quantum, which takes no turns where messages are served whole.
fn is_exact(spec: &Spec) -> bool {
    spec.name == ps::INFO.name && spec.arguments.is_empty()
}

/// The discipline in a spec that serves in turns, and their quantum.
fn turns(spec: &Spec) -> Option<(&str, u64)> {
    let Some(parameter) = Role::Discipline.parameter(spec, is_turn) else {
        return spec.arguments.iter().find_map(|argument| turns(&argument.value));
    };
    let given = Role::Discipline.argument(spec, parameter);
    let text = given.map(|given| given.name.as_str()).or(parameter.default)?;
    Some((&spec.name, text.parse().ok()?))
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
