//! CDF files: a size distribution as a table of points.
//!
//! Lines that begin with `#` are comments. The header says how the points are meant:
//!
//! | Header | Meaning |
//! |-|-|
//! | `size_bytes,prob,cdf` | *step*: only the listed sizes occur, with the probabilities of the second column |
//! | `size_bytes,cdf` | *linear*: between two points the CDF is a straight line; a first point above 0 is an atom |
//!
//! A line that cannot be understood is refused with its place, value, bound and remedy; nothing is skipped.

use core::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{MAX_RUNS, MAX_SIZE, Run, Sizes};

/// The longest file that is read.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// How far the last value may be from 1.
const END_TOLERANCE: f64 = 1e-9;
/// How far a printed CDF may be from the sum of the printed probabilities.
const COLUMN_TOLERANCE: f64 = 1e-6;

/// What is wrong with a CDF file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CdfFault {
    /// The file cannot be read; the text is the system's.
    Unreadable(String),
    /// The file is longer than 64 MiB.
    TooLong(u64),
    /// The bytes are not UTF-8.
    NotText,
    /// No header, or another than the two known.
    Header(String),
    /// A line has another number of fields than the header.
    Fields(usize, usize),
    /// A size is not a whole number from 0 (from 1 where it has a probability) to 2^53.
    Size(String),
    /// A probability is not a number from 0 to 1.
    Probability(String),
    /// A size is not above the one before.
    SizeOrder(u64, u64),
    /// A CDF value is below the one before.
    Decreasing(f64, f64),
    /// The columns `prob` and `cdf` disagree.
    Columns(f64, f64),
    /// A message of size 0 has a positive probability.
    ZeroSize(f64),
    /// The last CDF value is not 1.
    End(f64),
    /// No points.
    Empty,
    /// More than 1,000,000 points.
    TooManyPoints,
}

impl fmt::Display for CdfFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "cannot be read: {why}"),
            Self::TooLong(bytes) => {
                write!(f, "file has {bytes} bytes, must have at most {MAX_FILE_BYTES}; thin out its points")
            }
            Self::NotText => write!(f, "bytes are not UTF-8 text; save the table as plain CSV"),
            Self::Header(found) => write!(
                f,
                "header is {found:?}, must be \"size_bytes,prob,cdf\" (discrete sizes) or \"size_bytes,cdf\" \
                 (linear between points)"
            ),
            Self::Fields(found, expected) => {
                write!(f, "line has {found} fields, must have {expected}; is the file truncated?")
            }
            Self::Size(text) => write!(f, "{text:?} must be a whole number from 0 to {MAX_SIZE}; round it"),
            Self::Probability(text) => write!(f, "{text:?} must be a number from 0 to 1"),
            Self::SizeOrder(size, before) => {
                write!(f, "size {size} is not above {before} of the previous point; sort the points by size")
            }
            Self::Decreasing(cdf, before) => {
                write!(
                    f,
                    "{cdf} is below {before} of the previous point, must not decrease; sort the points by \
                     size"
                )
            }
            Self::Columns(cdf, sum) => {
                write!(
                    f,
                    "{cdf} must be {sum}, the sum of the probabilities so far; correct one of the columns"
                )
            }
            Self::ZeroSize(p) => write!(
                f,
                "size 0 has probability {p}, must have none: a message of no length cannot be served; \
                 begin at size 1 or with a cdf of 0"
            ),
            Self::End(cdf) => {
                write!(f, "last value is {cdf}, must be 1; add the largest size (is the file truncated?)")
            }
            Self::Empty => write!(f, "no points; add at least one line below the header"),
            Self::TooManyPoints => write!(f, "more than {MAX_RUNS} points; thin them out"),
        }
    }
}

/// A CDF file that cannot be used, with the place of the fault.
#[derive(Clone, Debug, PartialEq)]
pub struct CdfError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1; 0 where the fault is the file's as a whole.
    pub line: usize,
    /// The column of the table, where there is one.
    pub column: Option<&'static str>,
    /// What is wrong there.
    pub fault: CdfFault,
}

impl fmt::Display for CdfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ", line {}", self.line)?;
        }
        if let Some(column) = self.column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {}", self.fault)
    }
}

impl std::error::Error for CdfError {}

/// A fault and its column; the line is added where it is known.
type Fault = (Option<&'static str>, CdfFault);

impl Sizes {
    /// Reads a CDF file.
    ///
    /// # Errors
    /// If the file cannot be read or is no CDF table; the error says where.
    pub fn from_cdf_file(path: &Path) -> Result<Self, CdfError> {
        let name = path.display().to_string();
        let whole = |fault| CdfError { file: name.clone(), line: 0, column: None, fault };
        let unreadable = |error: std::io::Error| whole(CdfFault::Unreadable(error.to_string()));
        let length = std::fs::metadata(path).map_err(unreadable)?.len();
        if length > MAX_FILE_BYTES {
            return Err(whole(CdfFault::TooLong(length)));
        }
        let mut bytes = Vec::new();
        // The length of a device or a pipe is not known before it is read.
        File::open(path)
            .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
            .map_err(unreadable)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(whole(CdfFault::TooLong(bytes.len() as u64)));
        }
        let text = core::str::from_utf8(&bytes).map_err(|error| {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
            CdfError { line, ..whole(CdfFault::NotText) }
        })?;
        Self::parse_cdf(text, &name)
    }

    /// Reads a CDF table from text; `file` names it in errors.
    ///
    /// # Errors
    /// If the text is no CDF table; the error says where.
    pub fn parse_cdf(text: &str, file: &str) -> Result<Self, CdfError> {
        let place = |line, (column, fault): Fault| CdfError { file: file.into(), line, column, fault };
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let mut lines = lines.by_ref().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let Some((at, header)) = lines.next() else { return Err(place(0, (None, CdfFault::Empty))) };
        let kind = Kind::of(header).map_err(|fault| place(at, fault))?;
        let (mut table, mut last) = (Table::new(kind), at);
        for (line, content) in lines {
            table.add(content).map_err(|fault| place(line, fault))?;
            last = line;
        }
        table.finish().map_err(|fault| place(last, fault))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Step,
    Linear,
}

impl Kind {
    fn of(header: &str) -> Result<Self, Fault> {
        match header {
            "size_bytes,prob,cdf" => Ok(Self::Step),
            "size_bytes,cdf" => Ok(Self::Linear),
            other => Err((None, CdfFault::Header(other.chars().take(60).collect()))),
        }
    }
}

/// The points read so far.
struct Table {
    kind: Kind,
    runs: Vec<Run>,
    points: usize,
    size: u64,
    cdf: f64,
    /// The sum of the column `prob`.
    sum: f64,
}

impl Table {
    fn new(kind: Kind) -> Self {
        Self { kind, runs: Vec::new(), points: 0, size: 0, cdf: 0.0, sum: 0.0 }
    }

    fn add(&mut self, line: &str) -> Result<(), Fault> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let expected = if self.kind == Kind::Step { 3 } else { 2 };
        if fields.len() != expected {
            return Err((None, CdfFault::Fields(fields.len(), expected)));
        }
        if self.points == MAX_RUNS {
            return Err((None, CdfFault::TooManyPoints));
        }
        let size = parse_size(fields[0])?;
        if self.points > 0 && size <= self.size {
            return Err((Some("size_bytes"), CdfFault::SizeOrder(size, self.size)));
        }
        let cdf = parse_probability("cdf", fields[expected - 1])?;
        if cdf < self.cdf {
            return Err((Some("cdf"), CdfFault::Decreasing(cdf, self.cdf)));
        }
        let share = match self.kind {
            Kind::Step => self.step_share(fields[1], cdf)?,
            Kind::Linear => cdf - self.cdf,
        };
        self.add_run(size, share)?;
        (self.size, self.cdf, self.points) = (size, cdf, self.points + 1);
        Ok(())
    }

    fn step_share(&mut self, text: &str, cdf: f64) -> Result<f64, Fault> {
        let share = parse_probability("prob", text)?;
        self.sum += share;
        if (self.sum - cdf).abs() > COLUMN_TOLERANCE {
            return Err((Some("cdf"), CdfFault::Columns(cdf, self.sum)));
        }
        Ok(share)
    }

    fn add_run(&mut self, size: u64, share: f64) -> Result<(), Fault> {
        if size == 0 && share > 0.0 {
            return Err((Some("size_bytes"), CdfFault::ZeroSize(share)));
        }
        let single = self.kind == Kind::Step || self.points == 0;
        let first = if single { size } else { self.size + 1 };
        if share > 0.0 {
            self.runs.push(Run { first, last: size, share });
        }
        Ok(())
    }

    fn finish(self) -> Result<Sizes, Fault> {
        if self.points == 0 {
            return Err((None, CdfFault::Empty));
        }
        if (self.cdf - 1.0).abs() > END_TOLERANCE {
            return Err((Some("cdf"), CdfFault::End(self.cdf)));
        }
        // What the points cannot break any more: sizes in order and in range, shares that sum to 1.
        Sizes::mixture(&self.runs).map_err(|_| (Some("cdf"), CdfFault::End(self.cdf)))
    }
}

fn parse_size(text: &str) -> Result<u64, Fault> {
    match text.parse::<u64>() {
        Ok(size) if size <= MAX_SIZE => Ok(size),
        _ => Err((Some("size_bytes"), CdfFault::Size(shortened(text)))),
    }
}

fn parse_probability(column: &'static str, text: &str) -> Result<f64, Fault> {
    match text.parse::<f64>() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err((Some(column), CdfFault::Probability(shortened(text)))),
    }
}

/// Enough of a field to recognise it by.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
