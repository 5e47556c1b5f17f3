//! The daemon and the generators from outside: sockets in namespaces, programs of the kernel on the host, the command
//! line.

mod host;
mod io;
mod load_cli;
mod namespace;
mod route_program;
mod tg_cli;
