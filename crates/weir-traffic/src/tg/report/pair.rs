//! Two logs put together: what became of each packet.
//!
//! A packet was sent when the kernel took it, where that is known, and else when the source said so. Over UDP a packet
//! is found by its number. TCP has no numbers: a packet has arrived with the reading that brings its
//! last byte.

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use serde::Serialize;
use weir_core::units::{Bytes, Nanos};
use weir_document::Refused;
use weir_gauge::text::{packets, span};
use weir_tg::traffic::Start;
use weir_tg::{Script, Traffic};

use crate::tg::lateness::{self, Lateness};
use crate::tg::log::{Ending, Header, Kind, Reader, Record, Role, Transport};
use crate::tg::plan;

/// Delays below this say that clocks differ: packets that left with one system call have no exact times.
const CLOCKS_DIFFER: i64 = -100_000;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When it was due, in nanoseconds since 1970.
    pub due: i64,
    /// When it was sent, likewise.
    pub sent: i64,
    /// Its size from the header of IP on, in bytes.
    pub size: u32,
    /// From sending to its first arrival, in nanoseconds; `None` where it did not arrive. Negative where the clocks of
    /// the hosts differ by more.
    pub delay: Option<i64>,
    /// How often it arrived again.
    pub again: u32,
    /// Whether a packet sent later arrived before it.
    pub reordered: bool,
}

/// What two logs say together.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The names of the logs: of the source, of the sink.
    pub names: [String; 2],
    /// The packets, in the order of sending.
    pub packets: Vec<Packet>,
    /// When traffic begins and ends as the script says, or as far as it came; nanoseconds since 1970.
    pub window: Range<i64>,
    /// What else was counted.
    pub counts: Counts,
    /// How late packets left.
    pub lateness: Option<lateness::Summary>,
    /// What is to be known to read the figures.
    pub warnings: Vec<String>,
}

/// What was counted besides the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Errors of sending.
    pub send_errors: u64,
    /// Packets that reached the sink's host and found no room in its socket.
    pub dropped_at_sink: u64,
    /// Packets in the sink's log that came from others than the source.
    pub of_others: u64,
    /// Packets in the sink's log that are not in the source's.
    pub not_sent: u64,
}

/// The source's log.
struct Sending {
    packets: Vec<Packet>,
    /// Their numbers, which increase.
    numbers: Vec<u32>,
    /// The end of each in the stream, in bytes of data.
    ends: Vec<u64>,
    /// The source's own address.
    local: Option<std::net::SocketAddrV4>,
    lateness: Lateness,
}

impl Pair {
    /// Reads the logs of a source and a sink.
    ///
    /// # Errors
    /// One of them is no log, is damaged, or they do not belong together.
    pub fn open(source: &Path, sink: &Path) -> Result<Self, Refused> {
        Self::read(
            Reader::open(source)?,
            Reader::open(sink)?,
            [source, sink].map(|path| path.display().to_string()),
        )
    }

    /// Puts two logs together.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(
        source: Reader<impl Read>,
        sink: Reader<impl Read>,
        names: [String; 2],
    ) -> Result<Self, Refused> {
        check_roles(source.header(), sink.header(), &names)?;
        let header = source.header().clone();
        let script = script_of(&header, &names[0])?;
        let window = window(&script, &header);
        let (counts, warnings) = (Counts::default(), Vec::new());
        let mut pair = Self { names, packets: Vec::new(), window, counts, lateness: None, warnings };
        let sending = pair.sending(source, &script)?;
        pair.lateness = sending.lateness.summary(Nanos::new(header.promised_ns));
        pair.warnings.extend(pair.lateness.and_then(|lateness| lateness.warning()));
        let sending = pair.receiving(sink, sending, header.transport)?;
        pair.packets = sending.packets;
        pair.warn();
        Ok(pair)
    }

    fn sending(&mut self, mut log: Reader<impl Read>, script: &Script) -> Result<Sending, Refused> {
        let traffic = Traffic::of(script).map_err(plan::refused)?;
        let start = log.header().start.nanos().cast_signed();
        let mut sending = Sending {
            packets: Vec::new(),
            numbers: Vec::new(),
            ends: Vec::new(),
            local: None,
            lateness: Lateness::default(),
        };
        let mut last = 0;
        for record in log.by_ref() {
            let record = record?;
            last = record.time;
            match record.kind {
                Kind::Setup => sending.local = Some(record.address),
                Kind::Error => self.counts.send_errors += 1,
                Kind::Transmit => sending.add(&record, start, &traffic).map_err(|reason| {
                    Refused::of_file(
                        &self.names[0],
                        reason,
                        "the file was damaged; take the log of another run",
                    )
                })?,
                Kind::Left => sending.left(record.number, start + record.time),
                _ => {}
            }
        }
        // What was asked to end, or was cut, did not come to the end of its script.
        self.window.end = self.window.end.min(start + last).max(self.window.start);
        self.cut(0, log.ending());
        Ok(sending)
    }

    fn receiving(
        &mut self,
        mut log: Reader<impl Read>,
        mut sending: Sending,
        transport: Transport,
    ) -> Result<Sending, Refused> {
        let start = log.header().start.nanos().cast_signed();
        let mut arrivals = Arrivals::default();
        let mut last = start;
        for record in log.by_ref() {
            let record = record?;
            last = start + record.time;
            match record.kind {
                Kind::Error if i32::from(record.errno) == libc::ENOBUFS => {
                    self.counts.dropped_at_sink += record.other.max(0).unsigned_abs();
                }
                Kind::Receive if sending.local.is_some_and(|local| local != record.address) => {
                    self.counts.of_others += 1;
                }
                Kind::Receive if transport == Transport::Tcp => {
                    arrivals.bytes(&mut sending, record.length, last)
                }
                Kind::Receive => {
                    self.counts.not_sent += u64::from(!arrivals.packet(&mut sending, record.number, last));
                }
                _ => {}
            }
        }
        if let Some(packet) = sending.packets.last().filter(|packet| packet.sent > last) {
            let early = span(Nanos::new((packet.sent - last).unsigned_abs()));
            self.warnings.push(format!(
                "{} ends {early} before the last packet was sent: what is missing after that was not lost by the \
                 network; let the sink wait longer",
                self.names[1]
            ));
        }
        self.cut(1, log.ending());
        Ok(sending)
    }

    fn cut(&mut self, which: usize, ending: Option<Ending>) {
        if let Some(Ending::Cut { rest }) = ending {
            self.warnings.push(format!(
                "{} was cut: it has no last record, and {rest} bytes of one that is not whole; what came later is \
                 missing",
                self.names[which]
            ));
        }
    }

    fn warn(&mut self) {
        let Counts { dropped_at_sink, of_others, not_sent, .. } = self.counts;
        let sink = &self.names[1];
        if dropped_at_sink > 0 {
            self.warnings.push(format!(
                "{} found no room in the socket of {sink}: lost by that host and not by the network, but counted as \
                 lost here; write a larger `rcvwin`",
                packets(dropped_at_sink)
            ));
        }
        if of_others > 0 && self.packets.iter().all(|packet| packet.delay.is_none()) {
            self.warnings.push(format!(
                "nothing in {sink} came from the source, {} from others: do the logs belong together?",
                packets(of_others)
            ));
        }
        if not_sent > 0 {
            self.warnings.push(format!("in {sink}, but not in {}: {}", self.names[0], packets(not_sent)));
        }
        if self.packets.iter().any(|packet| packet.delay.is_some_and(|delay| delay < CLOCKS_DIFFER)) {
            self.warnings.push("some delays are negative: the clocks of the hosts differ, or the source was interrupted while it handed \
                 many packets over".to_owned());
        }
    }
}

impl Sending {
    fn add(&mut self, record: &Record, start: i64, traffic: &Traffic) -> Result<(), String> {
        if self.numbers.last().is_some_and(|last| *last >= record.number) {
            let last = self.numbers.last().copied().unwrap_or(0);
            return Err(format!("packet {} comes after packet {last}, numbers must increase", record.number));
        }
        let size = traffic.wire_size(Bytes::new(record.length.into())).get();
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        let (due, sent) = (start + record.other, start + record.time);
        self.packets.push(Packet { due, sent, size, delay: None, again: 0, reordered: false });
        self.numbers.push(record.number);
        self.ends.push(self.ends.last().unwrap_or(&0).saturating_add(record.length.into()));
        self.lateness.record(Nanos::new(record.time.saturating_sub(record.other).max(0).unsigned_abs()));
        Ok(())
    }

    /// The kernel has reported when it took a packet.
    fn left(&mut self, number: u32, at: i64) {
        if let Some(place) = self.place(number) {
            self.packets[place].sent = at;
        }
    }

    /// The place of a number, which is itself where no packet failed.
    fn place(&self, number: u32) -> Option<usize> {
        let direct = number as usize;
        if self.numbers.get(direct) == Some(&number) {
            return Some(direct);
        }
        self.numbers.binary_search(&number).ok()
    }
}

/// How far the sink has come.
#[derive(Default)]
struct Arrivals {
    /// The packet that was sent last of those that have arrived.
    latest: Option<usize>,
    /// Bytes that have arrived, and packets among them.
    bytes: u64,
    packets: usize,
}

impl Arrivals {
    /// A packet with this number has arrived; false where there is none.
    fn packet(&mut self, sending: &mut Sending, number: u32, at: i64) -> bool {
        let Some(place) = sending.place(number) else { return false };
        let packet = &mut sending.packets[place];
        if packet.delay.is_some() {
            packet.again = packet.again.saturating_add(1);
            return true;
        }
        packet.delay = Some(at - packet.sent);
        packet.reordered = self.latest.is_some_and(|latest| latest > place);
        self.latest = self.latest.max(Some(place));
        true
    }

    /// A number of bytes of the stream has arrived.
    fn bytes(&mut self, sending: &mut Sending, length: u32, at: i64) {
        self.bytes = self.bytes.saturating_add(length.into());
        while sending.ends.get(self.packets).is_some_and(|end| *end <= self.bytes) {
            let packet = &mut sending.packets[self.packets];
            packet.delay = Some(at - packet.sent);
            self.packets += 1;
        }
    }
}

fn check_roles(source: &Header, sink: &Header, names: &[String; 2]) -> Result<(), Refused> {
    for (header, role, name) in [(source, Role::Source, &names[0]), (sink, Role::Sink, &names[1])] {
        if header.role != role {
            let (is, must) = if role == Role::Source { ("sink", "source") } else { ("source", "sink") };
            let reason = format!("it is the log of a {is}, must be that of a {must}");
            return Err(Refused::of_file(
                name,
                reason,
                "name the logs in pairs: the source's, then its sink's",
            ));
        }
    }
    if source.transport != sink.transport {
        let reason = "the source and the sink have different protocols";
        return Err(Refused::of_file(&names[1], reason, "name two logs of one run"));
    }
    Ok(())
}

fn script_of(header: &Header, name: &str) -> Result<Script, Refused> {
    let mut none = |_: &str| Err("a log holds its script as a whole".to_owned());
    weir_tg::parse(&header.script, name, &mut none).map_err(plan::refused)
}

/// When traffic begins and ends as the script says; without an end, as late as a log can be.
fn window(script: &Script, header: &Header) -> Range<i64> {
    let start = header.start.nanos().cast_signed();
    let scaled = |time: Nanos| {
        let time = time.get() / u64::from(header.scale.max(1));
        start + i64::try_from(time).unwrap_or(i64::MAX).min(crate::tg::log::record::FARTHEST)
    };
    let Ok(traffic) = Traffic::of(script) else { return start..start };
    let from = traffic.bursts.first().map_or(start, |burst| match burst.from {
        Start::At(at) => scaled(at),
        Start::After(after) => scaled(after),
    });
    let bounded = traffic.end().filter(|_| !traffic.bursts.is_empty());
    from..bounded.map_or(start + crate::tg::log::record::FARTHEST, scaled)
}
