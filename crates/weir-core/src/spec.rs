//! Spec strings: the one text form in which a discipline and its parameters are named.
//!
//! ```text
//! spec      = name [ ":" arguments ] | name "(" arguments ")"
//! arguments = argument { "," argument }
//! argument  = [ key "=" ] ( spec | expression )
//! ```
//!
//! `fifo`, `alpha:10`, `alpha:10,update=recalculate`, `drr:quantum=2048B`, `in_order(alpha:10)`,
//! `outstanding(alpha:10,limit=4)`. A plain value is a spec without arguments. An argument list opened by
//! a colon ends where the enclosing parenthesis does, but inside parentheses it holds one argument only,
//! so that `outstanding(alpha:10,limit=4)` limits `alpha:10`; a nested spec with several arguments takes
//! parentheses of its own: `outstanding(alpha(10,update=recalculate),limit=4)`.
//!
//! An expression, as in `rank:arrival + 3*(size - 1)`, is a plain value: all up to the next comma or the end of the
//! enclosing parenthesis. It is known by an opening parenthesis in front, or by one of `+ - * /` next to a space or with
//! a parenthesis; spaces in it do not count.

use core::fmt;
use core::str::FromStr;

use crate::scanner::Scanner;

/// The longest spec accepted, in bytes.
const MAX_LENGTH: usize = 10_000;
/// How deep specs may nest.
const MAX_DEPTH: usize = 8;
/// What makes an expression of a value.
const OPERATORS: [char; 4] = ['+', '-', '*', '/'];

/// A parsed spec: a name, and the arguments in the order in which they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The registered name, or a plain value.
    pub name: String,
    /// What follows it.
    pub arguments: Vec<Argument>,
}

/// One argument of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The parameter it sets; `None` where it stands by position.
    pub key: Option<String>,
    /// Its value.
    pub value: Spec,
}

impl Argument {
    /// A plain value for a parameter.
    #[must_use]
    pub fn new(key: &str, value: &str) -> Self {
        let value = Spec { name: value.to_owned(), arguments: Vec::new() };
        Self { key: Some(key.to_owned()), value }
    }
}

/// Why a spec string, or a value in it, was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// The text does not follow the grammar at this byte.
    Syntax {
        /// Where, counted in bytes from the start.
        at: usize,
        /// What stands there, and what was expected.
        reason: String,
    },
    /// No discipline has this name.
    UnknownName {
        /// The name as written.
        name: String,
        /// What the discipline of that name orders, which is not what is ordered here; `None` where there is none.
        orders: Option<&'static str>,
        /// What is known here, and which of it may be meant.
        remedy: String,
    },
    /// The discipline has no such parameter.
    UnknownParameter {
        /// The discipline.
        discipline: &'static str,
        /// The parameter as written.
        parameter: String,
        /// What it has.
        remedy: String,
    },
    /// A parameter's value is missing, given twice, or outside its bounds.
    Value {
        /// The discipline.
        discipline: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The value, the bound and the remedy.
        reason: String,
    },
    /// The pool that a discipline is built for is none.
    Site {
        /// What it has, and the bound.
        reason: String,
    },
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { at, reason } => write!(f, "at byte {at}: {reason}"),
            Self::UnknownName { name, orders: None, remedy } => {
                write!(f, "no discipline is named `{name}`: {remedy}")
            }
            Self::UnknownName { name, orders: Some(orders), remedy } => {
                write!(f, "`{name}` orders {orders} and cannot be used here: {remedy}")
            }
            Self::UnknownParameter { discipline, parameter, remedy } => {
                write!(f, "`{discipline}` has no parameter `{parameter}`: {remedy}")
            }
            Self::Value { discipline, parameter, reason } => {
                write!(f, "`{discipline}`: {parameter} {reason}")
            }
            Self::Site { reason } => write!(f, "the pool {reason}"),
        }
    }
}

impl std::error::Error for SpecError {}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let nested = self.arguments.iter().any(|a| !a.value.arguments.is_empty());
        for (i, argument) in self.arguments.iter().enumerate() {
            f.write_str(match (i, nested) {
                (0, false) => ":",
                (0, true) => "(",
                _ => ",",
            })?;
            if let Some(key) = &argument.key {
                write!(f, "{key}=")?;
            }
            argument.value.fmt_nested(f)?;
        }
        f.write_str(if nested { ")" } else { "" })
    }
}

impl Spec {
    /// As an argument of another spec: parentheses where a colon would swallow the next argument.
    fn fmt_nested(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.arguments.len() < 2 || self.arguments.iter().any(|a| !a.value.arguments.is_empty()) {
            return write!(f, "{self}");
        }
        let text = self.to_string();
        write!(f, "{})", text.replacen(':', "(", 1))
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        if text.len() > MAX_LENGTH {
            let reason = format!("the spec has {} bytes, at most {MAX_LENGTH} are read", text.len());
            return Err(SpecError::Syntax { at: MAX_LENGTH, reason });
        }
        let mut parser = Parser { text: Scanner::new(text) };
        let spec = parser.spec(0)?;
        match parser.text.peek() {
            None => Ok(spec),
            Some(found) => Err(parser.error(format!("`{found}` follows the end of the spec, remove it"))),
        }
    }
}

struct Parser<'a> {
    text: Scanner<'a>,
}

impl Parser<'_> {
    fn error(&self, reason: String) -> SpecError {
        SpecError::Syntax { at: self.text.at(), reason }
    }

    fn word(&mut self) -> Result<String, SpecError> {
        let found = self.text.peek();
        let rest = self.text.rest();
        let end = rest.find(|c: char| ",:()=".contains(c) || c.is_whitespace()).unwrap_or(rest.len());
        if end == 0 {
            let found = found.map_or("the end of the spec".to_owned(), |c| format!("`{c}`"));
            return Err(self.error(format!("a name or a value is missing before {found}")));
        }
        self.text.skip(end);
        Ok(rest[..end].to_owned())
    }

    /// An expression, if one stands here.
    fn expression(&mut self) -> Option<Spec> {
        self.text.peek();
        let rest = self.text.rest();
        let text = &rest[..end_of_argument(rest)];
        if !is_expression(text) {
            return None;
        }
        self.text.skip(text.len());
        Some(Spec { name: without_spaces(text), arguments: Vec::new() })
    }

    fn spec(&mut self, depth: usize) -> Result<Spec, SpecError> {
        let name = self.word()?;
        self.tail(name, depth)
    }

    fn tail(&mut self, name: String, depth: usize) -> Result<Spec, SpecError> {
        // As an argument, it would be printed as what reads as an expression.
        if depth > 0 && name.contains(OPERATORS) && matches!(self.text.peek(), Some('(' | ':')) {
            let reason = format!("`{name}` cannot have arguments, since no name has one of `+ - * /` in it");
            return Err(self.error(reason));
        }
        let mut arguments = Vec::new();
        if self.text.accept('(') {
            self.list(&mut arguments, depth, true)?;
            if !self.text.accept(')') {
                return Err(self.error(format!("the parenthesis after `{name}` is not closed, add `)`")));
            }
        } else if self.text.accept(':') {
            self.list(&mut arguments, depth, depth == 0)?;
        }
        Ok(Spec { name, arguments })
    }

    fn list(&mut self, into: &mut Vec<Argument>, depth: usize, many: bool) -> Result<(), SpecError> {
        loop {
            into.push(self.argument(depth)?);
            if !many || !self.text.accept(',') {
                return Ok(());
            }
        }
    }

    fn argument(&mut self, depth: usize) -> Result<Argument, SpecError> {
        if depth >= MAX_DEPTH {
            return Err(self.error(format!("specs nest deeper than {MAX_DEPTH} levels")));
        }
        if let Some(value) = self.expression() {
            return Ok(Argument { key: None, value });
        }
        let word = self.word()?;
        if self.text.accept('=') {
            let value = self.expression().map_or_else(|| self.spec(depth + 1), Ok)?;
            return Ok(Argument { key: Some(word), value });
        }
        Ok(Argument { key: None, value: self.tail(word, depth + 1)? })
    }
}

/// Where an argument ends: at a comma or a closing parenthesis that it has not opened.
fn end_of_argument(text: &str) -> usize {
    let mut open = 0_usize;
    for (at, each) in text.char_indices() {
        match each {
            '(' => open += 1,
            ',' if open == 0 => return at,
            ')' if open == 0 => return at,
            ')' => open -= 1,
            _ => {}
        }
    }
    text.len()
}

fn is_expression(text: &str) -> bool {
    let apart = |each: char| each.is_whitespace() || "()".contains(each);
    let (mut open, mut before) = (0_usize, None);
    // In front, next to a space or a parenthesis, or with a parenthesis elsewhere, as in `size+max(size,2)`.
    let mut found = text.starts_with('(');
    let has_parenthesis = text.contains('(');
    for (each, next) in text.chars().zip(text.chars().skip(1).map(Some).chain([None])) {
        match each {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            // The key of an argument, or the name of another spec, comes first.
            '=' | ':' if open == 0 => return false,
            _ if OPERATORS.contains(&each) && open == 0 => {
                found |= has_parenthesis || before.is_some_and(apart) || next.is_some_and(apart);
            }
            _ => {}
        }
        before = Some(each);
    }
    found && open == 0
}

/// Without spaces, but between two words, which stay two.
fn without_spaces(text: &str) -> String {
    let is_word = |each: char| each.is_alphanumeric() || "._".contains(each);
    let mut kept = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if kept.ends_with(is_word) && word.starts_with(is_word) {
            kept.push(' ');
        }
        kept.push_str(word);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) {
        let spec: Spec = text.parse().expect(text);
        assert_eq!(spec.to_string(), text);
    }

    #[test]
    fn specs_print_as_they_are_written() {
        for text in [
            "fifo",
            "alpha:10",
            "alpha:10,update=recalculate",
            "in_order(alpha:10)",
            "outstanding(alpha(10,update=recalculate),limit=4)",
            "tbf(drr:quantum=2048B,rate=10Mbit,burst=15140B)",
        ] {
            round_trip(text);
        }
    }

    #[test]
    fn a_nested_colon_takes_one_argument() {
        let spec: Spec = " outstanding( alpha : 10 , limit = 4 ) ".parse().expect("valid");
        assert_eq!(spec.to_string(), "outstanding(alpha:10,limit=4)");
        assert_eq!(spec.arguments[1].key.as_deref(), Some("limit"));
    }

    #[test]
    fn an_expression_is_a_plain_value() {
        let value = |text: &str| {
            let spec: Spec = text.parse().expect(text);
            let last = spec.arguments.last().expect("an argument");
            (last.key.clone(), last.value.name.clone(), last.value.arguments.len())
        };
        let plain = |text: &str| (None, text.to_owned(), 0);
        assert_eq!(value("rank:arrival + 3*size"), plain("arrival+3*size"));
        assert_eq!(value("rank:-waited/size"), plain("-waited/size"));
        assert_eq!(value("rank:( size + 1 ) * 2"), plain("(size+1)*2"));
        assert_eq!(value("rank(2*(size+1))"), plain("2*(size+1)"));
        assert_eq!(value("rank:max(size - 2,0) + waited"), plain("max(size-2,0)+waited"));
        assert_eq!(value("rank(key = size * 2)"), (Some("key".to_owned()), "size*2".to_owned(), 0));
        assert_eq!(value("rank:size 2 + 1"), plain("size 2+1"), "which no expression is");
        // What was read before is read as before.
        assert_eq!(value("alpha( 10 , classes = -4 )"), (Some("classes".to_owned()), "-4".to_owned(), 0));
        assert_eq!(value("alpha:10,classes=1/50").1, "1/50");
        assert_eq!(value("in_order(alpha:1e-3)").2, 1);
        for text in
            ["rank:arrival+3*size", "rank:(size+1)*2,preempt=yes", "outstanding(rank:(size+1)*2,limit=4)"]
        {
            round_trip(text);
        }
    }

    #[test]
    fn errors_say_where() {
        let at = |text: &str| match text.parse::<Spec>() {
            Err(SpecError::Syntax { at, .. }) => at,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(at(""), 0);
        assert_eq!(at("alpha:"), 6);
        assert_eq!(at("in_order(alpha:10"), 17);
        assert_eq!(at("fifo)"), 4);
        assert_eq!(at("alpha:10,=3"), 9);
        assert_eq!(at("in_order(a-b:c(x,y))"), 12);
        assert_eq!(at(&format!("{}x", "a(".repeat(20))), 18);
        assert_eq!(at(&format!("{}x", "a(b=".repeat(20))), 34);
        assert_eq!(at(&"a".repeat(MAX_LENGTH + 1)), MAX_LENGTH);
    }
}
