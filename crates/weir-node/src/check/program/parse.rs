//! From the text of a program to its steps, in which names and quantities are still words.
//!
//! ```text
//! program   = { [ statement ] end }
//! statement = "compute" law | "post" event [ "after" law ] | "wait" ( "any" | event { "," event } )
//!           | "enqueue" queue | "dequeue" queue | "sleep" law | "sleep" "until" "every" span [ "offset" span ]
//!           | "loop" [ times ] "{" program "}" | "exit"
//! law       = span | name | "exponential" "(" span ")" | "uniform" "(" span "," span ")"
//! end       = line break | ";"
//! ```
//!
//! Loops are kept on a list, not on the stack of the processor: no text is too deep for it.

use core::ops::Range;

use super::lexer::{Lexer, Word};
use weir_core::nearest::nearest;

/// The most steps of a program.
pub(crate) const MAX_STEPS: usize = 65_536;
/// The most loops within each other.
pub(crate) const MAX_DEPTH: usize = 16;
/// What a statement begins with.
const STATEMENTS: [&str; 8] = ["compute", "dequeue", "enqueue", "exit", "loop", "post", "sleep", "wait"];

/// Why a text is no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Where.
    pub(crate) place: Place,
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

/// Where something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At these bytes of the program.
    Text(Range<usize>),
    /// In what the process sets for this key.
    Set(String),
}

impl Fault {
    pub(crate) fn at(word: Word<'_>, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place: Place::Text(word.span()), reason: reason.into(), remedy: remedy.into() }
    }
}

/// How long something takes, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LawWords<'t> {
    Plain(Word<'t>),
    Exponential(Word<'t>),
    Uniform(Word<'t>, Word<'t>),
}

/// A step, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step<'t> {
    Compute(LawWords<'t>),
    Post(Word<'t>),
    PostAfter(Word<'t>, LawWords<'t>),
    Wait(Vec<Word<'t>>),
    /// The word `any`.
    WaitAny(Word<'t>),
    Enqueue(Word<'t>),
    Dequeue(Word<'t>),
    Sleep(LawWords<'t>),
    SleepUntil {
        every: Word<'t>,
        offset: Option<Word<'t>>,
    },
    Loop {
        at: Word<'t>,
        times: Option<Word<'t>>,
        after: usize,
    },
    End(usize),
    Exit,
}

/// A program, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parsed<'t> {
    pub(crate) steps: Vec<Step<'t>>,
}

/// Reads the text of a program.
pub(crate) fn parse(text: &str) -> Result<Parsed<'_>, Fault> {
    let mut parser = Parser { lexer: Lexer::new(text), steps: Vec::new(), open: Vec::new() };
    loop {
        let word = parser.lexer.next();
        match word.text {
            "" => break,
            "\n" | ";" => continue,
            "}" => parser.close(word)?,
            _ => parser.statement(word)?,
        }
        if parser.steps.len() > MAX_STEPS {
            let reason = format!("is beyond the {MAX_STEPS} steps that a program may have");
            return Err(Fault::at(word, reason, "repeat statements in loops"));
        }
    }
    if let Some(Step::Loop { at, .. }) = parser.open.last().and_then(|&place| parser.steps.get(place)) {
        return Err(Fault::at(*at, "is never closed", "write `}` where its body ends"));
    }
    Ok(Parsed { steps: parser.steps })
}

/// Reads a law that stands alone.
pub(crate) fn law(text: &str) -> Result<LawWords<'_>, Fault> {
    let mut parser = Parser { lexer: Lexer::new(text), steps: Vec::new(), open: Vec::new() };
    let law = parser.law()?;
    match parser.lexer.next() {
        Word { text: "", .. } => Ok(law),
        word => Err(Fault::at(
            word,
            "is more than one span or law",
            "write one such as `5ms` or `exponential(5ms)`",
        )),
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    steps: Vec<Step<'t>>,
    /// The places of the loops that are not closed.
    open: Vec<usize>,
}

impl<'t> Parser<'t> {
    fn statement(&mut self, word: Word<'t>) -> Result<(), Fault> {
        let step = match word.text {
            "compute" => Step::Compute(self.law()?),
            "post" => self.post()?,
            "wait" => self.wait()?,
            "enqueue" => Step::Enqueue(self.word("a queue")?),
            "dequeue" => Step::Dequeue(self.word("a queue")?),
            "sleep" => self.sleep()?,
            "loop" => return self.open(word),
            "exit" => Step::Exit,
            _ => return Err(unknown(word)),
        };
        self.steps.push(step);
        self.end()
    }

    fn post(&mut self) -> Result<Step<'t>, Fault> {
        let event = self.word("an event")?;
        match self.taken("after") {
            true => Ok(Step::PostAfter(event, self.law()?)),
            false => Ok(Step::Post(event)),
        }
    }

    fn wait(&mut self) -> Result<Step<'t>, Fault> {
        let first = self.word("an event, or `any`,")?;
        if first.text == "any" {
            return Ok(Step::WaitAny(first));
        }
        let mut events = vec![first];
        while self.taken(",") {
            events.push(self.word("an event")?);
        }
        Ok(Step::Wait(events))
    }

    fn sleep(&mut self) -> Result<Step<'t>, Fault> {
        if !self.taken("until") {
            return Ok(Step::Sleep(self.law()?));
        }
        self.mark("every")?;
        let every = self.word("a span of time")?;
        let offset = self.taken("offset").then(|| self.word("a span of time")).transpose()?;
        Ok(Step::SleepUntil { every, offset })
    }

    /// The head of a loop.
    fn open(&mut self, at: Word<'t>) -> Result<(), Fault> {
        let times = (self.lexer.peek().text != "{").then(|| self.word("`{`, or how often,")).transpose()?;
        self.mark("{")?;
        if self.open.len() == MAX_DEPTH {
            let reason = format!("is nested in {MAX_DEPTH} others, and no deeper nesting is allowed");
            return Err(Fault::at(at, reason, "nest loops less deeply"));
        }
        self.open.push(self.steps.len());
        self.steps.push(Step::Loop { at, times, after: 0 });
        Ok(())
    }

    /// The end of a loop.
    fn close(&mut self, word: Word<'t>) -> Result<(), Fault> {
        let Some(begin) = self.open.pop() else {
            return Err(Fault::at(word, "closes no loop", "remove it, or write `loop {` before"));
        };
        self.steps.push(Step::End(begin));
        let end = self.steps.len();
        if let Some(Step::Loop { after, .. }) = self.steps.get_mut(begin) {
            *after = end;
        }
        self.end()
    }

    fn law(&mut self) -> Result<LawWords<'t>, Fault> {
        let word = self.word("a span of time")?;
        let law = match word.text {
            "exponential" => {
                self.mark("(")?;
                LawWords::Exponential(self.word("a span of time")?)
            }
            "uniform" => {
                self.mark("(")?;
                let low = self.word("a span of time")?;
                self.mark(",")?;
                LawWords::Uniform(low, self.word("a span of time")?)
            }
            _ if self.lexer.peek().text == "(" => return Err(unknown_law(word)),
            _ => return Ok(LawWords::Plain(word)),
        };
        self.mark(")")?;
        Ok(law)
    }

    /// Takes the next word if it is this one.
    fn taken(&mut self, text: &str) -> bool {
        let is_this = self.lexer.peek().text == text;
        if is_this {
            self.lexer.next();
        }
        is_this
    }

    /// The next word, which is this one.
    fn mark(&mut self, text: &str) -> Result<(), Fault> {
        if self.taken(text) { Ok(()) } else { Err(misplaced(self.lexer.peek(), &format!("`{text}`"))) }
    }

    /// The next word, which is a name or a quantity.
    fn word(&mut self, wanted: &str) -> Result<Word<'t>, Fault> {
        let word = self.lexer.peek();
        if word.is_plain() { Ok(self.lexer.next()) } else { Err(misplaced(word, wanted)) }
    }

    /// A statement is over.
    fn end(&self) -> Result<(), Fault> {
        let word = self.lexer.peek();
        if word.is_end() || word.text == "}" {
            return Ok(());
        }
        Err(Fault::at(word, "follows a complete statement", "begin a new line, or write `;`"))
    }
}

fn misplaced(word: Word<'_>, wanted: &str) -> Fault {
    let reason = match word.is_end() {
        true => format!("ends where {wanted} is expected"),
        false => format!("is found where {wanted} is expected"),
    };
    Fault::at(word, reason, "complete the statement, such as `compute 5ms` or `wait done`")
}

fn unknown_law(word: Word<'_>) -> Fault {
    let near = nearest(word.text, ["exponential", "uniform"]);
    let hint = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let remedy = format!(
        "{hint}write a span such as `5ms`, `exponential(5ms)` or `uniform(1ms, 9ms)`, or the name of a law of the table `law`"
    );
    Fault::at(word, "is not a law", remedy)
}

fn unknown(word: Word<'_>) -> Fault {
    let hint = nearest(word.text, STATEMENTS);
    let hint = hint.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let remedy = format!("{hint}statements begin with `{}`", STATEMENTS.join("`, `"));
    Fault::at(word, "is not a statement", remedy)
}
