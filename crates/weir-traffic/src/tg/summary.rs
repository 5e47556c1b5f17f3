//! What a run tells at its end, as text and as JSON.

use core::fmt::Write as _;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::Serialize;
use weir_core::units::Nanos;
use weir_gauge::text::{bytes, packets, span};

use super::lateness;
use super::log::Role;
use super::sink::Received;
use super::source::Sent;
use crate::generator::wall::WallTime;

/// The wall clock counts as set where it moved by more than this against the clock of the schedule.
const MOVED: i64 = 1_000_000;

/// What a run tells at its end.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// What the host did.
    pub role: Role,
    /// The start of the script.
    pub start: String,
    /// Whether somebody has asked to end it.
    pub stopped: bool,
    /// Packets sent or received; over TCP of a sink, readings.
    pub packets: u64,
    /// Bytes of the user's data in them.
    pub bytes: u64,
    /// Packets that could not be sent.
    pub failed: u64,
    /// Packets that the own socket had no room for.
    pub dropped_at_socket: u64,
    /// Packets of others.
    pub foreign: u64,
    /// Connections of TCP that were accepted.
    pub connections: u32,
    /// Errors, by name.
    pub errors: BTreeMap<String, u64>,
    /// How late packets left; nothing of a sink, or without packets.
    pub lateness: Option<lateness::Summary>,
    /// By how much the wall clock moved against the monotonic one during the run, in nanoseconds.
    pub clock_moved_ns: i64,
    /// The log.
    pub log: Option<PathBuf>,
    /// What is to be known to read the figures.
    pub warnings: Vec<String>,
}

impl Summary {
    /// Of a run that has done nothing yet.
    #[must_use]
    pub fn new(role: Role, start: WallTime, log: Option<PathBuf>) -> Self {
        Self {
            role,
            start: start.to_string(),
            stopped: false,
            packets: 0,
            bytes: 0,
            failed: 0,
            dropped_at_socket: 0,
            foreign: 0,
            connections: 0,
            errors: BTreeMap::new(),
            lateness: None,
            clock_moved_ns: 0,
            log,
            warnings: Vec::new(),
        }
    }

    /// Takes over what was sent.
    pub fn sent(&mut self, sent: &Sent, promised: Nanos) {
        (self.packets, self.bytes, self.failed) = (sent.packets, sent.bytes, sent.failed);
        self.errors = named(&sent.errors);
        self.lateness = sent.lateness.summary(promised);
        self.warnings.extend(self.lateness.and_then(|lateness| lateness.warning()));
        self.warnings.extend(sent.over.as_ref().map(|error| format!("sending ended early: {error}")));
    }

    /// Takes over what was received.
    pub fn received(&mut self, received: &Received) {
        (self.packets, self.bytes, self.foreign) = (received.packets, received.bytes, received.foreign);
        (self.dropped_at_socket, self.connections) = (received.dropped, received.connections);
        self.errors = named(&received.errors);
        if received.dropped > 0 {
            self.warnings.push(format!(
                "{} found no room in the socket of this host, which are no losses of the network; \
                 write a larger `rcvwin`, or give the sink a --cpu of its own",
                packets(received.dropped)
            ));
        }
    }

    /// Takes over by how much the wall clock has moved.
    pub fn clock_moved(&mut self, nanos: i64) {
        self.clock_moved_ns = nanos;
        if nanos.abs() > MOVED {
            let moved = span(Nanos::new(nanos.unsigned_abs()));
            self.warnings.push(format!(
                "the wall clock was moved by {moved} during the run: delays are wrong by as much"
            ));
        }
    }

    /// The summary for people, one figure a line.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<12}{value}");
        };
        let (did, end) =
            if self.role == Role::Source { ("sent", "sent to the end") } else { ("received", "to the end") };
        line("start", self.start.clone());
        line("ended", if self.stopped { "when asked to".to_owned() } else { end.to_owned() });
        line(did, format!("{}, {} of data", packets(self.packets), bytes(self.bytes)));
        for (name, count) in
            [("not sent", self.failed), ("no room", self.dropped_at_socket), ("of others", self.foreign)]
        {
            if count > 0 {
                line(name, packets(count));
            }
        }
        if self.connections > 0 {
            line("connections", self.connections.to_string());
        }
        for (name, count) in &self.errors {
            line("error", format!("{name}: {count} times"));
        }
        if let Some(late) = &self.lateness {
            let [p50, p99, max] =
                [late.p50_ns, late.p99_ns, late.max_ns].map(|nanos| span(Nanos::new(nanos)));
            let promised = span(Nanos::new(late.promised_p99_ns));
            line("lateness", format!("p50 {p50}, p99 {p99} (promised {promised}), max {max}"));
        }
        if let Some(log) = &self.log {
            line("log", log.display().to_string());
        }
        for warning in &self.warnings {
            line("warning", warning.clone());
        }
        text
    }
}

fn named(errors: &BTreeMap<i32, u64>) -> BTreeMap<String, u64> {
    let name = |errno: i32| match errno {
        0 => "between two packets of one call, whose reason the kernel does not keep".to_owned(),
        _ => io::Error::from_raw_os_error(errno).to_string(),
    };
    errors.iter().map(|(errno, count)| (name(*errno), *count)).collect()
}
