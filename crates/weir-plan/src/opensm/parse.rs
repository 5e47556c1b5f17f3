//! From the text of an options file to its settings, line by line as OpenSM reads them.
//!
//! A line has at most 1022 bytes; what is longer is read as further lines. What follows `#` is a comment, wherever it
//! stands. A name ends at a space or tab; a value loses the space around it and one pair of quotes.
//!
//! | | |
//! |-|-|
//! | Source | OpenSM 3.3.23, `opensm/osm_subnet.c`: `osm_subn_parse_conf_file`, `clean_val`, `opts_parse_*` |
//! | Work | O(length of the file) |
//! | Departs from the source | a file without any option of OpenSM is refused |

use weir_document::shorten;

use super::c;
use super::value::{self, Fault};
use crate::PlanError;
use crate::target::{LANES, Prefix};

/// The longest file that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Bytes of a line that OpenSM reads at once.
const MAX_LINE: usize = 1022;
/// The names of all options of OpenSM.
const NAMES: &str = include_str!("options.txt");

/// An options file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether the file turns QoS on, and in which line it says so.
    pub qos: Option<(bool, usize)>,
    /// The options of arbitration, in the order of the file.
    pub settings: Vec<Setting>,
    /// The lanes that it lets be in operation, as a code: `max_op_vls`.
    pub max_op_vls: Option<MaxOpVls>,
    /// Names that OpenSM does not know.
    pub others: Vec<Other>,
    /// Lines of which OpenSM reads the rest as another line.
    pub long_lines: Vec<usize>,
}

impl Options {
    /// The most data lanes that the file lets be in operation: 1, 2, 4, 8 or 15.
    #[must_use]
    pub fn most_lanes(&self) -> u32 {
        let code = self.max_op_vls.as_ref().and_then(|found| found.code).unwrap_or(0);
        usize::from(code).checked_sub(1).and_then(|place| LANES.get(place)).map_or(15, |lanes| *lanes)
    }
}

/// The option `max_op_vls`: 1 for one data lane, 2 for two, 3 for 4, 4 for 8, 5 for 15.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxOpVls {
    /// The last that was read; `None` if it is no number up to 255, which leaves what was before.
    pub code: Option<u8>,
    /// As it is written in the last line that sets it.
    pub text: String,
    /// Whether that line is a number up to 255.
    pub is_number: bool,
    /// The line, counted from 1.
    pub line: usize,
    /// The character at which the value begins, counted from 1.
    pub column: usize,
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
    /// Where OpenSM reads otherwise than is written, or warns.
    pub fault: Option<Fault>,
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

    /// The largest number that it takes, where it takes one.
    #[must_use]
    pub const fn highest(self) -> u32 {
        if matches!(self, Self::MaxLanes) { 15 } else { 255 }
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// None: `(null)`, or a number that stands for the default.
    Unset,
    /// Not read: OpenSM keeps what a line before says.
    Kept,
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
    /// The lane as it is read, not yet modulo 15.
    pub lane: u32,
    /// The weight as it is read, not yet modulo 256.
    pub weight: u32,
    /// Where it begins in its line.
    pub column: usize,
}

/// The lane of a service level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The lane as it is read, not yet modulo 16.
    pub lane: u32,
    /// Where it begins in its line.
    pub column: usize,
}

/// A name that OpenSM does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its name, shortened, what cannot be printed escaped.
    pub name: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// Reads an options file; errors speak of `name`.
///
/// # Errors
/// The file is larger than is read, or has no option of OpenSM.
pub fn parse(text: &str, name: &str) -> Result<Options, PlanError> {
    if text.len() > MAX_BYTES {
        let reason = format!("has {} bytes, at most {MAX_BYTES} are read", text.len());
        return Err(PlanError::of_file(name, reason, "name an options file of OpenSM"));
    }
    let mut options = Options::default();
    let mut known = 0;
    for (at, whole) in text.as_bytes().split_inclusive(|byte| *byte == b'\n').enumerate() {
        if whole.len() > MAX_LINE {
            options.long_lines.push(at + 1);
        }
        for (piece, text) in whole.chunks(MAX_LINE).enumerate() {
            if let Some(line) = Line::new(whole, piece * MAX_LINE, text, at + 1) {
                known += usize::from(line.read(&mut options));
            }
        }
    }
    if known > 0 {
        return Ok(options);
    }
    let reason = match options.others.first() {
        Some(other) => format!("has no option of OpenSM; its first word is `{}`", other.name),
        None => "has no option of OpenSM: no line says anything".to_owned(),
    };
    let line = options.others.first().map_or(1, |other| other.line);
    Err(PlanError::of_file(name, reason, "name an options file of OpenSM").at(line, 1))
}

/// One line with an option.
struct Line<'a> {
    /// The line of the file, and where in it this one begins.
    whole: &'a [u8],
    option: &'a [u8],
    value: &'a [u8],
    /// Where the value begins in the line of the file.
    at: usize,
    number: usize,
}

impl<'a> Line<'a> {
    /// A line as OpenSM takes it, of the line `whole` of the file from byte `from` on; `None` if it says nothing.
    fn new(whole: &'a [u8], from: usize, text: &'a [u8], number: usize) -> Option<Self> {
        let end = text.iter().position(|byte| matches!(byte, 0 | b'#')).unwrap_or(text.len());
        let text = &text[..end];
        let is_gap = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
        let first = text.iter().position(|byte| !is_gap(byte))?;
        let name = text[first..].iter().position(is_gap).map_or(text.len(), |length| first + length);
        let start = name + text[name..].iter().take_while(|byte| c::is_space(**byte)).count();
        let mut value = text[start..].trim_ascii_end();
        // C knows one space more.
        while let [rest @ .., 0x0b] = value {
            value = rest.trim_ascii_end();
        }
        let quoted = [b'"', b'\'']
            .into_iter()
            .find(|quote| value.first() == Some(quote) && value.last() == Some(quote));
        if quoted.is_some() {
            value = value[1..].strip_suffix(&value[..1]).unwrap_or(&[]);
        }
        let at = from + start + usize::from(quoted.is_some());
        Some(Self { whole, option: &text[first..name], value, at, number })
    }

    /// Takes the option in; tells whether OpenSM has one of this name.
    fn read(&self, options: &mut Options) -> bool {
        let name = String::from_utf8_lossy(self.option);
        if let Some((prefix, kind)) = known(&name) {
            let (value, fault) = value::read(kind, self.value, |at| self.column(at));
            let column = self.column(0);
            options.settings.push(Setting { prefix, kind, value, fault, line: self.number, column });
            return true;
        }
        match &*name {
            // What is not this word turns it off.
            "qos" => options.qos = Some((self.value == b"TRUE", self.number)),
            "max_op_vls" => self.max_op_vls(options),
            _ if NAMES.lines().any(|known| known == name) => (),
            _ => {
                options
                    .others
                    .push(Other { name: shorten(&name.escape_debug().to_string()), line: self.number });
                return false;
            }
        }
        true
    }

    fn max_op_vls(&self, options: &mut Options) {
        let read =
            value::number_up_to(self.value, u64::from(u8::MAX)).and_then(|code| u8::try_from(code).ok());
        let before = options.max_op_vls.as_ref().and_then(|before| before.code);
        options.max_op_vls = Some(MaxOpVls {
            code: read.or(before),
            text: shorten(&String::from_utf8_lossy(self.value)),
            is_number: read.is_some(),
            line: self.number,
            column: self.column(0),
        });
    }

    /// The column of a byte of the value.
    fn column(&self, at: usize) -> usize {
        let before = &self.whole[..(self.at + at).min(self.whole.len())];
        String::from_utf8_lossy(before).chars().count() + 1
    }
}

/// The prefix and the kind of an option of arbitration.
fn known(option: &str) -> Option<(Prefix, Kind)> {
    Prefix::ALL.into_iter().find_map(|prefix| {
        let suffix = option.strip_prefix(prefix.name())?.strip_prefix('_')?;
        Some((prefix, Kind::ALL.into_iter().find(|kind| kind.suffix() == suffix)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Options {
        parse(text, "a.conf").unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn options_comments_and_others() {
        let text = "# QoS\n\nqos TRUE # on\n qos_ca_vlarb_low\t0:0, 1:0x40,2:010 # two\nlog_file \"/var/log/opensm.log\"\n\
                    qos_sl2vl '0,1,15'\nqos_max_vls 0\nqos_high_limit -1\nqos_vlarb_high (null)\nqos_policy_flie x\n";
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
        assert!(options.settings.iter().all(|setting| setting.fault.is_none()));
        let others: Vec<&str> = options.others.iter().map(|other| other.name.as_str()).collect();
        assert_eq!(others, ["qos_policy_flie"]);
    }

    /// Finding B8: what is no options file is refused, be it empty or another text.
    #[test]
    fn b8_a_file_that_is_not_of_opensm_is_refused() {
        for (text, expected) in [
            ("", "a.conf:1:1: has no option of OpenSM: no line says anything"),
            ("# qos TRUE\n\n", "a.conf:1:1: has no option of OpenSM: no line says anything"),
            ("\n[table]\nentries = 8\n", "a.conf:2:1: has no option of OpenSM; its first word is `[table]`"),
        ] {
            let error = parse(text, "a.conf").expect_err(text).to_string();
            assert_eq!(error, format!("{expected}: name an options file of OpenSM"));
        }
    }

    #[test]
    fn lanes_in_operation_are_a_code() {
        let lanes = |text: &str| read(text).most_lanes();
        assert_eq!(
            ["1", "2", "3", "4", "5", "6", "0"].map(|code| lanes(&format!("max_op_vls {code}"))),
            [1, 2, 4, 8, 15, 15, 15]
        );
        // What is no number up to 255 leaves what was before.
        assert_eq!(lanes("max_op_vls 3\nmax_op_vls 3x\nmax_op_vls 256\n"), 4);
        assert_eq!(lanes("qos TRUE\n"), 15);
    }

    #[test]
    fn hostile_input_is_bounded() {
        let error = parse(&"#".repeat(MAX_BYTES + 1), "a.conf").expect_err("refused").to_string();
        assert!(error.contains("at most 1048576"));
        let long = read(&format!("qos_vlarb_low {}0:1\n", "0:1,".repeat(1024)));
        assert_eq!((long.long_lines.as_slice(), long.settings.len()), (&[1][..], 1));
        let Value::Table(pairs) = &long.settings[0].value else { panic!("a table") };
        // 1022 bytes of the line: 14 of the name, and 252 pairs.
        assert_eq!((pairs.len(), pairs[251].column), (252, 15 + 4 * 251));
        read("qos TRUE\nqos_vlarb_low \0:1\n\u{e9} \u{e9}\nqos_sl2vl \"\nqos_ca_sl2vl \"\"\n\x0b\n");
    }
}
