//! Requests and what becomes of them: tables and placements, their bounds, emitted files, findings, refusals.

mod bounds;
mod common;
mod emit;
mod lint;
mod mutated_inputs;
mod nodes;
mod properties;
mod refusals;
mod schedulers;
mod table_1;
