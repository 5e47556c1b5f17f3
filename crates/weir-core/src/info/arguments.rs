//! The arguments of a spec, read as the table of parameters says: unknown, missing and repeated ones, and what is not
//! what a parameter takes, are refused here, in one wording.

use core::ops::RangeInclusive;

use super::{Info, Parameter, Takes, parse_bytes, parse_nanos, parse_packets, parse_rate};
use crate::discipline::Limit;
use crate::excerpt::beginning;
use crate::spec::{Spec, SpecError};
use crate::units::{Bytes, Cost, Nanos, Packets, Rate};

/// The longest value repeated in an error, in characters: a list of 64 entries stays whole.
const LONGEST: usize = 400;

/// The arguments of one spec, read by parameter name.
///
/// A discipline asks for parameters of its own table, as what they take there; anything else is a mistake in its code,
/// and panics.
#[derive(Debug)]
pub struct Arguments<'a> {
    info: &'static Info,
    values: Vec<Option<&'a Spec>>,
}

impl<'a> Arguments<'a> {
    /// Assigns the arguments of `spec` to the parameters of `info`.
    ///
    /// # Errors
    /// An argument names no parameter, names one twice, or there are too many.
    pub fn new(spec: &'a Spec, info: &'static Info) -> Result<Self, SpecError> {
        let mut values = vec![None; info.parameters.len()];
        for (position, argument) in spec.arguments.iter().enumerate() {
            let index = match &argument.key {
                Some(key) => info.parameters.iter().position(|p| p.name == key),
                None => Some(position).filter(|&i| i < values.len()),
            };
            let Some(index) = index else {
                return Err(unknown(info, argument.key.clone().unwrap_or(argument.value.to_string())));
            };
            if values[index].replace(&argument.value).is_some() {
                let reason = "is given twice, give it once".to_owned();
                return Err(value_error(info, info.parameters[index].name, reason));
            }
        }
        Ok(Self { info, values })
    }

    /// The parameters that are given, in the order of the table.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static Parameter, &'a Spec)> {
        self.info
            .parameters
            .iter()
            .zip(&self.values)
            .filter_map(|(parameter, value)| Some((parameter, (*value)?)))
    }

    /// A parameter of the table, and what is given for it.
    fn get(&self, name: &str) -> (&'static Parameter, Option<&'a Spec>) {
        let index = self.info.parameters.iter().position(|p| p.name == name);
        let index = index.expect("a discipline reads only parameters of its own table");
        (&self.info.parameters[index], self.values[index])
    }

    /// The error for a value of `name`; `reason` continues the sentence "`alpha` is -1, ...".
    #[must_use]
    pub fn error(&self, name: &'static str, reason: String) -> SpecError {
        value_error(self.info, name, reason)
    }

    fn missing(&self, name: &'static str) -> SpecError {
        self.error(name, format!("is missing, write it as in `{}`", self.info.example))
    }

    /// The spec of a nested discipline, if one is given.
    #[must_use]
    pub fn optional(&self, name: &'static str) -> Option<&'a Spec> {
        self.get(name).1
    }

    /// The spec of a nested discipline, or the default.
    ///
    /// # Errors
    /// It is missing and has no default.
    pub fn nested(&self, name: &'static str) -> Result<Spec, SpecError> {
        match self.get(name) {
            (_, Some(spec)) => Ok(spec.clone()),
            (Parameter { default: Some(default), .. }, None) => default.parse(),
            (_, None) => Err(self.missing(name)),
        }
    }

    /// The text of a plain value, or the default of the table.
    ///
    /// # Errors
    /// It is missing and has no default, or is a nested spec.
    pub fn text(&self, name: &'static str) -> Result<&'a str, SpecError> {
        match self.get(name) {
            (_, Some(spec)) if spec.arguments.is_empty() => Ok(&spec.name),
            (_, Some(spec)) => Err(self.error(
                name,
                format!("is `{}`, must be a plain value", beginning(&spec.to_string(), LONGEST)),
            )),
            (parameter, None) => parameter.default.ok_or_else(|| self.missing(name)),
        }
    }

    /// The word that stands for a value, where it is one of those that the table names.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub fn word(&self, name: &'static str) -> Result<Option<&'static str>, SpecError> {
        let text = self.text(name)?;
        Ok(self.get(name).0.words.iter().copied().find(|word| *word == text))
    }

    /// A value as `parse` reads it.
    ///
    /// # Errors
    /// It is missing, or `parse` refuses it.
    pub fn read<T>(&self, name: &'static str, parse: impl Fn(&str) -> Option<T>) -> Result<T, SpecError> {
        self.read_as(name, &self.get(name).0.takes, parse)
    }

    fn read_as<T>(
        &self,
        name: &'static str,
        takes: &Takes,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, SpecError> {
        let text = self.text(name)?;
        let expected = || self.get(name).0.expected(takes);
        parse(text).ok_or_else(|| {
            self.error(name, format!("is `{}`, must be {}", beginning(text, LONGEST), expected()))
        })
    }

    /// A quantity within bounds.
    fn within<T: PartialOrd>(
        &self,
        name: &'static str,
        bounds: &RangeInclusive<T>,
        takes: &Takes,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, SpecError> {
        self.read_as(name, takes, |text| parse(text).filter(|value| bounds.contains(value)))
    }

    /// A whole number.
    ///
    /// # Errors
    /// It is missing, no whole number, or outside the bounds.
    pub fn whole<T: TryFrom<u64>>(&self, name: &'static str) -> Result<T, SpecError> {
        let bounds = self.get(name).0.takes.whole().unwrap_or_else(|| self.misread(name));
        self.whole_in(name, bounds)
    }

    /// A whole number within bounds that depend on what else is known.
    ///
    /// # Errors
    /// It is missing, no whole number, or outside the bounds.
    pub fn whole_in<T: TryFrom<u64>>(
        &self,
        name: &'static str,
        bounds: RangeInclusive<u64>,
    ) -> Result<T, SpecError> {
        self.read_as(name, &Takes::Whole(bounds.clone()), |text| {
            let value: u64 = text.parse().ok().filter(|value| bounds.contains(value))?;
            T::try_from(value).ok()
        })
    }

    /// A finite real number.
    ///
    /// # Errors
    /// It is missing, no number, or outside the bounds.
    pub fn real(&self, name: &'static str) -> Result<f64, SpecError> {
        match &self.get(name).0.takes {
            takes @ Takes::Real(bounds) => self.within(name, bounds, takes, |text| text.parse().ok()),
            _ => self.misread(name),
        }
    }

    /// A span of time.
    ///
    /// # Errors
    /// It is missing, no span, or outside the bounds.
    pub fn span(&self, name: &'static str) -> Result<Nanos, SpecError> {
        match &self.get(name).0.takes {
            takes @ (Takes::Span(bounds) | Takes::Epoch(bounds)) => {
                self.within(name, bounds, takes, parse_nanos)
            }
            _ => self.misread(name),
        }
    }

    /// A span of time within bounds that depend on what else is known.
    ///
    /// # Errors
    /// It is missing, no span, or outside the bounds.
    pub fn span_in(&self, name: &'static str, bounds: RangeInclusive<Nanos>) -> Result<Nanos, SpecError> {
        self.within(name, &bounds, &Takes::Span(bounds.clone()), parse_nanos)
    }

    /// A size.
    ///
    /// # Errors
    /// It is missing, no size, or outside the bounds.
    pub fn size(&self, name: &'static str) -> Result<Bytes, SpecError> {
        match &self.get(name).0.takes {
            takes @ Takes::Size(bounds) => self.within(name, bounds, takes, parse_bytes),
            _ => self.misread(name),
        }
    }

    /// A number of packets.
    ///
    /// # Errors
    /// It is missing, no such number, or outside the bounds.
    pub fn packets(&self, name: &'static str) -> Result<Packets, SpecError> {
        match &self.get(name).0.takes {
            takes @ Takes::Packets(bounds) => self.within(name, bounds, takes, parse_packets),
            _ => self.misread(name),
        }
    }

    /// A speed of transmission.
    ///
    /// # Errors
    /// It is missing, none, or too low.
    pub fn rate(&self, name: &'static str) -> Result<Rate, SpecError> {
        match &self.get(name).0.takes {
            Takes::Rate(least) => self.read(name, |text| parse_rate(text).filter(|rate| rate >= least)),
            _ => self.misread(name),
        }
    }

    /// What stands for the word that is given: `values` in the order of the table's words.
    ///
    /// # Errors
    /// It is missing, or none of them.
    pub fn choice<T: Clone, const N: usize>(
        &self,
        name: &'static str,
        values: [T; N],
    ) -> Result<T, SpecError> {
        match self.get(name).0.takes {
            Takes::Words(words) if words.len() == N => self
                .read(name, |text| words.iter().position(|word| *word == text).map(|at| values[at].clone())),
            _ => self.misread(name),
        }
    }

    /// A bound on what waits: `none`, packets such as `100pkt`, or bytes such as `64KiB` where items are
    /// counted in bytes.
    ///
    /// # Errors
    /// It is missing, none of these, nothing, or in bytes where the cost of an item is none.
    pub fn limit<C: Cost>(&self, name: &'static str) -> Result<Limit<C>, SpecError> {
        let text = self.text(name)?;
        if let Some(packets) = parse_packets(text).filter(|packets| packets.get() > 0) {
            return Ok(Limit { items: packets.get(), ..Limit::none() });
        }
        match parse_bytes(text).filter(|bytes| bytes.get() > 0) {
            _ if self.word(name)?.is_some() => Ok(Limit::none()),
            Some(bytes) if C::UNIT == Bytes::UNIT => Ok(Limit { cost: C::of(bytes.get()), ..Limit::none() }),
            Some(_) => {
                let reason = format!(
                    "is `{}`, which needs items counted in bytes; these are counted in {}, \
                     write packets such as 100pkt",
                    beginning(text, LONGEST),
                    C::UNIT
                );
                Err(self.error(name, reason))
            }
            None => self.read(name, |_| None),
        }
    }

    fn misread(&self, name: &str) -> ! {
        panic!("`{}` reads its parameter `{name}` as something else than its table says", self.info.name)
    }
}

fn value_error(info: &'static Info, parameter: &'static str, reason: String) -> SpecError {
    SpecError::Value { discipline: info.name, parameter, reason }
}

fn unknown(info: &'static Info, parameter: String) -> SpecError {
    let names: Vec<_> = info.parameters.iter().map(|p| p.name).collect();
    let remedy = if names.is_empty() {
        format!("it takes none, write `{}`", info.name)
    } else {
        format!("it takes `{}`", names.join("`, `"))
    };
    SpecError::UnknownParameter { discipline: info.name, parameter: beginning(&parameter, LONGEST), remedy }
}
