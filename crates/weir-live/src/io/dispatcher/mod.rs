//! A dispatcher: one XDP program of an interface that calls several, so that those of others run next to ours.
//!
//! An interface has one XDP program. By the protocol of libxdp that is a dispatcher with ten places, each of which another
//! program replaces (`freplace`, `BPF_PROG_TYPE_EXT`); whoever comes later, with libxdp or with this, makes a new dispatcher
//! of all programs in the order of their priorities and puts it in the place of the old one, at once. What the programs are
//! is said by pins that all can see. They outlive whoever made them: a daemon that is killed leaves its program, which the
//! next of its name replaces, and `weird doctor --clean` takes out.
//!
//! Our own pin, of the program and not of a link, says which of them is whose.
//!
//! | | |
//! |-|-|
//! | Source | xdp-tools, lib/libxdp/protocol.org, versions 2 and 3 (the protocol; the code is our own) |
//! | Work | O(programs) system calls when an interface is opened or ended; two calls for a frame |
//! | Units | none |
//! | Departs | a lone program is put into the first place, where libxdp may replace the dispatcher itself; names are compared by their first 15 letters; what `.xdp_run_config` says of a program is not read, as ours follow the configuration of the daemon |

mod ask;
mod change;
mod files;
mod layout;
mod load;
mod running;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

pub(crate) use change::CAPABILITY;
use change::{At, change};
use layout::Entry;
pub(crate) use load::Dispatcher;
use running::{Found, Slot, look, place};

use super::attach::Mode;
use super::fault::{Fault, Kind};
use super::link::Facts;
use super::pins::{next_path, open_pin, pin_of, slot_path, unpin};

/// After which action of our programs the next one is called: what they leave to the kernel others may see.
const GOES_ON: u32 = 1 << 2;

/// The file system in which programs behind dispatchers are pinned.
#[must_use]
pub fn files() -> PathBuf {
    files::mounted()
}

/// Whether the program of an interface is a dispatcher of a version that is known here. Where that may not be asked, it is not.
#[must_use]
pub fn is_there(facts: &Facts) -> bool {
    let found = ask::attached(facts.index).ok().flatten();
    found.and_then(|(id, _)| ask::program(id).ok()).is_some_and(|program| running::is_dispatcher(&program))
}

/// What is attached to an interface, in words; nothing where nothing is.
#[must_use]
pub fn attached(facts: &Facts) -> Option<String> {
    let (id, _) = ask::attached(facts.index).ok()??;
    Some(match look(facts.index) {
        Ok(Found::Dispatcher(running)) => {
            let each = |slot: &Slot| format!("{} ({})", slot.name, slot.entry.priority);
            let programs: Vec<String> = running.slots.iter().map(each).collect();
            format!("a dispatcher, number {id}, calls {}", programs.join(", "))
        }
        Ok(Found::Other(_, why)) => {
            let name = ask::program(id).and_then(|program| ask::about(program.as_fd()));
            let name = name.map_or_else(|_| String::new(), |about| format!(" `{}`", about.name));
            format!("XDP program{name}, number {id}: {why}")
        }
        _ => format!("XDP program, number {id}"),
    })
}

/// Makes one slot, and puts a program into it: what the kernel must be able to do.
///
/// # Errors
/// It cannot.
pub(crate) fn template() -> io::Result<Dispatcher> {
    Dispatcher::template()
}

/// A program of ours behind a dispatcher.
pub(crate) struct Member {
    index: u32,
    interface: String,
    owner: String,
    program: OwnedFd,
    id: u32,
    name: String,
    priority: u32,
    /// Whether it stays when this is dropped.
    stays: bool,
}

impl Member {
    /// A program that is not behind a dispatcher yet, and was loaded for one.
    pub(crate) fn new(
        owner: &str,
        facts: &Facts,
        program: BorrowedFd<'_>,
        priority: u32,
        stays: bool,
    ) -> Result<Self, Fault> {
        let failed = |error| Fault::system(&facts.name, "looking at its program", CAPABILITY, error);
        let about = ask::about(program).map_err(failed)?;
        let program = program.try_clone_to_owned().map_err(failed)?;
        Ok(Self {
            index: facts.index,
            interface: facts.name.clone(),
            owner: owner.to_owned(),
            program,
            id: about.id,
            name: about.name,
            priority,
            stays,
        })
    }

    /// Puts the program behind the dispatcher of the interface, in the place of one of the same daemon if there is one;
    /// where there is no dispatcher, makes one.
    ///
    /// # Errors
    /// Permission is missing, another program is attached that is no dispatcher, or the kernel refuses.
    pub(crate) fn join(&self) -> Result<Mode, Fault> {
        let failed = |error| Fault::system(&self.interface, "pinning its program", CAPABILITY, error);
        let (pin, next) = (self.pin(), next_path(&self.owner, &self.interface));
        let before: Vec<u32> = [&pin, &next].into_iter().filter_map(|path| id_of(path)).collect();
        // It is said whose the program is before it is anywhere.
        if id_of(&next) != Some(self.id) {
            unpin(&self.interface, &next)?;
            pin_of(&self.interface, self.program.as_fd(), &next)?;
        }
        let mode = change(self.at(), |slots| {
            slots.retain(|slot| slot.id != self.id && !before.contains(&slot.id));
            place(slots, self.slot()?);
            Ok(true)
        });
        match mode {
            Ok(mode) => {
                std::fs::rename(&next, &pin).map_err(failed)?;
                Ok(mode.unwrap_or(Mode::Generic))
            }
            Err(fault) => {
                let _ = unpin(&self.interface, &next);
                Err(fault)
            }
        }
    }

    /// Its number in the kernel.
    pub(crate) fn number(&self) -> u32 {
        self.id
    }

    /// Takes the program out, and leaves the others as they were; another that has its place by now stays.
    ///
    /// # Errors
    /// Permission is missing.
    pub(crate) fn leave(mut self) -> Result<(), Fault> {
        self.stays = true;
        self.take_out()
    }

    fn take_out(&self) -> Result<(), Fault> {
        if !take_out(self.at(), self.id)? {
            sweep(self.index, self.id);
        }
        let pin = self.pin();
        if id_of(&pin) == Some(self.id) { unpin(&self.interface, &pin) } else { Ok(()) }
    }

    fn at(&self) -> At<'_> {
        At { index: self.index, name: &self.interface }
    }

    fn pin(&self) -> PathBuf {
        slot_path(&self.owner, &self.interface)
    }

    fn slot(&self) -> io::Result<Slot> {
        let entry = Entry { actions: GOES_ON, priority: self.priority, flags: 0 };
        Ok(Slot { program: self.program.try_clone()?, id: self.id, name: self.name.clone(), entry })
    }
}

impl AsFd for Member {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.program.as_fd()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if !self.stays {
            // There is nobody to report it to; what stays is found by `weird doctor`.
            let _ = self.take_out();
        }
    }
}

/// The number of the program that is pinned there.
fn id_of(path: &Path) -> Option<u32> {
    let program = open_pin(path).ok()??;
    ask::about(program.as_fd()).ok().map(|about| about.id)
}

/// Takes a program out of the dispatcher of an interface; whether it was there.
fn take_out(at: At<'_>, id: u32) -> Result<bool, Fault> {
    if ask::attached(at.index).ok().flatten().is_none() {
        return Ok(false);
    }
    let mut found = false;
    let changed = change(at, |slots| {
        let before = slots.len();
        slots.retain(|slot| slot.id != id);
        found = slots.len() < before;
        Ok(found)
    });
    match changed {
        // Another program that has taken the place of the dispatcher calls none of ours.
        Err(fault) if fault.kind != Kind::Busy || is_called(at.index, id) => Err(fault),
        _ => Ok(found),
    }
}

/// Whether the dispatcher of an interface calls a program.
fn is_called(index: u32, id: u32) -> bool {
    matches!(look(index), Ok(Found::Dispatcher(running)) if running.slots.iter().any(|slot| slot.id == id))
}

/// Whether a program is pinned in the folder of a dispatcher.
fn is_in(folder: &Path, id: u32) -> bool {
    (0..layout::SLOTS).any(|slot| {
        let program = files::pinned(folder, slot).ok();
        program.and_then(|program| ask::about(program.as_fd()).ok()).is_some_and(|about| about.id == id)
    })
}

/// Removes what is pinned of dispatchers that the interface has no more, if the program is among it.
fn sweep(index: u32, id: u32) {
    let Ok(_lock) = files::Lock::take() else { return };
    let current = ask::attached(index).ok().flatten().map(|(id, _)| id);
    let folders = files::folders().into_iter().filter(|folder| folder.interface == index);
    for folder in folders.filter(|folder| current != Some(folder.dispatcher) && is_in(&folder.path, id)) {
        files::remove(&folder.path);
    }
}

/// Takes the program of a pin out of the dispatcher of its interface, which must be one of this network namespace.
///
/// # Errors
/// Permission is missing, or the program is behind a dispatcher elsewhere.
pub(super) fn clean(interface: &str, path: &Path) -> Result<(), Fault> {
    if let Some(id) = id_of(path) {
        let here = Facts::of(interface).ok();
        let found =
            here.map_or(Ok(false), |facts| take_out(At { index: facts.index, name: interface }, id))?;
        if let Some(folder) = files::folders().into_iter().find(|folder| !found && is_in(&folder.path, id)) {
            let what = format!("its program is pinned in {} as well", folder.path.display());
            let remedy = "run `weird doctor --clean` in the network namespace of that interface; where that is gone, \
                          remove the folder";
            return Err(Fault::new(Kind::Busy, interface, what, remedy));
        }
    }
    unpin(interface, path)
}
