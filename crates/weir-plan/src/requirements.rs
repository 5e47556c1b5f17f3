//! What is asked of an arbitration table: one TOML file, read strictly.
//!
//! ```toml
//! weir = 1
//! title = "Table 1"               # optional
//!
//! [table]
//! entries = 64                    # that the port has
//! mtu = "2048B"                   # the largest packet
//! credit = "64B"                  # the unit of weights; this is the default
//! k = 2                           # the pool is k times entries times the MTU; default 1
//! w = 4                           # an entry weighs at most w times the MTU; default k
//!
//! [link]
//! rate = "2.5Gbit"
//! coding = "8b/10b"               # "none" (the default), "8b/10b", "64b/66b" or "128b/130b"
//!
//! [[class]]
//! name = "control"
//! share = "25%"                   # of the data rate; or `rate = "500Mbit"`
//! distance = 2                    # at most this many positions between entries; or `latency = "60us"`, or neither
//! lane = 0                        # the virtual channel; default: the place in the list
//! service_levels = [0, 1]         # service levels of InfiniBand, priorities of Linux; default: the lane's number
//!
//! [target]                        # optional
//! form = "opensm"                 # where the plan goes: `opensm`, `pcie`, `tc-ets`, `tc-drr`, `dcb` or `scenario`
//! lanes = 8                       # data lanes that are in operation on every port
//! prefix = "qos"                  # of OpenSM's options
//! interface = "eth0"              # of Linux
//! device = "01:00.0"              # of PCI Express
//! ```
//!
//! A latency is from the moment at which a packet is the first of its class that waits until its last byte has
//! left, at one output ([`crate::bound`]).

use serde::Deserialize;
use weir_core::units::{Bytes, Nanos};
use weir_document::{Located, Source};

use crate::PlanError;
use crate::placement::MAX_ENTRIES;
use crate::quantity::{self, Share};
use crate::read::{self, Checked, Checks};
use crate::shape::{Coding, Link, Shape};
use crate::target::{Target, TargetDocument};

/// The most classes of a plan.
pub const MAX_CLASSES: usize = 64;
/// The highest number of a virtual channel.
const MAX_LANE: u64 = 63;
/// The largest packet and the largest credit, in bytes.
const MAX_SIZE: u64 = 1 << 16;
/// The largest k and w.
const MAX_FACTOR: u64 = 64;
/// The credit of InfiniBand, in bytes.
const CREDIT: u64 = 64;

/// What is asked, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// What the plan is headed with.
    pub title: String,
    /// The table.
    pub shape: Shape,
    /// The link.
    pub link: Link,
    /// What each class asks for.
    pub classes: Vec<Request>,
    /// Where the plan goes.
    pub target: Target,
    /// What was rounded.
    pub notes: Vec<String>,
}

/// What one class asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its name.
    pub name: String,
    /// Its virtual channel.
    pub lane: u32,
    /// The service levels, or priorities, that go there.
    pub service_levels: Vec<u32>,
    /// Its part of the link.
    pub share: Share,
    /// The most positions from entry to entry, a power of two.
    pub distance: Option<u32>,
    /// The longest that the first packet in line may take.
    pub latency: Option<Nanos>,
    /// Where it stands in the document.
    pub line: usize,
}

impl Requirements {
    /// Reads a request; errors speak of `name`.
    ///
    /// # Errors
    /// The text is refused; the error says where and why.
    pub fn from_toml(text: &str, name: &str) -> Result<Self, PlanError> {
        let source = Source { name, text };
        let document: Document = read::document(&source)?;
        Checker { source, notes: Vec::new() }.requirements(&document)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    weir: Located<u64>,
    #[serde(default)]
    title: String,
    table: TableDocument,
    link: LinkDocument,
    class: Located<Vec<Located<ClassDocument>>>,
    #[serde(default)]
    target: TargetDocument,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableDocument {
    entries: Located<u64>,
    mtu: Located<String>,
    credit: Option<Located<String>>,
    k: Option<Located<u64>>,
    w: Option<Located<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkDocument {
    rate: Located<String>,
    #[serde(default)]
    coding: Coding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassDocument {
    name: Located<String>,
    share: Option<Located<String>>,
    rate: Option<Located<String>>,
    distance: Option<Located<u64>>,
    latency: Option<Located<String>>,
    lane: Option<Located<u64>>,
    service_levels: Option<Located<Vec<Located<u64>>>>,
}

struct Checker<'a> {
    source: Source<'a>,
    notes: Vec<String>,
}

impl<'a> Checks<'a> for Checker<'a> {
    fn source(&self) -> &Source<'a> {
        &self.source
    }
}

impl Checker<'_> {
    fn requirements(mut self, document: &Document) -> Checked<Requirements> {
        self.version(&document.weir)?;
        let shape = self.shape(&document.table)?;
        let link = self.link(&document.link)?;
        let classes = self.classes(&document.class, shape, link)?;
        let target = document.target.check(&self.source)?;
        Ok(Requirements { title: document.title.clone(), shape, link, classes, target, notes: self.notes })
    }

    fn shape(&mut self, table: &TableDocument) -> Checked<Shape> {
        let capacity = self.whole(&table.entries, 1, u64::from(MAX_ENTRIES))?;
        let mtu = self.size(&table.mtu)?;
        let credit = table.credit.as_ref().map_or(Ok(Bytes::new(CREDIT)), |size| self.size(size))?;
        if let (true, Some(written)) = (credit > mtu, &table.credit) {
            return self.refuse(written, "must be at most the MTU", "lower it");
        }
        if credit > mtu {
            return self.refuse(&table.mtu, format!("must be at least a credit, {credit}"), "raise it");
        }
        let k = table.k.as_ref().map_or(Ok(1), |k| self.whole(k, 1, MAX_FACTOR))?;
        let w = table.w.as_ref().map_or(Ok(k), |w| self.whole(w, 1, MAX_FACTOR))?;
        if let (true, Some(written)) = (k > w, &table.w) {
            let reason = format!("must be at least k, {k}: full entries would not hold the pool");
            return self.refuse(written, reason, "raise w or lower k");
        }
        let shape = Shape { capacity, mtu, credit, k, w };
        if shape.entries() != capacity {
            let entries = shape.entries();
            self.notes.push(format!(
                "table.entries is {capacity}: {entries} of them are planned, the largest power of two"
            ));
        }
        Ok(shape)
    }

    fn link(&self, link: &LinkDocument) -> Checked<Link> {
        match quantity::rate(&link.rate.value) {
            Some(rate) if rate.get() > 0 => Ok(Link { rate, coding: link.coding }),
            _ => {
                let reason = "must be a rate with its unit, above 0 and below 18446744073Gbit";
                self.refuse(&link.rate, reason, "write it as in \"2.5Gbit\"")
            }
        }
    }

    fn classes(
        &mut self,
        written: &Located<Vec<Located<ClassDocument>>>,
        shape: Shape,
        link: Link,
    ) -> Checked<Vec<Request>> {
        let count = written.value.len();
        if count == 0 || count > MAX_CLASSES {
            let reason = format!("has {count} tables, must have from 1 to {MAX_CLASSES}");
            return self.refuse(written, reason, "write one `[[class]]` for each class");
        }
        let mut classes: Vec<Request> = Vec::new();
        for (place, written) in written.value.iter().enumerate() {
            let class = self.class(written, place as u64, shape, link)?;
            self.distinct(&classes, &class, written)?;
            classes.push(class);
        }
        Ok(classes)
    }

    fn class(
        &mut self,
        written: &Located<ClassDocument>,
        place: u64,
        shape: Shape,
        link: Link,
    ) -> Checked<Request> {
        let class = &written.value;
        let name = self.name(&class.name, "storage")?;
        let share = self.share(written, link)?;
        let distance = class.distance.as_ref().map(|d| self.distance(d, &name, shape)).transpose()?;
        let latency = class.latency.as_ref().map(|time| self.time(time)).transpose()?;
        if let (Some(_), Some(latency)) = (distance, &class.latency) {
            return self.refuse(latency, "cannot be combined with `distance`", "keep one of the two");
        }
        let lane = match &class.lane {
            Some(lane) => self.whole(lane, 0, MAX_LANE)?,
            None => u32::try_from(place).unwrap_or_default(),
        };
        let service_levels = match &class.service_levels {
            None if lane < 16 => vec![lane],
            None => Vec::new(),
            Some(levels) => {
                levels.value.iter().map(|level| self.whole(level, 0, 15)).collect::<Checked<_>>()?
            }
        };
        let line = self.source.line_and_column(written.span.start).0;
        Ok(Request { name, lane, service_levels, share, distance, latency, line })
    }

    /// Names, lanes and service levels belong to one class each.
    fn distinct(&self, others: &[Request], class: &Request, written: &Located<ClassDocument>) -> Checked<()> {
        let document = &written.value;
        for other in others {
            if other.name == class.name {
                return self.refuse(&document.name, "is the name of another class", "choose another");
            }
            if other.lane == class.lane {
                let at = document.lane.as_ref().map_or(document.name.span.clone(), |at| at.span.clone());
                let reason = format!("has lane {}, as `{}` has", class.lane, other.name);
                return Err(self.source.refuse(at, reason, "give each class a lane of its own"));
            }
            if let Some(level) = class.service_levels.iter().find(|each| other.service_levels.contains(each))
            {
                let at =
                    document.service_levels.as_ref().map_or(document.name.span.clone(), |at| at.span.clone());
                let reason = format!("takes service level {level}, as `{}` does", other.name);
                return Err(self.source.refuse(at, reason, "list each service level once, `[]` for none"));
            }
        }
        Ok(())
    }

    fn share(&self, written: &Located<ClassDocument>, link: Link) -> Checked<Share> {
        let class = &written.value;
        match (&class.share, &class.rate) {
            (Some(text), None) => match quantity::share(&text.value) {
                None => self.refuse(text, "must be a share in percent", "write it as in \"12.5%\""),
                Some(share) => self.within_the_link(text, share, "100%"),
            },
            (None, Some(text)) => match quantity::rate(&text.value) {
                None => self.refuse(text, "must be a rate with its unit", "write it as in \"500Mbit\""),
                Some(rate) => {
                    let most = format!("the data rate of the link, {}", link.data_rate());
                    self.within_the_link(text, link.share_of(rate), &most)
                }
            },
            (Some(_), Some(rate)) => {
                self.refuse(rate, "cannot be combined with `share`", "keep one of the two")
            }
            (None, None) => {
                let error =
                    self.source.refuse(written.span.clone(), "is missing", "add `share = \"25%\"` or `rate`");
                Err(error.key("class.share"))
            }
        }
    }

    fn within_the_link(&self, at: &Located<String>, share: Share, most: &str) -> Checked<Share> {
        if share > Share::WHOLE {
            return self.refuse(at, format!("must be at most {most}"), &format!("lower it to {most}"));
        }
        if share.parts() == 0 {
            return self.refuse(at, "must be above 0", "raise it, or leave the class out");
        }
        Ok(share)
    }

    fn distance(&mut self, written: &Located<u64>, name: &str, shape: Shape) -> Checked<u32> {
        let (asked, entries) = (written.value, u64::from(shape.entries()));
        if asked == 0 {
            return self.refuse(written, "must be at least 1", "write a power of two, such as 8");
        }
        let distance = 1 << asked.min(entries).ilog2();
        if u64::from(distance) != asked {
            let why = if asked > entries { "the table is not longer" } else { "distances are powers of two" };
            self.notes.push(format!("the distance of `{name}` is {asked}: taken as {distance}, for {why}"));
        }
        Ok(distance)
    }

    fn size(&self, written: &Located<String>) -> Checked<Bytes> {
        match quantity::size(&written.value) {
            Some(size) if (1..=MAX_SIZE).contains(&size.get()) => Ok(size),
            _ => {
                let reason = format!("must be a size with its unit, from 1B to {MAX_SIZE}B");
                self.refuse(written, reason, "write it as in \"2048B\"")
            }
        }
    }
}
