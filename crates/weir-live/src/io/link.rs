//! What the kernel says of an interface, and who uses it.
//!
//! Facts come from `ioctl`, which answers for the network namespace of the thread, as `/sys` may not. A [`Claim`] keeps
//! two daemons from one interface: a name in the abstract namespace of Unix sockets, which belongs to the network
//! namespace and vanishes with the process, whichever way it ends. A [`Watch`] says when to look again.
//!
//! | | |
//! |-|-|
//! | Source | netdevice(7), rtnetlink(7), unix(7) |
//! | Work | a few system calls, when a device is opened or has changed; never for a frame |
//! | Units | bytes |

use std::ffi::CString;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use weir_plane::config::MacAddress;

use super::fault::{Fault, Kind};
use super::holder;
use ask::{Ask, addresses};

mod ask;
mod carrier;

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
    /// How often its line came and went since it was made; zero where the kernel does not say. Between two looks a line
    /// may be down and up again.
    pub carrier_changes: u32,
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
            carrier_changes: carrier::changes(index).ok().flatten().unwrap_or(0),
            queues: ask.queues(),
            offloads: ask.offloads(),
            addresses: addresses(name).map_err(failed("asking for its addresses"))?,
        })
    }

    /// The command that leaves the interface `most` queues.
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
        match bind_abstract(&socket, format!("{}{name}", holder::PREFIX).as_bytes()) {
            Ok(()) => Ok(Self { _socket: socket }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                let unseen = || "one that /proc does not show here".to_owned();
                let holder = holder::of(name).map_or_else(unseen, |holder| holder.to_string());
                let what = format!("another process has it, {holder}");
                Err(Fault::new(Kind::Busy, name, what, "end that one, or give it another interface"))
            }
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

/// Whether the kernel itself forwards packets that come in by an interface, as IPv4 or IPv6: where AF_PACKET sockets
/// read it as well, each packet would then be forwarded twice.
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
