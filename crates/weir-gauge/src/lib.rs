//! What running programs count of time, and figures as people read them.
//!
//! [`spans`] are histograms that routers, generators and the programs of `bpf/steer` count in; [`text`] writes figures
//! and tables of them.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Units | nanoseconds, bytes, packets |

#![forbid(unsafe_code)]

pub mod spans;
pub mod text;
