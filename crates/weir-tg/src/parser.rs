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

use weir_core::units::{Bytes, Nanos};

use crate::Distribution;
use crate::distribution::{DistributionError, MAX_NESTING};
use crate::error::ScriptError;
use crate::lexer::{self, Include, Token, Words};
use crate::number;
use crate::schedule::{self, MAX_LENGTH};
use crate::script::{
    Action, Association, Deed, Ends, Extent, Place, Protocol, Quality, Response, Script, Sending, Service,
};

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
const DISTRIBUTIONS: [&str; 4] = ["constant", "uniform", "exponential", "markov2"];

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

    fn sending(&mut self) -> Result<Sending, ScriptError> {
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

fn list(options: &[&str]) -> String {
    let quoted: Vec<_> = options.iter().map(|each| format!("`{each}`")).collect();
    match &quoted[..] {
        [init @ .., last] if !init.is_empty() => format!("{} or {last}", init.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::read;

    /// The part of an error before its remedy, which there is.
    fn refusal(text: &str) -> String {
        let error = read(text).expect_err(text);
        assert!(!error.remedy.is_empty());
        error.to_string().strip_suffix(&format!(": {}", error.remedy)).unwrap().to_owned()
    }

    #[test]
    fn the_whole_language_is_read() {
        let script = read(
            "on 0x10 tcp 10.0.0.1.5 10.0.0.2.65535 average bandwidth 64e3 peak loss 0.5 rcvwin 010 interactive # first\n\
             at 1:30.5 setup log \"run %y\" wait 2\n\
             at 1:00:00 arrival uniform 3 1 length exponential 500 40 1500 responselength uniform 9\n\
             patience 1:08 data 1e6 packet 0x64 time 60 seed 7 reset",
        )
        .unwrap();
        let printed = "on 16 tcp 10.0.0.1.5 10.0.0.2.65535 average bandwidth 64000 peak loss 0.5 rcvwin 8 interactive\n\
             at 90.5 setup\nlog \"run %y\"\nwait 2\n\
             at 3600 arrival uniform 1 3 length exponential 500 40 1500 responselength uniform 0 9 \
             patience 68 data 1000000 packet 100 time 60 seed 7 reset\n";
        assert_eq!(script.to_string(), printed);
    }

    #[test]
    fn keywords_may_be_shortened_where_one_is_meant() {
        let script = read("on 1 u 1.2.3.4.5 ser w 3").unwrap();
        assert_eq!(script.to_string(), "on 1 udp 1.2.3.4.5 server\nwait 3\n");
        let script = read("on 1 u 1.2.3.4.5 arr e 1 l u 9 p 3 d 5 at 9 l \"x\"").unwrap();
        let printed = "arrival exponential 1 length uniform 0 9 data 5 packet 3\nat 9 log \"x\"\n";
        assert!(script.to_string().ends_with(printed), "{script}");
        assert_eq!(refusal("on 1 t 1.2.3.4.5"), "test.tg:1:6: `t` can mean `tcp` or `test`");
        assert_eq!(
            refusal("on 1 udp 1.2.3.4.5 a 1"),
            "test.tg:1:20: `a` can mean `average`, `at` or `arrival`"
        );
    }

    #[test]
    fn the_number_of_a_second_state_is_not_an_argument_of_the_first() {
        for (written, printed) in [
            ("markov2 10 exponential 1 20 constant 3", "markov2 10 exponential 1 20 constant 3"),
            ("markov2 10 exponential 1 20 3", "markov2 10 exponential 1 20 constant 3"),
            ("markov2 10 exponential 2 1 3 20 3", "markov2 10 exponential 2 1 3 20 constant 3"),
            ("markov2 10 uniform 5 20 u 3", "markov2 10 uniform 0 5 20 uniform 0 3"),
            ("markov2 10 uniform 5 6 20 3", "markov2 10 uniform 5 6 20 constant 3"),
            ("markov2 10 uniform 5 20 3", "markov2 10 uniform 0 5 20 constant 3"),
            ("markov2 10 5 20 exponential 1 2 3", "markov2 10 constant 5 20 exponential 1 2 3"),
            (
                "markov2 1 markov2 2 3 4 exponential 5 6 uniform 7",
                "markov2 1 markov2 2 constant 3 4 exponential 5 6 uniform 0 7",
            ),
        ] {
            let script = read(&format!("on 1 udp 1.2.3.4.5 arrival {written} length 1")).unwrap();
            assert!(script.to_string().contains(&format!("arrival {printed} length")), "{script}");
        }
    }

    #[test]
    fn what_is_included_stands_in_place() {
        let script = read("include \"half\" 1.2.3.4.5 wait").unwrap();
        assert_eq!(script.to_string(), "on 7 udp 1.2.3.4.5\nwait\n");
        assert_eq!(script.sources, ["test.tg", "half"]);
        assert_eq!(refusal("inc \"wrong\""), "wrong:2:3: found `upd`, expected `tcp`, `udp` or `test`");
    }

    #[test]
    fn errors_of_included_files_have_their_place() {
        for (text, expected) in [
            ("include \"loop\"", "back:2:10: `loop` includes itself"),
            ("on 1\n  include \"none\"", "test.tg:2:11: `none` cannot be read: no such file"),
            ("include half", "test.tg:1:1: `include` names no file in quotes"),
            ("on 1 include", "test.tg:1:6: `include` names no file in quotes"),
            ("include \"deep\"", "deep6:1:9: files include one another more than 8 deep"),
        ] {
            assert_eq!(refusal(text), expected);
        }
        let many = "include \"empty\" ".repeat(64);
        assert_eq!(refusal(&many), "test.tg:1:1017: the script is made of more than 64 files");
        let large = "include \"large\" ".repeat(3);
        assert!(
            refusal(&large).starts_with("test.tg:1:25: the script has 1048624 bytes with what it includes")
        );
        assert!(refusal(&" ".repeat(1 << 21)).starts_with("test.tg:1:1: the script has 2097152 bytes"));
    }

    /// Every kind of error of one file, after `on 1 udp 1.2.3.4.5 `.
    #[test]
    fn errors_name_the_place_what_was_found_and_what_was_expected() {
        for (text, expected) in [
            ("arrive 1", "found `arrive`, expected `at`, `setup`, `wait`, `log` or `arrival`"),
            ("at", "the script ends here, expected a time"),
            ("at soon", "found `soon`, expected a time"),
            ("at 1 \"setup\"", "found \"setup\", expected `setup`, `wait`, `log` or `arrival`"),
            ("at 1:2:3:4 wait", "`1:2:3:4` is not a time"),
            ("at 1:-2 wait", "`1:-2` is not a time"),
            ("at 1e9 wait", "the time is 1e9, must be at most 1000000 s"),
            ("log name", "found `name`, expected a text in quotes"),
            ("log \"name", "the text in quotes has no end on its line"),
            ("arrival 1", "the script ends here, expected `length`"),
            ("arrival 1 lenght 1", "found `lenght`, expected `length`"),
            (
                "arrival poisson 1",
                "found `poisson`, expected `constant`, `uniform`, `exponential` or `markov2`",
            ),
            ("arrival -1 length 1", "the number is -1, must be at least 0"),
            ("arrival 1e400 length 1", "`1e400` is too large for a number"),
            ("arrival 0x length 1", "`0x` is not a number"),
            ("arrival 08 length 1", "`08` is not a number"),
            ("arrival 1.2.3 length 1", "`1.2.3` is not a number"),
            (
                "arrival nan length 1",
                "found `nan`, expected `constant`, `uniform`, `exponential` or `markov2`",
            ),
            ("arrival exponential 1 2 length 1", "exponential has a mean, or a mean and two bounds"),
            ("arrival exponential 1 3 2 length 1", "the smallest value is 3, must be at most the largest, 2"),
            (
                "arrival exponential 1 50 60 length 1",
                "the bounds 50 and 60 accept fewer than 1 draw in 10000",
            ),
            (
                "arrival markov2 0.5 1 1 1 length 1",
                "the mean number of draws in a state is 0.5, must be at least 1",
            ),
            ("arrival 1 length 8193", "a length can be 8193 bytes, must be at most 8192"),
            ("arrival 1 length uniform 9000 10", "a length can be 9000 bytes, must be at most 8192"),
            ("arrival 1 length 1 packet 0", "the number is 0, must be whole and from 1 to 9007199254740992"),
            (
                "arrival 1 length 1 packet 1.5",
                "the number is 1.5, must be whole and from 1 to 9007199254740992",
            ),
            ("arrival 1 length 1 time 1 time 2", "`time` is given twice"),
            ("arrival 1 length 1 s 2", "`s` can mean `seed` or `setup`"),
            (
                "arrival 0 length 1",
                "gaps of 0 s in the mean would send inf packets at once, must be at most 10000000",
            ),
            (
                "arrival 0 length 0 data 5",
                "gaps of 0 s in the mean would send inf packets at once, must be at most 10000000",
            ),
            ("ttl 256", "the number is 256, must be whole and from 0 to 255"),
            ("peak 7", "found `7`, expected `bandwidth`, `delay` or `loss`"),
            ("on 2", "found a second `on`, a script has one association"),
            ("setup setup", "found a second `setup`, a script has one"),
            ("wait 1 setup", "found `setup` after an action that has set the association up"),
            ("server arrival 1 length 1", "found `arrival` in a script with `server`, which only receives"),
            ("at 5 wait 2 at 6 wait", "this action begins at 6s, before the former ends at 7s"),
            ("wait wait", "this action never begins, as the former has no end"),
            ("arrival 1 length 1 wait", "this action never begins, as the former has no end"),
        ] {
            let found = refusal(&format!("on 1 udp 1.2.3.4.5 {text}"));
            let reason = found.splitn(4, ':').nth(3).unwrap().trim_start();
            assert_eq!(reason, expected, "{text}");
            assert!(found.starts_with("test.tg:1:"), "{found}");
        }
    }

    #[test]
    fn errors_of_the_first_clause() {
        for (text, expected) in [
            ("", "test.tg:1:1: the script ends here, expected `on`"),
            ("# nothing\n", "test.tg:2:1: the script ends here, expected `on`"),
            ("on 0 udp", "test.tg:1:4: the number is 0, must be whole and from 1 to 4294967295"),
            ("on 1.5 udp", "test.tg:1:4: the number is 1.5, must be whole and from 1 to 4294967295"),
            ("on 1\n sctp", "test.tg:2:2: found `sctp`, expected `tcp`, `udp` or `test`"),
            ("on 1 udp 1.2.3.4", "test.tg:1:10: `1.2.3.4` is not an address"),
            ("on 1 udp 1.2.3.4.5.6", "test.tg:1:10: `1.2.3.4.5.6` is not an address"),
            ("on 1 udp 1.2.3.256.5", "test.tg:1:10: `1.2.3.256.5` is not an address"),
            ("on 1 udp 1.2.3.4.0", "test.tg:1:10: the port of `1.2.3.4.0` is 0, must be from 1 to 65535"),
            ("on 1 tcp 224.0.0.1.5", "test.tg:1:10: tcp has no multicast"),
            ("on 1 udp host.5", "test.tg:1:10: found `host.5`, expected an address"),
        ] {
            assert_eq!(refusal(text), expected);
        }
    }

    #[test]
    fn columns_count_characters() {
        let error = read("on 1 udp 1.2.3.4.5 log \"äöü\" x\u{1}y").unwrap_err();
        assert_eq!((error.line, error.column, error.found.as_deref()), (1, 30, Some("x?y")));
    }

    #[test]
    fn a_deep_nest_is_refused() {
        let text = format!("on 1 udp 1.2.3.4.5 arrival {} 1", "markov2 1 ".repeat(100_000));
        assert!(refusal(&text).ends_with("markov2 is nested deeper than 8"));
    }
}
