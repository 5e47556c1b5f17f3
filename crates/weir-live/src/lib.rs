//! The disciplines on real packets, by the daemon `weird`.
//!
//! One direction: frames come in at [`io`], lie in the [`Arena`](weir_plane::arena::Arena), and are moved as handles
//! through the [`Plane`](weir_plane::Plane), which knows no system call and no clock. The [`daemon`] joins the two,
//! sleeps between them, and answers the control socket. [`steer`] spreads requests over processors instead, and [`cli`]
//! is the command line of both and of the generators of `weir_traffic`.
//!
//! ```text
//! device -> io::Device -> arena::Buffer -> weir_plane::Plane (classify, route, discipline, pace, delay) -> io::Device
//! ```

#![deny(missing_docs)]

#[cfg(not(target_os = "linux"))]
compile_error!("weir-live runs on Linux alone: AF_XDP, AF_PACKET and namespaces are its own");

pub mod cli;
pub mod daemon;
pub mod io;
pub mod steer;
