//! The engines of the port against schedules decided by hand, naive references, and each other.

mod closed_loop;
mod determinism;
mod endings;
mod every_discipline;
mod fast_links;
mod fluid;
mod golden;
mod listing;
mod mixed_applications;
mod plain;
mod script;
mod self_checks;
mod slop;
mod whole;
