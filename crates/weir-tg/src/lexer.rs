//! Words of a script, with their places; what is included stands in place of its `include`.
//!
//! | | |
//! |-|-|
//! | Words | runs of characters other than space, `"` and `#`; texts stand between `"` on one line |
//! | Comments | from `#` to the end of the line |
//! | Work | O(characters); 24 bytes a word |
//! | Bounds | 1 MiB of text in all, 64 files, 8 of them one in another |
//! | Departs from the source | the lexer of TG 2.0 was not available: comments and quoting are a choice; `include` may stand before any word, and be shortened to `inc` |

use crate::error::{self, ScriptError, shorten};
use crate::script::Place;

/// How much text a script has, with what it includes, in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// How many files it is made of.
pub const MAX_FILES: usize = 64;
/// How deep files include one another.
pub const MAX_DEPTH: usize = 8;

/// How a file is read that a script includes: its name, as written, to its text, or to the reason why not.
pub type Include<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// A word, or a text in quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) place: Place,
    pub(crate) quoted: bool,
    start: u32,
    end: u32,
}

/// The words of a script.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) tokens: Vec<Token>,
    pub(crate) names: Vec<String>,
    /// The place after the last character of the script itself.
    pub(crate) end: Place,
    texts: Vec<String>,
    bytes: usize,
}

/// Splits a script, and what it includes, into words.
pub(crate) fn split(text: &str, name: &str, include: &mut Include<'_>) -> Result<Words, ScriptError> {
    let mut words = Words { names: vec![name.to_owned()], ..Words::default() };
    words.add(text.to_owned(), name, Place::default(), None)?;
    words.read(0, &mut vec![0], include)?;
    Ok(words)
}

impl Words {
    /// The text of a word.
    pub(crate) fn text(&self, token: Token) -> &str {
        &self.texts[usize::from(token.place.source)][token.start as usize..token.end as usize]
    }

    /// An error at a place.
    pub(crate) fn refuse(
        &self,
        place: Place,
        found: Option<&str>,
        reason: String,
        remedy: &str,
    ) -> ScriptError {
        error::refuse(&self.names[usize::from(place.source)], place, found, reason, remedy)
    }

    /// Takes the text of a file, if the bounds permit; `place` and `found` are those of its `include`.
    fn add(
        &mut self,
        text: String,
        name: &str,
        place: Place,
        found: Option<&str>,
    ) -> Result<(), ScriptError> {
        self.bytes += text.len();
        if self.bytes > MAX_TEXT {
            let (bytes, most) = (self.bytes, MAX_TEXT);
            let reason =
                format!("the script has {bytes} bytes with what it includes, must have at most {most}");
            return Err(self.refuse(place, found, reason, "split it into several scripts"));
        }
        if self.texts.len() == MAX_FILES {
            let reason = format!("the script is made of more than {MAX_FILES} files");
            return Err(self.refuse(place, found, reason, "include fewer files"));
        }
        if found.is_some() {
            self.names.push(name.to_owned());
        }
        self.texts.push(text);
        Ok(())
    }

    fn read(
        &mut self,
        source: u16,
        open: &mut Vec<u16>,
        include: &mut Include<'_>,
    ) -> Result<(), ScriptError> {
        let text = std::mem::take(&mut self.texts[usize::from(source)]);
        // Its words are not looked up before it is put back, but for that of an `include`, which is at hand.
        let outcome = self.read_text(&text, source, open, include);
        self.texts[usize::from(source)] = text;
        outcome
    }

    fn read_text(
        &mut self,
        text: &str,
        source: u16,
        open: &mut Vec<u16>,
        include: &mut Include<'_>,
    ) -> Result<(), ScriptError> {
        let mut scanner = Scanner { text, at: 0, line: 1, column: 1, source };
        let mut including = None;
        while let Some(token) = scanner.next(self)? {
            let written = &text[token.start as usize..token.end as usize];
            match including.take() {
                Some(_) if token.quoted => self.include(written, token.place, open, include)?,
                Some(place) => return Err(self.nameless(place, Some(written))),
                None if !token.quoted && is_include(written) => including = Some(token.place),
                None => self.tokens.push(token),
            }
        }
        if source == 0 {
            self.end = scanner.place();
        }
        including.map_or(Ok(()), |place| Err(self.nameless(place, None)))
    }

    fn nameless(&self, place: Place, found: Option<&str>) -> ScriptError {
        let reason = "`include` names no file in quotes".to_owned();
        self.refuse(place, found, reason, "write `include \"common.tg\"`")
    }

    fn include(
        &mut self,
        name: &str,
        place: Place,
        open: &mut Vec<u16>,
        include: &mut Include<'_>,
    ) -> Result<(), ScriptError> {
        if open.iter().any(|each| self.names[usize::from(*each)] == name) {
            let reason = format!("`{}` includes itself", shorten(name));
            return Err(self.refuse(place, Some(name), reason, "remove this `include`"));
        }
        if open.len() == MAX_DEPTH {
            let reason = format!("files include one another more than {MAX_DEPTH} deep");
            return Err(self.refuse(place, Some(name), reason, "put what they hold into fewer files"));
        }
        let text = include(name).map_err(|reason| {
            let reason = format!("`{}` cannot be read: {reason}", shorten(name));
            self.refuse(place, Some(name), reason, "check the name and that the file can be read")
        })?;
        self.add(text, name, place, Some(name))?;
        let source = u16::try_from(self.texts.len() - 1).unwrap_or(u16::MAX);
        open.push(source);
        self.read(source, open, include)?;
        open.pop();
        Ok(())
    }
}

fn is_include(word: &str) -> bool {
    word.len() >= 3 && "include".starts_with(word)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    column: u32,
    source: u16,
}

impl Scanner<'_> {
    fn place(&self) -> Place {
        Place { source: self.source, line: self.line, column: self.column }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn step(&mut self, character: char) {
        self.at += character.len_utf8();
        if character == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
    }

    fn skip(&mut self, mut unwanted: impl FnMut(char) -> bool) {
        while let Some(character) = self.peek().filter(|each| unwanted(*each)) {
            self.step(character);
        }
    }

    fn next(&mut self, words: &Words) -> Result<Option<Token>, ScriptError> {
        loop {
            self.skip(|each| each.is_whitespace() || each == '\u{feff}');
            match self.peek() {
                None => return Ok(None),
                Some('#') => self.skip(|each| each != '\n'),
                Some('"') => return self.quoted(words).map(Some),
                Some(_) => return Ok(Some(self.word())),
            }
        }
    }

    fn word(&mut self) -> Token {
        let (place, start) = (self.place(), self.at);
        self.skip(|each| !each.is_whitespace() && each != '"' && each != '#');
        Token { place, quoted: false, start: offset(start), end: offset(self.at) }
    }

    fn quoted(&mut self, words: &Words) -> Result<Token, ScriptError> {
        let place = self.place();
        self.step('"');
        let start = self.at;
        self.skip(|each| each != '"' && each != '\n');
        let end = self.at;
        if self.peek() != Some('"') {
            let reason = "the text in quotes has no end on its line".to_owned();
            return Err(words.refuse(place, Some(&self.text[start..end]), reason, "add a closing \""));
        }
        self.step('"');
        Ok(Token { place, quoted: true, start: offset(start), end: offset(end) })
    }
}

/// A place in a text of at most [`MAX_TEXT`] bytes.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
