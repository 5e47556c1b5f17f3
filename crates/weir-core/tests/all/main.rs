//! All that is registered, by its specs: conformance, operations and inputs of any kind, and a linear list as the oracle.

mod against_the_list;
mod any_input;
mod conforms;
mod copied;
mod expressions;
mod list;
mod operations;
mod pools;
