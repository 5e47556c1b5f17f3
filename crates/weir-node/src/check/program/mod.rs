//! Programs: what processes do, as text.
//!
//! | part | file |
//! |---|---|
//! | words and their places | `lexer` |
//! | statements | `parse` |
//! | names, spans, what is set for `$key` | `resolve` |
//!
//! One statement a line, or several with `;` between them; `#` begins a comment. O(length of the text) for each
//! program or template, O(steps) for each process.

mod lexer;
pub(crate) mod parse;
pub(crate) mod resolve;

pub(crate) use lexer::MARKS;
pub(crate) use parse::{Fault, Parsed, Place, parse};
pub(crate) use resolve::Scope;

#[cfg(test)]
mod tests;
