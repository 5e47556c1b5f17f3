//! Options of sockets, as the kernel has them in memory.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use libc::{c_int, socklen_t};

use super::link::checked;

/// Sets an option to a value of the form that the kernel expects of it.
pub(super) fn set<T>(socket: impl AsFd, level: c_int, option: c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as socklen_t;
    let value = core::ptr::from_ref(value).cast();
    // SAFETY: the value is `length` bytes long, and read during the call alone.
    checked(unsafe { libc::setsockopt(socket.as_fd().as_raw_fd(), level, option, value, length) }).map(|_| ())
}

/// Asks for an option, which fills in plain data.
pub(super) fn get<T>(socket: impl AsFd, level: c_int, option: c_int, value: &mut T) -> io::Result<()> {
    let mut length = size_of::<T>() as socklen_t;
    let value = core::ptr::from_mut(value).cast();
    // SAFETY: the value is plain data, of which the kernel writes at most `length` bytes.
    checked(unsafe { libc::getsockopt(socket.as_fd().as_raw_fd(), level, option, value, &raw mut length) })
        .map(|_| ())
}
