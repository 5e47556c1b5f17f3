//! By which way a program comes to its interface, which is to be known before it is loaded: by a link of its own, or behind a
//! dispatcher.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/bpf/; xdp-tools, lib/libxdp/protocol.org |
//! | Work | system calls when an interface is opened; never for a frame |

use libbpf_rs::OpenObject;
use rustix::thread::{CapabilitySet, capabilities};
use weir_plane::config::{XDP_PRIORITY, Xdp};

use super::{attached_program, refused};
use crate::io::dispatcher::{self, Dispatcher};
use crate::io::fault::{Fault, Kind};
use crate::io::link::Facts;

/// Who attaches a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    /// The name of the daemon: that of its pin.
    pub(crate) name: &'a str,
    /// The setting by which its link is pinned, where it is to be.
    pub(crate) pin: Option<&'static str>,
    /// What can be done instead of attaching a program, where there is something.
    pub(crate) instead: Option<&'static str>,
    /// How it is with the programs of others.
    pub(crate) sharing: Sharing,
}

/// How a program shares its interface with those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// Whether a dispatcher is made where there is none.
    pub xdp: Xdp,
    /// The priority behind a dispatcher; the least comes first.
    pub priority: u32,
}

impl Default for Sharing {
    fn default() -> Self {
        Self { xdp: Xdp::Auto, priority: XDP_PRIORITY }
    }
}

/// By which way a program comes to its interface, which is to be known before it is loaded.
pub(crate) enum Way {
    /// By a link of its own, as the only one.
    Link,
    /// Behind a dispatcher; this one is what it is loaded for, and any other will do then.
    Behind(Dispatcher),
}

impl Way {
    /// Behind a dispatcher if there is one, or if there is nothing and one is asked for.
    ///
    /// # Errors
    /// Permission is missing.
    pub(crate) fn of(owner: Owner<'_>, facts: &Facts) -> Result<Self, Fault> {
        let behind = match attached_program(facts.index) {
            Some(_) => dispatcher::is_there(facts),
            None => owner.sharing.xdp == Xdp::Dispatcher,
        };
        if !behind {
            return Ok(Self::Link);
        }
        let failed =
            |error| Fault::system(&facts.name, "loading a dispatcher", dispatcher::CAPABILITY, error);
        dispatcher::template().map(Self::Behind).map_err(failed)
    }

    /// Makes a program that is to be loaded fit for it.
    pub(crate) fn fit(&self, mut object: OpenObject, name: &str) -> libbpf_rs::Result<OpenObject> {
        if let Self::Behind(dispatcher) = self {
            dispatcher.fit(&mut object, name)?;
        }
        Ok(object)
    }

    /// Why an object was not loaded; `oldest` is the kernel that it needs.
    pub(crate) fn refused(&self, facts: &Facts, error: libbpf_rs::Error, oldest: &str) -> Fault {
        let denied = error.kind() == libbpf_rs::ErrorKind::PermissionDenied;
        let may = || capabilities(None).is_ok_and(|now| now.effective.contains(CapabilitySet::SYS_ADMIN));
        let fault = refused(facts, error, oldest);
        match self {
            Self::Link => fault,
            Self::Behind(_) if denied && may() && fault.kind == Kind::Permission => {
                let what = "this kernel refuses programs that take the place of a function (BPF_PROG_TYPE_EXT), of which a \
                            dispatcher is made";
                Fault::new(Kind::Unsupported, &facts.name, what, "leave out xdp = \"dispatcher\"")
            }
            Self::Behind(_) => fault.or("leave out xdp = \"dispatcher\""),
        }
    }
}
