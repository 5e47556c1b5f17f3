//! What every model shares: random streams, arithmetic with one result on every machine, dispatch, cells.

pub mod dispatch;
pub mod gathered;
pub mod logarithm;
pub mod replications;
pub mod stream;
