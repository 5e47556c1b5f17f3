//! Workloads: who arrives when, and how large.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod arrivals;
pub mod classes;
pub mod curve;
pub mod document;
pub mod duration;
pub mod fit;
pub mod laws;
mod linear;
pub mod log;
pub mod requests;
pub mod sizes;
pub mod source;
pub mod trace;

pub use arrivals::{Arrivals, Paced, arrival_source};
pub use classes::MessageClasses;
pub use curve::Curve;
pub use laws::ContinuousLaw;
pub use sizes::{CdfError, Run, SizeClasses, SizeSampler, Sizes, SizesError};
pub use trace::{
    ClassBy, PacketBounds, PacketFormat, PacketSchedule, RequestBounds, RequestFormat, RunBounds, Separator,
    Thinning, TimeUnit, Trace, TraceFormat, TraceSource, read_requests, read_runs,
};

/// The largest length of a message, in whatever unit it is counted.
pub const MAX_LENGTH: u32 = u32::MAX;
