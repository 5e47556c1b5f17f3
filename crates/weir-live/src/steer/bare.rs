//! The baselines of the benchmarks: a program that spreads all frames of an interface over processors in turn, and does
//! nothing else; and the same with a program at the queues that passes all of them.
//!
//! | | |
//! |-|-|
//! | Source | `bpf/steer/bare.bpf.c`; `BPF_MAP_TYPE_CPUMAP` |
//! | Work | system calls when it begins and ends; never for a frame |
//! | Units | frames |

use libbpf_rs::{Object, OpenObject};

use super::cpumap;
use super::layout::PROCESSORS;
use super::threads::{self, QueueThread};
use crate::io::attach::{self, Attached, CAPABILITY, Mode, Owner, Sharing, Way, program};
use crate::io::fault::Fault;
use crate::io::link::Facts;

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bare.bpf.o"));
/// The oldest kernel that has all that it uses.
const OLDEST: &str = "Linux 5.9";

/// The program, attached to an interface until this is dropped.
pub struct Bare {
    attached: Attached,
    /// The number of the map of queues.
    map: u32,
    _object: Object,
}

impl Bare {
    /// Loads it and attaches it to an interface, with a queue of `queue` frames at each of the processors, and a program
    /// at the queues if `serves`.
    ///
    /// # Errors
    /// Permission is missing, the kernel refuses it, a processor is not online, or another program is attached.
    pub fn attach(facts: &Facts, processors: &[u32], queue: u32, serves: bool) -> Result<Self, Fault> {
        let failed = |what| move |error| Fault::system(&facts.name, what, CAPABILITY, error);
        let owner = Owner { name: "bench-redirect", pin: None, instead: None, sharing: Sharing::default() };
        let way = Way::of(owner, facts)?;
        let loaded = open(processors).and_then(|object| way.fit(object, "bare")).and_then(OpenObject::load);
        let object = loaded.map_err(|error| way.refused(facts, error, OLDEST))?;
        let opened = processors.iter().try_for_each(|&processor| {
            let serve = if serves { Some(program(&object, "bare_serve")?) } else { None };
            cpumap::open(&object, processor, queue, serve)
        });
        opened.map_err(failed("opening the queues"))?;
        let map = cpumap::number(&object).map_err(failed("asking for the map of queues"))?;
        let program = program(&object, "bare").map_err(failed("finding the program"))?;
        let attached = Attached::new(owner, facts, &way, program)?;
        Ok(Self { attached, map, _object: object })
    }

    /// The kernel's threads that serve the queues.
    #[must_use]
    pub fn threads(&self) -> Vec<QueueThread> {
        threads::of_map(self.map)
    }

    /// Where the program runs.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.attached.mode()
    }

    /// Takes it off the interface.
    ///
    /// # Errors
    /// None at present, as it is never pinned.
    pub fn detach(self) -> Result<(), Fault> {
        self.attached.detach()
    }
}

/// Opens the program for this machine, and tells it the processors: `struct bare_list`.
fn open(processors: &[u32]) -> libbpf_rs::Result<OpenObject> {
    let mut object = attach::open(OBJECT)?;
    let mut list = [0_u32; PROCESSORS + 1];
    list[0] = processors.len().min(PROCESSORS) as u32;
    list[1..].iter_mut().zip(processors).for_each(|(to, processor)| *to = *processor);
    let list = list.map(u32::to_ne_bytes);
    for mut map in object.maps_mut() {
        match map.name().to_str() {
            Some(".rodata.spread") => map.set_initial_value(list.as_flattened())?,
            Some(cpumap::MAP) => map.set_max_entries(cpumap::most()?)?,
            _ => {}
        }
    }
    Ok(object)
}
