//! The system calls by which the kernel says something of an interface.
//!
//! | | |
//! |-|-|
//! | Source | netdevice(7), getifaddrs(3); Linux, include/uapi/linux/ethtool.h |
//! | Work | one system call an answer |
//! | Units | bytes |

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use weir_plane::config::MacAddress;

use super::{Offloads, Queues, checked, owned};
use crate::io::fault::{Fault, Kind};

/// The longest name of an interface, in bytes.
const LONGEST_NAME: usize = libc::IFNAMSIZ - 1;
/// The request of the `ethtool` program.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GRXCSUM: u32 = 0x14;
const ETHTOOL_GTXCSUM: u32 = 0x16;
const ETHTOOL_GTSO: u32 = 0x1e;
const ETHTOOL_GGSO: u32 = 0x23;
const ETHTOOL_GFLAGS: u32 = 0x25;
const ETHTOOL_GGRO: u32 = 0x2b;
const ETHTOOL_GCHANNELS: u32 = 0x3c;
/// Bits of ETHTOOL_GFLAGS.
const FLAG_TXVLAN: u32 = 1 << 7;
const FLAG_RXVLAN: u32 = 1 << 8;
const FLAG_LRO: u32 = 1 << 15;

/// A socket to ask about one interface.
pub(super) struct Ask {
    socket: OwnedFd,
    name: [libc::c_char; libc::IFNAMSIZ],
}

/// What `ETHTOOL_GDRVINFO` fills in, which begins with the name of the driver.
#[repr(C)]
struct Driver {
    command: u32,
    text: [u8; DRIVER],
}

const DRIVER: usize = 192;

/// What `ETHTOOL_GCHANNELS` fills in.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    most: [u32; 4],
    receive: u32,
    transmit: u32,
    other: u32,
    combined: u32,
}

impl Ask {
    pub(super) fn new(name: &str) -> Result<Self, Fault> {
        if name.is_empty() || name.len() > LONGEST_NAME || name.contains('\0') {
            let what = format!("a name has 1 to {LONGEST_NAME} bytes, this one {}", name.len());
            return Err(Fault::new(Kind::Gone, name, what, "`ip link` lists the interfaces that there are"));
        }
        let mut bytes = [0; libc::IFNAMSIZ];
        for (to, from) in bytes.iter_mut().zip(name.bytes()) {
            *to = from as libc::c_char;
        }
        // A socket of any family asks of devices; this one a daemon may open that may open none of IP.
        // SAFETY: a plain system call, whose result is checked.
        let socket = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
        let socket =
            owned(socket).map_err(|error| Fault::system(name, "asking about it", "CAP_NET_RAW", error))?;
        Ok(Self { socket, name: bytes })
    }

    /// The answer to a request whose argument is an `ifreq`.
    fn ask(&self, request: libc::c_ulong) -> io::Result<libc::ifreq> {
        // SAFETY: `ifreq` is plain data, for which zeros are valid.
        let mut answer: libc::ifreq = unsafe { core::mem::zeroed() };
        answer.ifr_name = self.name;
        // SAFETY: the requests used here read and write one `ifreq`, which lives through the call.
        checked(unsafe { libc::ioctl(self.socket.as_raw_fd(), request as _, &raw mut answer) })?;
        Ok(answer)
    }

    pub(super) fn number(&self, request: libc::c_ulong) -> io::Result<i32> {
        // SAFETY: the requests that this is called with answer an `int`, which has the place of `ifru_ifindex`.
        self.ask(request).map(|answer| unsafe { answer.ifr_ifru.ifru_ifindex })
    }

    pub(super) fn flags(&self) -> io::Result<i32> {
        // SAFETY: SIOCGIFFLAGS answers with flags.
        self.ask(libc::SIOCGIFFLAGS).map(|answer| i32::from(unsafe { answer.ifr_ifru.ifru_flags }))
    }

    /// `None` where the interface is no Ethernet.
    pub(super) fn mac(&self) -> io::Result<Option<MacAddress>> {
        let answer = self.ask(libc::SIOCGIFHWADDR)?;
        // SAFETY: SIOCGIFHWADDR answers with a `sockaddr`.
        let address = unsafe { answer.ifr_ifru.ifru_hwaddr };
        let [a, b, c, d, e, f, ..] = address.sa_data.map(|byte| byte as u8);
        Ok((address.sa_family == libc::ARPHRD_ETHER).then_some(MacAddress([a, b, c, d, e, f])))
    }

    /// Asks as `ethtool` does.
    fn ethtool<T>(&self, argument: &mut T) -> io::Result<()> {
        // SAFETY: `ifreq` is plain data, for which zeros are valid.
        let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
        request.ifr_name = self.name;
        request.ifr_ifru.ifru_data = ptr::from_mut(argument).cast();
        // SAFETY: `argument` begins with its command and has the form that this command fills in; it outlives the call.
        checked(unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) })
            .map(|_| ())
    }

    fn value(&self, command: u32) -> u32 {
        let mut argument = [command, 0];
        self.ethtool(&mut argument).map_or(0, |()| argument[1])
    }

    pub(super) fn offloads(&self) -> Offloads {
        let flags = self.value(ETHTOOL_GFLAGS);
        Offloads {
            transmit_checksum: self.value(ETHTOOL_GTXCSUM) != 0,
            receive_checksum: self.value(ETHTOOL_GRXCSUM) != 0,
            segmentation: self.value(ETHTOOL_GTSO) != 0,
            generic_segmentation: self.value(ETHTOOL_GGSO) != 0,
            generic_receive: self.value(ETHTOOL_GGRO) != 0,
            large_receive: flags & FLAG_LRO != 0,
            vlan_transmit: flags & FLAG_TXVLAN != 0,
            vlan_receive: flags & FLAG_RXVLAN != 0 && !self.is_veth(),
        }
    }

    fn is_veth(&self) -> bool {
        let mut driver = Driver { command: ETHTOOL_GDRVINFO, text: [0; DRIVER] };
        self.ethtool(&mut driver).is_ok() && driver.text.starts_with(b"veth\0")
    }

    /// One, where the device does not say.
    pub(super) fn queues(&self) -> Queues {
        let mut channels = Channels { command: ETHTOOL_GCHANNELS, ..Channels::default() };
        let known = self.ethtool(&mut channels).is_ok();
        let receive = if known { (channels.receive + channels.combined).max(1) } else { 1 };
        Queues { receive, combined: known && channels.combined > 0 }
    }
}

/// The addresses that the kernel has on an interface.
pub(super) fn addresses(name: &str) -> io::Result<Vec<IpAddr>> {
    let mut list = ptr::null_mut();
    // SAFETY: writes where the list begins; freed below.
    checked(unsafe { libc::getifaddrs(&raw mut list) })?;
    let mut found = Vec::new();
    let mut next = list;
    // SAFETY: every element of the list, its name and its address are valid until `freeifaddrs`.
    while let Some(element) = unsafe { next.as_ref() } {
        // SAFETY: as above; the name ends with a zero.
        if unsafe { CStr::from_ptr(element.ifa_name) }.to_bytes() == name.as_bytes() {
            // SAFETY: as above; an address has the form that its family says.
            found.extend(unsafe { address(element.ifa_addr) });
        }
        next = element.ifa_next;
    }
    // SAFETY: the list came from `getifaddrs` and is not used afterwards.
    unsafe { libc::freeifaddrs(list) };
    Ok(found)
}

/// The address of IP there; `None` for one of another family, and for none.
///
/// # Safety
/// `at` is null, or points to a socket address as long as its family says.
unsafe fn address(at: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: by the contract.
    match i32::from(unsafe { at.as_ref()? }.sa_family) {
        libc::AF_INET => {
            // SAFETY: by the contract; the family is IPv4.
            let address = unsafe { ptr::read_unaligned(at.cast::<libc::sockaddr_in>()) };
            Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: by the contract; the family is IPv6.
            let address = unsafe { ptr::read_unaligned(at.cast::<libc::sockaddr_in6>()) };
            Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}
