//! Captures of both formats, made byte by byte, by another writer, and damaged.

mod another_writer;
mod formats;
mod made;
mod mutated;
mod refusals;
