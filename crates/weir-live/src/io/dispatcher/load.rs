//! Dispatchers: loaded with their configuration, and programs put into their slots.
//!
//! | | |
//! |-|-|
//! | Source | xdp-tools, lib/libxdp/protocol.org, "Generating a dispatcher"; `bpf/dispatcher` |
//! | Work | system calls when an interface is opened or ended |

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use libbpf_rs::btf::types::Func;
use libbpf_rs::{Object, OpenObject, ProgramAttachType, ProgramType};

use super::ask;
use super::layout::{Config, Entry, FRAGS, Version};
use crate::io::attach::{self, plain, positive, program};
use crate::io::link::owned;

/// The compiled dispatchers.
pub(super) const OBJECTS: [(Version, &[u8]); 2] = [
    (Version::Two, include_bytes!(concat!(env!("OUT_DIR"), "/dispatcher2.bpf.o"))),
    (Version::Three, include_bytes!(concat!(env!("OUT_DIR"), "/dispatcher3.bpf.o"))),
];
const MAIN: &str = "xdp_dispatcher";

/// A dispatcher that is loaded.
pub(crate) struct Dispatcher {
    object: Object,
    id: u32,
}

impl Dispatcher {
    /// Loads one that calls these programs.
    pub(super) fn load(config: &Config) -> io::Result<Self> {
        let object = OBJECTS.iter().find(|(version, _)| *version == config.version);
        let (_, object) = object.ok_or_else(|| io::Error::other("no dispatcher of this version"))?;
        let mut open = attach::open(object).map_err(plain)?;
        for mut map in open.maps_mut() {
            map.set_initial_value(&config.to_bytes()).map_err(plain)?;
        }
        if config.frags() {
            open.progs_mut().for_each(|mut program| program.set_flags(FRAGS));
        }
        let object = open.load().map_err(plain)?;
        let id = ask::about(program(&object, MAIN)?)?.id;
        Ok(Self { object, id })
    }

    /// One with a slot for any program: what is loaded for it can be put into others.
    pub(super) fn template() -> io::Result<Self> {
        Self::load(&Config { version: Version::Two, entries: vec![Entry::default()] })
    }

    /// Its number in the kernel.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Its program.
    pub(super) fn program(&self) -> io::Result<BorrowedFd<'_>> {
        program(&self.object, MAIN)
    }

    /// Makes a program that is not loaded yet one for slots.
    pub(crate) fn fit(&self, object: &mut OpenObject, name: &str) -> libbpf_rs::Result<()> {
        let target = self.program().map_err(libbpf_rs::Error::from)?.as_raw_fd();
        for mut program in object.progs_mut().filter(|program| program.name() == name) {
            program.set_prog_type(ProgramType::Ext);
            // Nothing, which is 0.
            program.set_attach_type(ProgramAttachType::CgroupInetIngress);
            program.set_attach_target(target, Some("prog0".to_owned()))?;
        }
        Ok(())
    }

    /// Puts a program into a slot, for as long as what is returned is open or pinned.
    pub(crate) fn link(&self, slot: usize, program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        let name = format!("prog{slot}");
        let types = self.object.btf().map_err(plain)?.ok_or_else(|| io::Error::other("no types"))?;
        let function: Func<'_> =
            types.type_by_name(&name).ok_or_else(|| io::Error::other(format!("no function {name}")))?;
        let options = libbpf_sys::bpf_link_create_opts {
            sz: size_of::<libbpf_sys::bpf_link_create_opts>() as _,
            target_btf_id: function.type_id().into(),
            ..Default::default()
        };
        let (program, target) = (program.as_raw_fd(), self.program()?.as_raw_fd());
        // SAFETY: the options live through the call, and say how long they are.
        owned(positive(unsafe { libbpf_sys::bpf_link_create(program, target, 0, &raw const options) }))
    }
}
