//! The port through the facade: scenarios, engines, results against closed forms.

mod cells;
mod engines;
mod engines_agree;
mod mg1;
mod mutated_inputs;
mod scenarios;
