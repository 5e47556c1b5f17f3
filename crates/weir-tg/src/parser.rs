//! Scripts from words: recursive descent, one function a clause of the grammar.
//!
//! ```text
//! script      := "on" seconds protocol ends quality* action*
//! ends        := address | address "server" | address address
//! quality     := ("average" | "peak") ("bandwidth" | "delay" | "loss") number | "rcvwin" int | "sndwin" int
//!              | "ttl" int | "tos" int | "mtu" int | "interval" number | "interactive"
//! action      := [ "at" time ] ( "setup" | "wait" [ time ] | "log" text | traffic )
//! traffic     := "arrival" dist "length" dist [ "responselength" dist [ "patience" time ] ] modifier*
//! modifier    := "data" number | "packet" number | "time" time | "seed" int | "reset"
//! dist        := number | "constant" number | "uniform" [ number ] number | "exponential" number [ number number ]
//!              | "markov2" number dist number dist
//! ```
//!
//! | | |
//! |-|-|
//! | Source | the grammar of TG 2.0 (2002) |
//! | Keywords | a beginning suffices where only one keyword that can stand there has it: `arr`, `l`; lower case |
//! | Work | O(words) |
//! | Departs from the source | a number before the second state of a `markov2` belongs to that state where it can |

mod traffic;

use weir_core::units::Nanos;

use crate::error::ScriptError;
use crate::lexer::{self, Include, Token, Words};
use crate::number;
use crate::schedule;
use crate::script::{Action, Association, Deed, Ends, Extent, Place, Protocol, Quality, Script, Service};

/// Reads and checks a script.
///
/// `name` is what errors call it. `include` gives the text of a file that it includes, by the name written
/// there, or says why there is none.
///
/// # Errors
/// The first thing that is not of the language, or has no meaning.
pub fn parse(text: &str, name: &str, include: &mut Include<'_>) -> Result<Script, ScriptError> {
    let words = lexer::split(text, name, include)?;
    let mut parser = Parser { words: &words, at: 0 };
    let mut script = parser.script()?;
    script.sources = words.names;
    schedule::bursts(&script)?;
    Ok(script)
}

/// What an action begins with.
const ACTIONS: [&str; 5] = ["at", "setup", "wait", "log", "arrival"];
const DEEDS: [&str; 4] = ["setup", "wait", "log", "arrival"];
const QUALITIES: [&str; 9] =
    ["average", "peak", "rcvwin", "sndwin", "ttl", "tos", "mtu", "interval", "interactive"];
const MODIFIERS: [&str; 5] = ["data", "packet", "time", "seed", "reset"];

struct Parser<'a> {
    words: &'a Words,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<Token> {
        self.words.tokens.get(self.at).copied()
    }

    /// The next word, if it is one and not a text in quotes.
    fn word(&self) -> Option<&'a str> {
        self.peek().filter(|token| !token.quoted).map(|token| self.words.text(token))
    }

    fn place(&self) -> Place {
        self.peek().map_or(self.words.end, |token| token.place)
    }

    fn refuse(&self, reason: String, remedy: &str) -> ScriptError {
        let found = self.peek().map(|token| self.words.text(token));
        self.words.refuse(self.place(), found, reason, remedy)
    }

    /// What stands here cannot stand here.
    fn unexpected(&self, expected: &str, remedy: &str) -> ScriptError {
        let found = match self.peek() {
            None => "the script ends here".to_owned(),
            Some(token) if token.quoted => {
                format!("found \"{}\"", crate::error::shorten(self.words.text(token)))
            }
            Some(token) => format!("found `{}`", crate::error::shorten(self.words.text(token))),
        };
        self.refuse(format!("{found}, expected {expected}"), remedy)
    }

    /// The keyword of `options` that stands here, if one does.
    fn keyword(&self, options: &[&'static str]) -> Result<Option<&'static str>, ScriptError> {
        let Some(word) = self.word() else { return Ok(None) };
        if let Some(exact) = options.iter().find(|option| **option == word) {
            return Ok(Some(exact));
        }
        let meant: Vec<_> = options.iter().filter(|option| option.starts_with(word)).copied().collect();
        match meant[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => {
                let reason = format!("`{word}` can mean {}", list(&meant));
                Err(self.refuse(reason, "write the keyword in full"))
            }
        }
    }

    /// Takes one of these keywords.
    fn expect(&mut self, options: &[&'static str], remedy: &str) -> Result<&'static str, ScriptError> {
        let found = self.keyword(options)?.ok_or_else(|| self.unexpected(&list(options), remedy))?;
        self.at += 1;
        Ok(found)
    }

    /// Takes a word that `read` understands; it says what is wrong with another.
    fn value<T>(
        &mut self,
        expected: &str,
        remedy: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, ScriptError> {
        let word = self.word().ok_or_else(|| self.unexpected(expected, remedy))?;
        if !number::begins(word) {
            return Err(self.unexpected(expected, remedy));
        }
        let value = read(word).map_err(|reason| self.refuse(reason, remedy))?;
        self.at += 1;
        Ok(value)
    }

    fn number(&mut self) -> Result<f64, ScriptError> {
        self.value("a number", "write a number such as 0.5, 10, 1e3 or 0x10", number::read)
    }

    fn whole(&mut self, least: u64, most: u64) -> Result<u64, ScriptError> {
        self.value("a whole number", "write a whole number within these bounds", |word| {
            number::whole(word, least, most)
        })
    }

    /// A whole number that fits into what it is for.
    fn small<T: TryFrom<u64>>(&mut self, least: u64, most: u64) -> Result<T, ScriptError> {
        let place = self.at;
        let value = self.whole(least, most)?;
        T::try_from(value).map_err(|_| {
            self.at = place;
            self.refuse(format!("{value} is above {most}"), "write a smaller number")
        })
    }

    fn time(&mut self) -> Result<Nanos, ScriptError> {
        self.value("a time", "write seconds such as 1.5, or 1:30 or 1:00:00", number::time)
    }

    /// Whether a number, a time or an address stands here.
    fn numeric(&self) -> bool {
        self.word().is_some_and(number::begins)
    }

    fn script(&mut self) -> Result<Script, ScriptError> {
        self.expect(&["on"], "begin the script with `on 15 udp 10.0.2.1.4000`")?;
        let on = self.value("a number of seconds", "write whole seconds such as `on 15`", |word| {
            number::whole(word, 1, u64::from(u32::MAX))
        })?;
        let association = self.association()?;
        let mut actions = Vec::new();
        while self.peek().is_some() {
            actions.push(self.action()?);
        }
        let on = u32::try_from(on).unwrap_or(u32::MAX);
        Ok(Script { on, association, actions, sources: Vec::new() })
    }

    fn association(&mut self) -> Result<Association, ScriptError> {
        let protocol = match self.expect(&["tcp", "udp", "test"], "write `udp 10.0.2.1.4000`")? {
            "tcp" => Protocol::Tcp,
            "udp" => Protocol::Udp,
            _ => Protocol::Test,
        };
        let first = self.address(protocol)?;
        let ends = if self.numeric() {
            Ends::Between { local: first, remote: self.address(protocol)? }
        } else if self.next_is("server", &[&QUALITIES[..], &ACTIONS[..]])? {
            self.at += 1;
            Ends::Server(first)
        } else {
            Ends::To(first)
        };
        let mut qualities = Vec::new();
        while let Some(keyword) = self.among(&QUALITIES, &ACTIONS)? {
            self.at += 1;
            qualities.push(self.quality(keyword)?);
        }
        Ok(Association { protocol, ends, qualities })
    }

    /// Whether `wanted` stands here, where the `others` can stand as well.
    fn next_is(&self, wanted: &'static str, others: &[&[&'static str]]) -> Result<bool, ScriptError> {
        let all: Vec<_> = others.iter().flat_map(|each| each.iter().copied()).chain([wanted]).collect();
        Ok(self.keyword(&all)? == Some(wanted))
    }

    /// The keyword of `wanted` that stands here, where the `others` can stand as well.
    fn among(
        &self,
        wanted: &[&'static str],
        others: &[&'static str],
    ) -> Result<Option<&'static str>, ScriptError> {
        let all: Vec<_> = wanted.iter().chain(others).copied().collect();
        Ok(self.keyword(&all)?.filter(|found| wanted.contains(found)))
    }

    fn address(&mut self, protocol: Protocol) -> Result<std::net::SocketAddrV4, ScriptError> {
        let remedy = "write four numbers of at most 255 and a port, such as 10.0.2.1.4000";
        let place = self.at;
        let address = self.value("an address", remedy, number::address)?;
        if protocol == Protocol::Tcp && address.ip().is_multicast() {
            self.at = place;
            return Err(self.refuse("tcp has no multicast".to_owned(), "use `udp`"));
        }
        Ok(address)
    }

    fn quality(&mut self, keyword: &str) -> Result<Quality, ScriptError> {
        Ok(match keyword {
            "rcvwin" => Quality::ReceiveWindow(self.small(1, u64::from(u32::MAX))?),
            "sndwin" => Quality::SendWindow(self.small(1, u64::from(u32::MAX))?),
            "ttl" => Quality::TimeToLive(self.small(0, 255)?),
            "tos" => Quality::TypeOfService(self.small(0, 255)?),
            "mtu" => Quality::Mtu(self.small(1, u64::from(u32::MAX))?),
            "interval" => Quality::Interval(self.number()?),
            "interactive" => Quality::Interactive,
            extent => {
                let extent = if extent == "peak" { Extent::Peak } else { Extent::Average };
                let remedy = "write `average bandwidth 64000`";
                let service = match self.expect(&["bandwidth", "delay", "loss"], remedy)? {
                    "bandwidth" => Service::Bandwidth,
                    "delay" => Service::Delay,
                    _ => Service::Loss,
                };
                Quality::Service(extent, service, self.number()?)
            }
        })
    }

    fn action(&mut self) -> Result<Action, ScriptError> {
        let place = self.place();
        let remedy = "write an action such as `at 10 arrival exponential 0.01 length 750 time 60`";
        if self.word() == Some("on") {
            let reason = "found a second `on`, a script has one association".to_owned();
            return Err(self.refuse(reason, "write each association into a file of its own"));
        }
        let at = self.keyword(&ACTIONS)? == Some("at");
        let at = if at {
            self.at += 1;
            Some(self.time()?)
        } else {
            None
        };
        let options = if at.is_some() { &DEEDS[..] } else { &ACTIONS[..] };
        let deed = match self.expect(options, remedy)? {
            "setup" => Deed::Setup,
            "wait" if self.numeric() => Deed::Wait(Some(self.time()?)),
            "wait" => Deed::Wait(None),
            "log" => Deed::Log(self.text()?),
            _ => Deed::Send(Box::new(self.sending()?)),
        };
        Ok(Action { at, deed, place })
    }

    fn text(&mut self) -> Result<String, ScriptError> {
        let token = self.peek().filter(|token| token.quoted);
        let token = token.ok_or_else(|| self.unexpected("a text in quotes", "write `log \"run.%y%m%d\"`"))?;
        self.at += 1;
        Ok(self.words.text(token).to_owned())
    }
}

fn list(options: &[&str]) -> String {
    let quoted: Vec<_> = options.iter().map(|each| format!("`{each}`")).collect();
    match &quoted[..] {
        [init @ .., last] if !init.is_empty() => format!("{} or {last}", init.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests;
