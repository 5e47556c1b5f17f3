//! What is written of an expression, read by recursive descent.
//!
//! ```text
//! sum     = product { ( "+" | "-" ) product }
//! product = sign { ( "*" | "/" ) sign }
//! sign    = [ "-" ] factor
//! factor  = number | name | ( "min" | "max" ) "(" sum "," sum { "," sum } ")" | "(" sum ")"
//! ```

use super::{DEPTH, Fault, MOST_STEPS, NAMES, Operation, Step};
use crate::scanner::Scanner;

/// The steps of an expression, in postfix form.
pub(super) fn steps(text: &str) -> Result<Vec<Step>, Fault> {
    let mut parser = Parser { text: Scanner::new(text), nested: 0, steps: Vec::new() };
    parser.sum()?;
    match parser.text.peek() {
        None => Ok(parser.steps),
        Some(found) => {
            Err(parser.fault(format!("`{found}` is no operator: write +, -, * or / between two values")))
        }
    }
}

struct Parser<'a> {
    text: Scanner<'a>,
    nested: usize,
    steps: Vec<Step>,
}

impl Parser<'_> {
    fn fault(&self, reason: String) -> Fault {
        Fault { at: self.text.at(), reason }
    }

    fn expect(&mut self, wanted: char) -> Result<(), Fault> {
        if self.text.accept(wanted) { Ok(()) } else { Err(self.fault(format!("`{wanted}` is missing"))) }
    }

    fn push(&mut self, step: Step) -> Result<(), Fault> {
        if self.steps.len() == MOST_STEPS {
            return Err(self.fault(format!("has more than {MOST_STEPS} numbers, names and operations")));
        }
        self.steps.push(step);
        Ok(())
    }

    fn sum(&mut self) -> Result<(), Fault> {
        self.nested += 1;
        if self.nested > DEPTH {
            return Err(self.fault(format!("nests deeper than {DEPTH}: write it with fewer parentheses")));
        }
        self.product()?;
        loop {
            let operation = match self.text.peek() {
                Some('+') => Operation::Add,
                Some('-') => Operation::Subtract,
                _ => break,
            };
            self.text.skip(1);
            self.product()?;
            self.push(Step::Two(operation))?;
        }
        self.nested -= 1;
        Ok(())
    }

    fn product(&mut self) -> Result<(), Fault> {
        self.signed()?;
        loop {
            let operation = match self.text.peek() {
                Some('*') => Operation::Multiply,
                Some('/') => Operation::Divide,
                _ => return Ok(()),
            };
            self.text.skip(1);
            self.signed()?;
            self.push(Step::Two(operation))?;
        }
    }

    fn signed(&mut self) -> Result<(), Fault> {
        if self.text.accept('-') {
            self.factor()?;
            return self.push(Step::Negate);
        }
        self.factor()
    }

    fn factor(&mut self) -> Result<(), Fault> {
        if self.text.accept('(') {
            self.sum()?;
            return self.expect(')');
        }
        match self.text.peek() {
            Some(first) if first.is_ascii_digit() || first == '.' => self.number(),
            Some(first) if first.is_ascii_alphabetic() => self.named(),
            Some(found) => Err(self.fault(format!("a number or a name is missing before `{found}`"))),
            None => Err(self.fault("a number or a name is missing at the end".to_owned())),
        }
    }

    /// Digits, a point, and an exponent with its sign.
    fn number(&mut self) -> Result<(), Fault> {
        let rest = &self.text.rest().as_bytes();
        let mut end = 0;
        while let Some(&byte) = rest.get(end) {
            let signs_exponent =
                matches!(byte, b'+' | b'-') && matches!(rest[end.saturating_sub(1)], b'e' | b'E');
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || signs_exponent) {
                break;
            }
            end += 1;
        }
        let text = &self.text.rest()[..end];
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.text.skip(end);
                self.push(Step::Number(number))
            }
            _ => Err(self.fault(format!("`{text}` is no finite number, write one such as 0.5 or 1e6"))),
        }
    }

    fn named(&mut self) -> Result<(), Fault> {
        let rest = self.text.rest();
        let end =
            rest.find(|each: char| !(each.is_ascii_alphanumeric() || each == '_')).unwrap_or(rest.len());
        let word = &rest[..end];
        let operation = match word {
            "min" => Some(Operation::Least),
            "max" => Some(Operation::Most),
            _ => None,
        };
        if let Some(operation) = operation {
            self.text.skip(end);
            return self.least_or_most(operation);
        }
        let Some(&(_, name)) = NAMES.iter().find(|(known, _)| *known == word) else {
            let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            return Err(self.fault(format!("`{word}` is no name, use one of {}, min, max", known.join(", "))));
        };
        self.text.skip(end);
        self.push(Step::Name(name))
    }

    /// The values in parentheses after `min` and `max`.
    fn least_or_most(&mut self, operation: Operation) -> Result<(), Fault> {
        self.expect('(')?;
        self.sum()?;
        self.expect(',')?;
        self.sum()?;
        self.push(Step::Two(operation))?;
        while self.text.accept(',') {
            self.sum()?;
            self.push(Step::Two(operation))?;
        }
        self.expect(')')
    }
}
