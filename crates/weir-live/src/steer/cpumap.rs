//! The queues of processors: the entries of a cpumap, by which the programs send frames to other processors.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/bpf/map_cpumap.rst |
//! | Work | a system call each |
//! | Units | frames |

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use libbpf_rs::{MapCore, MapFlags, Object};

use super::layout::PROCESSORS;
use super::processors;
use crate::io::attach::{map, plain};

/// The name of the map.
pub(super) const MAP: &str = "processors";

/// How many processors there can be; the most entries of the map.
pub(super) fn most() -> libbpf_rs::Result<u32> {
    Ok((libbpf_rs::num_possible_cpus()? as u32).min(PROCESSORS as u32))
}

/// Whether a processor can have a queue.
///
/// # Errors
/// There is none of this number, or it is offline: the kernel would wait for it.
pub(super) fn online(processor: u32) -> io::Result<()> {
    let online = processors::online()?;
    if online.0.contains(&processor) && (processor as usize) < PROCESSORS {
        return Ok(());
    }
    let what =
        format!("processor {processor} cannot have a queue: those from {online} below {PROCESSORS} can");
    Err(io::Error::new(io::ErrorKind::NotFound, what))
}

/// Opens the queue of a processor, of `frames` frames, with a program that is run there.
///
/// # Errors
/// The processor cannot have one, the kernel refuses that many frames, or permission is missing.
pub(super) fn open(
    object: &Object,
    processor: u32,
    frames: u32,
    program: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    online(processor)?;
    // `struct bpf_cpumap_val`: how many frames, and the program; without one the value is shorter in effect.
    let mut value = [0; 8];
    value[..4].copy_from_slice(&frames.to_ne_bytes());
    value[4..].copy_from_slice(&program.map_or(0, |program| program.as_raw_fd()).to_ne_bytes());
    map(object, MAP)?.update(&processor.to_ne_bytes(), &value, MapFlags::ANY).map_err(plain)
}

/// Closes the queue of a processor; what waits there is still served.
///
/// # Errors
/// It has none, or permission is missing.
pub(super) fn close(object: &Object, processor: u32) -> io::Result<()> {
    map(object, MAP)?.delete(&processor.to_ne_bytes()).map_err(plain)
}

/// The number of the map, after which the kernel names its threads.
///
/// # Errors
/// Permission is missing.
pub(super) fn number(object: &Object) -> io::Result<u32> {
    Ok(map(object, MAP)?.info().map_err(plain)?.info.id)
}
