//! One device of the daemon, with all of its VLANs: its sockets while it is there, and what must be known to open them again.
//!
//! An interface that goes away takes its sockets with it; its seat stays, keeps the claim, and opens them anew once there
//! is one of its name again. One that is only down keeps them. In between the plane learns that the device is down, and
//! counts what would have left by it.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use weir_plane::arena::{Arena, Buffer};
use weir_plane::config::Vlan;
use weir_plane::snapshot::{KernelCounts, Left};
use weir_plane::{DeviceFacts, Received};

use super::log;
use crate::io::fault::Fault;
use crate::io::link::{Claim, Facts, kernel_forwards};
use crate::io::program::Program;
use crate::io::xdp::{Gate, Satellite};
use crate::io::{Device, Means};
use opened::{Former, Heir, Opened, too_large};

mod opened;

/// One interface.
pub struct Seat {
    name: String,
    means: Means,
    open: Option<Opened>,
    /// What sockets that are closed had counted, and their programs.
    before: KernelCounts,
    left_before: BTreeMap<Left, u64>,
    claim: Option<Claim>,
}

impl Seat {
    /// Claims and opens an interface.
    ///
    /// # Errors
    /// There is none of this name, another daemon has it, permission is missing, or the kernel cannot do it.
    pub fn open(name: &str, means: Means, arena: &mut Arena) -> Result<Self, Fault> {
        let claim = Claim::new(name)?;
        let opened = Opened::new(name, &means, arena)?;
        Ok(Self {
            name: name.to_owned(),
            means,
            open: Some(opened),
            before: KernelCounts::default(),
            left_before: BTreeMap::new(),
            claim: Some(claim),
        })
    }

    /// Opens an interface that another process has as yet, in whose place this one is put: frames come in as soon as
    /// [`displace`](Self::displace) has put its program there. It is to be claimed when that process has gone, and then to be promoted.
    ///
    /// # Errors
    /// There is none of this name, permission is missing, or the kernel cannot do it.
    pub fn beside(name: &str, means: Means) -> Result<Self, Fault> {
        let opened = Opened::beside(name, &means)?;
        let (before, left_before) = (KernelCounts::default(), BTreeMap::new());
        Ok(Self { name: name.to_owned(), means, open: Some(opened), before, left_before, claim: None })
    }

    /// Puts the program of this interface in the place of that of another process, whose link has this number.
    ///
    /// # Errors
    /// Permission is missing, or the link is of another interface.
    pub fn displace(&mut self, link: u32) -> Result<(), Fault> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Some(Heir::Loaded(loaded)) = open.heir.take() else { return Ok(()) };
        open.heir = Some(Heir::Attached(Program::after(loaded, &self.means, &open.facts, link)?));
        Ok(())
    }

    /// Claims it, where that was left for later.
    ///
    /// # Errors
    /// Another process still has it.
    pub fn claim(&mut self) -> Result<(), Fault> {
        if self.claim.is_none() {
            self.claim = Some(Claim::new(&self.name)?);
        }
        Ok(())
    }

    /// Another process may have it.
    pub(super) fn release(&mut self) {
        self.claim = None;
    }

    /// The link of its program in the kernel, by number; nothing where it has none.
    pub(super) fn link(&mut self) -> Option<u32> {
        self.open.as_mut()?.device.program()?.link().ok()
    }

    /// Puts its program into its link again, which another process has taken and not kept.
    pub(super) fn return_to_link(&mut self) {
        let program = self.open.as_mut().and_then(|open| open.device.program());
        if let Some(Err(error)) = program.map(|program| program.return_to_link()) {
            log::error(format_args!("interface {}: its program cannot be put back: {error}", self.name));
        }
    }

    /// Whether its program is behind a dispatcher.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.open.as_ref().is_some_and(Opened::is_behind)
    }

    /// What the plane must know of the device.
    #[must_use]
    pub fn facts(&self) -> Option<DeviceFacts> {
        self.open.as_ref().map(|open| open.seen())
    }

    /// The router serves these VLANs of it from now on.
    pub(super) fn serve(&mut self, vlans: Vec<Option<Vlan>>) {
        if let Some(Err(error)) = self.open.as_mut().map(|open| open.serve(&vlans)) {
            log::error(format_args!(
                "interface {}: its VLANs cannot be passed to its program: {error}",
                self.name
            ));
        }
        self.means.vlans = vlans;
    }

    /// What an operator should change about the interface, if anything.
    #[must_use]
    pub fn advice(&self) -> Vec<String> {
        let Some(open) = &self.open else { return Vec::new() };
        let mut advice = Vec::new();
        advice.extend(too_large(&open.facts));
        advice.extend(open.facts.receive_whole().map(|line| {
            format!("interface {}: packets do not come in as they were on the line; run `{line}`", self.name)
        }));
        if matches!(open.device, Device::Packet(_)) && kernel_forwards(&self.name) {
            advice.push(format!(
                "interface {0}: the kernel forwards too, so that packets would leave twice; run `sysctl \
                 net.ipv4.conf.{0}.forwarding=0 net.ipv6.conf.{0}.forwarding=0`",
                self.name
            ));
        }
        advice
    }

    /// Appends what has come in; whether anything has.
    pub(super) fn receive(&mut self, arena: &mut Arena, into: &mut Vec<Received>, most: usize) -> bool {
        let Some(open) = &mut self.open else { return false };
        // Trouble is that the interface is down or gone, which `look` is called for.
        let got = match &mut open.former {
            // What came in by the one before comes first.
            Some(former) => former.receive(arena, into, most),
            None => open.device.receive(arena, into, most).unwrap_or(0),
        };
        if open.former.as_ref().is_some_and(Former::is_over) {
            let counted = open.former.take().map(|former| former.close(arena)).unwrap_or_default();
            self.before += counted;
            open.settle(self.means.on_failure);
        }
        let heard = open.neighbourhood.receive(arena, into, most);
        got + heard > 0
    }

    /// How many frames the device takes now.
    pub(super) fn room(&mut self, arena: &mut Arena) -> u32 {
        // One that is gone takes all: they come back from `send`, and are counted.
        self.open.as_mut().map_or(u32::MAX, |open| open.device.room(arena))
    }

    /// Queues a frame to be sent.
    pub(super) fn send(&mut self, buffer: Buffer) -> Result<(), Buffer> {
        match &mut self.open {
            Some(open) => open.device.send(buffer),
            None => Err(buffer),
        }
    }

    /// Tells the kernel of what was queued, and of what it has not taken yet.
    pub(super) fn flush(&mut self, arena: &mut Arena) {
        if let Some(open) = &mut self.open {
            // As for what comes in: frames that were given up are in the counts of the device.
            let _ = open.device.flush(arena);
        }
    }

    /// Whether the kernel has not taken all that it was given.
    pub(super) fn has_unsent(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.device.unsent() > 0)
    }

    /// Whether its sockets are those of the interface as it is now: another device of the same name is not theirs, and a new
    /// queue has none.
    pub(super) fn is_stale(&self, now: Option<&Facts>) -> bool {
        let serves = |open: &Opened, facts: &Facts| open.facts.index == facts.index && open.serves(facts);
        self.open.as_ref().is_some_and(|open| now.is_none_or(|facts| !serves(open, facts)))
    }

    /// The interface as it is now; nothing where it is gone.
    pub(super) fn now(&self) -> Option<Facts> {
        Facts::of(&self.name).ok()
    }

    /// Takes note of what has changed, and opens what is back.
    pub(super) fn follow(&mut self, now: Option<Facts>, arena: &mut Arena) {
        match (&mut self.open, now) {
            (Some(open), Some(facts)) => open.follow(facts),
            (None, Some(_)) => match Opened::new(&self.name, &self.means, arena) {
                Ok(opened) => {
                    log::notice(format_args!("interface {}: back, by {}", self.name, opened.device.means()));
                    self.open = Some(opened);
                }
                Err(fault) => log::warning(format_args!("{fault}")),
            },
            (_, None) => {}
        }
    }

    /// Gives up its sockets, to be opened anew; `elsewhere` is what was counted of queues that others served.
    pub(super) fn close(&mut self, elsewhere: KernelCounts, arena: &mut Arena) {
        self.before += elsewhere;
        if let Some(open) = self.open.take() {
            log::warning(format_args!(
                "interface {}: gone or of other queues; it is opened again",
                self.name
            ));
            self.before = self.counts_with(&open.device);
            self.left_before = self.left_with(&open.device);
            open.device.abandon(arena);
        }
    }

    /// Whether its frames come in by a makeshift, until it can be promoted.
    pub(super) fn is_makeshift(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.heir.is_some())
    }

    /// Whether it waits for the last frames by a makeshift, which is no longer in use.
    pub(super) fn has_former(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.former.is_some())
    }

    /// Opens the sockets that another process had, if that has let them go, in place of the makeshift.
    pub(super) fn promote(&mut self, arena: &mut Arena) {
        let Some(open) = &mut self.open else { return };
        if let Some(device) = open.promoted(&self.means, arena) {
            let means = device.means();
            let former = core::mem::replace(&mut open.device, device);
            open.former = Former::of(former);
            log::notice(format_args!("interface {}: taken over, by {means}", self.name));
        }
    }

    /// Its queues that other workers are to serve, each with how many places behind its own.
    pub(super) fn satellites(&mut self) -> Vec<(usize, Satellite)> {
        self.open.as_mut().map_or_else(Vec::new, |open| open.device.satellites())
    }

    /// When they may be received from: not while there is still something to come by the makeshift.
    pub(super) fn gate(&self) -> Gate {
        let former = self.open.as_ref().and_then(|open| open.former.as_ref());
        former.map_or(Gate::Open, |former| Gate::Until(Arc::clone(&former.over)))
    }

    /// Lets frames come in by such a queue.
    pub(super) fn begin(&mut self, satellite: &Satellite) {
        let begun = self.open.as_mut().map_or(Ok(()), |open| open.device.begin(satellite));
        if let Err(error) = begun {
            log::error(format_args!("interface {}: a queue cannot be served: {error}", self.name));
        }
    }

    /// Ends it in order: nothing of it stays in the kernel.
    ///
    /// # Errors
    /// The program cannot be taken off the interface.
    pub(super) fn end(self, arena: &mut Arena) -> Result<(), Fault> {
        self.open.map_or(Ok(()), |open| open.device.close(arena))
    }

    /// Lets it go to another process, which has put its program in the place of this one's.
    pub(super) fn leave(self, arena: &mut Arena) {
        if let Some(open) = self.open {
            open.device.abandon(arena);
        }
    }

    /// By which means frames come in and leave now.
    #[must_use]
    pub fn means(&self) -> &'static str {
        self.open.as_ref().map_or("closed", |open| open.device.means())
    }

    /// What the kernel has counted of all its sockets so far.
    pub(super) fn counts(&self) -> KernelCounts {
        self.open.as_ref().map_or(self.before, |open| self.counts_with(&open.device))
    }

    fn counts_with(&self, device: &Device) -> KernelCounts {
        let mut counted = self.before;
        counted += device.counts().unwrap_or_default();
        counted
    }

    /// Frames that were left to the kernel so far, by why.
    pub(super) fn left_to_kernel(&self) -> BTreeMap<Left, u64> {
        self.open.as_ref().map_or_else(|| self.left_before.clone(), |open| self.left_with(&open.device))
    }

    fn left_with(&self, device: &Device) -> BTreeMap<Left, u64> {
        let mut all = self.left_before.clone();
        let now = device.left_to_kernel().unwrap_or_default().left_to_kernel();
        for (why, count) in now.into_iter().filter(|(_, count)| *count > 0) {
            *all.entry(why).or_default() += count;
        }
        all
    }

    /// The descriptors that are readable when a frame has come in.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let device = self.open.iter().flat_map(|open| open.device.descriptors());
        let former = self.open.iter().filter_map(|open| open.former.as_ref());
        let device = device.chain(former.map(|former| former.socket.as_fd()));
        device.chain(self.open.iter().map(|open| open.neighbourhood.as_fd()))
    }
}
