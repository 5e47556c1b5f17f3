//! An interface by AF_XDP: a program that hands over frames, and a socket for each queue that they come in by.
//!
//! The arena is the umem of each socket: all know a frame by the same place in it, so that one that came in by one
//! interface leaves by another without being moved. Each socket registers it for itself, and so depends on no other:
//! one may be in zero-copy mode while another copies, and one that is opened anew does not need its siblings.
//! The queues of an interface share what it may take of the arena. Frames are taken from all of them in turn, each of
//! which is first once, and leave by the first. A flow keeps its order, as the device gives it one queue. Where several
//! workers move packets, they share the queues ([`Satellite`]).
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/networking/af_xdp.rst |
//! | Work | O(frames + queues) a call; one system call to send a batch, none to receive |
//! | Memory | the rings of each queue, sized by its part of [`Share`]; one byte for each frame of the arena |
//! | Units | frames; bytes |

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_plane::Received;
use weir_plane::arena::{Arena, Buffer};
use weir_plane::snapshot::KernelCounts;

use super::Share;
use super::attach::Mode;
use super::fault::{Fault, Kind};
use super::held::Held;
use super::link::Facts;
use super::program::{FrameCounts, Program};
use super::queue::{Patience, Queue};

/// The most queues: `ROUTE_QUEUES` of `bpf/route/intf.h`.
pub const MOST_QUEUES: u32 = 64;

/// The AF_XDP sockets of an interface.
pub struct XdpSocket {
    // The program goes first, so that no frame is sent to a socket that is no more.
    program: Program,
    /// In the order of their numbers; the first at least.
    queues: Vec<Queue>,
    /// Which of them is asked first.
    turn: usize,
    held: Held,
    /// Queues for others to serve, until they are taken.
    satellites: Vec<(usize, Satellite)>,
}

/// Sockets of the queues of an interface, which no program hands anything yet.
pub struct Queues {
    own: Vec<Queue>,
    satellites: Vec<(usize, Satellite)>,
}

impl Queues {
    /// Opens a socket on each queue of an interface.
    ///
    /// # Errors
    /// The kernel has no AF_XDP, permission is missing, somebody else has a queue, or there are more than [`MOST_QUEUES`].
    pub fn open(
        facts: &Facts,
        share: Share,
        workers: usize,
        patience: Patience,
        arena: &Arena,
    ) -> Result<Self, Fault> {
        let count = facts.queues.receive.max(1);
        if count > MOST_QUEUES {
            return Err(too_many(facts));
        }
        let part = part(share, count);
        let mut queues = Self { own: Vec::new(), satellites: Vec::new() };
        for number in 0..count {
            let queue = Queue::open(facts, number, part, patience, arena)?;
            match number as usize % workers {
                0 => queues.own.push(queue),
                other => {
                    let held = Held::new(arena.frames());
                    queues.satellites.push((other, Satellite { queue, held, gate: Gate::Open }));
                }
            }
        }
        Ok(queues)
    }
}

/// A queue that is received from by another thread than that of its interface.
pub struct Satellite {
    queue: Queue,
    held: Held,
    gate: Gate,
}

/// Whether a queue is received from.
#[derive(Clone, Debug, Default)]
pub enum Gate {
    /// Yes.
    #[default]
    Open,
    /// Not before this is set: until then what came in by another socket is still on its way.
    Until(Arc<AtomicBool>),
    /// Not before all that was handed over until now is taken.
    Behind,
}

impl Satellite {
    /// Gives the kernel frames to receive into. Nothing is received while the gate is closed.
    pub fn fill(&mut self, gate: Gate, arena: &mut Arena) {
        self.gate = gate;
        self.queue.top_up(&mut self.held, arena);
    }

    /// Appends to `into` what has come in, at most `most` frames; returns how many. `all_taken` says whether all that was handed
    /// over before this turn is taken.
    pub fn receive(
        &mut self,
        arena: &mut Arena,
        into: &mut Vec<Received>,
        most: usize,
        all_taken: bool,
    ) -> usize {
        match &self.gate {
            Gate::Open => {}
            Gate::Until(over) => {
                if over.load(Ordering::Acquire) {
                    self.gate = Gate::Behind;
                }
                return 0;
            }
            Gate::Behind if all_taken => self.gate = Gate::Open,
            Gate::Behind => return 0,
        }
        let before = into.len();
        self.queue.receive(&mut self.held, arena, into, most);
        into.len() - before
    }

    /// What the kernel has counted; nothing where its socket cannot be asked.
    #[must_use]
    pub fn counts(&self) -> KernelCounts {
        self.queue.counts().unwrap_or_default()
    }

    /// Closes it: its frames are free.
    pub fn close(self, arena: &mut Arena) {
        end(vec![self.queue], self.held, arena);
    }
}

impl AsFd for Satellite {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }
}

impl XdpSocket {
    /// Opens a socket on each queue of an interface, and lets `program` hand them frames.
    ///
    /// # Errors
    /// The kernel has no AF_XDP, permission is missing, or the interface has more than [`MOST_QUEUES`].
    pub fn open(
        facts: &Facts,
        program: Program,
        share: Share,
        workers: usize,
        arena: &mut Arena,
    ) -> Result<Self, Fault> {
        let queues = Queues::open(facts, share, workers, Patience::Long, arena)?;
        Self::join(facts, program, queues, arena)
    }

    /// Lets `program` hand frames to sockets that are open.
    ///
    /// # Errors
    /// Permission is missing.
    pub fn join(facts: &Facts, program: Program, queues: Queues, arena: &mut Arena) -> Result<Self, Fault> {
        let Queues { own, satellites } = queues;
        let mut opened = Self { program, queues: own, turn: 0, held: Held::new(arena.frames()), satellites };
        match opened.start(arena) {
            Ok(()) => Ok(opened),
            Err(error) => {
                opened.abandon(arena);
                let what = "joining the sockets to its program";
                Err(Fault::system(&facts.name, what, "CAP_BPF and CAP_NET_ADMIN", error))
            }
        }
    }

    /// Lets frames come in.
    fn start(&mut self, arena: &mut Arena) -> io::Result<()> {
        self.queues.iter_mut().for_each(|queue| queue.top_up(&mut self.held, arena));
        for queue in &self.queues {
            self.program.register(queue.number(), queue.as_fd())?;
        }
        Ok(())
    }

    /// Lets frames come in by a queue that another serves, who has given it frames to receive into.
    ///
    /// # Errors
    /// The kernel refuses the socket.
    pub fn begin(&mut self, satellite: &Satellite) -> io::Result<()> {
        self.program.register(satellite.queue.number(), satellite.queue.as_fd())
    }

    /// The queues that others are to serve, each with how many places behind the worker of the interface.
    pub fn satellites(&mut self) -> Vec<(usize, Satellite)> {
        core::mem::take(&mut self.satellites)
    }

    /// See [`Device::receive`](super::Device::receive).
    ///
    /// # Errors
    /// The interface is down or gone.
    pub fn receive(&mut self, arena: &mut Arena, into: &mut Vec<Received>, most: usize) -> io::Result<usize> {
        let before = into.len();
        let (behind, first) = self.queues.split_at_mut(self.turn);
        for queue in first.iter_mut().chain(behind) {
            queue.receive(&mut self.held, arena, into, most - (into.len() - before));
        }
        self.turn = if self.turn + 1 < self.queues.len() { self.turn + 1 } else { 0 };
        if into.len() == before {
            self.queues[0].look_around()?;
        } else {
            self.queues[0].is_busy();
        }
        Ok(into.len() - before)
    }

    /// See [`Device::room`](super::Device::room).
    pub fn room(&mut self, arena: &mut Arena) -> u32 {
        self.queues[0].room(&mut self.held, arena)
    }

    /// See [`Device::send`](super::Device::send).
    ///
    /// # Errors
    /// There is no room; the frame comes back.
    pub fn send(&mut self, buffer: Buffer) -> Result<(), Buffer> {
        self.queues[0].send(&mut self.held, buffer)
    }

    /// See [`Device::flush`](super::Device::flush).
    ///
    /// # Errors
    /// The interface is down or gone.
    pub fn flush(&mut self, arena: &mut Arena) -> io::Result<()> {
        self.queues[0].flush(&mut self.held, arena)
    }

    /// How many frames that were flushed the kernel has not processed yet: another flush reminds it.
    #[must_use]
    pub fn unsent(&self) -> u32 {
        self.queues[0].unsent()
    }

    /// See [`Device::counts`](super::Device::counts).
    ///
    /// # Errors
    /// A socket cannot be asked.
    pub fn counts(&self) -> io::Result<KernelCounts> {
        self.queues.iter().map(Queue::counts).sum()
    }

    /// See [`Device::left_to_kernel`](super::Device::left_to_kernel).
    ///
    /// # Errors
    /// Permission is missing.
    pub fn left_to_kernel(&self) -> io::Result<FrameCounts> {
        self.program.counts()
    }

    /// See [`Device::means`](super::Device::means).
    #[must_use]
    pub fn means(&self) -> &'static str {
        match (self.queues.iter().all(Queue::is_zero_copy), self.program.mode()) {
            (true, _) => "AF_XDP, zero copy",
            (false, Mode::Driver) => "AF_XDP, copy",
            (false, Mode::Generic) => "AF_XDP, copy, generic",
        }
    }

    /// Whether that is behind a dispatcher.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.program.is_behind()
    }

    /// The program that hands it frames.
    pub fn program(&mut self) -> &mut Program {
        &mut self.program
    }

    /// Ends it in order: detaches the program, pinned or not, and gives all frames back.
    ///
    /// # Errors
    /// The program cannot be detached.
    pub fn close(self, arena: &mut Arena) -> Result<(), Fault> {
        let Self { program, queues, held, .. } = self;
        let detached = program.detach();
        end(queues, held, arena);
        detached
    }

    /// Ends it because its interface is gone: gives all frames back, and leaves a pinned program where it is.
    pub fn abandon(self, arena: &mut Arena) {
        let Self { program, queues, held, satellites, .. } = self;
        drop(program);
        satellites.into_iter().for_each(|(_, satellite)| satellite.close(arena));
        end(queues, held, arena);
    }

    /// To be polled for reading.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.queues.iter().map(AsFd::as_fd)
    }
}

fn end(queues: Vec<Queue>, held: Held, arena: &mut Arena) {
    queues.into_iter().for_each(|queue| queue.close(arena));
    held.give_all(arena);
}

/// What one of `queues` queues takes of the share of its interface.
fn part(share: Share, queues: u32) -> Share {
    let receive = (share.receive / queues).max(1);
    Share { receive: 1 << receive.ilog2(), ring: share.ring }
}

fn too_many(facts: &Facts) -> Fault {
    let what = format!("{} queues receive, and AF_XDP serves at most {MOST_QUEUES}", facts.queues.receive);
    let remedy = format!("run `{}`", facts.fewer_queues(MOST_QUEUES));
    Fault::new(Kind::Unsupported, &facts.name, what, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_share_what_their_interface_may_take() {
        let share = Share { receive: 64, ring: 32 };
        for (queues, receive) in [(1, 64), (2, 32), (3, 16), (64, 1), (65, 1)] {
            assert_eq!(part(share, queues), Share { receive, ring: 32 }, "{queues} queues");
        }
    }
}
