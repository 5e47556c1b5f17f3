//! Workloads: who arrives when, and how large.

pub mod sizes;

pub use sizes::{CdfError, Run, SizeClasses, SizeSampler, Sizes, SizesError};
