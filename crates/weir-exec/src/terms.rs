//! What a task asks for: its name, its need in every epoch, its slice, its priority; and on which worker.

use std::sync::Arc;
use std::time::Duration;

use weir_core::task::Declared;
use weir_core::units::{Nanos, Weight};

/// What a task asks for. Without more than a name it is promised nothing, has the slice of the discipline, and is of
/// ordinary priority.
#[derive(Clone, Debug)]
pub struct Terms {
    pub(crate) name: Arc<str>,
    pub(crate) declared: Declared,
    pub(crate) worker: Option<usize>,
    pub(crate) starts_after: Duration,
}

pub(crate) fn nanos(span: Duration) -> Nanos {
    Nanos::new(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

impl Terms {
    /// Those of a task of this name, which reports, counters and traces show. Names need not be unique.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), declared: Declared::default(), worker: None, starts_after: Duration::ZERO }
    }

    /// All that a discipline may be asked for, as the model of the node has it.
    #[must_use]
    pub fn declared(mut self, declared: Declared) -> Self {
        self.declared = declared;
        self
    }

    /// What it is promised in every epoch.
    #[must_use]
    pub fn need(mut self, need: Duration) -> Self {
        self.declared.need = nanos(need);
        self
    }

    /// How long it runs at most before others of its standing do.
    #[must_use]
    pub fn slice(mut self, slice: Duration) -> Self {
        self.declared.slice = Some(nanos(slice));
        self
    }

    /// From 0, in no hurry, over 1, ordinary, to 3, vital.
    #[must_use]
    pub fn priority(mut self, priority: u8) -> Self {
        self.declared.priority = priority;
        self
    }

    /// A period of its own, in which a discipline that knows periods (`cbs`) promises it its need.
    #[must_use]
    pub fn period(mut self, period: Duration) -> Self {
        self.declared.period = Some(nanos(period));
        self
    }

    /// Its share relative to others', under a discipline that shares (`eevdf`, `stride`).
    #[must_use]
    pub fn weight(mut self, weight: u64) -> Self {
        self.declared.weight = Some(Weight::new(weight));
        self
    }

    /// The worker that it runs on, from 0. Otherwise it runs where it is spawned, or, from outside of the executor, on
    /// the worker with the fewest tasks.
    #[must_use]
    pub fn worker(mut self, worker: usize) -> Self {
        self.worker = Some(worker);
        self
    }

    /// It is first ready this long after it was spawned.
    #[must_use]
    pub fn starts_after(mut self, span: Duration) -> Self {
        self.starts_after = span;
        self
    }
}

/// Terms for many tasks alike, which are distinguished by numbers: `reader#1`, `reader#2`.
#[derive(Debug)]
pub struct Template {
    terms: Terms,
    made: std::sync::atomic::AtomicU64,
}

impl Template {
    /// Instances of these terms.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self { terms, made: std::sync::atomic::AtomicU64::new(0) }
    }

    /// The terms of the next instance.
    #[must_use]
    pub fn instance(&self) -> Terms {
        let number = self.made.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        Terms { name: format!("{}#{number}", self.terms.name).into(), ..self.terms.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_of_a_template_are_numbered() {
        let template = Template::new(Terms::named("reader").need(Duration::from_millis(2)));
        let names = [template.instance(), template.instance()].map(|terms| terms.name.to_string());
        assert_eq!(names, ["reader#1", "reader#2"]);
        assert_eq!(template.instance().declared.need, Nanos::new(2_000_000));
    }
}
