//! An XDP program on an interface: attached, pinned, taken over, and taken away.
//!
//! A program is attached by a link, in the driver or, where the driver cannot, in the kernel's generic path. The link goes
//! away with the daemon, also when it is killed, unless it is pinned: then it stays, and the next daemon of the same
//! name puts its own program into it, so that there is no moment without one. Where the interface has a dispatcher, or is to
//! have one, the program joins that instead ([`dispatcher`](super::dispatcher)).
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/bpf/; bpf(2) |
//! | Work | system calls when an interface is opened or ended; never for a frame |
//! | Units | none |

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore, Object, ObjectBuilder, OpenObject, PrintLevel};

use super::dispatcher::Member;
use super::fault::{Fault, Kind};
use super::link::{Facts, checked, owned};
use super::pins::{open_pin, pin_of, pin_path, provide_files, unpin};

mod way;
pub use way::Sharing;
pub(crate) use way::{Owner, Way};

/// What loading and attaching need.
pub(crate) const CAPABILITY: &str = "CAP_BPF and CAP_NET_ADMIN";
/// Where the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the driver, before the kernel makes anything of a frame.
    Driver,
    /// In the kernel's generic path, after it has.
    Generic,
}

/// A program that is attached to an interface, until this is dropped, or until the machine ends where it is pinned.
pub(crate) struct Attached {
    hold: Hold,
    interface: String,
    mode: Mode,
}

/// What keeps a program attached.
enum Hold {
    Link { link: OwnedFd, pin: Option<PathBuf> },
    Behind(Member),
}

impl Attached {
    /// Attaches a program to an interface, into the link that an earlier daemon of that name left pinned if there is one, or
    /// behind a dispatcher in the place of that daemon's.
    ///
    /// # Errors
    /// Permission is missing, the kernel has no XDP, or another program is attached.
    pub(crate) fn new(
        owner: Owner<'_>,
        facts: &Facts,
        way: &Way,
        program: BorrowedFd<'_>,
    ) -> Result<Self, Fault> {
        match way {
            Way::Link => Self::alone(owner, facts, program),
            Way::Behind(_) => Self::behind(owner, facts, program),
        }
    }

    fn behind(owner: Owner<'_>, facts: &Facts, program: BorrowedFd<'_>) -> Result<Self, Fault> {
        provide_files(&facts.name, "a dispatcher")?;
        let member = Member::new(owner.name, facts, program, owner.sharing.priority, owner.pin.is_some())?;
        let mode = member.join()?;
        Ok(Self { hold: Hold::Behind(member), interface: facts.name.clone(), mode })
    }

    fn alone(owner: Owner<'_>, facts: &Facts, program: BorrowedFd<'_>) -> Result<Self, Fault> {
        let path = pin_path(owner.name, &facts.name);
        if let Some(setting) = owner.pin {
            provide_files(&facts.name, setting)?;
        }
        let program = program.as_raw_fd();
        let taken = take_over(facts, &path, program)?;
        let pinned = taken.is_some();
        let (link, mode) = match taken {
            Some(link) => (link, attached_mode(facts.index)),
            None => create(facts, program, owner.instead)?,
        };
        let pin = owner.pin.map(|_| path.clone());
        match (pinned, &pin) {
            (false, Some(path)) => pin_of(&facts.name, link.as_fd(), path)?,
            (true, None) => unpin(&facts.name, &path)?,
            _ => {}
        }
        Ok(Self { hold: Hold::Link { link, pin }, interface: facts.name.clone(), mode })
    }

    /// Attaches a program in the place of that of a daemon which runs, and which is to end without taking it away: into its
    /// link, by number, or into its pin, or behind the dispatcher.
    ///
    /// # Errors
    /// Permission is missing, or the link is of another interface.
    pub(crate) fn after(
        owner: Owner<'_>,
        facts: &Facts,
        way: &Way,
        program: BorrowedFd<'_>,
        link: u32,
    ) -> Result<Self, Fault> {
        if owner.pin.is_some() || matches!(way, Way::Behind(_)) {
            return Self::new(owner, facts, way, program);
        }
        let failed = |error| {
            let what = "taking over the link of the running daemon's program";
            Fault::system(&facts.name, what, "CAP_SYS_ADMIN", error)
        };
        // SAFETY: a plain system call, whose result is checked.
        let link = owned(positive(unsafe { libbpf_sys::bpf_link_get_fd_by_id(link) })).map_err(failed)?;
        if link_target(&link).map_err(failed)?.interface != facts.index {
            let what = "the running daemon's program is on another interface";
            return Err(Fault::new(Kind::Busy, &facts.name, what, "restart that daemon instead"));
        }
        update(&link, program.as_raw_fd()).map_err(failed)?;
        let hold = Hold::Link { link, pin: None };
        Ok(Self { hold, interface: facts.name.clone(), mode: attached_mode(facts.index) })
    }

    /// Puts its program, which is this, back where another process has put its own.
    pub(crate) fn put_back(&self, program: BorrowedFd<'_>) -> io::Result<()> {
        match &self.hold {
            Hold::Link { link, .. } => update(link, program.as_raw_fd()),
            Hold::Behind(member) => member.join().map(drop).map_err(io::Error::other),
        }
    }

    /// The number of its link in the kernel, or of its program behind a dispatcher.
    pub(crate) fn number(&self) -> io::Result<u32> {
        match &self.hold {
            Hold::Link { link, .. } => link_target(link).map(|target| target.link),
            Hold::Behind(member) => Ok(member.number()),
        }
    }

    /// Whether it is behind a dispatcher.
    pub(crate) fn is_behind(&self) -> bool {
        matches!(self.hold, Hold::Behind(_))
    }

    /// Where it runs.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Takes it off the interface, pinned or not.
    ///
    /// # Errors
    /// The pin cannot be removed.
    pub(crate) fn detach(self) -> Result<(), Fault> {
        match self.hold {
            // Closing the link detaches it once no pin holds it.
            Hold::Link { pin, .. } => pin.as_deref().map_or(Ok(()), |path| unpin(&self.interface, path)),
            Hold::Behind(member) => member.leave(),
        }
    }
}

impl AsFd for Attached {
    /// Its link, or its program behind a dispatcher.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.hold {
            Hold::Link { link, .. } => link.as_fd(),
            Hold::Behind(member) => member.as_fd(),
        }
    }
}

thread_local! {
    /// What `libbpf` complained of since an object was opened.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Opens an object, of which what it is made of can still be changed. What the kernel says of it is kept for [`Way::refused`].
pub(crate) fn open(object: &[u8]) -> libbpf_rs::Result<OpenObject> {
    SAID.take();
    libbpf_rs::set_print(Some((PrintLevel::Warn, |_, text| {
        SAID.with_borrow_mut(|said| said.push_str(&text))
    })));
    ObjectBuilder::default().open_memory(object)
}

/// Why an object was not loaded; `oldest` is the kernel that it needs.
fn refused(facts: &Facts, error: libbpf_rs::Error, oldest: &str) -> Fault {
    let denied = error.kind() == libbpf_rs::ErrorKind::PermissionDenied;
    let reason = SAID.with_borrow(|said| reason(said).map(|line| format!(" ({line})"))).unwrap_or_default();
    let what = format!("loading the XDP program{reason}");
    let mut fault = Fault::system(&facts.name, &what, CAPABILITY, plain(error));
    // The verifier's refusal is a permission that is denied, too; but then it says why.
    if !denied || !reason.is_empty() {
        fault.kind = Kind::Unsupported;
        fault = fault.remedy(format!("it needs {oldest}"));
    }
    fault
}

/// The last line of the verifier's log that is about the program, of all that `libbpf` said.
fn reason(said: &str) -> Option<&str> {
    let log = said.split_once("BEGIN PROG LOAD LOG")?.1.split_once("END PROG LOAD LOG")?.0;
    let counted = ["processed ", "verification time ", "stack depth ", "libbpf:"];
    let of_program = |line: &&str| !line.is_empty() && !counted.iter().any(|other| line.starts_with(other));
    let mut lines = log.lines().map(|line| line.trim_matches(['-', ' ']));
    lines.rfind(of_program)
}

/// The program of this name.
pub(crate) fn program<'a>(object: &'a Object, name: &str) -> io::Result<BorrowedFd<'a>> {
    let found = object.progs().find(|program| program.name() == OsStr::new(name));
    let found = found.ok_or_else(|| io::Error::other(format!("no program {name}")))?;
    // SAFETY: the number is of the program, which lives as long as its object, which is borrowed.
    Ok(unsafe { BorrowedFd::borrow_raw(found.as_fd().as_raw_fd()) })
}

/// The map of this name.
pub(crate) fn map<'a>(object: &'a Object, name: &str) -> io::Result<libbpf_rs::Map<'a>> {
    object
        .maps()
        .find(|map| map.name() == OsStr::new(name))
        .ok_or_else(|| io::Error::other(format!("no map {name}")))
}

/// Attaches the program where the driver runs it, or else in the generic path.
fn create(facts: &Facts, program: i32, instead: Option<&str>) -> Result<(OwnedFd, Mode), Fault> {
    if let Some(other) = attached_program(facts.index) {
        return Err(occupied(&facts.name, Some(other), None, instead));
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
            Err(occupied(&facts.name, None, None, instead))
        }
        Err(error) => Err(Fault::system(&facts.name, "attaching the XDP program", CAPABILITY, error)),
    }
}

/// `libbpf` gives back `-errno` and sets `errno`; what `owned` reads is the latter.
pub(super) fn positive(result: i32) -> i32 {
    result.max(-1)
}

/// Another program has the interface, of which `why` says why ours cannot join it.
pub(super) fn occupied(name: &str, program: Option<u32>, why: Option<&str>, instead: Option<&str>) -> Fault {
    let which = program
        .map_or_else(|| "another XDP program".into(), |id| format!("another XDP program, number {id},"));
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let instead = instead.map(|instead| format!(", or {instead}")).unwrap_or_default();
    let remedy = format!(
        "take it off with `ip link set dev {name} xdp off`, or end the program that holds it (`bpftool net`), or load it \
         with `xdp-loader`, whose dispatcher calls ours too{instead}"
    );
    Fault::new(Kind::Busy, name, format!("{which} is attached{why}"), remedy)
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
    // Where this user may not look nothing is his; what is attached all the same is found by `create`.
    if std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
        return Ok(None);
    }
    let Some(link) = open_pin(path).map_err(failed)? else { return Ok(None) };
    let target = link_target(&link).map_err(failed)?;
    if target.interface == 0 {
        return unpin(&facts.name, path).map(|()| None);
    }
    if target.interface != facts.index || attached_program(facts.index) != Some(target.program) {
        let what = format!("the link pinned at {} is of another interface", path.display());
        let remedy = "give this daemon another name, as two in different network namespaces must have";
        return Err(Fault::new(Kind::Busy, &facts.name, what, remedy));
    }
    update(&link, program).map_err(failed)?;
    Ok(Some(link))
}

fn update(link: &OwnedFd, program: i32) -> io::Result<()> {
    // SAFETY: both numbers are open; no options are given.
    let updated = unsafe { libbpf_sys::bpf_link_update(link.as_raw_fd(), program, core::ptr::null()) };
    checked(positive(updated)).map(drop)
}

/// What a link joins.
struct Target {
    /// The number of the interface, 0 where it is gone.
    interface: u32,
    program: u32,
    /// Its own number.
    link: u32,
}

fn link_target(link: &OwnedFd) -> io::Result<Target> {
    let mut info = libbpf_sys::bpf_link_info::default();
    let mut length = size_of_val(&info) as u32;
    let at = (&raw mut info).cast();
    // SAFETY: the kernel writes at most `length` bytes of plain data.
    checked(positive(unsafe { libbpf_sys::bpf_obj_get_info_by_fd(link.as_raw_fd(), at, &raw mut length) }))?;
    if info.type_ != libbpf_sys::BPF_LINK_TYPE_XDP {
        return Err(io::Error::other("what is pinned there is no XDP program's link"));
    }
    // SAFETY: a link of this type has this part.
    let interface = unsafe { info.__bindgen_anon_1.xdp.ifindex };
    Ok(Target { interface, program: info.prog_id, link: info.id })
}

/// What `libbpf` said, as an error of the system.
pub(crate) fn plain(error: libbpf_rs::Error) -> io::Error {
    use libbpf_rs::ErrorKind;
    let kind = match error.kind() {
        ErrorKind::PermissionDenied => io::ErrorKind::PermissionDenied,
        ErrorKind::NotFound => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_last_that_the_verifier_says_of_the_program() {
        let said = "libbpf: prog 'p': BPF program load failed: -EACCES\nlibbpf: prog 'p': -- BEGIN PROG LOAD LOG --\n\
                    0: R1=ctx()\nR1 offset is outside of the packet\nverification time 5 usec\nstack depth 8\n\
                    processed 9 insns (limit 1000000)\n-- END PROG LOAD LOG --\nlibbpf: failed";
        assert_eq!(reason(said), Some("R1 offset is outside of the packet"));
        assert_eq!(reason("libbpf: map 'm': failed to create"), None);
    }
}
