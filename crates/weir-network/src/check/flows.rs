//! Flows: who sends to whom, when, along which links; and what their packets meet there.

use std::collections::{HashMap, HashSet};

use super::files::Files;
use super::links::Links;
use super::nodes::Nodes;
use super::routes::{Path, Routes};
use super::traffic::Sending;
use super::{LONGEST_DELAY, LONGEST_RUN, known_names};
use crate::check::Check;
use crate::document::phase::Phase as WrittenPhase;
use crate::document::{self, Network, NetworkDocument};
use crate::model::{Flow, Phase, Stop, Tick};
use weir_core::item::{Addresses, ClassId, Dscp};
use weir_core::units::{Bytes, Nanos};
use weir_document::quantity::Time;
use weir_document::{Brief, Checked, Located, MAX_WORK};

/// The most flows.
const MAX_FLOWS: u64 = 1_000_000;
/// The most links on the path of one flow, there and back.
const MAX_PATH: usize = 250;
/// The most links on the paths of all flows together.
const MAX_HOPS: usize = 10_000_000;
/// The most packets of a flow in a replication.
const MAX_PACKETS: f64 = 4e9;
/// The most classes.
const MAX_CLASSES: usize = 64;
/// The class of a flow that names none.
const DEFAULT_CLASS: &str = "default";
/// The address from which flows without one count: 10.0.0.0.
pub(super) const FIRST_SOURCE: u32 = 0x0a00_0000;
/// The address from which hosts without one count as destinations: 172.16.0.0.
pub(super) const FIRST_DESTINATION: u32 = 0xac10_0000;
/// The largest of exponential sizes that is reckoned with, over their mean: fewer than one in 10^27 are larger.
const LARGEST_OVER_MEAN: f64 = 64.0;

/// The flows, with the names of their classes.
pub(super) struct Flows {
    pub(super) all: Vec<Flow>,
    pub(super) classes: Vec<String>,
}

/// When a flow sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period {
    pub(super) start: Nanos,
    pub(super) stop: Nanos,
}

/// The flows in the making.
struct Building<'n> {
    nodes: &'n Nodes,
    links: &'n Links,
    routes: Routes<'n>,
    files: Files,
    all: Vec<Flow>,
    names: HashSet<String>,
    classes: Classes,
    hops: usize,
    /// Packets of one replication.
    expected: f64,
}

/// The classes, by name.
struct Classes {
    names: Vec<String>,
    places: HashMap<String, u16>,
    /// Whether the scenario lists them.
    listed: bool,
}

impl Check<'_, '_> {
    pub(super) fn flows(
        &mut self,
        document: &NetworkDocument,
        nodes: &Nodes,
        links: &Links,
        stop: &Stop,
    ) -> Checked<Flows> {
        if document.flow.value.is_empty() {
            let remedy = "add a table [[flow]] with `from`, `to` and what is sent";
            return self.refuse(&document.flow, "must have a flow", remedy);
        }
        let mut building = Building {
            nodes,
            links,
            routes: Routes::new(nodes, links),
            files: Files::default(),
            all: Vec::new(),
            names: HashSet::new(),
            classes: self.classes(&document.network.value)?,
            hops: 0,
            expected: 0.0,
        };
        for written in &document.flow.value {
            self.flow(written, stop, &mut building)?;
        }
        Ok(Flows { all: building.all, classes: building.classes.names })
    }

    /// The flows of one table.
    fn flow(
        &mut self,
        written: &Located<document::Flow>,
        stop: &Stop,
        building: &mut Building<'_>,
    ) -> Checked<()> {
        let flow = &written.value;
        let (source, destination) = self.ends(flow, building.nodes)?;
        let paths = self.paths(written, (source, destination), &mut building.routes)?;
        let period = self.period(flow, stop)?;
        let sending = self.traffic(written, period, &mut building.files)?;
        self.fits(written, &sending, &paths, building.links)?;
        let count = self.count(flow, building.all.len())?;
        self.work(written, &sending, count, stop, building)?;
        let hops = paths.0.len() + paths.1.len();
        if hops > MAX_PATH {
            let reason = format!("goes over {hops} links, there and back, at most {MAX_PATH} are simulated");
            return self.refuse(written, reason, "put fewer links between its hosts");
        }
        building.hops += hops * count as usize;
        if building.hops > MAX_HOPS {
            let reason = format!("takes the paths of all flows to more than {MAX_HOPS} links");
            return self.refuse(written, reason, "describe fewer flows");
        }
        let class = self.class(written, &mut building.classes)?;
        let largest = Dscp::LARGEST.into();
        let dscp = flow.dscp.as_ref().map_or(Ok(0), |point| self.whole(point, 0, largest))?;
        let stagger = self.stagger(flow, period, count)?;
        let tick = flow.tick.as_ref().map(|tick| self.tick(tick)).transpose()?;
        let name = flow.name.as_ref().map(|name| self.name(name)).transpose()?;
        let name = name.unwrap_or_else(|| format!("{} to {}", flow.from.value, flow.to.value));
        for place in 0..count {
            let name = flow.count.as_ref().map_or_else(|| name.clone(), |_| format!("{name} {}", place + 1));
            self.once(written, &name, building)?;
            let addresses = self.addresses(flow, (source, destination), place, building)?;
            building.all.push(Flow {
                name,
                source,
                destination,
                addresses,
                class,
                dscp: Dscp::new(dscp as u8),
                path: paths.0.to_vec(),
                back: paths.1.to_vec(),
                start: Nanos::new(period.start.get() + stagger.get() * place),
                stop: period.stop,
                traffic: sending.traffic.clone(),
                tick,
            });
        }
        Ok(())
    }

    /// When the timers of its host tick.
    fn tick(&self, written: &Located<Brief<Time, document::Tick>>) -> Checked<Tick> {
        let table = match &written.value {
            Brief::Alone(every) => {
                let every = Located { value: *every, span: written.span.clone() };
                return Ok(Tick::aligned(self.some_span(&every, LONGEST_DELAY)?));
            }
            Brief::Table(table) => table,
        };
        let every = self.some_span(&table.every, LONGEST_DELAY)?;
        let Some(phase) = &table.phase else { return Ok(Tick::aligned(every)) };
        let first = match phase.value {
            WrittenPhase::Random => return Ok(Tick { every, phase: Phase::Random }),
            WrittenPhase::At(first) => Located { value: first, span: phase.span.clone() },
        };
        let first = self.span(&first, LONGEST_DELAY)?;
        if first >= every {
            let reason = format!("must be less than the time from tick to tick, which is {every}");
            return self.refuse(phase, reason, "lower it, or write \"random\"");
        }
        Ok(Tick { every, phase: Phase::At(first) })
    }

    fn ends(&self, flow: &document::Flow, nodes: &Nodes) -> Checked<(usize, usize)> {
        let (source, destination) = (self.host(&flow.from, nodes)?, self.host(&flow.to, nodes)?);
        if source == destination {
            return self.refuse(&flow.to, "is the host that sends", "send to another host");
        }
        Ok((source, destination))
    }

    /// When it sends: the first of several that are staggered.
    fn period(&self, flow: &document::Flow, stop: &Stop) -> Checked<Period> {
        let start = flow.start.as_ref().map_or(Ok(Nanos::new(0)), |start| self.span(start, LONGEST_RUN))?;
        let end = flow.stop.as_ref().map_or(Ok(stop.duration), |stop| self.span(stop, LONGEST_RUN))?;
        match &flow.stop {
            Some(written) if end > stop.duration => {
                let reason = format!("is after stop.duration, which is {}", stop.duration);
                return self.refuse(written, reason, "lower it, or lengthen the run");
            }
            _ => {}
        }
        if start < end {
            return Ok(Period { start, stop: end });
        }
        match (&flow.start, &flow.stop) {
            (Some(written), _) => {
                self.refuse(written, format!("is not before the end, which is {end}"), "start it earlier")
            }
            (None, Some(written)) => self.refuse(written, "is not after the start", "let it stop later"),
            (None, None) => Ok(Period { start, stop: end }),
        }
    }

    fn count(&self, flow: &document::Flow, before: usize) -> Checked<u64> {
        let Some(written) = &flow.count else {
            self.without_effect(flow.stagger.as_ref(), "flow.count")?;
            return Ok(1);
        };
        let count = self.whole(written, 1, MAX_FLOWS)?;
        if count + before as u64 > MAX_FLOWS {
            let reason = format!("takes the flows to more than {MAX_FLOWS}");
            return self.refuse(written, reason, "lower it");
        }
        Ok(count)
    }

    fn stagger(&self, flow: &document::Flow, period: Period, count: u64) -> Checked<Nanos> {
        let Some(written) = &flow.stagger else { return Ok(Nanos::new(0)) };
        let stagger = self.span(written, LONGEST_RUN)?;
        let last = stagger.get().saturating_mul(count - 1);
        if last < period.length().get() {
            return Ok(stagger);
        }
        let reason =
            format!("starts the last of {count} flows at {}, not before their end", Nanos::new(last));
        self.refuse(written, reason, "lower it")
    }

    /// Refuses a name that exists already.
    fn once(
        &self,
        written: &Located<document::Flow>,
        name: &str,
        building: &mut Building<'_>,
    ) -> Checked<()> {
        if building.names.insert(name.to_owned()) {
            return Ok(());
        }
        let reason = format!("would make a second flow called `{name}`");
        match &written.value.name {
            Some(written) => self.refuse(written, reason, "give each its own name"),
            None => self.refuse(written, reason, "give it a `name`, or write `count` in the first"),
        }
    }

    fn addresses(
        &self,
        flow: &document::Flow,
        (source, destination): (usize, usize),
        place: u64,
        building: &Building<'_>,
    ) -> Checked<Addresses> {
        let own = match &flow.source_address {
            None => None,
            Some(written) => match u32::from(written.value.0).checked_add(place as u32) {
                Some(address) => Some(address),
                None => {
                    let reason = "counts up beyond the last address, 255.255.255.255";
                    return self.refuse(written, reason, "begin lower, or lower flow.count");
                }
            },
        };
        let number = building.all.len() as u32 + 1;
        let host = |node: usize| building.nodes.addresses[node];
        let to = flow.destination_address.as_ref().map(|written| u32::from(written.value.0));
        Ok(Addresses {
            source: own.or(host(source)).unwrap_or(FIRST_SOURCE + number),
            destination: to.or(host(destination)).unwrap_or(FIRST_DESTINATION + destination as u32),
        })
    }

    fn classes(&self, network: &Network) -> Checked<Classes> {
        let listed = network.classes.is_some();
        let mut classes = Classes { names: Vec::new(), places: HashMap::new(), listed };
        for written in network.classes.iter().flat_map(|list| &list.value) {
            let name = self.name(written)?;
            if classes.places.contains_key(&name) {
                return self.refuse(written, "is listed twice", "remove one of the two");
            }
            if classes.add(name).is_none() {
                let reason = format!("is beyond the limit of {MAX_CLASSES} classes");
                return self.refuse(written, reason, "name fewer");
            }
        }
        Ok(classes)
    }

    fn class(&self, flow: &Located<document::Flow>, classes: &mut Classes) -> Checked<ClassId> {
        let name = match &flow.value.class {
            Some(written) => self.name(written)?,
            None => DEFAULT_CLASS.to_owned(),
        };
        if let Some(place) = classes.places.get(&name) {
            return Ok(ClassId(*place));
        }
        let (reason, remedy) = if classes.listed {
            let known = known_names(&name, classes.names.iter().map(String::as_str));
            (format!("is of class `{name}`, which network.classes does not list"), known)
        } else {
            match classes.add(name) {
                Some(class) => return Ok(ClassId(class)),
                None => (format!("is of a class beyond the limit of {MAX_CLASSES}"), "use fewer".to_owned()),
            }
        };
        match &flow.value.class {
            Some(written) => self.refuse(written, reason, remedy),
            None => self.refuse(flow, reason, remedy),
        }
    }

    /// Refuses packets that do not fit through a link of their path, or hold it up beyond the clock.
    fn fits(
        &self,
        written: &Located<document::Flow>,
        sending: &Sending,
        paths: &(Path, Path),
        links: &Links,
    ) -> Checked<()> {
        for link in paths.0.iter().map(|&link| &links.all[link]) {
            if let Some(mtu) =
                link.mtu.filter(|mtu| sending.largest.is_none_or(|size| size > mtu.get() as f64))
            {
                let largest = sending.largest.map_or("of any size".to_owned(), |size| format!("of {size}B"));
                let reason = format!("sends packets {largest} over `{}`, whose mtu is {mtu}", link.name);
                let remedy =
                    "send smaller packets (`bounded_exponential` bounds their sizes), or raise the mtu";
                return self.refuse(written, reason, remedy);
            }
            let largest = sending.largest.unwrap_or(sending.mean * LARGEST_OVER_MEAN);
            let whole = Bytes::new(largest.ceil() as u64 + link.overhead_bytes.get());
            if link.rate.time_of(whole).is_none_or(|time| time > LONGEST_DELAY) {
                let reason = format!(
                    "sends packets of {whole} over `{}`, which would take it longer than {LONGEST_DELAY}",
                    link.name
                );
                return self.refuse(written, reason, "raise its rate");
            }
        }
        Ok(())
    }

    /// Refuses more packets than can be simulated.
    fn work(
        &self,
        written: &Located<document::Flow>,
        sending: &Sending,
        count: u64,
        stop: &Stop,
        building: &mut Building<'_>,
    ) -> Checked<()> {
        let each = sending.expected.unwrap_or(0.0);
        building.expected += each * count as f64;
        let all = building.expected * f64::from(stop.replications);
        let reason = if each > MAX_PACKETS {
            format!(
                "sends about {each:.1e} packets in a replication, at most {MAX_PACKETS:.0e} are simulated"
            )
        } else if all > MAX_WORK as f64 {
            let most = MAX_WORK as f64;
            format!(
                "takes the packets of all flows and replications to {all:.1e}, at most {most:.0e} are simulated"
            )
        } else {
            return Ok(());
        };
        let remedy = "lower its rate, stop.duration or stop.replications";
        let flow = &written.value;
        match (&flow.rate, &flow.gap) {
            (Some(rate), _) => self.refuse(rate, reason, remedy),
            (_, Some(gap)) => self.refuse(gap, reason, remedy),
            _ => self.refuse(written, reason, remedy),
        }
    }
}

impl Classes {
    /// One more class; `None` where there are too many.
    fn add(&mut self, name: String) -> Option<u16> {
        if self.names.len() == MAX_CLASSES {
            return None;
        }
        let place = self.names.len() as u16;
        self.names.push(name.clone());
        self.places.insert(name, place);
        Some(place)
    }
}
