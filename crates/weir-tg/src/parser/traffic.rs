//! The clauses of traffic and of its distributions.

use weir_core::units::Bytes;

use super::{ACTIONS, MODIFIERS, Parser};
use crate::Distribution;
use crate::distribution::{DistributionError, MAX_NESTING};
use crate::error::ScriptError;
use crate::lexer::Token;
use crate::number;
use crate::schedule::MAX_LENGTH;
use crate::script::{Response, Sending};

const DISTRIBUTIONS: [&str; 4] = ["constant", "uniform", "exponential", "markov2"];

impl Parser<'_> {
    pub(super) fn sending(&mut self) -> Result<Sending, ScriptError> {
        let arrival = self.whole_distribution()?;
        self.expect(&["length"], "write `length` and a distribution after that of the gaps")?;
        let place = self.at;
        let length = self.whole_distribution()?;
        self.check_length(&length, place)?;
        let mut sending = Sending {
            arrival,
            length,
            response: None,
            data: None,
            packets: None,
            time: None,
            seed: None,
            reset: false,
        };
        if self.next_is("responselength", &[&MODIFIERS, &ACTIONS])? {
            self.at += 1;
            let length = self.whole_distribution()?;
            let patient = self.next_is("patience", &[&MODIFIERS, &ACTIONS])?;
            let patience = if patient {
                self.at += 1;
                Some(self.time()?)
            } else {
                None
            };
            sending.response = Some(Response { length, patience });
        }
        while let Some(keyword) = self.among(&MODIFIERS, &ACTIONS)? {
            self.modifier(keyword, &mut sending)?;
        }
        Ok(sending)
    }

    fn modifier(&mut self, keyword: &str, sending: &mut Sending) -> Result<(), ScriptError> {
        let given = match keyword {
            "data" => sending.data.is_some(),
            "packet" => sending.packets.is_some(),
            "time" => sending.time.is_some(),
            "seed" => sending.seed.is_some(),
            _ => sending.reset,
        };
        if given {
            return Err(self.refuse(format!("`{keyword}` is given twice"), "remove one of them"));
        }
        self.at += 1;
        match keyword {
            "data" => sending.data = Some(Bytes::new(self.whole(1, number::MAX_WHOLE)?)),
            "packet" => sending.packets = Some(self.whole(1, number::MAX_WHOLE)?),
            "time" => sending.time = Some(self.time()?),
            "seed" => sending.seed = Some(self.whole(0, number::MAX_WHOLE)?),
            _ => sending.reset = true,
        }
        Ok(())
    }

    fn check_length(&self, length: &Distribution, place: usize) -> Result<(), ScriptError> {
        let largest = length.largest().unwrap_or_else(|| length.mean());
        if largest <= MAX_LENGTH {
            return Ok(());
        }
        let token = self.words.tokens.get(place).copied();
        let at = token.map_or(self.words.end, |token| token.place);
        let reason = format!("a length can be {largest} bytes, must be at most {}", MAX_LENGTH);
        let found = token.map(|token| self.words.text(token));
        Err(self.words.refuse(
            at,
            found,
            reason,
            "write shorter lengths; packets of a network are not longer",
        ))
    }

    /// A distribution after which no number follows.
    fn whole_distribution(&mut self) -> Result<Distribution, ScriptError> {
        self.distribution(false, 0)
    }

    /// A distribution; `followed` tells that the number of draws of a second state comes after it.
    fn distribution(&mut self, followed: bool, depth: usize) -> Result<Distribution, ScriptError> {
        let start = self.at;
        if self.numeric() {
            return Ok(Distribution::Constant(self.number()?));
        }
        let remedy = "write `exponential 0.01`, `uniform 64 1500`, `markov2 10 0.01 2 0.5` or a number";
        let distribution = match self.expect(&DISTRIBUTIONS, remedy)? {
            "constant" => Distribution::Constant(self.number()?),
            "uniform" => {
                let first = self.number()?;
                let second = if self.arguments(followed, &[1]) == 1 { self.number()? } else { 0.0 };
                Distribution::Uniform { min: first.min(second), max: first.max(second) }
            }
            "exponential" => {
                let mean = self.number()?;
                let bounds = if self.arguments(followed, &[2, 0]) == 2 {
                    Some((self.number()?, self.number()?))
                } else {
                    None
                };
                if !followed && bounds.is_none() && self.numeric() {
                    let reason = "exponential has a mean, or a mean and two bounds".to_owned();
                    return Err(self.refuse(reason, "write both bounds, the smaller first, or none"));
                }
                Distribution::Exponential { mean, bounds }
            }
            _ => {
                if depth == MAX_NESTING {
                    let error = DistributionError::Nesting;
                    return Err(self.refuse(error.to_string(), error.remedy()));
                }
                let first = self.number()?;
                let one = self.distribution(true, depth + 1)?;
                let second = self.number()?;
                let two = self.distribution(followed, depth + 1)?;
                Distribution::Markov2(Box::new([(first, one), (second, two)]))
            }
        };
        distribution.check().map_err(|error| {
            self.at = start;
            self.refuse(error.to_string(), error.remedy())
        })?;
        Ok(distribution)
    }

    /// How many more of the numbers that follow are arguments: the first of `options` that leaves room for
    /// what follows, else 0. Where a second state follows, its number of draws comes next, and then a
    /// distribution, which is a keyword or one more number.
    fn arguments(&self, followed: bool, options: &[usize]) -> usize {
        let ahead = &self.words.tokens[self.at..];
        let is_number = |token: &&Token| !token.quoted && number::begins(self.words.text(**token));
        let run = ahead.iter().take(6).take_while(is_number).count();
        let keyword = ahead.get(run).is_some_and(|token| {
            let word = self.words.text(*token);
            !token.quoted && DISTRIBUTIONS.iter().any(|each| each.starts_with(word))
        });
        let fits = |count: &usize| {
            let Some(left) = run.checked_sub(*count) else { return false };
            !followed || left >= 2 || (left == 1 && keyword)
        };
        options.iter().copied().find(fits).unwrap_or(0)
    }
}
