//! Documents that users write in TOML, and tables in CSV that several of them name: where something is wrong in one, and what to
//! write instead.
//!
//! A document is parsed once, and read by serde, which knows its keys and types; what it refuses, and what its reader refuses later,
//! starts as a span of bytes. [`Source`] finds the line, the column, the dotted key and the value that stand there,
//! and puts the words of the parser into those of the user; a [`Wording`] says what is peculiar to one kind of
//! document. Every refusal is a [`Refused`], also one of a file that a document names.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(length of the document) for each refusal; nothing besides serde's work where there is none |
//! | Units | bytes of a document, bounded by its [`Wording`]; lines, and characters within a line, counted from 1 |
//!
//! ```
//! use weir_document::Source;
//!
//! let source = Source { name: "port.toml", text: "[workload]\nload = -1\n" };
//! let refused = source.refuse(18..20, "must be above 0", "write a load such as 0.95");
//! let line = "port.toml:2:8: workload.load is -1, must be above 0: write a load such as 0.95";
//! assert_eq!(refused.to_string(), line);
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod brief;
mod checker;
mod data_files;
mod explain;
mod fingerprint;
pub mod header;
mod located;
pub mod quantity;
mod refused;
mod source;
pub mod subscribers;
pub mod testing;
mod tree;
pub mod words;

pub use brief::{Alone, Brief};
pub use checker::{Checked, Checker, MAX_REPLICATIONS, MAX_WORK, NamedDiscipline};
pub use data_files::{DataFile, DataFiles};
pub use explain::{Mismatch, Wording};
pub use fingerprint::Fingerprint;
pub use located::Located;
pub use refused::{Refusal, Refused, plain_io};
pub use source::Source;
pub use tree::{Tree, Unread};
pub use weir_core::excerpt::shorten;
