//! Changes which programs a dispatcher calls: a new one is made whole and then put in the place of the old, at once.
//!
//! Whoever changes it at the same time is noticed by the kernel, which replaces no other program than the one that was looked
//! at; then all begins anew. What goes wrong before leaves the old one as it was.
//!
//! | | |
//! |-|-|
//! | Source | xdp-tools, lib/libxdp/protocol.org, "Adding or removing programs from an existing dispatcher" |
//! | Work | O(programs) system calls, and the load of one small program |

use std::io;
use std::os::fd::AsFd;
use std::thread::sleep;
use std::time::Duration;

use super::layout::{Config, SLOTS, Version};
use super::load::Dispatcher;
use super::running::{Found, Running, Slot, look};
use super::{ask, files};
use crate::io::attach::{Mode, occupied};
use crate::io::fault::{Fault, Kind};

/// How often it begins anew.
const TURNS: u32 = 10;
/// What it takes to change what others have put there.
pub(crate) const CAPABILITY: &str = "CAP_SYS_ADMIN, CAP_BPF and CAP_NET_ADMIN";

/// Where programs are changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    /// Its number in the kernel.
    pub(super) index: u32,
    pub(super) name: &'a str,
}

/// Changes the programs of an interface as `edit` says, which returns whether it has changed anything; where they run then.
pub(super) fn change(
    at: At<'_>,
    mut edit: impl FnMut(&mut Vec<Slot>) -> io::Result<bool>,
) -> Result<Option<Mode>, Fault> {
    let failed = |error| Fault::system(at.name, "changing the programs of its dispatcher", CAPABILITY, error);
    for turn in 0..TURNS {
        if turn > 0 {
            sleep(Duration::from_millis(1 << turn));
        }
        let _lock = files::Lock::take().map_err(failed)?;
        let mut old = match look(at.index).map_err(failed)? {
            Found::Nothing => None,
            Found::Dispatcher(running) => Some(running),
            Found::Other(id, why) => return Err(occupied(at.name, Some(id), Some(&why), None)),
        };
        let mut slots = old.as_mut().map_or_else(Vec::new, |old| core::mem::take(&mut old.slots));
        if !edit(&mut slots).map_err(failed)? {
            return Ok(old.map(|old| old.mode));
        }
        if slots.len() > SLOTS {
            let what = format!("its dispatcher calls {SLOTS} programs already, which is the most");
            return Err(Fault::new(Kind::Busy, at.name, what, "take one off (`xdp-loader unload`)"));
        }
        match swap(at, old.as_ref(), &slots) {
            Ok(mode) => return Ok(mode),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST)) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    let what =
        "its XDP programs are changed by somebody else all the time, or its dispatcher is held by a link";
    Err(Fault::new(
        Kind::Busy,
        at.name,
        what,
        "end the program that holds it (`bpftool net`, `bpftool link`)",
    ))
}

/// Puts a dispatcher of these programs in the place of the old one, and none where there are none.
fn swap(at: At<'_>, old: Option<&Running>, slots: &[Slot]) -> io::Result<Option<Mode>> {
    let of_old = |old: &Running| files::remove(&files::folder(at.index, old.id));
    if slots.is_empty() {
        if let Some(old) = old {
            ask::detach(at.index, old.program.as_fd(), old.mode)?;
            of_old(old);
        }
        return Ok(None);
    }
    let version = old.map_or(Version::Two, |old| old.version);
    let config = Config { version, entries: slots.iter().map(|slot| slot.entry).collect() };
    let next = Dispatcher::load(&config)?;
    let links = slots.iter().enumerate().map(|(place, slot)| next.link(place, slot.program.as_fd()));
    let links = links.collect::<io::Result<Vec<_>>>()?;
    let folder = files::folder(at.index, next.id());
    files::pin_all(&folder, slots.iter().map(|slot| slot.program.as_fd()).zip(&links))?;
    match attach(at.index, &next, old) {
        Ok(mode) => {
            old.iter().for_each(|old| of_old(old));
            Ok(Some(mode))
        }
        Err(error) => {
            files::remove(&folder);
            Err(error)
        }
    }
}

/// Where the old one runs, or in the driver, or else in the generic path.
fn attach(index: u32, next: &Dispatcher, old: Option<&Running>) -> io::Result<Mode> {
    let program = next.program()?;
    if let Some(old) = old {
        return ask::attach(index, program, Some(old.program.as_fd()), old.mode).map(|()| old.mode);
    }
    match ask::attach(index, program, None, Mode::Driver) {
        Ok(()) => Ok(Mode::Driver),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST)) => Err(error),
        Err(_) => ask::attach(index, program, None, Mode::Generic).map(|()| Mode::Generic),
    }
}
