//! From the steps of a program to the operations of one process: words become places and spans.

use std::collections::{BTreeMap, HashSet};

use super::super::LONGEST;
use super::lexer::Word;
use super::parse::{self, Fault, LawWords, Parsed, Place, Step};
use crate::check::laws::Laws;
use crate::check::objects::Objects;
use crate::model::{Costs, Operation};
use weir_core::units::Nanos;
use weir_document::Located;
use weir_document::quantity::{Clock, Time};
use weir_document::words::known_names;
use weir_lab::stream::LONGEST_MEAN;
use weir_workload::duration::{AnyLaw, Law};

/// The most turns of a loop.
pub(crate) const MAX_TIMES: u64 = 1_000_000_000_000;

/// Whose program it is, and what its words may name.
pub(crate) struct Scope<'s> {
    /// A place among the processes.
    pub(crate) process: usize,
    pub(crate) name: &'s str,
    pub(crate) set: &'s BTreeMap<String, Located<String>>,
    pub(crate) objects: &'s Objects,
    pub(crate) laws: &'s Laws,
    pub(crate) costs: Costs,
}

impl Parsed<'_> {
    /// How many places the operations take in all.
    pub(crate) fn size(&self) -> usize {
        let events = |step: &Step<'_>| match step {
            Step::Wait(events) => events.len(),
            _ => 1,
        };
        self.steps.iter().map(events).sum()
    }

    /// The keys that it takes from `set`.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().flat_map(words).filter_map(|word| word.text.strip_prefix('$'))
    }

    /// The operations of a process.
    pub(crate) fn operations(&self, scope: &Scope<'_>) -> Result<Vec<Operation>, Fault> {
        let operations: Result<Vec<_>, _> = self.steps.iter().map(|step| scope.operation(step)).collect();
        let operations = operations?;
        self.moves_on(&operations, scope.costs)?;
        Ok(operations)
    }

    /// Refuses a loop that goes on for ever within one instant.
    fn moves_on(&self, operations: &[Operation], costs: Costs) -> Result<(), Fault> {
        for (begin, (step, operation)) in self.steps.iter().zip(operations).enumerate() {
            let (Step::Loop { at, .. }, Operation::Loop { times: None, after }) = (step, operation) else {
                continue;
            };
            let body = operations.get(begin + 1..*after).unwrap_or_default();
            if !body.iter().any(|operation| may_take_time(operation, costs)) {
                let reason = "never ends, and nothing in it can use time or wait";
                let remedy = "say how often, as in `loop 10 {`, or add `compute`, `sleep`, `wait`, `dequeue` or `exit`";
                return Err(Fault::at(*at, reason, remedy));
            }
        }
        Ok(())
    }
}

/// Whether an operation can use time, wait, or end the process.
fn may_take_time(operation: &Operation, costs: Costs) -> bool {
    let nothing = [Law::Constant(Nanos::new(0)), Law::Uniform(Nanos::new(0), Nanos::new(0))];
    let some = |law: &AnyLaw| !matches!(law, AnyLaw::Plain(law) if nothing.contains(law));
    match operation {
        Operation::Compute(law) | Operation::Sleep(law) => some(law),
        Operation::Post(_) | Operation::Enqueue(_) => costs.post.get() > 0 || costs.remote.get() > 0,
        Operation::PostAfter(..) | Operation::Loop { .. } | Operation::End(_) => false,
        _ => true,
    }
}

/// The words of a step that may stand for others.
fn words<'t>(step: &Step<'t>) -> Vec<Word<'t>> {
    match step {
        Step::Compute(law) | Step::Sleep(law) => words_of_law(*law),
        Step::Post(word) | Step::Enqueue(word) | Step::Dequeue(word) => vec![*word],
        Step::PostAfter(event, law) => {
            let mut words = words_of_law(*law);
            words.push(*event);
            words
        }
        Step::Wait(events) => events.clone(),
        Step::SleepUntil { every, offset } => [Some(*every), *offset].into_iter().flatten().collect(),
        Step::Loop { times, .. } => times.iter().copied().collect(),
        Step::WaitAny(_) | Step::End(_) | Step::Exit => Vec::new(),
    }
}

fn words_of_law<'t>(law: LawWords<'t>) -> Vec<Word<'t>> {
    match law {
        LawWords::Plain(word) | LawWords::Exponential(word) => vec![word],
        LawWords::Uniform(low, high) => vec![low, high],
    }
}

/// What a word says, and where that stands.
struct Said<'s> {
    text: &'s str,
    place: Place,
}

impl Said<'_> {
    fn refuse<T>(self, reason: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { place: self.place, reason: reason.into(), remedy: remedy.into() })
    }
}

impl Scope<'_> {
    fn operation(&self, step: &Step<'_>) -> Result<Operation, Fault> {
        Ok(match step {
            Step::Compute(law) => Operation::Compute(self.law(*law)?),
            Step::Post(event) => Operation::Post(self.event(*event)?),
            Step::PostAfter(event, law) => Operation::PostAfter(self.event(*event)?, self.law(*law)?),
            Step::Wait(events) => Operation::Wait(self.own_events(events)?),
            Step::WaitAny(word) => self.any(*word)?,
            Step::Enqueue(queue) => Operation::Enqueue(self.queue(*queue)?),
            Step::Dequeue(queue) => Operation::Dequeue(self.queue(*queue)?),
            Step::Sleep(law) => Operation::Sleep(self.law(*law)?),
            Step::SleepUntil { every, offset } => self.sleep_until(*every, *offset)?,
            Step::Loop { times, after, .. } => {
                let times = times.map(|times| self.times(times)).transpose()?;
                Operation::Loop { times, after: *after }
            }
            Step::End(begin) => Operation::End(*begin),
            Step::Exit => Operation::Exit,
        })
    }

    /// The word, or what is set for it.
    fn said<'w>(&'w self, word: Word<'w>) -> Result<Said<'w>, Fault> {
        let Some(key) = word.text.strip_prefix('$') else {
            return Ok(Said { text: word.text, place: Place::Text(word.span()) });
        };
        match self.set.get(key) {
            Some(value) => Ok(Said { text: &value.value, place: Place::Set(key.to_owned()) }),
            None => {
                let reason = format!("is not set for process `{}`", self.name);
                Err(Fault::at(word, reason, format!("add `set = {{ {key} = \"...\" }}` to the process")))
            }
        }
    }

    fn span(&self, word: Word<'_>) -> Result<Nanos, Fault> {
        let said = self.said(word)?;
        span(said)
    }

    fn law(&self, law: LawWords<'_>) -> Result<AnyLaw, Fault> {
        let LawWords::Plain(word) = law else { return self.law_of_words(law).map(AnyLaw::Plain) };
        let said = self.said(word)?;
        let Place::Set(key) = said.place else { return self.span_or_law(said) };
        // What is set for a key may be a whole law, in which no other key stands.
        let of_the_key = |fault: Fault| Fault { place: Place::Set(key.clone()), ..fault };
        let law = parse::law(said.text).map_err(of_the_key)?;
        if let LawWords::Plain(word) = law {
            return self.span_or_law(Said { text: word.text, place: Place::Set(key) });
        }
        if words_of_law(law).iter().any(|word| word.text.starts_with('$')) {
            let reason = "must not refer to another key of `set`";
            return Err(Fault {
                place: Place::Set(key),
                reason: reason.to_owned(),
                remedy: "write the span".to_owned(),
            });
        }
        self.law_of_words(law).map(AnyLaw::Plain).map_err(of_the_key)
    }

    /// A span, or a law that the scenario has under this name.
    fn span_or_law(&self, said: Said<'_>) -> Result<AnyLaw, Fault> {
        if let Some(law) = self.laws.get(said.text) {
            return Ok(law.clone());
        }
        let is_name = !self.laws.is_empty() && !said.text.starts_with(|c: char| c.is_ascii_digit());
        if is_name {
            let remedy = known_names(said.text, self.laws.keys().map(String::as_str));
            return said.refuse("is neither a span of time nor a law of the table `law`", remedy);
        }
        span(said).map(|span| Law::Constant(span).into())
    }

    fn law_of_words(&self, law: LawWords<'_>) -> Result<Law, Fault> {
        match law {
            LawWords::Plain(word) => self.span(word).map(Law::Constant),
            LawWords::Exponential(word) => self.mean(word).map(Law::Exponential),
            LawWords::Uniform(low, high) => {
                let (least, most) = (self.span(low)?, self.span(high)?);
                if least <= most {
                    return Ok(Law::Uniform(least, most));
                }
                let reason = format!("must be at most the second span, which is {most}");
                self.said(low)?.refuse(reason, "write the shorter span first")
            }
        }
    }

    fn mean(&self, word: Word<'_>) -> Result<Nanos, Fault> {
        let mean = self.span(word)?;
        if mean.get() == 0 {
            return self.said(word)?.refuse("must be above 0", "write a mean such as `5ms`");
        }
        if mean.get() as f64 > LONGEST_MEAN {
            let reason = format!("must be at most {}", Nanos::new(LONGEST_MEAN as u64));
            return self.said(word)?.refuse(reason, "lower the mean");
        }
        Ok(mean)
    }

    fn sleep_until(&self, every: Word<'_>, offset: Option<Word<'_>>) -> Result<Operation, Fault> {
        let multiple = self.span(every)?;
        if multiple.get() == 0 {
            return self.said(every)?.refuse("must be above 0", "write a span such as `100ms`");
        }
        let Some(word) = offset else {
            return Ok(Operation::SleepUntil { every: multiple, offset: Nanos::new(0) });
        };
        let offset = self.span(word)?;
        if offset >= multiple {
            let reason = format!("must be less than the multiple, which is {multiple}");
            return self.said(word)?.refuse(reason, "lower it by whole multiples");
        }
        Ok(Operation::SleepUntil { every: multiple, offset })
    }

    fn times(&self, word: Word<'_>) -> Result<u64, Fault> {
        let said = self.said(word)?;
        match said.text.parse::<u64>() {
            Ok(times) if (1..=MAX_TIMES).contains(&times) => Ok(times),
            _ => {
                let reason = format!("must be a whole number from 1 to {MAX_TIMES}");
                said.refuse(reason, "write `loop 10 {`, or `loop {` for ever")
            }
        }
    }

    fn queue(&self, word: Word<'_>) -> Result<usize, Fault> {
        let said = self.said(word)?;
        match self.objects.queue(said.text) {
            Some(queue) => Ok(queue),
            None if self.objects.queues().next().is_none() => {
                said.refuse("is not a queue", "add a table `[[queue]]` with this `name`")
            }
            None => {
                let remedy = known_names(said.text, self.objects.queues());
                said.refuse("is not a queue", remedy)
            }
        }
    }

    fn event(&self, word: Word<'_>) -> Result<usize, Fault> {
        let said = self.said(word)?;
        match self.objects.event(said.text) {
            Some(event) => Ok(event),
            None if self.objects.events().next().is_none() => {
                said.refuse("is not an event", "add a table `[[event]]` with this `name` and an `owner`")
            }
            None => {
                let remedy = known_names(said.text, self.objects.events());
                said.refuse("is not an event", remedy)
            }
        }
    }

    /// Events for which the process waits.
    fn own_events(&self, words: &[Word<'_>]) -> Result<Vec<usize>, Fault> {
        let mut own = Vec::with_capacity(words.len());
        let mut seen = HashSet::new();
        for &word in words {
            let event = self.event(word)?;
            if self.objects.owner(event) != Some(self.process) {
                let reason = format!("is not an event of process `{}`, and only its owner waits", self.name);
                let remedy = "wait for an event of its own, or change the owner of the event";
                return self.said(word)?.refuse(reason, remedy);
            }
            if !seen.insert(event) {
                return self.said(word)?.refuse("is listed twice", "remove one of the two");
            }
            own.push(event);
        }
        Ok(own)
    }

    /// The wait for any event of the process, which has some.
    fn any(&self, word: Word<'_>) -> Result<Operation, Fault> {
        if self.objects.has_events(self.process) {
            return Ok(Operation::WaitAny);
        }
        let reason = format!("waits for ever, as process `{}` owns no event", self.name);
        Err(Fault::at(word, reason, "add a table `[[event]]` with it as `owner`"))
    }
}

/// A span of whole nanoseconds.
fn span(said: Said<'_>) -> Result<Nanos, Fault> {
    let Some(time) = Time::parse(said.text).filter(|time| time.clock == Clock::Seconds) else {
        if is_too_long(said.text) {
            return said.refuse(format!("must be at most {LONGEST}"), "lower it");
        }
        let reason = "must be a span of time in whole nanoseconds, with its unit";
        return said.refuse(reason, "write it in `ns`, `us`, `ms` or `s`, such as `5ms` or `552.2us`");
    };
    if time.span > LONGEST {
        return said.refuse(format!("must be at most {LONGEST}"), "lower it");
    }
    Ok(time.span)
}

/// Whether it is a whole number of a unit, too large for the clock.
fn is_too_long(text: &str) -> bool {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[number.len()..];
    let is_whole = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    is_whole && matches!(unit, "ns" | "us" | "ms" | "s") && Time::parse(text).is_none()
}
