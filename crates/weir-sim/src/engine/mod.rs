//! What every model shares: random streams, arithmetic with one result on every machine, dispatch.

pub mod dispatch;
pub mod logarithm;
pub mod replications;
pub mod stream;
