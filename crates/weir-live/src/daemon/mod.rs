//! The daemon of a router, which joins the sockets and the plane and sleeps between them; and what every daemon has: its
//! directory, its control socket, its metrics, what it may do.

pub mod bell;
pub mod clock;
pub mod control;
pub mod crew;
pub mod directory;
pub mod drops;
pub mod inbox;
pub mod log;
pub mod metrics;
pub mod passage;
pub mod peers;
pub mod privileges;
pub mod protocol;
pub mod readings;
pub mod reload;
pub mod requests;
pub mod run;
pub mod sandbox;
pub mod seat;
pub mod succession;
pub mod user;
pub mod worker;
