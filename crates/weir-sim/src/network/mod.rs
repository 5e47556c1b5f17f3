//! The network: routers joined by links, and at each link a queue that a discipline orders.

pub mod model;
pub mod outcome;
pub mod run;
