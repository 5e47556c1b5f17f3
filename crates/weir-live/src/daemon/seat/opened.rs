//! The sockets of an interface, and by what frames come in meanwhile where another process still has its queues.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_plane::arena::{Arena, MOST_MTU};
use weir_plane::config::OnFailure;
use weir_plane::snapshot::KernelCounts;
use weir_plane::{DeviceFacts, Received};

use super::super::log;
use crate::io::fault::{Fault, Kind};
use crate::io::link::Facts;
use crate::io::neighbourhood::Neighbourhood;
use crate::io::packet::PacketSocket;
use crate::io::program::{Loaded, Program, Vlans};
use crate::io::queue::Patience;
use crate::io::xdp::{Queues, XdpSocket};
use crate::io::{Device, Means};

/// Its sockets.
pub(super) struct Opened {
    pub(super) device: Device,
    /// By what frames came in before, until that is empty.
    pub(super) former: Option<Former>,
    /// The program for sockets that another process has as yet.
    pub(super) heir: Option<Heir>,
    pub(super) neighbourhood: Neighbourhood,
    pub(super) facts: Facts,
}

/// A program whose sockets cannot be opened yet.
pub(super) enum Heir {
    Loaded(Loaded),
    Attached(Program),
}

/// The makeshift after the sockets that it was for are open: what was on its way to it is read first.
pub(super) struct Former {
    pub(super) socket: PacketSocket,
    since: Instant,
    /// Whether all that it had was received, and handed on in the turn before.
    pub(super) over: Arc<AtomicBool>,
}

/// How long a frame is on its way from a program to a socket at most.
const ON_ITS_WAY: Duration = Duration::from_millis(2);

impl Former {
    pub(super) fn of(device: Device) -> Option<Self> {
        match device {
            Device::Packet(socket) => Some(Self { socket, since: Instant::now(), over: Arc::default() }),
            Device::Xdp(_) => None,
        }
    }

    pub(super) fn receive(&mut self, arena: &mut Arena, into: &mut Vec<Received>, most: usize) -> usize {
        let late = self.since.elapsed() > ON_ITS_WAY;
        let got = self.socket.receive(arena, into, most).unwrap_or(0);
        self.over.store(late && got == 0, Ordering::Release);
        got
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Closes it; what was counted of it.
    pub(super) fn close(self, arena: &mut Arena) -> KernelCounts {
        let counted = self.socket.counts().unwrap_or_default();
        self.socket.close(arena);
        counted
    }
}

impl Opened {
    pub(super) fn new(name: &str, means: &Means, arena: &mut Arena) -> Result<Self, Fault> {
        let facts = Facts::of(name)?;
        let neighbourhood = Neighbourhood::open(&facts)?;
        let opened = Device::open(&facts, means, arena)?;
        if let Some(fault) = opened.fallback {
            log::warning(format_args!("{fault}; AF_PACKET serves instead"));
        }
        // A program in the driver may have taken the line away for a moment.
        let facts = Facts::of(name)?;
        Ok(Self { device: opened.device, former: None, heir: None, neighbourhood, facts })
    }

    /// While another process has the queues: what its program will leave to the kernel comes in by AF_PACKET.
    pub(super) fn beside(name: &str, means: &Means) -> Result<Self, Fault> {
        let facts = Facts::of(name)?;
        let heir = Some(Heir::Loaded(Loaded::new(means, &facts)?));
        let neighbourhood = Neighbourhood::open(&facts)?;
        let device = Device::Packet(PacketSocket::open(&facts, means.share)?);
        Ok(Self { device, former: None, heir, neighbourhood, facts })
    }

    /// What takes the place of the makeshift, if the queues are free; nothing else is left to be sent by it.
    pub(super) fn promoted(&mut self, means: &Means, arena: &mut Arena) -> Option<Device> {
        let Some(Heir::Attached(_)) = &self.heir else { return None };
        if self.device.unsent() > 0 {
            return None;
        }
        let queues = match Queues::open(&self.facts, means.share, means.workers, Patience::None, arena) {
            Ok(queues) => queues,
            Err(fault) if fault.kind == Kind::Busy => return None,
            Err(fault) => {
                self.heir = None;
                log::error(format_args!("{fault}; AF_PACKET goes on"));
                return None;
            }
        };
        let Some(Heir::Attached(program)) = self.heir.take() else { return None };
        match XdpSocket::join(&self.facts, program, queues, arena) {
            Ok(socket) => Some(Device::Xdp(Box::new(socket))),
            Err(fault) => {
                log::error(format_args!("{fault}; AF_PACKET goes on"));
                None
            }
        }
    }

    /// The makeshift is over: from now on what no socket takes is dealt with as `on_failure` says. Done before the kernel has the
    /// sockets of all queues, that would drop what comes in meanwhile.
    pub(super) fn settle(&mut self, on_failure: OnFailure) {
        if let Some(Err(error)) = self.device.program().map(|program| program.settle(on_failure)) {
            log::error(format_args!("interface {}: on_failure cannot be set: {error}", self.facts.name));
        }
    }

    /// Whether its program is behind a dispatcher.
    pub(super) fn is_behind(&self) -> bool {
        let heir = matches!(&self.heir, Some(Heir::Attached(program)) if program.is_behind());
        heir || self.device.is_behind()
    }

    /// Whether each queue that the interface has now is read.
    pub(super) fn serves(&self, now: &Facts) -> bool {
        matches!(self.device, Device::Packet(_)) || self.facts.queues == now.queues
    }

    /// The router serves these VLANs now.
    pub(super) fn serve(&mut self, vlans: &Vlans) -> io::Result<()> {
        match &mut self.heir {
            Some(Heir::Loaded(loaded)) => loaded.serve(vlans)?,
            Some(Heir::Attached(program)) => program.serve(vlans)?,
            None => {}
        }
        self.device.program().map_or(Ok(()), |program| program.serve(vlans))
    }

    pub(super) fn seen(&self) -> DeviceFacts {
        let Facts { mac, mtu, up, index, carrier_changes, .. } = self.facts;
        DeviceFacts { mac, mtu, up, index, carrier_changes }
    }

    /// Takes note of what has changed.
    pub(super) fn follow(&mut self, facts: Facts) {
        if let Some(line) = too_large(&facts).filter(|_| facts.mtu != self.facts.mtu) {
            log::warning(format_args!("{line}"));
        }
        if facts.up != self.facts.up {
            log::notice(format_args!("interface {}: {}", facts.name, if facts.up { "up" } else { "down" }));
        }
        let moved = facts.addresses != self.facts.addresses;
        if let Some(error) = moved.then(|| self.device.leave_to_kernel(&facts.addresses).err()).flatten() {
            log::warning(format_args!(
                "interface {}: its new addresses are not left to the kernel: {error}",
                facts.name
            ));
        }
        self.facts = facts;
    }
}

/// What to do about an interface that takes larger packets than a frame of memory, if it does.
pub(super) fn too_large(facts: &Facts) -> Option<String> {
    let Facts { name, mtu, .. } = facts;
    (*mtu > MOST_MTU).then(|| {
        format!(
            "interface {name}: its MTU is {mtu}B, and a frame of memory holds packets of at most {MOST_MTU}B: larger ones \
             are dropped and counted; run `ip link set {name} mtu {MOST_MTU}`"
        )
    })
}
