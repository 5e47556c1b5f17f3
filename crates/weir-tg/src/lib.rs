//! The TG traffic language: scripts that say when packets leave and how large they are.
//!
//! Sans-IO, so that the simulator and the live generator share it: text comes in, files that it includes
//! come through a callback ([`files`] has one that reads them), random numbers from a [`Random`], and out come
//! times and lengths.
//!
//! ```
//! use std::sync::Arc;
//! use weir_tg::{BsdRandom, Departures, Traffic, parse};
//!
//! let text = "on 15 udp 10.0.2.1.4000 at 5 setup at 10 arrival exponential 0.007692 length 750 time 245";
//! let script = parse(text, "first.tg", &mut |name| Err(format!("no file {name}")))?;
//! let traffic = Arc::new(Traffic::of(&script)?);
//! assert_eq!(Departures::new(traffic, BsdRandom::new()).count(), 31_714);
//! # Ok::<(), weir_tg::ScriptError>(())
//! ```

#![forbid(unsafe_code)]

pub mod departures;
pub mod distribution;
pub mod error;
mod estimate;
pub mod files;
pub mod lexer;
mod number;
pub mod parser;
pub mod random;
pub mod schedule;
pub mod script;
pub mod traffic;

#[cfg(test)]
mod testing;

pub use departures::Departures;
pub use distribution::{Distribution, Sampler};
pub use error::ScriptError;
pub use parser::parse;
pub use random::{BsdRandom, Random};
pub use script::Script;
pub use traffic::{RandomMode, Traffic};

/// Seconds, which are not negative, to the nearest nanosecond.
fn nanos_of(seconds: f64) -> weir_core::units::Nanos {
    weir_core::units::Nanos::new((seconds * 1e9).round() as u64)
}
