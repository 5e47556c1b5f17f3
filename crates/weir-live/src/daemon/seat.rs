//! One interface of the daemon: its socket while it is there, and what must be known to open it again.

use std::io;

use weir_core::units::Instant;

use crate::arena::{Arena, Buffer};
use crate::config::{Interface, Router};
use crate::io::fault::{Fault, is_down};
use crate::io::link::{Claim, Facts};
use crate::io::neighbourhood::Neighbourhood;
use crate::io::{Device, Received, open};
use crate::plane::{DeviceFacts, Plane};

/// One interface.
pub struct Seat {
    /// Its place among the interfaces of the router.
    place: usize,
    name: String,
    facts: Option<Facts>,
    /// What must be told of how it was opened.
    note: Option<String>,
    open: Option<Opened>,
    _claim: Claim,
}

/// Its sockets.
struct Opened {
    device: Device,
    neighbourhood: Neighbourhood,
}
