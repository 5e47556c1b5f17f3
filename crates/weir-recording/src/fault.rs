//! What is wrong with a file.

use std::fmt;
use std::io;

/// Why a file is refused, or from where on it is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The system does not let it be read.
    Unreadable(String),
    /// It holds nothing.
    Empty,
    /// It does not begin as a recording does.
    Foreign,
    /// It is of a version that is not read.
    Version(u8),
    /// It ends within a block.
    Truncated,
    /// The sum of a block is another.
    Sum,
    /// A block of no known kind, or longer than any.
    Block,
    /// What a block holds is not what its kind has.
    Malformed,
    /// The first block is not the head, or a later one is.
    Head,
    /// An event, or a task, of a worker or a task that there is not.
    Unknown,
    /// More tasks than are read.
    Tasks(usize),
}

impl Fault {
    /// What is wrong, and what to do about it.
    #[must_use]
    pub fn told(&self) -> (String, &'static str) {
        let record = "name a file that `Builder::record` of weir-exec has written";
        let again = "copy the file again from where it was written, or record again";
        match self {
            Self::Unreadable(reason) => (format!("cannot be read: {reason}"), "check the path"),
            Self::Empty => ("is empty".to_owned(), "let the program run for longer, or to its end"),
            Self::Foreign => ("is no recording of weir-exec".to_owned(), record),
            Self::Version(version) => (
                format!("is of version {version} of the format, must be of version {}", crate::VERSION),
                "read it with the weir that came with the executor",
            ),
            Self::Truncated => ("ends within a block".to_owned(), again),
            Self::Sum => ("the sum of the block is not that of what it holds".to_owned(), again),
            Self::Block => ("a block begins with what no block begins with".to_owned(), again),
            Self::Malformed => ("what the block holds cannot be read".to_owned(), again),
            Self::Head => ("a head must come first, and once".to_owned(), again),
            Self::Unknown => ("names a worker or a task that there is not".to_owned(), again),
            Self::Tasks(most) => {
                (format!("has more than {most} tasks"), "record a shorter run, or one with fewer tasks")
            }
        }
    }
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingError {
    /// At which byte of the file; of a block, where it begins.
    pub byte: u64,
    /// What.
    pub fault: Fault,
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, _) = self.fault.told();
        match self.byte {
            0 => f.write_str(&message),
            byte => write!(f, "byte {byte}: {message}"),
        }
    }
}

impl std::error::Error for RecordingError {}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Self::Truncated;
        }
        let text = error.to_string().to_lowercase();
        Self::Unreadable(text.split(" (os error").next().unwrap_or_default().to_owned())
    }
}
