//! What the kernel says of an interface, and who uses it.
//!
//! Facts come from `ioctl`, which answers for the network namespace of the thread, as `/sys` may not. A [`Claim`] keeps
//! two daemons from one interface: a name in the abstract namespace of Unix sockets, which belongs to the network
//! namespace and vanishes with the process, whichever way it ends. A [`Watch`] says when to look again.
//!
//! | | |
//! |-|-|
//! | Source | netdevice(7), getifaddrs(3), rtnetlink(7), unix(7); Linux, include/uapi/linux/ethtool.h |
//! | Work | a few system calls, when a device is opened or has changed; never for a frame |
//! | Units | bytes |

use std::ffi::{CStr, CString};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use weir_plane::config::MacAddress;

use super::fault::{Fault, Kind};

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

/// What the kernel says of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its name.
    pub name: String,
    /// Its number, which another interface of the same name would not have.
    pub index: u32,
    /// Its address on the Ethernet.
    pub mac: MacAddress,
    /// The largest IP packet that it takes, in bytes.
    pub mtu: u32,
    /// Whether it is up, and its line as well.
    pub up: bool,
    /// How many queues frames come in by, and how `ethtool -L` sets them.
    pub queues: Queues,
    /// What the device, or the kernel for it, does to packets.
    pub offloads: Offloads,
    /// The addresses that the kernel itself has there.
    pub addresses: Vec<IpAddr>,
}

/// How many queues an interface has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// Queues that frames come in by.
    pub receive: u32,
    /// Whether they are set together with those for sending.
    pub combined: bool,
}

/// What a device, or the kernel for it, does to packets; `false` also where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offloads {
    /// Transport checksums of what it sends are left to it: who reads such frames off the line before they reached a
    /// real one sees them unfinished.
    pub transmit_checksum: bool,
    /// Checksums of what it receives are examined by it.
    pub receive_checksum: bool,
    /// It cuts long TCP segments.
    pub segmentation: bool,
    /// The kernel cuts long segments for it.
    pub generic_segmentation: bool,
    /// The kernel joins packets that come in.
    pub generic_receive: bool,
    /// It joins packets that come in.
    pub large_receive: bool,
    /// VLAN tags of what it sends are left to it.
    pub vlan_transmit: bool,
    /// It takes VLAN tags off; a veth does not, but passes on what its other end was left to do.
    pub vlan_receive: bool,
}

impl Offloads {
    /// The features by which what comes in is no longer what was on the line.
    fn receiving(self) -> impl Iterator<Item = &'static str> {
        let features =
            [(self.generic_receive, "gro"), (self.large_receive, "lro"), (self.vlan_receive, "rxvlan")];
        features.into_iter().filter_map(|(on, name)| on.then_some(name))
    }

    /// The features by which what a host hands to this device is not finished yet.
    fn sending(self) -> impl Iterator<Item = &'static str> {
        let features = [
            (self.transmit_checksum, "tx"),
            (self.segmentation, "tso"),
            (self.generic_segmentation, "gso"),
            (self.vlan_transmit, "txvlan"),
        ];
        features.into_iter().filter_map(|(on, name)| on.then_some(name))
    }
}

impl Facts {
    /// What the kernel says of the interface of this name.
    ///
    /// # Errors
    /// There is none, or it is no Ethernet.
    pub fn of(name: &str) -> Result<Self, Fault> {
        let ask = Ask::new(name)?;
        let failed = |what| move |error| Fault::system(name, what, "CAP_NET_RAW", error);
        let index = ask.number(libc::SIOCGIFINDEX).map_err(failed("asking for its number"))?;
        let mac = ask.mac().map_err(failed("asking for its address"))?.ok_or_else(|| {
            Fault::new(
                Kind::Unsupported,
                name,
                "is no Ethernet",
                "the router forwards between Ethernet interfaces",
            )
        })?;
        let mtu = ask.number(libc::SIOCGIFMTU).map_err(failed("asking for its MTU"))?;
        let flags = ask.flags().map_err(failed("asking whether it is up"))?;
        let up = libc::IFF_UP | libc::IFF_RUNNING;
        Ok(Self {
            name: name.into(),
            index: index as u32,
            mac,
            mtu: mtu.max(0) as u32,
            up: flags & up == up,
            queues: ask.queues(),
            offloads: ask.offloads(),
            addresses: addresses(name).map_err(failed("asking for its addresses"))?,
        })
    }

    /// The line that leaves the interface so many queues.
    #[must_use]
    pub fn fewer_queues(&self, most: u32) -> String {
        let Self { name, queues, .. } = self;
        match queues.combined {
            true => format!("ethtool -L {name} combined {most}"),
            false => format!("ethtool -L {name} rx {most} tx {most}"),
        }
    }

    /// The line that lets frames come in as they were on the line, for an interface of the router; `None` where they do.
    #[must_use]
    pub fn receive_whole(&self) -> Option<String> {
        self.without(self.offloads.receiving())
    }

    /// The line that makes a host finish its frames before they leave by this interface, for the other end of a veth
    /// pair; `None` where it does.
    #[must_use]
    pub fn send_whole(&self) -> Option<String> {
        self.without(self.offloads.sending())
    }

    fn without(&self, features: impl Iterator<Item = &'static str>) -> Option<String> {
        let line = features.map(|name| format!(" {name} off")).collect::<String>();
        (!line.is_empty()).then(|| format!("ethtool -K {}{line}", self.name))
    }
}

/// A socket to ask about one interface.
struct Ask {
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
    fn new(name: &str) -> Result<Self, Fault> {
        if name.is_empty() || name.len() > LONGEST_NAME || name.contains('\0') {
            let what = format!("a name has 1 to {LONGEST_NAME} bytes, this one {}", name.len());
            return Err(Fault::new(Kind::Gone, name, what, "`ip link` lists the interfaces that there are"));
        }
        let mut bytes = [0; libc::IFNAMSIZ];
        for (to, from) in bytes.iter_mut().zip(name.bytes()) {
            *to = from as libc::c_char;
        }
        // SAFETY: a plain system call, whose result is checked.
        let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
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

    fn number(&self, request: libc::c_ulong) -> io::Result<i32> {
        // SAFETY: the requests that this is called with answer an `int`, which has the place of `ifru_ifindex`.
        self.ask(request).map(|answer| unsafe { answer.ifr_ifru.ifru_ifindex })
    }

    fn flags(&self) -> io::Result<i32> {
        // SAFETY: SIOCGIFFLAGS answers with flags.
        self.ask(libc::SIOCGIFFLAGS).map(|answer| i32::from(unsafe { answer.ifr_ifru.ifru_flags }))
    }

    /// `None` where the interface is no Ethernet.
    fn mac(&self) -> io::Result<Option<MacAddress>> {
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

    fn offloads(&self) -> Offloads {
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
    fn queues(&self) -> Queues {
        let mut channels = Channels { command: ETHTOOL_GCHANNELS, ..Channels::default() };
        let known = self.ethtool(&mut channels).is_ok();
        let receive = if known { (channels.receive + channels.combined).max(1) } else { 1 };
        Queues { receive, combined: known && channels.combined > 0 }
    }
}

/// The addresses that the kernel has on an interface.
fn addresses(name: &str) -> io::Result<Vec<IpAddr>> {
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

/// Keeps other daemons from an interface, as long as it lives.
#[derive(Debug)]
pub struct Claim {
    _socket: OwnedFd,
}

impl Claim {
    /// Claims the interface of this name in the network namespace of the thread.
    ///
    /// # Errors
    /// Another daemon has it.
    pub fn new(name: &str) -> Result<Self, Fault> {
        let failed = |error| Fault::system(name, "claiming it", "no capability", error);
        // SAFETY: a plain system call, whose result is checked.
        let socket = owned(unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) });
        let socket = socket.map_err(failed)?;
        match bind_abstract(&socket, format!("weir/interface/{name}").as_bytes()) {
            Ok(()) => Ok(Self { _socket: socket }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(Fault::new(
                Kind::Busy,
                name,
                "another daemon has it",
                "end that one, which `weird doctor` names, or give it another interface",
            )),
            Err(error) => Err(failed(error)),
        }
    }
}

fn bind_abstract(socket: &OwnedFd, name: &[u8]) -> io::Result<()> {
    // SAFETY: `sockaddr_un` is plain data, for which zeros are valid.
    let mut address: libc::sockaddr_un = unsafe { core::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as _;
    let room = &mut address.sun_path[1..];
    if name.len() > room.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, &from) in room.iter_mut().zip(name) {
        *to = from as libc::c_char;
    }
    let length = core::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
    // SAFETY: the address is initialised up to `length`, which is within it.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length as _) }).map(|_| ())
}

/// Says when interfaces or their addresses have changed: to be polled for reading.
#[derive(Debug)]
pub struct Watch {
    socket: OwnedFd,
}

impl Watch {
    /// Watches all interfaces of the network namespace of the thread.
    ///
    /// # Errors
    /// The system refuses.
    pub fn new() -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: a plain system call, whose result is checked.
        let socket = owned(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })?;
        // SAFETY: `sockaddr_nl` is plain data, for which zeros are valid.
        let mut address: libc::sockaddr_nl = unsafe { core::mem::zeroed() };
        address.nl_family = libc::AF_NETLINK as _;
        address.nl_groups = (libc::RTMGRP_LINK | libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR) as u32;
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the address is initialised, and `length` bytes long.
        checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(Self { socket })
    }

    /// Whether anything has changed since the last call.
    pub fn changed(&mut self) -> bool {
        let mut changed = false;
        let mut buffer = [0u8; 4096];
        loop {
            // SAFETY: at most as many bytes are written as the buffer has; what they say is not read.
            let got = unsafe {
                libc::recv(self.socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_TRUNC)
            };
            // Too many changes to hold (ENOBUFS) is a change as well, and so is any other trouble but emptiness.
            let empty = got < 0 && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock;
            if empty {
                return changed;
            }
            changed = true;
            if got <= 0 {
                return changed;
            }
        }
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Whether the kernel itself forwards packets that come in by an interface, as IPv4 or IPv6: beside AF_PACKET sockets
/// each packet would then be forwarded twice.
#[must_use]
pub fn kernel_forwards(name: &str) -> bool {
    ["ipv4", "ipv6"].iter().any(|version| {
        let path = format!("/proc/sys/net/{version}/conf/{name}/forwarding");
        std::fs::read_to_string(path).is_ok_and(|text| text.trim() != "0")
    })
}

/// A result of a system call that says `-1` and `errno`.
pub(crate) fn checked(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The same of one that opens something.
pub(crate) fn owned(result: i32) -> io::Result<OwnedFd> {
    // SAFETY: the number was just given by the kernel, and nobody else has it.
    checked(result).map(|number| unsafe { OwnedFd::from_raw_fd(number) })
}

/// The text as C has it; an error for a text with a zero inside.
pub(crate) fn c_string(text: impl Into<Vec<u8>>) -> io::Result<CString> {
    CString::new(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}
