//! The dispatcher of an interface, and the programs that it calls, whoever put them there.
//!
//! | | |
//! |-|-|
//! | Source | xdp-tools, lib/libxdp/protocol.org, "Reading list of existing programs from the kernel" |
//! | Work | O(programs) system calls |

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::layout::{Config, Entry, Unreadable, Version};
use super::{ask, files};
use crate::io::attach::Mode;

const NAME: &str = "xdp_dispatcher";

/// A program behind a dispatcher.
pub(super) struct Slot {
    pub(super) program: OwnedFd,
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) entry: Entry,
}

/// A dispatcher that runs.
pub(super) struct Running {
    pub(super) program: OwnedFd,
    pub(super) id: u32,
    pub(super) mode: Mode,
    pub(super) version: Version,
    /// In the order in which they are called.
    pub(super) slots: Vec<Slot>,
}

/// What an interface has.
pub(super) enum Found {
    Nothing,
    /// A program of which this number is known, and why nothing can be put next to it.
    Other(u32, String),
    Dispatcher(Running),
}

/// Examines an interface. What is pinned belongs to it only while nobody else changes that, under the lock.
pub(super) fn look(interface: u32) -> io::Result<Found> {
    let Some((id, mode)) = ask::attached(interface)? else { return Ok(Found::Nothing) };
    let program = match ask::program(id) {
        Ok(program) => program,
        // It was taken away just now.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(error),
    };
    let config = match config(&program)? {
        Ok(config) => config,
        Err(why) => return Ok(Found::Other(id, why.to_string())),
    };
    let folder = files::folder(interface, id);
    let slots = config.entries.iter().enumerate().map(|(slot, &entry)| {
        let program = files::pinned(&folder, slot)?;
        let about = ask::about(program.as_fd())?;
        Ok(Slot { program, id: about.id, name: about.name, entry })
    });
    Ok(match slots.collect::<io::Result<Vec<Slot>>>() {
        Ok(slots) => Found::Dispatcher(Running { program, id, mode, version: config.version, slots }),
        Err(error) => {
            Found::Other(id, format!("it is a dispatcher whose programs cannot be reached: {error}"))
        }
    })
}

/// The configuration of a program, if it is a dispatcher.
fn config(program: &OwnedFd) -> io::Result<Result<Config, Unreadable>> {
    let about = ask::about(program.as_fd())?;
    let Some(map) = about.map.filter(|_| about.name == NAME) else { return Ok(Err(Unreadable::Other)) };
    let bytes = ask::constant(map)?;
    Ok(bytes.ok_or(Unreadable::Other).and_then(|bytes| Config::from_bytes(&bytes)))
}

/// Puts a program where it belongs: after those of a lesser priority, and among equals by name, after its like.
pub(super) fn place(slots: &mut Vec<Slot>, new: Slot) {
    let key = |slot: &Slot| (slot.entry.priority, slot.name.clone());
    let at = slots.iter().position(|slot| key(slot) > key(&new)).unwrap_or(slots.len());
    slots.insert(at, new);
}

/// Whether a program is a dispatcher that can be changed here.
pub(super) fn is_dispatcher(program: &OwnedFd) -> bool {
    matches!(config(program), Ok(Ok(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(name: &str, priority: u32) -> Slot {
        // Any file does: the order does not depend on it.
        let program = std::fs::File::open("/dev/null").expect("there").into();
        Slot { program, id: 0, name: name.to_owned(), entry: Entry { priority, ..Entry::default() } }
    }

    #[test]
    fn programs_are_in_the_order_of_priorities_then_names() {
        let mut slots = Vec::new();
        for (name, priority) in
            [("route", 50), ("count", 60), ("count", 40), ("steer", 50), ("filter", 50), ("route", 7)]
        {
            place(&mut slots, slot(name, priority));
        }
        let order: Vec<_> = slots.iter().map(|slot| (slot.entry.priority, slot.name.as_str())).collect();
        let wanted =
            [(7, "route"), (40, "count"), (50, "filter"), (50, "route"), (50, "steer"), (60, "count")];
        assert_eq!(order, wanted);
    }

    #[test]
    fn a_newcomer_comes_after_its_like() {
        let mut slots = vec![slot("route", 50)];
        place(&mut slots, Slot { id: 1, ..slot("route", 50) });
        assert_eq!(slots.iter().map(|slot| slot.id).collect::<Vec<_>>(), [0, 1]);
    }
}
