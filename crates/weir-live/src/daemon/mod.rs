//! The daemon: joins the sockets and the plane, sleeps between them, and answers the control socket.

pub mod clock;
pub mod control;
pub mod directory;
pub mod inbox;
pub mod metrics;
pub mod privileges;
pub mod protocol;
mod requests;
pub mod run;
pub mod seat;
