//! Packet captures: pcap and pcapng, read as a stream, and the schedules of packets in them.
//!
//! A capture comes from anywhere: a colleague, a bug report, an attacker. What is read of it is when packets
//! passed, how large they were, and which of them belong together; addresses, ports and payloads need not
//! leave this crate. The layers, from the file inwards:
//!
//! | Module | Turns | into |
//! |-|-|-|
//! | `input` | a file, plain or gzip | bytes with their offset, never more at once than the caller allows |
//! | [`capture`] | bytes | captured frames with their time, through pcap or pcapng |
//! | [`frame`] | a captured frame | addresses, protocol, ports and code point of its IP packet |
//! | [`flows`] | these | numbered flows with a direction |
//! | [`schedule`] | all of it | rows in order of time, and a summary |
//! | [`csv`] | rows | the columns of `data/packets/` |
//!
//! | | |
//! |-|-|
//! | Sources | draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng, the list of link types of tcpdump.org |
//! | Libraries | `pcap-parser` for headers, records and blocks; `etherparse` for frames; `flate2` for gzip |
//! | Work | linear in the length of the file |
//! | Memory | one record, the interfaces of a section, one entry a flow; each has a bound in [`limits`] |
//! | Units | times in nanoseconds, sizes in bytes of the frame as it was on the line |
//!
//! # What is refused, and what is counted
//!
//! A file that lies is refused at the byte where it does ([`CaptureError`]): wrong magic number or version,
//! lengths below or above their bounds or that contradict each other, an interface that was not described, a
//! link type that is not read, a fraction of a second above one second, time that jumps, endless blocks
//! without a packet. Nothing is guessed after such a byte, for in these formats what follows cannot be found
//! again with certainty.
//!
//! What honest captures contain is kept and counted in the [`Summary`]: a tail that was cut off (the capture
//! was still being written, or the disk was full), time that steps back a little (several interfaces or
//! queues), packets whose headers were not captured whole, packets without a time, frames that carry no IP.

pub mod capture;
mod clock;
pub mod csv;
mod error;
pub mod flows;
pub mod frame;
mod input;
pub mod limits;
mod pcap;
mod pcapng;
pub mod schedule;

pub use error::{CaptureError, Fault};
pub use schedule::{Row, Summary, read};
