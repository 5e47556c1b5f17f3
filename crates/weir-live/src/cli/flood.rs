//! `weird bench-flood`: sends packets of ever new flows, as fast as it can.
//!
//! Each frame is of 60 bytes, IPv4 and UDP, and its addresses and ports are those of a flow of its own, until all flows
//! have been and the first comes again. Between them stand the packets of one flow that stays, at a fixed share of all
//! frames: what a router makes of that flow is what a test of a flood looks at. A device that has no room is waited for.
//!
//! | | |
//! |-|-|
//! | Source | this project; the order of flows is a multiplication modulo 2^55, which takes none twice |
//! | Work | O(1) a frame, one system call for 64; no allocation while it sends |
//! | Units | frames; seconds |

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use serde::Serialize;
use weir_plane::arena::{Arena, Buffer};
use weir_plane::checksum::{fold, sum, write};
use weir_plane::config::MacAddress;

use super::Failure;
use crate::io::Share;
use crate::io::arena;
use crate::io::link::Facts;
use crate::io::packet::{BATCH, PacketSocket};

/// The size of a frame: the least of an Ethernet without its check sequence.
const FRAME: usize = 60;
/// Where its IP header begins, and its UDP header.
const IP: usize = 14;
const UDP: usize = IP + 20;
/// Flows are distinguished by 23 bits of the source's address and two ports.
const FLOW_BITS: u32 = 55;
/// Sources are in 10.128.0.0/9.
const SOURCES: u64 = 0x0a80_0000;
/// The ports of the flow that stays.
const STEADY: u16 = 5001;
/// An odd number without pattern, so that neighbours in the order have nothing in common.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// How long it waits for room, as long as there is none.
const PAUSE: Duration = Duration::from_micros(20);

/// The arguments of `weird bench-flood`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The interface that frames leave by.
    interface: String,
    /// The device of the router behind it.
    #[arg(long, value_parser = mac)]
    router: MacAddress,
    /// The source of the flow that stays.
    #[arg(long)]
    from: Ipv4Addr,
    /// The destination of all packets.
    #[arg(long)]
    to: Ipv4Addr,
    /// How long it sends.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// How many flows there are.
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..=1 << FLOW_BITS))]
    flows: u64,
    /// Every N-th frame is of the flow that stays.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    every: u64,
}

fn mac(text: &str) -> Result<MacAddress, String> {
    MacAddress::parse(text)
        .ok_or_else(|| "must be the address of a device: write \"02:00:00:00:00:01\"".to_owned())
}

/// What was sent.
#[derive(Debug, Serialize)]
struct Sent {
    /// Frames that the device took.
    frames: u64,
    /// Frames that it did not take.
    refused: u64,
    /// Those of all, taken or not, that were of the flow that stays.
    steady: u64,
    /// The flows of the others.
    flows: u64,
    /// How long it took.
    seconds: f64,
}

/// Sends until the time is over, and says how many frames.
///
/// # Errors
/// The interface cannot be opened, or went away.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let facts = Facts::of(&arguments.interface)?;
    let share = Share { receive: 1, ring: BATCH as u32 };
    let socket = PacketSocket::open(&facts, share)?;
    let arena = arena(2 * BATCH as u32)
        .map_err(|error| Failure::Unsupported(format!("memory of frames: {error}")))?;
    let mut flood = Flood { socket, arena, frames: Frames::new(arguments, facts.mac) };
    let began = Instant::now();
    flood
        .run(began + Duration::from_secs(arguments.seconds))
        .map_err(|error| Failure::NotMet(format!("the interface went down or away: {error}")))?;
    let sent = flood.sent(began.elapsed())?;
    super::print(&format!("{}\n", serde_json::to_string(&sent).unwrap_or_default()))
}

/// Frames, one after the other.
struct Frames {
    template: [u8; FRAME],
    /// The sum of the header's words that stay.
    sum: u64,
    from: Ipv4Addr,
    flows: u64,
    every: u64,
    /// How many were made.
    made: u64,
    /// How many of them were of the flow that stays.
    steady: u64,
}

impl Frames {
    fn new(arguments: &Arguments, own: MacAddress) -> Self {
        let mut template = [0; FRAME];
        template[..6].copy_from_slice(&arguments.router.0);
        template[6..12].copy_from_slice(&own.0);
        template[12..14].copy_from_slice(&[8, 0]);
        template[IP] = 0x45;
        write(&mut template, IP + 2, (FRAME - IP) as u16);
        template[IP + 8..IP + 10].copy_from_slice(&[64, 17]);
        template[IP + 16..IP + 20].copy_from_slice(&arguments.to.octets());
        // UDP over IPv4 may go without a checksum.
        write(&mut template, UDP + 4, (FRAME - UDP) as u16);
        let Arguments { from, flows, every, .. } = *arguments;
        Self { sum: sum(&template[IP..UDP]), template, from, flows, every, made: 0, steady: 0 }
    }

    /// Writes the next one.
    fn next(&mut self, into: &mut [u8]) {
        let (source, ports) = if self.made.is_multiple_of(self.every) {
            self.steady += 1;
            (self.from.to_bits(), (STEADY, STEADY))
        } else {
            flow((self.made - self.steady) % self.flows)
        };
        self.made += 1;
        into.copy_from_slice(&self.template);
        into[IP + 12..IP + 16].copy_from_slice(&source.to_be_bytes());
        write(into, IP + 10, !fold(self.sum + u64::from(source)));
        write(into, UDP, ports.0);
        write(into, UDP + 2, ports.1);
    }
}

/// Source and ports of the flow of this number, which no other has.
fn flow(number: u64) -> (u32, (u16, u16)) {
    let mixed = number.wrapping_mul(STEP) & ((1 << FLOW_BITS) - 1);
    ((SOURCES | mixed >> 32) as u32, ((mixed >> 16) as u16, mixed as u16))
}

struct Flood {
    socket: PacketSocket,
    arena: Arena,
    frames: Frames,
}

impl Flood {
    fn run(&mut self, until: Instant) -> std::io::Result<()> {
        while Instant::now() < until {
            for _ in 0..self.socket.room(&mut self.arena) {
                let Some(buffer) = self.next() else { break };
                if let Err(buffer) = self.socket.send(buffer) {
                    self.arena.give(buffer);
                }
            }
            self.socket.flush(&mut self.arena)?;
            if self.socket.unsent() > 0 {
                std::thread::sleep(PAUSE);
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Option<Buffer> {
        let mut buffer = self.arena.take(0)?;
        let fits = buffer.resize(FRAME as u32);
        debug_assert!(fits, "a frame of memory is larger");
        self.frames.next(self.arena.bytes_mut(&mut buffer));
        Some(buffer)
    }

    fn sent(&self, passed: Duration) -> Result<Sent, Failure> {
        let counted =
            self.socket.counts().map_err(|error| Failure::NotMet(format!("the socket: {error}")))?;
        let refused = counted.transmit_failed + u64::from(self.socket.unsent());
        let Frames { made, steady, flows, .. } = self.frames;
        Ok(Sent {
            frames: made - refused,
            refused,
            steady,
            flows: flows.min(made - steady),
            seconds: passed.as_secs_f64(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn arguments(flows: u64, every: u64) -> Arguments {
        Arguments {
            interface: "eth0".to_owned(),
            router: MacAddress([2, 0, 0, 0, 0, 1]),
            from: Ipv4Addr::new(10, 0, 0, 2),
            to: Ipv4Addr::new(10, 0, 1, 2),
            seconds: 1,
            flows,
            every,
        }
    }

    #[test]
    fn each_flow_comes_once_before_any_comes_again() {
        let mut seen = HashSet::new();
        for number in 0..100_000 {
            let (source, ports) = flow(number);
            assert_eq!(u64::from(source) >> 23, SOURCES >> 23);
            assert!(seen.insert((source, ports)), "flow {number}");
        }
    }

    #[test]
    fn frames_are_whole_and_the_flow_that_stays_has_its_share() {
        let mut frames = Frames::new(&arguments(1000, 4), MacAddress([2, 0, 0, 0, 0, 2]));
        let mut steady = 0;
        for _ in 0..100 {
            let mut frame = [0; FRAME];
            frames.next(&mut frame);
            assert_eq!(fold(sum(&frame[IP..UDP])), 0xffff, "the checksum of its header");
            let parsed = etherparse::SlicedPacket::from_ethernet(&frame).expect("a packet");
            assert!(parsed.transport.is_some());
            steady += u64::from(frame[IP + 12..IP + 16] == [10, 0, 0, 2]);
        }
        assert_eq!((steady, frames.steady, frames.made), (25, 25, 100));
    }
}
