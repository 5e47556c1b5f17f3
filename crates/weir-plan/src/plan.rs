//! The plan: the table with what each class gets, what it can wait, who was refused and what would fit instead.

use serde::Serialize;
use weir_core::units::{Bytes, Credits, Nanos, Rate};

use crate::bound::{Bounding, Bounds, Scheduler, Slot};
use crate::opensm::DROP;
use crate::quantity::Share;
use crate::refusal;
use crate::requirements::Requirements;
use crate::serial;
use crate::shape::{Coding, Link, Shape};
use crate::solve::{self, Solution};
use crate::target::Form;
use crate::written::{self, Need};

/// A table for the classes that fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// What it is headed with.
    pub title: String,
    /// The table.
    pub table: TableFacts,
    /// The link.
    pub link: LinkFacts,
    /// The target's scheduler, under which latencies are kept.
    pub scheduler: Scheduler,
    /// The classes that were let in, in the order of the requests.
    pub classes: Vec<ClassPlan>,
    /// Each position: the place of its class in `classes`, and the weight in credits.
    pub slots: Vec<Option<Entry>>,
    /// The sum of the weights.
    #[serde(serialize_with = "serial::count", rename = "weight_credits")]
    pub weight: Credits,
    /// The sum of the quanta of deficit round robin.
    #[serde(serialize_with = "serial::count", rename = "frame_credits")]
    pub frame: Credits,
    /// The classes that do not fit.
    pub refused: Vec<RefusedClass>,
    /// What was rounded, and what else is to be known.
    pub notes: Vec<String>,
    #[serde(skip)]
    pub(crate) shape: Shape,
    #[serde(skip)]
    pub(crate) wire: Link,
}

/// The table of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableFacts {
    /// Entries of the port.
    pub capacity: u32,
    /// Entries that are planned.
    pub entries: u32,
    /// Entries that no class has.
    pub free: u32,
    /// The largest packet.
    #[serde(serialize_with = "serial::bytes", rename = "mtu_bytes")]
    pub mtu: Bytes,
    /// The unit of weights.
    #[serde(serialize_with = "serial::bytes", rename = "credit_bytes")]
    pub credit: Bytes,
    /// The pool over the least weight of all entries.
    pub k: u32,
    /// The largest weight of an entry over the least.
    pub w: u32,
    /// All the weight there is.
    #[serde(serialize_with = "serial::count", rename = "pool_credits")]
    pub pool: Credits,
    /// The largest weight of an entry.
    #[serde(serialize_with = "serial::count", rename = "largest_weight_credits")]
    pub largest_weight: Credits,
}

/// The link of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkFacts {
    /// Of the line.
    #[serde(serialize_with = "serial::rate", rename = "rate_bits")]
    pub rate: Rate,
    /// How data are coded.
    pub coding: Coding,
    /// Of data.
    #[serde(serialize_with = "serial::rate", rename = "data_rate_bits")]
    pub data_rate: Rate,
}

/// One position of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The place of its class.
    pub class: usize,
    /// Its weight.
    #[serde(serialize_with = "serial::count")]
    pub weight: Credits,
}

/// What one class gets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassPlan {
    /// Its name.
    pub name: String,
    /// Its virtual channel.
    pub lane: u32,
    /// The service levels, or priorities, that go there.
    pub service_levels: Vec<u32>,
    /// What it asked for.
    pub requested: Requested,
    /// What it gets of a saturated link at least, with what is written for the target.
    pub share: Share,
    /// The whole percents that are written, where the target takes those.
    pub percent: Option<u64>,
    /// What of that it did not ask for: its entries have the least weight.
    pub forced: Share,
    /// How many entries it has.
    pub entries: u32,
    /// The part of the entries.
    pub entry_share: Share,
    /// Positions from entry to entry.
    pub distance: u32,
    /// The least share of a class with this number of entries.
    pub minimum_share: Share,
    /// The largest share of a class with this number of entries.
    pub maximum_share: Share,
    /// The sum of its weights.
    #[serde(serialize_with = "serial::count", rename = "weight_credits")]
    pub weight: Credits,
    /// The weights of its entries, in the order of the positions.
    #[serde(serialize_with = "serial::counts", rename = "weights_credits")]
    pub weights: Vec<Credits>,
    /// Its quantum under deficit round robin.
    #[serde(serialize_with = "serial::count", rename = "quantum_credits")]
    pub quantum: Credits,
    /// How long it can wait.
    pub bounds: Bounds,
}

impl ClassPlan {
    /// What its weights are of a pool, which a table of weights gives it.
    pub(crate) fn planned_share(&self, pool: Credits) -> Share {
        Share::of(u128::from(self.weight.get()), u128::from(pool.get()))
    }
}

/// What a class asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Requested {
    /// Its part of the link.
    pub share: Share,
    /// Positions from entry to entry.
    pub distance: Option<u32>,
    /// The longest that the first packet in line may take, in nanoseconds.
    #[serde(serialize_with = "optional_nanos", rename = "latency_ns")]
    pub latency: Option<Nanos>,
}

fn optional_nanos<S: serde::Serializer>(time: &Option<Nanos>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.serialize_some(&time.get()),
        None => serializer.serialize_none(),
    }
}

/// A class that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedClass {
    /// Its name.
    pub name: String,
    /// Where its request stands.
    pub line: usize,
    /// Why it does not fit.
    pub reason: String,
    /// What to do.
    pub remedy: String,
    /// Requests that would be met in its place, with all others as they are.
    pub nearest: Vec<Nearest>,
}

/// A request that would be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Nearest {
    /// The share.
    pub share: Share,
    /// The distance.
    pub distance: u32,
    /// What the latency is then bounded by, under the target's scheduler.
    #[serde(serialize_with = "serial::count", rename = "latency_ns")]
    pub latency: Nanos,
}

/// Plans a table for the requests.
#[must_use]
pub fn plan(asked: &Requirements) -> Plan {
    let solution = solve::solve(asked);
    let refused = refusal::told(asked, &solution);
    let classes = classes(asked, &solution);
    let shape = asked.shape;
    let mut plan = Plan {
        title: asked.title.clone(),
        table: TableFacts {
            capacity: shape.capacity,
            entries: shape.entries(),
            free: solution.table.free_entries(),
            mtu: shape.mtu,
            credit: shape.credit,
            k: shape.k,
            w: shape.w,
            pool: shape.pool(),
            largest_weight: shape.largest_weight(),
        },
        link: LinkFacts {
            rate: asked.link.rate,
            coding: asked.link.coding,
            data_rate: asked.link.data_rate(),
        },
        scheduler: asked.target.scheduler(),
        slots: entries(&solution.table.slots()),
        weight: classes.iter().map(|class| class.weight).sum(),
        frame: classes.iter().map(|class| class.quantum).sum(),
        classes,
        refused,
        notes: asked.notes.clone(),
        shape,
        wire: asked.link,
    };
    plan.notes.extend(remarks(&plan, asked.target.form));
    plan.notes.extend(dropped(&plan, asked.target.form));
    plan
}

impl Plan {
    /// The plan as it is written in a form, whichever it was made for: quanta, percents, and the bounds of them.
    pub(crate) fn written_for(&self, form: Form) -> Self {
        let bounding = Bounding::with_header(self.shape, self.wire, written::header(Some(form)));
        let need = |class: &ClassPlan| Need {
            weight: class.weight,
            share: class.requested.share,
            latency: class.requested.latency,
        };
        let needs: Vec<Need> = self.classes.iter().map(need).collect();
        let written = written::written(Some(form), &bounding, &needs);
        let mut plan = self.clone();
        for (place, class) in plan.classes.iter_mut().enumerate() {
            class.quantum = written.quanta[place];
            class.bounds.round_robin = bounding.round_robin(&written.quanta, place);
            class.percent = written.percents.as_ref().map(|percents| percents[place]);
            let planned = class.planned_share(self.table.pool);
            class.share = written.share(Some(form), place, class.entry_share, planned);
        }
        plan.frame = plan.classes.iter().map(|class| class.quantum).sum();
        plan
    }
}

/// The service levels that no class lists, whose packets OpenSM drops.
fn dropped(plan: &Plan, form: Option<Form>) -> Option<String> {
    let levels = unlisted(plan);
    (form == Some(Form::Opensm) && !levels.is_empty()).then(|| {
        format!(
            "packets of {levels}, which no class lists, are dropped: qos_sl2vl maps them to lane {DROP}; list those that \
             are used in service_levels"
        )
    })
}

/// The service levels that no class lists, as text: `service levels 3, 8 to 15`; empty if there are none.
pub(crate) fn unlisted(plan: &Plan) -> String {
    let is_listed = |level: &u32| plan.classes.iter().any(|class| class.service_levels.contains(level));
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for level in (0..16).filter(|level| !is_listed(level)) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == level => *last = level,
            _ => runs.push((level, level)),
        }
    }
    let text = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        _ => format!("{first} to {last}"),
    };
    let all: Vec<String> = runs.iter().map(text).collect();
    match runs[..] {
        [] => String::new(),
        [(first, last)] if first == last => format!("service level {first}"),
        _ => format!("service levels {}", all.join(", ")),
    }
}

fn entries(slots: &[Slot]) -> Vec<Option<Entry>> {
    slots.iter().map(|slot| slot.map(|(class, weight)| Entry { class, weight })).collect()
}

fn classes(asked: &Requirements, solution: &Solution) -> Vec<ClassPlan> {
    let shape = asked.shape;
    let slots = solution.table.slots();
    let weights = solution.table.weights();
    let written = solve::written_of(asked, &solution.table, &solution.members);
    let (quanta, bounding) = (&written.quanta, solve::bounding(asked));
    let admitted = solution.table.classes().zip(&solution.members).enumerate();
    let class = |(place, ((_, class), member)): (usize, ((_, &crate::admission::Admitted), &usize))| {
        let request = &asked.classes[*member];
        let entries = class.entries();
        let own = slots.iter().flatten().filter(|(owner, _)| *owner == place);
        let percent = written.percents.as_ref().map(|percents| percents[place]);
        let entry_share = Share::of(u128::from(entries), u128::from(shape.entries()));
        let planned = Share::of(u128::from(weights[place].get()), u128::from(shape.pool().get()));
        let share = written.share(asked.target.form, place, entry_share, planned);
        let minimum = shape.minimum(entries);
        ClassPlan {
            name: request.name.clone(),
            lane: request.lane,
            service_levels: request.service_levels.clone(),
            requested: Requested {
                share: request.share,
                distance: request.distance,
                latency: request.latency,
            },
            share,
            percent,
            forced: Share::new(minimum.parts().saturating_sub(request.share.parts())),
            entries,
            entry_share,
            distance: class.distance,
            minimum_share: minimum,
            maximum_share: shape.maximum(entries),
            weight: weights[place],
            weights: own.map(|(_, weight)| *weight).collect(),
            quantum: quanta[place],
            bounds: bounding.bounds(&slots, quanta, place),
        }
    };
    admitted.map(class).collect()
}

/// What is to be known of a plan besides its figures.
fn remarks(plan: &Plan, form: Option<Form>) -> Vec<String> {
    let mut notes = Vec::new();
    for class in &plan.classes {
        if class.forced.parts() > 0 {
            notes.push(format!(
                "`{}` asked for {} and gets {}: its entries ({}) weigh as much at least; a larger k lowers it",
                class.name, class.requested.share, class.share, class.entries
            ));
        }
        if class.share < class.requested.share {
            let why = match form {
                Some(Form::Dcb) => {
                    "whole percents are written, and none keep the shares and latencies of all"
                }
                Some(Form::TcEts | Form::TcDrr) => "quanta are whole credits, those of others rounded up",
                Some(Form::Pcie) => "a phase is one transaction, so that entries count and weights do not",
                _ => "weights are whole credits, and the pool has no more",
            };
            notes.push(format!(
                "`{}` asked for {} and gets {}: {why}",
                class.name, class.requested.share, class.share
            ));
        }
        if class.requested.distance.is_some_and(|asked| asked > class.distance) {
            notes.push(format!(
                "`{}` has distance {}: entries farther apart would not hold {}; a larger w raises what they hold",
                class.name, class.distance, class.requested.share
            ));
        }
    }
    notes
}
