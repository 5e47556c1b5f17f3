//! The message port.
#![allow(missing_docs)]
pub mod arrivals;
pub mod collector;
pub mod flight;
pub mod fluid;
pub mod observer;
pub mod plain;
pub mod service;
pub mod source;
pub mod whole;
