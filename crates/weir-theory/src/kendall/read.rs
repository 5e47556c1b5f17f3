//! How the notation is read: field by field, with the place of what is not understood.

use core::fmt;
use core::str::FromStr;

use super::{Arrivals, Kendall, Law, Order};

/// The most servers, places, sources, phases or customers of a batch.
const MOST: u32 = 1_000_000;
/// The most characters of what is not understood that are repeated.
const SHOWN: usize = 24;

/// What is not understood, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    /// The place of its first character, counted from 1.
    pub at: usize,
    /// What stands there; empty at the end of the text.
    pub found: String,
    /// What is wrong with it.
    pub problem: &'static str,
    /// What to write instead.
    pub remedy: &'static str,
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, found, problem, remedy } = self;
        if found.is_empty() {
            return write!(f, "at character {at}: {problem}; {remedy}");
        }
        write!(f, "at character {at}: `{found}` {problem}; {remedy}")
    }
}

impl std::error::Error for NotationError {}

/// A part of the text, and the place of its first character.
#[derive(Clone, Copy)]
struct Part<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Part<'t> {
    /// What stands before the first of `ends`, and what follows it; that character is part of neither.
    fn until(self, ends: &[char]) -> (Self, Option<(char, Self)>) {
        let Some((index, end)) = self.text.char_indices().find(|(_, c)| ends.contains(c)) else {
            return (self, None);
        };
        let (before, from) = self.text.split_at(index);
        let rest = &from[end.len_utf8()..];
        let at = self.at + before.chars().count() + 1;
        (Self { text: before, at: self.at }, Some((end, Self { text: rest, at })))
    }

    fn refused(self, problem: &'static str, remedy: &'static str) -> NotationError {
        let found = self.text.chars().take(SHOWN).collect();
        NotationError { at: self.at, found, problem, remedy }
    }

    /// The same, from the first character that is no digit.
    fn no_number(self, problem: &'static str, remedy: &'static str) -> NotationError {
        let digits = self.text.chars().take_while(char::is_ascii_digit).count();
        let rest = &self.text[digits..];
        let part = if rest.is_empty() { self } else { Self { text: rest, at: self.at + digits } };
        part.refused(problem, remedy)
    }

    fn number(self) -> Option<u32> {
        let is_plain = !self.text.is_empty() && self.text.bytes().all(|b| b.is_ascii_digit());
        let number = self.text.parse().ok().filter(|_| is_plain)?;
        (1..=MOST).contains(&number).then_some(number)
    }

    fn is_endless(self) -> bool {
        matches!(self.text, "inf" | "∞")
    }
}

impl FromStr for Kendall {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let (first, rest) = Part { text, at: 1 }.until(&['/']);
        let arrivals = arrivals(first)?;
        let end = Part { text: "", at: text.chars().count() + 1 };
        let Some((_, rest)) = rest else {
            return Err(end.refused("the service is missing", "write `/M/1` for one exponential server"));
        };
        let (second, rest) = rest.until(&['/']);
        let remedy = "write M, D, E_3 for three phases, or G";
        let service = law(second).ok_or_else(|| second.refused("is no law of service", remedy))?;
        let Some((_, rest)) = rest else {
            return Err(end.refused("the number of servers is missing", "write `/1` for one"));
        };
        let (third, rest) = rest.until(&['/', '+', '-']);
        let servers = servers(third)?;
        let mut queue = Self {
            arrivals,
            service,
            servers,
            places: None,
            sources: None,
            patience: None,
            order: Order::Fcfs,
        };
        queue.read_bounds(rest)?;
        Ok(queue)
    }
}

impl Kendall {
    /// The fields after the servers: places, sources, discipline, and what follows them.
    fn read_bounds(&mut self, rest: Option<(char, Part<'_>)>) -> Result<(), NotationError> {
        let Some(('/', field)) = rest else {
            return self.read_suffixes(rest);
        };
        if self.read_order_field(field) {
            return Ok(());
        }
        let (places, rest) = field.until(&['/', '+', '-']);
        self.places = bound(places, "is no number of places")?;
        if let (Some(most), Some(servers)) = (self.places, self.servers)
            && most < servers
        {
            let remedy = "places count those in service, write at least as many";
            return Err(places.refused("places are fewer than the servers", remedy));
        }
        if self.places.is_some() && self.servers.is_none() {
            let remedy = "leave out the number of places";
            return Err(places.refused("places bound servers without bound", remedy));
        }
        let Some(('/', field)) = rest else {
            return self.read_suffixes(rest);
        };
        if self.read_order_field(field) {
            return Ok(());
        }
        let (sources, rest) = field.until(&['/', '+', '-']);
        self.sources = bound(sources, "is no number of sources")?;
        match rest {
            Some(('/', field)) if self.read_order_field(field) => Ok(()),
            Some(('/', field)) => Err(no_order(field)),
            rest => self.read_suffixes(rest),
        }
    }

    /// Whether the field is a discipline, which is then read: nothing follows it.
    fn read_order_field(&mut self, field: Part<'_>) -> bool {
        let order = Order::named(field.text);
        self.order = order.unwrap_or(self.order);
        order.is_some()
    }

    /// Patience after a plus, a discipline after a hyphen.
    fn read_suffixes(&mut self, rest: Option<(char, Part<'_>)>) -> Result<(), NotationError> {
        let rest = match rest {
            Some(('+', part)) => {
                let (patience, rest) = part.until(&['-']);
                let remedy = "write +M for exponential patience, at the end or before a discipline";
                let refuse = || patience.refused("is no law of patience", remedy);
                self.patience = Some(law(patience).ok_or_else(refuse)?);
                rest
            }
            rest => rest,
        };
        let Some((_, part)) = rest else {
            return Ok(());
        };
        self.order = Order::named(part.text).ok_or_else(|| no_order(part))?;
        Ok(())
    }
}

fn no_order(part: Part<'_>) -> NotationError {
    let remedy = "write one of FCFS, LCFS, SIRO, PS, LCFS-PR, SJF, PSJF, SRPT and LAS";
    if part.text.is_empty() {
        return part.refused("the discipline is missing", remedy);
    }
    part.refused("is no discipline", remedy)
}

fn arrivals(part: Part<'_>) -> Result<Arrivals, NotationError> {
    match part.text {
        "MAP" | "MMPP" => return Ok(Arrivals::Modulated),
        "M_t" | "Mt" | "M(t)" => return Ok(Arrivals::Varying),
        "M^X" | "M^[X]" | "M[X]" => return Ok(Arrivals::Batches(None)),
        _ => {}
    }
    if let Some(customers) = part.text.strip_prefix("M^") {
        let size = Part { text: customers, at: part.at + 2 };
        let remedy = "write M^X, or the number of customers as in M^4";
        let refuse = || size.no_number("is no size of a batch", remedy);
        return size.number().map(|number| Arrivals::Batches(Some(number))).ok_or_else(refuse);
    }
    let remedy = "write M, D, E_3 for three phases, G, M^X, MAP or M_t";
    let refuse = || match part.text {
        "" => part.refused("the arrivals are missing", remedy),
        _ => part.refused("are no arrivals", remedy),
    };
    law(part).map(Arrivals::Single).ok_or_else(refuse)
}

fn law(part: Part<'_>) -> Option<Law> {
    match part.text {
        "M" => Some(Law::Exponential),
        "D" => Some(Law::Constant),
        "G" | "GI" => Some(Law::General),
        text => {
            let phases = text.strip_prefix("E_").or_else(|| text.strip_prefix('E'))?;
            Part { text: phases, ..part }.number().map(Law::Erlang)
        }
    }
}

fn servers(part: Part<'_>) -> Result<Option<u32>, NotationError> {
    if part.is_endless() {
        return Ok(None);
    }
    let remedy = "write a number from 1 to 1000000, or inf";
    let refuse = || match part.text {
        "" => part.refused("the number of servers is missing", remedy),
        _ => part.no_number("is no number of servers", remedy),
    };
    part.number().map(Some).ok_or_else(refuse)
}

/// A number, or no bound where nothing or `inf` is written.
fn bound(part: Part<'_>, problem: &'static str) -> Result<Option<u32>, NotationError> {
    if part.text.is_empty() || part.is_endless() {
        return Ok(None);
    }
    let remedy = "write a number from 1 to 1000000, inf, or nothing";
    part.number().map(Some).ok_or_else(|| part.no_number(problem, remedy))
}
