//! What a discipline takes on a live interface for parameters that its spec leaves out.
//!
//! In a simulation a queue without a limit shows how long it grows; on a line it delays everything for seconds and takes
//! the frames of other interfaces. So where a spec gives neither `limit` nor `depth`, and neither has a default, each flow
//! may have what the line sends in [`SPAN_OF_FLOW`], or all together in [`SPAN`] where flows are not distinguished. At the bound
//! of all together the longest queue gives way where the spec does not say who does: a line has senders that do not care what
//! they lose, and a flow that sends little is to lose nothing to them. Where a discipline hashes flows by itself and its spec
//! does not say by which key, it is the router's `flows`. What is written in the spec holds, `none` included, and with `defaults
//! = "simulation"` nothing is filled in.
//!
//! Where an interface has subscribers there are as many queues as they are, so that each is small: it holds what its
//! ceiling sends in [`SPAN`], whatever the discipline takes elsewhere, and hashes flows to [`QUEUES`] queues.
//!
//! | | |
//! |-|-|
//! | Source | this project; Gettys and Nichols, Bufferbloat, CACM 55(1), 2012 |
//! | Work | O(length of the spec), when a configuration is taken |
//! | Units | packets of the largest size that the interface sends; nanoseconds |

use std::fmt::Write;

use weir_core::info::{Info, Takes, parse_packets, parse_rate};
use weir_core::registry;
use weir_core::role::Role;
use weir_core::spec::{Argument, Spec};
use weir_core::units::Rate;

use super::check::word;
use super::{Defaults, FlowKey, Interface, Router};

/// How long a queue takes that all flows share, if it is full of large packets, in nanoseconds.
const SPAN: u64 = 100_000_000;
/// The same of what one flow may have where flows are distinguished.
const SPAN_OF_FLOW: u64 = 50_000_000;
/// The bounds of either, in packets; the upper one also holds without a rate.
const PACKETS: (u64, u64) = (10, 1000);
/// Packets of an interface where its configuration does not say how large they may be, in bytes.
const MTU: u64 = 1500;
/// Parameters that bound a queue, and the word for no bound.
const BOUNDS: [&str; 2] = ["limit", "depth"];
const NONE: &str = "none";
/// The parameter that bounds a queue by the bytes in it, and what it says where that follows from the rate.
const MEMORY: &str = "memlimit";
const AUTO: &str = "auto";

/// The parameter that says who gives way at the bound of all together, and what it says here.
const FULL: &str = "full";
const LONGEST: &str = "longest";

/// The number of queues that a discipline hashes flows to, by its names, and how many a subscriber has.
const HASHED: [&str; 2] = ["flows", "queues"];
const QUEUES: &str = "32";

/// The parameter that says what a discipline hashes, and what it may say.
const KEY: &str = "key";
const ADDRESSES: &str = "addresses";
const FLOW: &str = "flow";

/// The line behind a queue, and the frames that it may have.
#[derive(Clone, Copy, Debug)]
struct Line {
    rate: Option<Rate>,
    /// What the largest packet takes on the line, in bytes.
    packet: u64,
    /// The most frames that wait.
    most: u64,
}

impl Line {
    fn of(router: &Router, interface: &Interface) -> Self {
        let frames = router.frames();
        let most = frames / (4 * router.interfaces.len().max(1) as u64);
        let mtu = interface.mtu.map_or(MTU, |mtu| mtu.get());
        Self { rate: interface.rate, packet: mtu + interface.framing.get(), most: most.max(1) }
    }

    /// How many packets it sends in a span.
    fn packets(&self, span: u64) -> u64 {
        let (few, many) = PACKETS;
        let sent = self.rate.map_or(many, |rate| {
            let bits = u128::from(rate.get()) * u128::from(span) / 1_000_000_000;
            u64::try_from(bits / (8 * u128::from(self.packet))).unwrap_or(many)
        });
        sent.clamp(few, many).min(self.most)
    }

    /// How long it takes to send `packets` packets, in words; nothing without a rate.
    fn says(&self, packets: u64) -> Option<String> {
        let rate = self.rate?;
        let bits = u128::from(packets) * 8 * u128::from(self.packet);
        let tenths = bits * 10_000 / u128::from(rate.get().max(1));
        let time = match tenths {
            0..100 => format!("{}.{}ms", tenths / 10, tenths % 10),
            100..100_000 => format!("{}ms", tenths / 10),
            _ => format!("{}s", tenths / 10_000),
        };
        Some(format!("{time} at {rate}"))
    }

    /// The same behind a discipline that has a rate of its own.
    fn behind(self, spec: &Spec, info: &Info) -> Self {
        let own = given(spec, info, "rate").and_then(|rate| parse_rate(&rate.name));
        Self { rate: self.rate.into_iter().chain(own).min_by_key(|rate| rate.get()), ..self }
    }
}

/// What a spec gives for a parameter of this name.
fn given<'s>(spec: &'s Spec, info: &Info, name: &str) -> Option<&'s Spec> {
    let parameter = info.parameters.iter().find(|parameter| parameter.name == name)?;
    Role::Discipline.argument(spec, parameter)
}

/// Whether a discipline has a parameter of this name, and by default no bound by it.
fn is_open(info: &Info, name: &str) -> bool {
    info.parameters.iter().any(|parameter| parameter.name == name && parameter.default == Some(NONE))
}

/// The places of the disciplines within a spec.
fn nested(spec: &Spec) -> impl Iterator<Item = usize> {
    (0..spec.arguments.len()).filter(|&place| {
        let parameter = Role::Discipline.parameter_at(spec, place);
        parameter.is_some_and(|parameter| matches!(parameter.takes, Takes::Discipline(_)))
    })
}

/// The spec with bounds where it has none, and with the key of its hash.
fn fill(spec: &Spec, line: Line, flows: FlowKey) -> Spec {
    let Ok(info) = registry::info(&spec.name) else { return spec.clone() };
    let mut filled = spec.clone();
    let inner = line.behind(spec, info);
    for place in nested(spec) {
        filled.arguments[place].value = fill(&spec.arguments[place].value, inner, flows);
    }
    if info.parameters.iter().any(|parameter| parameter.name == KEY) && given(spec, info, KEY).is_none() {
        // The flow's number is given with the addresses, which are as few as `flows` says.
        filled.arguments.push(Argument::new(KEY, if flows == FlowKey::Addresses { ADDRESSES } else { FLOW }));
    }
    let lacks_full =
        info.parameters.iter().any(|parameter| parameter.name == FULL) && given(spec, info, FULL).is_none();
    if BOUNDS.iter().all(|name| given(spec, info, name).is_none()) {
        add_bounds(&mut filled, info, line, inner);
    }
    if lacks_full {
        filled.arguments.push(Argument::new(FULL, LONGEST));
    }
    filled
}

/// Adds the bounds of a spec that has none.
fn add_bounds(filled: &mut Spec, info: &Info, line: Line, inner: Line) {
    let mut bound = |name, packets: u64| filled.arguments.push(Argument::new(name, &format!("{packets}pkt")));
    match BOUNDS.map(|name| is_open(info, name)) {
        [true, true] => {
            bound("depth", inner.packets(SPAN_OF_FLOW));
            bound("limit", line.most);
        }
        [true, false] => bound("limit", inner.packets(SPAN)),
        [false, true] => bound("depth", inner.packets(SPAN_OF_FLOW)),
        [false, false] => {}
    }
}

/// The spec of a subscriber, filled, with the bounds of one of many.
fn small(spec: &Spec, line: Line) -> Spec {
    let Ok(info) = registry::info(&spec.name) else { return spec.clone() };
    let mut small = spec.clone();
    let inner = line.behind(spec, info);
    for place in nested(spec) {
        small.arguments[place].value = self::small(&spec.arguments[place].value, inner);
    }
    let has = |name: &str| info.parameters.iter().any(|parameter| parameter.name == name);
    let lacks = |name: &str| has(name) && given(spec, info, name).is_none();
    if has(KEY) {
        let hashed = HASHED.into_iter().filter(|name| lacks(name));
        small.arguments.extend(hashed.map(|name| Argument::new(name, QUEUES)));
    }
    if lacks("limit") && !BOUNDS.iter().any(|name| given(spec, info, name).is_some()) {
        small.arguments.push(Argument::new("limit", &format!("{}pkt", inner.packets(SPAN))));
    }
    small
}

/// The name of a discipline within a spec that hashes addresses alone.
fn by_addresses(spec: &Spec) -> Option<&str> {
    let info = registry::info(&spec.name).ok()?;
    let is_it = given(spec, info, KEY).is_some_and(|key| key.name == ADDRESSES);
    let inner = || nested(spec).find_map(|place| by_addresses(&spec.arguments[place].value));
    if is_it { Some(&spec.name) } else { inner() }
}

/// A spec in its canonical form, `canonical`, with those parameters that are filled in unless they are written, where they
/// were written though they are the default.
pub(super) fn with_written(written: &Spec, mut canonical: Spec) -> Spec {
    let Ok(info) = registry::info(&written.name) else { return canonical };
    for place in nested(&canonical).collect::<Vec<_>>() {
        let value = &canonical.arguments[place].value;
        let parameter = Role::Discipline.parameter_at(&canonical, place);
        let inner = parameter.and_then(|parameter| Role::Discipline.argument(written, parameter));
        canonical.arguments[place].value = inner.map_or(value.clone(), |it| with_written(it, value.clone()));
    }
    for name in BOUNDS.into_iter().chain([FULL, KEY]) {
        let value = given(written, info, name).filter(|_| given(&canonical, info, name).is_none());
        canonical.arguments.extend(value.map(|value| Argument::new(name, &value.name)));
    }
    canonical
}

impl Router {
    /// The discipline of the interface at this place with all that the router fills in.
    #[must_use]
    pub fn discipline_at(&self, place: usize) -> Spec {
        let interface = &self.interfaces[place];
        match self.defaults {
            Defaults::Simulation => interface.discipline.clone(),
            Defaults::Live => fill(&interface.discipline, Line::of(self, interface), self.flow_key),
        }
    }

    /// The discipline of a subscriber with this ceiling at the interface at this place, with all that is filled in.
    #[must_use]
    pub fn subscriber_discipline(&self, place: usize, ceiling: Rate) -> Spec {
        let interface = &self.interfaces[place];
        match self.defaults {
            Defaults::Simulation => interface.discipline.clone(),
            Defaults::Live => {
                let line = self.line_of_subscriber(place, ceiling);
                small(&fill(&interface.discipline, line, self.flow_key), line)
            }
        }
    }

    /// How many packets a subscriber with this ceiling may have, in all and of each flow: of two subscribers of whom that is
    /// the same, the discipline is.
    pub(crate) fn subscriber_queue(&self, place: usize, ceiling: Rate) -> [u64; 2] {
        let line = self.line_of_subscriber(place, ceiling);
        [SPAN, SPAN_OF_FLOW].map(|span| line.packets(span))
    }

    fn line_of_subscriber(&self, place: usize, ceiling: Rate) -> Line {
        Line { rate: Some(ceiling), ..Line::of(self, &self.interfaces[place]) }
    }

    /// What the spec of the interface at this place says otherwise than `flows`, and what to do, where both cannot hold.
    #[must_use]
    pub fn contradiction_at(&self, place: usize) -> Option<(String, String)> {
        let name = by_addresses(&self.interfaces[place].discipline)?;
        let is_refused = matches!(self.flow_key, FlowKey::Source | FlowKey::Destination | FlowKey::Class);
        (self.defaults == Defaults::Live && is_refused).then(|| {
            let reason =
                format!("has `key=addresses` for `{name}`, but `flows` is \"{}\"", word(&self.flow_key));
            (reason, "leave `key` out, or write `flows = \"addresses\"`".to_owned())
        })
    }

    /// What an operator may not have meant, a line each.
    #[must_use]
    pub fn advice(&self) -> Vec<String> {
        let is_told = self.defaults == Defaults::Live && self.flow_key == FlowKey::FiveTuple;
        let told = self.interfaces.iter().filter(|interface| is_told && !interface.is_removed);
        let line = |interface: &Interface| {
            let name = by_addresses(&interface.discipline)?;
            Some(format!(
                "interface {}: `{name}` has `key=addresses`, but `flows` is \"5-tuple\": all flows between two hosts \
                 share a queue there; leave `key` out to tell them apart",
                interface.name
            ))
        };
        let promised = self.interfaces.iter().filter_map(|interface| {
            let (_, over) = interface.subscribers.as_ref()?.table.shares(interface.rate?).ok()?;
            Some(interface.subscribers.as_ref()?.table.advice(&over))
        });
        let mut lines: Vec<String> = Vec::new();
        for line in told.filter_map(line).chain(promised.flatten()) {
            // Two interfaces may have the same file.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// What the queue of the interface at this place holds, and how long that takes on its line, in words.
    #[must_use]
    pub fn bound_at(&self, place: usize) -> String {
        let interface = &self.interfaces[place];
        let mut said = String::new();
        let Some((named, rate)) = interface.subscribers.as_ref().zip(interface.rate) else {
            say(&self.discipline_at(place), Line::of(self, interface), &mut said);
            return said;
        };
        let ceilings = named.table.classes().iter().filter_map(|class| class.ceiling.or(class.rate));
        let highest = ceilings.max().unwrap_or(rate).min(rate);
        let line = self.line_of_subscriber(place, highest);
        say(&self.subscriber_discipline(place, highest), line, &mut said);
        let count = named.table.subscribers();
        format!("{count} subscribers of {}; of each, at most, {said}", named.file)
    }

    /// The same of all interfaces.
    pub(crate) fn bounds(&self) -> Vec<String> {
        (0..self.interfaces.len()).map(|place| self.bound_at(place)).collect()
    }
}

/// The value in force of a parameter that counts packets.
fn packets(spec: &Spec, info: &Info, name: &str) -> Option<u64> {
    let parameter = info.parameters.iter().find(|parameter| parameter.name == name)?;
    let text = given(spec, info, name).map(|value| value.name.as_str()).or(parameter.default)?;
    parse_packets(text).map(|packets| packets.get())
}

/// Says what a discipline holds, or what those in it do.
fn say(spec: &Spec, line: Line, said: &mut String) {
    let Ok(info) = registry::info(&spec.name) else { return };
    let inner = line.behind(spec, info);
    let [limit, depth] = BOUNDS.map(|name| packets(spec, info, name));
    let has_bound = info.parameters.iter().any(|parameter| BOUNDS.contains(&parameter.name));
    if !has_bound {
        let before = said.len();
        nested(spec).for_each(|place| say(&spec.arguments[place].value, inner, said));
        if said.len() > before {
            return;
        }
    }
    let separator = if said.is_empty() { "" } else { "; " };
    let _ = write!(said, "{separator}{} holds ", spec.name);
    let mut count = |packets: u64, of: &str| {
        let time = inner.says(packets).map_or(String::new(), |time| format!(": {time}"));
        let _ = write!(said, "{packets} packets{of}{time}");
    };
    match (depth, limit) {
        (Some(depth), None) => count(depth, " of each flow"),
        (Some(depth), Some(limit)) if depth < limit => {
            count(depth, " of each flow");
            let _ = write!(said, ", and {limit} in all");
        }
        (_, Some(limit)) => count(limit, ""),
        (None, None) => {
            let of =
                |name| given(spec, info, name).filter(|value| ![NONE, AUTO].contains(&value.name.as_str()));
            let is_bounded = info.parameters.iter().any(|parameter| parameter.name == MEMORY);
            let otherwise = if is_bounded {
                "what its rate carries in four round trips, from 4MiB to 10240 packets"
            } else {
                "what comes, without a bound"
            };
            let written = of("limit").or_else(|| of(MEMORY));
            let _ = write!(said, "{}", written.map_or(otherwise, |value| &value.name));
        }
    }
}

#[cfg(test)]
mod tests;
