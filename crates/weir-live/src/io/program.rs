//! The XDP program of an interface of the router: loaded, given what it must know, and read.
//!
//! The program is that of `bpf/route`, which says what it does with which frame. It goes away with the daemon unless it
//! is pinned for `on_failure = "stop"`: then it stays and drops what no socket takes, until the next daemon of the same
//! router puts its own program in its place.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/networking/af_xdp.rst; bpf(2) |
//! | Work | system calls when a device is opened or ended; never for a frame |
//! | Units | frames |

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use libbpf_rs::{MapCore, MapFlags, Object, OpenObject};
use weir_plane::config::{OnFailure, TagType, Vlan};
use weir_plane::snapshot::Left;

use super::Means;
use super::attach::{Attached, CAPABILITY, Mode, Owner, Way, map, open, plain, program};
use super::dispatcher;
use super::fault::Fault;
use super::link::Facts;

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/route.bpf.o"));
/// `ROUTE_FRAMES` of `bpf/route/intf.h`.
const KINDS: usize = 7;
const XDP_DROP: u32 = 1;
const XDP_PASS: u32 = 2;

/// What the program has counted, in frames; the fields are `enum route_frame` of `bpf/route/intf.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// Handed to the socket.
    pub routed: u64,
    /// ARP and neighbour discovery.
    pub neighbour: u64,
    /// For an address of the kernel's.
    pub kernel: u64,
    /// Of a VLAN that the router does not serve.
    pub vlan: u64,
    /// Neither IPv4, IPv6 nor ARP.
    pub other: u64,
    /// Shorter than their headers.
    pub short: u64,
    /// For the router, while no socket took them.
    pub no_socket: u64,
}

/// `enum route_setting` of `bpf/route/intf.h`.
const WITHOUT_SOCKET: u32 = 0;
const ONLY_TAGGED: u32 = 1;

/// The VLANs of a device that the router serves; `None` is frames without a tag.
pub type Vlans = [Option<Vlan>];

/// The program, attached to an interface until it is dropped, or until the machine ends where it is pinned.
pub struct Program {
    object: Object,
    attached: Attached,
}

/// A program that is loaded, and on no interface yet.
pub struct Loaded(Object, Way);

impl Loaded {
    /// Loads it for an interface of a router.
    ///
    /// # Errors
    /// Permission is missing, or the kernel has no XDP.
    pub fn new(means: &Means, facts: &Facts) -> Result<Self, Fault> {
        load(means, facts, OnFailure::Pass).map(|(object, way)| Self(object, way))
    }

    /// As of [`Program::serve`].
    ///
    /// # Errors
    /// Permission is missing.
    pub fn serve(&mut self, vlans: &Vlans) -> io::Result<()> {
        serve(&self.0, vlans)
    }
}

impl FrameCounts {
    /// Frames that were left to the kernel, by why.
    #[must_use]
    pub fn left_to_kernel(&self) -> [(Left, u64); 6] {
        [
            (Left::Neighbour, self.neighbour),
            (Left::Address, self.kernel),
            (Left::Vlan, self.vlan),
            (Left::NotIp, self.other),
            (Left::Short, self.short),
            (Left::NoSocket, self.no_socket),
        ]
    }
}

impl Program {
    /// Loads and attaches it for a router.
    ///
    /// # Errors
    /// Permission is missing, the kernel has no XDP, or another program is attached.
    pub fn attach(means: &Means, facts: &Facts) -> Result<Self, Fault> {
        let (object, way) = load(means, facts, means.on_failure)?;
        let program = program(&object, "route")
            .map_err(|error| Fault::system(&facts.name, "finding the XDP program", CAPABILITY, error))?;
        let attached = Attached::new(owner(means), facts, &way, program)?;
        Ok(Self { object, attached })
    }

    /// Puts what was loaded in the place of the program of a daemon which runs, whose link has this number. The kernel has all
    /// frames until there are sockets, whatever `on_failure` says: see [`settle`](Self::settle).
    ///
    /// # Errors
    /// Permission is missing, or the link is of another interface.
    pub fn after(
        Loaded(object, way): Loaded,
        means: &Means,
        facts: &Facts,
        link: u32,
    ) -> Result<Self, Fault> {
        let program = program(&object, "route")
            .map_err(|error| Fault::system(&facts.name, "finding the XDP program", CAPABILITY, error))?;
        let attached = Attached::after(owner(means), facts, &way, program, link)?;
        Ok(Self { object, attached })
    }

    /// From now on what no socket takes is dealt with as `on_failure` says.
    ///
    /// # Errors
    /// Permission is missing.
    pub fn settle(&mut self, on_failure: OnFailure) -> io::Result<()> {
        without_socket(&self.object, on_failure)
    }

    /// Puts it into its link again, which another process has put its own into.
    ///
    /// # Errors
    /// Permission is missing.
    pub fn return_to_link(&self) -> io::Result<()> {
        self.attached.put_back(program(&self.object, "route")?)
    }

    /// The number of its link in the kernel.
    ///
    /// # Errors
    /// The kernel does not say so.
    pub fn link(&self) -> io::Result<u32> {
        self.attached.number()
    }

    /// Hands the frames of a queue to a socket; it forgets the socket when that is closed.
    ///
    /// # Errors
    /// The kernel refuses the socket.
    pub fn register(&mut self, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        let value = socket.as_raw_fd().to_ne_bytes();
        map(&self.object, "sockets")?.update(&queue.to_ne_bytes(), &value, MapFlags::ANY).map_err(plain)
    }

    /// The kernel has these addresses now: frames for them are left to it.
    ///
    /// # Errors
    /// There are more of them than the program holds, or permission is missing.
    pub fn leave_to_kernel(&mut self, addresses: &[IpAddr]) -> io::Result<()> {
        leave_to_kernel(&self.object, addresses)
    }

    /// The router serves these VLANs now: frames of others are left to the kernel.
    ///
    /// # Errors
    /// Permission is missing.
    pub fn serve(&mut self, vlans: &Vlans) -> io::Result<()> {
        serve(&self.object, vlans)
    }

    /// What it has counted since it was loaded.
    ///
    /// # Errors
    /// Permission is missing.
    pub fn counts(&self) -> io::Result<FrameCounts> {
        let counts = map(&self.object, "counts")?;
        let mut sums = [0u64; KINDS];
        for (kind, sum) in (0u32..).zip(&mut sums) {
            let each =
                counts.lookup_percpu(&kind.to_ne_bytes(), MapFlags::ANY).map_err(plain)?.unwrap_or_default();
            let numbers = each.iter().filter_map(|bytes| Some(u64::from_ne_bytes(*bytes.first_chunk()?)));
            *sum = numbers.sum();
        }
        let [routed, neighbour, kernel, vlan, other, short, no_socket] = sums;
        Ok(FrameCounts { routed, neighbour, kernel, vlan, other, short, no_socket })
    }

    /// Whether it is behind a dispatcher.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.attached.is_behind()
    }

    /// Where it runs.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.attached.mode()
    }

    /// Takes it off the interface, pinned or not.
    ///
    /// # Errors
    /// The pin cannot be removed.
    pub fn detach(self) -> Result<(), Fault> {
        self.attached.detach()
    }
}

impl AsFd for Program {
    /// Its link.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.attached.as_fd()
    }
}

fn owner(means: &Means) -> Owner<'_> {
    Owner {
        name: &means.router,
        pin: (means.on_failure == OnFailure::Stop).then_some("on_failure = \"stop\""),
        instead: Some("use io = \"af_packet\""),
        sharing: means.sharing,
    }
}

/// Loads the program and tells it what it must know before its first frame.
fn load(means: &Means, facts: &Facts, on_failure: OnFailure) -> Result<(Object, Way), Fault> {
    let way = Way::of(owner(means), facts)?;
    let loaded = open(OBJECT).and_then(|object| way.fit(object, "route")).and_then(OpenObject::load);
    let object = loaded.map_err(|error| way.refused(facts, error, "Linux 5.9"))?;
    without_socket(&object, on_failure)
        .and_then(|()| leave_to_kernel(&object, &facts.addresses))
        .and_then(|()| serve(&object, &means.vlans))
        .map_err(|error| {
            Fault::system(&facts.name, "telling the XDP program of the interface", CAPABILITY, error)
        })?;
    Ok((object, way))
}

/// Puts the program into a dispatcher that is on no interface: whether the kernel can.
///
/// # Errors
/// It cannot, or may not here.
pub fn joins() -> io::Result<()> {
    let dispatcher = dispatcher::template()?;
    let mut object = open(OBJECT).map_err(plain)?;
    dispatcher.fit(&mut object, "route").map_err(plain)?;
    let object = object.load().map_err(plain)?;
    dispatcher.link(0, program(&object, "route")?).map(drop)
}

fn without_socket(object: &Object, on_failure: OnFailure) -> io::Result<()> {
    let action = if on_failure == OnFailure::Stop { XDP_DROP } else { XDP_PASS };
    set(object, WITHOUT_SOCKET, action)
}

fn set(object: &Object, setting: u32, value: u32) -> io::Result<()> {
    let map = map(object, "settings")?;
    map.update(&setting.to_ne_bytes(), &value.to_ne_bytes(), MapFlags::ANY).map_err(plain)
}

fn serve(object: &Object, vlans: &Vlans) -> io::Result<()> {
    let wanted = vlans.iter().flatten().map(tags).collect::<Vec<_>>();
    let map = map(object, "vlans")?;
    keep(&map, &wanted)?;
    set(object, ONLY_TAGGED, u32::from(!vlans.contains(&None)))
}

/// Has a map hold these keys, and no others.
fn keep<const N: usize>(map: &impl MapCore, wanted: &[[u8; N]]) -> io::Result<()> {
    let gone = map.keys().filter(|key| !wanted.iter().any(|other| other[..] == key[..])).collect::<Vec<_>>();
    gone.iter().try_for_each(|key| map.delete(key)).map_err(plain)?;
    wanted.iter().try_for_each(|key| map.update(key, &[1], MapFlags::ANY)).map_err(plain)
}

fn leave_to_kernel(object: &Object, addresses: &[IpAddr]) -> io::Result<()> {
    let map = map(object, "addresses")?;
    keep(&map, &addresses.iter().map(|address| mapped(*address)).collect::<Vec<_>>())
}

/// `struct route_tags`.
fn tags(vlan: &Vlan) -> [u8; 6] {
    let (kind, outer) = vlan.outer.map_or((TagType::Customer, 0), |outer| (outer.kind, outer.id));
    let [[a, b], [c, d], [e, f]] = [kind.ethertype(), outer, vlan.id].map(u16::to_ne_bytes);
    [a, b, c, d, e, f]
}

/// `struct route_address`.
fn mapped(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}
