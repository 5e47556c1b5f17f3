//! The words of a program, with their places.

use core::ops::Range;

/// Characters that are words by themselves; no name holds one of them.
pub(crate) const MARKS: [char; 6] = [',', ';', '{', '}', '(', ')'];

/// A word, a mark or the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'t> {
    /// As it is written; empty at the end of the text.
    pub(crate) text: &'t str,
    /// Its first byte in the text.
    pub(crate) at: usize,
}

impl Word<'_> {
    /// Its bytes in the text.
    pub(crate) fn span(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// Whether a name or a quantity stands here.
    pub(crate) fn is_plain(&self) -> bool {
        !self.is_end() && !self.text.starts_with(MARKS)
    }

    /// Whether a statement may end before this.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self.text, "" | "\n" | ";")
    }
}

/// Reads words, one after the other.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The next word; it stays the next.
    pub(crate) fn peek(&self) -> Word<'t> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut blank = 0;
        let mut in_comment = false;
        for c in rest.chars() {
            in_comment = (in_comment || c == '#') && c != '\n';
            if !in_comment && (c == '\n' || !c.is_whitespace()) {
                break;
            }
            blank += c.len_utf8();
        }
        let rest = rest.get(blank..).unwrap_or_default();
        let ends = |c: char| c.is_whitespace() || c == '#' || MARKS.contains(&c);
        let is_mark = rest.starts_with(MARKS) || rest.starts_with('\n');
        let length = if is_mark { 1 } else { rest.find(ends).unwrap_or(rest.len()) };
        Word { text: rest.get(..length).unwrap_or_default(), at: self.at + blank }
    }

    /// The next word.
    pub(crate) fn next(&mut self) -> Word<'t> {
        let word = self.peek();
        self.at = word.span().end;
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_marks_and_ends_of_lines() {
        let mut lexer = Lexer::new(" wait a,b; # ü; {\r\n loop{x}\n");
        let mut words = Vec::new();
        loop {
            let word = lexer.next();
            assert_eq!(lexer.text.get(word.span()), Some(word.text));
            if word.text.is_empty() {
                break;
            }
            words.push(word.text);
        }
        assert_eq!(words, ["wait", "a", ",", "b", ";", "\n", "loop", "{", "x", "}", "\n"]);
    }
}
