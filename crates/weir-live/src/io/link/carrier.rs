//! How often the line of an interface came and went.
//!
//! The kernel counts it at once, where its messages about a line that is down for a moment may come as one. The count is
//! read by rtnetlink, which answers for the network namespace of the thread.
//!
//! | | |
//! |-|-|
//! | Source | rtnetlink(7), netlink(7); Linux, include/uapi/linux/if_link.h (`IFLA_CARRIER_CHANGES`) |
//! | Work | three system calls |
//! | Units | changes since the interface was made |

use std::io;
use std::os::fd::AsRawFd;

use super::{checked, owned};

/// The attribute that has the count.
const CARRIER_CHANGES: u16 = 35;
/// The bytes of a header of netlink, and of what describes an interface.
const HEADER: usize = 16;
const DESCRIPTION: usize = 16;
/// More than an interface is described in.
const ROOM: usize = 32 * 1024;

/// How often the line of the interface of this number changed; `None` where the kernel does not say.
///
/// # Errors
/// There is no such interface, or the system refuses.
pub(super) fn changes(index: i32) -> io::Result<Option<u32>> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: a plain system call, whose result is checked.
    let socket = owned(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })?;
    let question = question(index);
    // SAFETY: the bytes are read during the call alone; a socket that is not connected sends to the kernel.
    let sent = unsafe { libc::send(socket.as_raw_fd(), question.as_ptr().cast(), question.len(), 0) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut answer = vec![0; ROOM];
    // The kernel has answered by the time that the question was sent.
    let flags = libc::MSG_DONTWAIT;
    // SAFETY: at most as many bytes are written as there are.
    let got = unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), flags) };
    let got = checked(got as i32)?;
    Ok(read(&answer[..got as usize]))
}

/// The question about one interface, in the byte order of the machine.
fn question(index: i32) -> [u8; HEADER + DESCRIPTION] {
    let mut bytes = [0; HEADER + DESCRIPTION];
    bytes[..4].copy_from_slice(&((HEADER + DESCRIPTION) as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&libc::RTM_GETLINK.to_ne_bytes());
    bytes[6..8].copy_from_slice(&(libc::NLM_F_REQUEST as u16).to_ne_bytes());
    bytes[HEADER + 4..HEADER + 8].copy_from_slice(&index.to_ne_bytes());
    bytes
}

/// The count in an answer.
fn read(answer: &[u8]) -> Option<u32> {
    let kind = u16::from_ne_bytes([*answer.get(4)?, *answer.get(5)?]);
    let mut attributes = answer.get(HEADER + DESCRIPTION..).filter(|_| kind == libc::RTM_NEWLINK)?;
    loop {
        let (head, _) = attributes.split_first_chunk::<4>()?;
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let value = attributes.get(4..length)?;
        if u16::from_ne_bytes([head[2], head[3]]) == CARRIER_CHANGES {
            return value.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER + DESCRIPTION];
        bytes[4..6].copy_from_slice(&libc::RTM_NEWLINK.to_ne_bytes());
        for (kind, value) in attributes {
            bytes.extend(((4 + value.len()) as u16).to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(*value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn the_count_is_found_among_other_attributes() {
        let seven = 7_u32.to_ne_bytes();
        let whole = answer(&[(3, b"eth0\0"), (CARRIER_CHANGES, &seven), (4, &[0; 4])]);
        assert_eq!(read(&whole), Some(7));
        assert_eq!(read(&answer(&[(3, b"eth0\0")])), None);
        (0..whole.len() - 8).for_each(|length| assert_eq!(read(&whole[..length]), None));
        // An attribute without a length, an error of netlink.
        let mut bad = whole.clone();
        bad[HEADER + DESCRIPTION..][..2].fill(0);
        assert_eq!(read(&bad), None);
        bad = whole;
        bad[4] = libc::NLMSG_ERROR as u8;
        assert_eq!(read(&bad), None);
    }

    #[test]
    fn the_kernel_says_it_of_loopback() {
        assert!(matches!(changes(1), Ok(Some(_))));
        assert!(!matches!(changes(i32::MAX), Ok(Some(_))));
    }
}
