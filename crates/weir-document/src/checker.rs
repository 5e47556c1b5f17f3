//! What the checks of every document share: refusals at a place, whole numbers, spans of time, names, disciplines, files.
//!
//! A checker knows the text, the folder of its data files and the fingerprint in the making. What only documents of one kind
//! have is checked by methods of their own around it.

use std::cell::RefCell;
use std::io::Read;
use std::path::PathBuf;

use crate::quantity::{Clock, Time};
use crate::words::{discipline as explain, hint, listed};
use crate::{DataFile, DataFiles, Fingerprint, Located, Refused, Source, plain_io};
use weir_core::canonical::canonical;
use weir_core::item::{Message, Packet};
use weir_core::registry;
use weir_core::spec::{Spec, SpecError};
use weir_core::task::Task;
use weir_core::units::Nanos;

/// The version of the format.
const VERSION: u32 = 1;
/// The most packets or messages that one scenario runs.
pub const MAX_WORK: u64 = 1_000_000_000_000;
/// The most replications of one scenario.
pub const MAX_REPLICATIONS: u64 = 100_000;
/// The most disciplines that one scenario compares.
const MAX_DISCIPLINES: usize = 64;

/// A value, or its refusal.
pub type Checked<T> = Result<T, Refused>;

/// Checks one document.
pub struct Checker<'a> {
    /// Its text.
    pub source: &'a Source<'a>,
    /// The data files that it names.
    pub files: &'a DataFiles,
    /// Of the data files so far.
    pub fingerprint: Fingerprint,
    /// The disciplines compared, in canonical form, once [`Self::each_once`] has read them.
    pub canonical: RefCell<Vec<String>>,
}

/// A discipline of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDiscipline {
    /// Its spec as it is written: its name in results.
    pub name: String,
    /// The one text of all specs of this discipline.
    pub canonical: String,
    /// Its spec, as the registry has built it once.
    pub spec: Spec,
}

impl NamedDiscipline {
    /// The discipline that is written so, of this spec in canonical form.
    #[must_use]
    pub fn new(written: &str, spec: Spec) -> Self {
        Self { name: written.trim().to_owned(), canonical: spec.to_string(), spec }
    }
}

impl<'a> Checker<'a> {
    /// One that has not read anything yet.
    #[must_use]
    pub fn new(source: &'a Source<'a>, files: &'a DataFiles) -> Self {
        Self { source, files, fingerprint: Fingerprint::new(), canonical: RefCell::default() }
    }

    /// A refusal at the place of a value.
    ///
    /// # Errors
    /// Always.
    pub fn refuse<T, V>(
        &self,
        at: &Located<T>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Checked<V> {
        Err(self.source.refuse(at.span.clone(), reason, remedy))
    }

    /// The version of the format.
    ///
    /// # Errors
    /// It is another than the one read here.
    pub fn version(&self, written: &Located<u32>) -> Checked<()> {
        if written.value == VERSION {
            return Ok(());
        }
        let reason = format!("must be {VERSION}, the version of the format read here");
        self.refuse(written, reason, format!("write `weir = {VERSION}`"))
    }

    /// A whole number within `low..=high`.
    pub fn whole(&self, number: &Located<u64>, low: u64, high: u64) -> Checked<u64> {
        if (low..=high).contains(&number.value) {
            return Ok(number.value);
        }
        let remedy = if number.value < low { "raise it" } else { "lower it" };
        self.refuse(number, format!("must be from {low} to {high}"), remedy)
    }

    /// A span of time in seconds, at most `longest`.
    pub fn span(&self, written: &Located<Time>, longest: Nanos) -> Checked<Nanos> {
        if written.value.clock != Clock::Seconds && written.value.span.get() > 0 {
            let remedy = "write it in `ns`, `us`, `ms` or `s`, such as \"5ms\"";
            return self.refuse(written, "must be in seconds: only a port has other units", remedy);
        }
        if written.value.span > longest {
            return self.refuse(written, format!("must be at most {longest}"), "lower it");
        }
        Ok(written.value.span)
    }

    /// A span of time on the clock of the service, which a port may count in mean packet services.
    ///
    /// # Errors
    /// It is written for the other clock.
    pub fn on_clock(&self, written: &Located<Time>, clock: Clock) -> Checked<Nanos> {
        if written.value.clock == clock || written.value.span.get() == 0 {
            return Ok(written.value.span);
        }
        let (reason, remedy) = match clock {
            Clock::Seconds => (
                "must be in seconds, as the service is",
                "write it in `ns`, `us`, `ms` or `s`, such as \"5ms\"",
            ),
            Clock::PacketServices => {
                ("must be in mean packet services, as the service is", "write it in `u`, such as \"200u\"")
            }
        };
        self.refuse(written, reason, remedy)
    }

    /// A span of time above zero.
    pub fn some_span(&self, written: &Located<Time>, longest: Nanos) -> Checked<Nanos> {
        let span = self.span(written, longest)?;
        if span.get() == 0 {
            return self.refuse(written, "must be above 0", "write a time such as \"5ms\"");
        }
        Ok(span)
    }

    /// A name that is fit for a table of results.
    pub fn name(&self, written: &Located<String>) -> Checked<String> {
        const LONGEST: usize = 100;
        let name = &written.value;
        let is_plain = !name.chars().any(char::is_control) && name.trim() == name && !name.is_empty();
        if is_plain && name.chars().count() <= LONGEST {
            return Ok(name.clone());
        }
        let reason = format!(
            "must be a name of 1 to {LONGEST} characters, without control characters or outer blanks"
        );
        self.refuse(written, reason, "write a name such as \"web\"")
    }

    /// A name that results can tell from `all`.
    pub fn own_name(&self, written: &Located<String>) -> Checked<String> {
        let name = self.name(written)?;
        if name == "all" {
            let reason = "is reserved: results use it for all of a kind together";
            return self.refuse(written, reason, "give it another name");
        }
        Ok(name)
    }

    /// What is left out at the start of a run, and its end, which is later; `default` where they are not written.
    pub fn run_time(
        &self,
        (warm_up, duration): (Option<&Located<Time>>, Option<&Located<Time>>),
        default: (Nanos, Nanos),
        longest: Nanos,
    ) -> Checked<(Nanos, Nanos)> {
        let end = duration.map_or(Ok(default.1), |time| self.some_span(time, longest))?;
        let start = warm_up.map_or(Ok(default.0), |time| self.span(time, longest))?;
        match (warm_up, duration) {
            (Some(time), _) if start >= end => {
                let reason = format!("must be shorter than stop.duration, which is {end}");
                self.refuse(time, reason, "shorten it, or lengthen the run")
            }
            (None, Some(time)) if start >= end => {
                let reason = format!("must be longer than stop.warm_up, which is {start} by default");
                self.refuse(time, reason, "lengthen it, or give a shorter warm_up")
            }
            _ => Ok((start, end)),
        }
    }

    /// The disciplines compared, as `read` has them: at least one, no two the same.
    pub fn each_once(
        &self,
        list: &Located<Vec<Located<String>>>,
        example: &str,
        read: impl Fn(&Located<String>) -> Checked<NamedDiscipline>,
    ) -> Checked<Vec<NamedDiscipline>> {
        if list.value.is_empty() || list.value.len() > MAX_DISCIPLINES {
            let reason = format!("must name from 1 to {MAX_DISCIPLINES} disciplines");
            return self.refuse(list, reason, format!("write a list such as {example}"));
        }
        let mut named: Vec<NamedDiscipline> = Vec::new();
        for written in &list.value {
            let discipline = read(written)?;
            if named.iter().any(|other| other.canonical == discipline.canonical) {
                let reason = format!("lists `{}` twice", discipline.canonical);
                return self.refuse(written, reason, "remove one of the two");
            }
            named.push(discipline);
        }
        self.canonical.replace(named.iter().map(|discipline| discipline.canonical.clone()).collect());
        Ok(named)
    }

    /// The place of the reference among the disciplines; `name` is its canonical form.
    pub fn listed(&self, written: &Located<String>, name: &str, known: &[NamedDiscipline]) -> Checked<usize> {
        known.iter().position(|discipline| discipline.canonical == name).map_or_else(
            || {
                let names = || known.iter().map(|discipline| discipline.name.as_str());
                let remedy = format!("{}listed are {}", hint(name, names()), listed(names()));
                self.refuse(written, "must be one of `disciplines`", remedy)
            },
            Ok,
        )
    }

    /// The place of the reference among the disciplines, by any spec of it; the first where none is written.
    pub fn reference(&self, written: Option<&Located<String>>, known: &[NamedDiscipline]) -> Checked<usize> {
        let Some(written) = written else { return Ok(0) };
        let spec = written.value.parse::<Spec>().and_then(|spec| canonical(&spec));
        let name = spec.map_or_else(|_| written.value.clone(), |spec| spec.to_string());
        self.listed(written, &name, known)
    }

    /// A discipline of messages.
    pub fn message_discipline(&self, written: &Located<String>) -> Checked<NamedDiscipline> {
        self.discipline(written, ["messages", "alpha:10"], |spec| {
            registry::message_discipline::<Message>(spec)?;
            canonical(spec)
        })
    }

    /// A discipline of packets.
    pub fn packet_discipline(&self, written: &Located<String>) -> Checked<NamedDiscipline> {
        self.discipline(written, ["packets", "drr:quantum=1514B"], |spec| {
            registry::packet_discipline::<Packet>(spec)?;
            canonical(spec)
        })
    }

    /// A discipline of tasks, changed as `change` says.
    pub fn task_discipline(
        &self,
        written: &Located<String>,
        change: impl Fn(Spec) -> Spec,
    ) -> Checked<NamedDiscipline> {
        self.discipline(written, ["tasks", "epoch:allocate=at_dispatch"], |spec| {
            registry::task_discipline::<Task>(spec)?;
            let spec = change(canonical(spec)?);
            registry::task_discipline::<Task>(&spec)?;
            Ok(spec)
        })
    }

    /// A discipline that `build` builds once, and puts in canonical form; a refusal says of what it is, with an example.
    fn discipline(
        &self,
        written: &Located<String>,
        [of, example]: [&str; 2],
        build: impl Fn(&Spec) -> Result<Spec, SpecError>,
    ) -> Checked<NamedDiscipline> {
        match written.value.parse().and_then(|spec| build(&spec)) {
            Ok(spec) => Ok(NamedDiscipline::new(&written.value, spec)),
            Err(error) => {
                let (reason, remedy) = explain(error, of, example);
                self.refuse(written, reason, remedy)
            }
        }
    }

    /// A number from `low` to `high`.
    ///
    /// # Errors
    /// It is none.
    pub fn within(&self, written: &Located<f64>, low: f64, high: f64, remedy: &str) -> Checked<f64> {
        if (low..=high).contains(&written.value) {
            return Ok(written.value);
        }
        self.refuse(written, format!("must be a number from {low} to {high}"), remedy)
    }

    /// A data file, whose bytes become part of the fingerprint as they are read; and its name.
    pub fn data_file(&mut self, file: &Located<PathBuf>) -> Result<(impl Read, String), Refused> {
        let opened = self.files.open(&file.value).or_else(|error| self.unreadable(file, &error))?;
        let name = self.files.path(&file.value).display().to_string();
        Ok((Tee { file: opened, fingerprint: &mut self.fingerprint }, name))
    }

    /// The refusal of a data file that cannot be read.
    ///
    /// # Errors
    /// Always.
    pub fn unreadable<T>(&self, file: &Located<PathBuf>, error: &std::io::Error) -> Result<T, Refused> {
        let reason = format!("cannot be read ({})", plain_io(error));
        self.refuse(file, reason, "check the path, which is relative to the scenario, and its permissions")
    }

    /// Refuses a key that would have no effect.
    pub fn unused<T>(&self, key: Option<&Located<T>>, beside: &str) -> Result<(), Refused> {
        key.map_or(Ok(()), |key| self.refuse(key, format!("has no effect with {beside}"), "remove it"))
    }
}

/// Adds what is read of a file to the fingerprint.
struct Tee<'a> {
    file: DataFile,
    fingerprint: &'a mut Fingerprint,
}

impl Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.fingerprint.bytes(&buffer[..count]);
        Ok(count)
    }
}

/// Declares the checks of the documents of one kind: a type around a [`Checker`], with its methods, for methods of its own.
///
/// ```
/// weir_document::checks!(Check);
///
/// impl Check<'_, '_> {
///     fn even(&self, number: &weir_document::Located<u64>) -> weir_document::Checked<u64> {
///         match self.whole(number, 0, 100)? {
///             odd if odd % 2 == 1 => self.refuse(number, "must be even", "add 1"),
///             even => Ok(even),
///         }
///     }
/// }
/// ```
#[macro_export]
macro_rules! checks {
    ($name:ident) => {
        /// The checks of a document: those that all models share, and those of this one.
        pub(crate) struct $name<'c, 'a>(pub(crate) &'c mut $crate::Checker<'a>);

        impl<'a> ::core::ops::Deref for $name<'_, 'a> {
            type Target = $crate::Checker<'a>;

            fn deref(&self) -> &$crate::Checker<'a> {
                self.0
            }
        }

        impl ::core::ops::DerefMut for $name<'_, '_> {
            fn deref_mut(&mut self) -> &mut Self::Target {
                self.0
            }
        }
    };
}
