//! What a generator asks of the kernel for its UDP sockets: room, time stamps; and what found no room.
//!
//! | | |
//! |-|-|
//! | Source | socket(7); Linux, Documentation/networking/timestamping.rst |
//! | Units | bytes, packets |

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::net::sockopt;

/// How departures are reported: by the system clock, with the number of the packet and without its data.
const DEPARTURES: u32 =
    libc::SOF_TIMESTAMPING_SOFTWARE | libc::SOF_TIMESTAMPING_OPT_ID | libc::SOF_TIMESTAMPING_OPT_TSONLY;

/// Gives a socket buffers of `bytes` bytes in both directions, or as many as the kernel permits.
pub fn enlarge(socket: impl AsFd, bytes: usize) {
    let socket = socket.as_fd();
    // Only the one that is used matters; what the kernel grants is seen in its counts.
    let _ = sockopt::set_socket_recv_buffer_size_force(socket, bytes)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(socket, bytes));
    let _ = sockopt::set_socket_send_buffer_size_force(socket, bytes)
        .or_else(|_| sockopt::set_socket_send_buffer_size(socket, bytes));
}

/// Asks the kernel to tell when it takes what is sent: before its own queue, so that waiting there counts as delay.
///
/// # Errors
/// It does not.
pub fn stamp_departures(socket: impl AsFd) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_TX_SCHED | DEPARTURES;
    set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags)
}

/// Asks the kernel to tell when it received what comes in.
///
/// # Errors
/// It does not.
pub fn stamp_arrivals(socket: impl AsFd) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags)
}

/// Asks the kernel to tell when it received what comes in, and, of packets that ask for it, when it took what is sent.
///
/// # Errors
/// It does not.
pub fn stamp_both(socket: impl AsFd) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | DEPARTURES;
    set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags)
}

/// Sets an option that is a number.
///
/// # Errors
/// The kernel refuses.
pub fn set(socket: impl AsFd, level: libc::c_int, option: libc::c_int, value: u32) -> io::Result<()> {
    let (fd, size) = (socket.as_fd().as_raw_fd(), size_of::<u32>() as libc::socklen_t);
    // SAFETY: the option is a number of four bytes, which outlives the call.
    let done = unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), size) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// How many packets a socket had no room for, since it was made; 0 where the kernel does not say.
#[must_use]
pub fn dropped(socket: impl AsFd) -> u32 {
    /// The place of the drops among the numbers of SO_MEMINFO.
    const DROPS: usize = 8;
    let mut numbers = [0_u32; DROPS + 1];
    let mut size = size_of_val(&numbers) as libc::socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the buffer has the size that is passed, and the kernel writes no more.
    let done = unsafe {
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_MEMINFO, numbers.as_mut_ptr().cast(), &raw mut size)
    };
    if done == 0 && size as usize == size_of_val(&numbers) { numbers[DROPS] } else { 0 }
}
