//! The ground floor of the simulation: what every model stands on, and nothing of any one of them.
//!
//! | part | module |
//! |-|-|
//! | random streams, keyed by seed, replication and purpose | [`stream`] |
//! | jobs on threads, put together in an order that no thread changes | [`runner`], [`parallel`], [`gathered`], [`tally`] |
//! | what a run has to do with the outside | [`control`], [`record`], [`recorded`], [`error`] |
//! | figures with their intervals | [`stats`] |
//! | whole results, and what they say besides figures | [`result`], [`judgement`], [`provenance`] |
//! | runs that are as long as it takes | [`lengthened`] |
//! | replications that are kept, and results made of them | [`replicated`], [`mod@encode`] |
//! | a program around one model | [`program`] |
//! | arithmetic with one result on every machine, and code for the vector units it finds | [`logarithm`], [`dispatch`] |

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![deny(missing_docs)]

pub mod control;
pub mod dispatch;
pub mod encode;
pub mod error;
pub mod gathered;
pub mod judgement;
pub mod lengthened;
pub mod logarithm;
pub mod parallel;
pub mod program;
pub mod provenance;
pub mod record;
pub mod recorded;
pub mod replicated;
pub mod result;
pub mod runner;
pub mod scenario;
pub mod special;
pub mod stats;
pub mod stream;
pub mod tally;
