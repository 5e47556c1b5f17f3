//! One connected UDP socket for each flow, and what the kernel reports of them.
//!
//! | | |
//! |-|-|
//! | Source | epoll(7), udp(7); [`crate::generator::batch`] |
//! | Work | one system call finds up to 64 sockets with something to read; each of those takes two or more |
//! | Units | bytes of the user's data |
//! | Memory | 64 answers, as long as requests; 8 MiB of the kernel's for each flow where it permits, as it fills |

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use super::payload::{HEAD, Payload};
use crate::generator::batch::{self, BATCH, Departures, Inbox, Outgoing};
use crate::generator::socket::{dropped, enlarge, stamp_both};
use crate::generator::wall::WallTime;

/// The buffers of all sockets together are as large as this, but each is large enough for a burst, in bytes.
const BUFFERS: usize = 64 << 20;
const SMALLEST: usize = 1 << 20;
const LARGEST: usize = 8 << 20;
/// The span after which a blocked call returns, to see whether it is to end.
const BLOCKED: Duration = Duration::from_millis(100);
/// The most batches of one socket that are taken before it is another's turn.
const ROUNDS: u32 = 4;
/// The most batches of time stamps that are taken before answers are: more than the kernel keeps.
const STAMP_ROUNDS: u32 = 1024;

/// What the kernel tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It took the request of a flow that it counts as `key`.
    Left {
        /// The flow.
        flow: u16,
        /// Of the requests about which it was asked.
        key: u32,
        /// When.
        at: WallTime,
    },
    /// A packet came in.
    Reply {
        /// The flow.
        flow: u16,
        /// What it says; `None` where it is too short.
        payload: Option<Payload>,
        /// When; `None` where it does not say.
        at: Option<WallTime>,
    },
    /// An earlier request could not be delivered.
    Failed(i32),
}

/// Where requests go and answers come from.
pub trait Line {
    /// Sends requests of a flow, or the first of them; returns how many.
    ///
    /// # Errors
    /// None was sent.
    fn send(&mut self, flow: u16, requests: &[Outgoing<HEAD>]) -> io::Result<usize>;

    /// Appends what has happened, the departures of a flow before its answers; whether there may be more.
    fn collect(&mut self, into: &mut Vec<Event>) -> bool;

    /// How many packets found no room here.
    fn dropped(&self) -> u64;
}

/// The sockets.
pub struct Sockets {
    sockets: Vec<UdpSocket>,
    poll: rustix::fd::OwnedFd,
    ready: Vec<epoll::Event>,
    inbox: Inbox,
    departures: Departures,
}

impl Sockets {
    /// As many as flows, connected to the target; `size` is how long answers may be.
    ///
    /// # Errors
    /// The kernel refuses, or does not stamp packets.
    pub fn new(target: SocketAddr, flows: u16, size: u32) -> io::Result<Self> {
        let poll = epoll::create(CreateFlags::CLOEXEC)?;
        let mut sockets = Vec::with_capacity(usize::from(flows));
        for flow in 0..flows {
            let socket = connected(target, flows)?;
            epoll::add(&poll, &socket, EventData::new_u64(flow.into()), EventFlags::IN)?;
            sockets.push(socket);
        }
        let (inbox, departures) = (Inbox::new(size as usize + 1), Departures::default());
        Ok(Self { sockets, poll, ready: Vec::with_capacity(BATCH), inbox, departures })
    }
}

fn connected(target: SocketAddr, flows: u16) -> io::Result<UdpSocket> {
    let any: IpAddr = match target {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    enlarge(&socket, (BUFFERS / usize::from(flows.max(1))).clamp(SMALLEST, LARGEST));
    stamp_both(&socket)?;
    socket.connect(target)?;
    socket.set_write_timeout(Some(BLOCKED))?;
    Ok(socket)
}

impl Line for Sockets {
    #[inline]
    fn send(&mut self, flow: u16, requests: &[Outgoing<HEAD>]) -> io::Result<usize> {
        batch::send(&self.sockets[usize::from(flow)], requests)
    }

    fn collect(&mut self, into: &mut Vec<Event>) -> bool {
        self.ready.clear();
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let room = rustix::buffer::spare_capacity(&mut self.ready);
        // An interrupted call has found nothing.
        let _ = epoll::wait(&self.poll, room, Some(&at_once));
        let mut more = self.ready.len() == self.ready.capacity();
        for index in 0..self.ready.len() {
            let epoll::Event { flags, data } = self.ready[index];
            let flow = data.u64() as u16;
            // Departures are reported before the packet leaves, so that none is missing once its answer is there.
            if flags.contains(EventFlags::ERR) {
                self.departed(flow, into);
            }
            more |= self.answered(flow, into);
        }
        more
    }

    fn dropped(&self) -> u64 {
        self.sockets.iter().map(|socket| u64::from(dropped(socket))).sum()
    }
}

impl Sockets {
    fn departed(&mut self, flow: u16, into: &mut Vec<Event>) {
        let socket = &self.sockets[usize::from(flow)];
        for _ in 0..STAMP_ROUNDS {
            let read = self.departures.read(socket, |key, at| into.push(Event::Left { flow, key, at }));
            if read.unwrap_or(0) < BATCH {
                return;
            }
        }
    }

    /// Whether there may be more.
    fn answered(&mut self, flow: u16, into: &mut Vec<Event>) -> bool {
        let socket = &self.sockets[usize::from(flow)];
        for _ in 0..ROUNDS {
            let read = self.inbox.receive(socket, libc::MSG_DONTWAIT, |arrived| {
                into.push(Event::Reply { flow, payload: Payload::read(arrived.data), at: arrived.at });
            });
            match read {
                Ok(BATCH) => {}
                Ok(_) => return false,
                Err(error) => {
                    let errno = error.raw_os_error().filter(|_| !batch::waits(&error));
                    into.extend(errno.map(Event::Failed));
                    return false;
                }
            }
        }
        true
    }
}
