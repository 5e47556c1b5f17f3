//! What the daemon counts, as Prometheus reads it: its text format over HTTP, on loopback.
//!
//! | | |
//! |-|-|
//! | Source | Prometheus text exposition format 0.0.4; its rules for names: base units, counters end in `_total` |
//! | Work | O(interfaces * classes * buckets) a scrape, in a thread of its own; the loop makes one snapshot |
//! | Memory | one connection at a time, a request of at most `LONGEST_REQUEST` bytes |
//! | Units | seconds and bytes, as the format asks |

use core::fmt::{self, Write as _};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::inbox::{Caller, Order};
use super::privileges;
use super::protocol::Answer;
use crate::plane::snapshot::{ClassSnapshot, Count, InterfaceSnapshot, Snapshot};

/// The longest request, in bytes: a line and headers.
const LONGEST_REQUEST: usize = 8192;
/// How long a peer may take in all.
const PATIENCE: Duration = Duration::from_secs(2);
/// The upper ends of the buckets of sojourns, in nanoseconds: one, two and five of each power of ten from 1 us to 10 s.
const ENDS: [u64; 22] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// A listening socket that nobody serves yet: it is bound before privileges are dropped.
#[derive(Debug)]
pub struct Metrics(TcpListener);

impl Metrics {
    /// Listens at an address of loopback.
    ///
    /// # Errors
    /// The address is taken, or not permitted.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        TcpListener::bind(address).map(Self)
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Answers until the process ends.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn serve(self, caller: Caller) -> io::Result<()> {
        let each = move || {
            privileges::renounce();
            loop {
                match self.0.accept() {
                    // A peer that goes before its answer is no failure of the daemon.
                    Ok((stream, _)) => drop(converse(stream, &caller)),
                    // No descriptor is left: the connection would come again at once.
                    Err(_) => std::thread::sleep(Duration::from_millis(50)),
                }
            }
        };
        std::thread::Builder::new().name("metrics".to_owned()).spawn(each).map(drop)
    }
}

/// Answers one request, and closes.
fn converse(mut stream: TcpStream, caller: &Caller) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = head(&mut stream)?;
    let (status, body) = match target(&request) {
        Some("/metrics") => match caller.ask(Order::Stats) {
            Answer::Stats(snapshot) => ("200 OK", text(&snapshot)),
            Answer::Refused { error, .. } => ("503 Service Unavailable", format!("{error}\n")),
            _ => ("500 Internal Server Error", "the daemon answered something else\n".to_owned()),
        },
        Some(_) => ("404 Not Found", "metrics are at /metrics\n".to_owned()),
        None => ("400 Bad Request", "send GET /metrics\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// The line of the request and its headers.
fn head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let until = Instant::now() + PATIENCE;
    let mut read = Vec::new();
    let mut chunk = [0; 1024];
    while read.len() < LONGEST_REQUEST && !read.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk)? {
            0 => break,
            count => read.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(read)
}

/// What is asked for, if it is asked for as it should be.
fn target(request: &[u8]) -> Option<&str> {
    let line = request.split(|byte| *byte == b'\r').next()?;
    let mut words = core::str::from_utf8(line).ok()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    (method == "GET" && version.starts_with("HTTP/1.") && words.next().is_none()).then_some(target)
}

/// A snapshot in the text format.
#[must_use]
pub fn text(snapshot: &Snapshot) -> String {
    let mut page = Page::default();
    of_router(&mut page, snapshot);
    of_interfaces(&mut page, &snapshot.interfaces);
    of_classes(&mut page, &snapshot.interfaces);
    page.0
}

fn of_router(page: &mut Page, snapshot: &Snapshot) {
    page.family("weir_router_info", "gauge", "The router's name; always 1.");
    page.sample("weir_router_info", &[("router", &snapshot.name)], 1);
    page.family("weir_uptime_seconds", "gauge", "Time since the daemon began.");
    page.sample("weir_uptime_seconds", &[], Seconds(snapshot.now_ns));
    page.family("weir_reloads_total", "counter", "Changes of the configuration.");
    page.sample("weir_reloads_total", &[], snapshot.reloads);
    page.family("weir_frames", "gauge", "Frames of memory.");
    page.sample("weir_frames", &[], snapshot.frames);
    page.family("weir_frames_free", "gauge", "Frames of memory that nobody has.");
    page.sample("weir_frames_free", &[], snapshot.frames_free);
}

/// Packets and bytes of something at an interface: its name, what it is, and where it is counted.
type OfInterface = (&'static str, &'static str, fn(&InterfaceSnapshot) -> Count);

fn of_interfaces(page: &mut Page, interfaces: &[InterfaceSnapshot]) {
    page.family("weir_interface_up", "gauge", "Whether the interface is up: 1 or 0.");
    for interface in interfaces {
        page.sample("weir_interface_up", &[("interface", &interface.name)], u64::from(interface.up));
    }
    const COUNTS: [OfInterface; 4] = [
        ("received", "came in by the interface, whatever became of them", |it| it.received),
        ("to_router", "came in by the interface for the router itself", |it| it.to_router),
        ("forwarded", "left by the interface", |it| it.forwarded),
        ("originated", "were made by the router itself and left by the interface", |it| it.originated),
    ];
    for (name, what, count) in COUNTS {
        page.pair(&format!("weir_interface_{name}"), what, |page, name, part| {
            for interface in interfaces {
                page.sample(name, &[("interface", &interface.name)], part(count(interface)));
            }
        });
    }
    page.pair("weir_interface_refused", "came in and were dropped before any queue", |page, name, part| {
        for interface in interfaces {
            for (reason, count) in &interface.refused {
                let labels = [("interface", interface.name.as_str()), ("reason", &word(*reason))];
                page.sample(name, &labels, part(*count));
            }
        }
    });
    of_kernel(page, interfaces);
}

fn of_kernel(page: &mut Page, interfaces: &[InterfaceSnapshot]) {
    let name = "weir_interface_kernel_receive_dropped_total";
    page.family(name, "counter", "Frames that found no room in the daemon's socket.");
    for interface in interfaces {
        page.sample(name, &[("interface", &interface.name)], interface.kernel.receive_dropped);
    }
    let name = "weir_interface_kernel_transmit_failed_total";
    page.family(name, "counter", "Frames that the device did not take.");
    for interface in interfaces {
        page.sample(name, &[("interface", &interface.name)], interface.kernel.transmit_failed);
    }
    let name = "weir_interface_left_to_kernel_frames_total";
    page.family(name, "counter", "Frames that the XDP program left to the kernel.");
    for interface in interfaces {
        for (why, count) in &interface.left_to_kernel {
            page.sample(name, &[("interface", interface.name.as_str()), ("reason", &word(*why))], *count);
        }
    }
}

/// Packets and bytes of something of a class: its name, what it is, and where it is counted.
type OfClass = (&'static str, &'static str, fn(&ClassSnapshot) -> Count);

fn of_classes(page: &mut Page, interfaces: &[InterfaceSnapshot]) {
    let classes = || interfaces.iter().flat_map(|at| at.classes.iter().map(move |class| (at, class)));
    const COUNTS: [OfClass; 3] = [
        ("offered", "were offered to the queue", |it| it.offered),
        ("forwarded", "left", |it| it.forwarded),
        ("marked", "were marked with congestion", |it| it.marked),
    ];
    for (name, what, count) in COUNTS {
        page.pair(&format!("weir_class_{name}"), what, |page, name, part| {
            for (interface, class) in classes() {
                page.sample(name, &labels(interface, class), part(count(class)));
            }
        });
    }
    page.pair("weir_class_dropped", "were dropped at the queue or behind it", |page, name, part| {
        for (interface, class) in classes() {
            for (reason, count) in &class.dropped {
                let [at, of] = labels(interface, class);
                page.sample(name, &[at, of, ("reason", &word(*reason))], part(*count));
            }
        }
    });
    page.family("weir_class_backlog_packets", "gauge", "Packets waiting.");
    classes()
        .for_each(|(at, it)| page.sample("weir_class_backlog_packets", &labels(at, it), it.waiting.packets));
    page.family("weir_class_backlog_bytes", "gauge", "Bytes of IP waiting.");
    classes().for_each(|(at, it)| page.sample("weir_class_backlog_bytes", &labels(at, it), it.waiting.bytes));
    page.family("weir_class_oldest_seconds", "gauge", "How long the oldest packet has waited.");
    classes().for_each(|(at, it)| {
        page.sample("weir_class_oldest_seconds", &labels(at, it), Seconds(it.oldest_ns))
    });
    let name = "weir_class_sojourn_seconds";
    page.family(name, "histogram", "From arrival to the end of transmission.");
    classes().for_each(|(at, it)| histogram(page, name, &labels(at, it), it));
}

/// The cumulative buckets of a class. A bucket of the snapshot is counted where its upper end is, so that no packet is
/// said to have been faster than it was.
fn histogram(page: &mut Page, name: &str, labels: &[(&str, &str); 2], class: &ClassSnapshot) {
    let [at, of] = *labels;
    let bucket = format!("{name}_bucket");
    for end in ENDS {
        let within: u64 =
            class.sojourn.buckets.iter().filter(|(upper, _)| *upper <= end).map(|(_, count)| count).sum();
        page.sample(&bucket, &[at, of, ("le", &Seconds(end).to_string())], within);
    }
    let all: u64 = class.sojourn.buckets.iter().map(|(_, count)| count).sum();
    page.sample(&bucket, &[at, of, ("le", "+Inf")], all);
    page.sample(&format!("{name}_sum"), labels, Seconds(class.sojourn.sum_ns));
    page.sample(&format!("{name}_count"), labels, all);
}

fn labels<'s>(interface: &'s InterfaceSnapshot, class: &'s ClassSnapshot) -> [(&'s str, &'s str); 2] {
    [("interface", &interface.name), ("class", &class.name)]
}

/// A reason as it is written in the snapshot.
#[must_use]
pub fn word(reason: impl Serialize) -> String {
    let written = serde_json::to_value(reason).ok();
    written.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Nanoseconds, written as seconds, exactly.
struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        let fraction = format!(".{rest:09}");
        write!(f, "{whole}{}", fraction.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A page as it is written.
#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl fmt::Display) {
        self.0.push_str(name);
        for (place, (label, text)) in labels.iter().enumerate() {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let opening = if place == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{opening}{label}=\"{text}\"");
        }
        let closing = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{closing} {value}");
    }

    /// The two families of what is counted in packets and in bytes.
    fn pair(&mut self, name: &str, what: &str, each: impl Fn(&mut Self, &str, fn(Count) -> u64)) {
        let packets = format!("{name}_packets_total");
        self.family(&packets, "counter", &format!("Packets that {what}."));
        each(self, &packets, |count| count.packets);
        let bytes = format!("{name}_bytes_total");
        self.family(&bytes, "counter", &format!("Bytes of IP in packets that {what}."));
        each(self, &bytes, |count| count.bytes);
    }
}

#[cfg(test)]
mod tests;
