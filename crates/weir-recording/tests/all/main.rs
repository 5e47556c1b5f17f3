//! Recordings: what is written reads the same, and no damage goes unnoticed.

mod damaged;
mod round_trip;
mod samples;
