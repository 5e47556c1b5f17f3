//! What is pinned of programs: it stays when the daemon is killed, until the next of its name. Of one that is attached by a
//! link of its own that is the link, of one behind a [dispatcher] the program.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/bpf/; bpf(2) |
//! | Work | system calls when an interface is opened or ended |

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::attach::{CAPABILITY, positive};
use super::dispatcher;
use super::fault::{Fault, Kind};
use super::link::{c_string, checked, owned};

/// Where file systems of BPF objects are usually mounted.
pub(crate) const BPF_FILES: &str = "/sys/fs/bpf";
/// Where they are pinned: one folder a daemon.
pub const PINS: &str = "/sys/fs/bpf/weir";
/// How a dot in the name of an interface is written there, where names have none.
const DOT: &str = "%2e";
/// What follows the name of an interface whose program is behind a dispatcher, or is about to be.
const SLOT: &str = "%slot";
const NEXT: &str = "%next";
/// What `statfs` says of such a file system.
const BPF_MAGIC: u64 = 0xcafe_4a11;

/// Something that is pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The daemon that pinned it.
    pub owner: String,
    /// The interface that it was for.
    pub interface: String,
    /// Where it is pinned.
    pub path: PathBuf,
    /// Whether its program is behind a dispatcher.
    pub behind: bool,
}

/// What is pinned, in order; none where there is no file system for them.
#[must_use]
pub fn pins() -> Vec<Pin> {
    let folders = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    let name = |name: std::ffi::OsString| name.to_string_lossy().replace(DOT, ".");
    let mut found = folders(Path::new(PINS))
        .flat_map(|folder| {
            let of = name(folder.file_name());
            folders(&folder.path()).map(move |pin| {
                let name = name(pin.file_name());
                let slot = name.strip_suffix(SLOT).or_else(|| name.strip_suffix(NEXT));
                let interface = slot.unwrap_or(&name).to_owned();
                Pin { owner: of.clone(), interface, path: pin.path(), behind: slot.is_some() }
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
    /// Permission is missing, or it is behind a dispatcher of another network namespace.
    pub fn remove(&self) -> Result<(), Fault> {
        match self.behind {
            true => dispatcher::clean(&self.interface, &self.path),
            false => unpin(&self.interface, &self.path),
        }
    }
}

pub(super) fn open_pin(path: &Path) -> io::Result<Option<OwnedFd>> {
    let path = c_string(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: the path ends with a zero.
    match owned(positive(unsafe { libbpf_sys::bpf_obj_get(path.as_ptr()) })) {
        Ok(link) => Ok(Some(link)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn pin_path(owner: &str, interface: &str) -> PathBuf {
    Path::new(PINS).join(owner.replace('.', DOT)).join(interface.replace('.', DOT))
}

/// Where a program is pinned that is behind a dispatcher.
pub(super) fn slot_path(owner: &str, interface: &str) -> PathBuf {
    with(pin_path(owner, interface), SLOT)
}

/// Where a program is pinned that is about to be.
pub(super) fn next_path(owner: &str, interface: &str) -> PathBuf {
    with(pin_path(owner, interface), NEXT)
}

fn with(path: PathBuf, end: &str) -> PathBuf {
    let mut path = path.into_os_string();
    path.push(end);
    path.into()
}

pub(super) fn pin_of(interface: &str, object: BorrowedFd<'_>, path: &Path) -> Result<(), Fault> {
    let failed = |error| Fault::system(interface, "pinning the XDP program", CAPABILITY, error);
    path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| pin(object, path)).map_err(failed)
}

/// Pins an object of the kernel.
pub(super) fn pin(object: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let path = c_string(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: the path ends with a zero.
    checked(positive(unsafe { libbpf_sys::bpf_obj_pin(object.as_raw_fd(), path.as_ptr()) })).map(drop)
}

pub(super) fn unpin(interface: &str, path: &Path) -> Result<(), Fault> {
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
pub(super) fn provide_files(interface: &str, setting: &str) -> Result<(), Fault> {
    let mounted =
        rustix::fs::statfs(BPF_FILES).is_ok_and(|about| about.f_type as u64 & 0xffff_ffff == BPF_MAGIC);
    if mounted {
        return Ok(());
    }
    let line = format!("mount -t bpf -o mode=0700 bpf {BPF_FILES}");
    let space = |process| std::fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    // Where the first process does not show its own there is no telling.
    if space("1").is_some_and(|first| space("self").is_some_and(|own| own != first)) {
        let what = format!("{setting} pins the XDP program, and {BPF_FILES} has no file system for it");
        let remedy = format!(
            "a mount made here would end with the daemon: start it with `nsenter --net=...` instead of `ip netns \
             exec`, or run `{line}` in the mount namespace that it is to outlive"
        );
        return Err(Fault::new(Kind::Unsupported, interface, what, remedy));
    }
    // Without a mode it would be open to all, as /tmp is.
    let flags = rustix::mount::MountFlags::empty();
    rustix::mount::mount("bpf", BPF_FILES, "bpf", flags, Some(c"mode=0700")).map_err(|error| {
        Fault::system(interface, "mounting a file system for pins", "CAP_SYS_ADMIN", error.into())
            .remedy(format!("run `{line}` as root"))
    })
}
