//! Links: two nodes, a line between them, and the discipline of the queue before it.

use std::collections::HashSet;

use super::nodes::Nodes;
use super::{LONGEST_DELAY, known_names};
use crate::check::Check;
use crate::document;
use crate::model::{Jitter, Link};
use weir_core::canonical::canonical;
use weir_core::registry;
use weir_core::spec::Spec;
use weir_core::units::{Bytes, Nanos};
use weir_document::quantity::{LengthUnit, Overhead, Time};
use weir_document::{Brief, Checked, Located, NamedDiscipline};

/// The most links, counted in each direction.
const MAX_LINKS: usize = 100_000;
/// The most queues, over all disciplines compared.
const MAX_QUEUES: usize = 1_000_000;
/// The most packets that an interface takes ahead.
const MAX_RING: u64 = 65_536;
/// The smallest largest packet of a link: that of the Internet (RFC 791).
const MIN_MTU: u64 = 68;
/// The entry of a table by discipline for those that it does not name.
const DEFAULT: &str = "default";

/// The links, with the nodes that they join.
pub(super) struct Links {
    pub(super) all: Vec<Link>,
    /// The links that leave each node, in the order of the file.
    pub(super) out: Vec<Vec<usize>>,
}

/// What a link is apart from its ends.
struct Line {
    name: Option<String>,
    link: Link,
}

impl Check<'_, '_> {
    pub(super) fn links(
        &self,
        list: &mut Located<Vec<Located<document::Link>>>,
        nodes: &Nodes,
        disciplines: &[NamedDiscipline],
    ) -> Checked<Links> {
        let mut links = Links { all: Vec::new(), out: vec![Vec::new(); nodes.all.len()] };
        let mut names = HashSet::new();
        for written in &mut list.value {
            let own = written.value.discipline.as_mut();
            let own = own.map(|own| self.own_discipline(own)).transpose()?;
            let line = self.line(&written.value, own, disciplines)?;
            for link in self.directions(written, line, nodes)? {
                if links.all.len() == MAX_LINKS || (links.all.len() + 1) * disciplines.len() > MAX_QUEUES {
                    let reason = format!(
                        "is beyond the limit: at most {MAX_LINKS} directions, times disciplines at most \
                         {MAX_QUEUES}"
                    );
                    return self.refuse(written, reason, "describe fewer links");
                }
                if !names.insert(link.name.clone()) {
                    return self.second(written, &link.name);
                }
                links.out[link.from].push(links.all.len());
                links.all.push(link);
            }
        }
        Ok(links)
    }

    /// The link's own discipline, which is written anew in canonical form.
    fn own_discipline(&self, written: &mut Located<String>) -> Checked<Spec> {
        let named = self.packet_discipline(written)?;
        written.value = named.canonical;
        Ok(named.spec)
    }

    /// Refuses a name that stands for two links.
    fn second<T>(&self, written: &Located<document::Link>, name: &str) -> Checked<T> {
        let reason = format!("would make a second link called `{name}`");
        match &written.value.name {
            Some(written) => self.refuse(written, reason, "give each its own name"),
            None => {
                let remedy = "remove one of the two, or give this one a `name` if they are parallel";
                self.refuse(written, reason, remedy)
            }
        }
    }

    /// One link for each direction.
    fn directions(&self, written: &Located<document::Link>, line: Line, nodes: &Nodes) -> Checked<Vec<Link>> {
        let (first, second, both) = match (&written.value.between, &written.value.from, &written.value.to) {
            (Some(pair), None, None) => (&pair.value.0, &pair.value.1, true),
            (None, Some(from), Some(to)) => (from, to, false),
            (Some(pair), _, _) => {
                let remedy = "keep `between` for both directions, or `from` and `to` for one";
                return self.refuse(pair, "cannot be combined with link.from or link.to", remedy);
            }
            _ => {
                let remedy =
                    "write `between = [\"A\", \"B\"]` for both directions, or `from` and `to` for one";
                return self.refuse(written, "must have `between`, or both `from` and `to`", remedy);
            }
        };
        let (from, to) = (self.node(first, nodes)?, self.node(second, nodes)?);
        if from == to {
            return self.refuse(second, "is the node at the other end too", "join two different nodes");
        }
        let (a, b) = (&nodes.all[from].name, &nodes.all[to].name);
        let name = line.name.clone().unwrap_or_else(|| format!("{a}-{b}"));
        let mut directions = vec![Link { name, from, to, ..line.link.clone() }];
        if both {
            let reverse = line.name.map_or_else(|| format!("{b}-{a}"), |name| format!("{name} reverse"));
            directions.push(Link { name: reverse, from: to, to: from, ..line.link });
        }
        Ok(directions)
    }

    fn line(
        &self,
        written: &document::Link,
        own: Option<Spec>,
        compared: &[NamedDiscipline],
    ) -> Checked<Line> {
        if written.rate.value.0.get() == 0 {
            return self.refuse(&written.rate, "must be above 0", "write a rate such as \"10Mbit\"");
        }
        let disciplines: Vec<Spec> =
            compared.iter().map(|named| own.clone().unwrap_or_else(|| named.spec.clone())).collect();
        let (overhead_bytes, overhead) = self.overhead(written.overhead.as_ref(), &disciplines)?;
        let propagation = written.propagation.as_ref();
        let propagation = propagation.map_or(Ok(Nanos::new(0)), |time| self.span(time, LONGEST_DELAY))?;
        let link = Link {
            name: String::new(),
            from: 0,
            to: 0,
            rate: written.rate.value.0,
            propagation,
            overhead_bytes,
            overhead,
            jitter: self.jitter(written.jitter.as_ref())?,
            ring: written.ring.as_ref().map_or(Ok(1), |ring| self.whole(ring, 1, MAX_RING))? as u32,
            mtu: self.mtu(written)?,
            disciplines,
        };
        let name = written.name.as_ref().map(|name| self.name(name)).transpose()?;
        Ok(Line { name, link })
    }

    fn mtu(&self, link: &document::Link) -> Checked<Option<Bytes>> {
        let Some(written) = &link.mtu else { return Ok(None) };
        if written.value.unit != LengthUnit::Bytes || written.value.count < MIN_MTU {
            let reason = format!("must be a size in bytes of at least {MIN_MTU}B");
            return self.refuse(written, reason, "write a size such as \"1500B\"");
        }
        Ok(Some(Bytes::new(written.value.count)))
    }

    fn jitter(&self, written: Option<&Located<Brief<Time, document::Jitter>>>) -> Checked<Jitter> {
        let Some(written) = written else { return Ok(Jitter::None) };
        let alone;
        let (time, of): (&Located<Time>, fn(Nanos) -> Jitter) = match &written.value {
            Brief::Alone(time) => {
                alone = Located { value: *time, span: written.span.clone() };
                (&alone, Jitter::Uniform)
            }
            Brief::Table(document::Jitter::Uniform(longest)) => (longest, Jitter::Uniform),
            Brief::Table(document::Jitter::Exponential(mean)) => (mean, Jitter::Exponential),
        };
        let span = self.span(time, LONGEST_DELAY)?;
        Ok(if span.get() == 0 { Jitter::None } else { of(span) })
    }

    /// The bytes of framing, and the time of each discipline.
    fn overhead(
        &self,
        written: Option<&Located<Brief<Overhead, document::ByDiscipline>>>,
        disciplines: &[Spec],
    ) -> Checked<(Bytes, Vec<Nanos>)> {
        let same = |time| vec![time; disciplines.len()];
        let none = Nanos::new(0);
        match written.map(|written| (written, &written.value)) {
            None => Ok((Bytes::new(0), same(none))),
            Some((written, Brief::Alone(Overhead::Framing(bytes)))) => {
                const MOST: Bytes = Bytes::new(65_536);
                if *bytes > MOST {
                    return self.refuse(written, format!("must be at most {MOST}"), "lower it");
                }
                Ok((*bytes, same(none)))
            }
            Some((written, Brief::Alone(Overhead::Time(time)))) => {
                let time = Located { value: *time, span: written.span.clone() };
                Ok((Bytes::new(0), same(self.span(&time, LONGEST_DELAY)?)))
            }
            Some((written, Brief::Table(table))) => {
                self.names_of_overhead(table)?;
                let of = |spec: &Spec| self.overhead_of(written, table, spec);
                Ok((Bytes::new(0), disciplines.iter().map(of).collect::<Checked<_>>()?))
            }
        }
    }

    fn names_of_overhead(&self, table: &document::ByDiscipline) -> Checked<()> {
        for (name, time) in table {
            let spec = name.parse::<Spec>().map_or_else(|_| name.clone(), |spec| spec.name);
            let known = registry::PACKET.iter().map(|info| info.name).chain([DEFAULT]);
            if !known.clone().any(|known| known == spec) {
                let reason = format!("is of `{name}`, which is not a discipline of packets");
                return self.refuse(time, reason, known_names(&spec, known));
            }
        }
        Ok(())
    }

    fn overhead_of(
        &self,
        written: &Located<Brief<Overhead, document::ByDiscipline>>,
        table: &document::ByDiscipline,
        spec: &Spec,
    ) -> Checked<Nanos> {
        let whole = spec.to_string();
        let exact = table.iter().find(|(key, _)| names_exactly(key, spec)).map(|(_, time)| time);
        let entry = exact.or_else(|| table.get(&spec.name)).or_else(|| table.get(DEFAULT));
        match entry {
            Some(time) => self.span(time, LONGEST_DELAY),
            None => {
                let remedy = format!("add `{} = \"...\"`, or `{DEFAULT} = \"0s\"`", spec.name);
                self.refuse(written, format!("has no entry for `{whole}`"), remedy)
            }
        }
    }
}

/// Whether an entry is of this discipline alone, with its arguments, and not of all of its name.
fn names_exactly(key: &str, spec: &Spec) -> bool {
    let written = key.parse::<Spec>().ok().filter(|written| !written.arguments.is_empty());
    written.and_then(|written| canonical(&written).ok()).is_some_and(|written| written == *spec)
}
