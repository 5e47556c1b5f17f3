//! From the document to a router whose parts fit together.
//!
//! What can be refused is refused at its own line and column. What belongs to an interface is checked in
//! `interfaces`, where packets go in `routes`, what is distinguished in `classes`, what every daemon is configured
//! with in `daemon`.
//!
//! | | |
//! |-|-|
//! | Source | this project; RFC 791 and RFC 8200 for the least sizes of packets, RFC 6890 for addresses of special purpose |
//! | Work | O(length of the file), and O(addresses) for each address and each next router |
//! | Units | those of the document; spans of time in seconds and their fractions alone |

mod classes;
mod daemon;
mod interfaces;
mod routes;
mod subscribers;
#[cfg(test)]
mod tests;
mod vlans;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

use weir_core::canonical::canonical;
use weir_core::item::Packet;
use weir_core::registry;
use weir_core::spec::{Spec, SpecError};
use weir_core::units::{Bytes, Nanos};
use weir_document::{Located, Mismatch, Refused, Source, Wording, words};

use super::defaults::with_written;
use super::document::{RouterDocument, RouterTable};
use super::{
    Checksums, Defaults, FlowKey, Interface, Io, MOST_WORKERS, OnFailure, Router, XDP_PRIORITY, Xdp,
};
use crate::arena::cost;
pub(super) use classes::DEFAULT as DEFAULT_CLASS;
pub(super) use interfaces::{propagation_within, rate_within};
pub(super) use routes::own as own_routes;

/// The version of the format.
pub const VERSION: u32 = 1;
/// The longest file, in bytes; a request of the control socket holds it.
pub const LONGEST: u64 = 3 << 18;
/// The least memory of all frames.
const LEAST_MEMORY: Bytes = Bytes::new(1 << 20);
/// The most memory of all frames.
const MOST_MEMORY: Bytes = Bytes::new(1 << 34);
/// The memory of all frames where the file does not say.
const MEMORY: Bytes = Bytes::new(64 << 20);
/// The least frames for each interface, which its rings hold.
const LEAST_FRAMES: u64 = 64;
/// The most flows that are distinguished.
const MOST_FLOWS: u32 = 1 << 20;
/// How many flows are distinguished where the file does not say, as under `fq_codel` of Linux: fewer than packets may
/// wait behind each of two interfaces, so that a flood that fills all of them leaves every flow its share.
pub const FLOWS: u32 = 1024;
/// How many neighbours are learned at an interface.
const NEIGHBOURS: RangeInclusive<u32> = 1 << 6..=1 << 16;
/// The same where the file does not say, as in Linux.
const SOME_NEIGHBOURS: u32 = 1024;
/// The longest spinning at the end of a wait.
const LONGEST_SPIN: Nanos = Nanos::new(1_000_000);
/// How long is spun where the file does not say.
const SPIN: Nanos = Nanos::new(50_000);
/// The discipline of an interface where the file does not say.
const DISCIPLINE: &str = "fifo";
/// The same of one with subscribers: that of each.
const OF_SUBSCRIBERS: &str = "fq_codel";
/// What is peculiar to routers.
const WORDING: Wording = Wording {
    longest: Bytes::new(LONGEST),
    shorten: "write fewer routes, or prefixes that hold several of them",
    missing,
    parameters: "write its parameters after the name",
    mismatch,
};

/// A value, or its refusal.
pub type Checked<T> = Result<T, Refused>;

/// Reads and checks a router.
///
/// # Errors
/// The text is refused: with line, column, value, bound and remedy.
pub fn read(source: &Source<'_>) -> Result<Router, Refused> {
    Ok(parse(source)?.1)
}

/// Reads and checks the router of a file.
///
/// # Errors
/// The file cannot be read, or its text is refused.
pub fn read_file(path: &Path) -> Result<Router, Refused> {
    let name = path.display().to_string();
    let text = text_of(path)?;
    read(&Source { name: &name, text: &text })
}

/// The text of a file of at most [`LONGEST`] bytes.
///
/// # Errors
/// The file cannot be read, is longer, or is not UTF-8.
pub fn text_of(path: &Path) -> Result<String, Refused> {
    use std::io::Read;
    let name = path.display().to_string();
    let unread = |error: std::io::Error| {
        let remedy = "name a file that exists and may be read, of UTF-8 text";
        Refused::of_file(&name, format!("cannot be read: {error}"), remedy)
    };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(unread)?;
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(unread)?;
    Source { name: &name, text: &text }.check_length(&WORDING)?;
    Ok(text)
}

/// Reads and checks a router that is to follow `current` without a restart: what sockets, memory and files were set up
/// by at the start must be the same.
///
/// # Errors
/// The text is refused, or changes what holds until the daemon ends.
pub fn read_successor(source: &Source<'_>, current: &Router) -> Result<Router, Refused> {
    let (document, router) = parse(source)?;
    let checker = Checker { source };
    checker.same(&document, &router, current)?;
    Ok(router)
}

fn parse(source: &Source<'_>) -> Checked<(RouterDocument, Router)> {
    let document: RouterDocument = source.read(&WORDING)?;
    let router = Checker { source }.router(&document)?;
    Ok((document, router))
}

/// The discipline of packets that a spec string names, in its canonical form, with the bounds that it writes out.
///
/// # Errors
/// Why it is none, and what to write.
pub fn discipline(text: &str) -> Result<Spec, (String, String)> {
    let build = || -> Result<Spec, SpecError> {
        let spec: Spec = text.parse()?;
        registry::packet_discipline::<Packet>(&spec)?;
        Ok(with_written(&spec, canonical(&spec)?))
    };
    build().map_err(|error| words::discipline(error, "packets", "drr:quantum=1514B"))
}

/// What to do where a key is missing.
fn missing(field: &str) -> String {
    match field {
        "router" => "add a table `[router]` with `name`".to_owned(),
        "interface" => "add a table `[[interface]]` for each interface, with its `name`".to_owned(),
        "weir" => format!("write `weir = {VERSION}` first"),
        "to" => "add `to = \"10.0.2.0/24\"`, the prefix that is routed".to_owned(),
        _ => format!("add `{field} = ...`"),
    }
}

/// What is wrong with a value of another type, and what to write.
fn mismatch(value: &Mismatch<'_>) -> (&'static str, String) {
    // There is no mean packet service to count in.
    let expected = value.expected.split(", or \"200u\"").next().unwrap_or_default();
    match value.expected {
        "u8" if value.is_negative() || value.is_of_the_type => {
            ("must be from 0 to 63", "write a code point such as 46".to_owned())
        }
        "u8" => ("of the wrong type", "write a code point from 0 to 63".to_owned()),
        _ => words::mismatch(value, expected),
    }
}

/// Checks one document. What it checks besides a router is what every daemon is configured with.
#[derive(Clone, Copy, Debug)]
pub struct Checker<'a> {
    /// The text that is refused, or not.
    pub source: &'a Source<'a>,
}

impl Checker<'_> {
    /// Refuses what stands at a place.
    ///
    /// # Errors
    /// Always.
    pub fn refuse<T, V>(
        &self,
        at: &Located<T>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Checked<V> {
        Err(self.source.refuse(at.span.clone(), reason, remedy))
    }

    fn router(&self, document: &RouterDocument) -> Checked<Router> {
        let table = &document.router.value;
        self.version(&document.weir)?;
        let name = self.daemon_name(&table.name)?;
        let interfaces = self.interfaces(document)?;
        let routes = self.routes(document, &interfaces)?;
        let classes = self.classes(&document.class)?;
        let workers = self.workers(table, &interfaces)?;
        let router = Router {
            name,
            memory: self.memory(table, interfaces.len(), cost(workers))?,
            io: given(&table.io).unwrap_or(Io::Auto),
            on_failure: given(&table.on_failure).unwrap_or(OnFailure::Pass),
            xdp: given(&table.xdp).unwrap_or(Xdp::Auto),
            xdp_priority: given(&table.xdp_priority).unwrap_or(XDP_PRIORITY),
            checksums: given(&table.checksums).unwrap_or(Checksums::Complete),
            flow_key: given(&table.flows).unwrap_or(FlowKey::FiveTuple),
            defaults: given(&table.defaults).unwrap_or(Defaults::Live),
            flow_buckets: self.flow_buckets(table)?,
            hash_key: given(&table.flow_key),
            most_neighbours: self.most_neighbours(table)?,
            workers,
            spin: self.spin(table)?,
            metrics: self.metrics(&table.metrics)?,
            group: self.group(&table.group)?,
            user: self.user(&table.user)?,
            interfaces,
            routes,
            classes,
        };
        self.agree(document, &router)?;
        Ok(router)
    }

    /// Refuses a discipline that contradicts what the router says of all.
    fn agree(&self, document: &RouterDocument, router: &Router) -> Checked<()> {
        for (place, table) in document.interface.value.iter().enumerate() {
            let written = table.value.discipline.as_ref().or(document.router.value.discipline.as_ref());
            if let (Some((reason, remedy)), Some(written)) = (router.contradiction_at(place), written) {
                return self.refuse(written, reason, remedy);
            }
        }
        Ok(())
    }

    fn memory(&self, table: &RouterTable, interfaces: usize, cost: u64) -> Checked<Bytes> {
        let Some(written) = &table.memory else { return Ok(MEMORY) };
        let memory = written.value.0;
        let needed = Bytes::new(interfaces as u64 * LEAST_FRAMES * cost);
        if memory < LEAST_MEMORY || memory > MOST_MEMORY {
            let reason = format!("must be from {}MiB to {}MiB", mebi(LEAST_MEMORY), mebi(MOST_MEMORY));
            return self.refuse(written, reason, "write a size such as \"64MiB\"");
        }
        if memory < needed {
            let reason = format!(
                "is {} frames of {cost}B, {interfaces} interfaces need {LEAST_FRAMES} each",
                memory.get() / cost
            );
            let remedy = format!("write at least \"{}KiB\"", needed.get().div_ceil(1024));
            return self.refuse(written, reason, remedy);
        }
        Ok(memory)
    }

    fn flow_buckets(&self, table: &RouterTable) -> Checked<u32> {
        let Some(written) = &table.flow_buckets else { return Ok(FLOWS) };
        self.power_of_two(written, 1..=MOST_FLOWS)
    }

    fn most_neighbours(&self, table: &RouterTable) -> Checked<u32> {
        let Some(written) = &table.most_neighbours else { return Ok(SOME_NEIGHBOURS) };
        self.power_of_two(written, NEIGHBOURS)
    }

    fn power_of_two(&self, written: &Located<u32>, within: RangeInclusive<u32>) -> Checked<u32> {
        let number = written.value;
        if number.is_power_of_two() && within.contains(&number) {
            return Ok(number);
        }
        let (least, most) = within.into_inner();
        let near = number.clamp(least, most).next_power_of_two();
        let reason = format!("must be a power of two from {least} to {most}");
        self.refuse(written, reason, format!("write a number such as {near}"))
    }

    fn workers(&self, table: &RouterTable, interfaces: &[Interface]) -> Checked<u32> {
        let Some(written) = &table.workers else { return Ok(1) };
        let devices: BTreeSet<&str> = interfaces.iter().map(|it| it.device.as_str()).collect();
        let most = MOST_WORKERS.min(u32::try_from(devices.len()).unwrap_or(u32::MAX));
        if (1..=most).contains(&written.value) {
            return Ok(written.value);
        }
        let reason = format!(
            "must be from 1 to {most}: at most {MOST_WORKERS} threads, each of which serves an interface or more"
        );
        self.refuse(written, reason, format!("write a number such as {}", most.min(2)))
    }

    fn spin(&self, table: &RouterTable) -> Checked<Nanos> {
        let remedy = "write a short time such as \"50us\": spinning takes a core from everything else";
        table.spin.as_ref().map_or(Ok(SPIN), |written| self.span(written, LONGEST_SPIN, remedy))
    }

    /// Refuses what cannot change while the daemon runs.
    fn same(&self, document: &RouterDocument, new: &Router, old: &Router) -> Checked<()> {
        let table = &document.router.value;
        let at = |span: Option<std::ops::Range<usize>>| span.unwrap_or_else(|| document.router.span.clone());
        let devices = |of: &Router| of.devices().into_iter().map(str::to_owned).collect::<BTreeSet<String>>();
        let (held, span) = if new.name != old.name {
            (format!("the daemon's name is `{}`", old.name), Some(table.name.span.clone()))
        } else if new.memory != old.memory {
            (format!("it began with memory = \"{}\"", old.memory), span_of(&table.memory))
        } else if new.io != old.io {
            (format!("it began with io = \"{}\"", word(&old.io)), span_of(&table.io))
        } else if new.workers != old.workers {
            (format!("it began with workers = {}", old.workers), span_of(&table.workers))
        } else if new.on_failure != old.on_failure {
            (format!("it began with on_failure = \"{}\"", word(&old.on_failure)), span_of(&table.on_failure))
        } else if new.xdp != old.xdp {
            (format!("it began with xdp = \"{}\"", word(&old.xdp)), span_of(&table.xdp))
        } else if new.xdp_priority != old.xdp_priority {
            (format!("it began with xdp_priority = {}", old.xdp_priority), span_of(&table.xdp_priority))
        } else if new.metrics != old.metrics {
            let old = old.metrics.map_or("without metrics".to_owned(), |at| format!("with metrics at {at}"));
            (format!("it began {old}"), span_of(&table.metrics))
        } else if new.group != old.group {
            let old =
                old.group.as_ref().map_or("without a group".to_owned(), |group| format!("with `{group}`"));
            (format!("it began {old}"), span_of(&table.group))
        } else if new.user != old.user {
            let old = old.user.as_ref().map_or("without a user".to_owned(), |user| format!("with `{user}`"));
            (format!("it began {old}"), span_of(&table.user))
        } else if devices(new) != devices(old) {
            let names = old.devices().join("`, `");
            (format!("its devices are `{names}`"), Some(document.interface.span.clone()))
        } else {
            return Ok(());
        };
        let reason = format!("cannot change while the daemon runs: {held}");
        Err(self.source.refuse(at(span), reason, "write what it began with, or restart the daemon"))
    }
}

/// A value that may be left out.
#[must_use]
pub fn given<T: Copy>(written: &Option<Located<T>>) -> Option<T> {
    written.as_ref().map(|written| written.value)
}

fn span_of<T>(written: &Option<Located<T>>) -> Option<std::ops::Range<usize>> {
    written.as_ref().map(|written| written.span.clone())
}

/// A choice as it is written in the file.
pub(super) fn word<T: serde::Serialize>(choice: &T) -> String {
    let written = toml::Value::try_from(choice).ok();
    written.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

const fn mebi(bytes: Bytes) -> u64 {
    bytes.get() >> 20
}
