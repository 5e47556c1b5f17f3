//! Where the programs behind dispatchers are pinned, and the lock of those who change them.
//!
//! | | |
//! |-|-|
//! | Source | xdp-tools, lib/libxdp/protocol.org, "Locking and pinning" |
//! | Work | system calls when an interface is opened or ended |

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;

use super::layout::SLOTS;
use crate::io::pins::{BPF_FILES, open_pin, pin};

/// The variable by which libxdp, and what uses it, learn of another place.
const ELSEWHERE: &str = "LIBXDP_BPFFS";
/// How often a lock is asked for that somebody has, and how long is waited in between.
const TURNS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// The file system in which they are pinned.
pub(super) fn mounted() -> PathBuf {
    std::env::var_os(ELSEWHERE).map_or_else(|| PathBuf::from(BPF_FILES), PathBuf::from)
}

/// The folder of all dispatchers of the machine.
fn root() -> PathBuf {
    mounted().join("xdp")
}

/// The folder of one dispatcher.
pub(super) fn folder(interface: u32, program: u32) -> PathBuf {
    root().join(format!("dispatch-{interface}-{program}"))
}

/// Keeps others from changing what is pinned, until it is dropped.
pub(super) struct Lock(#[expect(dead_code, reason = "held for the lock that closing it ends")] OwnedFd);

impl Lock {
    /// Waits until nobody else changes anything.
    pub(super) fn take() -> io::Result<Self> {
        let root = root();
        make(&root)?;
        let file = open(&root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        for _ in 0..TURNS {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                Err(Errno::WOULDBLOCK | Errno::INTR) => sleep(PAUSE),
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("{} is locked by another process", root.display()),
        ))
    }
}

fn make(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

fn program_of(folder: &Path, slot: usize) -> PathBuf {
    folder.join(format!("prog{slot}-prog"))
}

fn link_of(folder: &Path, slot: usize) -> PathBuf {
    folder.join(format!("prog{slot}-link"))
}

/// The program of a slot, which somebody has pinned.
pub(super) fn pinned(folder: &Path, slot: usize) -> io::Result<OwnedFd> {
    let path = program_of(folder, slot);
    open_pin(&path)?
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{} is not there", path.display())))
}

/// Pins programs, and the links by which they are in their slots; all or none.
pub(super) fn pin_all<'a>(
    folder: &Path,
    slots: impl Iterator<Item = (BorrowedFd<'a>, &'a OwnedFd)>,
) -> io::Result<()> {
    make(folder)?;
    let mut slots = slots.enumerate();
    let pinned = slots.try_for_each(|(slot, (program, link))| {
        pin(link.as_fd(), &link_of(folder, slot))?;
        pin(program, &program_of(folder, slot))
    });
    if pinned.is_err() {
        remove(folder);
    }
    pinned
}

/// Removes all that is pinned of a dispatcher, as far as it is there.
pub(super) fn remove(folder: &Path) {
    for slot in 0..SLOTS {
        // What is not there need not be removed; what stays is found by whoever asks for the folder next.
        let _ = fs::remove_file(link_of(folder, slot));
        let _ = fs::remove_file(program_of(folder, slot));
    }
    let _ = fs::remove_dir(folder);
}

/// The folder of a dispatcher that there is or was.
pub(super) struct Folder {
    pub(super) interface: u32,
    pub(super) dispatcher: u32,
    pub(super) path: PathBuf,
}

/// The folders of all dispatchers.
pub(super) fn folders() -> Vec<Folder> {
    let entries = fs::read_dir(root()).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let (interface, dispatcher) = name.strip_prefix("dispatch-")?.split_once('-')?;
        let (interface, dispatcher) = (interface.parse().ok()?, dispatcher.parse().ok()?);
        Some(Folder { interface, dispatcher, path: entry.path() })
    };
    entries.filter_map(of).collect()
}
