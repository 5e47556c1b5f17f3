//! The XDP program of an interface: loaded, attached, pinned, taken over, and taken away.
//!
//! The program is that of `bpf/route`, which says what it does with which frame. It is attached by a link, in the
//! driver or, where the driver cannot, in the kernel's generic path. The link goes away with the daemon, also when it
//! is killed, unless it is pinned for `on_failure = "stop"`: then it stays and drops what no socket takes, and the next
//! daemon of the same router puts its own program into it.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/bpf/ and Documentation/networking/af_xdp.rst; bpf(2) |
//! | Work | system calls when a device is opened or ended; never for a frame |
//! | Units | frames |

use std::ffi::OsStr;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore, MapFlags, Object, ObjectBuilder};

use super::fault::{Fault, Kind};
use super::link::{Facts, c_string, checked, owned};
use crate::config::OnFailure;
use crate::plane::snapshot::Left;

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/route.bpf.o"));
const CAPABILITY: &str = "CAP_BPF and CAP_NET_ADMIN";
/// Where file systems of BPF objects are usually mounted.
const BPF_FILES: &str = "/sys/fs/bpf";
/// Where links are pinned: one folder a router.
pub const PINS: &str = "/sys/fs/bpf/weir";
/// How a dot in the name of an interface is written there, where names have none.
const DOT: &str = "%2e";
/// What `statfs` says of such a file system.
const BPF_MAGIC: u64 = 0xcafe_4a11;
/// `ROUTE_FRAMES` of `bpf/route/intf.h`.
const KINDS: usize = 7;
const XDP_DROP: u32 = 1;
const XDP_PASS: u32 = 2;

/// Where the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the driver, before the kernel makes anything of a frame.
    Driver,
    /// In the kernel's generic path, after it has.
    Generic,
}

/// What the program has counted, in frames; the fields are `enum route_frame` of `bpf/route/intf.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// Handed to the socket.
    pub routed: u64,
    /// ARP and neighbour discovery.
    pub neighbour: u64,
    /// For an address of the kernel's.
    pub kernel: u64,
    /// With a VLAN tag.
    pub vlan: u64,
    /// Neither IPv4, IPv6 nor ARP.
    pub other: u64,
    /// Shorter than their headers.
    pub short: u64,
    /// For the router, while no socket took them.
    pub no_socket: u64,
}

/// The program, attached to an interface until it is dropped, or until the machine ends where it is pinned.
pub struct Program {
    object: Object,
    link: OwnedFd,
    interface: String,
    pin: Option<PathBuf>,
    mode: Mode,
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
    /// Loads and attaches it for a router; `on_failure` says whether its link is pinned.
    ///
    /// # Errors
    /// Permission is missing, the kernel has no XDP, or another program is attached.
    pub fn attach(router: &str, facts: &Facts, on_failure: OnFailure) -> Result<Self, Fault> {
        let object = load(facts, on_failure)?;
        let path = pin_path(router, &facts.name);
        if on_failure == OnFailure::Stop {
            provide_files(&facts.name)?;
        }
        let program = program(&object).as_raw_fd();
        let taken = take_over(facts, &path, program)?;
        let pinned = taken.is_some();
        let (link, mode) = match taken {
            Some(link) => (link, attached_mode(facts.index)),
            None => create(facts, program)?,
        };
        let pin = (on_failure == OnFailure::Stop).then_some(path.clone());
        match (pinned, &pin) {
            (false, Some(path)) => pin_link(&facts.name, &link, path)?,
            (true, None) => unpin(&facts.name, &path)?,
            _ => {}
        }
        Ok(Self { object, link, interface: facts.name.clone(), pin, mode })
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

    /// Where it runs.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Takes it off the interface, pinned or not.
    ///
    /// # Errors
    /// The pin cannot be removed.
    pub fn detach(self) -> Result<(), Fault> {
        // Closing the link detaches it once no pin holds it.
        self.pin.as_deref().map_or(Ok(()), |path| unpin(&self.interface, path))
    }
}

impl AsFd for Program {
    /// Its link.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }
}

/// A link that is pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The router that pinned it.
    pub router: String,
    /// The interface that it was for.
    pub interface: String,
    /// Where it is pinned.
    pub path: PathBuf,
}

/// The links that are pinned, in order; none where there is no file system for them.
#[must_use]
pub fn pins() -> Vec<Pin> {
    let folders = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    let name = |name: std::ffi::OsString| name.to_string_lossy().replace(DOT, ".");
    let mut found = folders(Path::new(PINS))
        .flat_map(|router| {
            let of = name(router.file_name());
            folders(&router.path()).map(move |pin| Pin {
                router: of.clone(),
                interface: name(pin.file_name()),
                path: pin.path(),
            })
        })
        .collect::<Vec<_>>();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

impl Pin {
    /// Removes it: the program is detached, unless a daemon has its link open.
    ///
    /// # Errors
    /// Permission is missing.
    pub fn remove(&self) -> Result<(), Fault> {
        unpin(&self.interface, &self.path)
    }
}

/// Loads the program and tells it what it must know before its first frame.
fn load(facts: &Facts, on_failure: OnFailure) -> Result<Object, Fault> {
    // Errors are reported by us.
    libbpf_rs::set_print(None);
    let loaded = ObjectBuilder::default().open_memory(OBJECT).and_then(libbpf_rs::OpenObject::load);
    let object = loaded.map_err(|error| {
        let denied = error.kind() == libbpf_rs::ErrorKind::PermissionDenied;
        let mut fault = Fault::system(&facts.name, "loading the XDP program", CAPABILITY, plain(error));
        if !denied {
            fault.kind = Kind::Unsupported;
            fault = fault.remedy("this kernel may be without XDP: use io = \"af_packet\"");
        }
        fault
    })?;
    let without = if on_failure == OnFailure::Stop { XDP_DROP } else { XDP_PASS };
    map(&object, "without_socket")
        .and_then(|map| map.update(&0u32.to_ne_bytes(), &without.to_ne_bytes(), MapFlags::ANY).map_err(plain))
        .and_then(|()| leave_to_kernel(&object, &facts.addresses))
        .map_err(|error| {
            Fault::system(&facts.name, "telling the XDP program of the interface", CAPABILITY, error)
        })?;
    Ok(object)
}

fn program(object: &Object) -> BorrowedFd<'_> {
    let program = object.progs().next().expect("the object has one program");
    // SAFETY: the number is of the program, which lives as long as its object, which is borrowed.
    unsafe { BorrowedFd::borrow_raw(program.as_fd().as_raw_fd()) }
}

fn map<'a>(object: &'a Object, name: &str) -> io::Result<libbpf_rs::Map<'a>> {
    object
        .maps()
        .find(|map| map.name() == OsStr::new(name))
        .ok_or_else(|| io::Error::other(format!("no map {name}")))
}

fn leave_to_kernel(object: &Object, addresses: &[IpAddr]) -> io::Result<()> {
    let map = map(object, "addresses")?;
    let wanted = addresses.iter().map(|address| mapped(*address)).collect::<Vec<_>>();
    let gone =
        map.keys().filter(|key| !wanted.iter().any(|address| address[..] == key[..])).collect::<Vec<_>>();
    gone.iter().try_for_each(|key| map.delete(key)).map_err(plain)?;
    wanted.iter().try_for_each(|address| map.update(address, &[1], MapFlags::ANY)).map_err(plain)
}

/// `struct route_address`.
fn mapped(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// Attaches the program where the driver runs it, or else in the generic path.
fn create(facts: &Facts, program: i32) -> Result<(OwnedFd, Mode), Fault> {
    if let Some(other) = attached_program(facts.index) {
        return Err(occupied(facts, Some(other)));
    }
    let with = |flags| {
        let options = libbpf_sys::bpf_link_create_opts {
            sz: size_of::<libbpf_sys::bpf_link_create_opts>() as _,
            flags,
            ..Default::default()
        };
        // SAFETY: the options live through the call, and say how long they are.
        owned(positive(unsafe {
            libbpf_sys::bpf_link_create(program, facts.index as i32, libbpf_sys::BPF_XDP, &raw const options)
        }))
    };
    let driver = with(libbpf_sys::XDP_FLAGS_DRV_MODE);
    let (link, mode) = match driver {
        Ok(link) => (Ok(link), Mode::Driver),
        Err(_) => (with(libbpf_sys::XDP_FLAGS_SKB_MODE), Mode::Generic),
    };
    match link {
        Ok(link) => Ok((link, mode)),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST)) => {
            Err(occupied(facts, None))
        }
        Err(error) => Err(Fault::system(&facts.name, "attaching the XDP program", CAPABILITY, error)),
    }
}

/// `libbpf` gives back `-errno` and sets `errno`; what `owned` reads is the latter.
fn positive(result: i32) -> i32 {
    result.max(-1)
}

fn occupied(facts: &Facts, program: Option<u32>) -> Fault {
    let which = program
        .map_or_else(|| "another XDP program".into(), |id| format!("another XDP program, number {id},"));
    let name = &facts.name;
    let remedy = format!(
        "take it off with `ip link set dev {name} xdp off`, or end the program that holds it (`bpftool net`), or use \
         io = \"af_packet\""
    );
    Fault::new(Kind::Busy, name, format!("{which} is attached"), remedy)
}

/// The number of the program that is attached to an interface.
fn attached_program(index: u32) -> Option<u32> {
    let mut id = 0;
    // SAFETY: the number is written to a place that lives through the call.
    let asked = unsafe { libbpf_sys::bpf_xdp_query_id(index as i32, 0, &raw mut id) };
    (asked == 0 && id != 0).then_some(id)
}

fn attached_mode(index: u32) -> Mode {
    let mut answer = libbpf_sys::bpf_xdp_query_opts {
        sz: size_of::<libbpf_sys::bpf_xdp_query_opts>() as _,
        ..Default::default()
    };
    // SAFETY: the answer lives through the call, and says how long it is.
    let asked = unsafe { libbpf_sys::bpf_xdp_query(index as i32, 0, &raw mut answer) };
    let generic = asked == 0 && u32::from(answer.attach_mode) == libbpf_sys::XDP_ATTACHED_SKB;
    if generic { Mode::Generic } else { Mode::Driver }
}

/// Puts the program into the link that an earlier daemon left pinned at `path`; `None` where there is none, or only
/// one whose interface is gone.
fn take_over(facts: &Facts, path: &Path, program: i32) -> Result<Option<OwnedFd>, Fault> {
    let failed = |error| Fault::system(&facts.name, "taking over the pinned XDP program", CAPABILITY, error);
    let Some(link) = open_pin(path).map_err(failed)? else { return Ok(None) };
    let (index, attached) = link_target(&link).map_err(failed)?;
    if index == 0 {
        return unpin(&facts.name, path).map(|()| None);
    }
    if index != facts.index || attached_program(index) != Some(attached) {
        let what = format!("the link pinned at {} is of another interface", path.display());
        let remedy = "give this router another name, as two in different network namespaces must have";
        return Err(Fault::new(Kind::Busy, &facts.name, what, remedy));
    }
    // SAFETY: both numbers are open; no options are given.
    let updated = unsafe { libbpf_sys::bpf_link_update(link.as_raw_fd(), program, core::ptr::null()) };
    checked(positive(updated)).map_err(failed)?;
    Ok(Some(link))
}

fn open_pin(path: &Path) -> io::Result<Option<OwnedFd>> {
    let path = c_string(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: the path ends with a zero.
    match owned(positive(unsafe { libbpf_sys::bpf_obj_get(path.as_ptr()) })) {
        Ok(link) => Ok(Some(link)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The interface and the program of a link; the interface is 0 where it is gone.
fn link_target(link: &OwnedFd) -> io::Result<(u32, u32)> {
    let mut info = libbpf_sys::bpf_link_info::default();
    let mut length = size_of_val(&info) as u32;
    let at = (&raw mut info).cast();
    // SAFETY: the kernel writes at most `length` bytes of plain data.
    checked(positive(unsafe { libbpf_sys::bpf_obj_get_info_by_fd(link.as_raw_fd(), at, &raw mut length) }))?;
    if info.type_ != libbpf_sys::BPF_LINK_TYPE_XDP {
        return Err(io::Error::other("what is pinned there is no XDP program's link"));
    }
    // SAFETY: a link of this type has this part.
    Ok((unsafe { info.__bindgen_anon_1.xdp.ifindex }, info.prog_id))
}

fn pin_path(router: &str, interface: &str) -> PathBuf {
    Path::new(PINS).join(router.replace('.', DOT)).join(interface.replace('.', DOT))
}

fn pin_link(interface: &str, link: &OwnedFd, path: &Path) -> Result<(), Fault> {
    let failed = |error| Fault::system(interface, "pinning the XDP program", CAPABILITY, error);
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    let path = c_string(path.as_os_str().as_encoded_bytes()).map_err(failed)?;
    // SAFETY: the path ends with a zero.
    checked(positive(unsafe { libbpf_sys::bpf_obj_pin(link.as_raw_fd(), path.as_ptr()) })).map_err(failed)?;
    Ok(())
}

fn unpin(interface: &str, path: &Path) -> Result<(), Fault> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let what = format!("removing the pin {}", path.display());
            Err(Fault::system(interface, &what, CAPABILITY, error))
        }
        _ => {
            // The folders go with their last pin; otherwise they are not empty.
            let _ = path.ancestors().skip(1).take(2).try_for_each(std::fs::remove_dir);
            Ok(())
        }
    }
}

/// Makes sure that there is a file system that holds pins longer than the daemon lives.
fn provide_files(interface: &str) -> Result<(), Fault> {
    let mounted =
        rustix::fs::statfs(BPF_FILES).is_ok_and(|about| about.f_type as u64 & 0xffff_ffff == BPF_MAGIC);
    if mounted {
        return Ok(());
    }
    let line = format!("mount -t bpf bpf {BPF_FILES}");
    let space = |process| std::fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    // Where the first process does not show its own there is no telling.
    if space("1").is_some_and(|first| space("self").is_some_and(|own| own != first)) {
        let what =
            format!("on_failure = \"stop\" pins the XDP program, and {BPF_FILES} has no file system for it");
        let remedy = format!(
            "a mount made here would end with the daemon: start it with `nsenter --net=...` instead of `ip netns \
             exec`, or run `{line}` in the mount namespace that it is to outlive"
        );
        return Err(Fault::new(Kind::Unsupported, interface, what, remedy));
    }
    rustix::mount::mount("bpf", BPF_FILES, "bpf", rustix::mount::MountFlags::empty(), None).map_err(|error| {
        Fault::system(interface, "mounting a file system for pins", "CAP_SYS_ADMIN", error.into())
            .remedy(format!("run `{line}` as root"))
    })
}

/// What `libbpf` said, as an error of the system.
fn plain(error: libbpf_rs::Error) -> io::Error {
    use libbpf_rs::ErrorKind;
    let kind = match error.kind() {
        ErrorKind::PermissionDenied => io::ErrorKind::PermissionDenied,
        ErrorKind::NotFound => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, format!("{error:#}"))
}
