//! Links of programs that are pinned: they stay when the daemon is killed, until the next of its name.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/bpf/; bpf(2) |
//! | Work | system calls when an interface is opened or ended |

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::attach::{CAPABILITY, positive};
use super::fault::{Fault, Kind};
use super::link::{c_string, checked, owned};

/// Where file systems of BPF objects are usually mounted.
pub(crate) const BPF_FILES: &str = "/sys/fs/bpf";
/// Where links are pinned: one folder a daemon.
pub const PINS: &str = "/sys/fs/bpf/weir";
/// How a dot in the name of an interface is written there, where names have none.
const DOT: &str = "%2e";
/// What `statfs` says of such a file system.
const BPF_MAGIC: u64 = 0xcafe_4a11;

/// A link that is pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The daemon that pinned it.
    pub owner: String,
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
        .flat_map(|folder| {
            let of = name(folder.file_name());
            folders(&folder.path()).map(move |pin| Pin {
                owner: of.clone(),
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

pub(super) fn pin_link(interface: &str, link: &OwnedFd, path: &Path) -> Result<(), Fault> {
    let failed = |error| Fault::system(interface, "pinning the XDP program", CAPABILITY, error);
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    let path = c_string(path.as_os_str().as_encoded_bytes()).map_err(failed)?;
    // SAFETY: the path ends with a zero.
    checked(positive(unsafe { libbpf_sys::bpf_obj_pin(link.as_raw_fd(), path.as_ptr()) })).map_err(failed)?;
    Ok(())
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
