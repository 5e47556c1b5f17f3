//! The classic BPF filters of AF_PACKET sockets: which frames a socket is shown.
//!
//! They divide frames as the XDP program of `bpf/route` does, so that it makes no difference by which means a frame
//! came: ARP and neighbour discovery are for the neighbourhood, the kernel's own traffic is for nobody here, and the
//! rest is for the router. What has a VLAN tag, its neighbours included, what is neither IP nor ARP, and what is shorter than its headers is shown
//! to the router as well, which counts it.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/networking/filter.rst; `bpf/route/route.h` |
//! | Work | in the kernel: O(1) a frame, and O(addresses) where it goes to the router |
//! | Units | bytes |

use std::io;
use std::net::IpAddr;
use std::os::fd::BorrowedFd;

use libc::{
    BPF_ABS, BPF_B, BPF_H, BPF_JA, BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JMP, BPF_K, BPF_LD, BPF_LEN, BPF_RET, BPF_W,
};
use libc::{sock_filter, sock_fprog};

use super::option;

/// The most addresses of the kernel that a filter knows.
const MOST_ADDRESSES: usize = 256;
/// Where the kernel says whether it took a VLAN tag off the frame.
const TAG_TAKEN: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_VLAN_TAG_PRESENT) as u32;
const SHOWN: u32 = u32::MAX;
const HIDDEN: u32 = 0;

/// Whom a socket is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown<'a> {
    /// The router: all but neighbour traffic, and but what is for these addresses, which the kernel has.
    Router(&'a [IpAddr]),
    /// The neighbourhood: ARP and neighbour discovery.
    Neighbours,
}

/// Shows a socket only what it is for.
pub(crate) fn attach(socket: BorrowedFd<'_>, shown: Shown<'_>) -> io::Result<()> {
    let mut program = program(shown)?;
    let filter = sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // It points to `len` instructions, which the kernel copies.
    option::set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)
}

fn program(shown: Shown<'_>) -> io::Result<Vec<sock_filter>> {
    let (neighbour, other, kernels) = match shown {
        Shown::Router(kernels) => (HIDDEN, SHOWN, kernels),
        Shown::Neighbours => (SHOWN, HIDDEN, &[][..]),
    };
    if kernels.len() > MOST_ADDRESSES {
        let what = format!("the kernel has {} addresses there, at most {MOST_ADDRESSES} fit", kernels.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let ipv4 = to_ipv4(kernels, other);
    let mut all = vec![
        // A tag that was taken off.
        load(BPF_W, TAG_TAKEN),
        branch(BPF_JEQ, 0, 1, 0),
        answer(other),
        load(BPF_H, 12),
        branch(BPF_JEQ, 0x0806, 0, 1),
        answer(neighbour),
        branch(BPF_JEQ, 0x86dd, 0, 1),
        jump(2 + ipv4.len() as u32),
        branch(BPF_JEQ, 0x0800, 1, 0),
        answer(other),
    ];
    all.extend(ipv4);
    all.extend(to_ipv6(kernels, neighbour, other));
    Ok(all)
}

/// What becomes of IPv4, its destination at byte 30.
fn to_ipv4(kernels: &[IpAddr], other: u32) -> Vec<sock_filter> {
    let mut part = vec![length(), branch(BPF_JGE, 34, 1, 0), answer(other), load(BPF_W, 30)];
    for kernel in kernels {
        if let IpAddr::V4(address) = kernel {
            part.extend([branch(BPF_JEQ, u32::from(*address), 0, 1), answer(HIDDEN)]);
        }
    }
    part.push(answer(other));
    part
}

/// What becomes of IPv6, its next header and hop limit at bytes 20 and 21, its destination at byte 38, and the type of
/// an ICMPv6 message at byte 54.
fn to_ipv6(kernels: &[IpAddr], neighbour: u32, other: u32) -> Vec<sock_filter> {
    let mut part = vec![
        length(),
        branch(BPF_JGE, 54, 1, 0),
        answer(other),
        load(BPF_H, 20),
        branch(BPF_JEQ, 58 << 8 | 255, 0, 6),
        length(),
        branch(BPF_JGE, 55, 0, 4),
        load(BPF_B, 54),
        branch(BPF_JGE, 133, 0, 2),
        branch(BPF_JGT, 137, 1, 0),
        answer(neighbour),
    ];
    for kernel in kernels {
        if let IpAddr::V6(address) = kernel {
            let words = address.octets();
            for (word, next) in words.chunks_exact(4).zip([7, 5, 3, 1]) {
                let place = 38 + 4 * (7 - next) / 2;
                let word = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
                part.extend([load(BPF_W, place), branch(BPF_JEQ, word, 0, next as u8)]);
            }
            part.push(answer(HIDDEN));
        }
    }
    part.push(answer(other));
    part
}

fn load(width: u32, place: u32) -> sock_filter {
    sock_filter { code: (BPF_LD | BPF_ABS | width) as u16, jt: 0, jf: 0, k: place }
}

/// Of the frame: a load beyond it would hide it.
fn length() -> sock_filter {
    sock_filter { code: (BPF_LD | BPF_W | BPF_LEN) as u16, jt: 0, jf: 0, k: 0 }
}

/// Skips `holds` instructions where the comparison holds, and `fails` where it does not.
fn branch(comparison: u32, with: u32, holds: u8, fails: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | BPF_K | comparison) as u16, jt: holds, jf: fails, k: with }
}

fn jump(over: u32) -> sock_filter {
    sock_filter { code: (BPF_JMP | BPF_JA) as u16, jt: 0, jf: 0, k: over }
}

fn answer(bytes: u32) -> sock_filter {
    sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k: bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixDatagram;

    const KERNELS: [&str; 4] = ["10.0.0.1", "fd00::1", "192.0.2.7", "fe80::2"];

    fn kernels() -> Vec<IpAddr> {
        KERNELS.iter().map(|text| text.parse().expect("an address")).collect()
    }

    /// A frame with these 14 bytes of Ethernet type and IP, of which the destination is written last.
    fn frame(ethertype: u16, header: &[(usize, u8)], to: Option<&str>) -> Vec<u8> {
        let mut frame = vec![0; 80];
        frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
        for &(place, byte) in header {
            frame[place] = byte;
        }
        match to.map(|text| text.parse::<IpAddr>().expect("an address")) {
            Some(IpAddr::V4(to)) => frame[30..34].copy_from_slice(&to.octets()),
            Some(IpAddr::V6(to)) => frame[38..54].copy_from_slice(&to.octets()),
            None => {}
        }
        frame
    }

    /// Any socket runs these filters, also one that needs no permission.
    fn shows(shown: Shown<'_>, frame: &[u8]) -> bool {
        let (ours, theirs) = UnixDatagram::pair().expect("two sockets");
        ours.set_nonblocking(true).expect("set");
        attach(ours.as_fd(), shown).expect("attached");
        // A frame that is not shown is refused to its sender (EPERM).
        theirs.send(frame).is_ok() && ours.recv(&mut [0; 128]).is_ok()
    }

    #[test]
    fn a_frame_is_shown_to_whom_it_is_for() {
        let kernels = kernels();
        let (router, both, nobody, neighbours) = ((true, false), (true, true), (false, false), (false, true));
        for (frame, expected, what) in [
            (frame(0x0806, &[], None), neighbours, "ARP"),
            (
                frame(0x86dd, &[(20, 58), (21, 255), (54, 133)], Some("ff02::2")),
                neighbours,
                "first discovery type",
            ),
            (
                frame(0x86dd, &[(20, 58), (21, 255), (54, 137)], Some("fd00::1")),
                neighbours,
                "last, to the kernel",
            ),
            (frame(0x86dd, &[(20, 58), (21, 255), (54, 132)], Some("ff02::2")), router, "a type below"),
            (frame(0x86dd, &[(20, 58), (21, 255), (54, 138)], Some("ff02::2")), router, "a type above"),
            (
                frame(0x86dd, &[(20, 58), (21, 64), (54, 135)], Some("fd00::9")),
                router,
                "a hop limit below 255",
            ),
            (frame(0x86dd, &[(20, 17), (21, 255), (54, 135)], Some("fd00::9")), router, "UDP"),
            (frame(0x86dd, &[(20, 17)], Some("fd00::1")), nobody, "the kernel's first"),
            (frame(0x86dd, &[(20, 58), (21, 64)], Some("fe80::2")), nobody, "the kernel's last"),
            (frame(0x86dd, &[], Some("fe80::2:0:0:2")), router, "an address that differs in the middle"),
            (frame(0x86dd, &[], Some("fd80::2")), router, "an address that differs at first"),
            (frame(0x0800, &[], Some("10.0.0.1")), nobody, "the kernel's first of IPv4"),
            (frame(0x0800, &[], Some("192.0.2.7")), nobody, "the kernel's last of IPv4"),
            (frame(0x0800, &[], Some("10.0.0.2")), router, "IPv4"),
            (frame(0x8100, &[], None), router, "VLAN"),
            (frame(0x88cc, &[], None), router, "another protocol"),
        ] {
            let seen = (shows(Shown::Router(&kernels), &frame), shows(Shown::Neighbours, &frame));
            assert_eq!(seen, expected, "{what}");
            assert_ne!(seen, both, "{what}");
        }
    }

    #[test]
    fn frames_shorter_than_their_headers_are_shown_to_the_router() {
        let kernels = kernels();
        for (ethertype, whole) in [(0x0800, 34), (0x86dd, 55), (0x0806, 14)] {
            for length in 1..80 {
                let frame = &frame(ethertype, &[(20, 58), (21, 255), (54, 135)], None)[..length];
                let seen = (shows(Shown::Router(&kernels), frame), shows(Shown::Neighbours, frame));
                assert_ne!(seen, (true, true), "{ethertype:#x}, {length} bytes");
                if (14..whole).contains(&length) {
                    assert_eq!(seen, (true, false), "{ethertype:#x}, {length} bytes");
                }
            }
        }
    }

    #[test]
    fn as_many_addresses_as_fit_are_taken_and_one_more_is_refused() {
        let many = |count: u32| (0..count).map(|n| IpAddr::V6(u128::from(n).into())).collect::<Vec<_>>();
        let most = many(MOST_ADDRESSES as u32);
        assert!(!shows(Shown::Router(&most), &frame(0x86dd, &[], Some("::ff"))));
        assert!(shows(Shown::Router(&most), &frame(0x86dd, &[], Some("::100"))));
        assert!(program(Shown::Router(&many(MOST_ADDRESSES as u32 + 1))).is_err());
    }
}
