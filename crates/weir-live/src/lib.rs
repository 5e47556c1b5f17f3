//! The disciplines on real packets, by the daemon `weird`.
//!
//! One direction: frames come in at [`io`], lie in the [`arena`], and are moved as handles through the [`plane`],
//! which knows no system call and no clock: it finds the class and the flow of a frame, its route and its neighbour,
//! and lets the discipline of the interface decide when it leaves. The [`daemon`] joins the two, sleeps between them,
//! and answers the control socket. [`config`] is the one definition of what the daemon is told. [`tg`] sends and
//! receives what the scripts of the TG traffic language say, over real sockets.
//!
//! ```text
//! device -> io::Device -> arena::Buffer -> plane::Plane (classify, route, discipline, pace, delay) -> io::Device
//! ```

#![deny(missing_docs)]

#[cfg(not(target_os = "linux"))]
compile_error!("weir-live runs on Linux alone: AF_XDP, AF_PACKET and namespaces are its own");

pub mod arena;
pub mod cli;
pub mod config;
pub mod daemon;
pub mod generator;
pub mod io;
pub mod load;
pub mod plane;
pub mod spans;
pub mod steer;
pub mod tg;
