//! From the text of an options file to its settings.

use weir_document::shorten;

use crate::PlanError;
use crate::target::Prefix;

/// The longest file that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// The most pairs and the most lanes of one option.
const MAX_ITEMS: usize = 1024;
/// The most digits of a number.
const MAX_DIGITS: usize = 9;

/// An options file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether the file turns QoS on, and in which line it says so.
    pub qos: Option<(bool, usize)>,
    /// The options of arbitration, in the order of the file.
    pub settings: Vec<Setting>,
    /// All other options, which mean nothing here.
    pub others: Vec<Other>,
}

/// One option of arbitration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// For which ports.
    pub prefix: Prefix,
    /// What is set.
    pub kind: Kind,
    /// To what.
    pub value: Value,
    /// The line, counted from 1.
    pub line: usize,
    /// The character at which the value begins, counted from 1.
    pub column: usize,
}

impl Setting {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}_{}", self.prefix.name(), self.kind.suffix())
    }
}

/// What an option of arbitration sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The data lanes to put in operation.
    MaxLanes,
    /// How much the high table sends before the low one has a turn.
    HighLimit,
    /// The table of high priority.
    High,
    /// The table of low priority.
    Low,
    /// The lane of each service level.
    ServiceLevels,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::MaxLanes, Self::HighLimit, Self::High, Self::Low, Self::ServiceLevels];

    /// With which the name of the option ends.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::MaxLanes => "max_vls",
            Self::HighLimit => "high_limit",
            Self::High => "vlarb_high",
            Self::Low => "vlarb_low",
            Self::ServiceLevels => "sl2vl",
        }
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// None: `(null)`, a negative number, or no lanes.
    Unset,
    /// A number.
    Number(u32),
    /// An arbitration table.
    Table(Vec<Pair>),
    /// The lanes of service levels 0, 1, ...
    Lanes(Vec<Lane>),
}

/// An entry of an arbitration table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The lane as written.
    pub lane: u32,
    /// The weight as written.
    pub weight: u32,
    /// Where it begins in its line.
    pub column: usize,
}

/// The lane of a service level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The lane as written.
    pub lane: u32,
    /// Where it begins in its line.
    pub column: usize,
}

/// An option that means nothing here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its name.
    pub name: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// Reads an options file; errors speak of `name`.
///
/// # Errors
/// A value of an option of arbitration is not of its form, or the file is larger than is read.
pub fn parse(text: &str, name: &str) -> Result<Options, PlanError> {
    if text.len() > MAX_BYTES {
        let reason = format!("has {} bytes, at most {MAX_BYTES} are read", text.len());
        return Err(PlanError::of_file(name, reason, "name an options file of OpenSM"));
    }
    let mut options = Options::default();
    for (at, line) in text.lines().enumerate() {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let (option, _) = content.split_once(char::is_whitespace).unwrap_or((content, ""));
        let line = Line { file: name, option, text: line, number: at + 1 };
        line.read(&mut options)?;
    }
    Ok(options)
}

/// One line with an option.
struct Line<'a> {
    file: &'a str,
    option: &'a str,
    text: &'a str,
    number: usize,
}

impl<'a> Line<'a> {
    fn read(&self, options: &mut Options) -> Result<(), PlanError> {
        let value = self.value();
        if self.option == "qos" {
            // What is not this word turns it off.
            options.qos = Some((value == "TRUE", self.number));
            return Ok(());
        }
        let Some((prefix, kind)) = known(self.option) else {
            options.others.push(Other { name: shorten(self.option), line: self.number });
            return Ok(());
        };
        let column = self.column(value);
        let value = self.parsed(kind, value)?;
        options.settings.push(Setting { prefix, kind, value, line: self.number, column });
        Ok(())
    }

    /// What follows the name, without the space around it and one pair of quotes.
    fn value(&self) -> &'a str {
        let rest = self.text.trim_start();
        let value = rest[self.option.len()..].trim();
        let quoted = ['"', '\'']
            .into_iter()
            .find_map(|quote| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)));
        quoted.unwrap_or(value)
    }

    /// The column of a part of the line.
    fn column(&self, part: &str) -> usize {
        let at = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len());
        self.text.get(..at).map_or(1, |before| before.chars().count() + 1)
    }

    fn refuse<T>(&self, part: &str, reason: &str, remedy: &str) -> Result<T, PlanError> {
        let error = PlanError::of_file(self.file, reason, remedy).at(self.number, self.column(part));
        let error = error.key(self.option);
        Err(if part.is_empty() { error } else { error.value(format!("`{}`", shorten(part))) })
    }

    fn parsed(&self, kind: Kind, value: &'a str) -> Result<Value, PlanError> {
        if value == "(null)" {
            return Ok(Value::Unset);
        }
        match kind {
            Kind::MaxLanes | Kind::HighLimit => self.number(kind, value),
            Kind::High | Kind::Low => self.items(value, |part| self.pair(part)).map(Value::Table),
            Kind::ServiceLevels => self.items(value, |part| self.lane(part)).map(Value::Lanes),
        }
    }

    fn number(&self, kind: Kind, value: &str) -> Result<Value, PlanError> {
        let is_negative = value.strip_prefix('-').is_some_and(|rest| number(rest).is_some());
        match number(value) {
            None if is_negative => Ok(Value::Unset),
            Some(0) if kind == Kind::MaxLanes => Ok(Value::Unset),
            Some(number) => Ok(Value::Number(number)),
            None => self.refuse(value, "must be a whole number", "write a number such as 8"),
        }
    }

    fn items<T>(
        &self,
        value: &'a str,
        read: impl Fn(&'a str) -> Result<T, PlanError>,
    ) -> Result<Vec<T>, PlanError> {
        let mut items = Vec::new();
        for part in value.split(',') {
            if items.len() == MAX_ITEMS {
                return self.refuse(part, "is one item too many, at most 1024 are read", "list at most 64");
            }
            items.push(read(part.trim())?);
        }
        Ok(items)
    }

    fn pair(&self, part: &'a str) -> Result<Pair, PlanError> {
        let numbers = part
            .split_once(':')
            .and_then(|(lane, weight)| Some((number(lane.trim_end())?, number(weight.trim_start())?)));
        match numbers {
            Some((lane, weight)) => Ok(Pair { lane, weight, column: self.column(part) }),
            None => self.refuse(part, "must be a lane and a weight", "write pairs as in `0:32,1:64`"),
        }
    }

    fn lane(&self, part: &'a str) -> Result<Lane, PlanError> {
        match number(part) {
            Some(lane) => Ok(Lane { lane, column: self.column(part) }),
            None => self.refuse(part, "must be a lane", "write 16 lanes as in `0,1,2,3,...`"),
        }
    }
}

/// The prefix and the kind of an option of arbitration.
fn known(option: &str) -> Option<(Prefix, Kind)> {
    Prefix::ALL.into_iter().find_map(|prefix| {
        let suffix = option.strip_prefix(prefix.name())?.strip_prefix('_')?;
        Some((prefix, Kind::ALL.into_iter().find(|kind| kind.suffix() == suffix)?))
    })
}

/// A number as C writes it: decimal, hexadecimal after `0x`, octal after `0`.
fn number(text: &str) -> Option<u32> {
    let (digits, base) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if digits.is_empty() || digits.len() > MAX_DIGITS || !is_plain {
        return None;
    }
    u32::from_str_radix(digits, base).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Options {
        parse(text, "a.conf").unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn options_comments_and_others() {
        let text = "# QoS\n\nqos TRUE\n qos_ca_vlarb_low\t0:0, 1:0x40,2:010 \nlog_file \"/var/log/opensm.log\"\n\
                    qos_sl2vl '0,1,15'\nqos_max_vls 0\nqos_high_limit -1\nqos_vlarb_high (null)\nqos_policy_file x\n";
        let options = read(text);
        assert_eq!(options.qos, Some((true, 3)));
        let low = &options.settings[0];
        assert_eq!((low.name().as_str(), low.line, low.column), ("qos_ca_vlarb_low", 4, 19));
        let pair = |lane, weight, column| Pair { lane, weight, column };
        assert_eq!(low.value, Value::Table(vec![pair(0, 0, 19), pair(1, 64, 24), pair(2, 8, 31)]));
        let lanes = |numbers: [(u32, usize); 3]| {
            Value::Lanes(numbers.into_iter().map(|(lane, column)| Lane { lane, column }).collect())
        };
        assert_eq!(options.settings[1].value, lanes([(0, 12), (1, 14), (15, 16)]));
        assert!(options.settings[2..].iter().all(|setting| setting.value == Value::Unset));
        let others: Vec<&str> = options.others.iter().map(|other| other.name.as_str()).collect();
        assert_eq!(others, ["log_file", "qos_policy_file"]);
    }

    #[test]
    fn refusals_have_a_place() {
        for (text, expected) in [
            (
                "qos_vlarb_low 0:32,1",
                "a.conf:1:20: qos_vlarb_low is `1`, must be a lane and a weight: write pairs as in `0:32,1:64`",
            ),
            (
                "\nqos_vlarb_low 0:32,,1:4",
                "a.conf:2:20: qos_vlarb_low must be a lane and a weight: write pairs as in `0:32,1:64`",
            ),
            (
                "qos_vlarb_high",
                "a.conf:1:15: qos_vlarb_high must be a lane and a weight: write pairs as in `0:32,1:64`",
            ),
            (
                "qos_max_vls eight",
                "a.conf:1:13: qos_max_vls is `eight`, must be a whole number: write a number such as 8",
            ),
            (
                "qos_swe_sl2vl 0,1,x",
                "a.conf:1:19: qos_swe_sl2vl is `x`, must be a lane: write 16 lanes as in `0,1,2,3,...`",
            ),
            (
                "qos_vlarb_low 0:4 # half",
                "a.conf:1:15: qos_vlarb_low is `0:4 # half`, must be a lane and a weight: write pairs as in `0:32,1:64`",
            ),
        ] {
            assert_eq!(parse(text, "a.conf").expect_err(text).to_string(), expected);
        }
    }

    #[test]
    fn hostile_input_is_bounded() {
        let error = |text: &str| parse(text, "a.conf").expect_err("refused").to_string();
        assert!(error(&"#".repeat(MAX_BYTES + 1)).contains("at most 1048576"));
        assert!(error(&format!("qos_vlarb_low {}0:1", "0:1,".repeat(1024))).contains("too many"));
        assert!(error("qos_high_limit 99999999999999").contains("whole number"));
        assert!(error("qos_high_limit +1").contains("whole number"));
        assert!(error("qos_vlarb_low 0:-1").contains("a lane and a weight"));
    }
}
